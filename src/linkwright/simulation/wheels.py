"""Wheels that fall flat: a rim that lies in its plane touches it everywhere, and rolls no more."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ..kinematics.constraint_kinds.wheel import WheelRestraint
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..types import Floats

LYING = 1e-8
"""A wheel lies flat where the squared sine of its angle to the plane is below this (0.1 mrad)."""

_LOW, _FLIPPED = 0.05, -0.9
"""Between two steps a wheel has passed through its plane where it is low and the direction to its
contact has turned round."""


class FlatWheels:
    """Watches the wheels that roll on planes, step by step."""

    def __init__(self, mechanism: Mechanism) -> None:
        constraints = mechanism.constraints.items()
        self.names = [n for n, c in constraints if c.type == "rolling" and c.other_radius is None]
        self._before: Floats | None = None
        if not self.names:
            return
        tree = build_kinematic_tree(mechanism, "numeric")
        ties = [
            tie
            for tie in tree.restraints.entries
            if isinstance(tie, WheelRestraint) and tie.other_radius is None
        ]
        rows = [_lean_and_contact(tie, ConstrainedBodyStates(tree)) for tie in ties]
        self._at: Any = ca.Function("wheels", [tree.motion.q], [ca.horzcat(*rows)])

    def fallen(self, q: Floats) -> str | None:
        """The constraint whose wheel lies flat at q, or has passed through its plane since the
        last call."""
        if not self.names or not np.isfinite(q).all():
            return None
        here = np.asarray(self._at(q), dtype=float)
        before, self._before = self._before, here
        flat = ~(here[0] > LYING)
        if before is not None:
            low = np.maximum(here[0], before[0]) < _LOW
            turned = (here[1:] * before[1:]).sum(axis=0)
            flat |= low & (turned < _FLIPPED * np.sqrt(here[0] * before[0]))
        return self.names[int(np.argmax(flat))] if flat.any() else None


def rolls_on_planes(mechanism: Mechanism) -> bool:
    """Whether a wheel rolls on a plane, and so may fall flat."""
    return any(
        constraint.type == "rolling" and constraint.other_radius is None
        for constraint in mechanism.constraints.values()
    )


def wheel_lean_expressions(mechanism: Mechanism, q: Any) -> list[Any]:
    """sin² of the angle between each wheel and its plane, at coordinates q."""
    if not rolls_on_planes(mechanism):
        return []
    tree = build_kinematic_tree(mechanism, "numeric")
    ties = [
        tie
        for tie in tree.restraints.entries
        if isinstance(tie, WheelRestraint) and tie.other_radius is None
    ]
    leans = [_lean_and_contact(tie, ConstrainedBodyStates(tree))[0] for tie in ties]
    return [ca.substitute(lean, tree.motion.q, q) for lean in leans]


def _lean_and_contact(tie: WheelRestraint, setting: ConstrainedBodyStates) -> Any:
    """sin² of the angle between wheel and plane, and the direction from contact to centre times
    the sine."""
    wheel, plane = setting.frame_pose(tie.wheel_frame), setting.frame_pose(tie.on)
    n, a = plane.R[:, 2], wheel.R @ tie.axle
    tilt = ca.dot(n, a)
    return ca.vertcat(1 - tilt * tilt, n - tilt * a)
