"""Massless rods: two points keep their distance."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.linear_algebra import Scalar, dot
from ...mechanism import DistanceConstraint
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from ..sketches import RodSketch
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class RodRestraint(Restraint):
    """The origins of two frames or bodies keep a distance."""

    between: tuple[str, str]
    length: Scalar

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The two frames or bodies at the ends of the rod."""
        return self.between

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return one row of positions, m: (d² − L²)/(2 L) at distance d and length L."""
        one, other = (setting.frame_pose(name).p for name in self.between)
        apart = other - one
        return ConstraintRows([(dot(apart, apart) - self.length**2) / (2 * self.length)])

    @property
    def sketches(self) -> tuple[RodSketch, ...]:
        """The rod, as pictures show it."""
        return (RodSketch(self.between),)


def read_rod_restraint(
    name: str,
    rod: DistanceConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> RodRestraint:
    """Return the restraint of a rod; its length may be an expression of t."""
    return RodRestraint(name, rod.between, values.read_motion_expression(rod.length, scope))
