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

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError
from ..types import Floats


@dataclass(frozen=True, repr=False)
class Trajectory(NotebookDisplayed):
    """A motion over time: piecewise polynomials of all coordinates.

    Before its first and after its last knot the motion rests at its ends. A call with times of
    shape (…) returns q, q̇ and q̈ of shape (…, n).

    Parameters
    ----------
    knots : (K + 1,) array
        Rising times at which pieces begin and end, s.
    coefficients : (K, degree + 1, n) array
        Factors of the powers 0, 1, … of the time since a piece began, rad or m and s.

    Examples
    --------
    >>> import linkwright as lw
    >>> way = lw.motion.quintic([0.0, 0.0], [1.0, 0.5], duration=2.0)
    >>> q, qd, qdd = way(1.0)
    >>> q.tolist()
    [0.5, 0.25]
    """

    knots: Floats
    coefficients: Floats

    def summary(self) -> str:
        """Return one line: the number of coordinates and pieces, and the times."""
        pieces, _, count = self.coefficients.shape
        span = f"from {self.knots[0]:.4g} to {self.knots[-1]:.4g} s"
        return f"Trajectory of {count} coordinates, {pieces} pieces {span}"

    def __post_init__(self) -> None:
        pieces = len(self.knots) - 1
        if pieces < 1 or self.coefficients.ndim != 3 or len(self.coefficients) != pieces:
            raise LinkwrightError(
                "knots and coefficients do not fit", remedy="give K + 1 knots and K rows"
            )
        if not (np.diff(self.knots) > 0).all() or not np.isfinite(self.coefficients).all():
            raise LinkwrightError("a trajectory needs increasing times and finite numbers")

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return int(self.coefficients.shape[2])

    @property
    def duration(self) -> float:
        """Time from the first knot to the last, s."""
        return float(self.knots[-1] - self.knots[0])

    @cached_property
    def start(self) -> Floats:
        """Coordinates at the first knot, (n,), rad or m."""
        return self(self.knots[0])[0]

    @cached_property
    def end(self) -> Floats:
        """Coordinates at the last knot, (n,), rad or m."""
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
        q, qd, qdd = (_evaluate_trajectory_pieces(part[piece], u) for part in self._derivatives)
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
        """Return q, q̇ and q̈ at one time in one row, faster than a call does.

        Parameters
        ----------
        t : float
            Time, s.

        Returns
        -------
        (3n,) array
            rad or m, and the same per s and s².
        """
        knots, coefficients, powers = self._stacked_coefficients
        if not knots[0] <= t <= knots[-1]:
            return np.concatenate(self(t))
        k = min(bisect_right(knots, t), len(knots) - 1) - 1
        found: Floats = (t - knots[k]) ** powers @ coefficients[k]
        return found

    def extremes(self, order: int = 0) -> tuple[Floats, Floats]:
        """Return the smallest and the largest values over the whole motion.

        The values are exact: they are at ends of pieces or where the derivative of a polynomial
        is 0.

        Parameters
        ----------
        order : int
            0 for q, 1 for q̇, 2 for q̈.

        Returns
        -------
        tuple of two (n,) arrays
            Smallest and largest values, rad or m, per s or s².
        """
        part = self._derivatives[order]
        scaled = part * np.diff(self.knots)[:, None, None] ** np.arange(part.shape[1])[:, None]
        values = np.array([[_trajectory_piece_extremes(c) for c in piece.T] for piece in scaled])
        return values[..., 0].min(axis=0), values[..., 1].max(axis=0)

    def sampled(self, count: int) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the motion at equal times from start to end.

        Parameters
        ----------
        count : int
            Number of times.

        Returns
        -------
        tuple of arrays
            t, (count,), in s; q, q̇ and q̈, (count, n) each.
        """
        times = np.linspace(self.knots[0], self.knots[-1], count)
        return times, *self(times)

    def finer(self, count: int) -> Floats:
        """Return times from start to end that include all knots.

        Parameters
        ----------
        count : int
            About how many.

        Returns
        -------
        array
            Rising times, s.
        """
        times = [self.knots[:1]]
        for begin, end in pairwise(self.knots):
            pieces = max(2, int(np.ceil(count * (end - begin) / self.duration)))
            times.append(np.linspace(begin, end, pieces + 1)[1:])
        return np.concatenate(times)

    def stretched(self, factor: float) -> Trajectory:
        """Return the same path in a longer or shorter time.

        Parameters
        ----------
        factor : float
            New duration divided by the old one, above 0.

        Returns
        -------
        Trajectory
            A new motion that begins at the same time.
        """
        if not 0 < factor < np.inf:
            raise LinkwrightError(f"the factor must be finite and above 0 (got {factor:g})")
        powers = float(factor) ** -np.arange(self.coefficients.shape[1])
        knots = self.knots[0] + factor * (self.knots - self.knots[0])
        return Trajectory(knots, self.coefficients * powers[:, None])

    def part(self, begin: float, end: float) -> Trajectory:
        """Return the pieces between two knots.

        Parameters
        ----------
        begin, end : float
            Times, s; the nearest knots are taken.

        Returns
        -------
        Trajectory
            A new motion with these pieces.
        """
        near = [int(np.abs(self.knots - t).argmin()) for t in (begin, end)]
        return Trajectory(self.knots[near[0] : near[1] + 1], self.coefficients[slice(*near)])

    def then(self, other: Trajectory) -> Trajectory:
        """Return this motion followed by another one.

        Parameters
        ----------
        other : Trajectory
            A motion that begins where this one ends.

        Returns
        -------
        Trajectory
            Both; the times of the other are shifted.
        """
        if self.size != other.size or np.abs(self.end - other.start).max() > 1e-9:
            raise LinkwrightError("the second motion does not begin where the first one ends")
        degree = max(self.coefficients.shape[1], other.coefficients.shape[1])
        parts = [
            np.pad(x.coefficients, ((0, 0), (0, degree - x.coefficients.shape[1]), (0, 0)))
            for x in (self, other)
        ]
        shift = self.knots[-1] - other.knots[0]
        return Trajectory(np.r_[self.knots, other.knots[1:] + shift], np.concatenate(parts))


def _evaluate_trajectory_pieces(coefficients: Floats, u: Floats) -> Floats:
    """Σ c_k uᵏ with the powers on axis −2; 0 where there are none."""
    total = np.zeros((*u.shape[:-1], coefficients.shape[-1]))
    for k in reversed(range(coefficients.shape[-2])):
        total = total * u + coefficients[..., k, :]
    return total


def _trajectory_piece_extremes(coefficients: Floats) -> tuple[float, float]:
    """The least and the largest value of Σ c_k uᵏ for u from 0 to 1."""
    slope = (np.arange(len(coefficients)) * coefficients)[:0:-1]
    real = np.abs(slope) > 1e-15 * np.abs(slope).max(initial=0.0)
    roots = np.roots(slope[int(np.argmax(real)) :]) if real.any() else np.zeros(0)
    inside = np.clip(np.r_[0.0, 1.0, np.real(roots)], 0.0, 1.0)
    values = np.polyval(coefficients[::-1], inside)
    return float(values.min()), float(values.max())
