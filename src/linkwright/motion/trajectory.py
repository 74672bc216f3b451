"""Motions over time as data: piecewise polynomials of all coordinates.

Everything planned ends as one of these: quintics, splines through points, trapezoids of speed, and
paths of a tool (`paths`). They give (q, q̇, q̈) at any times, for inverse dynamics and controllers.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError
from ..number_checks import check_number_list, check_scalar_or_vector, read_number_array
from ..types import Floats


@dataclass(frozen=True, repr=False)
class Trajectory(NotebookDisplayed):
    """Pieces between `knots` (K + 1 times); `coefficients` (K, degree + 1, n) of powers of the
    time since a piece began, from the constant on. Before and after, it rests at its ends."""

    knots: Floats
    coefficients: Floats

    def summary(self) -> str:
        """The number of coordinates that move, and when."""
        pieces, _, count = self.coefficients.shape
        span = f"from {self.knots[0]:.4g} to {self.knots[-1]:.4g} s"
        return f"Trajectory of {count} coordinates, {pieces} pieces {span}"

    def __post_init__(self) -> None:
        pieces = len(self.knots) - 1
        if pieces < 1 or self.coefficients.ndim != 3 or len(self.coefficients) != pieces:
            raise LinkwrightError("knots and coefficients do not fit", remedy="give K + 1 and K")
        if not (np.diff(self.knots) > 0).all() or not np.isfinite(self.coefficients).all():
            raise LinkwrightError("a trajectory needs rising times and finite numbers")

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.coefficients.shape[2])

    @property
    def duration(self) -> float:
        return float(self.knots[-1] - self.knots[0])

    @cached_property
    def start(self) -> Floats:
        return self(self.knots[0])[0]

    @cached_property
    def end(self) -> Floats:
        return self(self.knots[-1])[0]

    @cached_property
    def _derivatives(self) -> tuple[Floats, Floats, Floats]:
        powers = np.arange(self.coefficients.shape[1])[:, None]
        first = (powers * self.coefficients)[:, 1:]
        second = (powers[:-1] * first)[:, 1:]
        return self.coefficients, first, second

    def __call__(self, t: Any) -> tuple[Floats, Floats, Floats]:
        """q, q̇ and q̈ (…, n) at times (…)."""
        times = np.asarray(t, dtype=float)
        inside = np.clip(times, self.knots[0], self.knots[-1])
        piece = np.clip(np.searchsorted(self.knots, inside, "right") - 1, 0, len(self.knots) - 2)
        u = (inside - self.knots[piece])[..., None]
        q, qd, qdd = (_evaluate_polynomials(part[piece], u) for part in self._derivatives)
        if times.ndim == 0 and inside == times:
            return q, qd, qdd
        moving = (inside == times)[..., None]
        return q, np.where(moving, qd, 0.0), np.where(moving, qdd, 0.0)

    @cached_property
    def _stacked_coefficients(self) -> tuple[list[float], Floats, Floats]:
        """Knots, coefficients of q, q̇ and q̈ side by side, and the powers."""
        degree = self.coefficients.shape[1]
        parts = [np.pad(x, ((0, 0), (0, degree - x.shape[1]), (0, 0))) for x in self._derivatives]
        return self.knots.tolist(), np.concatenate(parts, axis=2), np.arange(degree, dtype=float)

    def at(self, t: float) -> Floats:
        """(q, q̇, q̈) of one time in a row, quickly."""
        knots, coefficients, powers = self._stacked_coefficients
        if not knots[0] <= t <= knots[-1]:
            return np.concatenate(self(t))
        k = min(bisect_right(knots, t), len(knots) - 1) - 1
        found: Floats = (t - knots[k]) ** powers @ coefficients[k]
        return found

    def extremes(self, order: int = 0) -> tuple[Floats, Floats]:
        """The least and the largest values of q (order 0), q̇ (1) or q̈ (2) on the whole way.

        Exact: they are at ends of pieces, or where the polynomials' derivatives are 0.
        """
        part = self._derivatives[order]
        scaled = part * np.diff(self.knots)[:, None, None] ** np.arange(part.shape[1])[:, None]
        values = np.array([[_polynomial_extremes(c) for c in piece.T] for piece in scaled])
        return values[..., 0].min(axis=0), values[..., 1].max(axis=0)

    def sampled(self, count: int) -> tuple[Floats, Floats, Floats, Floats]:
        """t, q, q̇, q̈ at equal times from start to end."""
        times = np.linspace(self.knots[0], self.knots[-1], count)
        return times, *self(times)

    def finer(self, count: int) -> Floats:
        """Times from start to end, some `count` of them, all knots among them."""
        times = [self.knots[:1]]
        for begin, end in pairwise(self.knots):
            pieces = max(2, int(np.ceil(count * (end - begin) / self.duration)))
            times.append(np.linspace(begin, end, pieces + 1)[1:])
        return np.concatenate(times)

    def stretched(self, factor: float) -> Trajectory:
        """The same path in `factor` times the time."""
        if not 0 < factor < np.inf:
            raise LinkwrightError(f"the factor must be finite and above 0 (got {factor:g})")
        powers = float(factor) ** -np.arange(self.coefficients.shape[1])
        knots = self.knots[0] + factor * (self.knots - self.knots[0])
        return Trajectory(knots, self.coefficients * powers[:, None])

    def part(self, begin: float, end: float) -> Trajectory:
        """The pieces between two knots."""
        near = [int(np.abs(self.knots - t).argmin()) for t in (begin, end)]
        return Trajectory(self.knots[near[0] : near[1] + 1], self.coefficients[slice(*near)])

    def then(self, other: Trajectory) -> Trajectory:
        """This one, and the other right after it, which must begin where this one ends."""
        if self.size != other.size or np.abs(self.end - other.start).max() > 1e-9:
            raise LinkwrightError("the second motion does not begin where the first one ends")
        degree = max(self.coefficients.shape[1], other.coefficients.shape[1])
        parts = [
            np.pad(x.coefficients, ((0, 0), (0, degree - x.coefficients.shape[1]), (0, 0)))
            for x in (self, other)
        ]
        shift = self.knots[-1] - other.knots[0]
        return Trajectory(np.r_[self.knots, other.knots[1:] + shift], np.concatenate(parts))


def _evaluate_polynomials(coefficients: Floats, u: Floats) -> Floats:
    """Σ c_k uᵏ with the powers on axis −2; 0 where there are none."""
    total = np.zeros((*u.shape[:-1], coefficients.shape[-1]))
    for k in reversed(range(coefficients.shape[-2])):
        total = total * u + coefficients[..., k, :]
    return total


def _polynomial_extremes(coefficients: Floats) -> tuple[float, float]:
    """The least and the largest value of Σ c_k uᵏ for u from 0 to 1."""
    slope = (np.arange(len(coefficients)) * coefficients)[:0:-1]
    real = np.abs(slope) > 1e-15 * np.abs(slope).max(initial=0.0)
    roots = np.roots(slope[int(np.argmax(real)) :]) if real.any() else np.zeros(0)
    inside = np.clip(np.r_[0.0, 1.0, np.real(roots)], 0.0, 1.0)
    values = np.polyval(coefficients[::-1], inside)
    return float(values.min()), float(values.max())


def hermite_trajectory(knots: Floats, left: Floats, right: Floats) -> Trajectory:
    """Quintic pieces with (q, q̇, q̈) at both of their ends, each (K, 3, n)."""
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
    """Point to point by polynomials of fifth degree; velocities and accelerations at both ends are
    0 unless given as (start, end)."""
    ends = _read_trajectory_ends(start, end)
    check_trajectory_duration(duration)
    rates = [
        _read_end_rates(pair, len(ends[0]), what)
        for pair, what in ((velocities, "velocities"), (accelerations, "accelerations"))
    ]
    left, right = (np.array([[ends[k], rates[0][k], rates[1][k]]]) for k in range(2))
    return hermite_trajectory(np.array([0.0, duration]), left, right)


def _read_trajectory_ends(start: Any, end: Any) -> tuple[Floats, Floats]:
    a, b = check_number_list(start, "the start"), check_number_list(end, "the end")
    if len(a) != len(b):
        raise LinkwrightError(
            f"the start has {len(a)} numbers, the end {len(b)}", remedy="give as many of each"
        )
    return a, b


def _read_end_rates(values: Any, size: int, what: str) -> list[Floats]:
    """Read the rates at the start and at the end."""
    try:
        both = list(values)
    except TypeError:
        both = []
    if len(both) != 2 or isinstance(values, str):
        raise LinkwrightError(f"{what} are those of start and end", remedy="give (start, end)")
    return [check_scalar_or_vector(x, size, f"one of the {what}") for x in both]


def check_trajectory_duration(duration: float) -> None:
    if not np.isscalar(duration) or isinstance(duration, str) or not 0 < duration < np.inf:
        raise LinkwrightError(f"the duration must be a number of seconds above 0 (got {duration})")


def through(
    points: ArrayLike,
    times: ArrayLike,
    *,
    velocities: ArrayLike = (0.0, 0.0),
    accelerations: ArrayLike | None = None,
) -> Trajectory:
    """A spline through points (K + 1, n) at times, with continuous accelerations.

    Cubic, with given velocities at both ends; if accelerations at the ends are given too (0 for a
    soft start), quintic.
    """
    from scipy.interpolate import PPoly, make_interp_spline

    rows, at = read_number_array(points), read_number_array(times)
    fits = rows is not None and at is not None and at.shape == rows.shape[:1]
    if rows is None or at is None or not fits or rows.ndim != 2 or len(rows) < 2:
        raise LinkwrightError(
            "a spline needs at least 2 points and as many times", remedy="give (K, n) and (K)"
        )
    if not np.isfinite(rows).all() or not (np.diff(at) > 0).all():
        raise LinkwrightError("the points must be finite and the times rising")
    n = rows.shape[1]
    rates = [_read_end_rates(velocities, n, "velocities")]
    if accelerations is not None:
        rates.append(_read_end_rates(accelerations, n, "accelerations"))
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
    """A motion as fast as velocities and accelerations allow: up, on, down; a triangle where the
    way is short.

    `together`: all coordinates begin and end at once, on a straight line; else each at its pace.
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
    """The trapezoid of one coordinate from 0; it stands for a moment where the path has no
    length."""
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
    """Coordinates with knots of their own as one; a coordinate that has arrived waits."""
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
    """A motion from rest over a distance at constant acceleration, fast at the end (paper 000)."""
    if not (0 < distance < np.inf and 0 < acceleration < np.inf):
        raise LinkwrightError("distance and acceleration must be above 0 and finite")
    end = np.sqrt(2 * distance / acceleration)
    return Trajectory(np.array([0.0, end]), np.array([[[0.0], [0.0], [acceleration / 2]]]))
