"""Tapes and programs as CUDA C."""
