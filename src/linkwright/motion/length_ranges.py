"""Ranges of named lengths along trajectories."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..expressions import expression_to_float
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism
from .trajectory import Trajectory

CHECKED_SAMPLES = 1001
"""Equally spaced times at which lengths are compared with their limits."""

_RANGE_SLACK = 1e-9
"""Share of its size by which a length may pass a limit: rounding."""


def length_range_violations(mechanism: Mechanism, trajectory: Trajectory) -> list[str]:
    """Sentences on the lengths that leave their ranges along a trajectory, at equally spaced
    samples."""
    limited = {
        name: length.limits
        for name, length in mechanism.lengths.items()
        if length.limits.lower is not None or length.limits.upper is not None
    }
    if not limited:
        return []
    tree = build_kinematic_tree(mechanism, "numeric")
    q, t = tree.motion.q, tree.motion.t
    world = WorldKinematics(tree, q)
    made = ca.vertcat(*(tree.lengths[name].value(world) for name in limited))
    times, positions, _, _ = trajectory.sampled(CHECKED_SAMPLES)
    values = np.asarray(ca.Function("lengths", [q, t], [made])(positions.T, times[None]))
    found = []
    for (name, limits), row in zip(limited.items(), values, strict=True):
        low, high = (
            default if end is None else expression_to_float(end, mechanism.values)
            for end, default in ((limits.lower, -np.inf), (limits.upper, np.inf))
        )
        slack = _RANGE_SLACK * max(1.0, float(np.abs(row).max()))
        if row.min() < low - slack or row.max() > high + slack:
            found.append(
                f"the length {name} goes from {row.min():.5g} to {row.max():.5g}, its range is "
                f"{low:.5g} to {high:.5g}"
            )
    return found
