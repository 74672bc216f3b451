"""The one protocol of exact readings: the meaning of operations on another kind of values.

`evaluate_tape_in_algebra` evaluates a tape instruction by instruction.
`evaluate_expression_in_algebra` evaluates a syntax tree node by node with the same operations, and
`record_exact_formula_tape` writes these operations onto a tape. An expression and its tape
therefore have the same value in every algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import reduce
from typing import Protocol, TypeVar

import numpy as np

from ...errors import UnsupportedError
from ...expressions import (
    PI,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
    names_in_expression,
    parse_unit,
)
from ...expressions.tree import child_expressions
from ...ports import Port
from ...tape import OPERATION_ARITY, Op, Tape
from ...tape.writer import TapeWriter

T = TypeVar("T")

_FLOAT_BITS = 53
"""The bits of integers that are floats."""


class OperationAlgebra(Protocol[T]):
    """The meaning of a tape's operations; an operation without one raises `UnsupportedError`."""

    def constant(self, value: Fraction) -> T:
        """The rational number as a value of the algebra."""

    def apply(self, op: Op, operands: Sequence[T]) -> T:
        """The result of an operation on values of the algebra."""


class OperationAlgebraWithPi(OperationAlgebra[T], Protocol[T]):
    """An algebra that also evaluates expressions, which may contain π; a tape has π as an input."""

    def pi(self) -> T:
        """The number π as a value of the algebra."""


def evaluate_tape_in_algebra(
    tape: Tape, algebra: OperationAlgebra[T], inputs: Sequence[Sequence[T]]
) -> list[list[T]]:
    """The values of all outputs in an algebra, entries row by row.

    `inputs` has the values of the entries of each input port. Constants on a tape are floats and
    are used exactly.
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
            values.append(algebra.apply(op, [values[i] for i in args[k][: OPERATION_ARITY[op]]]))
    return [[values[i] for i in result.tolist()] for result in tape.results]


def operation_undefined_in_algebra(op: Op, where: str) -> UnsupportedError:
    """The error for an operation that an algebra (`where`) does not have."""
    return UnsupportedError(
        f"{op.name.lower()} has no meaning in {where}", remedy="compare in ball arithmetic"
    )


# -- expressions ---------------------------------------------------------------------------


def evaluate_expression_in_algebra(
    expression: Expression, algebra: OperationAlgebraWithPi[T], lookup: Callable[[str], T]
) -> T:
    """The value of an expression in an algebra; `lookup` returns the value of a name."""

    if isinstance(expression, Name) and expression.name != PI:
        return lookup(expression.name)
    parts = [
        evaluate_expression_in_algebra(x, algebra, lookup) for x in child_expressions(expression)
    ]
    return evaluate_node_in_algebra(expression, algebra, parts)


def evaluate_node_in_algebra(
    node: Expression, algebra: OperationAlgebraWithPi[T], parts: Sequence[T]
) -> T:
    """The value of a node from the values of its children; the only name it knows is pi."""
    apply = algebra.apply
    match node:
        case Number(number):
            return algebra.constant(number)
        case Name("pi"):
            return algebra.pi()
        case Negation():
            return apply(Op.NEG, parts)
        case Reciprocal():
            return apply(Op.DIV, (algebra.constant(Fraction(1)), parts[0]))
        case Sum():
            return add_algebra_values(algebra, parts)
        case Product():
            return multiply_algebra_values(algebra, parts)
        case Power():
            return apply(Op.POW, parts)
        case Call("atan", _):
            return apply(Op.ATAN2, (parts[0], algebra.constant(Fraction(1))))
        case Call(function, _):
            return apply(Op[function.upper()], parts)
        case NumberWithUnit(_, unit):
            return _algebra_value_in_si(algebra, parts[0], unit)
        case _:
            raise UnsupportedError(f"'{node}' has no value of its own")


def add_algebra_values(algebra: OperationAlgebra[T], terms: Iterable[T]) -> T:
    """The sum of at least one value."""
    return reduce(lambda a, b: algebra.apply(Op.ADD, (a, b)), terms)


def multiply_algebra_values(algebra: OperationAlgebra[T], factors: Iterable[T]) -> T:
    """The product of at least one value."""
    return reduce(lambda a, b: algebra.apply(Op.MUL, (a, b)), factors)


def _algebra_value_in_si(algebra: OperationAlgebraWithPi[T], value: T, unit: str) -> T:
    """The value in SI units, given in a `unit`."""
    known = parse_unit(unit)
    factors = [value, algebra.constant(known.scale)]
    product = multiply_algebra_values(algebra, [*factors, *[algebra.pi()] * max(0, known.pi_power)])
    for _ in range(-known.pi_power):
        product = algebra.apply(Op.DIV, (product, algebra.pi()))
    return product


class TapeWritingAlgebra:
    """The algebra that writes operations onto a tape; its values are numbers of instructions.

    `places` has the port and the entry of every name, and of π where it is used.
    """

    def __init__(self, places: Mapping[str, tuple[int, int]]) -> None:
        self.input_places = places
        self.writer = TapeWriter()

    def symbol(self, name: str) -> int:
        """The instruction that loads a named input."""
        if name not in self.input_places:
            raise UnsupportedError(f"{name} has no value here", remedy="leave it out")
        return self.writer.write_instruction(Op.INPUT, *self.input_places[name])

    def pi(self) -> int:
        """The instruction that loads the input π."""
        return self.symbol(PI)

    def constant(self, value: Fraction) -> int:
        """The instruction of an exact number, as a quotient of integers."""
        top = self._write_integer(value.numerator)
        if value.denominator == 1:
            return top
        return self.writer.write_instruction(Op.DIV, top, self._write_integer(value.denominator))

    def _write_integer(self, value: int) -> int:
        """The instruction of an integer of any size."""
        low = abs(value) % (1 << _FLOAT_BITS)
        if low == abs(value):
            return self.writer.write_constant(float(value))
        high = self._write_integer((abs(value) - low) >> _FLOAT_BITS)
        scaled = self.writer.write_instruction(
            Op.MUL, high, self.writer.write_constant(2.0**_FLOAT_BITS)
        )
        total = self.writer.write_instruction(
            Op.ADD, scaled, self.writer.write_constant(float(low))
        )
        return self.writer.write_instruction(Op.NEG, total) if value < 0 else total

    def apply(self, op: Op, operands: Sequence[int]) -> int:
        """The instruction of an operation on the results of others."""
        return self.writer.write_instruction(op, *operands)


def record_exact_formula_tape(*expressions: Expression, inputs: Iterable[str] = ()) -> Tape:
    """The tape of expressions, each an entry of its output `y`.

    Its input `x` has an entry for each of `inputs`, then for each other name in alphabetical order,
    then for π.
    """
    used = frozenset[str]().union(*map(names_in_expression, expressions))
    entries = list(dict.fromkeys([*inputs, *sorted(used), PI]))
    empty = TapeWriter().finish_tape("expressions", [Port("x", (len(entries),))], [], [])
    return append_exact_formula_output(empty, expressions, {"x": entries}, "y")


def append_exact_formula_output(
    tape: Tape, expressions: Sequence[Expression], entries: Mapping[str, Sequence[str]], name: str
) -> Tape:
    """The tape with expressions of its inputs as one more output `name`.

    `entries` has the names of the entries of each input.
    """
    places = {
        entry: (port, k)
        for port, one in enumerate(tape.inputs)
        for k, entry in enumerate(entries[one.name])
    }
    recorder = TapeWritingAlgebra(places)
    writer = recorder.writer
    writer.ops, writer.constants = tape.ops.tolist(), tape.constants.tolist()
    writer.args = [(a, b, c) for a, b, c in tape.args.tolist()]
    found = [evaluate_expression_in_algebra(x, recorder, recorder.symbol) for x in expressions]
    outputs = [*tape.outputs, Port(name, (len(found),))]
    return writer.finish_tape(
        tape.name, tape.inputs, outputs, [*tape.results, np.array(found, np.int32)]
    )
