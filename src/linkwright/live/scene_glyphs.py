"""The drawing of a live scene as data: glyphs, connectors, frames, centres of mass, the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..expressions import expression_to_float
from ..show.figure_style import GRAY_COLOR, INK_COLOR, line_color
from ..show.glyph_brush import AXIS_COLORS, DASHPOT_PATHS, GLYPH_LAYERS, SPRING_PATHS
from ..show.glyphs import GROUND_LINK, ConnectorGlyph, Glyph, drawn_matrix, drawn_point
from ..show.ground_glyphs import build_ground_glyphs
from ..show.mechanism_scene import Scene
from ..show.scaled_axes import drawing_bounds
from ..show.traced_points import find_traced_points
from ..show.view_direction import view_upward_direction
from ..types import Floats
from .scene_anchors import nearest_anchor_indices

MAX_TRACED_POINTS = 4
"""Points whose paths are drawn unless the user names them."""


def scene_drawing(
    scene: Scene, poses: Floats, links: list[int], anchors: Floats, trace: Sequence[str] | None
) -> dict[str, object]:
    """Return glyphs, connectors, traces and view; `poses` (n, links + 1, 3, 4) tell how far the
    mechanism reaches, `anchors` (n, 3) of `links` carry points of glyphs."""
    view = scene.view()
    digits = max(0, 6 - int(np.floor(np.log10(scene.size))))

    def numbers(points: Floats) -> list[object]:
        return list(np.round(points, digits).tolist())

    def carried(link: int, points: Floats) -> list[int]:
        return nearest_anchor_indices(link, points, links, anchors)

    groups: dict[str, list[Glyph]] = {
        "ground": build_ground_glyphs(scene, poses, view),
        "links": scene.link_glyphs,
        "wheels": scene.wheel_glyphs,
        "joints": scene.joint_glyphs,
        "frames": scene.frame_glyphs,
        "centers": scene.center_glyphs,
    }
    glyphs = [
        {
            "group": group,
            "kind": one.kind,
            "link": one.link,
            "name": one.name,
            "layer": GLYPH_LAYERS[one.kind],
            "color": _glyph_color(one, scene),
            "points": numbers(one.points),
            "anchors": _group_anchors(one, carried(one.link, one.points)),
        }
        for group, several in groups.items()
        for one in several
    ]
    points = find_traced_points(scene, trace)
    return {
        "glyphs": glyphs,
        "connectors": [
            {
                "kind": one.kind,
                "links": list(one.links),
                "name": one.name,
                "layer": GLYPH_LAYERS[one.kind],
                "color": _connector_color(one, scene),
                "points": numbers(one.points),
                "anchors": [
                    carried(link, p[None])[0] for link, p in zip(one.links, one.points, strict=True)
                ],
            }
            for one in scene.connector_glyphs
        ],
        "patterns": {"spring": SPRING_PATHS, "damper": DASHPOT_PATHS},
        "traces": [
            {
                "name": one.name,
                "link": one.link,
                "point": numbers(one.point),
                "anchor": carried(one.link, one.point[None])[0],
            }
            for one in (points if trace is not None else points[:MAX_TRACED_POINTS])
        ],
        "view": _first_view(scene, poses),
    }


def _group_anchors(glyph: Glyph, nearest: list[int]) -> list[int]:
    """The anchor of each point of a glyph: its own for links, one for all points of a sign."""
    if glyph.kind in ("line", "plate"):
        return nearest
    middle = max(set(nearest), key=nearest.count)
    return [middle] * len(nearest)


def _glyph_color(glyph: Glyph, scene: Scene) -> str:
    """The colour of a glyph, as in films."""
    if glyph.kind == "axis":
        return AXIS_COLORS[glyph.name[-1]]
    if glyph.kind in ("hull", "ball"):
        return AXIS_COLORS["x"] if glyph.closes_loop else INK_COLOR
    if glyph.link == GROUND_LINK:
        return INK_COLOR
    return line_color(scene.color_order.get(glyph.link, 0))


def _connector_color(tie: ConnectorGlyph, scene: Scene) -> str:
    """The colour of a spring, damper, rod or rail, as in films."""
    if tie.kind == "rod":
        return INK_COLOR
    on_ground = tie.kind != "rail" or tie.links[0] == GROUND_LINK
    return GRAY_COLOR if on_ground else line_color(scene.color_order.get(tie.links[1], 0))


def contact_points(scene: Scene, dampings: Mapping[str, str]) -> list[dict[str, object]]:
    """The points or balls that may touch planes; of rigid ones the restitution, and the parameter
    by which the page damps them."""
    found = []
    for name, one in scene.mechanism.contacts.items():
        place, plane = scene.tree.find_frame(one.point), scene.tree.find_frame(one.plane)
        e = expression_to_float(one.restitution, scene.mechanism.values)
        found.append(
            {
                "name": name,
                "rebound": {"damping": dampings[name], "e": e} if name in dampings else None,
                "link": place.link,
                "point": drawn_point(place.p).tolist(),
                "radius": expression_to_float(one.radius, scene.mechanism.values),
                "plane": {
                    "link": plane.link,
                    "point": drawn_point(plane.p).tolist(),
                    "normal": drawn_matrix(plane.R)[:, 2].tolist(),
                },
            }
        )
    return found


def _first_view(scene: Scene, poses: Floats) -> dict[str, object]:
    """The first view: directions on the screen, middle and extent of what is drawn."""
    view = scene.view()
    low, high = drawing_bounds(scene, poses, view)
    middle = (low + high) / 2
    depth = float(np.mean(view.depth(poses[:, :-1, :, 3])))
    heights = [view_upward_direction(scene.gravity) @ p for p in poses[..., 3].reshape(-1, 3)]
    return {
        "planar": bool(view.is_planar),
        "right": view.right.tolist(),
        "up": view.up.tolist(),
        "vertical": view_upward_direction(scene.gravity).tolist(),
        "extent": (high - low).tolist(),
        "middle": (middle[0] * view.right + middle[1] * view.up + depth * view.toward_eye).tolist(),
        "size": scene.size,
        "sign": scene.glyph_radius,
        "floor": float(min(heights)),
    }
