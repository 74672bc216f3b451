"""Draws glyphs on matplotlib's axes: links, joints, wheels, frames, springs, ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .axes_labels import Label, group_labels
from .figure_style import FAINT_COLOR, GRAY_COLOR, INK_COLOR, Color, line_color
from .glyphs import GROUND_LINK, ConnectorGlyph, Glyph
from .label_text import symbol_label
from .length_dimensions import DimensionLine
from .link_glyphs import plate_outline_order
from .shape_shading import shaded_triangles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from .mechanism_scene import Scene
    from .shape_surfaces import ShapeSurface
    from .view_direction import View


AXIS_COLORS = {"x": "#D55E00", "y": "#009E73", "z": "#0072B2"}
GLYPH_LAYERS = {
    "floor": 0.5,
    "grid": 0.6,
    "base": 1.0,
    "edge": 1.1,
    "hatch": 1.1,
    "rail": 2.0,
    "plate": 3.0,
    "solid": 3.2,
    "line": 4.0,
    "spoke": 3.9,
    "wheel": 4.0,
    "blade": 4.2,
    "rod": 4.0,
    "spring": 4.5,
    "damper": 4.5,
    "coil": 5.8,
    "hull": 6.0,
    "ball": 6.0,
    "axis": 6.5,
    "dot": 6.5,
    "center": 7.0,
}
"""The drawing order of layers; in space, links and joints are also ordered by their depth."""


LINK_COLOR = "link"
"""Stands for the colour of the link that a glyph is fixed to."""
PATH_LOOKS = {"wheel": (LINK_COLOR, 1.8), "spoke": (LINK_COLOR, 0.6), "blade": (INK_COLOR, 3.2)}
"""Colour and line width, points, of glyphs that are paths; widths follow the weight of a brush."""
THIN_PATH_LOOKS = {"coil": (INK_COLOR, 0.7), "edge": (INK_COLOR, 0.8)}
"""The same of glyphs whose width is fixed."""
SEGMENT_LOOKS = {"solid": (LINK_COLOR, 0.7), "hatch": (INK_COLOR, 0.5), "grid": (FAINT_COLOR, 0.5)}
"""Colour and line width, points, of glyphs that are pairs of points."""
AREA_LOOKS = {"base": ("#F2F2F2", INK_COLOR, 0.7), "floor": ("#F7F7F7", GRAY_COLOR, 0.5)}
"""Face, edge and line width, points, of glyphs that are filled outlines on ground."""
DEPTH_SORTED_KINDS = ("plate", "line", "hull", "ball", "wheel", "rod", "spoke")
"""Kinds of glyphs that are ordered by their depth in space."""


class GlyphBrush:
    """Draws the glyphs of a mechanism at given link placements (links + 1, 3, 4).

    `tint` is one colour for all links; `weight` scales the widths of their lines. The class has
    more than 20 methods because there is one for every glyph with a shape of its own.
    """

    def __init__(
        self,
        axes: Axes,
        scene: Scene,
        poses: Floats,
        view: View,
        *,
        tint: Color | None = None,
        weight: float = 1.0,
    ) -> None:
        self.axes, self.scene, self.poses, self.view = axes, scene, poses, view
        self.tint, self.weight = tint, weight
        self.color_order = scene.color_order
        self.artists: list[Artist] = []
        self.link_ends: list[tuple[Floats, float]] = []

    def draw_glyphs(self, glyphs: Sequence[Glyph]) -> None:
        """Draws glyphs that are fixed to one link each."""
        for glyph in glyphs:
            self._draw_glyph(glyph, self.glyph_points_in_world(glyph.link, glyph.points))

    def draw_surfaces(self, surfaces: Sequence[ShapeSurface]) -> None:
        """Draws the surfaces of shapes, pale and shaded, the nearest triangles last."""
        if not surfaces:
            return
        self._add_artist(shaded_triangles(self, surfaces))

    def _draw_glyph(self, glyph: Glyph, points: Floats) -> None:
        """Draws a glyph whose points (n, 3) are given in the world."""
        kind = glyph.kind
        if kind in _SHAPED_GLYPHS:
            _SHAPED_GLYPHS[kind](self, glyph, points)
        elif kind in AREA_LOOKS:
            face, edge, width = AREA_LOOKS[kind]
            self._fill_polygon(kind, points, facecolor=face, edgecolor=edge, lw=width)
        elif kind in SEGMENT_LOOKS:
            color, width = SEGMENT_LOOKS[kind]
            self._plot_segments(kind, points, colors=[self._glyph_color(glyph, color)], lw=width)
        else:
            scale = self.weight if kind in PATH_LOOKS else 1.0
            color, width = PATH_LOOKS[kind] if kind in PATH_LOOKS else THIN_PATH_LOOKS[kind]
            self._plot_path(kind, points, color=self._glyph_color(glyph, color), lw=width * scale)

    def glyph_points_in_world(self, link: int, points: Floats) -> Floats:
        """Points (n, 3) of a link in the world."""
        return np.asarray(points @ self.poses[link, :, :3].T + self.poses[link, :, 3])

    def link_color(self, link: int) -> Color:
        """The colour of a link: the tint, that of ground, or one by the link's number."""
        if self.tint is not None:
            return self.tint
        return INK_COLOR if link == GROUND_LINK else line_color(self.color_order.get(link, 0))

    def _glyph_color(self, glyph: Glyph, color: str) -> Color:
        """The colour of a glyph: that of its look, or of its link."""
        return self.link_color(glyph.link) if color == LINK_COLOR else color

    def glyph_layer(self, kind: str, points: Floats) -> float:
        """The layer of a glyph in matplotlib's drawing order; in space it depends on the depth."""
        if self.view.is_planar or kind not in DEPTH_SORTED_KINDS:
            return GLYPH_LAYERS[kind]
        depth = float(self.view.depth(points).mean()) / self.scene.size
        layer = 4.5 + 0.5 * float(np.tanh(depth))
        return self._layer_above_links(points, layer) if kind in ("hull", "ball") else layer

    def _layer_above_links(self, points: Floats, layer: float) -> float:
        """The layer of a joint's glyph: by its depth, but over the links that end in it."""
        middle, near = points.mean(axis=0), 2 * self.scene.glyph_radius
        met = [
            own
            for ends, own in self.link_ends
            if np.linalg.norm(ends - middle, axis=1).min() < near
        ]
        return max([layer, *met]) + 0.04

    def _plot_path(self, kind: str, points: Floats, **look: object) -> None:
        """Plots a path through points of the world."""
        flat = self.view(points)
        self.artists += self.axes.plot(
            flat[:, 0],
            flat[:, 1],
            zorder=self.glyph_layer(kind, points),
            solid_capstyle="round",
            solid_joinstyle="round",
            **look,
        )

    def _plot_segments(self, kind: str, points: Floats, **look: object) -> None:
        """Plots segments between pairs of points of the world."""
        from matplotlib.collections import LineCollection

        flat = self.view(points).reshape(-1, 2, 2)
        layer = self.glyph_layer(kind, points)
        self._add_artist(LineCollection(list(flat), zorder=layer, **look))

    def _fill_polygon(self, kind: str, points: Floats, **look: object) -> None:
        """Fills a polygon with its corners in the world."""
        from matplotlib.patches import Polygon

        layer = self.glyph_layer(kind, points)
        outline = self.view(points)
        self._add_artist(Polygon(outline, closed=True, zorder=layer, joinstyle="round", **look))

    def _add_artist(self, artist: Artist) -> None:
        """Adds an artist to the axes, and to those that the brush has drawn."""
        self.artists.append(self.axes.add_artist(artist))

    def _draw_link_line(self, glyph: Glyph, points: Floats) -> None:
        """Draws a link as a line; in space with a white rim over what lies behind."""
        if not self.view.is_planar and self.tint is None:
            self._plot_path("line", points, color="white", lw=4.0 * self.weight)
        self._plot_path("line", points, color=self.link_color(glyph.link), lw=2.2 * self.weight)
        self.link_ends.append((points[[0, -1]], self.glyph_layer("line", points)))

    def _draw_link_plate(self, glyph: Glyph, points: Floats) -> None:
        """Draws a link as a translucent plate."""
        from matplotlib.colors import to_rgba

        edge = self.link_color(glyph.link)
        face = to_rgba(edge, 0.18)
        self._fill_polygon("plate", points, facecolor=face, edgecolor=edge, lw=1.6 * self.weight)
        self.link_ends.append((points, self.glyph_layer("plate", points)))

    def _draw_joint_hull(self, glyph: Glyph, points: Floats) -> None:
        """Draws a cylinder or prism of a joint: its outline, and the rim of the nearer cap."""
        edge = AXIS_COLORS["x"] if glyph.closes_loop else INK_COLOR
        outline = points[plate_outline_order(self.view(points))]
        self._fill_polygon("hull", outline, facecolor="white", edgecolor=edge, lw=0.8)
        half = len(points) // 2
        caps = sorted((points[:half], points[half:]), key=lambda c: self.view.depth(c).mean())
        normal = np.cross(points[1] - points[0], points[2] - points[1])
        slant = abs(normal @ self.view.toward_eye) / max(float(np.linalg.norm(normal)), 1e-300)
        if 0.05 < slant < 0.995:
            rim = np.vstack([caps[-1], caps[-1][:1]])
            self._plot_path("hull", rim, color=edge, lw=0.5)

    def _draw_joint_ball(self, glyph: Glyph, points: Floats) -> None:
        """Draws the ball of a spherical joint as a disc."""
        from matplotlib.patches import Circle

        (x, y), radius = self.view(points[0]), 1.15 * self.scene.glyph_radius
        look = {"facecolor": "#BFBFBF", "lw": 0.8, "zorder": self.glyph_layer("ball", points)}
        edge = AXIS_COLORS["x"] if glyph.closes_loop else INK_COLOR
        self._add_artist(Circle((x, y), radius, edgecolor=edge, **look))

    def _draw_center_of_mass(self, glyph: Glyph, points: Floats) -> None:
        """Draws the sign of centres of mass: a disc with two black quarters."""
        from matplotlib.patches import Circle, Wedge

        (x, y), radius = self.view(points[0]), 0.62 * self.scene.glyph_radius
        look = {"zorder": GLYPH_LAYERS["center"], "lw": 0.5}
        self._add_artist(Circle((x, y), radius, facecolor="white", edgecolor=INK_COLOR, **look))
        for start in (0, 180):
            self._add_artist(Wedge((x, y), radius, start, start + 90, facecolor=INK_COLOR, **look))

    def _draw_frame_axis(self, glyph: Glyph, points: Floats) -> None:
        """Draws an axis of a frame, unless it points at the eye."""
        if np.linalg.norm(np.diff(self.view(points), axis=0)) > self.scene.glyph_radius:
            self._plot_path("axis", points, color=AXIS_COLORS[glyph.name[-1]], lw=0.9)

    def _draw_frame_dot(self, glyph: Glyph, points: Floats) -> None:
        """Draws the origin of a frame."""
        flat, layer = self.view(points), GLYPH_LAYERS["dot"]
        self.artists += self.axes.plot(*flat.T, ".", color=INK_COLOR, ms=3, zorder=layer)

    def draw_connectors(self, connectors: Sequence[ConnectorGlyph]) -> None:
        """Draws springs, dampers, rods and rails between points of two links."""
        for tie in connectors:
            ends = np.array(
                [
                    self.glyph_points_in_world(link, p[None])[0]
                    for link, p in zip(tie.links, tie.points, strict=True)
                ]
            )
            if tie.kind == "rail":
                paint = GRAY_COLOR if tie.links[0] == GROUND_LINK else self.link_color(tie.links[1])
                self._plot_path("rail", ends, color=paint, lw=1.4 * self.weight)
            elif tie.kind == "rod":
                self._plot_path("rod", ends, color=INK_COLOR, lw=1.0 * self.weight)
            else:
                self._plot_spring(tie, self.view(ends))

    def _plot_spring(self, tie: ConnectorGlyph, flat: Floats) -> None:
        """Plots the zigzag of a spring, or the cup of a dashpot, between two points (2, 2)."""
        along = flat[1] - flat[0]
        length = float(np.linalg.norm(along))
        if length < 1e-12:
            return
        across = np.array([-along[1], along[0]]) / length * 1.2 * self.scene.glyph_radius
        for part in SPRING_PATHS if tie.kind == "spring" else DASHPOT_PATHS:
            path = np.array([flat[0] + x * along + y * across for x, y in part])
            look = {"lw": 0.8, "zorder": GLYPH_LAYERS["spring"], "solid_joinstyle": "round"}
            self.artists += self.axes.plot(path[:, 0], path[:, 1], color=INK_COLOR, **look)

    def name_labels(self, glyphs: Sequence[Glyph]) -> list[Label]:
        """The labels of joints and frames; one for those that lie on each other."""
        named = {s.name: s for s in glyphs}.values()
        spots = [
            self.view(self.glyph_points_in_world(s.link, s.points)).mean(axis=0) for s in named
        ]
        return group_labels([symbol_label(s.name) for s in named], spots, self.scene.glyph_radius)

    def dimension_lines(self, glyphs: Sequence[Glyph]) -> list[DimensionLine]:
        """The dimension lines along links that are lines, and around plates."""
        found = []
        for shape in (s for s in glyphs if s.kind in ("line", "plate")):
            points = self.glyph_points_in_world(shape.link, shape.points)
            flat, inside = self.view(points), None
            pairs = [*pairwise(range(len(points)))]
            if shape.kind == "plate":
                pairs, inside = [*pairs, (len(points) - 1, 0)], flat.mean(axis=0)
            for a, b in pairs:
                length = float(np.linalg.norm(points[b] - points[a]))
                found.append(DimensionLine(flat[[a, b]], f"{length:.3g} m", inside))
        return found


_SHAPED_GLYPHS: dict[str, Callable[[GlyphBrush, Glyph, Floats], None]] = {
    "line": GlyphBrush._draw_link_line,
    "plate": GlyphBrush._draw_link_plate,
    "hull": GlyphBrush._draw_joint_hull,
    "ball": GlyphBrush._draw_joint_ball,
    "center": GlyphBrush._draw_center_of_mass,
    "axis": GlyphBrush._draw_frame_axis,
    "dot": GlyphBrush._draw_frame_dot,
}
"""Kinds of glyphs with a shape of their own, and the methods that draw them."""


def _spring_zigzag_path(turns: int) -> list[tuple[float, float]]:
    """The path of a spring with a given number of turns, along (0…1) and across (±1) its axis."""
    inner = [(0.15 + 0.7 * (k + 0.5) / (2 * turns), (-1.0) ** k) for k in range(2 * turns)]
    return [(0.0, 0.0), (0.15, 0.0), *inner, (0.85, 0.0), (1.0, 0.0)]


SPRING_PATHS = [_spring_zigzag_path(5)]
DASHPOT_PATHS = [
    [(0.0, 0.0), (0.4, 0.0)],
    [(0.62, 1.0), (0.4, 1.0), (0.4, -1.0), (0.62, -1.0)],
    [(0.52, 0.7), (0.52, -0.7)],
    [(0.52, 0.0), (1.0, 0.0)],
]
"""Paths along (0…1) and across (±1) the line between two points."""
