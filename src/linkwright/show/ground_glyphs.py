"""Glyphs of ground: pivots, tracks of slides, and the floor that wheels roll on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kinematics.constraint_kinds.loop import LoopRestraint
from ..kinematics.kinematic_tree import Restraint
from ..types import Floats
from .glyphs import (
    GROUND_LINK,
    Glyph,
    drawn_matrix,
    drawn_point,
    glyph_axis_rotation,
    square_glyph_points,
)
from .view_direction import View, view_upward_direction

if TYPE_CHECKING:
    from .mechanism_scene import Scene


_HATCH_COUNT = 5


def build_ground_glyphs(scene: Scene, poses: Floats, view: View) -> list[Glyph]:
    """Builds the glyphs of ground for placements (…, links + 1, 3, 4): tracks are as long as the
    motion."""
    s, many = scene.glyph_radius, poses.reshape(-1, *poses.shape[-3:])
    found: list[Glyph] = []
    for span in scene.tree.joints:
        if not span.links or span.frame.link != GROUND_LINK or scene.is_free_floating(span.name):
            continue
        if scene.mechanism.joints[span.name].kind.is_slider:
            child = many[:, span.links[-1]]
            start, axis = drawn_point(span.frame.p), child[0, :, 2]
            found += _slide_track_glyphs(start, axis, child[:, :, 3], view, s)
        else:
            found += _pivot_glyphs(drawn_point(span.frame.p), scene, view, s)
    for tie in scene.tree.restraints.entries:
        tracks = _loop_track_glyphs(tie, many, view, s)
        for place in tie.loop_frames:
            if place.link == GROUND_LINK:
                found += tracks or _pivot_glyphs(drawn_point(place.p), scene, view, s)
    for held in scene.connector_glyphs:
        for link, point in zip(held.links, held.points, strict=True):
            if link == GROUND_LINK and held.kind in ("spring", "damper", "rod"):
                found += _pivot_glyphs(point, scene, view, s)
    return found + _floor_glyphs(scene, many, view)


def _pivot_glyphs(p: Floats, scene: Scene, view: View, s: float) -> list[Glyph]:
    """A pivot on ground: a triangle on a hatched line in the plane, a small square in space."""
    if not view.is_planar:
        R = glyph_axis_rotation(view_upward_direction(scene.gravity))
        return [Glyph("base", GROUND_LINK, p + square_glyph_points(2.6 * s) @ R.T)]
    right, up = s * view.right, s * view.up
    feet = np.array([p, p - 1.6 * right - 2.6 * up, p + 1.6 * right - 2.6 * up])
    line = np.array([p - 2.4 * right - 2.6 * up, p + 2.4 * right - 2.6 * up])
    return [Glyph("base", GROUND_LINK, feet), *hatched_line_glyphs(line, -0.9 * up - 0.7 * right)]


def hatched_line_glyphs(line: Floats, slant: Floats, count: int = _HATCH_COUNT) -> list[Glyph]:
    """A line with short strokes on one side of it."""
    feet = line[0] + np.linspace(0.1, 1, count)[:, None] * (line[1] - line[0])
    strokes = np.stack([feet, feet + slant], axis=1).reshape(-1, 3)
    return [Glyph("edge", GROUND_LINK, line), Glyph("hatch", GROUND_LINK, strokes)]


def _loop_track_glyphs(tie: Restraint, many: Floats, view: View, s: float) -> list[Glyph]:
    """The track on ground of a slide that closes a loop; none for other restraints."""
    if not isinstance(tie, LoopRestraint) or not tie.kind.is_slider:
        return []
    (sketch,) = tie.sketches
    start, place = sketch.slides_from, sketch.place
    if start is None or start.link != GROUND_LINK:
        return []
    axis = drawn_matrix(start.R) @ drawn_matrix(sketch.axis)[:, 2]
    reached = many[:, place.link, :, :3] @ drawn_point(place.p) + many[:, place.link, :, 3]
    return _slide_track_glyphs(drawn_point(start.p), axis, reached, view, s)


def _slide_track_glyphs(
    start: Floats, axis: Floats, reached: Floats, view: View, s: float
) -> list[Glyph]:
    """The track of a slide on ground from `start` along `axis`, over all positions (n, 3) that
    are reached."""
    along = (reached - start) @ axis
    low, high = min(along.min(), 0.0) - 7 * s, max(along.max(), 0.0) + 7 * s
    side = np.cross(view.toward_eye, axis)
    size = float(np.linalg.norm(side))
    side = side / size if size > 1e-6 else view.right
    if side @ view.up > 1e-9 or (abs(side @ view.up) < 1e-9 and side @ view.right > 0):
        side = -side
    line = start + 1.1 * s * side + np.outer([low, high], axis)
    count = int(np.clip((high - low) / (1.4 * s), 5, 60))
    return hatched_line_glyphs(line, s * (0.9 * side - 0.7 * axis), count)


def _floor_glyphs(scene: Scene, many: Floats, view: View) -> list[Glyph]:
    """The planes on which wheels roll and balls fall, as far as these move."""
    found: list[Glyph] = []
    for name in dict.fromkeys(touch.plane for touch in scene.plane_contacts):
        place = scene.tree.find_frame(name)
        if place.link != GROUND_LINK:
            continue
        R, p = drawn_matrix(place.R), drawn_point(place.p)
        touching = [touch for touch in scene.plane_contacts if touch.plane == name]
        ends = [scene.tree.find_frame(touch.point) for touch in touching]
        reached = [many[:, e.link, :, :3] @ drawn_point(e.p) + many[:, e.link, :, 3] for e in ends]
        local = (np.concatenate(reached) - p) @ R
        margin = 1.5 * max(touch.radius for touch in touching) or 0.1 * scene.size
        low, high = local[:, :2].min(axis=0) - margin, local[:, :2].max(axis=0) + margin
        found += _floor_plane_glyphs(low, high, R, p, view, scene.size)
    return found


def _floor_plane_glyphs(
    low: Floats, high: Floats, R: Floats, p: Floats, view: View, size: float
) -> list[Glyph]:
    """A floor: a hatched line if it is seen from its edge, else a rectangle with a grid."""
    if view.is_planar and abs(view.toward_eye @ R[:, 2]) < 1e-6:
        along = R[:, :2] @ (R[:, :2].T @ view.right)
        reach = np.array([low, high]) @ R[:, :2].T @ along
        line = p + np.outer(reach, along)
        slant = 0.018 * size * (-0.9 * R[:, 2] - 0.7 * along)
        return hatched_line_glyphs(
            line, slant, int(np.clip((reach[1] - reach[0]) / (0.03 * size), 5, 60))
        )
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    flat = np.array([[x, y, 0.0] for x, y in corners])
    step = _drawn_floor_grid_spacing(float((high - low).max()))
    lines: list[list[float]] = []
    for k, j in ((0, 1), (1, 0)):
        for x in np.arange(np.ceil(low[k] / step), np.floor(high[k] / step) + 1) * step:
            for y in (low[j], high[j]):
                lines.append([x, y, 0.0] if k == 0 else [y, x, 0.0])
    return [
        Glyph("floor", GROUND_LINK, p + flat @ R.T),
        Glyph("grid", GROUND_LINK, p + np.array(lines).reshape(-1, 3) @ R.T),
    ]


def _drawn_floor_grid_spacing(length: float) -> float:
    """A round distance, about an eighth of a length."""
    from math import floor, log10

    rough = length / 8
    power = 10.0 ** floor(log10(rough))
    return float(power * min((1, 2, 5, 10), key=lambda k: abs(k * power - rough)))
