"""Programs of a mechanism's motion that leave Linkwright: simulation, fixed steps, closing."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from ..integrators.loop_closing import close_configuration
from ..integrators.repeated_steps import StepPorts, repeat_steps
from ..integrators.stop_events import (
    CLOSED_GAP,
    REBOUND_SHARE,
    STILL_VELOCITY,
    StopFunctions,
    advance_motion,
    settle_stops,
)
from ..integrators.trajectory_records import (
    CLOCK_COLUMNS,
    PROGRESS_COLUMNS,
    Clock,
    Progress,
    Sizes,
)
from ..program import Program, read_program
from ..program.syntax import Kind, Memory
from ..simulation.compiled_motion import METHODS
from ..simulation.exported_motion import ExportedMotion
from ..tape import Tape
from ..types import Floats, Integers

if TYPE_CHECKING:
    from ..model.model import Model

EVENT_CAPACITY = 1
"""The program handles the events of stops and friction, so its log of noted events stays empty."""

MAX_STEPS = 1_000_000
"""Attempted steps of one call, after which it returns."""

CLOSED_RESIDUAL = 1e-6
"""The constraint residual at which a simulation stops, as in `simulate`."""


@dataclass(frozen=True)
class MotionProgram:
    """A program with the tapes that it calls, by parameter, and its buffers at the start."""

    program: Program
    procedures: dict[str, Tape]
    buffers: dict[str, Floats | Integers]
    """Buffers by parameter, in the order of the arguments; those of samples have no entries."""

    @property
    def tapes(self) -> list[Tape]:
        """The tapes that the program calls."""
        return list(self.procedures.values())


def make_simulation_program(motion: ExportedMotion, integrator: str) -> MotionProgram:
    """Return the program of a motion by an adaptive integrator, with the events of its stops and
    dry friction."""
    tapes = {"functions.rates": motion.rates}
    absent: dict[str, object] = {"jacobian": None}
    no_stops: dict[str, object] = {}
    if motion.needs_projection:
        tapes["functions.project"] = motion.projection
    else:
        absent["project"] = None
    if len(motion.rows):
        tapes |= {
            "functions.signals": motion.signals,
            "functions.margins": motion.stop_margins,
            **_stop_tapes(motion),
        }
    else:
        absent |= {"signals": None, "margins": None}
        no_stops = {field.name: None for field in fields(StopFunctions)}
    program = read_program(
        advance_motion,
        method=METHODS[integrator],
        functions=absent,
        stop_functions=no_stops,
        sizes=_motion_sizes(motion),
        rows=_row_places(motion),
    )
    return _checked(MotionProgram(program, tapes, _simulation_buffers(motion)))


def make_settling_program(
    motion: ExportedMotion, *, closed: float = CLOSED_GAP, still: float = STILL_VELOCITY
) -> MotionProgram:
    """Return the program that lets the stops and the dry friction of a motion act at one state:
    gaps below `closed` are closed, velocities below `still` are zero."""
    tapes = _stop_tapes(motion)
    program = read_program(
        settle_stops,
        sizes=_motion_sizes(motion),
        rows=_row_places(motion),
        still=still,
    )
    buffers = _simulation_buffers(motion) | {"stop_buffers.closed_gap": np.array([closed])}
    return _checked(MotionProgram(program, tapes, buffers))


def _stop_tapes(motion: ExportedMotion) -> dict[str, Tape]:
    """The fields of `StopFunctions`."""
    return {
        "stop_functions.motions": motion.stop_motions,
        "stop_functions.forces": motion.stop_forces,
        "stop_functions.accelerations": motion.stop_accelerations,
        "stop_functions.responses": motion.stop_responses,
        "stop_functions.impact": motion.impact,
    }


def _row_places(motion: ExportedMotion) -> dict[str, int]:
    """The fields of `RowPlaces`."""
    return {
        "stops": motion.rows.stop_count,
        "first_hold": motion.first_hold,
        "first_push": motion.first_push,
    }


def _motion_sizes(motion: ExportedMotion) -> dict[str, int]:
    """The fields of `MotionSizes`."""
    n, rows = motion.state_count, len(motion.rows)
    return {
        "states": n,
        "parameters": motion.parameter_count,
        "signals": rows,
        "first_speed": motion.equations.nq,
        "end_speed": n,
        "event_columns": rows,
        "event_capacity": EVENT_CAPACITY,
        "first_hold": motion.first_hold,
    }


def _simulation_buffers(motion: ExportedMotion) -> dict[str, Floats | Integers]:
    """The buffers of one trajectory."""
    n, rows = motion.state_count, len(motion.rows)
    clock = np.zeros(CLOCK_COLUMNS)
    clock[Clock.MAX_STEP], clock[Clock.CLOSED] = np.inf, CLOSED_RESIDUAL
    progress = np.zeros(PROGRESS_COLUMNS, np.int64)
    progress[Progress.BUDGET] = MAX_STEPS
    return {
        "buffers.ticket": np.zeros(1, np.int64),
        "buffers.count": np.array([1, 0]),
        "buffers.active": np.zeros(1, np.int64),
        "buffers.clock": clock,
        "buffers.progress": progress,
        "buffers.states": np.zeros(n),
        "buffers.slopes": np.zeros(n),
        "buffers.parameters": motion.nominal_p,
        "buffers.sample_times": np.zeros(0),
        "buffers.samples": np.zeros(0),
        "buffers.fastest": np.zeros(n + 1),
        "buffers.passages": np.zeros(2 * rows),
        "buffers.event_log": np.zeros(2 * EVENT_CAPACITY),
        "buffers.event_columns": motion.rows.event_columns.reshape(-1),
        "buffers.sizes": np.zeros(len(Sizes), np.int64),
        "stop_buffers.restitution": motion.rows.restitutions,
        "stop_buffers.fastest": np.zeros(rows),
        "stop_buffers.hits": np.zeros(rows, np.int64),
        "stop_buffers.closed_gap": np.array([CLOSED_GAP]),
        "stop_buffers.rebound_share": np.array([REBOUND_SHARE]),
        "stop_buffers.known": np.zeros(1, np.int64),
        "stop_buffers.end": np.zeros(2, np.int64),
    }


def make_closing_program(motion: ExportedMotion) -> MotionProgram:
    """Return the program that closes the loops of a mechanism."""
    eqs = motion.equations
    sizes = {
        "coordinates": eqs.nq,
        "velocities": eqs.nv,
        "rows": eqs.names.position_row_count,
        "parameters": motion.parameter_count,
    }
    program = read_program(close_configuration, functions={}, sizes=sizes)
    tapes = {"functions.constraints": motion.constraints, "functions.move": motion.move}
    buffers: dict[str, Floats | Integers] = {
        "time": np.zeros(1),
        "configuration": np.zeros(eqs.nq),
        "parameters": motion.nominal_p,
        "free": np.ones(eqs.nv),
        "residual": np.zeros(2),
    }
    return _checked(MotionProgram(program, tapes, buffers))


def make_step_program(model: Model, step: Tape) -> MotionProgram:
    """Return the program of many steps of fixed length."""
    inputs, outputs = ({port.name for port in side} for side in (step.inputs, step.outputs))
    ports = StepPorts(has_parameters="p" in inputs, may_fail="is_reliable" in outputs)
    count = max(1, len(model.parameters))
    program = read_program(
        repeat_steps, ports=ports, coordinates=model.nq, velocities=model.nv, parameters=count
    )
    values = model.nominal_parameters if model.parameters else np.zeros(1)
    buffers: dict[str, Floats | Integers] = {
        "clock": np.zeros(2),
        "count": np.zeros(1, np.int64),
        "configuration": np.zeros(model.nq),
        "rates": np.zeros(model.nv),
        "forces": np.zeros(model.nv),
        "values": values,
    }
    return _checked(MotionProgram(program, {"step": step}, buffers))


def _checked(made: MotionProgram) -> MotionProgram:
    """Check that the buffers are those of the program, in its order and of its kinds."""
    wanted = {p.name: p.kind for p in made.program.parameters if isinstance(p, Memory)}
    given = {
        name: Kind.INT if buffer.dtype == np.int64 else Kind.FLOAT
        for name, buffer in made.buffers.items()
    }
    assert list(wanted.items()) == list(given.items()), (wanted, given)
    return made
