"""From a target to torques: inverse kinematics, trajectory, inverse dynamics (paper 003), or from
the path of a tool to torques (paper 000)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism
from ..mechanism.effort_bounds import UNBOUNDED, actuator_effort_range
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_vector
from ..types import Floats
from .coordinate_bounds import bounds_of, check_planned_coordinates, trajectory_range_violations
from .frame_targets import read_targets
from .inverse_solver import InverseKinematics
from .joint_solutions import NEAREST_FOUND
from .loop_follower import LoopTrajectoryFollower, check_plannable_loops
from .motion_plan import MotionPlan
from .point_motions import check_trajectory_duration, through
from .timing import at_limits, limit_violations, refuse_quaternion_trajectories
from .trajectory import Trajectory

_MAX_SAMPLES = 1_000_000


def planned(
    mechanism: Mechanism, frame: str, trajectory: Trajectory, samples: int = 301
) -> MotionPlan:
    """Return the plan of a trajectory: its samples, and the efforts by inverse dynamics.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that moves.
    frame : str
        The frame whose path the plan has.
    trajectory : Trajectory
        The motion of the coordinates.
    samples : int
        Number of equal times.

    Returns
    -------
    MotionPlan
        The sampled motion.

    Examples
    --------
    >>> import linkwright as lw
    >>> way = lw.motion.quintic([0.0, 0.0], [0.5, 0.4], 1.0)
    >>> lw.motion.planned(lw.gallery("elbow"), "tool", way, samples=11).tau.shape
    (11, 2)
    """
    if not 2 <= samples <= _MAX_SAMPLES:
        raise LinkwrightError(f"samples must be from 2 to {_MAX_SAMPLES} (got {samples})")
    model = compiled(mechanism)
    check_plannable(mechanism, model)
    t, q, qd, qdd = trajectory.sampled(samples)
    time = model.names.time_arguments(t)
    tau = model.inverse_dynamics(q, qd, qdd, *time)
    point = model.placement(frame)(q)[..., :3, 3]
    exceeded = limit_violations(mechanism, trajectory)
    return MotionPlan(mechanism, frame, trajectory, t, q, qd, qdd, tau, point, exceeded)


def check_plannable(mechanism: Mechanism, model: Model) -> None:
    """Raise an error where the mechanism has quaternions, or loops that no trajectory can lead."""
    refuse_quaternion_trajectories(mechanism, model)
    check_plannable_loops(mechanism, model)


def plan_to(
    mechanism: Mechanism,
    frame: str,
    targets: Sequence[object],
    duration: float | None = None,
    *,
    start: ArrayLike | None = None,
    posture: ArrayLike | None = None,
    limits: bool = True,
    samples: int = 301,
) -> MotionPlan:
    """Return a motion of a frame to a target, or through several, from rest to rest.

    One target is approached by quintics, several by a spline with equal times between them; it
    stops at both ends of a piece that would leave the ranges of the joints.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that moves.
    frame : str
        The frame that goes to the targets.
    targets : sequence
        Points or poses, as `inverse_kinematics` takes them; m.
    duration : float, optional
        Duration, s (default: as fast as velocity and effort limits allow).
    start, posture : (nq,) array, optional
        The start of the motion (default: home), and the posture that free joints approach; rad or
        m.
    limits : bool
        Keep the ranges of the joints.
    samples : int
        Number of equal times.

    Returns
    -------
    MotionPlan
        The motion; `exceeded` lists the limits that a given duration exceeds.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.plan_to(lw.gallery("elbow"), "tool", [[1.0, 1.0]], duration=1.0).t[-1].item()
    1.0
    """
    model = compiled(mechanism)
    check_plannable(mechanism, model)
    if duration is not None:
        check_trajectory_duration(duration)
    elif not has_timing_limits(mechanism):
        raise LinkwrightError(
            "the mechanism has no velocity or effort limits that set the duration",
            where=mechanism.name,
            remedy="give a duration (--time)",
        )
    begin = _read_plan_start(mechanism, model, start)
    if limits:
        check_planned_coordinates(mechanism, begin, "start")
    loops = LoopTrajectoryFollower(mechanism, model, begin) if model.names.constraints else None
    points = [begin]
    for target in targets:
        points.append(
            _joints_at_target(
                mechanism, frame, target, points[-1], posture, limits=limits, loops=loops
            )
        )
    times = np.linspace(0.0, duration or 1.0, len(points))
    trajectory = _trajectory_within_ranges(
        mechanism if limits else mechanism.without("limits"), points, times, loops
    )
    if duration is None:
        trajectory = at_limits(mechanism, trajectory)
    return planned(mechanism, frame, trajectory, samples)


def _read_plan_start(mechanism: Mechanism, model: Model, start: Any) -> Floats:
    """The start configuration (default: home); an error where its loops are open."""
    closed = not model.names.constraints
    given = (model.neutral() if closed else model.home()) if start is None else start
    q = check_vector(read_pose(mechanism, given), model.nq, "the start", model.q_names)
    if closed:
        return q
    left = float(np.abs(model.constraint_residual(q)).max())
    if left > 1e-8:
        raise LinkwrightError(
            f"the loops are open at the start by {left:.3g}",
            where=mechanism.name,
            remedy="start where they are closed (linkwright assemble)",
        )
    return q


def _trajectory_within_ranges(
    mechanism: Mechanism, points: list[Floats], times: Floats, loops: LoopTrajectoryFollower | None
) -> Trajectory:
    """A spline through all points that stops only where it would leave the ranges otherwise.

    With loops it is one of the leading coordinates, which the others follow. A piece between two
    stops goes straight from one to the other, on trees within the ranges as its ends.
    """
    stops = {0, len(points) - 1}
    while True:
        found = _trajectory_with_loops(points, times, sorted(stops), loops)
        if found is None:
            strays = set(range(len(points)))
        else:
            strays = {
                end
                for k, (a, b) in enumerate(pairwise(times))
                if trajectory_range_violations(mechanism, found.part(a, b))
                for end in (k, k + 1)
            }
        if found is not None and strays <= stops:
            return found
        stops |= strays


def _trajectory_with_loops(
    points: list[Floats], times: Floats, stops: list[int], loops: LoopTrajectoryFollower | None
) -> Trajectory | None:
    """The trajectory with these stops; None where loops prevent it and more stops are possible."""
    if loops is None:
        return _spline_with_stops(points, times, stops)
    led = [point[loops.leading_coordinates] for point in points]
    try:
        found = loops.follow_trajectory(_spline_with_stops(led, times, stops), points[0])
    except LinkwrightError:
        if len(stops) == len(points):
            raise
        return None
    off = np.abs(found(times)[0] - np.array(points)).max()
    return found if off < 1e-6 or len(stops) == len(points) else None


def _spline_with_stops(points: list[Floats], times: Floats, stops: list[int]) -> Trajectory:
    parts = [
        through(points[a : b + 1], times[a : b + 1] - times[a], accelerations=(0.0, 0.0))
        for a, b in pairwise(stops)
    ]
    return reduce(Trajectory.then, parts)


def has_timing_limits(mechanism: Mechanism) -> bool:
    """Whether some joint has a velocity or effort limit, from which a duration follows."""
    bounds = bounds_of(mechanism)
    stated = np.concatenate([bounds.velocity, bounds.effort_lower, bounds.effort_upper])
    has_ranges = any(
        actuator_effort_range(mechanism, actuator) != UNBOUNDED
        for actuator in mechanism.actuators.values()
    )
    return has_ranges or bool(np.isfinite(stated).any())


def _joints_at_target(
    mechanism: Mechanism,
    frame: str,
    target: Any,
    near: Floats,
    posture: Any,
    *,
    limits: bool,
    loops: LoopTrajectoryFollower | None,
) -> Floats:
    """Joints that bring a frame to a target; an error where it is out of reach."""
    (read,) = read_targets({frame: target})
    solver = InverseKinematics(mechanism, {frame: read.kind}, limits=limits)
    found = solver({frame: target}, near, posture)
    if found.reached:
        return (
            found.q
            if loops is None
            else _reachable_assembly(solver, frame, target, near, loops, found.q)
        )
    place = solver.model.placement(frame)(found.q)[:3, 3]
    turned = f" and {float(found.angle):.4g} rad" if read.kind == "pose" else ""
    raise LinkwrightError(
        f"'{frame}' cannot reach {_target_point_text(read.numbers[:3])}: the nearest point "
        f"{'is' if found.status == NEAREST_FOUND else 'found is'} {_target_point_text(place)}, "
        f"{float(found.distance):.4g} m{turned} off",
        where=mechanism.name,
        remedy="give a target within reach and the joints' ranges",
    )


_MAX_ASSEMBLIES_TRIED = 24


def _reachable_assembly(
    solver: InverseKinematics,
    frame: str,
    target: Any,
    near: Floats,
    loops: LoopTrajectoryFollower,
    first: Floats,
) -> Floats:
    """Joints at the target that the loops can reach: the first solution, else the nearest of
    those found from other starts."""
    if (end := loops.find_trajectory_end(near, first)) is not None:
        return end
    one = np.asarray(target, dtype=float)
    many = np.broadcast_to(one, (_MAX_ASSEMBLIES_TRIED, *one.shape))
    others = solver({frame: many}, solver.samples[:_MAX_ASSEMBLIES_TRIED])
    turns, found = bounds_of(solver.mechanism).full_turns, others.q[others.reached]
    found[:, turns] -= 2 * np.pi * np.round((found - near)[:, turns] / (2 * np.pi))
    for q in sorted(found, key=lambda q: float(np.abs(q - near)[loops.leading_coordinates].max())):
        if (end := loops.find_trajectory_end(near, q)) is not None:
            return end
    raise LinkwrightError(
        f"the loops do not lead '{frame}' to the target: dead centres block the path, or it needs "
        "another assembly",
        where=solver.mechanism.name,
        remedy="go through another target, or start elsewhere",
    )


def _target_point_text(point: Floats) -> str:
    return f"({', '.join(f'{x:.4g}' for x in point + 0.0)})"
