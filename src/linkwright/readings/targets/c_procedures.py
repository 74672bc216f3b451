"""Tapes as static C functions (inputs …, outputs …) of pointers, which programs call."""

from __future__ import annotations

from collections.abc import Mapping

from ...tape import Tape
from .c_code import c_parameters, write_c_body, write_c_helpers, write_c_prototype
from .exported_code import ExportedFunction, PortNote, name_code_ports
from .tape_statements import used_tape_operations


def write_c_procedures(tapes: Mapping[str, Tape]) -> str:
    """Return the C functions of tapes by name; all their ports must be arrays."""
    lines = write_c_helpers(used_tape_operations(list(tapes.values())), "double")
    for name, tape in tapes.items():
        ports = (*tape.inputs, *tape.outputs)
        assert all(port.shape for port in ports), name
        names = name_code_ports(tape.inputs, tape.outputs)
        notes = [PortNote(port, one, "", "") for port, one in zip(ports, names, strict=True)]
        split = len(tape.inputs)
        function = ExportedFunction(
            name, None, tape, "", "", name, tuple(notes[:split]), tuple(notes[split:])
        )
        head = write_c_prototype("static void", name, c_parameters(function, "double"))
        body = [f"    {line}" for line in write_c_body(function, "double")]
        lines += [head, "{", *body, "}", ""]
    return "\n".join(lines)
