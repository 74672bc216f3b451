"""Words beside points, where they cover least."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .paper import millimetre

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

_HIGH, _WIDE = 2.6, 1.35
"""Of a letter at 7 points, mm."""


def place_words(
    axes: Axes,
    words: Sequence[str],
    spots: Sequence[Floats],
    drawn: Sequence[Floats],
    size: float = 7.0,
) -> None:
    """Each word near its spot, away from the paths that are drawn and from other words."""
    unit = millimetre(axes)
    covered = [_along(path, unit) for path in drawn] + [np.array(spots).reshape(-1, 2)]
    points = np.concatenate(covered)
    limits = np.array([axes.get_xlim(), axes.get_ylim()])
    taken: list[tuple[Floats, Floats]] = []
    for word, spot in zip(words, spots, strict=True):
        extent = unit * size / 7 * np.array([_WIDE * _letters(word), _HIGH])
        boxes = [_box(spot, extent, k * np.pi / 4, unit, far) for far in (1, 2) for k in range(8)]
        low, high = min(boxes, key=lambda box: _cost(box, points, taken, limits))
        taken.append((low, high))
        middle = (low + high) / 2
        axes.text(*middle, word, ha="center", va="center", fontsize=size, zorder=9)


def _letters(word: str) -> float:
    bare = re.sub(r"\\\w+", "o", re.sub(r"\\mathrm|\\dot|\\ddot", "", word))
    return max(1.0, len(re.sub(r"[${}_\\]", "", bare)) * (0.8 if "$" in word else 1.0))


def _box(
    spot: Floats, size: Floats, angle: float, unit: float, far: int
) -> tuple[Floats, Floats]:  # fmt: skip
    """The word's box in a direction from its spot, so that its edge is 2.3 mm away (or 4.6)."""
    way = np.array([np.cos(angle + np.pi / 4), np.sin(angle + np.pi / 4)])
    middle = spot + way * (2.3 * far * unit) + np.round(way, 1) * size / 2
    return middle - size / 2, middle + size / 2


def _cost(
    box: tuple[Floats, Floats], points: Floats, taken: Sequence[tuple[Floats, Floats]],
    limits: Floats,
) -> float:  # fmt: skip
    low, high = box
    inside = ((points > low) & (points < high)).all(axis=1).sum()
    over = sum(bool((low < other[1]).all() and (high > other[0]).all()) for other in taken)
    beyond = bool((low < limits[:, 0]).any() or (high > limits[:, 1]).any())
    return float(inside + 8 * over + 20 * beyond)


def _along(path: Floats, unit: float) -> Floats:
    """Points on a path, a millimetre apart."""
    pieces = []
    for a, b in pairwise(path):
        count = int(np.clip(np.linalg.norm(b - a) / unit, 2, 200))
        pieces.append(a + np.linspace(0, 1, count)[:, None] * (b - a))
    return np.concatenate(pieces) if pieces else path
