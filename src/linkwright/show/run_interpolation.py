"""Interpolation of a run between its samples: cubics of its coordinates, with loops closed."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..kinematics.closing import CLOSURE_TOLERANCES, PositionConstraints, close_positions
from ..kinematics.constraint_equations import constraint_equations
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.tree_coordinates import (
    coordinate_rate_matrix,
    integrate_coordinates,
    links_with_coordinates,
)
from ..types import Floats

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run
    from .mechanism_scene import Scene


def interpolate_film_coordinates(scene: Scene, run: Run | Kinematics, times: Floats) -> Floats:
    """The run's coordinates (times, nq) at any times within it.

    Between two samples each coordinate is the cubic that has their values and rates; loops and
    constraints of positions, which a cubic violates slightly, are closed again.
    """
    tree = scene.tree
    times = np.clip(np.asarray(times, dtype=float), run.t[0], run.t[-1])
    samples = _align_film_quaternion_signs(tree, np.asarray(run.q, dtype=float))
    if len(run.t) < 2:
        return np.repeat(samples[:1], len(times), axis=0)
    slopes = _film_coordinate_rates(scene, samples, np.asarray(run.qd, dtype=float))
    q = _normalize_film_quaternions(tree, film_hermite_interpolation(times, run.t, samples, slopes))
    constraints = _film_position_constraints(scene)
    if constraints is None:
        return q
    return constraints.close_film_positions(q, times, CLOSURE_TOLERANCES.visible_share * scene.size)


def film_hermite_interpolation(
    times: Floats, knots: Floats, values: Floats, slopes: Floats
) -> Floats:
    """The cubics through rows of `values` with `slopes` at increasing `knots`."""
    k = np.clip(np.searchsorted(knots, times, side="right") - 1, 0, len(knots) - 2)
    span = np.asarray(knots[k + 1] - knots[k])[:, None]
    s = (times - knots[k])[:, None] / np.where(span > 0, span, 1.0)
    return film_hermite_cubic(s, values[k], values[k + 1], span * slopes[k], span * slopes[k + 1])


def film_hermite_cubic(s: Floats, a: Floats, b: Floats, slope_a: Floats, slope_b: Floats) -> Floats:
    """The cubic of s from 0 to 1 with values a, b and slopes at its ends."""
    rest = 1 - s
    return np.asarray(
        rest**2 * ((1 + 2 * s) * a + s * slope_a) + s**2 * ((1 + 2 * rest) * b - rest * slope_b)
    )


class _FilmConstraints:
    """Loops and position constraints of a drawn mechanism, for many instants at once."""

    def __init__(self, tree: KinematicTree) -> None:
        constraints = constraint_equations(tree)
        assert constraints is not None
        q, t, step = tree.motion.q, tree.motion.t, ca.SX.sym("step", tree.nv)
        position_rows = list(constraints.position_rows)
        self.rows, self.nv = len(position_rows), tree.nv
        J = ca.densify(constraints.J[position_rows, :])
        self._residual = ca.Function("residual", [q, t], [ca.densify(constraints.residual)])
        self._jacobian = ca.Function("jacobian", [q, t], [ca.vec(J.T)])
        self._integrate = ca.Function(
            "integrate", [q, step], [integrate_coordinates(tree, q, step)]
        )

    def close_film_positions(self, q: Floats, t: Floats, tolerance: float) -> Floats:
        """The rows of q (times, nq), closed to the tolerance; a row that does not close stays as it
        is."""
        functions = PositionConstraints(
            lambda q: np.asarray(self._residual(q.T, t[None]), dtype=float).T,
            lambda q: np.asarray(self._jacobian(q.T, t[None]), dtype=float).T.reshape(
                -1, self.rows, self.nv
            ),
            lambda q, step: np.asarray(self._integrate(q.T, step.T), dtype=float).T,
        )
        return close_positions(
            functions,
            q,
            tolerance=tolerance,
            rank_share=CLOSURE_TOLERANCES.state_rank_share,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        ).q


@lru_cache(maxsize=16)
def _film_position_constraints(scene: Scene) -> _FilmConstraints | None:
    """The position constraints of a mechanism; None if it has none."""
    constraints = constraint_equations(scene.tree)
    known = constraints is not None and constraints.position_rows
    return _FilmConstraints(scene.tree) if known else None


@lru_cache(maxsize=16)
def _film_rate_function(scene: Scene) -> ca.Function:
    """The function for dq/dt from q and q̇."""
    q, qd = scene.tree.motion.q, scene.tree.motion.qd
    return ca.Function("rates", [q, qd], [ca.densify(coordinate_rate_matrix(scene.tree, q) @ qd)])


def _film_coordinate_rates(scene: Scene, q: Floats, qd: Floats) -> Floats:
    """dq/dt of every row (times, nq); for quaternions it differs from q̇."""
    if scene.tree.nq == scene.tree.nv:
        return qd
    return np.asarray(_film_rate_function(scene)(q.T, qd.T), dtype=float).T


def _film_quaternion_slices(tree: KinematicTree) -> list[slice]:
    """The positions of quaternions among the model's coordinates."""
    if tree.transfer is not None:
        return []
    return [
        slice(qs.stop - 4, qs.stop)
        for link, qs, _ in links_with_coordinates(tree)
        if link.kind.has_quaternion
    ]


def _align_film_quaternion_signs(tree: KinematicTree, q: Floats) -> Floats:
    """The same rotations with quaternions that do not change their sign from row to row."""
    q = q.copy()
    for part in _film_quaternion_slices(tree):
        flips = np.einsum("ki,ki->k", q[1:, part], q[:-1, part]) < 0
        q[1:, part] *= np.where(np.cumsum(flips) % 2, -1.0, 1.0)[:, None]
    return q


def _normalize_film_quaternions(tree: KinematicTree, q: Floats) -> Floats:
    """The coordinates with quaternions scaled to unit length."""
    for part in _film_quaternion_slices(tree):
        q[:, part] /= np.linalg.norm(q[:, part], axis=1, keepdims=True)
    return q
