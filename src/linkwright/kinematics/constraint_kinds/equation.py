"""Equations between coordinates: explicit equations, couplings, gears, prescribed motions."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array
from ...mechanism import (
    CouplingConstraint,
    DriveConstraint,
    EquationConstraint,
    GearConstraint,
)
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class EquationRestraint(Restraint):
    """An expression of the model's symbols that stays zero: of positions, or of velocities."""

    expression: Array
    is_holonomic: bool = True

    @property
    def attached_names(self) -> tuple[str, ...]:
        """No frames or bodies: the equation acts along coordinates."""
        return ()

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return the expression as a row of positions or of velocities."""
        return (
            ConstraintRows([self.expression])
            if self.is_holonomic
            else ConstraintRows(velocities=[self.expression])
        )

    def row_units(self, count: int) -> list[str]:
        """Return empty units: those of an expression are not known."""
        return [""] * count


def read_equation_restraint(
    name: str,
    given: EquationConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> EquationRestraint:
    """Return the restraint of an explicit equation of positions or of velocities."""
    expression = given.position if given.position is not None else given.velocity
    assert expression is not None
    return EquationRestraint(
        name, values.read_motion_expression(expression, scope), given.position is not None
    )


def read_coupling_restraint(
    name: str,
    given: CouplingConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> EquationRestraint:
    """Return the restraint q − Σ c_k (q of the other joint)^k = 0."""
    x = scope[given.other] if given.other is not None else 0.0
    series = ca.SX(0)
    for power, number in enumerate(given.coefficients):
        series += values.read_ratio(number, f"c{power}_{name}") * x**power
    return EquationRestraint(name, scope[given.joint] - series)


def read_gear_restraint(
    name: str,
    gear: GearConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> EquationRestraint:
    """Return the restraint Σ factor · q − offset = 0 of a gear."""
    turned = sum(
        (
            values.read_ratio(factor, f"n_{q}_{name}") * scope[q]
            for q, factor in gear.factors.items()
        ),
        ca.SX(0),
    )
    return EquationRestraint(name, turned - values.read_scalar(gear.offset, f"offset_{name}"))


def read_drive_restraint(
    name: str,
    drive: DriveConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> EquationRestraint:
    """Return the restraint q − f(t) = 0 of a coordinate with a prescribed motion."""
    return EquationRestraint(
        name, scope[drive.on] - values.read_motion_expression(drive.position, scope)
    )
