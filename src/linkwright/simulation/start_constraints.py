"""The constraints that starts are closed with, many at once: those of `assemble`, row by row."""

from __future__ import annotations

from functools import lru_cache

import casadi as ca
import numpy as np

from ..kinematics.closing import PositionConstraints
from ..kinematics.constraint_system import constraint_system, position_entry_sizes
from ..kinematics.mechanism_size import lengths_between_points, tree_points
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats

MAX_KEPT_POINTS = 8
"""How many mechanisms keep the function of the points that give their size."""


def start_position_constraints(
    model: Model, mechanism: Mechanism, rough: Floats, parameters: Floats | None
) -> PositionConstraints:
    """Return the constraints of positions at t = 0 of runs that start near `rough` (runs, nq).

    Steps and Jacobians are those of `ConstraintSystem.position_functions`: free joints are
    displaced in their parent's axes, and entries below the closure are zero.
    """
    system, rows = constraint_system(mechanism), list(model.names.position_rows)
    own = [] if parameters is None else [parameters]
    last = [np.zeros(()), *own] if model.names.is_time_dependent else own
    lengths = np.full(len(rough), system.length)
    if parameters is not None:
        points = _size_points(mechanism, model.parameters)(rough.T, parameters.T)
        places = np.asarray(points, dtype=float).T.reshape(len(rough), -1, 3)
        lengths = lengths_between_points(places)
    least = system.scale.closure * position_entry_sizes(system, lengths)

    def position_jacobian(q: Floats) -> Floats:
        J: Floats = model.constraint_jacobian(q, *last)[..., rows, :]
        for places, velocities in system.positions:
            R = rotations_of_quaternions(q[..., places.stop : places.stop + 4])
            J[..., velocities] = J[..., velocities] @ R.swapaxes(-1, -2)
        return np.where(np.abs(J) < least, 0.0, J)

    def move_in_parent_axes(q: Floats, step: Floats) -> Floats:
        rotation = step.copy()
        for _, velocities in system.positions:
            rotation[..., velocities] = 0.0
        moved: Floats = model.integrate(q, rotation, *own)
        for places, velocities in system.positions:
            moved[..., places] = q[..., places] + step[..., velocities]
        return moved

    return PositionConstraints(
        lambda q: model.constraint_residual(q, *last), position_jacobian, move_in_parent_axes
    )


def rotations_of_quaternions(quaternions: Floats) -> Floats:
    """Return rotation matrices (…, 3, 3) of unit quaternions (w, x, y, z), (…, 4)."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    entries = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.stack([np.stack(row, axis=-1) for row in entries], axis=-2)


@lru_cache(maxsize=MAX_KEPT_POINTS)
def _size_points(mechanism: Mechanism, parameters: tuple[str, ...]) -> ca.Function:
    """Return the function (q, p) → points (3, count) that give the size of the mechanism."""
    tree = build_kinematic_tree(mechanism, list(parameters))
    p = ca.vertcat(*tree.symbols.values())
    return ca.Function("points", [tree.motion.q, p], [tree_points(tree, tree.motion.q)])
