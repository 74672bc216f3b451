"""The checks that equations of motion must stand, proved where they can be."""

from .checks import verify
from .verification_report import Check, VerificationReport

__all__ = ["Check", "VerificationReport", "verify"]
