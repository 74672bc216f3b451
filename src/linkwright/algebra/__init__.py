"""Vectors, rotations, twists, wrenches and inertias, of numbers or of CasADi expressions."""
