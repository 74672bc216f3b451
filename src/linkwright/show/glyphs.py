"""The pieces that pictures of a mechanism are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..types import SX, Floats

GROUND_LINK = -1


@dataclass(frozen=True)
class Glyph:
    """Points fixed to a link (or to ground), and how they are drawn.

    line, wheel, blade, axis, coil: a path; plate: a filled polygon; solid, hatch: pairs of points;
    hull: the outline of two caps of equal size; ball, center, dot: one point. `closes_loop` marks
    what closes a loop.
    """

    kind: str
    link: int
    points: Floats
    name: str = ""
    closes_loop: bool = False


@dataclass(frozen=True)
class ConnectorGlyph:
    """A spring, damper, rod or rail from a point of one link to a point of another."""

    kind: str
    links: tuple[int, int]
    points: Floats
    name: str = ""


@dataclass(frozen=True)
class PlaneContact:
    """A frame or body, a wheel or a ball of a radius about it, and the plane that it is on."""

    point: str
    plane: str
    radius: float
    is_ball: bool = False


def numeric_array(constant: SX | Floats | Sequence[float]) -> Floats:
    """Numbers of a matrix without symbols."""
    return np.asarray(ca.DM(ca.SX(constant)), dtype=float)


def numeric_point(constant: SX | Floats | Sequence[float]) -> Floats:
    return numeric_array(constant).ravel()


def circle_points(radius: float, count: int = 24) -> Floats:
    """A circle about z."""
    angles = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])


def square_points(half: float) -> Floats:
    corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    return half * corners.astype(float)


def prism_points(cap: Floats, half: float) -> Floats:
    """Two caps, above and below."""
    shift = np.array([0.0, 0.0, half])
    return np.vstack([cap + shift, cap - shift])


def rotation_to_axis(z: Floats) -> Floats:
    """A rotation whose z axis is the given direction."""
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
