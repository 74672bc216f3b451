"""The geometry of a tool's path: straight lines and circular arcs over s from 0 to 1."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError
from ..number_checks import check_vector
from ..types import Floats


@dataclass(frozen=True, repr=False)
class ToolPath(NotebookDisplayed):
    """A path of a tool over s from 0 to 1.

    Attributes
    ----------
    length : float
        Length of the path, m.
    point : callable
        s → the point in the world (m) with its first and second derivatives by s.
    turn : (3,) array or None
        Rotation vector from s = 0 to s = 1, rad; None leaves the rotation free.

    Examples
    --------
    >>> import linkwright as lw
    >>> path = lw.motion.straight([0, 0, 0], [3, 4, 0])
    >>> point, first, second = path.point(0.5)
    >>> point, first
    (array([1.5, 2. , 0. ]), array([3., 4., 0.]))
    """

    length: float
    point: Callable[[float], tuple[Floats, Floats, Floats]]
    turn: Floats | None = None

    def summary(self) -> str:
        """Return one line: the length, and the angle that the tool turns."""
        turn = "" if self.turn is None else f", turning by {np.linalg.norm(self.turn):.4g} rad"
        return f"Path of {self.length:.4g} m{turn}"


def straight(begin: ArrayLike, end: ArrayLike, turn: ArrayLike | None = None) -> ToolPath:
    """Return the straight path between two points.

    Parameters
    ----------
    begin, end : (3,) array
        Points in the world, m.
    turn : (3,) array, optional
        Rotation vector from begin to end, rad (default: the rotation is free).

    Returns
    -------
    ToolPath
        The path.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.straight([0, 0, 0], [3, 4, 0]).length
    5.0
    """
    a, b = (read_path_point(x) for x in (begin, end))
    length = float(np.linalg.norm(b - a))
    if not length > 0:
        raise LinkwrightError("the line begins where it ends", remedy="give another end")
    return ToolPath(length, lambda s: (a + s * (b - a), b - a, np.zeros(3)), _read_tool_turn(turn))


def circular(
    begin: ArrayLike, via: ArrayLike, end: ArrayLike, turn: ArrayLike | None = None
) -> ToolPath:
    """Return the circular arc from one point through a second to a third.

    Parameters
    ----------
    begin, via, end : (3,) array
        Points in the world, m.
    turn : (3,) array, optional
        Rotation vector from begin to end, rad (default: the rotation is free).

    Returns
    -------
    ToolPath
        The path.

    Examples
    --------
    >>> import linkwright as lw
    >>> round(lw.motion.circular([1, 0, 0], [0, 1, 0], [-1, 0, 0]).length, 6)
    3.141593
    """
    a, m, b = (read_path_point(x) for x in (begin, via, end))
    u, v = m - a, b - a
    normal = np.cross(u, v)
    area = float(normal @ normal)
    if area <= 1e-20 * float(u @ u) * float(v @ v):
        raise LinkwrightError("the three points of the arc are on a line", remedy="take a line")
    center = a + np.cross((u @ u) * v - (v @ v) * u, normal) / (2 * area)
    x = a - center
    y = np.cross(normal / np.sqrt(area), x)
    angle = float(np.arctan2((b - center) @ y, (b - center) @ x)) % (2 * np.pi)

    def point(s: float) -> tuple[Floats, Floats, Floats]:
        c, d = np.cos(angle * s), np.sin(angle * s)
        radial = c * x + d * y
        return center + radial, angle * (c * y - d * x), -(angle**2) * radial

    return ToolPath(angle * float(np.linalg.norm(x)), point, _read_tool_turn(turn))


def _read_tool_turn(given: ArrayLike | None) -> Floats | None:
    return None if given is None else read_path_point(given)


def read_path_point(given: ArrayLike) -> Floats:
    """Three finite numbers: a point or displacement (m), or a rotation vector (rad)."""
    return check_vector(given, 3, "a point, displacement or turn", "xyz")


def tool_path_rotation(vector: Floats) -> Floats:
    """The rotation matrix of a rotation vector (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    found: Floats = np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)
    return found
