"""Tapes as a module of Rust, without dependencies and without unsafe code."""

from __future__ import annotations

import math

import numpy as np

from ...ports import Port
from ...tape import OPERATION_ARITY, Op
from .exported_code import ExportedCode, ExportedFunction, describe_port
from .tape_statements import (
    HELPER_FUNCTIONS,
    MATH_FUNCTIONS,
    CodeLanguage,
    CodeStatement,
    list_tape_statements,
    used_tape_operations,
)

_RUST_TYPES = {"double": "f64", "float": "f32"}
_RUST_FUNCTIONS = MATH_FUNCTIONS | {
    Op.POW: "powf", Op.LOG: "ln", Op.ABS: "abs", Op.FMA: "mul_add",
}  # fmt: skip
_TRUTHS = {
    Op.LT: "x < y", Op.LE: "x <= y", Op.EQ: "x == y", Op.NE: "x != y",
    Op.AND: "x != 0.0 && y != 0.0", Op.OR: "x != 0.0 || y != 0.0", Op.NOT: "x == 0.0",
}  # fmt: skip
_HELPER_BODIES = {op: f"if {text} {{ 1.0 }} else {{ 0.0 }}" for op, text in _TRUTHS.items()} | {
    Op.SIGN: "if x > 0.0 { 1.0 } else if x < 0.0 { -1.0 } else { x }",
    Op.MIN: "if x < y || x.is_nan() { x } else { y }",
    Op.MAX: "if x > y || x.is_nan() { x } else { y }",
    Op.SELECT: "if x != 0.0 { y } else { z }",
}


def _rust_number(value: float, kind: str) -> str:
    """A constant, whose type follows from where it stands."""
    number = np.float32(value) if kind == "f32" else np.float64(value)
    if math.isnan(number):
        return f"{kind}::NAN"
    if math.isinf(number):
        return f"{kind}::INFINITY" if number > 0 else f"{kind}::NEG_INFINITY"
    return str(number)


def _rust_entry(name: str, port: Port, entry: int) -> str:
    """An entry of an array of arrays."""
    if not port.shape:
        return name
    places = [entry] if len(port.shape) == 1 else list(divmod(entry, port.shape[1]))
    return name + "".join(f"[{place}]" for place in places)


def _rust_shape(port: Port, kind: str) -> str:
    """The type of an array: [[f64; 6]; 4] has 4 rows."""
    found = kind
    for size in reversed(port.shape):
        found = f"[{found}; {size}]"
    return found


def _rust_language(kind: str) -> CodeLanguage:
    """How Rust writes the operations of a tape."""
    functions = {op: f"{kind}::{name}" for op, name in _RUST_FUNCTIONS.items()}
    return CodeLanguage(
        functions | {op: f"lw_{name}" for op, name in HELPER_FUNCTIONS.items()},
        lambda value: _rust_number(value, kind),
        _rust_entry,
    )


def write_rust_module(code: ExportedCode) -> str:
    """Return the text of the module."""
    kind = _RUST_TYPES[code.precision]
    used = used_tape_operations([function.tape for function in code.functions])
    lines = [f"//! {line}".rstrip() for line in [*code.heading, "", "Matrices are arrays of rows."]]
    lines += ["#![allow(non_snake_case)]", "#![allow(clippy::all)]", ""]
    for op, name in HELPER_FUNCTIONS.items():
        if op in used:
            given = ", ".join(f"{x}: {kind}" for x in "xyz"[: OPERATION_ARITY[op]])
            lines += [f"fn lw_{name}({given}) -> {kind} {{", f"    {_HELPER_BODIES[op]}", "}", ""]
    for function in code.functions:
        lines += [*_write_function(function, kind), ""]
    return "\n".join([*lines, *_write_tests(code, kind), ""])


def _write_function(function: ExportedFunction, kind: str) -> list[str]:
    """Return the lines of one function."""
    names = function.port_names
    inputs = [
        f"{note.name}: {'&' if note.port.shape else ''}{_rust_shape(note.port, kind)}"
        for note in function.inputs
    ]
    shapes = [_rust_shape(note.port, kind) for note in function.outputs]
    returned = shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"
    lines = [f"/// {function.sentence}", "///"]
    for title, notes in (("Inputs", function.inputs), ("Outputs", function.outputs)):
        lines.append(f"/// {title}:")
        lines += [f"/// - `{note.name}`: {describe_port(note)}" for note in notes]
    lines.append(f"pub fn {function.identifier}({', '.join(inputs)}) -> {returned} {{")
    used = function.used_inputs
    lines += [f"    let _ = {n.name};" for k, n in enumerate(function.inputs) if k not in used]
    for note, shape in zip(function.outputs, shapes, strict=True):
        zeros = shape.replace(kind, "0.0")
        mutable = "let mut" if note.port.shape else "let"
        lines.append(
            f"    {mutable} {note.name}: {shape}{f' = {zeros}' if note.port.shape else ''};"
        )
    statements = list_tape_statements(
        function.tape, _rust_language(kind), names[: len(function.inputs)], names
    )
    lines += [f"    {_write_statement(one, function)}" for one in statements]
    results = ", ".join(note.name for note in function.outputs)
    return [*lines, f"    {results if len(shapes) == 1 else f'({results})'}", "}"]


def _write_statement(statement: CodeStatement, function: ExportedFunction) -> str:
    """Return one assignment of Rust."""
    if statement.name:
        return f"let {statement.name} = {statement.text};"
    output, entry = statement.output
    note = function.outputs[output]
    return f"{_rust_entry(note.name, note.port, entry)} = {statement.text};"


def _write_tests(code: ExportedCode, kind: str) -> list[str]:
    """Return the tests: every function at its reference values from ball arithmetic."""
    lines = [
        "#[cfg(test)]",
        "mod tests {",
        f"    fn compare(found: &[{kind}], wanted: &[{kind}]) {{",
        f"        let largest = wanted.iter().fold(1.0, |a: {kind}, b| a.max(b.abs()));",
        "        for (x, y) in found.iter().zip(wanted) {",
        f"            assert!((x - y).abs() <= {_rust_number(code.tolerance, kind)} * largest);",
        "        }",
        "    }",
    ]
    for function in code.functions:
        if function.reference is None:
            continue
        given = [
            f"{'&' if note.port.shape else ''}{_array_text(note.port, values, kind)}"
            for note, values in zip(function.inputs, function.reference.inputs, strict=True)
        ]
        lines += ["", "    #[test]", f"    fn {function.identifier}() {{"]
        lines.append(f"        let found = super::{function.identifier}({', '.join(given)});")
        pairs = zip(function.outputs, function.reference.outputs, strict=True)
        for k, (note, values) in enumerate(pairs):
            one = "found" if len(function.outputs) == 1 else f"found.{k}"
            flat = {0: f"&[{one}]", 1: f"&{one}", 2: f"&{one}.concat()"}[len(note.port.shape)]
            wanted = ", ".join(_rust_number(value, kind) for value in values)
            lines.append(f"        compare({flat}, &[{wanted}]);")
        lines.append("    }")
    return [*lines, "}"]


def _array_text(port: Port, values: tuple[float, ...], kind: str) -> str:
    """An array of numbers, or of rows."""
    texts = [_rust_number(value, kind) for value in values]
    if not port.shape:
        return texts[0]
    if len(port.shape) == 1:
        return f"[{', '.join(texts)}]"
    width = port.shape[1]
    rows = [", ".join(texts[k : k + width]) for k in range(0, len(texts), width)]
    return f"[{', '.join(f'[{row}]' for row in rows)}]"
