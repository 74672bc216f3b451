"""Ensembles: many runs of one mechanism at once, with other starts, parameters and forces.

The same compiled program makes all runs on several threads, with one run per lane. Each run has its
own steps, events and mode. Python goes on with a run that the program cannot continue, for example
near a singular configuration. Runs that cannot share a program are made one by one.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, UnsupportedError
from ..mechanism import Mechanism
from ..number_checks import check_whole_number
from ..types import ForceLike, VectorLike
from .argument_checks import MOST_SAMPLES
from .compiled_motion import METHODS
from .effort_limits import declares_effort_limits
from .ensemble_events import can_share_program, check_ensemble_events, needs_own_programs
from .ensemble_forces import can_find_forces, ensemble_forces
from .ensemble_inputs import EnsembleInputs, TorqueLike, do_inputs_differ
from .ensemble_parameters import read_parameters
from .ensemble_results import RESULT_NAMES, EnsembleResults, summary_of_run
from .ensemble_runs import Ensemble, EnsembleRecipe
from .ensemble_sensitivities import collect_derivatives, differentiate_runs
from .ensemble_starts import EnsembleRuns
from .feedback import Feedback
from .preparation import prepare_simulation
from .progress import RunProgress
from .run import Run
from .sensitivities import Sensitivities, simulate_with_derivatives
from .settings import Settings
from .simulator import GivenParameters, Simulator

if TYPE_CHECKING:
    import xarray


def is_ensemble(
    q0: object, qd0: object, parameters: Mapping[str, VectorLike] | None, torque: object
) -> bool:
    """Whether a call asks for an ensemble: some start, parameter or force has one value for each
    run."""
    for start in (q0, qd0, parameters):
        if isinstance(start, Mapping):
            if any(not isinstance(x, str) and np.ndim(x) for x in start.values()):
                return True
        elif start is not None and not isinstance(start, str) and np.ndim(start) > 1:  # type: ignore[arg-type]
            return True
    return do_inputs_differ(torque)


def simulate_runs(
    mechanism: Mechanism,
    settings: Settings,
    torque: TorqueLike | None,
    parameters: Mapping[str, VectorLike] | None,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    with_forces: bool = False,
) -> xarray.Dataset:
    """Return the runs of an ensemble, with the generalized forces `tau` of the inputs on request.

    Forces of sampled controllers, which are held, are known only of runs that are made one by one:
    otherwise the result then has no `tau`.
    """
    _check_settings(settings)
    check_ensemble_events(mechanism, settings.events)
    cores = _thread_count(threads)
    given = read_parameters(mechanism, parameters, RESULT_NAMES)
    inputs = EnsembleInputs(torque, mechanism, settings.t)
    runs = EnsembleRuns(mechanism, settings.q0, settings.qd0, given, inputs.count)
    if runs.count * settings.samples > MOST_SAMPLES:
        raise LinkwrightError(
            f"{runs.count} runs with {settings.samples} samples each are too many",
            remedy=f"give samples of at most {max(2, MOST_SAMPLES // runs.count)}",
        )
    results = EnsembleResults(mechanism, settings.times, runs.count)
    recipe = shared_recipe(mechanism, settings, inputs, runs)
    derivatives = None
    with np.errstate(all="ignore"), RunProgress(mechanism.name, settings.t, progress) as watch:
        if recipe is None:
            found = _make_runs_alone(settings, inputs, runs, results)
            derivatives = collect_derivatives(results, found)
            if with_forces:
                results.set_forces(np.full_like(results.qd, np.nan))
        else:
            asked = _checked_sensitivities(recipe)
            ensemble = Ensemble(recipe, results)
            has_forces = with_forces and can_find_forces(recipe)
            if has_forces:
                results.keep_controls(len(recipe.prepared.rhs.force_law.state_names))
            ensemble.run(cores, watch)
            if has_forces:
                results.set_forces(ensemble_forces(recipe, results))
            if asked is not None:
                derivatives = differentiate_runs(asked, ensemble, cores)
    columns = dict(zip(runs.parameter_names, runs.parameters.T, strict=True))
    attributes = {"integrator": settings.integrator, "by": settings.by, **settings.tolerances}
    if declares_effort_limits(mechanism):
        attributes["effort_limits"] = "imposed: inputs beyond declared limits are clipped"
    return results.dataset(columns, attributes, derivatives)


def _checked_sensitivities(recipe: EnsembleRecipe) -> Sensitivities | None:
    """Return what differentiates the runs, checked; None if nothing is asked for."""
    settings, mechanism = recipe.settings, recipe.runs.mechanism
    if settings.sensitivity is None:
        return None
    found = Sensitivities(mechanism, settings.sensitivity, recipe.inputs.shared, settings)
    found.check_inputs(recipe.prepared.rhs)
    return found


def simulator_with_parameters(
    mechanism: Mechanism,
    settings: Settings,
    torque: ForceLike | Feedback | None,
    parameters: Mapping[str, VectorLike],
    progress: bool | None,
) -> Simulator:
    """Return what makes one run with given parameters, by the program of an ensemble in which they
    differ, so that the run has the bits of a run of the ensemble."""
    runs = EnsembleRuns(mechanism, None, None, read_parameters(mechanism, parameters), None)
    own = runs.mechanism_of(0)
    is_compiled = isinstance(torque, Feedback) or not callable(torque)
    recipe, parts = None, None
    if is_compiled and settings.integrator in METHODS and settings.coordinates == "all":
        inputs = EnsembleInputs(torque, mechanism, settings.t)
        recipe = shared_recipe(mechanism, settings, inputs, runs)
        parts = None if recipe is None else recipe.parts
    lacks_parts = parts is not None and bool(parts.code.rows.lacks_parts(runs.parameters)[0])
    if recipe is None or lacks_parts:
        return Simulator(own, settings, torque, progress)
    shared = GivenParameters(mechanism, recipe.prepared, runs.parameters[0])
    return Simulator(own, settings, torque, progress, shared)


def shared_recipe(
    mechanism: Mechanism, settings: Settings, inputs: EnsembleInputs, runs: EnsembleRuns
) -> EnsembleRecipe | None:
    """Return what all runs share; None if each run needs equations and a program of its own."""
    names = runs.parameter_names
    if needs_own_programs(mechanism, settings, inputs, names):
        return None
    try:
        prepared = prepare_simulation(
            mechanism, settings.by, inputs.shared, settings.stabilization, tuple(names)
        )
    except NameNotFoundError:  # a parameter of contacts alone is not in the equations
        return None
    recipe = EnsembleRecipe(settings, runs, inputs, prepared)
    return recipe if can_share_program(prepared, recipe.parts, settings) else None


def _make_runs_alone(
    settings: Settings, inputs: EnsembleInputs, runs: EnsembleRuns, results: EnsembleResults
) -> dict[int, Run]:
    """Make all runs one by one, and return those with sensitivities; Ctrl-C keeps what was
    computed."""
    made: dict[int, Run] = {}
    for run in range(runs.count):
        q0, qd0 = runs.start_of(run)
        own = replace(settings, q0=q0, qd0=qd0)
        try:
            torque = inputs.torque_of(run)
            simulator = Simulator(runs.mechanism_of(run), own, torque, progress=False)
            found = simulate_with_derivatives(simulator)
        except LinkwrightError as error:
            results.status[run] = f"cannot start: {error}"
            continue
        except KeyboardInterrupt:
            found = None
        if found is not None:
            results.set_run(run, summary_of_run(found))
            if found.sensitivity is not None:
                made[run] = found
        if found is None or found.interrupted:
            for rest in range(run + (found is not None), runs.count):
                results.status[rest] = "interrupted at t = 0 s"
            break
    return made


def _check_settings(settings: Settings) -> None:
    """Raise an error for settings that ensembles do not support."""
    if settings.integrator not in METHODS:
        raise UnsupportedError(
            f"ensembles cannot use '{settings.integrator}'",
            remedy=f"use one of {', '.join(METHODS)}; rollout has fixed steps",
        )
    if settings.coordinates != "all":
        raise UnsupportedError(
            "ensembles do not support minimal coordinates", remedy='use coordinates="all"'
        )


def _thread_count(threads: int | None) -> int:
    if threads is not None:
        return check_whole_number(threads, "threads", 1)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
