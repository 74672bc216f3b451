"""A tape as one expression, as it was made: what is too long to be multiplied out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...algebra.exact.algebra import meaningless, read
from ...expressions import (
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate,
)
from ...tape import ARITY, Op, Tape


def worded(
    tape: Tape, inputs: Sequence[Expression]
) -> tuple[list[Expression], dict[str, Expression]]:
    """The entries of the tape's output in terms of its inputs; what occurs more than once
    has a name, k1, k2, …, whose formula stands beside them."""
    words = _Words(_often(tape), {x.name for x in inputs if isinstance(x, Name)})
    (entries,) = read(tape, words, [inputs])
    return entries, words.shared


def _often(tape: Tape) -> list[bool]:
    """Which of the instructions that compute something are used more than once, in order."""
    uses = [0] * len(tape)
    working = [op not in (Op.INPUT, Op.CONSTANT) for op in tape.ops.tolist()]
    for k in range(len(tape)):
        if working[k]:
            for a in tape.args[k, : ARITY[Op(int(tape.ops[k]))]].tolist():
                uses[a] += 1
    for result in tape.results:
        for v in result.tolist():
            uses[v] += 1
    return [uses[k] > 1 for k in range(len(tape)) if working[k]]


class _Words:
    """Formulas as they are made; `often` says, in order, which of them get a name."""

    def __init__(self, often: Sequence[bool], taken: set[str]) -> None:
        self.often, self.taken = iter(often), taken
        self.shared: dict[str, Expression] = {}

    def constant(self, value: Fraction) -> Expression:
        return Number(value)

    def apply(self, op: Op, operands: Sequence[Expression]) -> Expression:
        made = self.formula(op, operands)
        if not next(self.often) or isinstance(made, Name | Number):
            return made
        number = len(self.shared) + 1
        while f"k{number}" in self.taken:
            number += 1
        self.taken.add(f"k{number}")
        self.shared[f"k{number}"] = made
        return Name(f"k{number}")

    def formula(self, op: Op, operands: Sequence[Expression]) -> Expression:
        match op:
            case Op.ADD:
                return _sum(*operands)
            case Op.SUB:
                return _sum(operands[0], negate(operands[1]))
            case Op.NEG:
                return negate(operands[0])
            case Op.MUL:
                return _product(*operands)
            case Op.DIV:
                return _product(operands[0], Reciprocal(operands[1]))
            case Op.POW:
                return Power(*operands)
            case Op.SIN | Op.COS | Op.TAN | Op.SQRT:
                return Call(op.name.lower(), tuple(operands))
            case _:
                raise meaningless(op, "a formula")


def _sum(a: Expression, b: Expression) -> Expression:
    terms = (*(a.terms if isinstance(a, Sum) else (a,)), *(b.terms if isinstance(b, Sum) else (b,)))
    return Sum(terms)


def _product(a: Expression, b: Expression) -> Expression:
    if isinstance(a, Negation):
        return negate(_product(a.operand, b))
    if isinstance(b, Negation):
        return negate(_product(a, b.operand))
    left = a.factors if isinstance(a, Product) else (a,)
    right = b.factors if isinstance(b, Product) else (b,)
    return Product((*left, *right))
