"""Rotations, vectors, motions, wrenches, inertias: of floats or CasADi expressions alike."""
