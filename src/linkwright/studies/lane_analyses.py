"""Analyses of all designs of a group at once, by one model whose varied parameters are inputs.

A design that cannot be analysed so is left out, and analysed by itself. Whether it is does not
depend on the other designs of the group, so that these do not change its results by a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..linearization import Linear
from ..linearization.linear_lanes import linearize_lanes
from ..mechanism import mechanism_names
from ..model.model import Model
from ..types import Floats
from .design_analyses import constant_torque
from .design_groups import DesignGroup
from .lane_models import parameter_rows, shared_model, start_lanes
from .lane_motions import (
    can_follow_lanes,
    can_invert_lanes,
    can_sweep_lanes,
    follow_group,
    invert_group,
    sweep_group,
)
from .study_recipe import StudyRecipe


def can_linearize_lanes(recipe: StudyRecipe) -> bool:
    """Whether one model gives A of all designs: about states at t = 0, for expressions alone."""
    if any("linearize" in one.takes for one in recipe.measures):
        return False  # functions take whole models, with inputs and outputs
    given, names = recipe.settings.get("linearize", {}), mechanism_names(recipe.mechanism)
    is_driven = "torque" in given or "torque" in recipe.settings.get("run", {})
    is_driven |= any(one.table == "torque" for one in recipe.factors)
    is_holonomic = len(names.position_rows) == len(names.constraints)
    by_velocity = not (names.actuators and is_driven)
    return is_holonomic and by_velocity and set(given) <= {"q", "qd", "torque"}


def linearize_group(group: DesignGroup) -> list[Linear | None]:
    """Return the linear models of a group without inputs and outputs; None for designs left out."""
    given = group.recipe.settings.get("linearize", {})
    q: Any = given.get("q", group.start("q0"))
    qd: Any = given.get("qd", group.start("qd0"))
    model, rows = shared_model(group), parameter_rows(group)
    start, tau = start_lanes(group, q, qd), _constant_forces(group, model)
    good = [k for k in range(len(group)) if k not in start.failures]
    found: list[Linear | None] = [None] * len(group)
    made = linearize_lanes(
        model, start.q[good], start.qd[good], tau[good], None if rows is None else rows[good]
    )
    for lane, one in zip(good, made, strict=True):
        found[lane] = one if np.isfinite(one.A).all() else None
    return found


def _constant_forces(group: DesignGroup, model: Model) -> Floats:
    """Return constant τ, one row for each design."""
    given = group.recipe.settings.get("linearize", {}).get("torque", constant_torque(group, None))
    tau = np.zeros((len(group), model.nv))
    if given is None:
        return tau
    if not isinstance(given, Mapping):
        return np.broadcast_to(np.asarray(given, dtype=float), tau.shape).copy()
    for name, values in given.items():
        tau[:, model.names.qd.index(name)] = values
    return tau


LANE_ANALYSES: dict[
    str, tuple[Callable[[StudyRecipe], bool], Callable[[DesignGroup], list[Any]]]
] = {
    "linearize": (can_linearize_lanes, linearize_group),
    "kinematics": (can_follow_lanes, follow_group),
    "inverse": (can_invert_lanes, invert_group),
    "linkage": (can_sweep_lanes, sweep_group),
}
"""By analysis, whether it can be made for all designs of a group at once, and how."""
