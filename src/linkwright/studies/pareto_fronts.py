"""Designs that no other one beats in all goals."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import ArgumentError
from ..types import Booleans, Floats, Integers


def find_pareto_front(
    values: Mapping[str, Floats], goals: Mapping[str, str], usable: Booleans
) -> Integers:
    """Return the indices of the designs of the front, in the order of the first goal."""
    if len(goals) < 2:
        raise ArgumentError(
            "a Pareto front needs at least 2 goals", remedy='give {"mass": "min", "speed": "max"}'
        )
    columns = []
    for name, goal in goals.items():
        if goal not in ("min", "max"):
            raise ArgumentError(f"the goal of '{name}' is '{goal}'", remedy="use min or max")
        columns.append(values[name] if goal == "min" else -values[name])
    costs = np.stack(columns, axis=1)
    candidates = np.flatnonzero(np.isfinite(costs).all(axis=1) & usable)
    costs = costs[candidates]
    order = np.lexsort(costs.T[::-1])
    candidates, costs = candidates[order], costs[order]
    front: list[int] = []
    kept = np.zeros((0, costs.shape[1]))
    for k, cost in enumerate(costs):  # sorted: nobody is beaten by a later one in the first goal
        beaten = ((kept <= cost).all(axis=1) & (kept < cost).any(axis=1)).any()
        if not beaten:
            front.append(k)
            kept = np.vstack([kept, cost])
    return candidates[front].astype(np.int64)
