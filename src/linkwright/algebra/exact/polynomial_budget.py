"""Limits on the length of polynomials and on the time that they take."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ...errors import LinkwrightError


class BudgetError(LinkwrightError):
    """A polynomial grew beyond what was allowed: it is better read as a list of steps."""


@dataclass
class PolynomialBudget:
    """The most terms of any polynomial on the way and of all together, and the seconds."""

    max_terms: int = 200_000
    seconds: float = 20.0
    remaining_terms: int = 1 << 62
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def check_terms(self, terms: int) -> None:
        self.remaining_terms -= terms
        if terms > self.max_terms or self.remaining_terms < 0 or time.monotonic() > self.deadline:
            raise BudgetError(
                "the closed form is too long to be read", remedy="raise terms or seconds"
            )
