"""Readings of the tape: in other algebras, and in other languages."""
