"""A tape as a WebAssembly function: (addresses of inputs …, addresses of outputs …) → nothing.

A value that is used once is computed where it is used, on WebAssembly's stack. The others are local
variables, which are reused after the last use of their value: engines refuse functions with more
than 50,000 of them, and compile functions with many slowly. Outputs are stored as soon as they are
known, so they must not overlap with inputs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...tape import OPERATION_ARITY, Op, Tape
from .module_bytes import (
    DROP,
    F64,
    I32,
    SELECT,
    WasmModule,
    call_function,
    float_constant,
    get_local,
    load_float,
    set_local,
    store_float,
)

PLAIN_INSTRUCTIONS = {
    Op.ADD: b"\xa0", Op.SUB: b"\xa1", Op.MUL: b"\xa2", Op.DIV: b"\xa3", Op.NEG: b"\x9a",
    Op.SQRT: b"\x9f", Op.ABS: b"\x99", Op.MIN: b"\xa4", Op.MAX: b"\xa5", Op.FLOOR: b"\x9c",
}  # fmt: skip
"""Operations that are one instruction; min and max give NaN where an operand is NaN."""

CONDITIONS = {
    Op.LT: b"\x63", Op.LE: b"\x65", Op.EQ: b"\x61", Op.NE: b"\x62", Op.AND: b"\x71",
    Op.OR: b"\x72", Op.NOT: b"\x45",
}  # fmt: skip
"""Operations whose result is an integer, 0 or 1."""

_LOGIC = (Op.AND, Op.OR, Op.NOT)

MATH_FUNCTIONS = {
    Op.TAN: "tan", Op.ASIN: "asin", Op.ACOS: "acos", Op.ATAN2: "atan2", Op.EXP: "exp",
    Op.LOG: "log", Op.POW: "pow", Op.TANH: "tanh",
}  # fmt: skip
"""Operations that JavaScript computes."""

_FLOAT_NOT_EQUAL, _FLOAT_FROM_INT = b"\x62", b"\xb7"
_GREATER, _LESS = b"\x64", b"\x63"

Part = int | bytes | tuple[int]
"""A piece of code: the number of a value, an instruction, or (a value,) as a truth value."""


class TapeFunction:
    """Writes the function of a tape; `sine_cosine` is the function that it calls for both."""

    def __init__(self, module: WasmModule, tape: Tape, sine_cosine: int | None) -> None:
        self.module, self.tape, self.sine_cosine = module, tape, sine_cosine
        self.users = _value_users(tape)
        self.stores = _value_stores(tape)
        self.angles = _sines_and_cosines(tape)
        self.folded = {k for k in range(len(tape)) if self._is_folded(k)}
        self.locals: dict[int, int] = {}
        self.free: list[int] = []
        self.first_local = self.local_count = len(tape.inputs) + len(tape.outputs)
        self.code: list[bytes] = []

    def write(self) -> int:
        """Add the function to the module; return its number."""
        seconds = {max(pair.values()) for pair in self.angles.values() if len(pair) > 1}
        skipped = self.folded | seconds
        order = [k for k in range(len(self.tape)) if k not in skipped]
        last_use = {value: k for k in order for value in self._values_read(k)}
        for k in order:
            self._write_value(k, last_use)
        count = self.local_count - self.first_local
        return self.module.add_function(
            [I32] * self.first_local, [], [(count, F64)], b"".join(self.code)
        )

    # -- where values live -----------------------------------------------------------------------

    def _is_folded(self, k: int) -> bool:
        """Whether a value is computed where it is used."""
        op, users = self.tape.operations[k], self.users[k]
        if k in self.stores or op in (Op.SIN, Op.COS):
            return False
        if op is Op.CONSTANT:
            return True
        if len(users) != 1:
            return False
        return self.tape.operations[users[0]] is not Op.SIGN  # which reads its operand three times

    def _values_read(self, k: int) -> Iterator[int]:
        """Yield the values in locals that the code of value k reads."""
        pending = [k]
        while pending:
            one = pending.pop()
            if self.tape.operations[one] is Op.INPUT:
                continue
            for value in self.tape.operands[one][: OPERATION_ARITY[self.tape.operations[one]]]:
                if value in self.folded:
                    pending.append(value)
                else:
                    yield value

    def _write_value(self, k: int, last_use: dict[int, int]) -> None:
        """Compute a value, free the locals that were read for the last time, and keep the value."""
        if self.tape.operations[k] in (Op.SIN, Op.COS):
            self._write_sine_cosine(k, last_use)
            return
        self._write_parts([k], is_root=True)
        self._free_locals(k, last_use)
        self._keep_value(k)

    def _write_sine_cosine(self, k: int, last_use: dict[int, int]) -> None:
        """Compute the sine and the cosine of a value at once, and keep what the tape uses."""
        assert self.sine_cosine is not None
        angle = self.tape.operands[k][0]
        self._write_parts([angle, call_function(self.sine_cosine)])
        self._free_locals(k, last_use)
        for op in (Op.COS, Op.SIN):  # the cosine is on top of the stack
            if op in self.angles[angle]:
                self._keep_value(self.angles[angle][op])
            else:
                self.code.append(DROP)

    def _free_locals(self, k: int, last_use: dict[int, int]) -> None:
        """Free the locals that no later value reads."""
        for value in set(self._values_read(k)):
            if last_use[value] == k:
                self.free.append(self.locals[value])

    def _keep_value(self, k: int) -> None:
        """Pop the value on the stack into a local and the outputs."""
        local = self.free.pop() if self.free else self.local_count
        self.local_count = max(self.local_count, local + 1)
        self.locals[k] = local
        self.code.append(set_local(local))
        for port, entry in self.stores.get(k, ()):
            self.code += [
                get_local(len(self.tape.inputs) + port),
                get_local(local),
                store_float(8 * entry),
            ]
        if not self.users[k]:
            self.free.append(local)

    # -- code ------------------------------------------------------------------------------------

    def _write_parts(self, parts: list[Part], *, is_root: bool = False) -> None:
        """Write pieces of code; folded values are replaced by their own pieces."""
        pending = parts[::-1]
        while pending:
            part = pending.pop()
            if isinstance(part, bytes):
                self.code.append(part)
            elif isinstance(part, tuple):
                pending += self._truth_parts(part[0])[::-1]
            elif part in self.folded or is_root:
                is_root = False
                pending += self._value_parts(part)[::-1]
            else:
                self.code.append(get_local(self.locals[part]))

    def _truth_parts(self, k: int) -> list[Part]:
        """The pieces of the truth value of a value."""
        if k in self.folded and self.tape.operations[k] in CONDITIONS:
            return self._condition_parts(k)
        return [k, float_constant(0.0), _FLOAT_NOT_EQUAL]

    def _condition_parts(self, k: int) -> list[Part]:
        """The pieces of a comparison or a logical operation."""
        op, operands = self.tape.operations[k], self.tape.operands[k]
        given: list[Part] = [(a,) if op in _LOGIC else a for a in operands[: OPERATION_ARITY[op]]]
        return [*given, CONDITIONS[op]]

    def _value_parts(self, k: int) -> list[Part]:
        """The pieces of a value."""
        op, (a, b, c) = self.tape.operations[k], self.tape.operands[k]
        if op in PLAIN_INSTRUCTIONS:
            return [*self.tape.operands[k][: OPERATION_ARITY[op]], PLAIN_INSTRUCTIONS[op]]
        if op in CONDITIONS:
            return [*self._condition_parts(k), _FLOAT_FROM_INT]
        if op in MATH_FUNCTIONS:
            index = self.module.import_index(MATH_FUNCTIONS[op])
            return [*self.tape.operands[k][: OPERATION_ARITY[op]], call_function(index)]
        match op:
            case Op.CONSTANT:
                return [float_constant(float(self.tape.constants[k]))]
            case Op.INPUT:
                return [get_local(a), load_float(8 * b)]
            case Op.FMA:  # WebAssembly has no fused operation
                return [a, b, PLAIN_INSTRUCTIONS[Op.MUL], c, PLAIN_INSTRUCTIONS[Op.ADD]]
            case Op.SELECT:
                return [b, c, (a,), SELECT]
            case Op.SIGN:  # the value itself where it is zero or NaN
                zero = float_constant(0.0)
                return [float_constant(1.0), float_constant(-1.0), a, a, zero, _LESS, SELECT,
                        a, zero, _GREATER, SELECT]  # fmt: skip
            case _:
                raise AssertionError(op)


def _value_users(tape: Tape) -> list[list[int]]:
    """The instructions that use each value, once for each use."""
    users: list[list[int]] = [[] for _ in range(len(tape))]
    for k, op in enumerate(tape.operations):
        if op is not Op.INPUT:
            for a in tape.operands[k][: OPERATION_ARITY[op]]:
                users[a].append(k)
    return users


def _value_stores(tape: Tape) -> dict[int, list[tuple[int, int]]]:
    """The outputs (port, entry) that have each value."""
    stores: dict[int, list[tuple[int, int]]] = {}
    for port, result in enumerate(tape.results):
        for entry, value in enumerate(result.tolist()):
            stores.setdefault(value, []).append((port, entry))
    return stores


def _sines_and_cosines(tape: Tape) -> dict[int, dict[Op, int]]:
    """The sine and the cosine of each angle, where the tape has them."""
    found: dict[int, dict[Op, int]] = {}
    for k, op in enumerate(tape.operations):
        if op in (Op.SIN, Op.COS):
            found.setdefault(tape.operands[k][0], {})[op] = k
    return found
