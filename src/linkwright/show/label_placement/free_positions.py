"""Free positions of single rectangles: the nearest one to a box, and one along a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .obstacle_grid import LabelObstacleGrid

_SHIFT_SPACING = 1.0
"""The distance between the shifts of a box that are tried, mm."""
_LINE_SHARES = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8)
"""Positions along a line that are tried, as shares of its length: its middle first."""
_MAX_COVERED_WEIGHT = 3.0
"""The weight of obstacles that a label along a line may cover: the tip of a glyph."""
_SLANTED_PADDING = 0.25
"""Free space around a slanted label, mm."""


@dataclass(frozen=True)
class SlantedLabelPosition:
    """The centre of a label along a line (mm), its angle from the horizontal (rad), its corners."""

    center: Floats
    angle: float
    corners: Floats


def nearest_free_label_shift(obstacles: LabelObstacleGrid, low: Floats, high: Floats) -> Floats:
    """The shortest shift (2,) after which a box covers as little as it can on the paper, mm."""
    sides = [
        _label_shifts_on_paper(obstacles.low[k] - low[k], obstacles.high[k] - high[k])
        for k in range(2)
    ]
    shifts = np.column_stack([side.ravel() for side in np.meshgrid(*sides)])
    covered = obstacles.weight_under_boxes(low + shifts, high + shifts)
    best = np.lexsort([np.linalg.norm(shifts, axis=1), covered])[0]
    return np.asarray(shifts[best])


def _label_shifts_on_paper(least: float, most: float) -> Floats:
    """Multiples of the spacing between two shifts; only zero where there are none."""
    multiples = np.arange(np.ceil(least / _SHIFT_SPACING), np.floor(most / _SHIFT_SPACING) + 1)
    return multiples * _SHIFT_SPACING if multiples.size else np.zeros(1)


def label_position_along_line(
    obstacles: LabelObstacleGrid, ends: Floats, taken_side: Floats | None, size: Floats, gap: float
) -> SlantedLabelPosition | None:
    """The first free position of a label of a size (2,) along the line between two ends (2, 2).

    The label is parallel to the line, at a gap from it, first on the side away from `taken_side`.
    """
    along = ends[1] - ends[0]
    if float(np.linalg.norm(along)) < size[0]:
        return None
    angle = _readable_label_angle(along)
    right, up = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    is_below_first = taken_side is not None and (taken_side - ends.mean(axis=0)) @ up > 0
    for share, side in _label_shares_and_sides(is_below_first):
        center = ends[0] + share * along + side * (gap + size[1] / 2) * up
        half = size / 2 + _SLANTED_PADDING
        corners = np.array(
            [
                center + x * half[0] * right + y * half[1] * up
                for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))
            ]
        )
        covered = obstacles.weight_at_points(_points_in_label_box(corners)[None])[0]
        if obstacles.contains_points(corners) and covered <= _MAX_COVERED_WEIGHT:
            return SlantedLabelPosition(center, angle, corners)
    return None


def _readable_label_angle(along: Floats) -> float:
    """The angle of a line such that text along it is not upside down, rad."""
    angle = float(np.arctan2(along[1], along[0]))
    return angle - np.pi if angle > 1.58 else angle + np.pi if angle < -1.56 else angle


def _label_shares_and_sides(is_below_first: bool) -> Iterator[tuple[float, float]]:
    """Shares of a line's length, and its sides: +1 above, −1 below."""
    for side in (-1.0, 1.0) if is_below_first else (1.0, -1.0):
        for share in _LINE_SHARES:
            yield share, side


def _points_in_label_box(corners: Floats) -> Floats:
    """Points (192, 2) all over a box."""
    u, v = np.meshgrid(np.linspace(0, 1, 24), np.linspace(0, 1, 8))
    a, b, d = corners[0], corners[1] - corners[0], corners[3] - corners[0]
    return np.asarray(a + u.reshape(-1, 1) * b + v.reshape(-1, 1) * d)
