"""View directions: the plane of a planar mechanism, or a direction in space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.plane_of_motion import motion_plane_normal, without_rounding_noise
from ..types import Floats

_MIN_VECTOR_LENGTH = 1e-9
_NAMED_PLANES = {"xy": ("x", "y"), "xz": ("x", "z"), "yz": ("y", "z")}


@dataclass(frozen=True)
class View:
    """A parallel projection onto the paper by the unit vectors `right` and `up`.

    `is_planar` marks the view onto the plane of motion of a mechanism, or onto a plane of the
    world.
    """

    right: Floats
    up: Floats
    is_planar: bool

    @property
    def toward_eye(self) -> Floats:
        """The unit vector from the paper toward the eye."""
        return np.cross(self.right, self.up)

    def __call__(self, points: Floats) -> Floats:
        """Points (…, 3) of the world on the paper, (…, 2), m."""
        return np.stack([points @ self.right, points @ self.up], axis=-1)

    def depth(self, points: Floats) -> Floats:
        """How near points (…, 3) are to the eye, m."""
        return np.asarray(points @ self.toward_eye)

    def axis_name(self, direction: Floats) -> str:
        """The name of a direction: x, y, z, or a sum of these for an oblique plane."""
        k = int(np.argmax(np.abs(direction)))
        if abs(abs(direction[k]) - 1) < 1e-9:
            return ("−" if direction[k] < 0 else "") + "xyz"[k]
        parts = [f"{c:+.2g}{'xyz'[i]}" for i, c in enumerate(direction) if abs(c) > 1e-6]
        return " ".join(parts).lstrip("+")


def choose_view(
    tree: KinematicTree, gravity: Floats, asked: str | tuple[float, float] | None
) -> View:
    """The view that is asked for, or the plane of motion, or a view from the front, left and above.

    `asked` is "xy", "xz", "yz", "space", or (azimuth, elevation) in degrees.
    """
    if isinstance(asked, str) and asked in _NAMED_PLANES:
        right, up = (np.eye(3)["xyz".index(c)] for c in _NAMED_PLANES[asked])
        return View(right, up, True)
    if isinstance(asked, str) and asked != "space":
        raise LinkwrightError(
            f"'{asked}' is not a view", remedy="use xy, xz, yz, space, or (azimuth, elevation)"
        )
    normal = motion_plane_normal(tree, gravity) if asked is None else None
    if normal is not None:
        return _view_onto_plane(normal, gravity)
    angles = asked if isinstance(asked, tuple) else (-60.0, 22.0)
    return _view_from_angles(np.asarray(angles, dtype=float), view_upward_direction(gravity))


def view_upward_direction(gravity: Floats) -> Floats:
    """The unit vector against gravity; z without gravity."""
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > _MIN_VECTOR_LENGTH else np.array([0.0, 0.0, 1.0])


def _view_onto_plane(normal: Floats, gravity: Floats) -> View:
    """The view along the normal of a plane, with gravity pointing down on the paper."""
    down = gravity - normal * (gravity @ normal)
    size = float(np.linalg.norm(down))
    if size > _MIN_VECTOR_LENGTH:
        up = -down / size
    else:
        axis = np.eye(3)[2 if abs(normal[2]) < 0.7 else 1]
        up = axis - normal * (axis @ normal)
        up = up / np.linalg.norm(up)
    right = np.cross(up, normal)
    k = int(np.argmax(np.abs(right)))
    return View(without_rounding_noise(right * np.sign(right[k])), without_rounding_noise(up), True)


def _view_from_angles(angles: Floats, up: Floats) -> View:
    """The view from an azimuth about `up` and an elevation above the horizon, degrees."""
    if angles.shape != (2,) or not np.isfinite(angles).all():
        raise LinkwrightError("a direction is azimuth and elevation", remedy="give two angles, °")
    azimuth, elevation = np.radians(angles)
    k = int(np.argmax(np.abs(up)))
    first = np.eye(3)[(k + 1) % 3]
    first = first - up * (first @ up)
    first /= np.linalg.norm(first)
    second = np.cross(up, first)
    level = first * np.cos(azimuth) + second * np.sin(azimuth)
    toward = level * np.cos(elevation) + up * np.sin(elevation)
    right = np.cross(up, level)
    return View(right, np.cross(toward, right), False)
