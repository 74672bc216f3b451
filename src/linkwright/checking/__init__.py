"""The equation checker: people's own equations, proved right, or wrong with the misprint found."""

from .checker import check
from .homework import Homework, Marks, check_folder
from .report import CheckReport, Finding

__all__ = ["CheckReport", "Finding", "Homework", "Marks", "check", "check_folder"]
