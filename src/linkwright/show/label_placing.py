"""Words beside points: a search for places where they cover nothing, with lines that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Booleans, Floats
from .figure_style import GRAY_COLOR
from .ink_grid import InkGrid, PaperTransform
from .label_text import strip_math_markup

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_DIRECTION_COUNT, _PLACE_DISTANCES = 24, (0.6, 1.8, 3.2, 5.0, 7.5, 10.5, 14.0, 18.0)
"""Directions in which a place is looked for, and distances, mm."""
_PLACE_GRID_SPACING, _MAX_GRID_PLACES = 3.0, 40
"""The distance between places all over the paper, mm, where nothing near is free; the most along a
side."""
_LABEL_PADDING = 0.35
"""Free of words around a word, mm."""
_MAX_BESIDE_DISTANCE, _MIN_NEARER_RATIO = 2.4, 1.5
"""A word stands beside its point within so many mm, if all others are so much farther."""
(
    _OVERLAP_COST,
    _LEADER_OVER_LABEL_COST,
    _LEADER_OVER_POINT_COST,
    _CROSSED_LEADERS_COST,
    _LEADER_COST,
) = 400.0, 60.0, 40.0, 30.0, 3.0
_MAX_SWEEPS, _LEADER_SAMPLES, _MAX_KEPT_PLACES = 8, 20, 200

LABEL_TAG, LEADER_TAG = "_label", "_leader"
"""Marks of the texts and lines that stand for words: `_label:3` and `_leader:3` belong together."""


@dataclass(frozen=True)
class Label:
    """Words for one or more points that lie together: where they are, and the radius of the
    signs drawn there (in the units of the axes)."""

    text: str
    points: Floats
    glyph_radius: float = 0.0


def group_labels(names: Sequence[str], spots: Sequence[Floats], reach: float) -> list[Label]:
    """One label for all points that lie within a sign's size of each other, in their order."""
    groups: list[list[int]] = []
    for k, spot in enumerate(spots):
        for group in groups:
            if all(np.linalg.norm(spot - spots[j]) < 2 * reach for j in group):
                group.append(k)
                break
        else:
            groups.append([k])
    return [
        Label(
            wrap_label_names([names[k] for k in group]), np.array([spots[k] for k in group]), reach
        )
        for group in groups
    ]


def wrap_label_names(names: Sequence[str], most: int = 16) -> str:
    """Names with commas, in lines of about as many letters."""
    lines = [""]
    for name in dict.fromkeys(names):
        if lines[-1] and len(strip_math_markup(lines[-1])) + len(strip_math_markup(name)) > most:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + name
    return ",\n".join(lines)


def place_labels(axes: Axes, labels: Sequence[Label], size: float = 7.0, **look: Any) -> None:
    """Writes each label near its points, away from all that is drawn and from each other.

    What is not beside its own point, or as near to another one, is joined to it by a thin line.
    """
    if not labels:
        return
    paper = PaperTransform.after_layout(axes)
    ink = InkGrid(paper)
    texts = [axes.text(*label.points[0], label.text, fontsize=size, ha="center", va="center",
                       linespacing=1.1, zorder=9, **look) for label in labels]  # fmt: skip
    extents = [paper.text_size(text) for text in texts]
    spots = [paper(label.points) for label in labels]
    reaches = [paper.length_mm(label.glyph_radius) for label in labels]
    seekers = [
        LabelSeeker(k, ink, spots, extents[k], reach, max(reaches))
        for k, reach in enumerate(reaches)
    ]
    for k, (seeker, choice) in enumerate(zip(seekers, search_label_places(seekers), strict=True)):
        texts[k].set_position(tuple(paper.to_data(seeker.places[choice])[0]))
        texts[k].set_label(f"{LABEL_TAG}:{k}")
        texts[k].set_in_layout(False)
        if seeker.needs_leader[choice]:
            line = paper.to_data(seeker.leader_lines[choice])
            (drawn,) = axes.plot(line[:, 0], line[:, 1], color=GRAY_COLOR, lw=0.5, zorder=8.5)
            drawn.set_label(f"{LEADER_TAG}:{k}")
            drawn.set_in_layout(False)


class LabelSeeker:
    """A label that looks for its place: all places, and what each would cost. In mm."""

    def __init__(
        self,
        k: int,
        ink: InkGrid,
        spots: Sequence[Floats],
        extent: Floats,
        reach: float,
        clear: float,
    ) -> None:
        self.ink, self.own_points, self.glyph_radius, self.leader_clearance = (
            ink,
            spots[k],
            reach,
            clear,
        )
        self.half_extent = extent / 2
        others = [spot for j, spot in enumerate(spots) if j != k]
        self.other_points = np.concatenate(others) if others else np.zeros((0, 2))
        self.places = self._candidate_places()
        self._update_boxes()
        cheap = self._place_cover_costs()
        best = np.argsort(cheap, kind="stable")[:_MAX_KEPT_PLACES]
        self.places, self.cover_costs = self.places[best], cheap[best]
        self._update_boxes()

    def _update_boxes(self) -> None:
        self.low, self.high = self.places - self.half_extent, self.places + self.half_extent

    def _place_cover_costs(self) -> Floats:
        """The costs of what a place covers, and of its distance."""
        covered = self.ink.ink_under_boxes(self.low - _LABEL_PADDING, self.high + _LABEL_PADDING)
        return np.asarray(1.5 * covered + 0.9 * self._box_distances(self.own_points).min(axis=1))

    def _candidate_places(self) -> Floats:
        """The places in many directions at several distances, then on a grid; all on the paper."""
        angles = 2 * np.pi * (np.arange(_DIRECTION_COUNT) + 3) / _DIRECTION_COUNT
        way = np.column_stack([np.cos(angles), np.sin(angles)])
        center = self.own_points.mean(axis=0)
        spread = float(np.linalg.norm(self.own_points - center, axis=1).max()) + self.glyph_radius
        hug = self.half_extent * np.clip(1.5 * way, -1, 1)
        near = [center + (spread + far) * way + hug for far in _PLACE_DISTANCES]
        low, high = (
            self.ink.paper.low + self.half_extent + _LABEL_PADDING,
            self.ink.paper.high - self.half_extent - _LABEL_PADDING,
        )
        sides = (np.linspace(a, b, _grid_places(b - a)) for a, b in zip(low, high, strict=True))
        x, y = np.meshgrid(*sides)
        every = np.vstack([*near, np.column_stack([x.ravel(), y.ravel()])])
        return np.asarray(np.clip(every, np.minimum(low, high), np.maximum(low, high)))

    def _box_distances(self, points: Floats) -> Floats:
        """The distances from every place's box to points: (places, points)."""
        beyond = np.abs(points[None] - self.places[:, None]) - self.half_extent
        return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=-1))

    @cached_property
    def own_distance(self) -> Floats:
        return np.asarray(self._box_distances(self.own_points).min(axis=1))

    @cached_property
    def needs_leader(self) -> Booleans:
        """Whether a line must say where the label belongs."""
        next_one = self._box_distances(self.other_points).min(axis=1, initial=np.inf)
        clear = _MIN_NEARER_RATIO * np.maximum(self.own_distance, self.glyph_radius + 0.8)
        return np.asarray(
            (self.own_distance > self.glyph_radius + _MAX_BESIDE_DISTANCE) | (next_one < clear)
        )

    @cached_property
    def leader_lines(self) -> Floats:
        """Lines from each place's box to the rim of the nearest sign: (places, 2, 2)."""
        nearest = self.own_points[self._box_distances(self.own_points).argmin(axis=1)]
        start = np.clip(nearest, self.low, self.high)
        along = nearest - start
        length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        end = start + along * np.maximum(1 - self.glyph_radius / length, 0.0)
        return np.stack([start, end], axis=1)

    @cached_property
    def leader_samples(self) -> Floats:
        """Points along the leaders: (places, samples, 2)."""
        s = np.linspace(0, 1, _LEADER_SAMPLES)[None, :, None]
        return np.asarray(self.leader_lines[:, :1] * (1 - s) + self.leader_lines[:, 1:] * s)

    @cached_property
    def place_costs(self) -> Floats:
        """The cost of every place, whatever the other labels do."""
        found = self.cover_costs
        if len(self.other_points):
            found = found + 20.0 * (
                self._box_distances(self.other_points) <= 0.5 * self.glyph_radius
            ).sum(axis=1)
            apart = np.linalg.norm(
                self.leader_samples[:, :, None] - self.other_points, axis=-1
            ).min(axis=1)
            found = found + self.needs_leader * _LEADER_OVER_POINT_COST * (
                apart < self.leader_clearance + 0.3
            ).sum(axis=1)
        length = np.linalg.norm(np.diff(self.leader_lines, axis=1), axis=-1)[:, 0]
        crossed = self.ink.ink_along_points(self.leader_samples) * length / _LEADER_SAMPLES
        return np.asarray(found + self.needs_leader * (_LEADER_COST + 0.8 * crossed))

    def overlap_costs(self, other: LabelSeeker, choice: int) -> Floats:
        """The additional cost of every place because another label stands where it does."""
        low, high = other.low[choice] - _LABEL_PADDING, other.high[choice] + _LABEL_PADDING
        room = np.minimum(self.high, high) - np.maximum(self.low, low)
        found = _OVERLAP_COST * (room > 0).all(axis=1) * (1 + np.maximum(room, 0).prod(axis=1))
        inside = (
            ((self.leader_samples > low) & (self.leader_samples < high)).all(axis=2).any(axis=1)
        )
        found = found + _LEADER_OVER_LABEL_COST * (inside & self.needs_leader)
        if not other.needs_leader[choice]:
            return np.asarray(found)
        line = other.leader_samples[choice]
        hit = (line > self.low[:, None] - _LABEL_PADDING) & (
            line < self.high[:, None] + _LABEL_PADDING
        )
        found = found + _LEADER_OVER_LABEL_COST * hit.all(axis=2).any(axis=1)
        return np.asarray(
            found
            + _CROSSED_LEADERS_COST
            * (self.needs_leader & _lines_cross(self.leader_lines, other.leader_lines[choice]))
        )


def _grid_places(length: float) -> int:
    """The places of the grid along a side."""
    return int(np.clip(length / _PLACE_GRID_SPACING, 2, _MAX_GRID_PLACES))


def _lines_cross(lines: Floats, one: Floats) -> Booleans:
    """Tell which of the lines (n, 2, 2) cross one line."""

    def side(a: Floats, b: Floats, p: Floats) -> Floats:
        u, v = b - a, p - a
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    a, b = lines[:, 0], lines[:, 1]
    return np.asarray(
        (side(a, b, one[0]) * side(a, b, one[1]) < 0)
        & (side(one[0], one[1], a) * side(one[0], one[1], b) < 0)
    )


def search_label_places(seekers: Sequence[LabelSeeker]) -> list[int]:
    """A place for each: those with the fewest good places first; then each moves to where it is
    best among the others, until none moves."""
    chosen: dict[int, int] = {}
    order = sorted(
        range(len(seekers)), key=lambda k: -float(np.sort(seekers[k].place_costs)[:12].mean())
    )
    for _ in range(_MAX_SWEEPS):
        before = dict(chosen)
        for k in order:
            costs = seekers[k].place_costs.copy()
            for j, choice in chosen.items():
                if j != k:
                    costs += seekers[k].overlap_costs(seekers[j], choice)
            chosen[k] = int(costs.argmin())
        if chosen == before:
            break
    return [chosen[k] for k in range(len(seekers))]
