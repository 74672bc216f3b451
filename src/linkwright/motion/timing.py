"""The shortest time of a motion in which velocities and actuator efforts stay within bounds.

All is slowed alike: in r times the time, velocities are 1/r and accelerations 1/r² of what they
were. What drives then must do is known from inverse dynamics, friction included, so that the
shortest time is found by search: over a grid first, since what is feasible need not be an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError, UnsupportedError
from ..mechanism import Mechanism, mechanism_names
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_scalar_or_vector
from ..types import Booleans, Floats
from .actuator_reach import ActuatorReach
from .coordinate_bounds import bounds_of, trajectory_range_violations
from .coordinate_units import trajectory_number_text, trajectory_units
from .length_ranges import length_range_violations
from .trajectory import Trajectory

_PACES_PER_DECADE = 60
"""Paces of the grid from one power of ten to the next."""
_SLOWEST_VELOCITY = 1e-6
"""A pace of which only weight and friction matter, rad/s or m/s."""
_TIMING_SAMPLES = 401
_LIMIT_SLACK = 1e-6
"""The share by which a limit may be passed: rounding, and the search for the shortest time."""


def refuse_quaternion_trajectories(mechanism: Mechanism, model: Model) -> None:
    """Raise an error where the rates of coordinates are not the velocities, as for quaternions."""
    if model.nq != model.nv:
        raise UnsupportedError(
            "trajectories need coordinates whose rates are the velocities",
            where=mechanism.name,
            remedy='give the ball or free joint rotation = "cardan"',
        )


class EffortBounds(NamedTuple):
    """The least and the greatest τ (nv,), N m or N."""

    lower: Floats
    upper: Floats

    @property
    def are_infinite(self) -> bool:
        """Whether nothing is bounded."""
        return not np.isfinite(np.concatenate(self)).any()


@dataclass(frozen=True)
class _PacedTrajectory:
    """A trajectory at its samples, and the actuator efforts that it needs at other paces."""

    model: Model
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats

    @cached_property
    def unit_pace(self) -> float:
        """The pace at which the largest velocities or accelerations are 1, in SI."""
        largest = max(float(np.abs(self.qd).max()), float(np.sqrt(np.abs(self.qdd).max())))
        return 1 / largest if largest else 1.0

    @cached_property
    def reach(self) -> ActuatorReach:
        """What actuators on several velocities can exert at the samples."""
        return ActuatorReach.along(self.model, self.t, self.q)

    def effort_at_paces(self, paces: Floats) -> Floats:
        """τ (…, samples, nv) for paces 1/r (…)."""
        y = np.asarray(paces)[..., None, None]
        time = self.model.names.time_arguments(self.t / y[..., 0])
        tau = self.model.inverse_dynamics(self.q, self.qd * y, self.qdd * y * y, *time)
        return np.asarray(tau, dtype=float)

    def is_within(self, paces: Floats, bounds: EffortBounds) -> Booleans:
        """Whether all efforts at paces 1/r (…) are within bounds and what actuators can exert."""
        tau = self.effort_at_paces(paces)
        inside = ((tau >= bounds.lower) & (tau <= bounds.upper)).all(axis=(-2, -1))
        return np.asarray(inside & self.reach.can_exert(tau).all(axis=-1))


def at_limits(
    mechanism: Mechanism,
    trajectory: Trajectory,
    *,
    velocity: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    samples: int = _TIMING_SAMPLES,
) -> Trajectory:
    """Return the trajectory, scaled in time until a velocity or an effort is at its limit.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism that moves.
    trajectory : Trajectory
        The motion of the coordinates.
    velocity, effort : float or (nv,) array, optional
        Limits of |q̇|, rad/s or m/s, and |τ|, N m or N (default: the mechanism's).
    samples : int
        Number of equal times at which efforts are checked; velocities hold at all times.

    Returns
    -------
    Trajectory
        The same path, faster or slower.

    Examples
    --------
    >>> import linkwright as lw
    >>> way = lw.motion.quintic([0.0, 0.0], [0.8, 0.0], 1.0)
    >>> round(lw.motion.at_limits(lw.gallery("elbow"), way, velocity=1.5).duration, 6)
    1.0
    """
    model = compiled(mechanism, threads=1)
    refuse_quaternion_trajectories(mechanism, model)
    if trajectory.size != model.nq:
        raise LinkwrightError(
            f"the trajectory has {trajectory.size} coordinates, the mechanism {model.nq}"
        )
    v, bounds = _timing_bounds(mechanism, model.nv, velocity, effort)
    if samples < 2:
        raise LinkwrightError(f"samples must be at least 2 (got {samples})")
    motion = _PacedTrajectory(model, *trajectory.sampled(samples))
    with np.errstate(divide="ignore"):
        fastest = float((v / _peak_rates(trajectory, 1)).min())
    if bounds.are_infinite and not motion.reach.is_bounded:
        if np.isinf(fastest):
            raise LinkwrightError("no limit is given", remedy="give velocity or effort")
        return trajectory.stretched(1 / fastest)
    return trajectory.stretched(1 / _fastest_pace(motion, bounds, fastest))


def _timing_bounds(
    mechanism: Mechanism, nv: int, velocity: ArrayLike | None, effort: ArrayLike | None
) -> tuple[Floats, EffortBounds]:
    """The largest velocities and the bounds of efforts: those given, or the mechanism's own."""
    own = bounds_of(mechanism)
    v, efforts = own.velocity, EffortBounds(own.effort_lower, own.effort_upper)
    if velocity is not None:
        v = check_scalar_or_vector(velocity, nv, "velocity", or_infinite=True)
    if effort is not None:
        f = check_scalar_or_vector(effort, nv, "effort", or_infinite=True)
        efforts = EffortBounds(-f, f)
        if not (f > 0).all():
            raise LinkwrightError("limits must be above 0")
    if not (v > 0).all():
        raise LinkwrightError("limits must be above 0")
    return v, efforts


def peak_rates_and_efforts(
    mechanism: Mechanism, trajectory: Trajectory
) -> tuple[Floats, Floats, Floats]:
    """The largest |q̇|, |q̈| and |τ| of each coordinate; |τ| at equally spaced samples."""
    motion = _PacedTrajectory(compiled(mechanism, threads=1), *trajectory.sampled(_TIMING_SAMPLES))
    return (
        _peak_rates(trajectory, 1),
        _peak_rates(trajectory, 2),
        np.abs(motion.effort_at_paces(np.asarray(1.0))).max(axis=0),
    )


def _peak_rates(trajectory: Trajectory, order: int) -> Floats:
    low, high = trajectory.extremes(order)
    return np.maximum(-low, high)


def limit_violations(mechanism: Mechanism, trajectory: Trajectory) -> tuple[str, ...]:
    """Sentences on the ranges, velocity limits and effort limits that a trajectory violates, and on
    what actuators cannot exert; efforts are checked at equally spaced samples, as in
    `at_limits`."""
    bounds = bounds_of(mechanism)
    motion = _PacedTrajectory(compiled(mechanism, threads=1), *trajectory.sampled(_TIMING_SAMPLES))
    tau = motion.effort_at_paces(np.asarray(1.0))
    units, names = trajectory_units(mechanism), mechanism_names(mechanism).qd
    found = trajectory_range_violations(mechanism, trajectory)
    found += length_range_violations(mechanism, trajectory)
    rates = zip(names, _peak_rates(trajectory, 1), bounds.velocity, units, strict=True)
    for name, top, limit, unit in rates:
        if top > limit * (1 + _LIMIT_SLACK):
            reached = trajectory_number_text(top, unit.rates[0])
            found += [f"the speed of {name} is up to {reached}, its limit {limit:.5g}"]
    ends = zip(names, tau.T, bounds.effort_lower, bounds.effort_upper, units, strict=True)
    for name, efforts, low, high, unit in ends:
        found += _effort_violation(name, efforts, (float(low), float(high)), unit.effort)
    return (*found, *motion.reach.violations(motion.qd, tau))


def _effort_violation(
    name: str, efforts: Floats, bounds: tuple[float, float], unit: str
) -> list[str]:
    """A sentence on efforts (samples,) that leave their range; none where they do not."""
    low, high = bounds
    slack = _LIMIT_SLACK * max((abs(x) for x in bounds if np.isfinite(x)), default=0.0)
    least, most = float(efforts.min()), float(efforts.max())
    if least >= low - slack and most <= high + slack:
        return []
    if low == -high:
        reached = trajectory_number_text(max(-least, most), unit)
        return [f"the drive of {name} is up to {reached}, its limit {high:.5g}"]
    ends = [trajectory_number_text(x, unit) for x in (least, most)]
    return [
        f"the drive of {name} goes from {ends[0]} to {ends[1]}, its range is {low:.5g} to "
        f"{high:.5g}"
    ]


def _fastest_pace(motion: _PacedTrajectory, bounds: EffortBounds, fastest: float) -> float:
    """The greatest pace up to `fastest` at which all efforts are within their limits."""
    if np.isinf(fastest):
        fastest = _excessive_pace(motion, bounds)
    slowest = min(_SLOWEST_VELOCITY * motion.unit_pace, 1e-4 * fastest)
    count = int(_PACES_PER_DECADE * np.log10(fastest / slowest)) + 1
    paces = np.geomspace(slowest, fastest, count)
    good = motion.is_within(paces, bounds)
    if not good.any():
        raise LinkwrightError(
            _slowest_motion_message(motion, bounds), remedy="reduce the load, or raise the limits"
        )
    k = int(np.nonzero(good)[0][-1])
    if k == len(paces) - 1:
        return float(paces[-1])
    low, high = paces[k], paces[k + 1]
    for _ in range(60):
        middle = (low + high) / 2
        if motion.is_within(np.asarray(middle), bounds):
            low = middle
        else:
            high = middle
    return float(low)


def _excessive_pace(motion: _PacedTrajectory, bounds: EffortBounds) -> float:
    """A pace at which some effort certainly exceeds its limit."""
    pace = motion.unit_pace
    while motion.is_within(np.asarray(pace), bounds):
        pace *= 2
        if pace > 1e9 * motion.unit_pace:
            raise LinkwrightError("no pace of this motion takes the actuators to their limits")
    return pace * 16


def _slowest_motion_message(motion: _PacedTrajectory, bounds: EffortBounds) -> str:
    tau = motion.effort_at_paces(np.asarray(_SLOWEST_VELOCITY * motion.unit_pace))
    over = np.maximum(tau - bounds.upper, bounds.lower - tau).max(axis=0)
    if not (over > 0).any():
        words = motion.reach.violations(motion.qd * 0, tau)
        return f"no duration is long enough: {words[0] if words else 'efforts are beyond limits'}"
    worst = int(np.argmax(over))
    column = tau[:, worst]
    above = float(column.max()) > bounds.upper[worst]
    need, have = (
        (column.max(), bounds.upper[worst]) if above else (column.min(), bounds.lower[worst])
    )
    return (
        f"no duration is long enough: '{motion.model.qd_names[worst]}' needs {need:.4g} for the "
        f"slowest motion, and has {have:.4g}"
    )
