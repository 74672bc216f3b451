"""Coupler curves: the path of a point of a linkage over its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..mechanism import Frame, Mechanism, mechanism_names, require_mechanism
from ..mechanism.mechanism_units import coordinate_units
from ..mechanism.parts import replace_part_fields
from ..simulation.kinematic_motion import Kinematics
from ..types import Floats
from .input_sweeps import sweep_input

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

POINT_FRAME = "coupler_point"
"""The name of the frame that a point of a body gets."""

_CLOSED_SHARE = 1e-7
"""A curve whose ends are nearer than this share of its size is closed."""


@dataclass(frozen=True, repr=False)
class CouplerCurve(NotebookDisplayed):
    """The path of a point over the input of a linkage, one row for each position.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism, with a frame at the point.
    point, input : str
        The frame, and the input coordinate.
    motion : Kinematics
        The motion of the mechanism over the input.
    input_values : (n,) array
        The input, rad or m.
    position, velocity, acceleration : (n, 3) arrays
        The point in the world, m, and its first and second derivatives with respect to the input.

    Examples
    --------
    >>> import linkwright as lw
    >>> curve = lw.linkages.coupler_curve(lw.gallery("four-bar"), ("coupler", (1.5, 1.0)))
    >>> curve.input, curve.is_closed, curve.position.shape[1]
    ('theta1', True, 3)
    """

    mechanism: Mechanism
    point: str
    input: str
    motion: Kinematics
    input_values: Floats
    position: Floats
    velocity: Floats
    acceleration: Floats

    @property
    def is_closed(self) -> bool:
        """Whether the last point is the first one again."""
        size = float(np.ptp(self.position, axis=0).max())
        gap = float(np.linalg.norm(self.position[-1] - self.position[0]))
        return gap <= _CLOSED_SHARE * size

    @cached_property
    def length(self) -> float:
        """The length of the curve, m, by the trapezoidal rule: exact to rounding over a cycle of
        enough samples."""
        speeds = np.linalg.norm(self.velocity, axis=1)
        return abs(float(np.trapezoid(speeds, self.input_values)))

    @cached_property
    def curvature(self) -> Floats:
        """The curvature (n,), 1/m; infinite at a cusp."""
        speeds = np.linalg.norm(self.velocity, axis=1)
        turned = np.linalg.norm(np.cross(self.velocity, self.acceleration), axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(speeds > 0, turned / speeds**3, np.inf)

    @cached_property
    def data(self) -> xarray.Dataset:
        """The curve with names and units over the input."""
        import xarray

        unit = coordinate_units(self.mechanism)[mechanism_names(self.mechanism).q.index(self.input)]
        steps = ("input", "axis")
        variables = {
            "position": (steps, self.position, {"units": "m"}),
            "velocity": (steps, self.velocity, {"units": f"m/{unit}"}),
            "acceleration": (steps, self.acceleration, {"units": f"m/{unit}^2"}),
            "curvature": ("input", self.curvature, {"units": "1/m"}),
        }
        labels = {
            "input": ("input", self.input_values, {"units": unit, "name": self.input}),
            "axis": ["x", "y", "z"],
        }
        return xarray.Dataset(variables, labels, {"point": self.point})

    def summary(self) -> str:
        """Return one line: the point, the length and the extent of its curve."""
        kind = "closed" if self.is_closed else "open"
        low, high = self.position.min(axis=0), self.position.max(axis=0)
        extents = [
            f"{axis} {a:.6g} to {b:.6g}"
            for axis, a, b in zip("xyz", low, high, strict=True)
            if b - a > 1e-12
        ]
        return (
            f"{kind} curve of {self.point} over {self.input}: {self.length:.6g} m long, "
            f"{', '.join(extents)} m" + ("" if self.motion.finished else f"; {self.motion.status}")
        )

    def plot(self, path: str | Path | None = None, **options: object) -> Figure:
        """Return a figure of the curve with the linkage.

        It is written to `path`, if given; `options`: see `show.coupler_curve_figure`.
        """
        figure: Figure = find_convenience("CouplerCurve.plot")(self, path=path, **options)
        return figure


def coupler_curve(
    mechanism: Mechanism,
    point: str | tuple[str, Sequence[float]],
    input: str | None = None,  # noqa: A002
    *,
    over: tuple[float, float] | None = None,
    rough: Mapping[str, float] | str | None = None,
    samples: int = 361,
) -> CouplerCurve:
    """Return the path of a point of a linkage over its input.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism of one degree of freedom, planar or spatial.
    point : str, or (str, sequence of numbers)
        A frame or body, or a body and the coordinates (m) of a point in its axes:
        ("coupler", (1, 2)).
    input : str, optional
        The input coordinate (default: the independent one).
    over : (float, float), optional
        The ends of the input's sweep, rad or m (default: all of its range).
    rough : mapping of names to numbers, or name of a pose, optional
        First guesses of other coordinates, which select the branch.
    samples : int
        Number of equally spaced positions.

    Returns
    -------
    CouplerCurve
        The curve with its derivatives; printed as text, drawn by `plot`.

    Examples
    --------
    >>> import linkwright as lw
    >>> curve = lw.linkages.coupler_curve(lw.gallery("four-bar"), ("coupler", (1.5, 1.0)))
    >>> curve.is_closed, round(curve.length, 3)
    (True, 5.287)
    """
    require_mechanism(mechanism)
    marked, name = _mechanism_with_point(mechanism, point)
    motion = sweep_input(marked, input, over, rough=rough, samples=samples)
    driven = motion.driven[0]
    values = motion.q[:, mechanism_names(marked).q.index(driven)]
    sign = 1.0 if values[-1] >= values[0] else -1.0
    position, velocity, acceleration = motion.frame(name)
    return CouplerCurve(
        marked, name, driven, motion, values, position, sign * velocity, acceleration
    )


def _mechanism_with_point(
    mechanism: Mechanism, point: str | tuple[str, Sequence[float]]
) -> tuple[Mechanism, str]:
    """The mechanism with a frame at the point, and the frame's name."""
    known = [*mechanism.frames, *mechanism.bodies]
    if isinstance(point, str):
        if point not in known:
            raise NameNotFoundError(
                f"{mechanism.name} has no frame or body '{point}'",
                remedy=suggest_remedy(point, known),
            )
        return mechanism, point
    body, place = point
    if body not in mechanism.bodies:
        raise NameNotFoundError(
            f"{mechanism.name} has no body '{body}'",
            remedy=suggest_remedy(str(body), list(mechanism.bodies)),
        )
    if len(place) not in (2, 3):
        raise LinkwrightError(
            f"a point of {body} has {len(place)} coordinates", remedy="give two or three, m"
        )
    xyz = [float(x) for x in place] + [0.0] * (3 - len(place))
    frame = Frame(body=body, origin={"xyz": xyz})
    frames = {**mechanism.frames, POINT_FRAME: frame}
    return replace_part_fields(mechanism, frames=frames), POINT_FRAME
