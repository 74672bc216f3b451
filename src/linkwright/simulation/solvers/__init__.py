"""Integrators of ẏ = F(t, y), all driven alike: step, look back, go on from another state."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ...errors import UnsupportedError
from ...integrators import RODAS5P, RosenbrockMethod
from ...number_checks import check_positive
from ...types import Floats
from ..fixed.tables import FIXED
from ..system import System
from .adaptive_steps import SCIPY, adaptive
from .minimal import minimal
from .program_steps import program_stepping
from .stepping import stepping
from .sundials import SUNDIALS, sundials
from .taylor import taylor


class Solver(Protocol):
    """One integration under way: it stands at (t, y)."""

    y: Floats
    end: float
    """No step goes beyond it; another one counts from the next restart on."""
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


Maker = Callable[[System, float, Floats, float, Mapping[str, Any]], Solver]

INTEGRATORS: dict[str, Maker] = {
    **{name: adaptive(name) for name in SCIPY},
    RODAS5P.name: program_stepping(RosenbrockMethod(RODAS5P)),
    **{name: sundials(name) for name in SUNDIALS},
    "taylor": taylor,
    **{name: stepping(name) for name in FIXED},
}
"""By name: (system, t, y, end, options) → a solver at (t, y)."""


COORDINATES = ("all", "minimal")


def solver_named(name: str, coordinates: str = "all") -> Maker:
    """The maker of an integrator, of all coordinates or of minimal ones."""
    for given, known, what in (
        (name, list(INTEGRATORS), "integrator"),
        (coordinates, COORDINATES, "choice of coordinates"),
    ):
        if given not in known:
            raise UnsupportedError(
                f"there is no {what} '{given}'", remedy=f"use one of {', '.join(known)}"
            )
    if coordinates == "all":
        return INTEGRATORS[name]
    if name not in SCIPY:
        raise UnsupportedError(
            f"'{name}' does not know minimal coordinates", remedy=f"use one of {', '.join(SCIPY)}"
        )
    return minimal(name)


def options_of(
    integrator: str,
    *,
    rtol: float,
    atol: float,
    max_step: float,
    step: float | None,
    spacing: float,
) -> dict[str, Any]:
    """What an integrator is told; what it would not heed is an error."""
    found = {
        "rtol": check_positive(rtol, "rtol"), "atol": check_positive(atol, "atol"),
        "max_step": check_positive(max_step, "max_step", or_infinite=True),
    }  # fmt: skip
    if integrator in FIXED:
        if found["max_step"] < math.inf:
            raise UnsupportedError(f"'{integrator}' heeds no max_step", remedy="use step")
        return {"step": None if step is None else check_positive(step, "step")}
    if step is not None:
        raise UnsupportedError(
            f"'{integrator}' chooses its steps itself",
            remedy=f"use max_step, or one of {', '.join(FIXED)}",
        )
    return found | {"spacing": spacing} if integrator in SUNDIALS else found
