"""The obstacles on a sheet of paper, as weights of small square cells."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...types import Floats

_MIN_CELL_SIZE, _MAX_CELLS = 0.4, 800
"""Side of a cell, mm: the width of a thin line; cells along a side of the paper at most."""
_SAMPLE_SPACING = 0.35
"""The distance between samples along a path, mm: less than a cell."""
_TEXT_WEIGHT = 6.0
"""The weight of a cell of text against a cell of lines."""


class LabelObstacleGrid:
    """Weights of what is drawn in every cell of the paper between two corners, mm."""

    def __init__(self, low: Floats, high: Floats) -> None:
        self.low, self.high = low, high
        size = high - low
        self.cell_size = max(_MIN_CELL_SIZE, float(size.max()) / _MAX_CELLS)
        self.cell_counts = np.ceil(size / self.cell_size).astype(int) + 1
        self.cells = np.zeros(tuple(self.cell_counts))
        self._cell_sums: Floats | None = None

    def add_path(self, path: Floats) -> None:
        """Adds a path through points (n, 2) as an obstacle."""
        for a, b in pairwise(path):
            count = int(np.clip(np.linalg.norm(b - a) / _SAMPLE_SPACING, 2, 2000))
            self._add_points(a + np.linspace(0, 1, count)[:, None] * (b - a), 1.0)

    def add_text_box(self, corners: Floats) -> None:
        """Adds the rectangle of a text, upright or slanted, by its corners (4, 2)."""
        a, b, d = corners[0], corners[1] - corners[0], corners[3] - corners[0]
        sides = [
            np.linspace(0, 1, max(2, int(np.linalg.norm(side) / _SAMPLE_SPACING) + 1))
            for side in (b, d)
        ]
        u, v = np.meshgrid(*sides)
        self._add_points(a + u.reshape(-1, 1) * b + v.reshape(-1, 1) * d, _TEXT_WEIGHT)

    def _add_points(self, points: Floats, weight: float) -> None:
        """Gives the cells under points (n, 2) at least this weight."""
        at = np.floor((points - self.low) / self.cell_size).astype(int)
        at = at[((at >= 0) & (at < self.cell_counts)).all(axis=1)]
        np.maximum.at(self.cells, (at[:, 0], at[:, 1]), weight)
        self._cell_sums = None

    def contains_points(self, points: Floats) -> bool:
        """Whether all points (n, 2) are on the paper."""
        return bool((points > self.low).all() and (points < self.high).all())

    def weight_under_boxes(self, low: Floats, high: Floats) -> Floats:
        """The weight of the obstacles under each of the boxes from low (n, 2) to high (n, 2)."""
        if self._cell_sums is None:
            self._cell_sums = np.pad(self.cells.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))
        first = np.floor((low - self.low) / self.cell_size).astype(int)
        last = np.ceil((high - self.low) / self.cell_size).astype(int)
        i, j = np.clip(first, 0, self.cell_counts), np.clip(last, 0, self.cell_counts)
        s = self._cell_sums
        return np.asarray(
            s[j[:, 0], j[:, 1]] - s[i[:, 0], j[:, 1]] - s[j[:, 0], i[:, 1]] + s[i[:, 0], i[:, 1]]
        )

    def weight_at_points(self, points: Floats) -> Floats:
        """The weight of the obstacles at points (n, k, 2), summed over k."""
        at = np.floor((points - self.low) / self.cell_size).astype(int)
        at = np.clip(at, 0, self.cell_counts - 1)
        return np.asarray(self.cells[at[..., 0], at[..., 1]].sum(axis=-1))
