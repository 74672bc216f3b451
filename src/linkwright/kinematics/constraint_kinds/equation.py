"""Equations between coordinates: written out, couplings, gears, drives."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear import Array
from ...mechanism import (
    CouplingConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
)
from ..tree import Restraint
from ..values import Values
from .setting import Rows, Scope, Setting


@dataclass(frozen=True)
class Equation(Restraint):
    """An expression of the model's symbols that stays zero: of positions, or of speeds."""

    expression: Array
    of_positions: bool = True

    @property
    def ends(self) -> tuple[str, ...]:
        return ()

    def rows(self, setting: Setting) -> Rows:
        return Rows([self.expression]) if self.of_positions else Rows(speeds=[self.expression])

    def units(self, count: int) -> list[str]:
        return [""] * count


def read_equation(name: str, given: EquationConstraint, values: Values, scope: Scope) -> Equation:
    expression = given.position if given.position is not None else given.velocity
    assert expression is not None
    return Equation(name, values.expression(expression, scope), given.position is not None)


def read_coupling(name: str, given: CouplingConstraint, values: Values, scope: Scope) -> Equation:
    x = scope[given.other] if given.other is not None else 0.0
    series = ca.SX(0)
    for power, number in enumerate(given.coefficients):
        series += values.scalar(number, f"c{power}_{name}") * x**power
    return Equation(name, scope[given.joint] - series)


def read_gear(name: str, gear: GearConstraint, values: Values, scope: Scope) -> Equation:
    turned = sum(
        (values.scalar(factor, f"n_{q}_{name}") * scope[q] for q, factor in gear.factors.items()),
        ca.SX(0),
    )
    return Equation(name, turned - values.scalar(gear.offset, f"offset_{name}"))


def read_drive(name: str, drive: DriveConstraint, values: Values, scope: Scope) -> Equation:
    return Equation(name, scope[drive.on] - values.expression(drive.position, scope))
