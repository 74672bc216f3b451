"""Tapes as a Python module that needs only NumPy; functions work over leading axes."""

from __future__ import annotations

import math

from ...tape import OPERATION_ARITY, Op
from .exported_code import ExportedCode, ExportedFunction, describe_port_meaning
from .tape_statements import (
    HELPER_FUNCTIONS,
    CodeLanguage,
    CodeStatement,
    list_tape_statements,
    used_tape_operations,
)

_NUMPY_FUNCTIONS = {
    Op.SQRT: "sqrt", Op.SIN: "sin", Op.COS: "cos", Op.TAN: "tan", Op.ASIN: "arcsin",
    Op.ACOS: "arccos", Op.ATAN2: "arctan2", Op.EXP: "exp", Op.LOG: "log", Op.POW: "power",
    Op.TANH: "tanh", Op.FLOOR: "floor", Op.ABS: "abs", Op.SIGN: "sign", Op.MIN: "minimum",
    Op.MAX: "maximum",
}  # fmt: skip
_HELPER_BODIES = {
    Op.LT: "x < y", Op.LE: "x <= y", Op.EQ: "x == y", Op.NE: "x != y",
    Op.AND: "(x != 0) & (y != 0)", Op.OR: "(x != 0) | (y != 0)", Op.NOT: "x == 0",
}  # fmt: skip
_SPECIAL_HELPERS = {
    Op.SELECT: "def _select(x, y, z):\n    return np.where(x != 0, y, z)\n",
    Op.FMA: "def _fma(x, y, z):\n    return x * y + z\n",
}
_READ_INPUT = '''\
def _read_input(value, name, shape):
    """Return an input as an array, whose last axes must have the given shape."""
    array = np.asarray(value, dtype=float)
    if array.shape[array.ndim - len(shape) :] != shape:
        raise ValueError(f"{name} has the shape {array.shape}; its last axes must be {shape}")
    return array
'''
_BATCH_SHAPE = '''\
def _batch_shape(*pairs):
    """Return the shape of the leading axes of all inputs together."""
    return np.broadcast_shapes(*(x.shape[: x.ndim - axes] for x, axes in pairs))
'''


def python_number(value: float) -> str:
    """Return a Python expression for a number."""
    if math.isnan(value):
        return "np.nan"
    if math.isinf(value):
        return "np.inf" if value > 0 else "-np.inf"
    return repr(value)


def _numpy_language() -> CodeLanguage:
    """How NumPy writes the operations of a tape."""
    functions = {op: f"np.{name}" for op, name in _NUMPY_FUNCTIONS.items()}
    helpers = HELPER_FUNCTIONS | {Op.FMA: "fma"}
    return CodeLanguage(
        {op: f"_{name}" for op, name in helpers.items()} | functions,
        python_number,
        lambda name, port, entry: f"{name}[{_index_text(port.shape, entry)}]",
        names_inputs=True,
    )


def _index_text(shape: tuple[int, ...], entry: int) -> str:
    """An entry of the last axes: ..., 0, 1."""
    if not shape:
        return "..."
    places = [entry] if len(shape) == 1 else list(divmod(entry, shape[-1]))
    return ", ".join(["...", *map(str, places)])


def write_numpy_module(code: ExportedCode) -> str:
    """Return the text of the module."""
    used = used_tape_operations([function.tape for function in code.functions])
    lines = ['"""' + code.heading[0], *code.heading[1:], '"""', "", "import numpy as np", "", ""]
    lines += [_READ_INPUT, "", _BATCH_SHAPE, ""]
    for op in sorted(used & _HELPER_BODIES.keys()):
        letters = ", ".join("xy"[: OPERATION_ARITY[op]])
        lines.append(f"def _{HELPER_FUNCTIONS[op]}({letters}):")
        lines += [f"    return 1.0 * ({_HELPER_BODIES[op]})", "", ""]
    for op in sorted(used & _SPECIAL_HELPERS.keys()):
        lines += [_SPECIAL_HELPERS[op], ""]
    for function in code.functions:
        lines += [*_write_function(function), "", ""]
    return "\n".join([*lines, *_write_check(code), ""])


def _write_function(function: ExportedFunction) -> list[str]:
    """Return the lines of one function."""
    inputs = [note.name for note in function.inputs]
    lines = [f"def {function.identifier}({', '.join(inputs)}):"]
    lines += [f'    """{function.sentence}', "", "    Parameters", "    ----------"]
    for note in function.inputs:
        lines += [f"    {note.name} : {_shape_text(note.port.shape)} array"]
        lines += [f"        {describe_port_meaning(note)}"]
    lines += ["", "    Returns", "    -------"]
    for note in function.outputs:
        lines += [f"    {note.name} : {_shape_text(note.port.shape)} array"]
        lines += [f"        {describe_port_meaning(note)}"]
    lines.append('    """')
    for note in function.inputs:
        lines.append(
            f'    {note.name} = _read_input({note.name}, "{note.name}", {note.port.shape})'
        )
    pairs = ", ".join(f"({note.name}, {len(note.port.shape)})" for note in function.inputs)
    lines.append(f"    batch = _batch_shape({pairs})")
    for note in function.outputs:
        shape = "".join(f", {size}" for size in note.port.shape)
        lines.append(f"    {note.name} = np.empty({f'(*batch{shape})' if shape else 'batch'})")
    statements = list_tape_statements(
        function.tape, _numpy_language(), inputs, [*function.port_names, "np", "batch"]
    )
    lines += [f"    {_write_statement(one, function)}" for one in statements]
    results = [note.name if note.port.shape else f"{note.name}[()]" for note in function.outputs]
    return [*lines, f"    return {', '.join(results)}"]


def _shape_text(shape: tuple[int, ...]) -> str:
    return f"({', '.join(['...', *map(str, shape)])})"


def _write_statement(statement: CodeStatement, function: ExportedFunction) -> str:
    """Return one assignment of Python."""
    if statement.name:
        return f"{statement.name} = {statement.text}"
    output, entry = statement.output
    note = function.outputs[output]
    return f"{note.name}[{_index_text(note.port.shape, entry)}] = {statement.text}"


def _write_check(code: ExportedCode) -> list[str]:
    """Return the lines that compare all functions with their reference values."""
    lines = [
        "def _compare(name, found, wanted):",
        '    """Compare the outputs of a function with their reference values."""',
        "    for one, other in zip(found, wanted):",
        f"        allowed = {code.tolerance} * max(1.0, np.abs(other).max())",
        "        np.testing.assert_allclose(np.ravel(one), other, rtol=0, atol=allowed)",
        '    print(f"{name}: ok")',
        "",
        "",
        "def check():",
        '    """Compare every function with values from ball arithmetic."""',
    ]
    for function in code.functions:
        if function.reference is None:
            continue
        lines.append(f"    found = {function.identifier}(")
        for note, values in zip(function.inputs, function.reference.inputs, strict=True):
            lines.append(f"        {_array_text(note.port.shape, values)},")
        several = "found" if len(function.outputs) > 1 else "[found]"
        lines += ["    )", "    wanted = ["]
        lines += [f"        {_list_text(values)}," for values in function.reference.outputs]
        lines += ["    ]", f'    _compare("{function.identifier}", {several}, wanted)']
    return [*lines, "", "", 'if __name__ == "__main__":', "    check()"]


def _array_text(shape: tuple[int, ...], values: tuple[float, ...]) -> str:
    """An input of the given shape: nested lists are reshaped."""
    if not shape:
        return python_number(values[0])
    return _list_text(values) if len(shape) == 1 else f"np.reshape({_list_text(values)}, {shape})"


def _list_text(values: tuple[float, ...]) -> str:
    return f"[{', '.join(python_number(value) for value in values)}]"
