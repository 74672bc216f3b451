"""The measures of some designs: analyses are made once for each group, values for all its lanes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import fold_expression
from ..simulation.compiled_motion import METHODS as COMPILED_INTEGRATORS
from ..simulation.ensembles import simulate_runs
from ..simulation.settings import Settings
from ..types import Floats
from .design_analyses import DESIGN_ANALYSES
from .design_groups import DesignGroup, split_groups
from .design_seeds import design_seeds
from .lane_analyses import LANE_ANALYSES
from .lane_models import solve_accepted_lanes
from .lane_motions import motion_source
from .lane_values import LaneAlgebra, LaneArray, MeasuredValue
from .measures import Measure, MeasureFunction, split_measure_name
from .motion_sources import EnsembleSource, SingleMotions, ensemble_names, motion_names
from .result_sources import RESULT_VALUES, ResultSource
from .study_recipe import StudyRecipe

NOT_MADE, FINISHED, STOPPED, FAILED = range(4)
STATUS_NAMES = ("not made", "finished", "stopped", "failed")
"""Names of the statuses of a design, by number."""

MAX_LANE_SAMPLES, MIN_LANES = 1 << 18, 256
"""Samples of all lanes that a thread has at hand, and the fewest lanes whatever their samples.

The histories of more lanes are new pages for every block. The kernel clears them, and workers of
one machine wait for each other at its memory.
"""


class LaneSource(Protocol):
    """Something with values of names for all lanes of a group."""

    def find(self, name: str) -> MeasuredValue | None:
        """Return the value of a name; None if there is none."""


@dataclass(eq=False)
class EvaluatedDesigns:
    """What is known of some designs: factors, measures, statuses and messages."""

    start: int
    columns: dict[str, Floats]
    measures: dict[str, LaneArray]
    status: np.ndarray[tuple[int], np.dtype[np.uint8]]
    seeds: np.ndarray[tuple[int], np.dtype[np.uint64]]
    messages: dict[int, str] = field(default_factory=dict)
    """By position in the block, why a design failed or stopped."""

    def __len__(self) -> int:
        """Return the number of designs."""
        return len(self.status)

    def note(self, place: int, status: int, message: str) -> None:
        """Set the status of a design; what is known as failed stays so."""
        if status >= self.status[place]:
            self.status[place] = status
            self.messages.setdefault(place, " ".join(message.split()))
        if status == FAILED:
            self.messages[place] = " ".join(message.split())


def evaluate_designs(
    recipe: StudyRecipe,
    functions: Mapping[str, MeasureFunction],
    start: int,
    stop: int,
    *,
    threads: int | None = 1,
) -> EvaluatedDesigns:
    """Return the measures of the designs from `start` up to `stop`.

    A design that cannot be evaluated is a failure with a message; it does not affect the others.
    """
    columns, count = recipe.columns(start, stop), stop - start
    found = EvaluatedDesigns(
        start,
        columns,
        {
            one.name: np.full((count, *recipe.sizes.get(one.name, ())), np.nan)
            for one in recipe.measures
        },
        np.full(count, FINISHED, np.uint8),
        design_seeds(recipe.sampling.seed, start, stop),
    )
    with np.errstate(all="ignore"):
        for whole in split_groups(recipe, columns):
            for group in whole.slices(_lanes_at_once(whole, threads)):
                _GroupEvaluation(group, found, functions, threads).run()
    for values in found.measures.values():
        values[found.status == FAILED] = np.nan
    _note_missing_numbers(found)
    return found


def failed_block(recipe: StudyRecipe, block: int, why: str) -> EvaluatedDesigns:
    """Return a block whose designs all failed for one reason."""
    start, stop = recipe.block_range(block)
    count = stop - start
    measures = {
        one.name: np.full((count, *recipe.sizes.get(one.name, ())), np.nan)
        for one in recipe.measures
    }
    status = np.full(count, FAILED, np.uint8)
    seeds = design_seeds(recipe.sampling.seed, start, stop)
    columns = recipe.columns(start, stop)
    return EvaluatedDesigns(
        start, columns, measures, status, seeds, dict.fromkeys(range(count), why)
    )


def _note_missing_numbers(found: EvaluatedDesigns) -> None:
    """Record a measure without a value as a failure of its design, whose other measures stay."""
    finished = found.status == FINISHED
    for name, values in found.measures.items():
        for place in np.flatnonzero(finished & np.isnan(values)) if values.ndim == 1 else ():
            found.note(int(place), FAILED, f"measure '{name}' is not a number")


def _lanes_at_once(group: DesignGroup, threads: int | None) -> int:
    """Return how many lanes are evaluated together; it changes no bit of their results."""
    given = group.run_settings.get("samples")
    samples = given if isinstance(given, int) and given > 0 else Settings().samples
    return max(MIN_LANES, MAX_LANE_SAMPLES // samples) * (threads or os.cpu_count() or 1)


def measure_values(
    recipe: StudyRecipe, functions: Mapping[str, MeasureFunction], start: int, stop: int
) -> tuple[dict[str, MeasuredValue], EvaluatedDesigns]:
    """Return the values of all measures with their shapes, to learn these from a few designs."""
    columns, count = recipe.columns(start, stop), stop - start
    seeds = design_seeds(recipe.sampling.seed, start, stop)
    found = EvaluatedDesigns(start, columns, {}, np.full(count, FINISHED, np.uint8), seeds)
    with np.errstate(all="ignore"):
        group = next(split_groups(recipe, columns))
        evaluation = _GroupEvaluation(group, found, functions, 1)
        values = {one.name: evaluation.value_of(one) for one in recipe.measures}
    return values, found


@dataclass(eq=False)
class _GroupEvaluation:
    """The analyses of a group, made when a measure first needs them."""

    group: DesignGroup
    found: EvaluatedDesigns
    functions: Mapping[str, MeasureFunction]
    threads: int | None
    objects: dict[str, list[Any]] = field(default_factory=dict)
    """By analysis its results, one for each lane; None where it failed."""
    sources: dict[str, LaneSource] = field(default_factory=dict)

    @property
    def recipe(self) -> StudyRecipe:
        """The recipe of the study."""
        return self.group.recipe

    def run(self) -> None:
        """Set the measures of the group's designs."""
        for measure in self.recipe.measures:
            try:
                array = self.value_of(measure).array
            except LinkwrightError as error:
                for place in self.group.lanes:
                    self.found.note(int(place), FAILED, str(error))
                continue
            target = self.found.measures[measure.name]
            size = target.shape[1:]
            shaped = np.full((len(self.group), *size), np.nan)
            wide = array.shape[0] == 1 and len(self.group) > 1
            rows = np.broadcast_to(array, (len(self.group), *array.shape[1:])) if wide else array
            if size:
                flat = rows.reshape(len(rows), -1)
                width = min(size[0], flat.shape[1])
                shaped[:, :width] = flat[:, :width]
            else:
                shaped[:] = rows.reshape(len(rows), -1)[:, 0]
            target[self.group.lanes] = shaped

    def value_of(self, measure: Measure) -> MeasuredValue:
        """Return the value of a measure for all lanes."""
        if not measure.text:
            return self._function_value(measure)
        try:
            return fold_expression(measure.expression, LaneAlgebra(), self._lookup)
        except LinkwrightError as error:
            raise error.within(f"measure '{measure.name}'") from None

    def _lookup(self, name: str) -> MeasuredValue:
        analysis, rest = split_measure_name(name)
        if analysis == "run" and name in {one.name for one in self.recipe.factors}:
            return self._factor_value(name)
        source = self.source(analysis)
        value = source.find(rest)
        if isinstance(source, ResultSource):
            for lane, why in source.failures.items():
                self.found.note(int(self.group.lanes[lane]), FAILED, why)
        if value is not None:
            return value
        if analysis == "run" and isinstance(self.source("run"), EnsembleSource):
            self.sources["run"] = SingleMotions(self.results("run"))
            value = self.sources["run"].find(rest)
        if value is None and not self._has_results(analysis):
            return MeasuredValue(np.full((len(self.group), 1, 1), np.nan))
        if value is None:
            known = _known_names(self.recipe, analysis)
            raise NameNotFoundError(f"unknown name '{name}'", remedy=suggest_remedy(name, known))
        return value

    def _has_results(self, analysis: str) -> bool:
        """Whether an analysis succeeded for some lane."""
        return any(one is not None for one in self.objects.get(analysis, [None]))

    def _factor_value(self, name: str) -> MeasuredValue:
        """Return the numbers of a factor."""
        factor = next(one for one in self.recipe.factors if one.name == name)
        if factor.has_text:
            raise LinkwrightError(f"the factor '{name}' is a text, not a number")
        return MeasuredValue(self.group.numbers[factor.table, factor.key][:, None, None])

    def source(self, analysis: str) -> LaneSource:
        """Return the values of an analysis by name."""
        if analysis not in self.sources:
            if analysis == "run" and self.can_use_ensemble:
                ensemble = self._ensemble()
                if ensemble is not None:
                    self.sources["run"] = ensemble
                    return ensemble
            self.sources[analysis] = self._source_of_results(analysis)
        return self.sources[analysis]

    def _source_of_results(self, analysis: str) -> LaneSource:
        results = self.results(analysis)
        if analysis in RESULT_VALUES:
            return ResultSource(analysis, results)
        can_share, _ = LANE_ANALYSES.get(analysis, (None, None))
        if can_share is not None and can_share(self.recipe):
            found = motion_source(self.group, analysis, results)
            if found is not None:
                return found
        return SingleMotions(results)

    @cached_property
    def can_use_ensemble(self) -> bool:
        """Whether one ensemble gives all that measures need of runs."""
        settings = self.group.run_settings
        needed: set[str] = set()
        for one in self.recipe.measures:
            names = one.names_by_analysis()
            if not one.text and "run" in names:
                return False
            needed |= names.get("run", set())
        by = str(settings.get("by", "recursive"))
        names_known = ensemble_names(self.recipe.mechanism, by)
        factors = {one.name for one in self.recipe.factors}
        integrator = settings.get("integrator", "dop853")
        return (
            self.group.differs_in_lanes
            and integrator in COMPILED_INTEGRATORS
            and settings.get("coordinates", "all") == "all"
            and needed - factors <= names_known
        )

    def _ensemble(self) -> EnsembleSource | None:
        """Return the runs of an ensemble; None if single runs must say what is wrong."""
        group, given = self.group, self.group.run_settings
        given.pop("torque", None)
        starts = {what: group.start(what) for what in ("q0", "qd0")}
        try:
            settings = Settings(**{**given, **starts})  # type: ignore[arg-type]
            data = simulate_runs(
                self.recipe.mechanism,
                settings,
                group.torque(),  # type: ignore[arg-type]
                group.parameters,
                threads=self.threads,
                progress=False,
                with_forces=True,
            )
        except Exception:  # one design may be the reason
            return None
        for lane, status in enumerate(data["status"].to_numpy()):
            self._note_run(lane, str(status))
        if "tau" not in data and self._needs_forces():
            return None
        return EnsembleSource(self.recipe.mechanism, data, group.parameters)

    def _needs_forces(self) -> bool:
        """Whether a measure names forces or accelerations."""
        names = set().union(
            *(one.names_by_analysis().get("run", set()) for one in self.recipe.measures)
        )
        return any(name.startswith(("tau", "dd", "qdd", "power")) for name in names)

    def _note_run(self, lane: int, status: str) -> None:
        """Note a run that did not finish; raise if Ctrl-C ended it."""
        if status.startswith("interrupted"):
            raise KeyboardInterrupt
        if status != "finished":
            kind = FAILED if status.startswith("cannot start") else STOPPED
            self.found.note(int(self.group.lanes[lane]), kind, status)

    def results(self, analysis: str) -> list[Any]:
        """Return the results of an analysis; None and a failure where there is none.

        Designs are analysed together where that is possible, otherwise one by one.
        """
        if analysis not in self.objects:
            made: list[Any] = [None] * len(self.group)
            can_share, solve = LANE_ANALYSES.get(analysis, (None, None))
            if can_share is not None and solve is not None and can_share(self.recipe):
                made = solve_accepted_lanes(self.group, solve)
            self.objects[analysis] = made
            for lane, one in enumerate(made):
                if one is None:
                    made[lane] = self._make_alone(analysis, lane)
        return self.objects[analysis]

    def _make_alone(self, analysis: str, lane: int) -> Any:
        """Return the result of one design; None, and a failure, if there is none."""
        place = int(self.group.lanes[lane])
        one: Any
        try:
            one = DESIGN_ANALYSES[analysis](self.group, lane, int(self.found.seeds[place]))
        except Exception as error:  # whatever is wrong with a design is its failure
            kind = "" if isinstance(error, LinkwrightError) else f"{type(error).__name__}: "
            self.found.note(place, FAILED, f"{analysis}: {kind}{error}")
            return None
        if analysis == "run":
            self._note_run(lane, one.status)
        elif analysis in ("kinematics", "inverse") and not one.finished:
            self.found.note(place, STOPPED, f"{analysis}: {one.status}")
        return one

    def _function_value(self, measure: Measure) -> MeasuredValue:
        """Return what a Python function returns for each lane."""
        function, rows = self.functions[measure.name], list[Any]()
        for lane in range(len(self.group)):
            place = int(self.group.lanes[lane])
            rows.append(None)
            if self.found.status[place] == FAILED:
                continue
            try:
                arguments = [self._argument(name, lane) for name in measure.takes]
                if any(one is None for one in arguments):
                    continue
                row = np.asarray(function(*arguments), dtype=float).ravel()
                self._check_size(measure, row.size)
                rows[-1] = row
            except Exception as error:
                kind = "" if isinstance(error, LinkwrightError) else f"{type(error).__name__}: "
                self.found.note(place, FAILED, f"measure '{measure.name}': {kind}{error}")
        width = max((row.size for row in rows if row is not None), default=1)
        found = np.full((len(rows), 1, width), np.nan)
        for k, row in enumerate(rows):
            if row is not None:
                found[k, 0, : row.size] = row
        return MeasuredValue(found)

    def _check_size(self, measure: Measure, size: int) -> None:
        """Raise if a function returns another number of values than for other designs."""
        wanted = self.recipe.sizes.get(measure.name)
        if size == 0 or (wanted is not None and size != np.prod(wanted)):
            known = "" if wanted is None else f", and {int(np.prod(wanted))} of other designs"
            raise LinkwrightError(f"it returns {size} numbers{known}")

    def _argument(self, name: str, lane: int) -> object:
        if name == "mechanism":
            return self.group.mechanism_of(lane)
        if name == "factors":
            return self.group.factors_of(lane)
        if name == "seed":
            return int(self.found.seeds[self.group.lanes[lane]])
        return self.results(name)[lane]


def _known_names(recipe: StudyRecipe, analysis: str) -> list[str]:
    """Return the names of an analysis, as measures write them."""
    prefix = "" if analysis == "run" else f"{analysis}."
    names = RESULT_VALUES.get(analysis) or motion_names(recipe.mechanism)
    own = [one.name for one in recipe.factors] if analysis == "run" else []
    return [f"{prefix}{name}" for name in names] + own
