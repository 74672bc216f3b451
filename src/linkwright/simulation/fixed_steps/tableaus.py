"""Integrators with fixed steps: their names, and Butcher tableaus of the explicit ones."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ButcherTableau:
    """An explicit Runge–Kutta method: stages at times c with weights A of earlier rates, and
    weights b of the result."""

    c: tuple[float, ...]
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


TABLEAUS = {
    "euler": ButcherTableau((0.0,), ((),), (1.0,)),
    "heun": ButcherTableau((0.0, 1.0), ((), (1.0,)), (0.5, 0.5)),
    "rk4": ButcherTableau(
        (0.0, 0.5, 0.5, 1.0),
        ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
        (1 / 6, 1 / 3, 1 / 3, 1 / 6),
    ),
}
"""Explicit methods by name."""

SEMI_IMPLICIT, MIDPOINT, VARIATIONAL = "semi-implicit", "midpoint", "variational"

IMPLICIT_METHODS = (MIDPOINT, VARIATIONAL)
"""Methods that solve equations in each step."""

FIXED_STEP_METHODS = (*TABLEAUS, SEMI_IMPLICIT, *IMPLICIT_METHODS)
"""All methods with fixed steps."""


def input_shares(method: str) -> tuple[float, ...]:
    """Return the times at which a method needs its inputs, as shares of the step from 0 to 1."""
    if method in TABLEAUS:
        return tuple(sorted(set(TABLEAUS[method].c)))
    return (0.5,) if method in IMPLICIT_METHODS else (0.0,)
