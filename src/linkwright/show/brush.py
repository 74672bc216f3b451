"""Puts shapes onto matplotlib's axes."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .dimensions import Span
from .labels import symbol
from .members import hull_order
from .shapes import GROUND, Shape, Tie
from .style import FAINT, GREY, INK, colour
from .words import Label, together

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from .scene import Scene
    from .view import View


AXES = {"x": "#D55E00", "y": "#009E73", "z": "#0072B2"}
LAYERS = {
    "floor": 0.5, "grid": 0.6, "base": 1.0, "edge": 1.1, "hatch": 1.1, "rail": 2.0, "plate": 3.0,
    "solid": 3.2, "line": 4.0, "spoke": 3.9, "wheel": 4.0, "blade": 4.2, "rod": 4.0,
    "spring": 4.5, "damper": 4.5, "coil": 5.8, "hull": 6.0, "ball": 6.0, "axis": 6.5,
    "dot": 6.5, "center": 7.0,
}  # fmt: skip
"""What lies above what; in space, links and joints besides by their depth."""


class Brush:
    """Draws shapes of one pose. `tint` paints all links alike; `weight` scales their lines."""

    def __init__(
        self, axes: Axes, scene: Scene, poses: Floats, view: View,
        tint: str | Sequence[float] | None = None, weight: float = 1.0, alpha: float = 1.0,
    ) -> None:  # fmt: skip
        self.axes, self.scene, self.poses, self.view = axes, scene, poses, view
        self.tint, self.weight, self.alpha = tint, weight, alpha
        self.order = scene.order
        self.artists: list[Any] = []
        self.ends: list[tuple[Floats, float]] = []

    def shapes(self, several: Sequence[Shape]) -> None:
        for shape in several:
            getattr(self, f"_{shape.kind}")(shape, self.world(shape.link, shape.points))

    def world(self, link: int, points: Floats) -> Floats:
        return np.asarray(points @ self.poses[link, :, :3].T + self.poses[link, :, 3])

    def colour(self, link: int) -> str | Sequence[float]:
        if self.tint is not None:
            return self.tint
        return INK if link == GROUND else colour(self.order.get(link, 0))

    def layer(self, kind: str, points: Floats) -> float:
        if self.view.flat or kind not in ("plate", "line", "hull", "ball", "wheel", "rod", "spoke"):
            return LAYERS[kind]
        depth = float(self.view.depth(points).mean()) / self.scene.size
        layer = 4.5 + 0.5 * float(np.tanh(depth))
        return self._above_links(points, layer) if kind in ("hull", "ball") else layer

    def _above_links(self, points: Floats, layer: float) -> float:
        """Of a joint's sign: by its depth, but over the links that end in it."""
        middle, near = points.mean(axis=0), 2 * self.scene.sign
        met = [
            own for spots, own in self.ends
            if np.linalg.norm(spots - middle, axis=1).min() < near
        ]  # fmt: skip
        return max([layer, *met]) + 0.04

    def _path(self, kind: str, points: Floats, **look: Any) -> None:
        flat = self.view(points)
        look = {"solid_capstyle": "round", "solid_joinstyle": "round", "alpha": self.alpha} | look
        self.artists += self.axes.plot(
            flat[:, 0], flat[:, 1], zorder=self.layer(kind, points), **look
        )

    def _pairs(self, kind: str, points: Floats, **look: Any) -> None:
        from matplotlib.collections import LineCollection

        flat = self.view(points).reshape(-1, 2, 2)
        look = {"zorder": self.layer(kind, points), "alpha": self.alpha} | look
        self._add(LineCollection(list(flat), **look))

    def _filled(self, kind: str, points: Floats, **look: Any) -> None:
        from matplotlib.patches import Polygon

        look = {
            "zorder": self.layer(kind, points),
            "alpha": self.alpha,
            "joinstyle": "round",
        } | look
        self._add(Polygon(self.view(points), closed=True, **look))

    def _add(self, artist: Any) -> None:
        self.artists.append(self.axes.add_artist(artist))

    # -- links ---------------------------------------------------------------------------

    def _line(self, shape: Shape, points: Floats) -> None:
        if not self.view.flat and self.tint is None:
            self._path("line", points, color="white", lw=4.0 * self.weight)
        self._path("line", points, color=self.colour(shape.link), lw=2.2 * self.weight)
        self.ends.append((points[[0, -1]], self.layer("line", points)))

    def _plate(self, shape: Shape, points: Floats) -> None:
        from matplotlib.colors import to_rgba

        paint = self.colour(shape.link)
        self._filled(
            "plate", points, facecolor=to_rgba(paint, 0.18), edgecolor=paint,
            lw=1.6 * self.weight, alpha=None if self.alpha == 1 else self.alpha,
        )  # fmt: skip
        self.ends.append((points, self.layer("plate", points)))

    def _solid(self, shape: Shape, points: Floats) -> None:
        self._pairs("solid", points, colors=[self.colour(shape.link)], lw=0.7)

    def _wheel(self, shape: Shape, points: Floats) -> None:
        self._path("wheel", points, color=self.colour(shape.link), lw=1.8 * self.weight)

    def _spoke(self, shape: Shape, points: Floats) -> None:
        self._path("spoke", points, color=self.colour(shape.link), lw=0.6 * self.weight)

    def _blade(self, shape: Shape, points: Floats) -> None:
        self._path("blade", points, color=INK, lw=3.2 * self.weight)

    # -- joints --------------------------------------------------------------------------

    def _hull(self, shape: Shape, points: Floats) -> None:
        edge = AXES["x"] if shape.accent else INK
        outline = points[hull_order(self.view(points))]
        self._filled("hull", outline, facecolor="white", edgecolor=edge, lw=0.8)
        half = len(points) // 2
        caps = sorted((points[:half], points[half:]), key=lambda c: self.view.depth(c).mean())
        normal = np.cross(points[1] - points[0], points[2] - points[1])
        slant = abs(normal @ self.view.toward) / max(float(np.linalg.norm(normal)), 1e-300)
        if 0.05 < slant < 0.995:
            rim = np.vstack([caps[-1], caps[-1][:1]])
            self._path("hull", rim, color=edge, lw=0.5)

    def _coil(self, shape: Shape, points: Floats) -> None:
        self._path("coil", points, color=INK, lw=0.7)

    def _ball(self, shape: Shape, points: Floats) -> None:
        self._disc(points, 1.15, AXES["x"] if shape.accent else INK, "#BFBFBF")

    def _disc(self, points: Floats, size: float, edge: str, face: str) -> None:
        from matplotlib.patches import Circle

        radius = size * self.scene.sign
        (x, y), layer = self.view(points[0]), self.layer("ball", points)
        self._add(Circle((x, y), radius, facecolor=face, edgecolor=edge, lw=0.8, zorder=layer))

    def _center(self, shape: Shape, points: Floats) -> None:
        """The sign of mass centres: a disc with two black quarters."""
        from matplotlib.patches import Circle, Wedge

        (x, y), radius = self.view(points[0]), 0.62 * self.scene.sign
        look = {"zorder": LAYERS["center"], "lw": 0.5}
        self._add(Circle((x, y), radius, facecolor="white", edgecolor=INK, **look))
        for start in (0, 180):
            self._add(Wedge((x, y), radius, start, start + 90, facecolor=INK, **look))

    # -- the rest ------------------------------------------------------------------------

    def _axis(self, shape: Shape, points: Floats) -> None:
        if np.linalg.norm(np.diff(self.view(points), axis=0)) > self.scene.sign:
            self._path("axis", points, color=AXES[shape.name[-1]], lw=0.9)

    def _dot(self, shape: Shape, points: Floats) -> None:
        flat = self.view(points)
        look: dict[str, Any] = {"color": INK, "ms": 3, "zorder": LAYERS["dot"]}
        self.artists += self.axes.plot(flat[:, 0], flat[:, 1], ".", **look)

    def _base(self, shape: Shape, points: Floats) -> None:
        self._filled("base", points, facecolor="#F2F2F2", edgecolor=INK, lw=0.7)

    def _edge(self, shape: Shape, points: Floats) -> None:
        self._path("edge", points, color=INK, lw=0.8)

    def _hatch(self, shape: Shape, points: Floats) -> None:
        self._pairs("hatch", points, colors=[INK], lw=0.5)

    def _floor(self, shape: Shape, points: Floats) -> None:
        self._filled("floor", points, facecolor="#F7F7F7", edgecolor=GREY, lw=0.5)

    def _grid(self, shape: Shape, points: Floats) -> None:
        self._pairs("grid", points, colors=[FAINT], lw=0.5)

    def ties(self, several: Sequence[Tie]) -> None:
        for tie in several:
            ends = np.array([
                self.world(link, p[None])[0] for link, p in zip(tie.links, tie.points, strict=True)
            ])  # fmt: skip
            if tie.kind == "rail":
                paint = GREY if tie.links[0] == GROUND else self.colour(tie.links[1])
                self._path("rail", ends, color=paint, lw=1.4 * self.weight)
            elif tie.kind == "rod":
                self._path("rod", ends, color=INK, lw=1.0 * self.weight)
            else:
                self._spring(tie, self.view(ends))

    def _spring(self, tie: Tie, flat: Floats) -> None:
        """A zigzag, or a dashpot's cup."""
        along = flat[1] - flat[0]
        length = float(np.linalg.norm(along))
        if length < 1e-12:
            return
        across = np.array([-along[1], along[0]]) / length * 1.2 * self.scene.sign
        pattern = ZIGZAG if tie.kind == "spring" else DASHPOT
        for part in pattern:
            path = np.array([flat[0] + x * along + y * across for x, y in part])
            self.artists += self.axes.plot(
                path[:, 0], path[:, 1], color=INK, lw=0.8, zorder=LAYERS["spring"],
                solid_joinstyle="round",
            )  # fmt: skip

    # -- words ---------------------------------------------------------------------------

    def labels(self, several: Sequence[Shape]) -> list[Label]:
        """Names of joints and frames; one label for those that lie on each other."""
        named = {s.name: s for s in several}.values()
        spots = [self.view(self.world(s.link, s.points)).mean(axis=0) for s in named]
        return together([symbol(s.name) for s in named], spots, self.scene.sign)

    def spans(self, several: Sequence[Shape]) -> list[Span]:
        """Lengths along lines and around plates."""
        found = []
        for shape in (s for s in several if s.kind in ("line", "plate")):
            points = self.world(shape.link, shape.points)
            flat, inside = self.view(points), None
            pairs = [*pairwise(range(len(points)))]
            if shape.kind == "plate":
                pairs, inside = [*pairs, (len(points) - 1, 0)], flat.mean(axis=0)
            for a, b in pairs:
                length = float(np.linalg.norm(points[b] - points[a]))
                found.append(Span(flat[[a, b]], f"{length:.3g} m", inside))
        return found


def _zigzag(turns: int) -> list[tuple[float, float]]:
    inner = [(0.15 + 0.7 * (k + 0.5) / (2 * turns), (-1.0) ** k) for k in range(2 * turns)]
    return [(0.0, 0.0), (0.15, 0.0), *inner, (0.85, 0.0), (1.0, 0.0)]


ZIGZAG = [_zigzag(5)]
DASHPOT = [
    [(0.0, 0.0), (0.4, 0.0)],
    [(0.62, 1.0), (0.4, 1.0), (0.4, -1.0), (0.62, -1.0)],
    [(0.52, 0.7), (0.52, -0.7)],
    [(0.52, 0.0), (1.0, 0.0)],
]
"""Paths along (0…1) and across (±1) the line between two points."""
