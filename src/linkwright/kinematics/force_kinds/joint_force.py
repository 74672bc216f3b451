"""Forces along one degree of freedom that the mechanism declares as expressions."""

from __future__ import annotations

from dataclasses import dataclass

from ...algebra.linear_algebra import Array, Scalar
from ...mechanism import JointForce
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..world_kinematics import WorldKinematics


@dataclass(frozen=True)
class TreeJointForce(ForceElement):
    """A force or moment along a degree of freedom, by its index among the tree's velocities."""

    velocity_index: int
    force: Scalar

    is_declared = True

    def joint_forces(self, world: WorldKinematics, v: Array) -> tuple[tuple[int, Scalar], ...]:
        """Return the force with the index of its degree of freedom."""
        return ((self.velocity_index, self.force),)


def read_joint_force_element(
    name: str,
    given: JointForce,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> TreeJointForce:
    """Return the declared force along a degree of freedom as an expression."""
    return TreeJointForce(
        name, tree.dof_indices()[given.on], values.read_motion_expression(given.force, scope)
    )
