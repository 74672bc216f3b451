"""Shapes of bodies in a live scene: primitives as data, meshes as one buffer of triangles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..errors import LinkwrightError
from ..expressions import Expression, expression_to_float
from ..kinematics.kinematic_tree import KinematicTree, LinkFrame
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import read_frame_placement
from ..mechanism import Mechanism
from ..mechanism.shapes import MeshShape, ShapeOfBody
from ..show.glyphs import drawn_matrix, drawn_point
from ..types import Floats
from .mesh_geometry import PLAIN_COLOR, EmbeddedMeshes, embed_meshes


@dataclass(frozen=True)
class SceneShapes:
    """The shapes of all bodies: primitives, meshes, and notes on what is not drawn."""

    shapes: list[dict[str, object]] = field(default_factory=list)
    meshes: dict[str, object] | None = None
    notes: list[str] = field(default_factory=list)


def scene_shapes(
    mechanism: Mechanism, tree: KinematicTree, *, meshes: bool, triangles: int
) -> SceneShapes:
    """Return the visual shapes of a mechanism, placed in links."""
    found, wanted, notes = list[dict[str, object]](), EmbeddedMeshes(), list[str]()
    for owner, link_frame, shape in _visual_shapes(mechanism, tree):
        R, p = _shape_placement(mechanism, link_frame, shape)
        color = _shape_color(mechanism, shape)
        if isinstance(shape, MeshShape):
            if meshes:
                scale = [expression_to_float(x, mechanism.values) for x in shape.scale]
                wanted.add(shape.file, np.array(scale), link_frame.link, R, p, color)
            continue
        found.append(
            {
                "kind": shape.type,
                "link": link_frame.link,
                "body": owner,
                "rotation": R.ravel().tolist(),
                "point": p.tolist(),
                "color": list(PLAIN_COLOR) if color is None else color,
                "numbers": _shape_numbers(mechanism, shape),
            }
        )
    try:
        embedded = embed_meshes(wanted, triangles) if wanted else None
    except LinkwrightError as error:
        embedded = None
        notes.append(f"Meshes are not drawn: {error}.")
    notes += wanted.all_notes
    return SceneShapes(found, embedded, notes)


def _visual_shapes(
    mechanism: Mechanism, tree: KinematicTree
) -> Iterator[tuple[str, LinkFrame, ShapeOfBody]]:
    """Yield the shapes to draw with the frames of their owners; collision shapes where a body has
    no others."""
    for name, body in mechanism.bodies.items():
        seen = [shape for shape in body.shapes if shape.use != "collision"] or list(body.shapes)
        for shape in seen:
            yield name, tree.bodies[name], shape
    for shape in mechanism.ground_shapes:
        if shape.use != "collision":
            yield "ground", tree.bodies["ground"], shape


def _shape_placement(
    mechanism: Mechanism, frame: LinkFrame, shape: ShapeOfBody
) -> tuple[Floats, Floats]:
    """Rotation and position of a shape in its link."""
    inner, at = read_frame_placement(KinematicParameters(mechanism), shape.origin, "shape")
    R, p = drawn_matrix(frame.R), drawn_point(frame.p)
    return R @ drawn_matrix(inner), R @ drawn_point(at) + p


def _shape_color(mechanism: Mechanism, shape: ShapeOfBody) -> list[float] | None:
    """Red, green, blue and opacity that a shape states."""
    if shape.color is None:
        return None
    return [expression_to_float(x, mechanism.values) for x in shape.color]


def _shape_numbers(mechanism: Mechanism, shape: ShapeOfBody) -> dict[str, object]:
    """The lengths of a primitive by name."""

    def number(value: Expression) -> float:
        return expression_to_float(value, mechanism.values)

    found: dict[str, object] = {}
    for key in ("size", "radii", "radius", "length"):
        value = getattr(shape, key, None)
        if isinstance(value, tuple):
            found[key] = [number(x) for x in value]
        elif value is not None:
            found[key] = number(value)
    return found
