"""Tapes as a C++11 header: templates over the scalar type, and overloads for Eigen."""

from __future__ import annotations

from ...ports import Port
from ...tape import OPERATION_ARITY, Op
from .c_code import (
    C_HELPER_BODIES,
    c_entry,
    c_number,
    c_parameters,
    describe_c_function,
    write_c_comment,
    write_c_prototype,
    write_unused_ports,
)
from .exported_code import ExportedCode, ExportedFunction
from .tape_statements import (
    HELPER_FUNCTIONS,
    MATH_FUNCTIONS,
    CodeLanguage,
    list_tape_statements,
    used_tape_operations,
)

_CPP_LANGUAGE = CodeLanguage(
    MATH_FUNCTIONS | {op: f"detail::{name}" for op, name in HELPER_FUNCTIONS.items()},
    lambda value: f"Scalar({c_number(value)})",
    c_entry,
)


def write_cpp_files(code: ExportedCode) -> tuple[dict[str, str], str]:
    """Return the texts of the files by name, and how they are compiled."""
    stem = code.stem
    files = {f"{stem}.hpp": write_cpp_header(code), f"{stem}_check.cpp": _write_cpp_check(code)}
    return files, f"c++ -O3 -I/usr/include/eigen3 {stem}_check.cpp -o check && ./check\n"


def write_cpp_header(code: ExportedCode) -> str:
    """Return the header."""
    used = used_tape_operations([function.tape for function in code.functions])
    lines = [
        *write_c_comment(
            [
                *code.heading,
                "",
                "Functions of pointers are templates: Scalar may be float, double, or a type for",
                "automatic differentiation. Matrices are stored by rows, in Eigen too.",
            ]
        ),
        "#pragma once",
        "",
        "#include <Eigen/Core>",
        "#include <cmath>",
        "",
        f"namespace {code.stem} {{",
        "",
        *_write_helpers(used),
    ]
    for function in code.functions:
        lines += [*_write_template(function, used), "", *_write_overload(function, code.precision)]
        lines.append("")
    return "\n".join([*lines, f"}}  // namespace {code.stem}", ""])


def _write_helpers(used: set[Op]) -> list[str]:
    """Return the operations that C++ lacks, as templates."""
    lines: list[str] = []
    for op, name in HELPER_FUNCTIONS.items():
        if op in used:
            given = ", ".join(f"const Scalar& {x}" for x in "xyz"[: OPERATION_ARITY[op]])
            condition, *values = C_HELPER_BODIES[op].split(" ? ", 1)
            body = f"{condition} ? {values[0]}" if values else f"Scalar({condition} ? 1 : 0)"
            if op is Op.SIGN:
                body = "x > 0 ? Scalar(1) : x < 0 ? Scalar(-1) : x"
            lines += ["template <typename Scalar>", f"inline Scalar {name}({given})"]
            lines += ["{", f"    return {body};", "}", ""]
    return ["namespace detail {", "", *lines, "}  // namespace detail", ""] if lines else []


def _write_template(function: ExportedFunction, used: set[Op]) -> list[str]:
    """Return the function of pointers."""
    names = function.port_names
    parameters = [text.replace("* ", "*") for text in c_parameters(function, "Scalar", "")]
    own = {op for op in function.tape.operations if op in MATH_FUNCTIONS}
    statements = list_tape_statements(
        function.tape, _CPP_LANGUAGE, names[: len(function.inputs)], names
    )
    lines = [*write_c_comment(describe_c_function(function, 8)), "template <typename Scalar>"]
    lines += [write_c_prototype("inline void", function.identifier, parameters), "{"]
    lines += [f"    using std::{MATH_FUNCTIONS[op]};" for op in sorted(own)]
    lines += [f"    {line}" for line in write_unused_ports(function)]
    for one in statements:
        output, entry = one.output
        left = (
            f"const Scalar {one.name}" if one.name else f"{function.outputs[output].name}[{entry}]"
        )
        lines.append(f"    {left} = {one.text};")
    return [*lines, "}"]


def _eigen_type(port: Port, kind: str) -> str:
    """The type of Eigen for an input or output; matrices are stored by rows."""
    if not port.shape:
        return kind
    rows, columns = (*port.shape, 1)[:2]
    by_rows = ", Eigen::RowMajor" if columns > 1 else ""
    return f"Eigen::Matrix<{kind}, {rows}, {columns}{by_rows}>"


def _write_overload(function: ExportedFunction, kind: str) -> list[str]:
    """Return the function of vectors and maps of Eigen; several outputs are arguments."""
    inputs = []
    for note in function.inputs:
        own = _eigen_type(note.port, kind)
        own = f"const Eigen::Ref<const {own}>&" if note.port.shape else own
        inputs.append(f"{own} {note.name}")
    given = [f"{n.name}.data()" if n.port.shape else n.name for n in function.inputs]
    single = len(function.outputs) == 1
    outputs = [f"{_eigen_type(note.port, kind)}& {note.name}" for note in function.outputs]
    results = [n.name + ".data()" if n.port.shape else f"&{n.name}" for n in function.outputs]
    returned = _eigen_type(function.outputs[0].port, kind) if single else "void"
    lines = [
        f"/* The same for types and maps of Eigen{'' if single else ', outputs last'}. */",
        write_c_prototype(
            f"inline {returned}", function.identifier, inputs if single else [*inputs, *outputs]
        ),
        "{",
    ]
    first = function.outputs[0]
    if single:
        lines.append(f"    {returned} {first.name};")
    lines.append(f"    {function.identifier}<{kind}>({', '.join([*given, *results])});")
    return [*lines, *([f"    return {first.name};"] if single else []), "}"]


def _write_cpp_check(code: ExportedCode) -> str:
    """Return the program that compares all functions with their reference values."""
    kind = code.precision
    lines = [
        *write_c_comment([*code.heading, "", "Returns 0 if all functions give these values."]),
        f'#include "{code.stem}.hpp"',
        "",
        "#include <cstdio>",
        "",
        f"static int compare(const char *what, const {kind} *found, const {kind} *wanted,",
        "                   int size)",
        "{",
        f"    {kind} error = 0, largest = 1;",
        "    for (int k = 0; k < size; k++) {",
        "        error = std::fmax(error, std::fabs(found[k] - wanted[k]));",
        "        error = found[k] == found[k] ? error : INFINITY;",
        "        largest = std::fmax(largest, std::fabs(wanted[k]));",
        "    }",
        f"    const bool failed = error > {c_number(code.tolerance, kind)} * largest;",
        '    std::printf("%s: %s\\n", what, failed ? "FAILED" : "ok");',
        "    return failed;",
        "}",
        "",
        "int main()",
        "{",
        "    int failures = 0;",
    ]
    for function in code.functions:
        if function.reference is not None:
            lines += [f"    {line}" for line in _write_cpp_comparison(code, function)]
    return "\n".join([*lines, "    return failures != 0;", "}", ""])


def _write_cpp_comparison(code: ExportedCode, function: ExportedFunction) -> list[str]:
    """Return the block that checks one function through maps of Eigen."""
    assert function.reference is not None
    kind, lines, given = code.precision, ["{"], []
    for note, values in zip(function.inputs, function.reference.inputs, strict=True):
        numbers = ", ".join(c_number(value, kind) for value in values)
        lines.append(f"    const {kind} given_{note.name}[] = {{{numbers}}};")
        own = _eigen_type(note.port, kind)
        mapped = f"Eigen::Map<const {own}>(given_{note.name})"
        given.append(mapped if note.port.shape else f"given_{note.name}[0]")
    for note, values in zip(function.outputs, function.reference.outputs, strict=True):
        numbers = ", ".join(c_number(value, kind) for value in values)
        lines.append(f"    const {kind} wanted_{note.name}[] = {{{numbers}}};")
    outputs = function.outputs
    call = f"{code.stem}::{function.identifier}"
    if len(outputs) == 1:
        lines.append(f"    const auto {outputs[0].name} = {call}({', '.join(given)});")
    else:
        lines += [f"    {_eigen_type(note.port, kind)} {note.name};" for note in outputs]
        lines.append(f"    {call}({', '.join([*given, *(note.name for note in outputs)])});")
    for note in outputs:
        found = f"{note.name}.data()" if note.port.shape else f"&{note.name}"
        sizes = f"{found}, wanted_{note.name}, {note.port.size}"
        lines.append(f'    failures += compare("{function.identifier} {note.name}", {sizes});')
    return [*lines, "}"]
