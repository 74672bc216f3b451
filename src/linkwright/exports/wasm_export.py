"""The export of a mechanism to WebAssembly: a module, its wrapper in JavaScript, and a check."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np

from ..errors import UnsupportedError
from ..integrators import Clock, Progress, StopReason
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..ports import Port
from ..readings.targets.exported_code import ExportedCode, ExportedFunction
from ..readings.wasm import WasmWriter
from ..simulation.exported_motion import ExportedMotion
from ..simulation.fixed_steps.rollouts import refuse_events
from ..tape import Tape
from ..writers.export_target import ExportedFiles, ExportRequest
from ..writers.exported_functions import (
    DEFAULT_QUANTITIES,
    MOTION_QUANTITY,
    STEP_QUANTITY,
    collect_exported_code,
    record_exported_functions,
)
from .motion_programs import (
    CLOSED_RESIDUAL,
    MAX_STEPS,
    MotionProgram,
    make_closing_program,
    make_simulation_program,
    make_step_program,
)

PROGRAM_QUANTITIES = (MOTION_QUANTITY, "close")
"""Programs that users name beside quantities; step_rk4 is a quantity with a program of its own."""

FIRST_ADDRESS = 1024
"""Address 0 stays unused, so that a wrong address is seen."""


@dataclass
class WasmLayout:
    """Gives inputs, outputs and buffers their places in memory."""

    end: int = FIRST_ADDRESS
    contents: dict[int, bytes] = field(default_factory=dict)

    def place(self, size: int, item: int = 8) -> int:
        """Return the address of new memory for so many numbers."""
        at = self.end
        self.end += (size * item + 15) // 8 * 8
        return at

    def place_port(self, port: Port) -> dict[str, object]:
        """Return the place of an input or output."""
        return {"name": port.name, "at": self.place(port.size), "size": port.size}

    def place_buffer(self, values: np.ndarray) -> dict[str, object]:
        """Return the place of a buffer, which contains the values at the start."""
        is_int = values.dtype == np.int64
        own = values.astype(np.int32) if is_int else values
        at = self.place(own.size, own.itemsize)
        if own.any():
            self.contents[at] = own.tobytes()
        return {"at": at, "size": own.size, "kind": "int" if is_int else "float"}


class WasmExport:
    """Writes the module of a mechanism, and the table with which its wrapper finds everything."""

    def __init__(self, request: ExportRequest) -> None:
        self.request, self.model = request, request.model
        is_default = request.quantities == DEFAULT_QUANTITIES
        named = [*request.quantities, *((STEP_QUANTITY, *PROGRAM_QUANTITIES) if is_default else ())]
        self.lost: list[str] = []
        self.motion = self._find_motion(named, is_default=is_default)
        quantities = [name for name in named if name not in PROGRAM_QUANTITIES]
        if is_default:
            try:
                refuse_events(self.model.mechanism, "fixed steps")
            except UnsupportedError as error:
                quantities.remove(STEP_QUANTITY)
                self.lost.append(f"{STEP_QUANTITY}: {error}")
        self.functions = record_exported_functions(self.model, quantities)
        self.programs = self._make_programs(named)
        self.layout = WasmLayout()

    def _find_motion(self, named: Sequence[str], *, is_default: bool) -> ExportedMotion | None:
        """Return the motion; None where no program needs it, or where none can be exported and the
        user did not ask for it."""
        if not set(named) & set(PROGRAM_QUANTITIES):
            return None
        try:
            return ExportedMotion(
                self.request.mechanism, self.model.parameters, by=self.model.equations.by
            )
        except UnsupportedError as error:
            if not is_default:
                raise
            self.lost.append(f"programs for whole motions: {error}")
            return None

    def _make_programs(self, named: Sequence[str]) -> dict[str, MotionProgram]:
        """Return the programs by the names of their functions."""
        found = {}
        steps = [f.tape for f in self.functions if f.quantity == STEP_QUANTITY]
        if steps:
            found["run_rk4"] = make_step_program(self.model, steps[0])
        if self.motion is not None and MOTION_QUANTITY in named:
            found["simulate"] = make_simulation_program(self.motion, "dop853")
        if self.motion is not None and "close" in named:
            if self.model.names.position_row_count:
                found["close"] = make_closing_program(self.motion)
            elif self.request.quantities != DEFAULT_QUANTITIES:
                raise UnsupportedError(
                    f"{self.model.mechanism.name} has no loops to close", remedy="leave out 'close'"
                )
        return found

    # -- the module ------------------------------------------------------------------------------

    def write(self) -> ExportedFiles:
        """Return the files of the export."""
        code = collect_exported_code(self.model, self.functions, "double")
        module, table = self.write_module(code)
        stem = code.stem
        usage = f"node {stem}_check.mjs\n"
        contents: dict[str, str | bytes] = {
            f"{stem}.wasm": module,
            f"{stem}.mjs": write_wrapper(code, table),
            f"{stem}_check.mjs": write_wasm_check(code),
        }
        return ExportedFiles("wasm", contents, tuple(self.lost), usage, is_folder=True)

    def write_module(self, code: ExportedCode) -> tuple[bytes, dict[str, object]]:
        """Return the bytes of the module, and the table of what is in it."""
        motion_tapes = [tape for program in self.programs.values() for tape in program.tapes]
        writer = WasmWriter([*(f.tape for f in self.functions), *motion_tapes])
        functions = {one.identifier: self._add_function(writer, one) for one in self.functions}
        programs = {
            name: self._add_program(writer, name, program)
            for name, program in self.programs.items()
        }
        stack = self.layout.end
        heap = stack + max(writer.stack_bytes.values(), default=0) + 8
        for at, content in self.layout.contents.items():
            writer.module.place_data(at, content)
        module = writer.module.finish(heap, stack)
        about = {"file": f"{code.stem}.wasm", "heap": heap, "mechanism": self.model.mechanism.name}
        return module, about | self._names() | {"functions": functions, "programs": programs}

    def _names(self) -> dict[str, object]:
        """The names of coordinates, inputs, parameters and stops."""
        values = self.model.nominal_parameters.tolist() if self.model.parameters else []
        motion = self.motion
        return {
            "q": list(self.model.q_names),
            "qd": list(self.model.qd_names),
            "inputs": [] if motion is None else list(motion.input_names),
            "parameters": [
                {"name": name, "value": value}
                for name, value in zip(self.model.parameters, values, strict=True)
            ],
            "stops": [] if motion is None else motion.rows.names,
            "home": self.model.home().tolist(),
        }

    def _add_function(self, writer: WasmWriter, one: ExportedFunction) -> dict[str, object]:
        """Add a function to the module; return its entry in the table."""
        writer.module.export_function(one.identifier, writer.add_tape(one.tape))
        sides = {
            side: [
                self.layout.place_port(note.port)
                | {"name": note.name, "shape": note.port.shape, "meaning": note.meaning}
                | {"units": note.units, "entries": note.entries}
                for note in notes
            ]
            for side, notes in (("inputs", one.inputs), ("outputs", one.outputs))
        }
        return {
            "quantity": one.quantity,
            "frame": one.frame,
            "description": one.description,
            "operations": one.operation_count,
            **sides,
        }

    def _add_program(self, writer: WasmWriter, name: str, one: MotionProgram) -> dict[str, object]:
        """Add a program to the module; return its entry in the table."""
        procedures = {key: writer.add_tape(tape) for key, tape in one.procedures.items()}
        writer.module.export_function(name, writer.add_program(one.program, procedures))
        buffers = {key: self.layout.place_buffer(x) for key, x in one.buffers.items()}
        entry: dict[str, object] = {"buffers": buffers}
        if name == "close":
            entry["closed"] = CLOSURE_TOLERANCES.tracked_residual
        if name == "simulate":
            project = one.procedures.get("functions.project")
            entry |= SIMULATION_FIELDS | {"project": self._add_projection(writer, project)}
        return entry

    def _add_projection(self, writer: WasmWriter, tape: Tape | None) -> list[object] | None:
        """Add the projection of states, if there is one; return the places of its ports."""
        if tape is None:
            return None
        writer.module.export_function("project", writer.add_tape(tape))
        return [self.layout.place_port(port) for port in (*tape.inputs, *tape.outputs)]


SIMULATION_FIELDS: dict[str, object] = {
    "fields": {one.name: int(one) for one in (*Clock, *Progress)},
    "reasons": [reason.name.lower().replace("_", " ") for reason in StopReason],
    "budget": MAX_STEPS,
    "closed": CLOSED_RESIDUAL,
}
"""What the wrapper must know about the buffers of a simulation."""


def write_wasm_export(request: ExportRequest) -> ExportedFiles:
    """Return the files of a mechanism's export to WebAssembly."""
    return WasmExport(request).write()


def write_json(value: object) -> str:
    """Return JSON that is also safe inside a script of a page."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def write_wrapper(code: ExportedCode, table: Mapping[str, object]) -> str:
    """Return the wrapper: the same text for all mechanisms, with their table."""
    text = (files(__package__) / "wrapper.mjs").read_text(encoding="utf-8")
    lines = [*code.heading, "", *_function_lines(code)]
    heading = "\n".join(f"// {line}".rstrip() for line in lines)
    return text.replace("// HEADING", heading, 1).replace("TABLE", write_json(table), 1)


def _function_lines(code: ExportedCode) -> list[str]:
    """Lines of a comment that list the functions with their inputs and outputs."""
    lines = ["Functions take and return arrays of numbers (Float64Array), matrices by rows:"]
    for one in code.functions:
        inputs, outputs = (
            ", ".join(f"{note.name}[{note.port.size}]" for note in notes)
            for notes in (one.inputs, one.outputs)
        )
        lines.append(f"  {one.identifier}({inputs}) = {outputs}")
    return lines


def write_wasm_check(code: ExportedCode) -> str:
    """Return a script for Node that compares every function with its reference values."""
    cases = [
        {"name": one.identifier, "inputs": one.reference.inputs, "outputs": one.reference.outputs}
        for one in code.functions
        if one.reference is not None
    ]
    text = (files(__package__) / "check.mjs").read_text(encoding="utf-8")
    return (
        text.replace("STEM", code.stem, 1)
        .replace("CASES", write_json(cases), 1)
        .replace("TOLERANCE", repr(code.tolerance), 1)
    )
