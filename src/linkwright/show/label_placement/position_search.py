"""The search for the positions of all labels of a figure: each label moves in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .label_candidates import LabelBox, LabelCandidates
from .obstacle_grid import LabelObstacleGrid
from .placement_options import LABEL_PLACEMENT_OPTIONS, LabelPlacementOptions

_COMPARED_CANDIDATES = 12
"""The cheapest candidates of a label whose mean cost says how hard it is to place."""


@dataclass(frozen=True)
class LabelPosition:
    """The centre of a label, and a leader (2, 2) from its box to its glyph if it needs one; mm."""

    center: Floats
    leader: Floats | None


def find_label_positions(
    boxes: Sequence[LabelBox],
    obstacles: LabelObstacleGrid,
    options: LabelPlacementOptions = LABEL_PLACEMENT_OPTIONS,
) -> list[LabelPosition]:
    """A position for each label near its anchors, away from obstacles and from other labels.

    The same boxes and obstacles give the same positions. A label that is not beside its own
    anchor, or as near to another one, gets a leader.
    """
    candidates = [LabelCandidates(boxes, k, obstacles, options) for k in range(len(boxes))]
    return [
        LabelPosition(one.centers[k], one.leaders[k] if one.needs_leader[k] else None)
        for one, k in zip(candidates, _choose_label_candidates(candidates, options), strict=True)
    ]


def _choose_label_candidates(
    labels: Sequence[LabelCandidates], options: LabelPlacementOptions
) -> list[int]:
    """The candidate of each label: labels with the fewest good ones choose first, then each moves
    to its best candidate among the others, until none moves."""

    def difficulty(k: int) -> float:
        return float(np.sort(labels[k].own_costs)[:_COMPARED_CANDIDATES].mean())

    chosen: dict[int, int] = {}
    order = sorted(range(len(labels)), key=lambda k: -difficulty(k))
    for _ in range(options.max_sweeps):
        before = dict(chosen)
        for k in order:
            costs = labels[k].own_costs.copy()
            for j, choice in chosen.items():
                if j != k:
                    costs += labels[k].conflict_costs(labels[j], choice)
            chosen[k] = int(costs.argmin())
        if chosen == before:
            break
    return [chosen[k] for k in range(len(labels))]
