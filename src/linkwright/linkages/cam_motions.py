"""Motions of cam followers from a table: a smooth periodic spline with exact derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import factorial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import LinkwrightError
from ..number_checks import check_finite_array, check_whole_number
from ..types import Floats

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure
    from scipy.interpolate import BSpline

DEGREES = (3, 5)
"""Degrees of splines: continuous acceleration (3), and also continuous jerk and its rate (5)."""

_SAME_LIFT_SHARE = 1e-9
"""A table that ends at a full turn must end with its first value, to this share of its range."""

_SHOWN_ANGLES = 721
"""Angles of plots and data."""


@dataclass(frozen=True, repr=False)
class CamMotion(NotebookDisplayed):
    """The motion of a follower over the angle of its cam, periodic by a full turn.

    Attributes
    ----------
    angles, values : (n,) arrays
        The table: cam angles, rad, over one turn, the last of which has the first value again, and
        lifts, m (or angles of a swinging follower, rad).
    degree : int
        The degree of the spline.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> motion = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> motion.degree, float(motion(np.pi).round(6))
    (5, 0.02)
    """

    angles: Floats
    values: Floats
    degree: int

    @cached_property
    def _spline(self) -> BSpline:
        from scipy.interpolate import make_interp_spline

        return make_interp_spline(self.angles, self.values, k=self.degree, bc_type="periodic")

    def __call__(self, angle: ArrayLike, derivative: int = 0) -> Floats:
        """Return the lift at cam angles (rad), or its `derivative` with respect to the angle: 1
        for the velocity, 2 for the acceleration, 3 for the jerk, at unit cam speed."""
        start = self.angles[0]
        turned = start + np.mod(np.asarray(angle, dtype=float) - start, 2 * np.pi)
        return np.asarray(self._spline(turned, derivative))

    def expression(self, name: str) -> str:
        """Return the motion as an expression of the coordinate `name`, for mechanism files.

        It is a polynomial in the middle of the turn and a sum of truncated powers
        c·max(±(u − a), 0)^degree on both sides; the degree is odd, so that both have one sign.
        """
        middle, power = float(self.angles[0] + np.pi), self.degree
        inner = self._inner_knots()
        highest = self._highest_derivatives(inner)
        right_of_middle = int(np.searchsorted(inner, middle))
        u = f"({name} - {middle!r} - 2*pi*floor(({name} - {middle!r})/(2*pi) + 1/2))"
        parts = [float(self._spline(middle, k)) / factorial(k) for k in range(power)]
        parts.append(float(highest[right_of_middle]) / factorial(power))
        terms = [f"({part!r})*{u}^{k}" if k else f"({part!r})" for k, part in enumerate(parts)]
        jumps = np.diff(highest) / factorial(power)
        for k, (knot, jump) in enumerate(zip(inner, jumps.tolist(), strict=True)):
            at = float(knot) - middle
            beyond = f"{u} - ({at!r})" if k >= right_of_middle else f"({at!r}) - {u}"
            terms.append(f"({jump!r})*max({beyond}, 0)^{power}")
        return " + ".join(terms)

    def _inner_knots(self) -> Floats:
        """The knots of the spline inside the turn."""
        knots = np.unique(self._spline.t)
        return np.asarray(knots[(knots > self.angles[0]) & (knots < self.angles[-1])])

    def _highest_derivatives(self, inner: Floats) -> Floats:
        """The constant highest derivatives of the pieces between the knots."""
        ends = np.array([self.angles[0], *inner, self.angles[-1]])
        return np.asarray(self._spline((ends[:-1] + ends[1:]) / 2, self.degree))

    @cached_property
    def data(self) -> xarray.Dataset:
        """Lift, velocity, acceleration and jerk over a turn, at unit cam speed."""
        import xarray

        angles = np.linspace(0.0, 2 * np.pi, _SHOWN_ANGLES)
        names = ("lift", "velocity", "acceleration", "jerk")
        variables = {name: ("angle", self(angles, k)) for k, name in enumerate(names)}
        return xarray.Dataset(variables, {"angle": ("angle", angles, {"units": "rad"})})

    def summary(self) -> str:
        """Return one line: the number of values, the range of the lift, the largest rates."""
        d = self.data
        speed, rate = float(abs(d["velocity"]).max()), float(abs(d["acceleration"]).max())
        return (
            f"cam motion by {len(self.angles) - 1} values: lift {float(d['lift'].min()):.6g} to "
            f"{float(d['lift'].max()):.6g}, velocity up to {speed:.6g}, acceleration up to "
            f"{rate:.6g} at unit cam speed"
        )

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of lift, velocity, acceleration and jerk.

        It is written to `path`, if given; `options`: see `show.cam_motion_figure`.
        """
        figure: Figure = find_convenience("CamMotion.plot")(self, path=path, **options)
        return figure


def cam_motion(angles: ArrayLike, values: ArrayLike, degree: int = 5) -> CamMotion:
    """Return the motion of a follower from a table over one turn of its cam.

    Parameters
    ----------
    angles : (n,) array
        Increasing cam angles within one turn, rad; at least one more than the degree.
    values : (n,) array
        Lifts, m, or angles of a swinging follower, rad.
    degree : int
        5 (default): velocity, acceleration, jerk and its rate are continuous. 3: velocity and
        acceleration.

    Returns
    -------
    CamMotion
        A periodic function of the cam angle with exact derivatives.

    Examples
    --------
    >>> import numpy as np
    >>> import linkwright as lw
    >>> turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    >>> cam = lw.linkages.cam_motion(turn, 0.01 * (1 - np.cos(turn)))
    >>> [round(float(cam(0.5, k)), 6) for k in (0, 1, 2)]
    [0.001224, 0.004794, 0.008776]
    """
    check_whole_number(degree, "degree", 3)
    if degree not in DEGREES:
        raise LinkwrightError(f"the degree cannot be {degree}", remedy="give 3 or 5")
    x, y = check_finite_array(angles, "angles"), check_finite_array(values, "values")
    if x.ndim != 1 or x.shape != y.shape or len(x) <= degree:
        raise LinkwrightError(
            f"the table has {x.size} angles and {y.size} values",
            remedy=f"give as many values as angles, at least {degree + 1}",
        )
    span = float(x[-1] - x[0])
    if not (np.diff(x) > 0).all() or span > 2 * np.pi * (1 + 1e-12):
        raise LinkwrightError(
            "the cam angles must increase within one turn, in rad",
            remedy="sort them; np.radians converts degrees",
        )
    return CamMotion(*_closed_table(x, y), degree)


def _closed_table(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """The table with the first value at its end, one turn later."""
    if x[-1] - x[0] < 2 * np.pi * (1 - 1e-12):
        return np.append(x, x[0] + 2 * np.pi), np.append(y, y[0])
    if abs(y[-1] - y[0]) > _SAME_LIFT_SHARE * max(float(np.ptp(y)), 1e-300):
        raise LinkwrightError(
            f"the table begins with {y[0]:g} and ends a turn later with {y[-1]:g}",
            remedy="give the same value at both ends: a cam repeats itself",
        )
    x, y = x.copy(), y.copy()
    x[-1], y[-1] = x[0] + 2 * np.pi, y[0]
    return x, y
