"""Axes in millimetres of the paper: transforms, sizes of texts, and the obstacles for labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .label_placement import LabelObstacleGrid

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.text import Text


_BACKGROUND_LAYER = 1.0
"""The layer below which labels may cover what is drawn (floors and their grids)."""


@dataclass(frozen=True)
class PaperTransform:
    """The transform between the data of axes and millimetres of the paper, and the corners of the
    axes, mm."""

    axes: Axes
    mm_per_pixel: float
    low: Floats
    high: Floats

    @classmethod
    def after_layout(cls, axes: Axes) -> PaperTransform:
        """The transform of axes whose figure is laid out now, once and for all."""
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
        """The transform of axes that are laid out later, with a millimetre showing `unit`
        metres."""
        axes.apply_aspect()
        box, (left, right) = axes.get_window_extent(), axes.get_xlim()
        scale = (right - left) / unit / box.width
        return cls(axes, scale, scale * np.array(box.p0), scale * np.array(box.p1))

    def __call__(self, points: Any) -> Floats:
        flat = np.asarray(points, dtype=float).reshape(-1, 2)
        return self.mm_per_pixel * np.asarray(self.axes.transData.transform(flat))

    def to_data(self, points: Floats) -> Floats:
        """Points (n, 2) in mm as data of the axes."""
        flat = np.asarray(points, dtype=float).reshape(-1, 2) / self.mm_per_pixel
        return np.asarray(self.axes.transData.inverted().transform(flat))

    def length_mm(self, size: float) -> float:
        """A length along x in the data of the axes, mm."""
        return float(np.linalg.norm(np.subtract(*self([[size, 0], [0, 0]]))))

    def text_size(self, artist: Artist) -> Floats:
        """The width and height of a text, mm."""
        box = artist.get_window_extent()
        return self.mm_per_pixel * np.array([box.width, box.height])


def drawn_label_obstacles(paper: PaperTransform) -> LabelObstacleGrid:
    """The obstacles for labels on axes: all lines, patches, arrows and texts that are drawn."""
    obstacles = LabelObstacleGrid(paper.low, paper.high)
    for path in _artist_paths(paper.axes):
        obstacles.add_path(paper.mm_per_pixel * path)
    for text in paper.axes.texts:
        if text.get_text():
            obstacles.add_text_box(text_corners(paper, text))
    return obstacles


def _artist_paths(axes: Axes) -> Iterator[Floats]:
    """The paths of all that is drawn on axes above the background, in pixels."""
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
    """The corners (4, 2) of a text, upright or turned, mm."""
    angle = np.radians(text.get_rotation())
    text.set_rotation(0)
    box = text.get_window_extent()
    text.set_rotation(np.degrees(angle))
    (x0, y0), (x1, y1) = paper.mm_per_pixel * np.array([box.p0, box.p1])
    pivot = paper.mm_per_pixel * text.get_transform().transform(text.get_position())
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return np.asarray((np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]]) - pivot) @ turn + pivot)
