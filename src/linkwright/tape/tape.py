"""The tape: a straight-line program in single assignment, from a closed set of operations.

The machine layer and the exact algebra see nothing else of a function. Value k is the result of
instruction k.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ports import Port
from ..types import Floats


class Op(IntEnum):
    """The closed set of operations; comparisons and logic return 1.0 or 0.0."""

    CONSTANT = 0
    INPUT = 1
    ADD = 2
    SUB = 3
    MUL = 4
    DIV = 5
    NEG = 6
    SQRT = 7
    SIN = 8
    COS = 9
    TAN = 10
    ASIN = 11
    ACOS = 12
    ATAN2 = 13
    EXP = 14
    LOG = 15
    POW = 16
    TANH = 17
    ABS = 18
    SIGN = 19
    MIN = 20
    MAX = 21
    LT = 22
    LE = 23
    EQ = 24
    NE = 25
    AND = 26
    OR = 27
    NOT = 28
    SELECT = 29  # condition, yes, no
    FLOOR = 30
    FMA = 31


_OPERATIONS = tuple(Op)

OPERATION_ARITY = dict.fromkeys(Op, 2) | {
    Op.CONSTANT: 0, Op.INPUT: 0, Op.NEG: 1, Op.SQRT: 1, Op.SIN: 1, Op.COS: 1, Op.TAN: 1,
    Op.ASIN: 1, Op.ACOS: 1, Op.EXP: 1, Op.LOG: 1, Op.TANH: 1, Op.ABS: 1, Op.SIGN: 1,
    Op.NOT: 1, Op.SELECT: 3, Op.FLOOR: 1, Op.FMA: 3,
}  # fmt: skip

COMMUTATIVE_OPERATIONS = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.EQ, Op.NE, Op.AND, Op.OR})


@dataclass(frozen=True, eq=False)
class Tape:
    """`ops[k]` on `args[k]` gives value k. `results[j]` are the values of output j, row-major.

    INPUT k is entry `args[k, 1]` of port `args[k, 0]`; CONSTANT k is `constants[k]`.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    ops: NDArray[np.int16]
    args: NDArray[np.int32]
    constants: Floats
    results: tuple[NDArray[np.int32], ...]

    def __len__(self) -> int:
        return len(self.ops)

    @cached_property
    def operations(self) -> list[Op]:
        """`ops` as a list of `Op`, which passes over single instructions read ten times as fast."""
        return [_OPERATIONS[number] for number in self.ops.tolist()]

    @cached_property
    def operands(self) -> list[list[int]]:
        """`args` as lists."""
        rows: list[list[int]] = self.args.tolist()
        return rows

    @property
    def digest(self) -> str:
        """The SHA-256 hash of the whole program."""
        total = hashlib.sha256(repr((self.name, self.inputs, self.outputs)).encode())
        arrays: list[NDArray[Any]] = [self.ops, self.args, self.constants, *self.results]
        for array in arrays:
            total.update(array.tobytes())
        return total.hexdigest()
