"""Integrators of ẏ = F(t, y), all driven alike: step, look back, go on from another state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import UnsupportedError
from ..system import System
from .adaptive import SCIPY, adaptive

Floats = NDArray[np.float64]


class Solver(Protocol):
    """One integration under way: it stands at (t, y)."""

    y: Floats
    one_step: bool
    """Whether a new state at each step costs nothing, since no history is kept."""

    @property
    def t(self) -> float: ...

    def step(self) -> str | None:
        """One step on; the reason where that cannot be."""
        ...

    def between(self) -> Callable[[float], Floats]:
        """y at times of the last step."""
        ...

    def restart(self, t: float, y: Floats) -> None:
        """Goes on from (t, y) as if it began there."""
        ...


Maker = Callable[[System, float, Floats, float, Mapping[str, float]], Solver]

INTEGRATORS: dict[str, Maker] = {name: adaptive(name) for name in SCIPY}
"""By name: (system, t, y, end, options) → a solver at (t, y)."""


def solver_named(name: str) -> Maker:
    if name not in INTEGRATORS:
        raise UnsupportedError(
            f"there is no integrator '{name}'", remedy=f"use one of {', '.join(INTEGRATORS)}"
        )
    return INTEGRATORS[name]
