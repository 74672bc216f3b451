"""Blades that cannot slip sideways."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.linear_algebra import Array, dot
from ...mechanism import KnifeEdgeConstraint
from ..kinematic_tree import KinematicTree, Restraint
from ..parameter_values import KinematicParameters
from ..placement_values import joint_axis_alignment
from ..sketches import BladeSketch
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope


@dataclass(frozen=True)
class KnifeEdgeRestraint(Restraint):
    """A blade that does not slip along `normal`, a direction of its own frame."""

    on: str
    relative_to: str
    normal: Array

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The frame of the blade, and the frame that it cuts into."""
        return self.on, self.relative_to

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return one row of velocities: the slip along the blade's normal."""
        pose = setting.frame_pose(self.on)
        own, base = (setting.point_velocity(name, pose.p) for name in self.attached_names)
        return ConstraintRows(velocities=[dot(own - base, pose.R @ self.normal)])

    @property
    def sketches(self) -> tuple[BladeSketch, ...]:
        """The blade, as pictures show it."""
        return (BladeSketch(self.on, self.normal),)


def read_knife_edge_restraint(
    name: str,
    given: KnifeEdgeConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> KnifeEdgeRestraint:
    """Return the restraint of a knife edge with its normal as a unit vector."""
    normal = joint_axis_alignment(values, given.normal, name, "normal")[:, 2]
    return KnifeEdgeRestraint(name, given.on, given.relative_to, normal)
