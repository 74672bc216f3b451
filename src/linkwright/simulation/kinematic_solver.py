"""`solve_kinematics`: follows a driven mechanism along its path, up to singular positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import LinkwrightError
from ..kinematics.pose_configurations import read_rough_coordinates
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_number
from ..types import Floats
from .argument_checks import sample_times
from .coordinate_paths import CoordinatePath, read_coordinate_path
from .driven_mechanism import SINGULAR_SHARE, DrivenMechanism, KinematicState
from .kinematic_motion import Kinematics
from .limit_positions import find_limit_position, is_branch_point
from .run import FINISHED
from .singularities import Singularity, find_singularities

_HALVINGS = 40
"""Halvings of the interval between two samples after which a position counts as a limit: 1e-12 of
the interval."""

_SMALLEST_STEP_SHARE = 1e-13
"""Smallest step as a share of the time: a little above its rounding."""

_NEIGHBOUR_SHARE = 0.2
"""Distance of the states on both sides of a singular sample, as a share of the sample interval."""

_LIMIT_TIME_SHARE, _LIMIT_DISTANCE = 1e-2, 0.1
"""A limit position belongs to the motion if it is at least this near to the last state: in time
(share), and in coordinates (rad or m)."""


def solve_kinematics(
    mechanism: Mechanism,
    motion: Mapping[str, object] | None = None,
    t: float = 1.0,
    *,
    over: tuple[str, float, float] | None = None,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 501,
) -> Kinematics:
    """Return the motion of a driven mechanism at equal times.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : mapping, optional
        Some coordinates as numbers, expressions of t ("pi/6 + 2*t") or (times, values): as many as
        there are degrees of freedom, none where constraints drive the mechanism. rad or m.
    t : float
        Duration, s.
    over : (str, float, float), optional
        Move one coordinate from the first value to the second (rad or m) instead; rates are then
        derivatives by this coordinate.
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which choose the branch.
    samples : int
        Number of equal times.

    Returns
    -------
    Kinematics
        Coordinates, velocities and accelerations at all times.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.solve_kinematics(lw.gallery("four-bar"), {"theta1": "1 + t"}, 0.1, samples=3).q.shape
    (3, 3)
    """
    path, times = read_driven_path(require_mechanism(mechanism), motion, t, over, samples)
    driven = DrivenMechanism(mechanism, path)
    guesses = read_rough_coordinates(mechanism, rough)
    states, status, limits = _follow_path(driven, times, guesses)
    singular = sorted([*find_singularities(driven, states), *limits], key=lambda one: one.t)
    return Kinematics(
        mechanism,
        t=np.array([state.t for state in states]),
        q=np.array([state.q for state in states]),
        qd=np.array([state.qd for state in states]),
        qdd=np.array([state.qdd for state in states]),
        closure=np.array([state.residual for state in states]),
        driven=path.names,
        singular=tuple(singular),
        status=status,
        settings={
            "mode": "kinematics",
            "motion": dict(path.written),
            "t": float(times[-1]),
            "samples": samples,
            "rough": guesses,
            "over": None if over is None else over[0],
        },
    )


def read_driven_path(
    mechanism: Mechanism,
    motion: Mapping[str, object] | None,
    t: float,
    over: tuple[str, float, float] | None,
    samples: int,
) -> tuple[CoordinatePath, Floats]:
    """Return the path that the arguments of `solve_kinematics` describe, and its times."""
    if motion is not None and over is not None:
        raise LinkwrightError("motion and over are both given", remedy="give one of them")
    if over is not None:
        path, t = _path_over_coordinate(mechanism, over)
    else:
        path = read_coordinate_path(mechanism, motion or {})
    times = sample_times(t, samples)
    path.check_finite(times)
    return path, times


def _path_over_coordinate(
    mechanism: Mechanism, over: tuple[str, float, float]
) -> tuple[CoordinatePath, float]:
    """Return the path of one coordinate at unit rate, and its duration."""
    if not isinstance(over, Sequence) or isinstance(over, str) or len(over) != 3:
        raise LinkwrightError(
            f"over cannot be {over!r}",
            remedy='give a coordinate and where it goes: ("theta1", 0, 1)',
        )
    name, first, last = str(over[0]), check_number(over[1], "over"), check_number(over[2], "over")
    read_coordinate_path(mechanism, {name: 0.0})  # raises for an unknown coordinate
    direction = 1.0 if last >= first else -1.0

    def motion(t: Floats) -> tuple[Floats, Floats, Floats]:
        return first + direction * t, np.full(t.shape, direction), np.zeros(t.shape)

    sign = "+" if direction > 0 else "-"
    written = {name: f"{first!r} {sign} t"}
    return CoordinatePath((name,), (motion,), written), abs(last - first)


def _follow_path(
    driven: DrivenMechanism, times: Floats, guess: Mapping[str, float] | None
) -> tuple[list[KinematicState], str, list[Singularity]]:
    """Return the states at the times, the status, and the limit that ended the motion."""
    state = driven.first_state(float(times[0]), guess)
    interval = float(times[1] - times[0])
    states = [state]
    for t in times[1:]:
        last, is_reached = _continue_to(driven, state, float(t))
        if not is_reached:
            limit = _limit_after(driven, last)
            return states, limit.end_of_motion(driven), [limit]
        state = _regular_state(driven, state, last, interval)
        states.append(state)
    return states, FINISHED, []


def _regular_state(
    driven: DrivenMechanism, before: KinematicState, state: KinematicState, interval: float
) -> KinematicState:
    """Return the state itself, or, at a singular position, the one between its neighbours."""
    if state.singular_share > SINGULAR_SHARE:
        return state
    side = _NEIGHBOUR_SHARE * interval
    return driven.interpolate_singular_state(before, state.t, side) or state


def _continue_to(
    driven: DrivenMechanism, state: KinematicState, t: float
) -> tuple[KinematicState, bool]:
    """Return the last state on the way to t, and whether it is the one at t."""
    smallest = (t - state.t) * 2.0**-_HALVINGS
    h = t - state.t
    while state.t < t:
        h = min(h, t - state.t)
        target = t if state.t + h >= t else state.t + h
        after = driven.next_state(state, target)
        if after is not None:
            state, h = after, 2 * h
        elif (
            h <= max(smallest, _SMALLEST_STEP_SHARE * max(1.0, abs(state.t)))
            or state.singular_share < SINGULAR_SHARE
        ):
            return state, False
        else:
            h /= 2
    return state, True


def _limit_after(driven: DrivenMechanism, last: KinematicState) -> Singularity:
    """Return the position after the last state, at which the drive cannot move on."""
    t, q = find_limit_position(driven, last)
    is_near = abs(t - last.t) < _LIMIT_TIME_SHARE * max(1.0, abs(last.t))
    if not is_near or not np.abs(q - last.q).max() < _LIMIT_DISTANCE:
        t, q = last.t, last.q
    kind = "branch point" if is_branch_point(driven, q, t) else "limit"
    return Singularity(t, kind, driven.path.names, q)
