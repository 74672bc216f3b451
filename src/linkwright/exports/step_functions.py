"""Steps of fixed length as functions that every target can print."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..model.function_help import function_input_units
from ..ports import Port
from ..quantities import INPUT_MEANINGS, quantity_entry_names
from ..readings.targets.exported_code import ExportedFunction, PortNote, name_code_ports
from ..simulation.fixed_steps.compiled_steps import CompiledStep
from ..simulation.fixed_steps.rollouts import refuse_events
from ..tape import Op, Tape
from ..writers.exported_functions import STEP_QUANTITY
from ..writers.reference_values import compute_reference_values

if TYPE_CHECKING:
    from ..model.model import Model

_MEANINGS = INPUT_MEANINGS | {
    "t": ("time at the start of the step", "s"),
    "dt": ("length of the step", "s"),
    "q_end": ("generalized coordinates after the step", ""),
    "qd_end": ("generalized velocities after the step", ""),
    "is_reliable": ("1 if the constraints are closed and no pivot is small, else 0", "1"),
}


SINGLE_PRECISION_RESIDUAL = 1e-5
"""The residual at which loops count as closed in single precision: some hundred rounding errors of
numbers near 1."""


def record_step_tape(model: Model, precision: str = "double") -> Tape:
    """Return the tape of one step; where steps can fail, its last output is 1 or 0."""
    equations = model.equations
    if precision == "float":
        allowed = max(equations.closure_leeway, SINGLE_PRECISION_RESIDUAL)
        equations = replace(equations, closure_leeway=allowed)
    tape = CompiledStep(equations, "rk4", kept=model.parameters).tape
    if tape.outputs[-1].name != "doubt":
        return tape
    count = len(tape)
    doubt = int(tape.results[-1][0])
    return Tape(
        tape.name,
        tape.inputs,
        (*tape.outputs[:-1], Port("is_reliable", ())),
        np.append(tape.ops, np.array([Op.CONSTANT, Op.LT], tape.ops.dtype)),
        np.vstack([tape.args, np.array([[-1, -1, -1], [doubt, count, -1]], tape.args.dtype)]),
        np.append(tape.constants, [1.0, 0.0]),
        (*tape.results[:-1], np.array([count + 1], np.int32)),
    )


def record_step_function(
    model: Model, identifier: str, precision: str = "double"
) -> ExportedFunction:
    """Record one step of the classical Runge–Kutta method, as in `rollout`; loops are closed. Parts
    that act only through events are refused."""
    refuse_events(model.mechanism, "fixed steps")
    tape = record_step_tape(model, precision)
    entries = quantity_entry_names(model.names, model.parameters)
    names = name_code_ports(tape.inputs, tape.outputs)
    notes = tuple(
        PortNote(
            port,
            name,
            _MEANINGS[port.name][0],
            _port_units(model, port.name),
            tuple(entries.get(port.name, ())),
        )
        for port, name in zip((*tape.inputs, *tape.outputs), names, strict=True)
    )
    return ExportedFunction(
        STEP_QUANTITY,
        None,
        tape,
        "state q, qd after a step of length dt by the classical Runge–Kutta method, tau held; "
        "states are projected onto the constraints",
        "rad or m, rad/s or m/s",
        identifier,
        notes[: len(tape.inputs)],
        notes[len(tape.inputs) :],
        compute_reference_values(model, tape),
    )


def _port_units(model: Model, name: str) -> str:
    """The units of an input or output, those of coordinates and forces of this mechanism."""
    own = name.removesuffix("_end")
    is_state = own in ("q", "qd", "tau")
    return function_input_units(model.mechanism, own) if is_state else _MEANINGS[name][1]
