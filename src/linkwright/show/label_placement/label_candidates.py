"""The candidate positions of a label, and what each of them would cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ...types import Booleans, Floats
from .obstacle_grid import LabelObstacleGrid
from .placement_options import LABEL_PLACEMENT_OPTIONS, LabelPlacementOptions


@dataclass(frozen=True)
class LabelBox:
    """A label as a rectangle: width and height, the points that it names, their glyphs' radius.

    Glyphs at the anchors are obstacles like everything else that is drawn.
    """

    size: Floats
    anchors: Floats
    glyph_radius: float = 0.0


class LabelCandidates:
    """Candidate positions of label k of several: centres (n, 2), leaders and costs, in mm."""

    def __init__(
        self,
        boxes: Sequence[LabelBox],
        k: int,
        obstacles: LabelObstacleGrid,
        options: LabelPlacementOptions = LABEL_PLACEMENT_OPTIONS,
    ) -> None:
        self.box, self.obstacles, self.options = boxes[k], obstacles, options
        self.half_size = self.box.size / 2
        self.leader_clearance = max(box.glyph_radius for box in boxes)
        others = [box.anchors for j, box in enumerate(boxes) if j != k]
        self.other_anchors = np.concatenate(others) if others else np.zeros((0, 2))
        self._set_centers(self._candidate_centers())
        costs = self._coverage_costs()
        best = np.argsort(costs, kind="stable")[: options.max_candidates]
        self._set_centers(self.centers[best])
        self.coverage_costs = costs[best]

    def _set_centers(self, centers: Floats) -> None:
        """Sets the centres of the candidates, and with them their corners."""
        self.centers = centers
        self.low, self.high = centers - self.half_size, centers + self.half_size

    def _coverage_costs(self) -> Floats:
        """The costs of the obstacles under each candidate and of its distance to the anchor."""
        margin, options = self.options.padding, self.options
        covered = self.obstacles.weight_under_boxes(self.low - margin, self.high + margin)
        distance = self._box_distances(self.box.anchors).min(axis=1)
        return np.asarray(options.covered_cell_cost * covered + options.distance_cost * distance)

    def _candidate_centers(self) -> Floats:
        """Centres around the anchors at several distances, then on a grid; all on the paper."""
        count = self.options.directions
        angles = 2 * np.pi * (np.arange(count) + 3) / count
        direction = np.column_stack([np.cos(angles), np.sin(angles)])
        middle = self.box.anchors.mean(axis=0)
        spread = np.linalg.norm(self.box.anchors - middle, axis=1).max() + self.box.glyph_radius
        hug = self.half_size * np.clip(1.5 * direction, -1, 1)
        near = [middle + (spread + far) * direction + hug for far in self.options.distances]
        low = self.obstacles.low + self.half_size + self.options.padding
        high = self.obstacles.high - self.half_size - self.options.padding
        sides = (np.linspace(a, b, self._grid_count(b - a)) for a, b in zip(low, high, strict=True))
        x, y = np.meshgrid(*sides)
        every = np.vstack([*near, np.column_stack([x.ravel(), y.ravel()])])
        return np.asarray(np.clip(every, np.minimum(low, high), np.maximum(low, high)))

    def _grid_count(self, length: float) -> int:
        """The number of grid positions along a side of the paper."""
        options = self.options
        return int(np.clip(length / options.grid_spacing, 2, options.max_grid_positions))

    def _box_distances(self, points: Floats) -> Floats:
        """The distances from every candidate's box to points: (candidates, points)."""
        beyond = np.abs(points[None] - self.centers[:, None]) - self.half_size
        return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=-1))

    @cached_property
    def anchor_distances(self) -> Floats:
        """The distance from every candidate's box to the nearest of its own anchors."""
        return np.asarray(self._box_distances(self.box.anchors).min(axis=1))

    @cached_property
    def needs_leader(self) -> Booleans:
        """Whether a line must show to which anchor the label belongs, for every candidate."""
        radius, options = self.box.glyph_radius, self.options
        next_anchor = self._box_distances(self.other_anchors).min(axis=1, initial=np.inf)
        clear = options.min_distance_ratio * np.maximum(self.anchor_distances, radius + 0.8)
        is_far = self.anchor_distances > radius + options.max_distance_without_leader
        return np.asarray(is_far | (next_anchor < clear))

    @cached_property
    def leaders(self) -> Floats:
        """Lines from each candidate's box to the rim of the nearest glyph: (candidates, 2, 2)."""
        nearest = self.box.anchors[self._box_distances(self.box.anchors).argmin(axis=1)]
        start = np.clip(nearest, self.low, self.high)
        along = nearest - start
        length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        end = start + along * np.maximum(1 - self.box.glyph_radius / length, 0.0)
        return np.stack([start, end], axis=1)

    @cached_property
    def leader_samples(self) -> Floats:
        """Points along the leaders: (candidates, samples, 2)."""
        s = np.linspace(0, 1, self.options.leader_samples)[None, :, None]
        return np.asarray(self.leaders[:, :1] * (1 - s) + self.leaders[:, 1:] * s)

    @cached_property
    def own_costs(self) -> Floats:
        """The cost of every candidate, wherever the other labels are."""
        options, costs = self.options, self.coverage_costs
        if len(self.other_anchors):
            covered = self._box_distances(self.other_anchors) <= 0.5 * self.box.glyph_radius
            costs = costs + options.covered_anchor_cost * covered.sum(axis=1)
            offsets = self.leader_samples[:, :, None] - self.other_anchors
            passed = np.linalg.norm(offsets, axis=-1).min(axis=1) < self.leader_clearance + 0.3
            costs = costs + self.needs_leader * options.leader_over_anchor_cost * passed.sum(axis=1)
        length = np.linalg.norm(np.diff(self.leaders, axis=1), axis=-1)[:, 0]
        weight = self.obstacles.weight_at_points(self.leader_samples)
        crossed = weight * length / options.leader_samples
        leader_costs = options.leader_cost + options.leader_obstacle_cost * crossed
        return np.asarray(costs + self.needs_leader * leader_costs)

    def conflict_costs(self, other: LabelCandidates, choice: int) -> Floats:
        """The additional cost of every candidate because another label has taken its choice."""
        padding, options = self.options.padding, self.options
        low, high = other.low[choice] - padding, other.high[choice] + padding
        shared = np.minimum(self.high, high) - np.maximum(self.low, low)
        area = np.maximum(shared, 0).prod(axis=1)
        costs = options.overlap_cost * (shared > 0).all(axis=1) * (1 + area)
        inside = (self.leader_samples > low) & (self.leader_samples < high)
        is_crossed = inside.all(axis=2).any(axis=1) & self.needs_leader
        costs = costs + options.leader_over_label_cost * is_crossed
        if not other.needs_leader[choice]:
            return np.asarray(costs)
        line = other.leader_samples[choice]
        hit = (line > self.low[:, None] - padding) & (line < self.high[:, None] + padding)
        costs = costs + options.leader_over_label_cost * hit.all(axis=2).any(axis=1)
        crossing = self.needs_leader & label_leaders_cross(self.leaders, other.leaders[choice])
        return np.asarray(costs + options.crossed_leaders_cost * crossing)


def label_leaders_cross(leaders: Floats, leader: Floats) -> Booleans:
    """Whether each of the leaders (n, 2, 2) crosses another one (2, 2)."""

    def side(a: Floats, b: Floats, p: Floats) -> Floats:
        u, v = b - a, p - a
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    (a, b), (c, d) = (leaders[:, 0], leaders[:, 1]), leader
    return np.asarray((side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0))
