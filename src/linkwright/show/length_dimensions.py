"""Dimensions: lengths of links, written along them where there is room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .axes_labels import Label
from .label_placement import label_position_along_line
from .paper_transform import PaperTransform, drawn_label_obstacles

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DIMENSION_TAG = "_dimension"
"""Mark of the texts that stand for lengths."""

_DIMENSION_FONT_SIZE, _LINE_GAP, _MIN_LINE_LENGTH = 7.0, 0.9, 1.0
"""Points of a letter; mm between a line and its word; the shortest line that has one, mm."""


@dataclass(frozen=True)
class DimensionLine:
    """Two ends (in the units of the axes), the text of the length between them, and a point on the
    side that is taken, if any."""

    ends: Floats
    text: str
    taken_side: Floats | None = None


def write_length_dimensions(
    axes: Axes, spans: Sequence[DimensionLine], reach: float
) -> list[Label]:
    """Writes lengths along their lines; returns labels for those without room there."""
    paper = PaperTransform.after_layout(axes)
    obstacles, left = drawn_label_obstacles(paper), []
    for span in spans:
        ends = paper(span.ends)
        if np.linalg.norm(ends[1] - ends[0]) < _MIN_LINE_LENGTH:
            continue
        text = axes.text(
            *(0, 0, span.text),
            fontsize=_DIMENSION_FONT_SIZE,
            ha="center",
            va="center",
            rotation_mode="anchor",
            zorder=9,
        )
        inside = None if span.taken_side is None else paper(span.taken_side)[0]
        size, gap = paper.text_size(text), _dimension_label_gap(paper, reach)
        position = label_position_along_line(obstacles, ends, inside, size, gap)
        if position is None:
            text.remove()
            left.append(Label(span.text, span.ends.mean(axis=0)[None]))
            continue
        text.set(
            position=tuple(paper.to_data(position.center)[0]),
            rotation=np.degrees(position.angle),
            label=DIMENSION_TAG,
        )
        text.set_in_layout(False)
        obstacles.add_text_box(position.corners)
    return left


def _dimension_label_gap(paper: PaperTransform, reach: float) -> float:
    """The gap between a line and its dimension, mm: clear of glyphs at the ends, unless these are
    large."""
    return min(max(_LINE_GAP, paper.length_mm(reach) + 0.2), 2 * _LINE_GAP)
