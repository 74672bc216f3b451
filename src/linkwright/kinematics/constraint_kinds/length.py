"""Named lengths that keep a value, follow another length, or have a prescribed motion."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar, dot
from ...mechanism import LengthConstraint
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from ..sketches import RodSketch
from ..tree_lengths import LengthSpan, TreeLength
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class LengthRestraint(Restraint):
    """L = Σ c_k (L of the other length)^k; without another length, L = c_0, which may depend on
    t."""

    length: TreeLength
    other: TreeLength | None
    coefficients: tuple[Scalar, ...]

    @property
    def _lengths(self) -> tuple[TreeLength, ...]:
        """The length, and the other one if there is one."""
        return (self.length,) if self.other is None else (self.length, self.other)

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The points of its paths; none if it acts along coordinates."""
        if any(one.shares for one in self._lengths):
            return ()
        return tuple(dict.fromkeys(point for one in self._lengths for point in one.points))

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return one row of positions: the length minus the value that it has to have."""
        length = _length_value(self.length, setting)
        x = ca.SX(0) if self.other is None else _length_value(self.other, setting)
        return ConstraintRows([length - sum(c * x**k for k, c in enumerate(self.coefficients))])

    def row_units(self, count: int) -> list[str]:
        """Return "m" for lengths of paths; combinations of coordinates have unknown units."""
        return ["m" if self.attached_names else ""] * count

    @property
    def sketches(self) -> tuple[RodSketch, ...]:
        """The spans of its paths, as pictures show rods."""
        spans = (span for one in self._lengths for span in one.spans)
        return tuple(RodSketch((span.start, span.end)) for span in spans)


def _length_value(length: TreeLength, setting: ConstrainedBodyStates) -> Array:
    """Return a length of bodies that may be displaced."""
    total = ca.SX(length.offset)
    for span in length.spans:
        total += span.weight * _span_value(span, setting)
    for share in length.shares:
        total += share.factor * setting.world.coordinates[share.coordinate]
    return total


def _span_value(span: LengthSpan, setting: ConstrainedBodyStates) -> Array:
    """Return the distance between the ends of a span."""
    apart = setting.frame_pose(span.end).p - setting.frame_pose(span.start).p
    return ca.sqrt(dot(apart, apart))


def read_length_restraint(
    name: str,
    given: LengthConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> LengthRestraint:
    """Return the restraint of a length; its value may be an expression of t."""
    other = None if given.other is None else tree.lengths[given.other]
    if other is None:
        coefficients = [values.read_motion_expression(given.coefficients[0], scope)]
    else:
        coefficients = [
            values.read_ratio(number, f"c{k}_{name}") for k, number in enumerate(given.coefficients)
        ]
    return LengthRestraint(name, tree.lengths[given.length], other, tuple(coefficients))
