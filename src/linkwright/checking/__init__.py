"""The equation checker: people's own equations, proved right, or wrong with the misprint found."""

from .checker import check
from .homework import Homework, Marks, check_folder
from .report import Finding, Report

__all__ = ["Finding", "Homework", "Marks", "Report", "check", "check_folder"]
