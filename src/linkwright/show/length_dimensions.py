"""Lengths written along links, wherever there is room beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .ink_grid import InkGrid, PaperTransform
from .label_placing import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DIMENSION_TAG = "_dimension"
"""Mark of the texts that stand for lengths."""

_DIMENSION_FONT_SIZE, _LINE_GAP, _MIN_LINE_LENGTH = 7.0, 0.9, 1.0
"""Points of a letter; mm between a line and its word; the shortest line that has one, mm."""
_PLACE_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
_MAX_COVERED_INK = 3.0
"""The ink that a label may cover."""


@dataclass(frozen=True)
class DimensionLine:
    """Two ends on the paper (in the units of the axes), the word for the length between them, and
    a point on the side that is taken, if one is."""

    ends: Floats
    text: str
    taken_side: Floats | None = None


def place_dimensions(axes: Axes, spans: Sequence[DimensionLine], reach: float) -> list[Label]:
    """Writes lengths along their lines; those without room there come back as labels."""
    paper = PaperTransform.after_layout(axes)
    ink, left = InkGrid(paper), []
    for span in spans:
        ends = paper(span.ends)
        if np.linalg.norm(ends[1] - ends[0]) < _MIN_LINE_LENGTH:
            continue
        text = axes.text(0, 0, span.text, fontsize=_DIMENSION_FONT_SIZE, ha="center", va="center",
                         rotation_mode="anchor", zorder=9)  # fmt: skip
        inside = None if span.taken_side is None else paper(span.taken_side)[0]
        found = _free_place_along(
            ink, ends, inside, paper.text_size(text), _dimension_gap(paper, reach)
        )
        if found is None:
            text.remove()
            left.append(Label(span.text, span.ends.mean(axis=0)[None]))
            continue
        middle, angle, corners = found
        text.set(
            position=tuple(paper.to_data(middle)[0]),
            rotation=np.degrees(angle),
            label=DIMENSION_TAG,
        )
        text.set_in_layout(False)
        ink.add_text(corners)
    return left


def _dimension_gap(paper: PaperTransform, reach: float) -> float:
    """The gap from a line to its label: clear of glyphs at its ends, where these are not large."""
    return min(max(_LINE_GAP, paper.length_mm(reach) + 0.2), 2 * _LINE_GAP)


def _free_place_along(
    ink: InkGrid, ends: Floats, inside: Floats | None, extent: Floats, lift: float
) -> tuple[Floats, float, Floats] | None:  # fmt: skip
    """Middle, slope and corners of the first place along a line that is free."""
    along = ends[1] - ends[0]
    length = float(np.linalg.norm(along))
    if length < extent[0]:
        return None
    angle = float(np.arctan2(along[1], along[0]))
    angle = angle - np.pi if angle > 1.58 else angle + np.pi if angle < -1.56 else angle
    right, up = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    below = inside is not None and (inside - ends.mean(axis=0)) @ up > 0
    for share, side in _places_along_line(below):
        middle = ends[0] + share * along + side * (lift + extent[1] / 2) * up
        half = extent / 2 + 0.25
        corners = np.array([middle + x * half[0] * right + y * half[1] * up
                            for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])  # fmt: skip
        if (
            ink.contains_points(corners)
            and ink.ink_along_points(_points_in_box(corners)[None])[0] <= _MAX_COVERED_INK
        ):
            return middle, angle, corners
    return None


def _places_along_line(below: bool) -> Iterator[tuple[float, float]]:
    for side in (-1.0, 1.0) if below else (1.0, -1.0):
        for share in _PLACE_SHARES:
            yield share, side


def _points_in_box(corners: Floats) -> Any:
    """Points all over a box."""
    u, v = np.meshgrid(np.linspace(0, 1, 24), np.linspace(0, 1, 8))
    a, b, d = corners[0], corners[1] - corners[0], corners[3] - corners[0]
    return a + u.reshape(-1, 1) * b + v.reshape(-1, 1) * d
