"""Explicit Runge–Kutta methods as tables of coefficients (Butcher's)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Stages at times c with weights A of the slopes before, and weights b of the result."""

    c: tuple[float, ...]
    A: tuple[tuple[float, ...], ...]
    b: tuple[float, ...]


TABLES = {
    "euler": Table((0.0,), ((),), (1.0,)),
    "heun": Table((0.0, 1.0), ((), (1.0,)), (0.5, 0.5)),
    "rk4": Table((0.0, 0.5, 0.5, 1.0), ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0)),
                 (1 / 6, 1 / 3, 1 / 3, 1 / 6)),
}  # fmt: skip

SEMI_IMPLICIT, MIDPOINT, VARIATIONAL = "semi-implicit", "midpoint", "variational"
IMPLICIT = (MIDPOINT, VARIATIONAL)
FIXED = (*TABLES, SEMI_IMPLICIT, *IMPLICIT)
"""All methods of fixed step."""


def shares_of(method: str) -> tuple[float, ...]:
    """Where in a step a method asks for its drives."""
    if method in TABLES:
        return tuple(sorted(set(TABLES[method].c)))
    return (0.5,) if method in IMPLICIT else (0.0,)
