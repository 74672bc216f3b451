"""The instantaneous screw axis of a body, Agrawal (1988), (1) and (2).

At each instant a body turns about a line and slides along it: V̂ = (ω + ε v) ŝ for points on the
line. Its direction is that of ω, it passes through ω × v₀/ω², with v₀ the velocity of what is at
the world's origin, and the pitch is ω·v₀/ω².
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..displays import NotebookDisplayed
from ..kinematics.file_pose import tree_starting_pose
from ..kinematics.mechanism_size import tree_length
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import GROUND, Mechanism, require_mechanism
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_finite_array
from ..types import Floats, VectorLike

MIN_ROTATION_SHARE = 1e-10
"""Bodies whose rotation moves points by a smaller share of their velocity, over the size of the
mechanism, translate: rounding and the closing of loops leave rotations of this size."""

REST_SHARE = 1e-12
"""Relative velocities below this share of the bodies' own are rounding errors."""


@dataclass(frozen=True, repr=False)
class ScrewAxis(NotebookDisplayed):
    """The instantaneous screw axis of a body, world axes.

    Attributes
    ----------
    body, relative_to : str
        The body, and the one from which its motion is seen.
    kind : str
        "screw", "rotation" (no pitch), "translation" (no axis: its point is the body's origin) or
        "rest".
    direction : (3,) array
        The unit vector along the axis, or along a translation; zero at rest.
    point : (3,) array
        The point of the axis that is nearest to the body's origin, m.
    angular_speed, sliding_speed : float
        Rotation about the axis, rad/s, not negative, and velocity along it, m/s.
    pitch : float
        Sliding for a radian of rotation, m/rad; infinite for a translation, NaN at rest.

    Examples
    --------
    >>> import linkwright as lw
    >>> axis = lw.motion.screw_axis(lw.gallery("elbow"), "link2", [0.0, 0.0], [1.0, -3.0])
    >>> axis.kind, axis.angular_speed, axis.direction
    ('rotation', 2.0, array([ 0.,  0., -1.]))
    """

    body: str
    relative_to: str
    kind: str
    direction: Floats
    point: Floats
    angular_speed: float
    sliding_speed: float
    pitch: float

    def summary(self) -> str:
        """Return one line: what the body does, and about which line."""
        seen = "" if self.relative_to == GROUND else f" relative to {self.relative_to}"
        if self.kind == "rest":
            return f"{self.body} rests{seen}"
        along = f"({', '.join(f'{x:.6g}' for x in self.direction)})"
        if self.kind == "translation":
            return f"{self.body} translates{seen} at {self.sliding_speed:.6g} m/s along {along}"
        at = f"({', '.join(f'{x:.6g}' for x in self.point)}) m"
        pitch = "" if self.kind == "rotation" else f", pitch {self.pitch:.6g} m/rad"
        return (
            f"{self.body} turns{seen} at {self.angular_speed:.6g} rad/s about the axis {along} "
            f"through {at}{pitch}"
        )


def screw_axis(
    mechanism: Mechanism,
    body: str,
    q: VectorLike,
    qd: VectorLike,
    *,
    t: float = 0.0,
    relative_to: str = GROUND,
) -> ScrewAxis:
    """Return the instantaneous screw axis of a body or frame.

    In a plane it is the instantaneous centre of rotation, the pole, as a line normal to the plane.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    body : str
        A body or frame.
    q, qd : (nq,) and (nv,) arrays, or tables by name
        Coordinates and velocities, rad or m, rad/s or m/s; loops must be closed.
    t : float
        Time, s, where the coordinates depend on it.
    relative_to : str
        A body or frame from which the motion is seen (default: ground).

    Returns
    -------
    ScrewAxis
        The axis, with rotation and sliding; printed as text.

    Examples
    --------
    >>> import linkwright as lw
    >>> axis = lw.motion.screw_axis(lw.gallery("elbow"), "link2", [0.0, 0.0], [1.0, -3.0])
    >>> axis.point.round(3)
    array([1.5, 0. , 0. ])
    """
    require_mechanism(mechanism)
    model, tree = compiled(mechanism, threads=1), build_kinematic_tree(mechanism)
    origin, one = _twist_at_world_origin(model, body, q, qd, t)
    other = np.zeros(6)
    if relative_to != GROUND:
        _, other = _twist_at_world_origin(model, relative_to, q, qd, t)
    length = tree_length(tree, tree_starting_pose(tree))
    return _screw_of_twists((body, relative_to), origin, one, other, length)


def _twist_at_world_origin(
    model: Model, body: str, q: VectorLike, qd: VectorLike, t: float
) -> tuple[Floats, Floats]:
    """The body's origin, and (ω, v₀) with v₀ the velocity of its point at the world's origin."""
    now = model.names.position_time_arguments(t)
    origin = model.placement(body)(q, *now)[:3, 3]
    twist = model.frame_velocity(body)(q, qd, *now)
    check_finite_array(np.concatenate([origin, twist]), f"the motion of {body} by q and qd")
    return origin, np.concatenate([twist[:3], twist[3:] - np.cross(twist[:3], origin)])


def _screw_of_twists(
    names: tuple[str, str], origin: ArrayLike, one: Floats, other: Floats, length: float
) -> ScrewAxis:
    """The screw axis of the difference of two twists at the world's origin."""
    at = np.asarray(origin, dtype=float)

    def speeds(twist: Floats) -> tuple[Floats, Floats]:
        return twist[:3], twist[3:] + np.cross(twist[:3], at)

    def size(twist: Floats) -> float:
        omega, v = speeds(twist)
        return max(float(np.linalg.norm(omega)) * length, float(np.linalg.norm(v)))

    omega, v = speeds(one - other)
    if size(one - other) <= REST_SHARE * max(size(one), size(other)):
        return ScrewAxis(*names, "rest", np.zeros(3), at, 0.0, 0.0, np.nan)
    turning, speed = float(np.linalg.norm(omega)), float(np.linalg.norm(v))
    if turning * length <= MIN_ROTATION_SHARE * speed:
        return ScrewAxis(*names, "translation", v / speed, at, 0.0, speed, np.inf)
    direction, sliding = omega / turning, float(omega @ v) / turning
    point = at + np.cross(omega, v) / turning**2
    if abs(sliding) <= MIN_ROTATION_SHARE * max(turning * length, speed):
        return ScrewAxis(*names, "rotation", direction, point, turning, 0.0, 0.0)
    return ScrewAxis(*names, "screw", direction, point, turning, sliding, sliding / turning)
