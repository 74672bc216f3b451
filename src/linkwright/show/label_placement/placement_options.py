"""The numbers of label placement: where positions are tried, and what each fault of one costs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LabelPlacementOptions:
    """Numbers that tune label placement; lengths in mm, costs in mm of distance from the anchor."""

    directions: int = 24
    """Directions around the anchors in which positions are tried: 15° apart, finer is not seen."""
    distances: tuple[float, ...] = (0.6, 1.8, 3.2, 5.0, 7.5, 10.5, 14.0, 18.0)
    """Distances from the glyph at which positions are tried: dense near the anchor."""
    grid_spacing: float = 3.0
    """The distance between positions all over the paper (a line of text): for crowded anchors."""
    max_grid_positions: int = 40
    """Positions of that grid along a side at most: bounds the work on large paper."""
    max_candidates: int = 200
    """The cheapest positions of a label that the search compares with those of other labels."""
    padding: float = 0.35
    """Free space around a label: letters of two labels never touch."""
    max_distance_without_leader: float = 2.4
    """A label within this distance of its glyph is read as belonging to it: a line of text."""
    min_distance_ratio: float = 1.5
    """Other anchors must be farther than the own one by this factor, or a leader is drawn."""
    distance_cost: float = 0.9
    """Cost of a millimetre between label and anchor."""
    covered_cell_cost: float = 1.5
    """Cost of an obstacle's cell under a label: worth more than 1 mm of distance."""
    covered_anchor_cost: float = 20.0
    """Cost of another label's anchor under a label."""
    overlap_cost: float = 400.0
    """Cost of an overlap of two labels: never chosen where anything else is possible."""
    leader_cost: float = 3.0
    """Cost of a leader, whatever its length: a label beside its anchor is better."""
    leader_obstacle_cost: float = 0.8
    """Cost of a millimetre of leader over obstacles."""
    leader_over_anchor_cost: float = 40.0
    """Cost of a leader that passes another label's anchor: it would be read as that one's."""
    leader_over_label_cost: float = 60.0
    """Cost of a leader under a label."""
    crossed_leaders_cost: float = 30.0
    """Cost of two leaders that cross."""
    leader_samples: int = 20
    """Points of a leader at which obstacles are looked up: one per millimetre of a long one."""
    max_sweeps: int = 8
    """Rounds in which labels move in turn; most searches end after two or three."""


LABEL_PLACEMENT_OPTIONS = LabelPlacementOptions()
"""The numbers that all pictures use."""
