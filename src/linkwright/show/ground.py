"""What stands still: pivots, tracks of slides, and the floor that wheels roll on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kinematics.tree import JointSpan
from ..types import Floats
from .shapes import GROUND, Shape, array_of, point_of, square, turned_to
from .view import View, upright

if TYPE_CHECKING:
    from .scene import Scene


_HATCHES = 5


def ground_shapes(scene: Scene, poses: Floats, view: View) -> list[Shape]:
    """For a picture of one or many poses (…, links + 1, 3, 4): tracks are as long as needed."""
    s, many = scene.sign, poses.reshape(-1, *poses.shape[-3:])
    found: list[Shape] = []
    for span in scene.tree.joints:
        if not span.links or span.frame.link != GROUND or scene.floats(span.name):
            continue
        if scene.mechanism.joints[span.name].kind.is_slider:
            found += _track(span, many, view, s)
        else:
            found += _pivot(point_of(span.frame.p), scene, view, s)
    for tie in scene.tree.restraints.ties:
        for place in tie.frames:
            if place.link == GROUND:
                found += _pivot(point_of(place.p), scene, view, s)
    for held in scene.ties:
        for link, point in zip(held.links, held.points, strict=True):
            if link == GROUND and held.kind in ("spring", "damper", "rod"):
                found += _pivot(point, scene, view, s)
    return found + _floors(scene, many, view)


def _pivot(p: Floats, scene: Scene, view: View, s: float) -> list[Shape]:
    """A triangle on a hatched line in the plane; a small square in space."""
    if not view.flat:
        R = turned_to(upright(scene.gravity))
        return [Shape("base", GROUND, p + square(2.6 * s) @ R.T)]
    right, up = s * view.right, s * view.up
    feet = np.array([p, p - 1.6 * right - 2.6 * up, p + 1.6 * right - 2.6 * up])
    line = np.array([p - 2.4 * right - 2.6 * up, p + 2.4 * right - 2.6 * up])
    return [Shape("base", GROUND, feet), *hatched(line, -0.9 * up - 0.7 * right)]


def hatched(line: Floats, slant: Floats, count: int = _HATCHES) -> list[Shape]:
    """A line with short strokes behind it."""
    feet = line[0] + np.linspace(0.1, 1, count)[:, None] * (line[1] - line[0])
    strokes = np.stack([feet, feet + slant], axis=1).reshape(-1, 3)
    return [Shape("edge", GROUND, line), Shape("hatch", GROUND, strokes)]


def _track(span: JointSpan, many: Floats, view: View, s: float) -> list[Shape]:
    """A line along which the child slides, over all that it covers."""
    start = point_of(span.frame.p)
    axis = many[0, span.links[-1], :, 2]
    along = (many[:, span.links[-1], :, 3] - start) @ axis
    low, high = min(along.min(), 0.0) - 7 * s, max(along.max(), 0.0) + 7 * s
    side = np.cross(view.toward, axis)
    size = float(np.linalg.norm(side))
    side = side / size if size > 1e-6 else view.right
    if side @ view.up > 1e-9 or (abs(side @ view.up) < 1e-9 and side @ view.right > 0):
        side = -side
    line = start + 1.1 * s * side + np.outer([low, high], axis)
    count = int(np.clip((high - low) / (1.4 * s), 5, 60))
    return hatched(line, s * (0.9 * side - 0.7 * axis), count)


def _floors(scene: Scene, many: Floats, view: View) -> list[Shape]:
    """Planes on which wheels roll and balls fall, as far as they get; a line if seen from its
    edge."""
    found: list[Shape] = []
    for name in dict.fromkeys(touch.plane for touch in scene.touches):
        place = scene.tree.find(name)
        if place.link != GROUND:
            continue
        R, p = array_of(place.R), point_of(place.p)
        touching = [touch for touch in scene.touches if touch.plane == name]
        ends = [scene.tree.find(touch.point) for touch in touching]
        reached = [many[:, e.link, :, :3] @ point_of(e.p) + many[:, e.link, :, 3] for e in ends]
        local = (np.concatenate(reached) - p) @ R
        margin = 1.5 * max(touch.radius for touch in touching) or 0.1 * scene.size
        low, high = local[:, :2].min(axis=0) - margin, local[:, :2].max(axis=0) + margin
        found += _floor(low, high, R, p, view, scene.size)
    return found


def _floor(low: Floats, high: Floats, R: Floats, p: Floats, view: View, size: float) -> list[Shape]:
    if view.flat and abs(view.toward @ R[:, 2]) < 1e-6:
        along = R[:, :2] @ (R[:, :2].T @ view.right)
        reach = np.array([low, high]) @ R[:, :2].T @ along
        line = p + np.outer(reach, along)
        slant = 0.018 * size * (-0.9 * R[:, 2] - 0.7 * along)
        return hatched(line, slant, int(np.clip((reach[1] - reach[0]) / (0.03 * size), 5, 60)))
    corners = [(low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])]
    flat = np.array([[x, y, 0.0] for x, y in corners])
    step = _step(float((high - low).max()))
    lines: list[list[float]] = []
    for k, j in ((0, 1), (1, 0)):
        for x in np.arange(np.ceil(low[k] / step), np.floor(high[k] / step) + 1) * step:
            for y in (low[j], high[j]):
                lines.append([x, y, 0.0] if k == 0 else [y, x, 0.0])
    return [
        Shape("floor", GROUND, p + flat @ R.T),
        Shape("grid", GROUND, p + np.array(lines).reshape(-1, 3) @ R.T),
    ]


def _step(length: float) -> float:
    """A round distance, some eight of them in the length."""
    from math import floor, log10

    rough = length / 8
    power = 10.0 ** floor(log10(rough))
    return float(power * min((1, 2, 5, 10), key=lambda k: abs(k * power - rough)))
