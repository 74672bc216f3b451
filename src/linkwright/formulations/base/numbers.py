"""Tapes of constants in exact numbers: rationals and multiples of π as long as it can be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import casadi as ca

from ...algebra.exact.algebra import meaningless, read
from ...algebra.linear import Array
from ...equations import Equations
from ...expressions import (
    Call,
    Exact,
    Expression,
    Name,
    Negation,
    Power,
    Product,
    Reciprocal,
    Sum,
    evaluate,
)
from ...tape import Op, record

_A, _B = Name("a"), Name("b")
_MEANINGS: dict[Op, Expression] = {
    Op.ADD: Sum((_A, _B)),
    Op.SUB: Sum((_A, Negation(_B))),
    Op.MUL: Product((_A, _B)),
    Op.DIV: Product((_A, Reciprocal(_B))),
    Op.NEG: Negation(_A),
    Op.POW: Power(_A, _B),
    **{op: Call(op.name.lower(), (_A,)) for op in (Op.SIN, Op.COS, Op.TAN, Op.SQRT, Op.ABS)},
}


class _Numbers:
    """The algebra of exact numbers, by the readings of expressions."""

    def constant(self, value: Fraction) -> Exact:
        return value

    def apply(self, op: Op, operands: Sequence[Exact]) -> Exact:
        if op not in _MEANINGS:
            raise meaningless(op, "exact numbers")
        return evaluate(_MEANINGS[op], dict(zip("ab", operands, strict=False)))


def exact_entries(
    eqs: Equations, column: Array, lifted: Mapping[str, Fraction] | None = None, symbols: Array = ()
) -> list[Exact]:
    """Expressions of the parameters alone (and of `symbols` for `lifted` numbers), at their
    values."""
    p = ca.vertcat(eqs.symbols["p"], *symbols)
    tape = record(ca.Function("numbers", [p], [ca.densify(ca.SX(column))]))
    known = [*eqs.parameters.values(), *(lifted or {}).values()]
    (entries,) = read(tape, _Numbers(), [known])
    return entries
