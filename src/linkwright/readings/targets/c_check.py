"""The C program that compares exported functions with their reference values."""

from __future__ import annotations

from collections.abc import Sequence

from .c_code import c_number, write_c_comment
from .exported_code import ExportedCode, ExportedFunction, PortNote

_BATCH_COUNT = 19
"""States of the batch that is checked: whole vectors of any width up to 16, and a rest."""


def write_c_check(code: ExportedCode) -> str:
    """Return the source of a program that returns 0 if all functions give the reference values."""
    kind, stem = code.precision, code.stem
    lines = [
        *write_c_comment(
            [
                *code.heading,
                "",
                "Compares every function with values from ball arithmetic; returns 0 if all agree.",
                f"Define {stem.upper()}_NO_BATCH to leave out batches.",
            ]
        ),
        f'#include "{stem}.h"',
        "",
        "#include <math.h>",
        "#include <stdio.h>",
        "",
        f"static int check_values(const char *what, const {kind} *found, const {kind} *wanted,",
        "                        size_t count)",
        "{",
        f"    {kind} error = 0, largest = 1;",
        "    for (size_t k = 0; k < count; k++) {",
        f"        const {kind} difference = (found[k] - wanted[k]);",
        f"        const {kind} distance = difference < 0 ? -difference : difference;",
        f"        const {kind} size = wanted[k] < 0 ? -wanted[k] : wanted[k];",
        "        error = distance > error || distance != distance ? distance : error;",
        "        largest = size > largest ? size : largest;",
        "    }",
        f"    const int failed = !(error <= {c_number(code.tolerance, kind)} * largest);",
        "    if (failed)",
        '        printf("%s: error %.1e, largest entry %.1e\\n", what, (double)error,',
        "               (double)largest);",
        "    return failed;",
        "}",
        "",
    ]
    checked = [function for function in code.functions if function.reference is not None]
    for function in checked:
        lines += [*_write_check_function(function, stem, kind), ""]
    lines += ["int main(void)", "{", "    int failures = 0;"]
    lines += [f"    failures += check_{function.identifier}();" for function in checked]
    return "\n".join(
        [*lines, '    printf("%d failures\\n", failures);', "    return failures != 0;", "}", ""]
    )


def _write_check_function(function: ExportedFunction, stem: str, kind: str) -> list[str]:
    """Return the function that checks one exported function, one state and a batch."""
    assert function.reference is not None
    lines = [f"static int check_{function.identifier}(void)", "{", "    int failures = 0;"]
    for note, values in zip(function.inputs, function.reference.inputs, strict=True):
        lines.append(_write_array(f"given_{note.name}", values, kind))
    for note, values in zip(function.outputs, function.reference.outputs, strict=True):
        lines.append(_write_array(f"wanted_{note.name}", values, kind))
        lines.append(f"    {kind} found_{note.name}[{note.port.size}];")
    arguments = [
        f"given_{note.name}" if note.port.shape else f"given_{note.name}[0]"
        for note in function.inputs
    ] + [f"found_{note.name}" for note in function.outputs]
    name = f"{stem}_{function.identifier}"
    lines.append(f"    {name}({', '.join(arguments)});")
    lines += [_write_comparison(function, note, f"found_{note.name}") for note in function.outputs]
    lines += [f"#ifndef {stem.upper()}_NO_BATCH", *_write_batch_check(function, name, kind)]
    lines += ["#endif", f'    printf("{function.identifier}: %s\\n", failures ? "FAILED" : "ok");']
    return [*lines, "    return failures;", "}"]


def _write_batch_check(function: ExportedFunction, name: str, kind: str) -> list[str]:
    """Return the statements that check a batch of equal states, the last of its results."""
    lines, arguments = [], [str(_BATCH_COUNT)]
    for note in function.inputs:
        size = note.port.size
        lines += [
            f"    {kind} many_{note.name}[{_BATCH_COUNT * size}];",
            f"    for (size_t k = 0; k < {_BATCH_COUNT * size}; k++)",
            f"        many_{note.name}[k] = given_{note.name}[k % {size}];",
        ]
    for note in function.outputs:
        lines.append(f"    {kind} all_{note.name}[{_BATCH_COUNT * note.port.size}];")
    arguments += [f"many_{note.name}" for note in function.inputs]
    arguments += [f"all_{note.name}" for note in function.outputs]
    lines.append(f"    {name}_batch({', '.join(arguments)});")
    lines.append(f"    for (size_t k = 0; k < {_BATCH_COUNT}; k++) {{")
    for note in function.outputs:
        place = f"all_{note.name} + k * {note.port.size}"
        lines.append(f"    {_write_comparison(function, note, place, ' in a batch')}")
    return [*lines, "    }"]


def _write_comparison(
    function: ExportedFunction, note: PortNote, found: str, where: str = ""
) -> str:
    what = f'"{function.identifier}{where}: {note.name}"'
    return f"    failures += check_values({what}, {found}, wanted_{note.name}, {note.port.size});"


def _write_array(name: str, values: Sequence[float], kind: str) -> str:
    """Return the definition of a constant array, a few numbers in each line."""
    texts = [c_number(value, kind) for value in values]
    line = f"    static const {kind} {name}[{len(texts)}] = {{{', '.join(texts)}}};"
    if len(line) <= 100:
        return line
    rows = [", ".join(texts[k : k + 4]) for k in range(0, len(texts), 4)]
    return f"    static const {kind} {name}[{len(texts)}] = {{\n        " + (
        ",\n        ".join(rows) + ",\n    };"
    )
