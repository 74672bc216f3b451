"""A formulation's own states, such as momenta or the states of free bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import casadi as ca

from ..algebra.operators import direct_casadi_operators
from ..types import SX
from ..written_equations import WrittenAccelerations

ExpressionBuilder = Callable[[], Any]
FrameBuilder = Callable[[str], Any]


@dataclass(frozen=True)
class FormulationState:
    """A formulation's own states x, with ẋ = F(x, τ) and the maps between x and (q, q̇).

    `rates_from_motion` is ẋ as a function of x, q, q̇ and q̈, for states that are redundant and
    follow from (q, q̇): integration errors then violate this, and `from_motion` of `to_motion`
    restores it. `nearby_coordinates` are symbols of the coordinates `ambiguous_coordinates`, which
    x determines up to whole turns; `rates` and `to_motion` use them only to choose the turn.
    Where springs hold superabundant coordinates, which follow q in x, `energies` are T, V, powers
    of other constraint forces (lost, given), and `written_accelerations` what is printed."""

    names: tuple[str, ...]
    x: SX
    rates: ExpressionBuilder
    from_motion: ExpressionBuilder
    to_motion: Callable[[], tuple[SX, SX]]
    rates_from_motion: ExpressionBuilder | None = None
    nearby_coordinates: SX = field(default_factory=lambda: ca.SX(0, 1))
    ambiguous_coordinates: tuple[int, ...] = ()
    energies: Callable[[], tuple[SX, SX, SX, SX]] | None = None
    written_accelerations: Callable[[], WrittenAccelerations] | None = None

    def __post_init__(self) -> None:
        for name in ("rates", "from_motion", "to_motion", "rates_from_motion", "energies"):
            if (build := getattr(self, name)) is not None:
                object.__setattr__(self, name, direct_casadi_operators()(build))
