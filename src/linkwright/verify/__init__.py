"""The checks that equations of motion must stand, proved where they can be."""

from .report import Check, Report
from .checks import verify

__all__ = ["Check", "Report", "verify"]
