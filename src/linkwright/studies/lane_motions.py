"""Driven motions of all designs of a group at once: `kinematics`, `inverse` and `linkage`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import xarray

from ..errors import UnsupportedError
from ..expressions import names_in_expression, parse_expression
from ..kinematics.constraint_system import constraint_system
from ..kinematics.pose_configurations import read_rough_coordinates
from ..linkages.input_sweeps import default_input
from ..linkages.lane_sweeps import sweep_lanes
from ..linkages.linkage_histories import LinkageHistories, linkage_histories
from ..linkages.planar_linkage import PlanarLinkage
from ..mechanism import mechanism_names
from ..simulation import Kinematics, Run, solve_kinematics
from ..simulation.coordinate_paths import CoordinatePath
from ..simulation.driven_mechanism import DrivenMechanism
from ..simulation.driving_forces import find_driving_forces
from ..simulation.ensemble_parameters import first_varied_name
from ..simulation.ensemble_starts import vary_rough_positions
from ..simulation.kinematic_lanes import LaneFollower, LaneMotions
from ..simulation.kinematic_solver import read_driven_path
from ..types import Floats, Integers
from .design_analyses import read_motion
from .design_groups import DesignGroup
from .lane_models import parameter_rows, shared_model
from .lane_values import MeasuredValue
from .measures import Measure
from .motion_sources import ENERGIES, EnsembleSource, coordinate_columns, place_names
from .study_recipe import StudyRecipe


class LaneMotion(NamedTuple):
    """A motion, one row for each time, with the forces that it takes, if these are known."""

    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    closure: Floats
    tau: Floats | None = None


def _names_of(recipe: StudyRecipe, analysis: str) -> set[str] | None:
    """Return the names of an analysis that measures need; None if a function needs all of it."""
    if any(analysis in one.takes for one in recipe.measures):
        return None
    found: list[Measure] = list(recipe.measures)
    return set().union(*(one.names_by_analysis().get(analysis, set()) for one in found))


# -- kinematics ------------------------------------------------------------------------------------


def can_follow_lanes(recipe: StudyRecipe) -> bool:
    """Whether one model gives all that measures need of motions without forces."""
    needed = _names_of(recipe, "kinematics")
    columns = coordinate_columns(recipe.mechanism)
    known = {"t", "q", "qd", "qdd", "closure", *place_names(recipe.mechanism)}
    known |= {name for name, (what, _) in columns.items() if what != "tau"}
    return needed is not None and needed <= known


def follow_group(group: DesignGroup) -> list[LaneMotion | None]:
    """Return motions without forces; None for designs left out."""
    return _motions_of(group, dict(group.recipe.settings.get("kinematics", {})))


def _motions_of(group: DesignGroup, given: dict[str, Any]) -> list[LaneMotion | None]:
    """Return the motion of each design: the same for all where nothing varied acts on it."""
    motion, mechanism = read_motion(given), group.recipe.mechanism
    texts = [parse_expression(x) for x in (motion or {}).values() if isinstance(x, str)]
    names = [name for one in texts for name in names_in_expression(one)]
    is_shared = first_varied_name(mechanism, names, list(group.parameters)) is None
    if mechanism_names(mechanism).constraints:
        return _follow_loops(group, motion, is_shared, **given)
    if not is_shared:
        return [None] * len(group)
    one = solve_kinematics(mechanism, motion, **given)
    return [LaneMotion(one.t, one.q, one.qd, one.qdd, one.closure)] * len(group)


def _follow_loops(
    group: DesignGroup,
    motion: dict[str, object] | None,
    is_shared: bool,
    *,
    t: float = 1.0,
    over: tuple[str, float, float] | None = None,
    rough: Any = None,
    samples: int = 501,
) -> list[LaneMotion | None]:
    """Return the motions of designs with loops; None for those near singular positions."""
    mechanism = group.recipe.mechanism
    own = [mechanism] if is_shared else [group.mechanism_of(k) for k in range(len(group))]
    paths = [read_driven_path(one, motion, t, over, samples) for one in own]
    path, times = paths[0]
    DrivenMechanism(mechanism, path)  # raises unless these coordinates drive the mechanism
    follower = LaneFollower(shared_model(group), path.names, parameter_rows(group))
    every = np.tile(times, (len(group), 1))
    found = follower.follow(
        _LanePaths([one for one, _ in paths]), _rough_positions(group, rough), every
    )
    return [_lane_motion(found, k) for k in range(len(group))]


class _LanePaths:
    """The paths of all lanes: one for all, or one for each."""

    def __init__(self, paths: Sequence[CoordinatePath]) -> None:
        self.paths = paths

    def __call__(self, lanes: Integers, t: Floats) -> tuple[Floats, Floats, Floats]:
        """Return values, rates and second rates of the driven coordinates."""
        if len(self.paths) == 1:
            return self.paths[0](t)
        rows = [self.paths[lane](time) for lane, time in zip(lanes, t, strict=True)]
        parts = [np.stack(part) for part in zip(*rows, strict=True)]
        return parts[0], parts[1], parts[2]


def _lane_motion(found: LaneMotions, lane: int) -> LaneMotion | None:
    if not found.is_followed[lane]:
        return None
    rows = (found.t, found.q, found.qd, found.qdd, found.closure)
    return LaneMotion(*(row[lane] for row in rows))


def _rough_positions(group: DesignGroup, rough: Any) -> Floats:
    """Return the coordinates from which assemblies start, one row for each design."""
    mechanism = group.recipe.mechanism
    q = np.tile(constraint_system(mechanism).starting_q, (len(group), 1))
    varied = list(group.parameters)
    q = vary_rough_positions(mechanism, q, varied, range(len(group)), group.mechanism_of)
    for name, value in read_rough_coordinates(mechanism, rough).items():
        q[:, mechanism_names(mechanism).q.index(name)] = value
    return q


# -- inverse motions -------------------------------------------------------------------------------


def can_invert_lanes(recipe: StudyRecipe) -> bool:
    """Whether one model gives all that measures need of inverse motions."""
    mechanism, names = recipe.mechanism, mechanism_names(recipe.mechanism)
    known = {"t", "q", "qd", "qdd", "tau", "closure", "power", *ENERGIES, *place_names(mechanism)}
    known |= set(coordinate_columns(mechanism))
    needed = _names_of(recipe, "inverse")  # functions take whole runs, with reactions and works
    is_driven = not names.actuators or bool(names.constraints)
    return needed is not None and is_driven and needed <= known


def invert_group(group: DesignGroup) -> list[LaneMotion | None]:
    """Return motions with their forces; None for designs left out."""
    motions = _motions_of(group, dict(group.recipe.settings.get("inverse", {})))
    for lane, one in enumerate(motions):
        if one is None:
            motions[lane] = _single_motion(group, lane)
    good = [k for k, one in enumerate(motions) if one is not None]
    chosen = [one for one in motions if one is not None]
    if not chosen:
        return motions
    model, rows = shared_model(group), parameter_rows(group)
    q, qd, qdd = (np.stack([getattr(one, x) for one in chosen]) for x in ("q", "qd", "qdd"))
    kept = [] if rows is None else [rows[good][:, None, :]]
    clock = model.names.time_arguments(chosen[0].t)
    tau = model.inverse_dynamics(q, qd, qdd, *clock, *kept)
    driven = tuple(read_motion(dict(group.recipe.settings.get("inverse", {}))) or ())
    tau = find_driving_forces(model, tau, q, driven, *clock, *kept)
    for place, lane in enumerate(good):
        motions[lane] = chosen[place]._replace(tau=tau[place])
    return motions


def _single_motion(group: DesignGroup, lane: int) -> LaneMotion | None:
    """Return the motion of one design; None if it cannot be reached up to its end."""
    given: dict[str, Any] = dict(group.recipe.settings.get("inverse", {}))
    try:
        one = solve_kinematics(group.mechanism_of(lane), read_motion(given), **given)
    except Exception:  # it is left out, and says by itself what is wrong
        return None
    return LaneMotion(one.t, one.q, one.qd, one.qdd, one.closure) if one.finished else None


class MotionSource(EnsembleSource):
    """Driven motions of all designs: accelerations are those of the motion."""

    @cached_property
    def qdd(self) -> Floats:
        """Accelerations."""
        return self.data["qdd"].to_numpy()

    def _find_vector(self, what: str) -> Floats | None:
        return self.data[what].to_numpy() if what in self.data else None

    def _find_model_value(self, name: str) -> MeasuredValue | None:
        if name == "closure":
            return MeasuredValue(self.data["closure"].to_numpy()[..., None], self.clock)
        return super()._find_model_value(name)


def motion_source(
    group: DesignGroup, analysis: str, motions: Sequence[LaneMotion | Kinematics | Run | None]
) -> MotionSource | None:
    """Return the values of driven motions by name; None if there is none. What a design has not
    reached is NaN."""
    example = next((one for one in motions if one is not None), None)
    if example is None:
        return None
    given: dict[str, Any] = dict(group.recipe.settings.get(analysis, {}))
    times = _times_of(group, **given)
    variables: dict[str, tuple[tuple[str, ...], Floats]] = {}
    for name in ("q", "qd", "qdd", "closure", "tau"):
        rows = getattr(example, name, None)
        if rows is None:
            continue
        whole = np.full((len(motions), len(times), *rows.shape[1:]), np.nan)
        for lane, one in enumerate(motions):
            if one is not None:
                whole[lane, : len(one.t)] = getattr(one, name)
        variables[name] = (("run", "time", name)[: whole.ndim], whole)
    data = xarray.Dataset(variables, {"time": times})
    return MotionSource(group.recipe.mechanism, data, group.parameters)


def _times_of(
    group: DesignGroup,
    *,
    motion: Any = None,
    t: float = 1.0,
    over: tuple[str, float, float] | None = None,
    rough: Any = None,
    samples: int = 501,
) -> Floats:
    """Return the times of all motions, which some may not reach."""
    path: dict[str, Any] | None = {} if over is None else None
    return read_driven_path(group.recipe.mechanism, path, t, over, samples)[1]


# -- linkages --------------------------------------------------------------------------------------


def can_sweep_lanes(recipe: StudyRecipe) -> bool:
    """Whether linkages are swept together: by an input that does not depend on their numbers."""
    given, mechanism = recipe.settings.get("linkage", {}), recipe.mechanism
    is_known = "input" in given or any(
        name in mechanism_names(mechanism).q for name in mechanism.independent
    )
    has_loops = bool(mechanism_names(mechanism).constraints)
    return _names_of(recipe, "linkage") is not None and is_known and has_loops


def sweep_group(group: DesignGroup) -> list[LinkageHistories | None]:
    """Return the ratios and angles of linkages over their input; None for designs left out."""
    given: dict[str, Any] = dict(group.recipe.settings.get("linkage", {}))
    return _sweep_linkages(group, **given)


def _sweep_linkages(
    group: DesignGroup,
    *,
    input: str | None = None,  # noqa: A002
    output: str | None = None,
    over: tuple[float, float] | None = None,
    rough: Any = None,
    samples: int = 361,
) -> list[LinkageHistories | None]:
    mechanism = group.recipe.mechanism
    chosen, names = default_input(mechanism), mechanism_names(mechanism)
    name = chosen if input is None else input
    if over is not None:
        read_driven_path(mechanism, None, 1.0, (name, *over), samples)
    if samples < 2 or name not in names.q:
        raise UnsupportedError("the analysis of one linkage says what is wrong")
    found = sweep_lanes(
        shared_model(group),
        name,
        over,
        _rough_positions(group, rough),
        parameter_rows(group),
        samples,
    )
    results: list[LinkageHistories | None] = []
    for lane in range(len(group)):
        motion = _lane_motion(found, lane)
        results.append(
            motion
            and linkage_histories(
                PlanarLinkage(group.mechanism_of(lane)), motion, names.q.index(name), output
            )
        )
    return results
