"""Rotations, vectors, motions, wrenches, inertias: of floats or CasADi expressions alike."""

from .operators import use_direct_operators

use_direct_operators()
