"""Glyphs: the pieces that pictures of a mechanism are made of."""

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
class DrawnPlaneContact:
    """A wheel or ball of a radius about a frame or body, and the plane that it touches."""

    point: str
    plane: str
    radius: float
    is_ball: bool = False


def drawn_matrix(constant: SX | Floats | Sequence[float]) -> Floats:
    """The numbers of a matrix without symbols."""
    return np.asarray(ca.DM(ca.SX(constant)), dtype=float)


def drawn_point(constant: SX | Floats | Sequence[float]) -> Floats:
    """The numbers (n,) of a vector without symbols."""
    return drawn_matrix(constant).ravel()


def circle_glyph_points(radius: float, count: int = 24) -> Floats:
    """Points (count, 3) on a circle about the z axis."""
    angles = 2 * np.pi * np.arange(count) / count
    return radius * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles])


def square_glyph_points(half: float) -> Floats:
    """The corners (4, 3) of a square in the plane z = 0."""
    corners = np.array([[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]])
    return half * corners.astype(float)


def prism_glyph_points(cap: Floats, half: float) -> Floats:
    """The corners of a prism: a cap (n, 3) shifted up and down by half the height."""
    shift = np.array([0.0, 0.0, half])
    return np.vstack([cap + shift, cap - shift])


def glyph_axis_rotation(z: Floats) -> Floats:
    """A rotation whose z axis is the given direction."""
    z = z / np.linalg.norm(z)
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])
