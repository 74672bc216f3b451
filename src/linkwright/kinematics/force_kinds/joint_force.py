"""Forces along one degree of freedom that the mechanism gives as expressions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...algebra.linear import Scalar
from ...mechanism import JointForce
from ..tree import ForceElement
from ..values import Values


@dataclass(frozen=True)
class ForceAlong(ForceElement):
    """A force or moment along a degree of freedom, by its index among the tree's speeds."""

    index: int
    force: Scalar

    is_declared = True

    def forces_along(self) -> tuple[tuple[int, Scalar], ...]:
        return ((self.index, self.force),)


def read_joint_force(
    name: str,
    given: JointForce,
    values: Values,
    scope: dict[str, Scalar],
    freedoms: Mapping[str, int],
) -> ForceAlong:
    return ForceAlong(name, freedoms[given.on], values.expression(given.force, scope))
