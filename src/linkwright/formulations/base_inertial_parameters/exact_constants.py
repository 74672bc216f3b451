"""Evaluation of tapes of constants in exact numbers: rationals and multiples of π."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import casadi as ca

from ...algebra.exact.tape_algebra import evaluate_tape_in_algebra, operation_undefined_in_algebra
from ...algebra.linear_algebra import Array
from ...equations import Equations
from ...expressions import (
    Call,
    ExactNumber,
    Expression,
    Name,
    Negation,
    Power,
    Product,
    Reciprocal,
    Sum,
    evaluate_expression_exactly,
)
from ...tape import Op, record_tape

_FIRST_OPERAND, _SECOND_OPERAND = Name("a"), Name("b")
_OP_EXPRESSIONS: dict[Op, Expression] = {
    Op.ADD: Sum((_FIRST_OPERAND, _SECOND_OPERAND)),
    Op.SUB: Sum((_FIRST_OPERAND, Negation(_SECOND_OPERAND))),
    Op.MUL: Product((_FIRST_OPERAND, _SECOND_OPERAND)),
    Op.DIV: Product((_FIRST_OPERAND, Reciprocal(_SECOND_OPERAND))),
    Op.NEG: Negation(_FIRST_OPERAND),
    Op.POW: Power(_FIRST_OPERAND, _SECOND_OPERAND),
    **{
        op: Call(op.name.lower(), (_FIRST_OPERAND,))
        for op in (Op.SIN, Op.COS, Op.TAN, Op.SQRT, Op.ABS)
    },
}


class _BaseParameterNumbers:
    """The algebra of exact numbers: rationals and multiples of π."""

    def constant(self, value: Fraction) -> ExactNumber:
        """The rational number itself."""
        return value

    def apply(self, op: Op, operands: Sequence[ExactNumber]) -> ExactNumber:
        """The result of a tape operation, exact where possible."""
        if op not in _OP_EXPRESSIONS:
            raise operation_undefined_in_algebra(op, "exact numbers")
        return evaluate_expression_exactly(
            _OP_EXPRESSIONS[op], dict(zip("ab", operands, strict=False))
        )


def exact_base_parameter_values(
    eqs: Equations, column: Array, lifted: Mapping[str, Fraction] | None = None, symbols: Array = ()
) -> list[ExactNumber]:
    """The entries of a column of expressions in the parameters (and in `symbols`, which stand for
    the `lifted` numbers), at their exact values."""
    p = ca.vertcat(eqs.symbols["p"], *symbols)
    tape = record_tape(ca.Function("numbers", [p], [ca.densify(ca.SX(column))]))
    known = [*eqs.parameters.values(), *(lifted or {}).values()]
    (entries,) = evaluate_tape_in_algebra(tape, _BaseParameterNumbers(), [known])
    return entries
