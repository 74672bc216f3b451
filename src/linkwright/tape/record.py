"""The recording of a CasADi SX function as a tape, with a new value for each instruction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ..errors import UnsupportedError
from ..ports import Port
from ..types import Integers
from .tape import Op, Tape
from .writer import TapeWriter, remove_dead_tape_instructions

if TYPE_CHECKING:
    import casadi as ca


_NOT_IN_CASADI = {Op.CONSTANT, Op.INPUT, Op.SELECT, Op.FMA}
_CASADI_OPERATIONS: dict[str, Op] = {op.name: op for op in set(Op) - _NOT_IN_CASADI} | {
    "CONSTPOW": Op.POW,
    "FABS": Op.ABS,
    "FMIN": Op.MIN,
    "FMAX": Op.MAX,
}


@cache
def _recorded_casadi_operations() -> dict[int, Op | str]:
    """CasADi's operations by their codes: those of tapes, and the names of all others."""
    import casadi as ca

    names = {getattr(ca, name): name[3:] for name in dir(ca) if name.startswith("OP_")}
    return {number: _CASADI_OPERATIONS.get(name, name) for number, name in names.items()}


def record_tape(
    function: ca.Function,
    inputs: Sequence[Port] | None = None,
    outputs: Sequence[Port] | None = None,
) -> Tape:
    """The tape of a `casadi.Function` of SX expressions.

    CasADi knows only matrices; `inputs` and `outputs` give the actual shapes.
    """
    # the functions of C++ themselves: half the time of the methods around them
    from casadi import casadi as bindings

    binding = vars(bindings)["_casadi"]
    identify, sources = binding.Function_instruction_id, binding.Function_instruction_input
    targets, operations = binding.Function_instruction_output, _recorded_casadi_operations()
    writer = TapeWriter()
    write = writer.write_instruction
    rows_in = [_recorded_row_major_indices(function.sparsity_in(i)) for i in range(function.n_in())]
    rows_out = [
        _recorded_row_major_indices(function.sparsity_out(i)) for i in range(function.n_out())
    ]
    slots: dict[int, int] = {}
    results = [
        np.full(_recorded_output_size(function, i), -1, np.int32) for i in range(function.n_out())
    ]
    for k in range(function.n_instructions()):
        operation = operations[identify(function, k)]
        source, target = sources(function, k), targets(function, k)
        if isinstance(operation, Op):
            slots[target[0]] = write(operation, *[slots[s] for s in source])
        elif operation == "OUTPUT":
            results[target[0]][rows_out[target[0]][target[1]]] = slots[source[0]]
        elif operation == "INPUT":
            slots[target[0]] = write(Op.INPUT, source[0], int(rows_in[source[0]][source[1]]))
        elif operation == "CONST":
            slots[target[0]] = writer.write_constant(function.instruction_constant(k))
        else:
            slots[target[0]] = _record_casadi_operation(
                writer, operation, [slots[s] for s in source]
            )
    for result in results:
        if (result < 0).any():
            result[result < 0] = writer.write_constant(0.0)
    tape = writer.finish_tape(
        function.name(),
        inputs or _recorded_function_ports(function.name_in, function.size_in, function.n_in()),
        outputs or _recorded_function_ports(function.name_out, function.size_out, function.n_out()),
        results,
    )
    return remove_dead_tape_instructions(tape)


def _record_casadi_operation(writer: TapeWriter, code: str, operands: list[int]) -> int:
    """Writes a CasADi operation that tapes lack by those that they have; the register of its
    value."""
    (a, *rest) = operands
    match code:
        case "SQ":
            return writer.write_instruction(Op.MUL, a, a)
        case "TWICE":
            return writer.write_instruction(Op.ADD, a, a)
        case "INV":
            return writer.write_instruction(Op.DIV, writer.write_constant(1.0), a)
        case "ATAN":
            return writer.write_instruction(Op.ATAN2, a, writer.write_constant(1.0))
        case "IF_ELSE_ZERO":
            return writer.write_instruction(Op.SELECT, a, rest[0], writer.write_constant(0.0))
        case _:
            raise UnsupportedError(
                f"the operation {code} cannot be on a tape",
                remedy="express it by the operations that are listed in the conventions",
            )


def _recorded_row_major_indices(sparsity: ca.Sparsity) -> Integers:
    """The row-major index in the full array of each stored entry (CasADi's column order)."""
    rows, columns = (np.array(indices, np.int64) for indices in sparsity.get_triplet())
    return rows * int(sparsity.size2()) + columns


def _recorded_output_size(function: ca.Function, output: int) -> int:
    """The number of entries of an output."""
    return int(function.numel_out(output))


def _recorded_function_ports(
    name: Callable[[int], str], size: Callable[[int], tuple[int, int]], count: int
) -> list[Port]:
    """The ports of a CasADi function; a matrix of one column is a vector."""
    found = []
    for i in range(count):
        rows, columns = size(i)
        found.append(Port(name(i), (rows, columns) if columns > 1 else (rows,)))
    return found
