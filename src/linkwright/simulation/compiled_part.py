"""The part of a run that compiled code makes: all of it, or up to where Python must go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .compiled_motion import CompiledMotion, CompiledTrajectory
from .compiled_run import CannotContinueError, CompiledRun, TrajectoryRecords
from .events.hybrid import Hybrid
from .events.signals import hand_passages_to_code
from .faults import check_input_forces
from .run_context import RunContext


def integrate_compiled(
    motion: CompiledMotion,
    context: RunContext,
    events: Hybrid | None,
    times: Floats,
    y: Floats,
    options: Mapping[str, float],
    *,
    report: Callable[[float], None],
) -> CompiledTrajectory:
    """Return the states at the times, up to where the loop in Python must go on.

    A sampled controller must have acted at the first time, and the events must have begun.
    """
    inputs = context.inputs if context.drive.is_sampled else None
    held = None if inputs is None else inputs.held
    records = TrajectoryRecords(motion, times, y[None], options, held=held)
    run = CompiledRun(records, 0, context.rhs, events, inputs)
    before, only = run.buffers, np.zeros(1, np.int64)
    if events is not None:
        hand_passages_to_code(events, run.passages)
    try:
        run.watch_events(0)
        while run.status is None:
            before = tuple(buffer.copy() for buffer in run.buffers)
            try:
                records.advance(only)
            except OSError as error:  # the sources, of which programs are made, are not there
                reason = f"the program cannot be read: {error}"
                raise CannotContinueError(reason, is_lasting=True) from error
            run.go_on()
            report(run.t)
    except KeyboardInterrupt:
        run.interrupt()
    except CannotContinueError as error:
        run.hand_over(before, error)
    except LinkwrightError as error:
        run.status = f"stopped at t = {run.t:g} s: {error}"
        run.keep_last(run.t, run.y)
    return _stop_at_fault(context, events, _project_rest(context, run, run.trajectory()))


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
    if is_finite.all() or context.drive.is_sampled:
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
