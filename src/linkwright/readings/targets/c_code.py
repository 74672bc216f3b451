"""Tapes as C99: a header and a source, without allocation and without global state."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...ports import Port
from ...tape import Op
from .exported_code import ExportedCode, ExportedFunction, PortNote, describe_port
from .tape_statements import (
    HELPER_FUNCTIONS,
    MATH_FUNCTIONS,
    CodeLanguage,
    CodeStatement,
    list_tape_statements,
    used_tape_operations,
)

C_HELPER_BODIES = {
    Op.SIGN: "x > 0 ? 1 : x < 0 ? -1 : x",
    Op.MIN: "x < y || x != x ? x : y",
    Op.MAX: "x > y || x != x ? x : y",
    Op.LT: "x < y", Op.LE: "x <= y", Op.EQ: "x == y", Op.NE: "x != y",
    Op.AND: "x != 0 && y != 0", Op.OR: "x != 0 || y != 0", Op.NOT: "x == 0",
    Op.SELECT: "x != 0 ? y : z",
}  # fmt: skip
"""Operations that C lacks; minima and maxima of NaN are NaN."""


def c_number(value: float, precision: str = "double") -> str:
    """Return a constant of C that is read as exactly this number."""
    number = np.float32(value) if precision == "float" else np.float64(value)
    if math.isnan(number):
        return "NAN"
    if math.isinf(number):
        return "INFINITY" if number > 0 else "-INFINITY"
    return f"{number!s}f" if precision == "float" else str(number)


def c_entry(name: str, port: Port, entry: int) -> str:
    """Return an entry of an input: arrays are flat, numbers are passed by value."""
    return f"{name}[{entry}]" if port.shape else name


def c_function_names(precision: str) -> dict[Op, str]:
    """Return the names of the functions of C and of the helpers by operation."""
    suffix = "f" if precision == "float" else ""
    library = {op: name + suffix for op, name in MATH_FUNCTIONS.items()}
    return library | {op: f"lw_{name}" for op, name in HELPER_FUNCTIONS.items()}


def c_language(precision: str) -> CodeLanguage:
    """Return how C writes the operations of a tape."""
    return CodeLanguage(
        c_function_names(precision), lambda value: c_number(value, precision), c_entry
    )


def write_c_comment(lines: Sequence[str]) -> list[str]:
    """Return a block comment; the lines must be safe in comments."""
    return ["/*", *(f" * {line}".rstrip() for line in lines), " */"]


def write_c_helpers(used: set[Op], kind: str) -> list[str]:
    """Return the definitions of the helpers that are used."""
    lines = []
    for op, name in HELPER_FUNCTIONS.items():
        if op in used:
            count = 3 if op is Op.SELECT else 1 if op in (Op.SIGN, Op.NOT) else 2
            arguments = ", ".join(f"{kind} {letter}" for letter in "xyz"[:count])
            lines += [
                f"static inline {kind} lw_{name}({arguments})",
                "{",
                f"    return {C_HELPER_BODIES[op]};",
                "}",
                "",
            ]
    return lines


def c_parameters(function: ExportedFunction, kind: str, restrict: str = "restrict") -> list[str]:
    """Return the parameters of a function that computes one state."""
    inputs = [
        f"const {kind} *{restrict} {note.name}" if note.port.shape else f"{kind} {note.name}"
        for note in function.inputs
    ]
    return [*inputs, *(f"{kind} *{restrict} {note.name}" for note in function.outputs)]


def write_c_prototype(returned: str, name: str, parameters: Sequence[str]) -> str:
    """Return a prototype without semicolon, broken where it is long."""
    line = f"{returned} {name}({', '.join(parameters)})"
    if len(line) <= 100:
        return line
    return f"{returned} {name}(\n    " + ",\n    ".join(parameters) + ")"


def describe_c_function(function: ExportedFunction, size: int) -> list[str]:
    """Return the lines of the comment on a function: meaning, ports, costs."""
    width = max(len(name) for name in function.port_names)
    lines = [function.sentence]
    for title, notes in (("Inputs", function.inputs), ("Outputs", function.outputs)):
        lines.append(f"{title}:")
        lines += [f"  {note.name.ljust(width)}  {describe_port(note)}" for note in notes]
    alive = function.live_value_count
    costs = f"{function.operation_count} operations; at most {alive} values at a time"
    return [*lines, f"{costs} ({alive * size} bytes)."]


def write_c_header(code: ExportedCode) -> str:
    """Return the header: every function for one state and for a batch of states."""
    kind, stem, guard = code.precision, code.stem, f"{code.stem.upper()}_H"
    restrict = f"{stem.upper()}_RESTRICT"
    lines = [
        *write_c_comment(
            [
                *code.heading,
                "",
                "Functions allocate nothing and keep no state: they may run in any thread. Inputs",
                "and outputs must not overlap. Matrices are stored by rows. A batch has `count`",
                "states: row k of every input and output belongs to state k.",
            ]
        ),
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <stddef.h>",
        "",
        "#ifdef __cplusplus",
        f"#define {restrict}",
        'extern "C" {',
        "#else",
        f"#define {restrict} restrict",
        "#endif",
        "",
    ]
    for function in code.functions:
        name = f"{stem}_{function.identifier}"
        lines += write_c_comment(describe_c_function(function, 4 if kind == "float" else 8))
        one = c_parameters(function, kind, restrict)
        lines += [f"{write_c_prototype('void', name, one)};"]
        many = c_batch_parameters(function, kind, restrict)
        lines += [f"{write_c_prototype('void', f'{name}_batch', many)};", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", "#endif", ""])


def c_batch_parameters(
    function: ExportedFunction, kind: str, restrict: str = "restrict"
) -> list[str]:
    """Return the parameters of a function that computes a batch of states."""
    inputs = [f"const {kind} *{restrict} {note.name}" for note in function.inputs]
    outputs = [f"{kind} *{restrict} {note.name}" for note in function.outputs]
    return ["size_t count", *inputs, *outputs]


def write_c_source(code: ExportedCode) -> str:
    """Return the source of the functions for one state."""
    kind = code.precision
    used = used_tape_operations([function.tape for function in code.functions])
    lines = [*write_c_comment(code.heading), f'#include "{code.stem}.h"', "", "#include <math.h>"]
    lines += ["", *write_c_helpers(used, kind)]
    for function in code.functions:
        name = f"{code.stem}_{function.identifier}"
        lines += [write_c_prototype("void", name, c_parameters(function, kind)), "{"]
        lines += [f"    {line}" for line in write_c_body(function, kind)]
        lines += ["}", ""]
    return "\n".join(lines)


def write_c_body(function: ExportedFunction, kind: str) -> list[str]:
    """Return the statements of a function for one state."""
    names = function.port_names
    statements = list_tape_statements(
        function.tape, c_language(kind), names[: len(function.inputs)], names
    )
    return write_unused_ports(function) + [
        _write_c_statement(one, function.outputs, kind) for one in statements
    ]


def write_unused_ports(function: ExportedFunction) -> list[str]:
    """Return statements that keep compilers from warning about inputs without influence, and
    outputs without entries."""
    used = function.used_inputs
    unused = [note for k, note in enumerate(function.inputs) if k not in used]
    unused += [note for note in function.outputs if not note.port.size]
    return [f"(void){note.name};" for note in unused]


def _write_c_statement(statement: CodeStatement, outputs: Sequence[PortNote], kind: str) -> str:
    """Return one assignment of C."""
    if statement.name:
        return f"const {kind} {statement.name} = {statement.text};"
    output, entry = statement.output
    return f"{outputs[output].name}[{entry}] = {statement.text};"
