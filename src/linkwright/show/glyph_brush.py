"""Puts shapes onto matplotlib's axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .axes_labels import Label, group_labels
from .figure_style import FAINT_COLOR, GRAY_COLOR, INK_COLOR, line_color
from .glyphs import GROUND_LINK, ConnectorGlyph, Glyph
from .label_text import symbol_label
from .length_dimensions import DimensionLine
from .link_glyphs import convex_hull_order

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .scene import Scene
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


class GlyphBrush:
    """Draws shapes of one pose. `tint` paints all links alike; `weight` scales their lines."""

    def __init__(
        self,
        axes: Axes,
        scene: Scene,
        poses: Floats,
        view: View,
        tint: str | Sequence[float] | None = None,
        weight: float = 1.0,
        alpha: float = 1.0,
    ) -> None:
        self.axes, self.scene, self.poses, self.view = axes, scene, poses, view
        self.tint, self.weight, self.alpha = tint, weight, alpha
        self.color_order = scene.color_order
        self.artists: list[Any] = []
        self.link_ends: list[tuple[Floats, float]] = []

    def draw_glyphs(self, several: Sequence[Glyph]) -> None:
        for shape in several:
            getattr(self, f"_draw_{shape.kind}")(shape, self.world_points(shape.link, shape.points))

    def world_points(self, link: int, points: Floats) -> Floats:
        return np.asarray(points @ self.poses[link, :, :3].T + self.poses[link, :, 3])

    def link_color(self, link: int) -> str | Sequence[float]:
        if self.tint is not None:
            return self.tint
        return INK_COLOR if link == GROUND_LINK else line_color(self.color_order.get(link, 0))

    def glyph_layer(self, kind: str, points: Floats) -> float:
        if self.view.is_planar or kind not in (
            "plate",
            "line",
            "hull",
            "ball",
            "wheel",
            "rod",
            "spoke",
        ):
            return GLYPH_LAYERS[kind]
        depth = float(self.view.depth(points).mean()) / self.scene.size
        layer = 4.5 + 0.5 * float(np.tanh(depth))
        return self._layer_above_links(points, layer) if kind in ("hull", "ball") else layer

    def _layer_above_links(self, points: Floats, layer: float) -> float:
        """The layer of a joint's glyph: by its depth, but over the links that end in it."""
        middle, near = points.mean(axis=0), 2 * self.scene.glyph_radius
        met = [
            own
            for spots, own in self.link_ends
            if np.linalg.norm(spots - middle, axis=1).min() < near
        ]
        return max([layer, *met]) + 0.04

    def _plot_path(self, kind: str, points: Floats, **look: Any) -> None:
        flat = self.view(points)
        look = {"solid_capstyle": "round", "solid_joinstyle": "round", "alpha": self.alpha} | look
        self.artists += self.axes.plot(
            flat[:, 0], flat[:, 1], zorder=self.glyph_layer(kind, points), **look
        )

    def _plot_segments(self, kind: str, points: Floats, **look: Any) -> None:
        from matplotlib.collections import LineCollection

        flat = self.view(points).reshape(-1, 2, 2)
        look = {"zorder": self.glyph_layer(kind, points), "alpha": self.alpha} | look
        self._add_artist(LineCollection(list(flat), **look))

    def _fill_polygon(self, kind: str, points: Floats, **look: Any) -> None:
        from matplotlib.patches import Polygon

        look = {
            "zorder": self.glyph_layer(kind, points),
            "alpha": self.alpha,
            "joinstyle": "round",
        } | look
        self._add_artist(Polygon(self.view(points), closed=True, **look))

    def _add_artist(self, artist: Any) -> None:
        self.artists.append(self.axes.add_artist(artist))

    # -- links ---------------------------------------------------------------------------

    def _draw_line(self, shape: Glyph, points: Floats) -> None:
        if not self.view.is_planar and self.tint is None:
            self._plot_path("line", points, color="white", lw=4.0 * self.weight)
        self._plot_path("line", points, color=self.link_color(shape.link), lw=2.2 * self.weight)
        self.link_ends.append((points[[0, -1]], self.glyph_layer("line", points)))

    def _draw_plate(self, shape: Glyph, points: Floats) -> None:
        from matplotlib.colors import to_rgba

        paint = self.link_color(shape.link)
        self._fill_polygon(
            "plate",
            points,
            facecolor=to_rgba(paint, 0.18),
            edgecolor=paint,
            lw=1.6 * self.weight,
            alpha=None if self.alpha == 1 else self.alpha,
        )
        self.link_ends.append((points, self.glyph_layer("plate", points)))

    def _draw_solid(self, shape: Glyph, points: Floats) -> None:
        self._plot_segments("solid", points, colors=[self.link_color(shape.link)], lw=0.7)

    def _draw_wheel(self, shape: Glyph, points: Floats) -> None:
        self._plot_path("wheel", points, color=self.link_color(shape.link), lw=1.8 * self.weight)

    def _draw_spoke(self, shape: Glyph, points: Floats) -> None:
        self._plot_path("spoke", points, color=self.link_color(shape.link), lw=0.6 * self.weight)

    def _draw_blade(self, shape: Glyph, points: Floats) -> None:
        self._plot_path("blade", points, color=INK_COLOR, lw=3.2 * self.weight)

    # -- joints --------------------------------------------------------------------------

    def _draw_hull(self, shape: Glyph, points: Floats) -> None:
        edge = AXIS_COLORS["x"] if shape.closes_loop else INK_COLOR
        outline = points[convex_hull_order(self.view(points))]
        self._fill_polygon("hull", outline, facecolor="white", edgecolor=edge, lw=0.8)
        half = len(points) // 2
        caps = sorted((points[:half], points[half:]), key=lambda c: self.view.depth(c).mean())
        normal = np.cross(points[1] - points[0], points[2] - points[1])
        slant = abs(normal @ self.view.toward_eye) / max(float(np.linalg.norm(normal)), 1e-300)
        if 0.05 < slant < 0.995:
            rim = np.vstack([caps[-1], caps[-1][:1]])
            self._plot_path("hull", rim, color=edge, lw=0.5)

    def _draw_coil(self, shape: Glyph, points: Floats) -> None:
        self._plot_path("coil", points, color=INK_COLOR, lw=0.7)

    def _draw_ball(self, shape: Glyph, points: Floats) -> None:
        self._fill_disc(
            points, 1.15, AXIS_COLORS["x"] if shape.closes_loop else INK_COLOR, "#BFBFBF"
        )

    def _fill_disc(self, points: Floats, size: float, edge: str, face: str) -> None:
        from matplotlib.patches import Circle

        radius = size * self.scene.glyph_radius
        (x, y), layer = self.view(points[0]), self.glyph_layer("ball", points)
        self._add_artist(
            Circle((x, y), radius, facecolor=face, edgecolor=edge, lw=0.8, zorder=layer)
        )

    def _draw_center(self, shape: Glyph, points: Floats) -> None:
        """The sign of centres of mass: a disc with two black quarters."""
        from matplotlib.patches import Circle, Wedge

        (x, y), radius = self.view(points[0]), 0.62 * self.scene.glyph_radius
        look = {"zorder": GLYPH_LAYERS["center"], "lw": 0.5}
        self._add_artist(Circle((x, y), radius, facecolor="white", edgecolor=INK_COLOR, **look))
        for start in (0, 180):
            self._add_artist(Wedge((x, y), radius, start, start + 90, facecolor=INK_COLOR, **look))

    # -- the rest ------------------------------------------------------------------------

    def _draw_axis(self, shape: Glyph, points: Floats) -> None:
        if np.linalg.norm(np.diff(self.view(points), axis=0)) > self.scene.glyph_radius:
            self._plot_path("axis", points, color=AXIS_COLORS[shape.name[-1]], lw=0.9)

    def _draw_dot(self, shape: Glyph, points: Floats) -> None:
        flat = self.view(points)
        look: dict[str, Any] = {"color": INK_COLOR, "ms": 3, "zorder": GLYPH_LAYERS["dot"]}
        self.artists += self.axes.plot(flat[:, 0], flat[:, 1], ".", **look)

    def _draw_base(self, shape: Glyph, points: Floats) -> None:
        self._fill_polygon("base", points, facecolor="#F2F2F2", edgecolor=INK_COLOR, lw=0.7)

    def _draw_edge(self, shape: Glyph, points: Floats) -> None:
        self._plot_path("edge", points, color=INK_COLOR, lw=0.8)

    def _draw_hatch(self, shape: Glyph, points: Floats) -> None:
        self._plot_segments("hatch", points, colors=[INK_COLOR], lw=0.5)

    def _draw_floor(self, shape: Glyph, points: Floats) -> None:
        self._fill_polygon("floor", points, facecolor="#F7F7F7", edgecolor=GRAY_COLOR, lw=0.5)

    def _draw_grid(self, shape: Glyph, points: Floats) -> None:
        self._plot_segments("grid", points, colors=[FAINT_COLOR], lw=0.5)

    def draw_connectors(self, several: Sequence[ConnectorGlyph]) -> None:
        for tie in several:
            ends = np.array(
                [
                    self.world_points(link, p[None])[0]
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
        """A zigzag, or a dashpot's cup."""
        along = flat[1] - flat[0]
        length = float(np.linalg.norm(along))
        if length < 1e-12:
            return
        across = np.array([-along[1], along[0]]) / length * 1.2 * self.scene.glyph_radius
        pattern = SPRING_PATHS if tie.kind == "spring" else DASHPOT_PATHS
        for part in pattern:
            path = np.array([flat[0] + x * along + y * across for x, y in part])
            self.artists += self.axes.plot(
                path[:, 0],
                path[:, 1],
                color=INK_COLOR,
                lw=0.8,
                zorder=GLYPH_LAYERS["spring"],
                solid_joinstyle="round",
            )

    # -- words ---------------------------------------------------------------------------

    def name_labels(self, several: Sequence[Glyph]) -> list[Label]:
        """Names of joints and frames; one label for those that lie on each other."""
        named = {s.name: s for s in several}.values()
        spots = [self.view(self.world_points(s.link, s.points)).mean(axis=0) for s in named]
        return group_labels([symbol_label(s.name) for s in named], spots, self.scene.glyph_radius)

    def dimension_lines(self, several: Sequence[Glyph]) -> list[DimensionLine]:
        """Lengths along lines and around plates."""
        found = []
        for shape in (s for s in several if s.kind in ("line", "plate")):
            points = self.world_points(shape.link, shape.points)
            flat, inside = self.view(points), None
            pairs = [*pairwise(range(len(points)))]
            if shape.kind == "plate":
                pairs, inside = [*pairs, (len(points) - 1, 0)], flat.mean(axis=0)
            for a, b in pairs:
                length = float(np.linalg.norm(points[b] - points[a]))
                found.append(DimensionLine(flat[[a, b]], f"{length:.3g} m", inside))
        return found


def _zigzag_path(turns: int) -> list[tuple[float, float]]:
    inner = [(0.15 + 0.7 * (k + 0.5) / (2 * turns), (-1.0) ** k) for k in range(2 * turns)]
    return [(0.0, 0.0), (0.15, 0.0), *inner, (0.85, 0.0), (1.0, 0.0)]


SPRING_PATHS = [_zigzag_path(5)]
DASHPOT_PATHS = [
    [(0.0, 0.0), (0.4, 0.0)],
    [(0.62, 1.0), (0.4, 1.0), (0.4, -1.0), (0.62, -1.0)],
    [(0.52, 0.7), (0.52, -0.7)],
    [(0.52, 0.0), (1.0, 0.0)],
]
"""Paths along (0…1) and across (±1) the line between two points."""
