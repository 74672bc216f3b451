"""The ink that is on axes already, in millimetres of the paper: labels keep away from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text


_MIN_CELL_SIZE, _MAX_CELLS = 0.4, 800
"""Side of a cell, mm; how many there are at most along a side of the paper."""
_PATH_SAMPLE_SPACING = 0.35
"""The distance between samples along a path, mm."""
_SHIFT_SPACING = 1.0
"""The distance between places where a glyph may stand, mm."""
_BACKGROUND_LAYER = 1.0
"""The layer below which ink (floors and their grids) may be written on."""
_TEXT_WEIGHT = 6.0
"""The weight of a cell of words against a cell of lines."""


@dataclass(frozen=True)
class PaperTransform:
    """Axes as they will be printed: from data to mm and back, and the corners."""

    axes: Axes
    mm_per_pixel: float
    low: Floats
    high: Floats

    @classmethod
    def after_layout(cls, axes: Axes) -> PaperTransform:
        """Lays the figure out once and for all, so that all sizes are known and stay."""
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        figure: Any = axes.figure
        if isinstance(figure.get_layout_engine(), ConstrainedLayoutEngine):
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        scale = 25.4 / float(figure.dpi)
        box = axes.get_window_extent()
        return cls(axes, scale, scale * np.array(box.p0), scale * np.array(box.p1))

    @classmethod
    def before_layout(cls, axes: Axes, unit: float) -> PaperTransform:
        """Axes that will be laid out later, of which a millimetre will show so many metres."""
        axes.apply_aspect()
        box, (left, right) = axes.get_window_extent(), axes.get_xlim()
        scale = (right - left) / unit / box.width
        return cls(axes, scale, scale * np.array(box.p0), scale * np.array(box.p1))

    def __call__(self, points: Any) -> Floats:
        flat = np.asarray(points, dtype=float).reshape(-1, 2)
        return self.mm_per_pixel * np.asarray(self.axes.transData.transform(flat))

    def to_data(self, points: Floats) -> Floats:
        flat = np.asarray(points, dtype=float).reshape(-1, 2) / self.mm_per_pixel
        return np.asarray(self.axes.transData.inverted().transform(flat))

    def length_mm(self, size: float) -> float:
        """The length across, in mm."""
        return float(np.linalg.norm(np.subtract(*self([[size, 0], [0, 0]]))))

    def text_size(self, artist: Artist) -> Floats:
        """Width and height of a text, mm."""
        box = artist.get_window_extent()
        return self.mm_per_pixel * np.array([box.width, box.height])


class InkGrid:
    """The ink in every cell of the paper, and its sums over boxes."""

    def __init__(self, paper: PaperTransform) -> None:
        self.paper = paper
        size = paper.high - paper.low
        self.cell_size = max(_MIN_CELL_SIZE, float(size.max()) / _MAX_CELLS)
        self.cell_counts = np.ceil(size / self.cell_size).astype(int) + 1
        self.cells = np.zeros(tuple(self.cell_counts))
        for path in _artist_paths(paper.axes):
            self._add_path(paper.mm_per_pixel * path)
        for text in paper.axes.texts:
            if text.get_text():
                self.add_text(text_corners(paper, text))
        self._update_sums()

    def _add_path(self, path: Floats) -> None:
        for a, b in pairwise(path):
            count = int(np.clip(np.linalg.norm(b - a) / _PATH_SAMPLE_SPACING, 2, 2000))
            self._add_points(a + np.linspace(0, 1, count)[:, None] * (b - a), 1.0)

    def add_text(self, corners: Floats) -> None:
        """A word, upright or slanted, by its corners."""
        a, b, d = corners[0], corners[1] - corners[0], corners[3] - corners[0]
        s = [
            np.linspace(0, 1, max(2, int(np.linalg.norm(side) / _PATH_SAMPLE_SPACING) + 1))
            for side in (b, d)
        ]
        u, v = np.meshgrid(*s)
        self._add_points(a + u.reshape(-1, 1) * b + v.reshape(-1, 1) * d, _TEXT_WEIGHT)
        self._update_sums()

    def _add_points(self, points: Floats, weight: float) -> None:
        at = np.floor((points - self.paper.low) / self.cell_size).astype(int)
        at = at[((at >= 0) & (at < self.cell_counts)).all(axis=1)]
        np.maximum.at(self.cells, (at[:, 0], at[:, 1]), weight)

    def _update_sums(self) -> None:
        self.cell_sums = np.pad(self.cells.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))

    def contains_points(self, points: Floats) -> bool:
        """Whether all points are on the paper."""
        return bool((points > self.paper.low).all() and (points < self.paper.high).all())

    def ink_under_boxes(self, low: Floats, high: Floats) -> Floats:
        """The ink that boxes (n, 2) from low to high would cover."""
        i = np.clip(
            np.floor((low - self.paper.low) / self.cell_size).astype(int), 0, self.cell_counts
        )
        j = np.clip(
            np.ceil((high - self.paper.low) / self.cell_size).astype(int), 0, self.cell_counts
        )
        s = self.cell_sums
        return np.asarray(
            s[j[:, 0], j[:, 1]] - s[i[:, 0], j[:, 1]] - s[j[:, 0], i[:, 1]] + s[i[:, 0], i[:, 1]]
        )

    def ink_along_points(self, points: Floats) -> Floats:
        """The ink that points (n, k, 2) meet, summed over k."""
        at = np.floor((points - self.paper.low) / self.cell_size).astype(int)
        at = np.clip(at, 0, self.cell_counts - 1)
        return np.asarray(self.cells[at[..., 0], at[..., 1]].sum(axis=-1))


def shift_to_free_ink(ink: InkGrid, low: Floats, high: Floats) -> Floats:
    """The shift of a box on the paper after which it covers as little as it can, mm: nowhere
    if it covers nothing, else to the nearest such place on the paper."""
    room = ink.paper.low - low, ink.paper.high - high
    sides = [_shifts_on_paper(room[0][k], room[1][k]) for k in range(2)]
    shifts = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    covered = ink.ink_under_boxes(low + shifts, high + shifts)
    best = np.lexsort([np.linalg.norm(shifts, axis=1), covered])[0]
    return np.asarray(shifts[best])


def _shifts_on_paper(least: float, most: float) -> Floats:
    """Steps either way, and none."""
    inside = (
        np.arange(np.ceil(least / _SHIFT_SPACING), np.floor(most / _SHIFT_SPACING) + 1)
        * _SHIFT_SPACING
    )
    return inside if inside.size else np.zeros(1)


def _artist_paths(axes: Axes) -> Iterator[Floats]:
    """Everything drawn, as paths in pixels."""
    from matplotlib.collections import LineCollection
    from matplotlib.patches import Patch
    from matplotlib.text import Annotation

    for artist in axes.get_children():
        if artist is axes.patch or artist.get_zorder() < _BACKGROUND_LAYER:
            continue
        if isinstance(artist, LineCollection):
            for segment in artist.get_segments():
                yield np.asarray(artist.get_transform().transform(segment))
        elif isinstance(artist, Annotation) and artist.arrow_patch is not None:
            yield from artist.arrow_patch.get_path().to_polygons(
                artist.arrow_patch.get_transform(), closed_only=False
            )
        elif hasattr(artist, "get_xydata") or isinstance(artist, Patch):
            whole: Any = artist
            yield from whole.get_path().to_polygons(whole.get_transform(), closed_only=False)


def text_corners(paper: PaperTransform, text: Text) -> Floats:
    """The corners of a text, mm; one that is turned stands about its own position."""
    angle = np.radians(text.get_rotation())
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(np.degrees(angle))
    (x0, y0), (x1, y1) = paper.mm_per_pixel * np.array([box.p0, box.p1])
    pivot = paper.mm_per_pixel * text.get_transform().transform(text.get_position())
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray((np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]) - pivot) @ turn + pivot)
