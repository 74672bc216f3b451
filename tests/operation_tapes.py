"""Tapes of every operation, and the meaning of operations in mpmath.

`REFERENCE` has the meaning of the operations. Operands come with both signs, so that tests see what
a pass does with signs; states are quarters, so that comparisons meet ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from linkwright.algebra.exact.tape_algebra import evaluate_tape_in_algebra
from linkwright.ports import Port
from linkwright.tape import (
    OPERATION_ARITY,
    Op,
    Tape,
    normalize_tape,
    remove_dead_tape_instructions,
    schedule_tape,
)
from linkwright.tape.writer import TapeWriter

mpf = mpmath.mpf
REFERENCE: dict[Op, Callable[..., object]] = {
    Op.ADD: lambda a, b: a + b, Op.SUB: lambda a, b: a - b, Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b, Op.NEG: lambda a: -a, Op.SQRT: mpmath.sqrt, Op.SIN: mpmath.sin,
    Op.COS: mpmath.cos, Op.TAN: mpmath.tan, Op.ASIN: mpmath.asin, Op.ACOS: mpmath.acos,
    Op.ATAN2: mpmath.atan2, Op.EXP: mpmath.exp, Op.LOG: mpmath.log, Op.POW: mpmath.power,
    Op.TANH: mpmath.tanh, Op.ABS: abs, Op.SIGN: mpmath.sign, Op.MIN: min, Op.MAX: max,
    Op.LT: lambda a, b: mpf(a < b), Op.LE: lambda a, b: mpf(a <= b),
    Op.EQ: lambda a, b: mpf(a == b), Op.NE: lambda a, b: mpf(a != b),
    Op.AND: lambda a, b: mpf(bool(a) and bool(b)), Op.OR: lambda a, b: mpf(bool(a) or bool(b)),
    Op.NOT: lambda a: mpf(not a), Op.SELECT: lambda c, a, b: a if c else b,
    Op.FLOOR: mpmath.floor, Op.FMA: lambda a, b, c: a * b + c,
}  # fmt: skip
OPERATIONS = sorted(REFERENCE)
TRUTHS = {Op.AND: (0, 1), Op.OR: (0, 1), Op.NOT: (0,), Op.SELECT: (0,)}
"""Operands that are conditions."""
ENTRIES = 4
NAMES = [[f"x{k}" for k in range(ENTRIES)]]
PASSES: dict[str, Callable[[Tape], Tape]] = {
    "dead code": remove_dead_tape_instructions,
    "normalization": normalize_tape,
    "schedule": schedule_tape,
    "all": lambda tape: schedule_tape(normalize_tape(remove_dead_tape_instructions(tape))),
}
DOMAIN = {Op.ASIN: (-1, 1), Op.ACOS: (-1, 1), Op.SQRT: (0.1, 4), Op.LOG: (0.1, 4), Op.POW: (0.1, 4)}
"""Operands for which an operation is defined, where these are not all numbers."""


class TapeBuilder:
    """Operands within the domain of an operation."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.writer = TapeWriter()
        self.x = [self.writer.write_instruction(Op.INPUT, 0, k) for k in range(ENTRIES)]

    def number(self, value: float) -> int:
        return self.writer.write_constant(value)

    def leaf(self) -> int:
        a, b = self.rng.choice(self.x, 2, replace=False)
        match self.rng.integers(5):
            case 0:
                return self.writer.write_instruction(Op.SUB, a, b)
            case 1:
                return self.writer.write_instruction(Op.NEG, a)
            case 2:
                return self.number(float(self.rng.choice([-1.5, -1.0, 0.75, 2.0])))
            case _:
                return int(a)

    def positive(self, a: int) -> int:
        square = self.writer.write_instruction(Op.MUL, a, a)
        return self.writer.write_instruction(Op.ADD, square, self.number(0.25))

    def operand(self, op: Op, place: int, leaf: int) -> int:
        write = self.writer.write_instruction
        if place in TRUTHS.get(op, ()):
            return write(Op.LT, leaf, self.leaf())
        if op in (Op.SQRT, Op.LOG) or (op is Op.POW and place == 0):
            return self.positive(leaf)
        if op is Op.DIV and place == 1:
            return self.signed(self.positive(leaf))
        if op is Op.ATAN2:  # away from the jump at zero, whose sign mpmath does not know
            return write(Op.ADD, leaf, self.number(0.125))
        if op in (Op.ASIN, Op.ACOS, Op.TAN):
            return write(Op.MUL, self.number(0.125), leaf)
        return leaf

    def signed(self, a: int) -> int:
        return self.writer.write_instruction(Op.NEG, a) if self.rng.integers(2) else a


def operation_tape(op: Op, seed: int) -> Tape:
    """f(a, …), its negative, f of the operands with the other sign, and their difference."""
    made = TapeBuilder(seed)
    write = made.writer.write_instruction
    leaves = [made.leaf() for _ in range(OPERATION_ARITY[op])]
    leaves[0] = made.x[0]  # so that something is left to compute
    y = write(op, *(made.operand(op, k, a) for k, a in enumerate(leaves)))
    negated = [write(Op.NEG, a) if k == 0 or made.rng.integers(2) else a
               for k, a in enumerate(leaves)]  # fmt: skip
    z = write(op, *(made.operand(op, k, a) for k, a in enumerate(negated)))
    results = [y, write(Op.NEG, y), z, write(Op.SUB, y, z), write(Op.MUL, made.x[1], z)]
    port = Port("y", (len(results),))
    return made.writer.finish_tape(
        "f", [Port("x", (ENTRIES,))], [port], [np.array(results, np.int32)]
    )


def quarters(count: int, seed: int = 0) -> np.ndarray:
    """States with ties."""
    return np.random.default_rng(seed).integers(-8, 9, (count, ENTRIES)) / 4


class MpmathAlgebra:
    """The meaning of operations, in numbers of mpmath."""

    def constant(self, value: Fraction) -> object:
        return mpf(value.numerator) / value.denominator

    def apply(self, op: Op, operands: Sequence[object]) -> object:
        return REFERENCE[op](*operands)


def reference(tape: Tape, states: np.ndarray) -> np.ndarray:
    """The output of the tape by its meaning, with 40 digits, rounded once."""
    with mpmath.workdps(40):
        return np.array([
            [float(v) for v in evaluate_tape_in_algebra(tape, MpmathAlgebra(), [[mpf(x) for x in state]])[0]]
            for state in states.tolist()
        ])  # fmt: skip


def values_by_meaning(op: Op, states: np.ndarray) -> np.ndarray:
    """Values of an operation, one row of operands for each."""
    return np.array([[float(REFERENCE[op](*map(mpf, state)))] for state in states.tolist()])


each_operation = pytest.mark.parametrize("op", OPERATIONS, ids=lambda op: op.name.lower())
