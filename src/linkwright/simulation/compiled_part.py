"""The part of a run that compiled code makes: all of it, or up to where Python must go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .compiled_motion import CompiledMotion, CompiledTrajectory
from .compiled_run import CannotContinueError, CompiledRun
from .ensemble_inputs import InputsOfRun
from .events.hybrid import Hybrid
from .events.signals import hand_passages_to_code
from .faults import check_input_forces
from .run_context import RunContext
from .trajectory_loop import TrajectoryLoop
from .trajectory_records import TrajectoryRecords


def integrate_compiled(
    motion: CompiledMotion,
    context: RunContext,
    events: Hybrid | None,
    times: Floats,
    y: Floats,
    options: Mapping[str, float],
    *,
    parameters: Floats | None = None,
    inputs: InputsOfRun | None = None,
    report: Callable[[float], None],
) -> CompiledTrajectory:
    """Return the states at the times, up to where the loop in Python must go on.

    A sampled controller must have acted at the first time, and the events must have begun.
    `parameters` (1, count) are values of the parameters that the program keeps; `inputs` are those
    of a run in an ensemble in which they differ.
    """
    records = TrajectoryRecords(motion, times, y[None], options, parameters, inputs)
    loop = TrajectoryLoop(records, lambda row: begin_compiled_run(records, row, context, events))
    run = loop.run_of(0)
    if events is not None:
        hand_passages_to_code(events, run.passages)
    if run.status is None:
        loop.run(np.zeros(1, np.int64), report=report)
    return finish_compiled_part(context, events, run)


def finish_compiled_part(
    context: RunContext, events: Hybrid | None, run: CompiledRun
) -> CompiledTrajectory:
    """Return what the program has made of a run, with its states on the constraints."""
    return _stop_at_fault(context, events, _project_rest(context, run, run.trajectory()))


def begin_compiled_run(
    records: TrajectoryRecords, row: int, context: RunContext, events: Hybrid | None
) -> CompiledRun:
    """Return the run of a trajectory at its first time; its status is "" if the program cannot
    begin."""
    inputs = context.inputs if context.force_law.is_sampled else None
    run = CompiledRun(records, row, context.rhs, events, inputs)
    if inputs is not None:
        run.begin_segment(float(records.times[0]))
    try:
        run.watch_events(0)
    except CannotContinueError as error:
        run.hand_over(error)
    return run


def _project_rest(
    context: RunContext, run: CompiledRun, found: CompiledTrajectory
) -> CompiledTrajectory:
    """Return a trajectory with the samples that only singular values can put onto constraints."""
    is_sound = np.isfinite(found.states).all(axis=0)
    if is_sound.all():
        return found
    states, computed = found.states.copy(), run.records.samples[run.row]
    for k in np.flatnonzero(~is_sound):
        if np.isfinite(computed[k]).all():
            states[:, k] = context.project(found.times[k], computed[k])
    return replace(found, states=states)


def _stop_at_fault(
    context: RunContext, events: Hybrid | None, found: CompiledTrajectory
) -> CompiledTrajectory:
    """Return a trajectory that ends before the first sample at which an input is not finite."""
    forces = context.inputs.histories(found.times, found.states)
    is_finite = np.isfinite(forces).all(axis=1)
    if is_finite.all() or context.force_law.is_sampled:
        return found
    k = max(1, int(np.argmin(is_finite)))
    end = float(found.times[k - 1])
    try:
        check_input_forces(context, found.times[k], found.states[:, k])
    except LinkwrightError as error:
        if events is not None:
            events.happened[:] = [event for event in events.happened if event.t <= end]
        return replace(
            found,
            times=found.times[:k],
            states=found.states[:, :k],
            modes=None if found.modes is None else found.modes[:k],
            status=f"stopped at t = {end:g} s: {error}",
            broken=None,
            handover=None,
        )
    return found


def contact_forces(
    events: Hybrid | None, found: CompiledTrajectory
) -> tuple[Floats | None, Floats | None]:
    """Return generalized forces of stops, contacts and friction at the samples of a compiled part
    if there are events, and reactions of joints and loops if there are contacts."""
    if events is None:
        return None, None
    functions, count = events.mode_functions, len(found.times)
    if functions is None or (found.modes is None and not events.rows.contacts):
        return np.zeros((count, events.context.names.nv)), None
    modes = np.zeros((count, functions.layout.size)) if found.modes is None else found.modes
    forces = events.context.inputs.histories(found.times, found.states)
    motion = events.context.space.motion(found.states)
    return functions.reactions(*motion, forces, found.times, modes)
