"""Lengths written along links, wherever there is room beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Floats
from .ink import Ink, Paper
from .words import Label

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DIMENSION = "_dimension"
"""Mark of the texts that stand for lengths."""

_SIZE, _LIFT, _LEAST = 7.0, 0.9, 1.0
"""Points of a letter; mm between a line and its word; the shortest line that has one, mm."""
_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
_FREE = 3.0
"""What a word may cover."""


@dataclass(frozen=True)
class Span:
    """Two ends on the paper (in the units of the axes), the word for the length between them, and
    a point on the side that is taken, if one is."""

    ends: Floats
    word: str
    inside: Floats | None = None


def place_dimensions(axes: Axes, spans: Sequence[Span], reach: float) -> list[Label]:
    """Writes lengths along their lines; those without room there come back as labels."""
    paper = Paper.of(axes)
    ink, left = Ink(paper), []
    for span in spans:
        ends = paper(span.ends)
        if np.linalg.norm(ends[1] - ends[0]) < _LEAST:
            continue
        text = axes.text(0, 0, span.word, fontsize=_SIZE, ha="center", va="center",
                         rotation_mode="anchor", zorder=9)  # fmt: skip
        inside = None if span.inside is None else paper(span.inside)[0]
        found = _free(ink, ends, inside, paper.extent(text), _lift(paper, reach))
        if found is None:
            text.remove()
            left.append(Label(span.word, span.ends.mean(axis=0)[None]))
            continue
        middle, angle, corners = found
        text.set(position=tuple(paper.back(middle)[0]), rotation=np.degrees(angle), label=DIMENSION)
        text.set_in_layout(False)
        ink.write(corners)
    return left


def _lift(paper: Paper, reach: float) -> float:
    """From a line to its word: clear of signs at its ends, where these are not large."""
    return min(max(_LIFT, paper.length(reach) + 0.2), 2 * _LIFT)


def _free(
    ink: Ink, ends: Floats, inside: Floats | None, extent: Floats, lift: float
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
    for share, side in _tries(below):
        middle = ends[0] + share * along + side * (lift + extent[1] / 2) * up
        half = extent / 2 + 0.25
        corners = np.array([middle + x * half[0] * right + y * half[1] * up
                            for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])  # fmt: skip
        if ink.holds(corners) and ink.along(_filled(corners)[None])[0] <= _FREE:
            return middle, angle, corners
    return None


def _tries(below: bool) -> Iterator[tuple[float, float]]:
    for side in (-1.0, 1.0) if below else (1.0, -1.0):
        for share in _SHARES:
            yield share, side


def _filled(corners: Floats) -> Any:
    """Points all over a box."""
    u, v = np.meshgrid(np.linspace(0, 1, 24), np.linspace(0, 1, 8))
    a, b, d = corners[0], corners[1] - corners[0], corners[3] - corners[0]
    return a + u.reshape(-1, 1) * b + v.reshape(-1, 1) * d
