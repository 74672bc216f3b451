"""Wheels that fall flat: a rim that lies in its plane touches it everywhere and cannot roll."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ..kinematics.constraint_kinds.wheel import WheelRestraint
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..types import SX, Floats

FLAT_SQUARED_SINE = 1e-8
"""A wheel lies flat where the squared sine of its angle to the plane is below this (0.1 mrad)."""

_LOW_SQUARED_SINE = 0.05
"""Squared sine of a wheel's angle to its plane below which the wheel may pass through the plane in
a step."""

_REVERSED_COSINE = -0.9
"""A wheel has passed through its plane where the direction to its contact has turned by an angle
with a cosine below this."""


class FlatWheels:
    """Detects wheels on planes that fall flat, step by step."""

    def __init__(self, mechanism: Mechanism) -> None:
        constraints = mechanism.constraints.items()
        self.names = [n for n, c in constraints if c.type == "rolling" and c.other_radius is None]
        self._last_columns: Floats | None = None
        if self.names:
            tree = build_kinematic_tree(mechanism, "numeric")
            columns = ca.horzcat(*_wheel_columns(tree))
            self._columns = ca.Function("wheels", [tree.motion.q, tree.motion.t], [columns])

    def find_fallen_wheel(self, t: float, q: Floats) -> str | None:
        """Return the constraint whose wheel lies flat at q and t, or has passed through its plane
        since the last call."""
        if not self.names or not np.isfinite(q).all():
            return None
        here = np.asarray(self._columns(q, t), dtype=float)
        before, self._last_columns = self._last_columns, here
        flat = ~(here[0] > FLAT_SQUARED_SINE)
        if before is not None:
            low = np.maximum(here[0], before[0]) < _LOW_SQUARED_SINE
            turned = (here[1:] * before[1:]).sum(axis=0)
            flat |= low & (turned < _REVERSED_COSINE * np.sqrt(here[0] * before[0]))
        return self.names[int(np.argmax(flat))] if flat.any() else None


def rolls_on_planes(mechanism: Mechanism) -> bool:
    """Return whether a wheel rolls on a plane and can fall flat."""
    return any(
        constraint.type == "rolling" and constraint.other_radius is None
        for constraint in mechanism.constraints.values()
    )


def wheel_lean_expressions(mechanism: Mechanism, q: SX, t: SX) -> list[SX]:
    """Return sin² of the angle between each wheel and its plane, at coordinates q and time t."""
    if not rolls_on_planes(mechanism):
        return []
    tree = build_kinematic_tree(mechanism, "numeric")
    own, here = ca.vertcat(tree.motion.q, tree.motion.t), ca.vertcat(q, t)
    return [ca.substitute(column[0], own, here) for column in _wheel_columns(tree)]


def _wheel_columns(tree: KinematicTree) -> list[SX]:
    """Return, for each wheel on a plane, sin² of the angle between them, and the direction from
    the contact to the wheel's centre times the sine."""
    states = ConstrainedBodyStates(tree)
    columns = []
    for restraint in tree.restraints.entries:
        if isinstance(restraint, WheelRestraint) and restraint.other_radius is None:
            wheel, plane = states.frame_pose(restraint.wheel_frame), states.frame_pose(restraint.on)
            normal, axle = plane.R[:, 2], wheel.R @ restraint.axle
            tilt = ca.dot(normal, axle)
            columns.append(ca.vertcat(1 - tilt * tilt, normal - tilt * axle))
    return columns
