"""The checks that equations of motion must pass, with proofs where possible."""

from .checks import verify
from .verification_report import Check, VerificationReport

__all__ = ["Check", "VerificationReport", "verify"]
