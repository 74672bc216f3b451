"""Tapes as source code: one module for each language, and what they share."""
