"""Surfaces of the shapes of bodies, as triangles that are fixed to links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..errors import LinkwrightError, MissingExtraError
from ..expressions import Expression, expression_to_float
from ..kinematics.kinematic_tree import GROUND as GROUND_LINK
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import read_frame_placement
from ..mechanism import GROUND, MeshShape, ShapeOfBody
from ..mechanism.mesh_inertia import mesh_triangles
from ..mechanism.shapes import (
    BoxShape,
    CapsuleShape,
    ConeShape,
    CylinderShape,
    EllipsoidShape,
    PlaneShape,
    SphereShape,
)
from ..types import Floats
from .glyphs import Glyph, drawn_matrix, drawn_point

if TYPE_CHECKING:
    from .mechanism_scene import Scene

_Numbers = Callable[[Sequence[Expression]], list[float]]

_ROUND_PARTS = 24
"""Flat parts of a round shape in one turn."""
_GRID_SHARE = 1 / 700
"""Details of meshes below this share of the mechanism's size are not drawn."""
_LARGEST_GROUND_SHARE = 2.0
"""Shapes of ground beyond this multiple of the mechanism's size are floors and walls."""


@dataclass(frozen=True)
class ShapeSurface:
    """Triangles (n, 3, 3) of a shape in the axes of its link; the colour of the file, or None."""

    link: int
    triangles: Floats
    color: tuple[float, ...] | None

    def box_glyph(self) -> Glyph:
        """Return the corners of its box, for the extent of pictures."""
        points = self.triangles.reshape(-1, 3)
        ends = np.array([points.min(axis=0), points.max(axis=0)])
        corners = [[ends[k >> i & 1, i] for i in range(3)] for k in range(8)]
        return Glyph("solid", self.link, np.array(corners))


@dataclass(frozen=True)
class DrawnShapes:
    """The surfaces of all shapes that are drawn, and `notes` on those that cannot be."""

    surfaces: tuple[ShapeSurface, ...]
    notes: tuple[str, ...]


def build_shape_surfaces(scene: Scene) -> DrawnShapes:
    """Build the surfaces of a mechanism's shapes.

    Where a body has shapes that are only for pictures, its others are not drawn: they are for
    contacts.
    """
    mechanism = scene.mechanism
    tables = {GROUND: mechanism.ground_shapes} | {
        name: body.shapes for name, body in mechanism.bodies.items()
    }
    drawn = [(body, shape) for body, shapes in tables.items() for shape in _seen_shapes(shapes)]
    surfaces, notes = [], dict[str, int]()
    for body, shape in drawn:
        try:
            surfaces += list(_shape_surfaces(scene, body, shape))
        except MissingExtraError as error:
            notes[error.remedy or ""] = notes.get(error.remedy or "", 0) + 1
        except LinkwrightError as error:
            notes[error.what] = notes.get(error.what, 0) + 1
    said = (f"{count} mesh{'es' * (count > 1)} not drawn: {what}" for what, count in notes.items())
    return DrawnShapes(tuple(surfaces), tuple(said))


def _seen_shapes(shapes: Sequence[ShapeOfBody]) -> Sequence[ShapeOfBody]:
    """Return the shapes of a body that are drawn."""
    only = [shape for shape in shapes if shape.use == "visual"]
    return only or [shape for shape in shapes if shape.use != "collision"] or shapes


def _shape_surfaces(scene: Scene, body: str, shape: ShapeOfBody) -> Iterator[ShapeSurface]:
    """Yield the surface of a shape; none for planes and for floors."""
    if isinstance(shape, PlaneShape):
        return
    values = KinematicParameters(scene.mechanism, "numeric")
    R, p = (
        np.array(ca.evalf(ca.SX(x)), dtype=float)
        for x in read_frame_placement(values, shape.origin, "")
    )

    def numbers(entries: Sequence[Expression]) -> list[float]:
        return [expression_to_float(x, scene.mechanism.values) for x in entries]

    if isinstance(shape, MeshShape):
        own = mesh_triangles(shape.file) * np.array(numbers(shape.scale))
        own = _without_small_details(own, _GRID_SHARE * scene.size)
    else:
        own = _primitive_triangles(shape, numbers)
    link = GROUND_LINK
    placed = own @ R.T + p.ravel()
    if body != GROUND:
        place = scene.tree.bodies[body]
        link = place.link
        placed = placed @ drawn_matrix(place.R).T + drawn_point(place.p)
    if link == GROUND_LINK and np.ptp(placed.reshape(-1, 3), axis=0).max() > (
        _LARGEST_GROUND_SHARE * scene.size
    ):
        return
    color = None if shape.color is None else tuple(numbers(shape.color))
    if len(placed):
        yield ShapeSurface(link, placed, color)


def _primitive_triangles(shape: ShapeOfBody, numbers: _Numbers) -> Floats:
    """Return the triangles (n, 3, 3) of a primitive."""
    match shape:
        case BoxShape(size=size):
            return _box_triangles(np.array(numbers(size)))
        case SphereShape(radius=radius):
            (r,) = numbers([radius])
            return _turned_profile(*_arc(r, 0.0, -90.0, 90.0))
        case EllipsoidShape(radii=radii):
            return np.asarray(_turned_profile(*_arc(1.0, 0.0, -90.0, 90.0)) * numbers(radii))
        case CylinderShape(radius=radius, length=length):
            r, whole = numbers([radius, length])
            return _turned_profile([0, r, r, 0], [-whole / 2, -whole / 2, whole / 2, whole / 2])
        case ConeShape(radius=radius, length=length):
            r, whole = numbers([radius, length])
            return _turned_profile([0, r, 0], [-whole / 2, -whole / 2, whole / 2])
        case CapsuleShape(radius=radius, length=length):
            r, whole = numbers([radius, length])
            lower, upper = _arc(r, -whole / 2, -90.0, 0.0), _arc(r, whole / 2, 0.0, 90.0)
            return _turned_profile([*lower[0], *upper[0]], [*lower[1], *upper[1]])
    raise TypeError(f"a {shape.type} has no surface to draw")


def _arc(radius: float, z: float, start: float, end: float) -> tuple[list[float], list[float]]:
    """Return distances from the axis and heights of an arc between two latitudes, degrees."""
    parts = max(2, round((end - start) / 360 * _ROUND_PARTS))
    angles = np.radians(np.linspace(start, end, parts + 1))
    return (radius * np.cos(angles)).tolist(), (z + radius * np.sin(angles)).tolist()


def _turned_profile(radii: Sequence[float], heights: Sequence[float]) -> Floats:
    """Return the triangles of a profile (distance from the axis, height) turned about z."""
    angles = 2 * np.pi * np.arange(_ROUND_PARTS + 1) / _ROUND_PARTS
    r, z = np.asarray(radii, dtype=float), np.asarray(heights, dtype=float)
    points = np.stack(
        [
            np.outer(r, np.cos(angles)),
            np.outer(r, np.sin(angles)),
            np.outer(z, 1 + 0 * angles),
        ],
        axis=-1,
    )
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    both = np.concatenate([np.stack([a, b, c], axis=-2), np.stack([a, c, d], axis=-2)])
    return _with_area(both.reshape(-1, 3, 3))


def _box_triangles(size: Floats) -> Floats:
    """Return the triangles of a box about the origin, with normals outward."""
    corners = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)]) - 0.5
    faces = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    triangles = [corner for a, b, c, d in faces for corner in ((a, b, c), (a, c, d))]
    return np.asarray((corners * size)[np.array(triangles)])


def _with_area(triangles: Floats) -> Floats:
    """Return the triangles whose area is not 0."""
    normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    return np.asarray(triangles[np.linalg.norm(normals, axis=-1) > 0])


def _without_small_details(triangles: Floats, grid: float) -> Floats:
    """Return triangles with their corners on a grid, each once, without those that vanish there."""
    cells = np.round(triangles / grid).astype(np.int64)
    shifted = cells - cells.reshape(-1, 3).min(axis=0)
    most = int(shifted.max(initial=0)) + 1
    corners = np.sort((shifted[..., 0] * most + shifted[..., 1]) * most + shifted[..., 2], axis=1)
    is_face = (np.diff(corners, axis=1) > 0).all(axis=1)
    _, first = np.unique(corners[is_face], axis=0, return_index=True)
    return _with_area(np.multiply(cells[is_face][np.sort(first)], grid, dtype=np.float64))
