"""Limits on the length of polynomials and on the time to compute them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ...errors import LinkwrightError


class BudgetError(LinkwrightError):
    """A polynomial exceeded its limits: a list of assignments is easier to read."""


@dataclass
class ExactPolynomialBudget:
    """Limits on the terms of one polynomial and of all together, and on the time in seconds."""

    max_terms: int = 200_000
    seconds: float = 20.0
    remaining_terms: int = 1 << 62
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def check_polynomial_terms(self, terms: int) -> None:
        """Counts the terms of a new polynomial; raises `BudgetError` beyond a limit."""
        self.remaining_terms -= terms
        if terms > self.max_terms or self.remaining_terms < 0 or time.monotonic() > self.deadline:
            raise BudgetError(
                "the closed form is too long to read", remedy="raise terms or seconds"
            )
