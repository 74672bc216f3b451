"""Paths of a tool in space, and the joints' motion that follows them.

A path gives points, and turns, over s from 0 to 1; a law, a trajectory of one number, says how far
the tool has moved along it. At every knot the joints come from inverse kinematics, their rates from
J q̇ = v and J q̈ = a − J̇ q̇; between knots they are quintics with just these ends.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    jacobian_null_space,
    project_accelerations,
    project_velocities,
    solve_constraint_least_change,
)
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism
from ..number_checks import check_vector
from ..types import Floats
from .coordinate_bounds import check_planned_coordinates
from .inverse_solver import InverseKinematics
from .loop_follower import check_plannable_loops
from .path_geometry import ToolPath, circular, read_path_point, straight, tool_path_rotation
from .point_motions import hermite_trajectory, through
from .timing import refuse_quaternion_trajectories
from .trajectory import Trajectory


@dataclass(frozen=True)
class _ToolPathFollower:
    solver: InverseKinematics
    frame: str
    path: ToolPath
    law: Trajectory
    start: Floats  # the joints
    start_rotation: Floats  # and the tool's rotation at s = 0

    def frame_task(self, t: float) -> tuple[float, Floats, Floats, Floats]:
        """s, the target, and the velocity and acceleration of the tool at time t: (ω, v) or v."""
        s, ds, dds = (float(x[0]) / self.path.length for x in self.law(t))
        p, dp, ddp = self.path.point(s)
        v, a = dp * ds, ddp * ds**2 + dp * dds
        if self.path.turn is None:
            return s, p, v, a
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = tool_path_rotation(s * self.path.turn) @ self.start_rotation, p
        turn = self.path.turn
        return s, T, np.r_[turn * ds, v], np.r_[turn * dds, a]

    def joint_state(self, t: float, near: Floats) -> Floats:
        """(q, q̇, q̈) at time t, with q on the branch nearest to `near`."""
        s, target, v, a = self.frame_task(t)
        found = self.solver({self.frame: target}, near, tolerance=1e-13, restarts=0)
        if (
            max(float(found.distance), float(found.angle), self._loop_residual(found.q))
            > CLOSURE_TOLERANCES.tracked_residual
        ):
            raise LinkwrightError(
                f"the frame '{self.frame}' cannot follow: after {100 * s:.3g} % of its path it is "
                f"{float(found.distance):.3g} m and {float(found.angle):.3g} rad off",
                remedy="start elsewhere, or take a shorter path",
            )
        model, rows = self.solver.model, slice(6 - len(v), 6)
        J = model.jacobian(self.frame)(found.q)[rows]
        A, none = np.vstack([J, self._loop_jacobian(found.q)]), np.zeros(model.nv)
        still = np.zeros(len(A) - len(J))
        qd = project_velocities(A, none, -np.r_[v, still])
        drift = model.frame_bias_acceleration(self.frame)(found.q, qd)[rows]
        gamma = model.constraint_bias(found.q, qd) if len(still) else still
        right = np.r_[a - drift, -gamma]
        qdd = project_accelerations(A, none, -right)
        for what, wanted in ((A @ qd, np.r_[v, still]), (A @ qdd, right)):
            missed = np.abs(what - wanted).max()
            if missed > CLOSURE_TOLERANCES.task_residual * max(1.0, np.abs(wanted).max()):
                raise self._stuck_error(s, self._free_jacobian(found.q, J))
        return np.array([found.q, qd, qdd])

    def _loop_residual(self, q: Floats) -> float:
        """The largest residual of the loops."""
        model = self.solver.model
        return float(np.abs(model.constraint_residual(q)).max()) if model.names.constraints else 0.0

    def _loop_jacobian(self, q: Floats) -> Floats:
        """The Jacobian of the loops; it has no rows for a tree."""
        model = self.solver.model
        found: Floats = (
            model.constraint_jacobian(q) if model.names.constraints else np.zeros((0, model.nv))
        )
        return found

    def _free_jacobian(self, q: Floats, J: Floats) -> Floats:
        """The frame's Jacobian along the velocities that the loops allow."""
        found: Floats = J @ jacobian_null_space(
            self._loop_jacobian(q), CLOSURE_TOLERANCES.rank_share
        )
        return found

    def _stuck_error(self, s: float, J: Floats) -> LinkwrightError:
        """The error that says why the joints cannot continue along the path."""
        usual = max(_tool_jacobian_rank(x) for x in self._sample_jacobians(len(J)))
        if _tool_jacobian_rank(J) < usual:
            why, remedy = "the configuration is singular", "start elsewhere"
        else:
            why = f"its joints move it only in {usual} of {len(J)} directions"
            free = ", or leave the rotation free" if len(J) > 3 else ""
            remedy = f"take a path along these{free}"
        return LinkwrightError(
            f"'{self.frame}' cannot move further than {100 * s:.3g} % of its path: {why}",
            remedy=remedy,
        )

    def _sample_jacobians(self, rows: int) -> Floats:
        """Jacobians of the frame at random configurations; with loops, at the start only."""
        model = self.solver.model
        at = self.start[None] if model.names.constraints else self.solver.samples[:32]
        J = model.jacobian(self.frame)(at)[:, 6 - rows :]
        return np.array([self._free_jacobian(q, one) for q, one in zip(at, J, strict=True)])

    def check_path_directions(self) -> None:
        """Raise an error for a path along directions in which no joint moves the frame."""
        if self.solver.model.names.constraints:
            return
        turn = np.zeros(0) if self.path.turn is None else self.path.turn
        ways = np.array([np.r_[turn, self.path.point(s)[1]] for s in np.linspace(0, 1, 9)]).T
        all_columns = np.concatenate(list(self._sample_jacobians(len(ways))), axis=1)
        speeds = solve_constraint_least_change(
            all_columns, ways.T, rank_share=CLOSURE_TOLERANCES.rank_share
        )
        missed = np.abs(all_columns @ speeds.T - ways).max()
        if missed > CLOSURE_TOLERANCES.task_residual * np.abs(ways).max():
            raise LinkwrightError(
                f"the path leads '{self.frame}' where its joints can never move it",
                remedy="take a path in the plane, or along the line, of its motion",
            )


def _tool_jacobian_rank(J: Floats) -> int:
    return int(np.linalg.matrix_rank(J, CLOSURE_TOLERANCES.rank_share))


def follow(
    mechanism: Mechanism,
    frame: str,
    path: ToolPath,
    law: Trajectory,
    start: ArrayLike,
    *,
    knots: int = 100,
    limits: bool = True,
) -> Trajectory:
    """Return the motion of the coordinates that takes a frame along a path.

    Joints that the path leaves free stay near where they are; their motion is a spline.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that moves.
    frame : str
        The frame that follows the path.
    path : ToolPath
        From where the frame stands at `start`.
    law : Trajectory
        The distance covered over time, from 0 to the length of the path, m.
    start : (nq,) array
        Coordinates at the beginning, rad or m.
    knots : int
        Pieces of the result.
    limits : bool
        Keep the ranges of the joints.

    Returns
    -------
    Trajectory
        The motion of the coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> path = lw.motion.straight([2, 0, 0], [1.5, 0.5, 0])
    >>> law = lw.motion.quintic(0.0, path.length, 1.0)
    >>> lw.motion.follow(lw.gallery("elbow"), "tool", path, law, [0.0, 0.0])
    <Trajectory of 2 coordinates, 100 pieces from 0 to 1 s>
    """
    solver = InverseKinematics(
        mechanism, {frame: "point" if path.turn is None else "pose"}, limits=limits
    )
    refuse_quaternion_trajectories(mechanism, solver.model)
    check_plannable_loops(mechanism, solver.model)
    _check_path_law(law, path)
    given = read_pose(mechanism, start)
    q0 = check_vector(given, solver.model.nq, "the start", solver.model.q_names)
    if limits:
        check_planned_coordinates(mechanism, q0, "start")
    T = solver.model.placement(frame)(q0)
    if np.abs(T[:3, 3] - path.point(0.0)[0]).max() > 1e-6 * max(1.0, path.length):
        raise LinkwrightError(
            f"the path does not begin where '{frame}' stands: "
            f"({', '.join(f'{x:.4g}' for x in T[:3, 3])})"
        )
    follower = _ToolPathFollower(solver, frame, path, law, q0, T[:3, :3])
    follower.check_path_directions()
    return _join_joint_states(follower, knots)


def _check_path_law(law: Trajectory, path: ToolPath) -> None:
    ends = [float(law.size), float(law.start[0]), float(law.end[0])]
    if not np.allclose(ends, [1, 0, path.length], atol=1e-9 * max(1.0, path.length)):
        raise LinkwrightError(
            f"the law goes from {law.start[0]:.6g} to {law.end[0]:.6g}, in {law.size} number(s)",
            remedy=f"give one number from 0 to the length of the path, {path.length:.6g} m",
        )


def _check_tool_path_start(found: Floats, start: Floats) -> None:
    if (far := np.abs(found - start).max()) > 1e-6:
        raise LinkwrightError(
            f"the joints that follow the path begin {far:.3g} rad or m from the start",
            remedy="start elsewhere",
        )


def _join_joint_states(follower: _ToolPathFollower, knots: int) -> Trajectory:
    law, q = follower.law, follower.start
    at = law.finer(knots)
    nudge = 1e-12 * law.duration
    left, right = [], []
    for begin, end in pairwise(at):
        left.append(follower.joint_state(begin, q))
        right.append(follower.joint_state(end - nudge, left[-1][0] + (end - begin) * left[-1][1]))
        q = right[-1][0]
    _check_tool_path_start(left[0][0], follower.start)
    if follower.solver.redundant:
        points = np.array([*(x[0] for x in left), right[-1][0]])
        return through(points, at, velocities=(left[0][1], right[-1][1]))
    return hermite_trajectory(at, np.array(left), np.array(right))


def line(
    mechanism: Mechanism,
    frame: str,
    start: ArrayLike,
    by: ArrayLike,
    law: Callable[[float], Trajectory],
    *,
    hold_rotation: bool = False,
    knots: int = 100,
    limits: bool = True,
) -> Trajectory:
    """Return the motion of the coordinates that takes a frame along a straight line.

    Parameters
    ----------
    mechanism, frame, start, knots, limits
        As for `follow`.
    by : (3,) array
        Displacement of the origin of the frame in the world, m.
    law : callable
        length (m) → distance over time, a `Trajectory` from 0 to the length.
    hold_rotation : bool
        The frame keeps its rotation; else it follows from the joints.

    Returns
    -------
    Trajectory
        The motion of the coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> elbow, law = lw.gallery("elbow"), lambda length: lw.motion.quintic([0.0], [length], 1.0)
    >>> lw.motion.line(elbow, "tool", [0.3, 1.0], [-0.2, 0.1, 0.0], law, knots=10).duration
    1.0
    """
    begin, far = _tool_path_start_point(mechanism, frame, start), read_path_point(by)
    path = straight(begin, begin + far, np.zeros(3) if hold_rotation else None)
    return follow(mechanism, frame, path, law(path.length), start, knots=knots, limits=limits)


def arc(
    mechanism: Mechanism,
    frame: str,
    start: ArrayLike,
    via: ArrayLike,
    end: ArrayLike,
    law: Callable[[float], Trajectory],
    *,
    hold_rotation: bool = False,
    knots: int = 100,
    limits: bool = True,
) -> Trajectory:
    """Return the motion of the coordinates that takes a frame along a circular arc.

    Parameters
    ----------
    mechanism, frame, start, knots, limits
        As for `follow`; the arc begins where the frame stands at `start`.
    via, end : (3,) array
        Points in the world, m.
    law : callable
        length (m) → distance over time, a `Trajectory` from 0 to the length.
    hold_rotation : bool
        The frame keeps its rotation; else it follows from the joints.

    Returns
    -------
    Trajectory
        The motion of the coordinates.

    Examples
    --------
    >>> import linkwright as lw
    >>> elbow, law = lw.gallery("elbow"), lambda length: lw.motion.quintic([0.0], [length], 1.0)
    >>> lw.motion.arc(elbow, "tool", [0.3, 1.0], [1.1, 1.2, 0], [1, 1.3, 0], law, knots=10).duration
    1.0
    """
    path = circular(
        _tool_path_start_point(mechanism, frame, start),
        via,
        end,
        np.zeros(3) if hold_rotation else None,
    )
    return follow(mechanism, frame, path, law(path.length), start, knots=knots, limits=limits)


def _tool_path_start_point(mechanism: Mechanism, frame: str, start: Any) -> Floats:
    from ..model.model import compile as compiled

    model = compiled(mechanism, threads=1)
    begin = check_vector(read_pose(mechanism, start), model.nq, "the start", model.q_names)
    place: Floats = model.placement(frame)(begin)[:3, 3]
    return place
