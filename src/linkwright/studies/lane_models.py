"""One compiled model for all designs of a group: its varied parameters are inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np

from ..model.model import Model
from ..model.model import compile as compile_model
from ..simulation.ensemble_parameters import find_rejected_parameters
from ..simulation.ensemble_starts import EnsembleRuns, EnsembleStart
from ..types import Floats
from .design_groups import DesignGroup

LaneResult = TypeVar("LaneResult")


def shared_model(group: DesignGroup) -> Model:
    """Return the model of all designs of a group."""
    return compile_model(group.recipe.mechanism, threads=1, parameters=list(group.parameters))


def parameter_rows(group: DesignGroup) -> Floats | None:
    """Return the values of the model's parameters (designs, count); None if nothing varies."""
    columns = list(group.parameters.values())
    return np.stack(columns, axis=-1) if columns else None


def start_lanes(group: DesignGroup, q: Any, qd: Any) -> EnsembleStart:
    """Return the states of a group that are nearest to q and q̇, with loops closed."""
    runs = EnsembleRuns(group.recipe.mechanism, q, qd, group.parameters, len(group))
    return EnsembleStart(runs, shared_model(group))


def solve_accepted_lanes(
    group: DesignGroup, solve: Callable[[DesignGroup], list[LaneResult | None]]
) -> list[LaneResult | None]:
    """Return the results of a group; None for designs left out.

    Designs whose parameters the mechanism rejects are left out before the others are solved; if
    these cannot be solved together, each is tried alone.
    """
    rows = parameter_rows(group)
    rejected: Mapping[int, object] = {}
    if rows is not None:
        rejected = find_rejected_parameters(group.recipe.mechanism, list(group.parameters), rows)
    good = [k for k in range(len(group)) if k not in rejected]
    found: list[LaneResult | None] = [None] * len(group)
    if not good:
        return found
    try:
        made = solve(group.take(good))
    except Exception:  # one design may be the reason
        made = [_solve_alone(group.take([lane]), solve) for lane in good]
    for lane, one in zip(good, made, strict=True):
        found[lane] = one
    return found


def _solve_alone(
    one: DesignGroup, solve: Callable[[DesignGroup], list[LaneResult | None]]
) -> LaneResult | None:
    try:
        return solve(one)[0]
    except Exception:  # the analysis of this design says what is wrong
        return None
