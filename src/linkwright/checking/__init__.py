"""The equation checker: people's own equations, proved right, or wrong with the misprint found."""

from .check_report import CheckReport, Finding
from .checker import check
from .homework import Homework, Marks, check_folder

__all__ = ["CheckReport", "Finding", "Homework", "Marks", "check", "check_folder"]
