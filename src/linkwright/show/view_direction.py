"""View directions: the plane of a planar mechanism, or a direction in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..errors import LinkwrightError
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.world_kinematics import WorldKinematics
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
    normal = view_plane_normal(tree, gravity) if asked is None else None
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
    return View(_clean_view_vector(right * np.sign(right[k])), _clean_view_vector(up), True)


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


def _clean_view_vector(a: Floats) -> Floats:
    """A vector without rounding errors and negative zeros."""
    return np.where(np.abs(a) < 1e-12, 0.0, a) + 0.0


def view_plane_normal(tree: KinematicTree, gravity: Floats) -> Floats | None:
    """The normal of the plane to which all motions are parallel at all configurations; None if
    there is none."""
    q = tree.motion.q
    world = WorldKinematics(tree, q)
    rows: list[Any] = [ca.horzcat(ca.SX(f.s).T, float(f.has_rotation)) for f in world.joint_axes]
    rows += [ca.horzcat(ca.SX(axis).T, 1.0) for axis in _view_turning_axes(tree, world)]
    if not rows:
        return None
    function = ca.Function("axes", [ca.vertcat(q, tree.motion.t)], [ca.vertcat(*rows)])
    rng = np.random.default_rng(0)
    found = [np.asarray(function(rng.uniform(0.2, 1.2, q.shape[0] + 1)), float) for _ in range(3)]
    table = np.vstack(found)
    turning, sliding = table[table[:, 3] == 1, :3], table[table[:, 3] == 0, :3]
    normal = turning[0] if len(turning) else _sliding_view_normal(sliding, gravity)
    normal = normal / np.linalg.norm(normal)
    aligned = np.abs(np.cross(turning, normal)).max(initial=0.0) < 1e-6
    within = np.abs(sliding @ normal).max(initial=0.0) < 1e-6
    return _clean_view_vector(normal) if aligned and within else None


def _view_turning_axes(tree: KinematicTree, world: WorldKinematics) -> list[Any]:
    """The axes of wheels and of loops that turn, in the world."""
    found: list[Any] = []
    for tie in tree.restraints.entries:
        for place, axis in tie.turning_axes(tree):
            R = world.link_poses[place.link].R if place.link >= 0 else np.eye(3)
            found.append(R @ place.R @ axis)
    return found


def _sliding_view_normal(sliding: Floats, gravity: Floats) -> Floats:
    """The view normal of a mechanism that only slides: across two directions, or one and the
    vertical."""
    first = sliding[0]
    for other in (*sliding[1:], gravity, np.eye(3)[2], np.eye(3)[0]):
        normal = np.cross(first, other)
        if np.linalg.norm(normal) > 1e-6:
            return np.asarray(normal)
    return np.array([0.0, 0.0, 1.0])
