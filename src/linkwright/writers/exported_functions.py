"""The functions of a model that are exported: tapes with names, meanings and units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from ..conveniences import find_convenience
from ..errors import NameNotFoundError, UnsupportedError, suggest_remedy
from ..mechanism.mechanism_units import UNITS_OF_RATES, coordinate_units, velocity_units
from ..ports import Port
from ..quantities import (
    FRAME_SIGNATURES,
    INPUT_MEANINGS,
    INPUT_SHAPES,
    QuantitySignature,
    quantity_entry_names,
    quantity_ports,
    quantity_signatures,
)
from ..readings.targets.exported_code import (
    CODE_ENDINGS,
    ExportedCode,
    ExportedFunction,
    PortNote,
    name_code_ports,
)
from ..readings.targets.safe_names import make_safe_identifier, make_unique_identifiers
from ..tape import Tape
from .reference_values import compute_reference_values

if TYPE_CHECKING:
    from ..model.model import Model

DEFAULT_QUANTITIES = ("inverse_dynamics", "forward_dynamics", "mass_matrix", "bias")
"""What is exported if the user names no quantities."""

STEP_QUANTITY = "step_rk4"
"""A step of the classical Runge–Kutta method, which is exported like a quantity."""

MOTION_QUANTITY = "simulate"
"""A whole motion, which C and WebAssembly can contain beside quantities."""

_UNITS_BY_VELOCITY = ("N m or N", "kg m², kg m or kg", "kg m²/s, kg m/s or kg/s", "rad or m")
"""Units of outputs along velocities: the first of angles, the last of lengths."""

_PIVOT_MEANING = (
    "smallest pivot relative to its size as assembled: near 0, the configuration is singular"
)


def collect_exported_code(
    model: Model, functions: tuple[ExportedFunction, ...], precision: str
) -> ExportedCode:
    """Return what printers need about the functions of a model."""
    from .. import __version__

    name = model.mechanism.name
    by = model.equations.by
    return ExportedCode(
        make_safe_identifier(name),
        f"Mechanism {name}, formulation '{by}', written by linkwright {__version__}",
        (*_coordinate_notes(model), *_parameter_notes(model), *_order_notes(model, functions)),
        functions,
        precision,
    )


def _coordinate_notes(model: Model) -> list[str]:
    """Lines that list coordinates and velocities with their units."""
    own, rates = coordinate_units(model.mechanism), velocity_units(model.mechanism)
    found = ["q: generalized coordinates"]
    found += [
        f"  {k + 1}. {n} ({u})" for k, (n, u) in enumerate(zip(model.q_names, own, strict=True))
    ]
    if model.qd_names == model.q_names:
        return [*found, "qd, qdd, tau: velocities, accelerations and forces, in the same order"]
    units = [UNITS_OF_RATES["qd"][unit] for unit in rates]
    found.append("qd: generalized velocities; qdd and tau are in the same order")
    return found + [
        f"  {k + 1}. {n} ({u})" for k, (n, u) in enumerate(zip(model.qd_names, units, strict=True))
    ]


def _parameter_notes(model: Model) -> list[str]:
    """Lines that list the parameters that are inputs, with their values in the mechanism."""
    if not model.parameters:
        return []
    pairs = enumerate(zip(model.parameters, model.nominal_parameters.tolist(), strict=True))
    return [
        "p: parameters, with their values in the mechanism (SI units)",
        *(f"  {k + 1}. {name} = {value!r}" for k, (name, value) in pairs),
    ]


def _order_notes(model: Model, functions: Sequence[ExportedFunction]) -> list[str]:
    """Lines that name the rows and columns of inputs and outputs that have no other names."""
    names, signatures = model.names, quantity_signatures(model.names) | FRAME_SIGNATURES
    used = set[str]()
    for one in functions:
        if one.quantity in signatures:
            own = signatures[one.quantity]
            shapes = [*(INPUT_SHAPES[key] for key in own.inputs), *own.outputs.values()]
            used |= {word for shape in shapes for word in shape.split(",")}
    bodies = ", ".join(names.bodies)
    positions = [names.constraints[k] for k in names.position_rows]
    lists = {
        "bodies": f"bodies: {bodies}",
        "joints": f"joints: {', '.join(names.joints)}",
        "joints_and_loops": f"joints, then loops: {', '.join([*names.joints, *names.loops])}",
        "constraints": f"rows of constraints: {_count_rows(names.constraints)}",
        "positions": f"rows of constraints of positions: {_count_rows(positions)}",
        "actuators": f"actuators: {', '.join(names.actuators or names.qd)}",
        "freedom": f"independent velocities: {', '.join(names.independent)}",
        "parameters": "inertial parameters π: m, mx, my, mz (mass times centre), Ixx, Ixy, Iyy, "
        f"Ixz, Iyz, Izz about the body's origin, for each body in turn: {bodies}",
    }
    return [line for word, line in lists.items() if word in used]


def _count_rows(owners: Sequence[str]) -> str:
    """Return the owners of rows with their numbers of rows: pin (5), rod (1)."""
    return ", ".join(f"{name} ({len(list(rows))})" for name, rows in groupby(owners))


def record_exported_functions(
    model: Model, quantities: Sequence[str], precision: str = "double"
) -> tuple[ExportedFunction, ...]:
    """Record the tapes of the quantities; those of frames are written `placement:tool`. Of the
    `precision` depends when steps call loops closed."""
    chosen = [_split_quantity_name(model, text) for text in quantities]
    identifiers = make_unique_identifiers(
        [f"{name}_of_{frame}" if frame else name for name, frame in chosen], endings=CODE_ENDINGS
    )
    return tuple(
        _record_exported_function(model, name, frame, identifier, precision)
        for (name, frame), identifier in zip(chosen, identifiers, strict=True)
    )


def _split_quantity_name(model: Model, text: str) -> tuple[str, str | None]:
    """Return the quantity and the frame that a name means, after both are checked."""
    if text == STEP_QUANTITY:
        return text, None
    if text == MOTION_QUANTITY:
        raise UnsupportedError("simulate needs a target for motions", remedy="use c, wasm or fmu")
    quantity, colon, frame = text.partition(":")
    known = quantity_signatures(model.names)
    if quantity not in known and quantity not in FRAME_SIGNATURES:
        names = [*known, STEP_QUANTITY, *(f"{name}:FRAME" for name in FRAME_SIGNATURES)]
        raise NameNotFoundError(f"unknown quantity '{text}'", remedy=suggest_remedy(text, names))
    if (quantity in FRAME_SIGNATURES) != bool(colon):
        raise UnsupportedError(
            f"{quantity} {'has no' if colon else 'needs a'} frame",
            remedy=f"write {quantity}" if colon else f"write {quantity}:NAME",
        )
    return quantity, frame if colon else None


def _record_exported_function(
    model: Model, quantity: str, frame: str | None, identifier: str, precision: str
) -> ExportedFunction:
    """Record the tape of one quantity, and describe its inputs and outputs."""
    if quantity == STEP_QUANTITY:
        record_step = find_convenience("ExportedFunction.of_step")
        step: ExportedFunction = record_step(model, identifier, precision)
        return step
    _, results = quantity_ports(model.names, quantity)
    if not all(port.size for port in results):
        raise UnsupportedError(
            f"{quantity} of {model.mechanism.name} is empty", remedy="leave it out"
        )
    tape = model.tape(quantity, *([] if frame is None else [frame]))
    signature = (quantity_signatures(model.names) | FRAME_SIGNATURES)[quantity]
    inputs, outputs = describe_tape_ports(model, tape, signature)
    return ExportedFunction(
        quantity,
        frame,
        tape,
        signature.description,
        signature.units,
        identifier,
        inputs,
        outputs,
        compute_reference_values(model, tape),
    )


def describe_tape_ports(
    model: Model, tape: Tape, signature: QuantitySignature
) -> tuple[tuple[PortNote, ...], tuple[PortNote, ...]]:
    """Return the inputs and outputs of a function of a model in words."""
    from ..model.function_help import function_input_units

    entries = quantity_entry_names(model.names, model.parameters)
    names = name_code_ports(tape.inputs, tape.outputs)
    inputs = tuple(
        PortNote(
            port,
            name,
            INPUT_MEANINGS[port.name][0],
            function_input_units(model.mechanism, port.name),
            tuple(entries.get(port.name, ())),
        )
        for port, name in zip(tape.inputs, names, strict=False)
    )
    outputs = tuple(
        _describe_output(model, port, name, signature)
        for port, name in zip(tape.outputs, names[len(inputs) :], strict=True)
    )
    return inputs, outputs


def _describe_output(model: Model, port: Port, name: str, signature: QuantitySignature) -> PortNote:
    """Return an output in words; forces and accelerations have this mechanism's units."""
    from ..model.function_help import function_input_units

    if port.name == "pivot":
        return PortNote(port, name, _PIVOT_MEANING, "1")
    if port.name not in ("tau", "qdd"):
        return PortNote(port, name, "", _output_units(model, port, signature))
    entries = quantity_entry_names(model.names)[port.name]
    units = function_input_units(model.mechanism, port.name)
    return PortNote(port, name, INPUT_MEANINGS[port.name][0], units, tuple(entries))


def _output_units(model: Model, port: Port, signature: QuantitySignature) -> str:
    """Return the units of an output; of alternatives (N m or N) those of this mechanism, if its
    velocities have one unit: the first where all are angles, the last where all are lengths."""
    units = set(velocity_units(model.mechanism))
    has_choice = signature.units in _UNITS_BY_VELOCITY and signature.outputs[port.name] in (
        "nv",
        "nv,nv",
    )
    if not has_choice or len(units) > 1:
        return signature.units
    choices = signature.units.replace(" or ", ", ").split(", ")
    return choices[0] if units == {"rad"} else choices[-1]
