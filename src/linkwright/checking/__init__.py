"""The equation checker: people's own equations, proved right, or wrong with the misprint found."""

from .checker import check
from .report import Finding, Report

__all__ = ["Finding", "Report", "check"]
