"""Controllers: τ and the rates of their states z as expressions of (t, q, q̇, z, r).

r is the reference that a controller follows, a known function of time; it enters the compiled code
as an input. A controller without a period acts at every instant; with a period it is sampled, and
its τ is held in between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats

NOT_KEPT = "a function of Python"
"""Stands for a drive, or a part of one, that no file can hold."""


@dataclass(frozen=True)
class Reference:
    """r over time: a function of one time and, if that is faster, a function of many times with
    rows. A set point `is_constant`."""

    at: Callable[[float], Floats]
    at_all: Callable[[Floats], Floats] | None = None
    is_constant: bool = False

    def rows(self, times: Floats) -> Floats:
        """Return r at many times, one row each."""
        if self.at_all is not None:
            return self.at_all(times)
        return np.array([self.at(t) for t in times.tolist()])


@dataclass(frozen=True)
class Feedback:
    """A controller.

    `law` is a CasADi function (t, q, q̇, z, r) → (τ, ż); `names` and `start` belong to z, which is
    integrated with the motion; `reference` gives r. Files store the `recipe`. `gains` are numbers
    that the law takes after those of r, where they differ between runs.
    """

    law: Any
    names: tuple[str, ...]
    start: tuple[float, ...]
    reference: Reference
    period: float | None = None
    recipe: Any = NOT_KEPT
    gains: tuple[float, ...] = ()

    @property
    def follows(self) -> int:
        """The number of entries of r."""
        return int(self.law.size1_in(4)) - len(self.gains)

    @property
    def has_moving_reference(self) -> bool:
        """Whether r changes with time; a set point does not."""
        return self.follows > 0 and not self.reference.is_constant

    def outer(self, t: float) -> Floats:
        """Return r at t and the gains."""
        found: Floats = np.append(self.reference.at(t), self.gains)
        return found

    def with_numbers_of(self, other: Feedback, gains: Floats) -> Feedback:
        """Return this law with the gains, the reference and the start of another one."""
        numbers = tuple(gains.tolist())
        return replace(self, gains=numbers, reference=other.reference, start=other.start)

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of entries of q and q̇."""
        return int(self.law.size1_in(1)), int(self.law.size1_in(2))

    def __call__(self, t: float, q: Floats, qd: Floats, z: Floats) -> tuple[Floats, Floats]:
        """Return (τ, ż) at an instant."""
        found = self.law(t, q, qd, z, self.outer(t))
        tau, rate = (np.asarray(x, dtype=float).ravel() for x in found)
        return tau, rate

    def check_fits(self, nq: int, nv: int, where: str) -> None:
        """Raise an error if the controller is made for another number of coordinates."""
        if self.sizes != (nq, nv):
            raise LinkwrightError(
                f"the controller is made for {self.sizes[1]} velocities, the mechanism has {nv}",
                where=where,
                remedy="make it for this mechanism",
            )
