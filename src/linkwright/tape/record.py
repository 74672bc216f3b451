"""From a CasADi SX function to a tape. CasADi reuses work slots; here each value is new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import UnsupportedError
from .tape import COMMUTATIVE, Op, Port, Tape

_DIRECT = {
    ca.OP_ADD: Op.ADD, ca.OP_SUB: Op.SUB, ca.OP_MUL: Op.MUL, ca.OP_DIV: Op.DIV, ca.OP_NEG: Op.NEG,
    ca.OP_SQRT: Op.SQRT, ca.OP_SIN: Op.SIN, ca.OP_COS: Op.COS, ca.OP_TAN: Op.TAN,
    ca.OP_ASIN: Op.ASIN, ca.OP_ACOS: Op.ACOS, ca.OP_ATAN2: Op.ATAN2, ca.OP_EXP: Op.EXP,
    ca.OP_LOG: Op.LOG, ca.OP_POW: Op.POW, ca.OP_CONSTPOW: Op.POW, ca.OP_TANH: Op.TANH,
    ca.OP_FABS: Op.ABS, ca.OP_SIGN: Op.SIGN, ca.OP_FMIN: Op.MIN, ca.OP_FMAX: Op.MAX,
    ca.OP_LT: Op.LT, ca.OP_LE: Op.LE, ca.OP_EQ: Op.EQ, ca.OP_NE: Op.NE, ca.OP_AND: Op.AND,
    ca.OP_OR: Op.OR, ca.OP_NOT: Op.NOT, ca.OP_FLOOR: Op.FLOOR,
}  # fmt: skip
_NAMES = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}


class Writer:
    """Instructions in single assignment; an instruction that was written before is reused."""

    def __init__(self) -> None:
        self.ops: list[int] = []
        self.args: list[tuple[int, int, int]] = []
        self.constants: list[float] = []
        self.known: dict[tuple[Any, ...], int] = {}

    def write(self, op: Op, a: int = -1, b: int = -1, c: int = -1, constant: float = 0.0) -> int:
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        # −0.0 and 0.0 are different constants
        key = (op, a, b, c, constant, np.signbit(constant) if op is Op.CONSTANT else False)
        if key not in self.known:
            self.known[key] = len(self.ops)
            self.ops.append(op)
            self.args.append((a, b, c))
            self.constants.append(constant)
        return self.known[key]

    def constant(self, value: float) -> int:
        return self.write(Op.CONSTANT, constant=value)

    def tape(
        self,
        name: str,
        inputs: Sequence[Port],
        outputs: Sequence[Port],
        results: Sequence[NDArray[np.int32]],
    ) -> Tape:
        return Tape(
            name,
            tuple(inputs),
            tuple(outputs),
            np.array(self.ops, np.int16),
            np.array(self.args, np.int32).reshape(-1, 3),
            np.array(self.constants, np.float64),
            tuple(results),
        )


def record(
    function: Any, inputs: Sequence[Port] | None = None, outputs: Sequence[Port] | None = None
) -> Tape:
    """The tape of a `casadi.Function` made of SX expressions.

    CasADi knows matrices only; `inputs` and `outputs` may say the true shapes.
    """
    writer = Writer()
    rows_in = [_row_major(function.sparsity_in(i)) for i in range(function.n_in())]
    rows_out = [_row_major(function.sparsity_out(i)) for i in range(function.n_out())]
    slots: dict[int, int] = {}
    results = [np.full(max(1, _numel(function, i)), -1, np.int32) for i in range(function.n_out())]
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        source, target = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_OUTPUT:
            results[target[0]][rows_out[target[0]][target[1]]] = slots[source[0]]
        elif code == ca.OP_INPUT:
            slots[target[0]] = writer.write(Op.INPUT, source[0], int(rows_in[source[0]][source[1]]))
        elif code == ca.OP_CONST:
            slots[target[0]] = writer.constant(function.instruction_constant(k))
        else:
            slots[target[0]] = _translate(writer, code, [slots[s] for s in source])
    for result in results:
        if (result < 0).any():
            result[result < 0] = writer.constant(0.0)
    tape = writer.tape(
        function.name(),
        inputs or _ports(function.name_in, function.size_in, function.n_in()),
        outputs or _ports(function.name_out, function.size_out, function.n_out()),
        results,
    )
    return without_dead(tape)


def _translate(writer: Writer, code: int, operands: list[int]) -> int:
    if code in _DIRECT:
        return writer.write(_DIRECT[code], *operands)
    (a, *rest) = operands
    match code:
        case ca.OP_SQ:
            return writer.write(Op.MUL, a, a)
        case ca.OP_TWICE:
            return writer.write(Op.ADD, a, a)
        case ca.OP_INV:
            return writer.write(Op.DIV, writer.constant(1.0), a)
        case ca.OP_ATAN:
            return writer.write(Op.ATAN2, a, writer.constant(1.0))
        case ca.OP_IF_ELSE_ZERO:
            return writer.write(Op.SELECT, a, rest[0], writer.constant(0.0))
        case _:
            raise UnsupportedError(
                f"the operation {_NAMES.get(code, code)} cannot be on a tape",
                remedy="express it by the operations that are listed in the conventions",
            )


def _row_major(sparsity: Any) -> NDArray[np.int64]:
    """For each stored entry (CasADi's column order), its row-major index in the full array."""
    rows, columns = (np.array(indices, np.int64) for indices in sparsity.get_triplet())
    return rows * int(sparsity.size2()) + columns


def _numel(function: Any, output: int) -> int:
    return int(function.numel_out(output))


def _ports(name: Any, size: Any, count: int) -> list[Port]:
    found = []
    for i in range(count):
        rows, columns = size(i)
        found.append(Port(name(i), (rows, columns) if columns > 1 else (rows,)))
    return found


def without_dead(tape: Tape) -> Tape:
    """The tape without instructions that no output needs."""
    alive = np.zeros(len(tape), bool)
    for result in tape.results:
        alive[result] = True
    args = tape.args.tolist()
    for k in range(len(tape) - 1, -1, -1):
        if alive[k] and tape.ops[k] != Op.INPUT:
            for a in args[k]:
                if a >= 0:
                    alive[a] = True
    return renumbered(tape, np.flatnonzero(alive))


def renumbered(tape: Tape, order: NDArray[np.int64]) -> Tape:
    """The tape with just the given instructions, in that order (operands before use)."""
    new = np.full(len(tape) + 1, -1, np.int32)  # the last entry maps −1 to −1
    new[order] = np.arange(len(order))
    ops = tape.ops[order]
    args = tape.args[order]
    is_input = (ops == Op.INPUT)[:, None]
    mapped = np.where(is_input, args, new[np.where(is_input, -1, args)])
    return Tape(
        tape.name,
        tape.inputs,
        tape.outputs,
        ops,
        mapped.astype(np.int32),
        tape.constants[order],
        tuple(new[result] for result in tape.results),
    )
