"""Trajectories from point to point: quintics, splines, trapezoids of velocity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError
from ..number_checks import check_number_list, check_scalar_or_vector, read_number_array
from ..types import Floats
from .trajectory import Trajectory


def hermite_trajectory(knots: Floats, left: Floats, right: Floats) -> Trajectory:
    """The trajectory of quintic pieces with given (q, q̇, q̈) at both ends, each (K, 3, n)."""
    T = np.diff(knots)[:, None]
    a, b, c = left[:, 0], left[:, 1], left[:, 2] / 2
    q = right[:, 0] - (a + b * T + c * T**2)
    v = (right[:, 1] - (b + 2 * c * T)) * T
    w = (right[:, 2] - 2 * c) * T**2
    cubic, quartic, fifth = 10 * q - 4 * v + w / 2, -15 * q + 7 * v - w, 6 * q - 3 * v + w / 2
    return Trajectory(knots, np.stack([a, b, c, cubic / T**3, quartic / T**4, fifth / T**5], 1))


def quintic(
    start: ArrayLike,
    end: ArrayLike,
    duration: float,
    *,
    velocities: ArrayLike = (0.0, 0.0),
    accelerations: ArrayLike = (0.0, 0.0),
) -> Trajectory:
    """Return a point-to-point motion by polynomials of fifth degree.

    Parameters
    ----------
    start, end : (n,) array
        Coordinates at both ends, rad or m.
    duration : float
        Duration, s.
    velocities, accelerations : pair of numbers or (n,) arrays
        Values at (start, end), rad/s or m/s, and rad/s² or m/s².

    Returns
    -------
    Trajectory
        One piece from t = 0 to `duration`.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.quintic([0.0], [1.0], 2.0).extremes(1)[1].tolist()
    [0.9375]
    """
    ends = _read_trajectory_ends(start, end)
    check_trajectory_duration(duration)
    rates = [
        _read_trajectory_end_rates(pair, len(ends[0]), what)
        for pair, what in ((velocities, "velocities"), (accelerations, "accelerations"))
    ]
    left, right = (np.array([[ends[k], rates[0][k], rates[1][k]]]) for k in range(2))
    return hermite_trajectory(np.array([0.0, duration]), left, right)


def _read_trajectory_ends(start: Any, end: Any) -> tuple[Floats, Floats]:
    a, b = check_number_list(start, "the start"), check_number_list(end, "the end")
    if len(a) != len(b):
        raise LinkwrightError(
            f"the start has {len(a)} numbers, the end {len(b)}", remedy="give the same number"
        )
    return a, b


def _read_trajectory_end_rates(values: Any, size: int, what: str) -> list[Floats]:
    """Rates at the start and at the end, each as a vector."""
    try:
        both = list(values)
    except TypeError:
        both = []
    if len(both) != 2 or isinstance(values, str):
        raise LinkwrightError(f"{what} are those of start and end", remedy="give (start, end)")
    return [check_scalar_or_vector(x, size, f"one of the {what}") for x in both]


def check_trajectory_duration(duration: float) -> None:
    """Raise an error unless the duration is a finite number of seconds above 0."""
    if not np.isscalar(duration) or isinstance(duration, str) or not 0 < duration < np.inf:
        raise LinkwrightError(f"the duration must be a number of seconds above 0 (got {duration})")


def through(
    points: ArrayLike,
    times: ArrayLike,
    *,
    velocities: ArrayLike = (0.0, 0.0),
    accelerations: ArrayLike | None = None,
) -> Trajectory:
    """Return a spline through points with continuous accelerations.

    The spline is cubic; it is quintic where accelerations at the ends are given.

    Parameters
    ----------
    points : (K + 1, n) array
        Coordinates, rad or m.
    times : (K + 1,) array
        Rising times, s.
    velocities, accelerations : pair of numbers or (n,) arrays
        Values at (first, last) point, rad/s or m/s, and rad/s² or m/s² (0: a soft start).

    Returns
    -------
    Trajectory
        One piece between each two points.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.through([[0.0], [1.0], [0.5]], [0.0, 1.0, 2.0])(1.0)[0].round(12).tolist()
    [1.0]
    """
    from scipy.interpolate import PPoly, make_interp_spline

    rows, at = read_number_array(points), read_number_array(times)
    fits = rows is not None and at is not None and at.shape == rows.shape[:1]
    if rows is None or at is None or not fits or rows.ndim != 2 or len(rows) < 2:
        raise LinkwrightError(
            "a spline needs at least 2 points and as many times", remedy="give (K, n) and (K)"
        )
    if not np.isfinite(rows).all() or not (np.diff(at) > 0).all():
        raise LinkwrightError("the points must be finite, and the times must increase")
    n = rows.shape[1]
    rates = [_read_trajectory_end_rates(velocities, n, "velocities")]
    if accelerations is not None:
        rates.append(_read_trajectory_end_rates(accelerations, n, "accelerations"))
    ends = [[(k + 1, pair[end]) for k, pair in enumerate(rates)] for end in range(2)]
    degree = 3 if accelerations is None else 5
    spline = make_interp_spline(at, rows, k=degree, bc_type=(ends[0], ends[1]))
    pieces = [PPoly.from_spline((spline.t, spline.c[:, k], degree)) for k in range(n)]
    real = np.diff(pieces[0].x) > 0
    c = np.stack([piece.c[::-1, real].T for piece in pieces], axis=2)
    return Trajectory(np.r_[pieces[0].x[:-1][real], pieces[0].x[-1]], c)


def trapezoid(
    start: ArrayLike,
    end: ArrayLike,
    speed: ArrayLike,
    acceleration: ArrayLike,
    *,
    together: bool = True,
) -> Trajectory:
    """Return a motion as fast as velocities and accelerations allow, with trapezoids of velocity.

    Where the distance is short, the trapezoid becomes a triangle.

    Parameters
    ----------
    start, end : (n,) array
        Coordinates at both ends, rad or m.
    speed, acceleration : float or (n,) array
        Largest values, rad/s or m/s, and rad/s² or m/s².
    together : bool
        All coordinates begin and end at once, on a straight line; else each goes at its own pace.

    Returns
    -------
    Trajectory
        From t = 0 on.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.trapezoid([0.0], [1.0], speed=0.5, acceleration=1.0).duration
    2.5
    """
    a, b = _read_trajectory_ends(start, end)
    way = b - a
    most = [
        check_scalar_or_vector(x, len(way), what, or_infinite=True)
        for x, what in ((speed, "the speed"), (acceleration, "the acceleration"))
    ]
    if any((x <= 0).any() for x in most) or np.isinf(most[1]).any():
        raise LinkwrightError("velocities and accelerations must be above 0, and the latter finite")
    if not way.any():
        raise LinkwrightError("the motion begins where it ends", remedy="give another end")
    if not together:
        parts = [_trapezoid_of_one(x, v, w) for x, v, w in zip(way, *most, strict=True)]
        return _stack_coordinates(a, parts)
    moving = way != 0
    v, w = (float((x[moving] / np.abs(way[moving])).min()) for x in most)
    law = _trapezoid_of_one(1.0, v, w)
    coefficients = law.coefficients * way
    coefficients[:, 0] += a
    return Trajectory(law.knots, coefficients)


def _trapezoid_of_one(way: float, speed: float, acceleration: float) -> Trajectory:
    """The motion of one coordinate from 0 by `way`; it waits a moment where the way is 0."""
    if way == 0:
        return Trajectory(np.array([0.0, 1e-9]), np.zeros((1, 3, 1)))
    sign, length = np.sign(way), abs(way)
    top = min(speed, np.sqrt(length * acceleration))
    ramp, cruise = top / acceleration, length / top - top / acceleration
    rise = top * ramp / 2
    pieces = [(ramp, 0.0, 0.0, acceleration), (cruise, rise, top, 0.0),
              (ramp, length - rise, top, -acceleration)]  # fmt: skip
    pieces = [piece for piece in pieces if piece[0] > 1e-12 * ramp]
    knots = np.r_[0.0, np.cumsum([piece[0] for piece in pieces])]
    rows = [[[sign * x], [sign * v], [sign * w / 2]] for _, x, v, w in pieces]
    return Trajectory(knots, np.array(rows))


def _stack_coordinates(start: Floats, parts: list[Trajectory]) -> Trajectory:
    """One trajectory of coordinates that have their own knots; those that have arrived wait."""
    knots = np.unique(np.concatenate([part.knots for part in parts]))
    knots = knots[np.r_[True, np.diff(knots) > 1e-12 * knots[-1]]]
    middle = (knots[1:] + knots[:-1]) / 2
    h = knots[:-1] - middle
    c = np.zeros((len(middle), 3, len(parts)))
    for k, part in enumerate(parts):
        q, qd, qdd = (x[:, 0] for x in part(middle))
        c[:, :, k] = np.stack([q + qd * h + qdd * h**2 / 2, qd + qdd * h, qdd / 2], axis=1)
    c[:, 0] += start
    return Trajectory(knots, c)


def accelerated(distance: float, acceleration: float) -> Trajectory:
    """Return a motion from rest at a constant acceleration that does not stop at the end.

    Parameters
    ----------
    distance, acceleration : float
        rad or m, and rad/s² or m/s².

    Returns
    -------
    Trajectory
        One coordinate from 0 to `distance`.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.accelerated(2.0, 1.0).duration
    2.0
    """
    if not (0 < distance < np.inf and 0 < acceleration < np.inf):
        raise LinkwrightError("distance and acceleration must be above 0 and finite")
    end = np.sqrt(2 * distance / acceleration)
    return Trajectory(np.array([0.0, end]), np.array([[[0.0], [0.0], [acceleration / 2]]]))
