"""Tapes as functions of MATLAB and GNU Octave, one file for each."""

from __future__ import annotations

import math

from ...ports import Port
from ...tape import OPERATION_ARITY, Op
from .exported_code import ExportedCode, ExportedFunction, describe_port
from .tape_statements import (
    HELPER_FUNCTIONS,
    MATH_FUNCTIONS,
    CodeLanguage,
    CodeStatement,
    list_tape_statements,
)

_HELPER_BODIES = {
    Op.SIGN: "sign(x)", Op.LT: "double(x < y)", Op.LE: "double(x <= y)", Op.EQ: "double(x == y)",
    Op.NE: "double(x ~= y)", Op.AND: "double(x ~= 0 && y ~= 0)",
    Op.OR: "double(x ~= 0 || y ~= 0)", Op.NOT: "double(x == 0)", Op.FMA: "x*y + z",
}  # fmt: skip
_BRANCH_HELPERS = {
    Op.MIN: ("x < y || x ~= x", "x", "y"),
    Op.MAX: ("x > y || x ~= x", "x", "y"),
    Op.SELECT: ("x ~= 0", "y", "z"),
}
"""Helpers that choose: a condition and the values where it is true and false."""

_MAX_NAME_LENGTH = 63
"""The longest name of MATLAB."""

_HELPER_NAMES = {op: f"lw_{name}" for op, name in (HELPER_FUNCTIONS | {Op.FMA: "fma"}).items()}


def matlab_number(value: float) -> str:
    """Return a constant of MATLAB that is read as exactly this number."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    return repr(value)


def _matlab_entry(name: str, port: Port, entry: int) -> str:
    """An entry of an array, counted from 1."""
    if not port.shape:
        return name
    if len(port.shape) == 1:
        return f"{name}({entry + 1})"
    row, column = divmod(entry, port.shape[1])
    return f"{name}({row + 1}, {column + 1})"


_MATLAB_LANGUAGE = CodeLanguage(
    MATH_FUNCTIONS | _HELPER_NAMES | {Op.POW: "power", Op.ABS: "abs"},
    matlab_number,
    _matlab_entry,
)


def write_matlab_files(code: ExportedCode) -> tuple[dict[str, str], str]:
    """Return the texts of the files by name, and how they are used."""
    files = {
        f"{_function_name(code, function)}.m": _write_function_file(code, function)
        for function in code.functions
    }
    files[f"{code.stem}_check.m"] = _write_check(code)
    first = code.functions[0]
    call = f"{_function_name(code, first)}({', '.join(note.name for note in first.inputs)})"
    return files, f"in MATLAB or Octave, in this folder:\n{call}\n{code.stem}_check\n"


def _function_name(code: ExportedCode, function: ExportedFunction) -> str:
    """The name of a function; it begins with the mechanism's, since names of MATLAB are global."""
    room = _MAX_NAME_LENGTH - len(function.identifier) - 1
    return f"{code.stem[:room]}_{function.identifier}"


def _write_function_file(code: ExportedCode, function: ExportedFunction) -> str:
    """Return the file of one function."""
    outputs = ", ".join(note.name for note in function.outputs)
    returned = f"[{outputs}]" if len(function.outputs) > 1 else outputs
    arguments = ", ".join(note.name for note in function.inputs)
    width = max(len(name) for name in function.port_names)
    name = _function_name(code, function)
    lines = [
        f"function {returned} = {name}({arguments})",
        f"%{name.upper()} {function.sentence}",
        "%",
        *(f"%   {note.name.ljust(width)}  {describe_port(note)}" for note in function.inputs),
        "%",
        *(f"%   {note.name.ljust(width)}  {describe_port(note)}" for note in function.outputs),
        "%",
        *(f"%   {line}".rstrip() for line in code.heading),
        "",
    ]
    for note in function.outputs:
        shape = (*note.port.shape, 1, 1)[:2]
        lines.append(f"  {note.name} = zeros({shape[0]}, {shape[1]});")
    names = function.port_names
    statements = list_tape_statements(
        function.tape, _MATLAB_LANGUAGE, names[: len(function.inputs)], names
    )
    lines += [f"  {_write_statement(one, function)}" for one in statements]
    lines.append("end")
    for op in sorted(set(function.tape.operations) & _HELPER_NAMES.keys()):
        lines += ["", *_write_helper(op)]
    return "\n".join([*lines, ""])


def _write_helper(op: Op) -> list[str]:
    """Return a function at the end of the file."""
    arguments = ", ".join("xyz"[: OPERATION_ARITY[op]])
    head = f"function r = {_HELPER_NAMES[op]}({arguments})"
    if op in _HELPER_BODIES:
        return [head, f"  r = {_HELPER_BODIES[op]};", "end"]
    condition, yes, no = _BRANCH_HELPERS[op]
    return [
        head,
        f"  if {condition}",
        f"    r = {yes};",
        "  else",
        f"    r = {no};",
        "  end",
        "end",
    ]


def _write_statement(statement: CodeStatement, function: ExportedFunction) -> str:
    """Return one assignment of MATLAB."""
    if statement.name:
        return f"{statement.name} = {statement.text};"
    output, entry = statement.output
    note = function.outputs[output]
    return f"{_matlab_entry(note.name, note.port, entry)} = {statement.text};"


def _write_check(code: ExportedCode) -> str:
    """Return the script that compares all functions with their reference values."""
    name = f"{code.stem}_check"
    lines = [f"function {name}()"]
    lines += [
        f"%{code.stem.upper()}_CHECK Compare all functions with values from ball arithmetic.",
        "",
    ]
    for function in code.functions:
        if function.reference is None:
            continue
        given = ", ".join(
            _array_text(note.port, values)
            for note, values in zip(function.inputs, function.reference.inputs, strict=True)
        )
        found = ", ".join(f"found{k + 1}" for k in range(len(function.outputs)))
        lines.append(f"  [{found}] = {_function_name(code, function)}({given});")
        pairs = zip(function.outputs, function.reference.outputs, strict=True)
        for k, (note, values) in enumerate(pairs):
            wanted = _array_text(note.port, values)
            lines.append(f"  compare('{function.identifier}', found{k + 1}, {wanted});")
    return "\n".join(
        [
            *lines,
            "end",
            "",
            "function compare(name, found, wanted)",
            f"  allowed = {code.tolerance}*max(1, max(abs(wanted(:))));",
            "  if any(size(found) ~= size(wanted)) || ~all(abs(found(:) - wanted(:)) <= allowed)",
            "    error('%s differs from its reference values', name);",
            "  end",
            "  fprintf('%s: ok\\n', name);",
            "end",
            "",
        ]
    )


def _array_text(port: Port, values: tuple[float, ...]) -> str:
    """An array as MATLAB writes it: vectors are columns."""
    columns = port.shape[1] if len(port.shape) == 2 else 1
    texts = [matlab_number(value) for value in values]
    rows = [", ".join(texts[k : k + columns]) for k in range(0, len(texts), columns)]
    return f"[{'; '.join(rows)}]"
