"""Glyphs of links, from the points where they meet their neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .glyphs import Glyph, drawn_matrix, drawn_point

if TYPE_CHECKING:
    from .mechanism_scene import Scene


_SAME_POINT_DISTANCE = 1e-9


def build_link_glyphs(scene: Scene) -> list[Glyph]:
    """Builds the lines, plates and boxes of all links."""
    found = []
    for link in range(len(scene.tree.links)):
        bodies = [m for m in scene.tree.masses.values() if m.link == link]
        anchors = scene.link_anchors.get(link, [])
        points = distinct_anchor_points(anchors)
        if len(points) >= 2:
            found += glyphs_through_points(link, points)
        elif len(anchors) < 2 and bodies:
            found += _glyphs_from_inertia(scene, link, points)
    return found


def distinct_anchor_points(points: list[Floats]) -> Floats:
    """The points (n, 3) without those that coincide with an earlier one."""
    kept: list[Floats] = []
    for p in points:
        if all(np.linalg.norm(p - other) > _SAME_POINT_DISTANCE for other in kept):
            kept.append(p)
    return np.array(kept).reshape(-1, 3)


def glyphs_through_points(link: int, points: Floats) -> list[Glyph]:
    """A line through points on a line, a plate through points in a plane, else a tree of least
    length."""
    middle = points - points.mean(axis=0)
    _, sizes, axes = np.linalg.svd(middle)
    flat = 1e-6 * sizes[0]
    if len(points) == 2 or sizes[1] < flat:
        order = np.argsort(middle @ axes[0])
        return [Glyph("line", link, points[order])]
    if len(sizes) < 3 or sizes[2] < flat:
        return _plate_glyphs(link, points, middle @ axes[:2].T)
    return [Glyph("line", link, points[list(pair)]) for pair in shortest_link_line_tree(points)]


def _plate_glyphs(link: int, points: Floats, flat: Floats) -> list[Glyph]:
    """The outline of a plate, and lines to points inside it."""
    outline = plate_outline_order(flat)
    found = [Glyph("plate", link, points[outline])]
    for k in range(len(points)):
        if k not in outline:
            near = min(outline, key=lambda j: float(np.linalg.norm(points[j] - points[k])))
            found.append(Glyph("line", link, points[[k, near]]))
    return found


def plate_outline_order(flat: Floats) -> list[int]:
    """The indices of the convex hull of points in the plane, counterclockwise."""
    order = sorted(range(len(flat)), key=lambda k: (flat[k, 0], flat[k, 1]))

    def half(indices: list[int]) -> list[int]:
        kept: list[int] = []
        for k in indices:
            while (
                len(kept) > 1 and _outline_turn_area(flat[kept[-2]], flat[kept[-1]], flat[k]) <= 0
            ):
                kept.pop()
            kept.append(k)
        return kept[:-1]

    return half(order) + half(order[::-1]) or order[:1]


def _outline_turn_area(a: Floats, b: Floats, c: Floats) -> float:
    """Twice the signed area of a triangle; positive if it turns counterclockwise."""
    return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))


def shortest_link_line_tree(points: Floats) -> list[tuple[int, int]]:
    """The edges of the minimum spanning tree of points (Prim)."""
    inside, found = {0}, []
    gaps = np.linalg.norm(points[:, None] - points[None], axis=-1)
    while len(inside) < len(points):
        outside = [k for k in range(len(points)) if k not in inside]
        pair = min(((i, k) for i in inside for k in outside), key=lambda ik: gaps[ik])
        found.append(pair)
        inside.add(pair[1])
    return found


def _glyphs_from_inertia(scene: Scene, link: int, points: Floats) -> list[Glyph]:
    """The uniform rod from the only anchor through the centre of mass; without an anchor, the
    inertia box."""
    m, c, tensor = drawn_link_inertia(scene, link)
    start = points[0] if len(points) else None
    if start is not None and (far := _drawn_link_end(scene, link, start, c)):
        return [Glyph("line", link, np.array([start, far[0]]))]
    if start is not None and np.linalg.norm(c - start) > _SAME_POINT_DISTANCE:
        along = (c - start) / np.linalg.norm(c - start)
        beside = np.eye(3) - np.outer(along, along)
        across = np.linalg.eigvalsh(beside @ tensor @ beside)[-1]
        reach = np.sqrt(3 * across / m) if m else 0.0
        end = c + along * min(reach, float(np.linalg.norm(c - start)))
        return [Glyph("line", link, np.array([start, end]))]
    if start is not None or _has_wheel_glyph(scene, link) or m == 0:
        return []
    return [Glyph("solid", link, inertia_box_glyph_edges(m, c, tensor))]


def _drawn_link_end(scene: Scene, link: int, start: Floats, c: Floats) -> list[Floats]:
    """The origin of the farthest body on a last link, such as a foot or a hand, unless it is much
    nearer than the centre of mass."""

    places = [drawn_point(p.p) for p in scene.tree.bodies.values() if p.link == link]
    far = max(places, key=lambda p: float(np.linalg.norm(p - start)))
    return (
        [far]
        if np.linalg.norm(far - start)
        > max(0.5 * float(np.linalg.norm(c - start)), _SAME_POINT_DISTANCE)
        else []
    )


def _has_wheel_glyph(scene: Scene, link: int) -> bool:
    """Whether a wheel is drawn on a link."""
    return any(mark.link == link for mark in scene.wheel_glyphs)


def drawn_link_inertia(scene: Scene, link: int) -> tuple[float, Floats, Floats]:
    """Mass, centre of mass and inertia tensor about it of all bodies that are fixed to a link."""
    parts = [m for m in scene.tree.masses.values() if m.link == link]
    m = sum(float(part.m) for part in parts)
    centers = [drawn_point(part.c) for part in parts]
    if m == 0:
        return 0.0, np.mean(centers, axis=0), np.zeros((3, 3))
    c = sum(float(p.m) * x for p, x in zip(parts, centers, strict=True)) / m
    total = np.zeros((3, 3))
    for part, x in zip(parts, centers, strict=True):
        d = x - c
        total += drawn_matrix(part.I) + float(part.m) * (d @ d * np.eye(3) - np.outer(d, d))
    return m, np.asarray(c), total


_BOX_EDGES = [(a, b) for a in range(8) for b in range(a) if (a ^ b).bit_count() == 1]


def inertia_box_glyph_edges(m: float, c: Floats, tensor: Floats) -> Floats:
    """The edges of the uniform box with this inertia, as pairs of points (24, 3)."""
    principal, axes = np.linalg.eigh(tensor)
    squares = 6 / m * (principal.sum() - 2 * principal)
    half = np.sqrt(np.maximum(squares, 0.0)) / 2
    signs = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)]) * 2 - 1
    corners = c + (signs * half) @ axes.T
    return np.asarray(corners[[k for pair in _BOX_EDGES for k in pair]])


def build_inertia_boxes(scene: Scene) -> list[Glyph]:
    """Builds the inertia box of every link as a wire frame."""
    found = []
    for link in range(len(scene.tree.links)):
        if any(m.link == link and float(m.m) for m in scene.tree.masses.values()):
            found.append(
                Glyph("solid", link, inertia_box_glyph_edges(*drawn_link_inertia(scene, link)))
            )
    return found
