"""Readings of the tape: evaluation in other algebras, and translation into other languages."""
