"""Reading a tape in another algebra: the same instructions on other kinds of values."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeVar

from ..errors import UnsupportedError
from ..tape import ARITY, Op, Tape

T = TypeVar("T")


class Algebra(Protocol[T]):
    """What the instructions of a tape mean; one without a meaning raises `UnsupportedError`."""

    def constant(self, value: Fraction) -> T: ...

    def apply(self, op: Op, operands: Sequence[T]) -> T: ...


def read(tape: Tape, algebra: Algebra[T], inputs: Sequence[Sequence[T]]) -> list[list[T]]:
    """All outputs, entries row by row; `inputs` has the entries of every input port.

    Constants are floats on a tape and are taken for exactly what they are.
    """
    ops, args, constants = tape.ops.tolist(), tape.args.tolist(), tape.constants.tolist()
    values: list[T] = []
    for k, code in enumerate(ops):
        op = Op(code)
        if op is Op.INPUT:
            port, entry = args[k][:2]
            values.append(inputs[port][entry])
        elif op is Op.CONSTANT:
            values.append(algebra.constant(Fraction(constants[k])))
        else:
            values.append(algebra.apply(op, [values[i] for i in args[k][: ARITY[op]]]))
    return [[values[i] for i in result.tolist()] for result in tape.results]


def meaningless(op: Op, where: str) -> UnsupportedError:
    return UnsupportedError(
        f"{op.name.lower()} has no meaning in {where}", remedy="compare in ball arithmetic"
    )
