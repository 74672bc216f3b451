"""Analyses of all designs of a group at once, by one model whose varied parameters are inputs.

A design that cannot be analysed so is left out, and analysed by itself. Whether it is does not
depend on the other designs of the group, so that these do not change its results by a bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import xarray

from ..expressions import names_in_expression, parse_expression
from ..linearization import Linear
from ..linearization.linear_lanes import linearize_lanes
from ..mechanism import mechanism_names
from ..model.model import Model
from ..model.model import compile as compile_model
from ..simulation import Kinematics, Run, solve_kinematics
from ..simulation.ensemble_parameters import find_rejected_parameters, first_varied_name
from ..simulation.ensemble_starts import EnsembleRuns, EnsembleStart
from ..types import Floats
from .design_analyses import constant_torque, read_motion
from .design_groups import DesignGroup
from .motion_sources import ENERGIES, EnsembleSource, coordinate_columns, place_names
from .study_recipe import StudyRecipe

LaneResult = TypeVar("LaneResult")


def solve_accepted_lanes(
    group: DesignGroup, solve: Callable[[DesignGroup], list[LaneResult | None]]
) -> list[LaneResult | None]:
    """Return the results of a group; None for designs left out.

    Designs whose parameters the mechanism rejects are left out before the others are solved; if
    these cannot be solved together, each is tried alone.
    """
    rows = _parameter_rows(group)
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


def _shared_model(group: DesignGroup) -> Model:
    return compile_model(group.recipe.mechanism, threads=1, parameters=list(group.parameters))


def _parameter_rows(group: DesignGroup) -> Floats | None:
    columns = list(group.parameters.values())
    return np.stack(columns, axis=-1) if columns else None


def start_lanes(group: DesignGroup, q: Any, qd: Any) -> EnsembleStart:
    """Return the states of a group that are nearest to q and q̇, with loops closed."""
    runs = EnsembleRuns(group.recipe.mechanism, q, qd, group.parameters, len(group))
    return EnsembleStart(runs, _shared_model(group))


# -- linear models ---------------------------------------------------------------------------------


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
    model, rows = _shared_model(group), _parameter_rows(group)
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


# -- inverse motions -------------------------------------------------------------------------------


class ForcedMotion(NamedTuple):
    """A motion with the forces that it takes: one row for each time."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats


def can_invert_lanes(recipe: StudyRecipe) -> bool:
    """Whether one model gives all that measures need of inverse motions."""
    mechanism, names = recipe.mechanism, mechanism_names(recipe.mechanism)
    if any("inverse" in one.takes for one in recipe.measures):
        return False  # functions take whole runs, with reactions and works
    known = {"t", "q", "qd", "qdd", "tau", "power", *ENERGIES, *place_names(mechanism)}
    known |= set(coordinate_columns(mechanism))
    needed = [one.names_by_analysis().get("inverse", set()) for one in recipe.measures]
    is_driven = not names.actuators or bool(names.constraints)
    return is_driven and set().union(*needed) <= known


def invert_group(group: DesignGroup) -> list[ForcedMotion | None]:
    """Return motions with their forces; None for designs left out."""
    motions = _motions_of(group)
    found: list[ForcedMotion | None] = [None] * len(group)
    good = [k for k, one in enumerate(motions) if one is not None and one.finished]
    if not good:
        return found
    model, rows = _shared_model(group), _parameter_rows(group)
    chosen = [one for one in motions if one is not None and one.finished]
    q, qd, qdd = (np.stack([getattr(one, x) for one in chosen]) for x in ("q", "qd", "qdd"))
    times = chosen[0].t
    kept = [] if rows is None else [rows[good][:, None, :]]
    tau = model.inverse_dynamics(q, qd, qdd, *model.names.time_arguments(times), *kept)
    for place, lane in enumerate(good):
        found[lane] = ForcedMotion(times, q[place], qd[place], qdd[place], tau[place])
    return found


def _motions_of(group: DesignGroup) -> Sequence[Kinematics | None]:
    """Return the motion of each design: the same for all where nothing varied acts on it."""
    given: dict[str, Any] = dict(group.recipe.settings.get("inverse", {}))
    motion, mechanism = read_motion(given), group.recipe.mechanism
    texts = [parse_expression(x) for x in (motion or {}).values() if isinstance(x, str)]
    names = [name for one in texts for name in names_in_expression(one)]
    is_free = not mechanism_names(mechanism).constraints
    if is_free and first_varied_name(mechanism, names, list(group.parameters)) is None:
        return [solve_kinematics(mechanism, motion, **given)] * len(group)
    found: list[Kinematics | None] = []
    for lane in range(len(group)):
        try:
            found.append(solve_kinematics(group.mechanism_of(lane), motion, **given))
        except Exception:  # it is left out, and says by itself what is wrong
            found.append(None)
    return found


class InverseSource(EnsembleSource):
    """Inverse motions of all designs: accelerations are those of the motion."""

    @cached_property
    def qdd(self) -> Floats:
        """Accelerations."""
        return self.data["qdd"].to_numpy()


def inverse_source(
    group: DesignGroup, motions: Sequence[ForcedMotion | Run | None]
) -> InverseSource | None:
    """Return the values of inverse motions by name; None if there is none. What a design has not
    reached is NaN."""
    counts = [0 if one is None else len(one.t) for one in motions]
    longest = motions[int(np.argmax(counts))]
    if longest is None:
        return None
    variables: dict[str, tuple[tuple[str, str, str], Floats]] = {}
    for name in ("q", "qd", "qdd", "tau"):
        whole = np.full((len(motions), *getattr(longest, name).shape), np.nan)
        for lane, one in enumerate(motions):
            if one is not None:
                whole[lane, : counts[lane]] = getattr(one, name)
        variables[name] = (("run", "time", name), whole)
    data = xarray.Dataset(variables, {"time": longest.t})
    return InverseSource(group.recipe.mechanism, data, group.parameters)


LANE_ANALYSES: dict[
    str, tuple[Callable[[StudyRecipe], bool], Callable[[DesignGroup], list[Any]]]
] = {
    "linearize": (can_linearize_lanes, linearize_group),
    "inverse": (can_invert_lanes, invert_group),
}
"""By analysis, whether it can be made for all designs of a group at once, and how."""
