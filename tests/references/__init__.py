"""Truths that import nothing of ours."""
