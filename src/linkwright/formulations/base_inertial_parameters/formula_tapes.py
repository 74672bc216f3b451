"""Formulas of a tape without expansion, for constants that are too long to be multiplied out."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ...algebra.exact.tape_algebra import evaluate_tape_in_algebra, operation_undefined_in_algebra
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
    negate_expression,
)
from ...tape import OPERATION_ARITY, Op, Tape


def base_parameter_formulas(
    tape: Tape, inputs: Sequence[Expression]
) -> tuple[list[Expression], dict[str, Expression]]:
    """The entries of the tape's output as formulas of its inputs, and the formulas of parts that
    occur more than once, which are named k1, k2, …"""
    words = _BaseParameterFormulas(
        _repeated_base_factors(tape), {x.name for x in inputs if isinstance(x, Name)}
    )
    (entries,) = evaluate_tape_in_algebra(tape, words, [inputs])
    return entries, words.common_parts


def _repeated_base_factors(tape: Tape) -> list[bool]:
    """For each computing instruction, in order, whether its value is used more than once."""
    uses = [0] * len(tape)
    working = [op not in (Op.INPUT, Op.CONSTANT) for op in tape.ops.tolist()]
    for k in range(len(tape)):
        if working[k]:
            for a in tape.args[k, : OPERATION_ARITY[Op(int(tape.ops[k]))]].tolist():
                uses[a] += 1
    for result in tape.results:
        for v in result.tolist():
            uses[v] += 1
    return [uses[k] > 1 for k in range(len(tape)) if working[k]]


class _BaseParameterFormulas:
    """The algebra of formulas as they are made; `often` says, in order, which results get a
    name."""

    def __init__(self, often: Sequence[bool], taken: set[str]) -> None:
        self.repeated, self.used_names = iter(often), taken
        self.common_parts: dict[str, Expression] = {}

    def constant(self, value: Fraction) -> Expression:
        """A number as a formula."""
        return Number(value)

    def apply(self, op: Op, operands: Sequence[Expression]) -> Expression:
        """The formula of an operation, or its name if the value is used more than once."""
        made = self.operation_formula(op, operands)
        if not next(self.repeated) or isinstance(made, Name | Number):
            return made
        number = len(self.common_parts) + 1
        while f"k{number}" in self.used_names:
            number += 1
        self.used_names.add(f"k{number}")
        self.common_parts[f"k{number}"] = made
        return Name(f"k{number}")

    def operation_formula(self, op: Op, operands: Sequence[Expression]) -> Expression:
        """The formula of one tape operation."""
        match op:
            case Op.ADD:
                return _base_parameter_sum(*operands)
            case Op.SUB:
                return _base_parameter_sum(operands[0], negate_expression(operands[1]))
            case Op.NEG:
                return negate_expression(operands[0])
            case Op.MUL:
                return _base_parameter_product(*operands)
            case Op.DIV:
                return _base_parameter_product(operands[0], Reciprocal(operands[1]))
            case Op.POW:
                return Power(*operands)
            case Op.SIN | Op.COS | Op.TAN | Op.SQRT:
                return Call(op.name.lower(), tuple(operands))
            case _:
                raise operation_undefined_in_algebra(op, "a formula")


def _base_parameter_sum(a: Expression, b: Expression) -> Expression:
    """a + b without nested sums."""
    terms = (*(a.terms if isinstance(a, Sum) else (a,)), *(b.terms if isinstance(b, Sum) else (b,)))
    return Sum(terms)


def _base_parameter_product(a: Expression, b: Expression) -> Expression:
    """a b without nested products, the sign in front."""
    if isinstance(a, Negation):
        return negate_expression(_base_parameter_product(a.operand, b))
    if isinstance(b, Negation):
        return negate_expression(_base_parameter_product(a, b.operand))
    left = a.factors if isinstance(a, Product) else (a,)
    right = b.factors if isinstance(b, Product) else (b,)
    return Product((*left, *right))
