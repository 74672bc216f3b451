"""Constants of a mechanism as expressions, each with its value in a prime field.

The value decides whether a constant is zero (or a small integer), so that elimination needs no
normal form and expressions stay short. Two different constants have the same value with a
probability below degree/p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import casadi as ca

from ...algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from ...algebra.exact.prime_field import PrimeField
from ...algebra.exact.quotient_expressions import QuotientPrinter
from ...algebra.exact.residues import FIELD_PRIME, Residue
from ...algebra.exact.tape_algebra import evaluate_tape_in_algebra
from ...algebra.exact.trig_polynomials import evaluate_tape_in_quotient_field
from ...expressions import Expression, Name, Number
from ...tape import Op, Tape, record_tape
from ...types import SX
from .formula_tapes import base_parameter_formulas

_MAX_RECOGNIZED_INTEGER = 4
_MAX_EXACT_INTEGER = 1 << 20
_MAX_POLYNOMIAL_TERMS, _MAX_TOTAL_TERMS = 500, 8000
"""Limits for expanding a constant into its shortest form: terms of one polynomial and of all."""


@dataclass(frozen=True, slots=True)
class BaseParameterFactor:
    """A constant as an expression of the parameters, its residue in the field, and its exact value
    if it is rational."""

    expression: SX
    value: Residue
    exact: Fraction | None = None

    @property
    def is_zero(self) -> bool:
        """Whether the residue is 0."""
        return self.value.number == 0

    @property
    def is_one(self) -> bool:
        """Whether the residue is 1."""
        return self.value.number == 1

    @property
    def is_constant(self) -> bool:
        """Whether the value is a known rational number."""
        return self.exact is not None


class BaseParameterAlgebra:
    """The algebra of traced constants: expressions with their residues in a prime field."""

    def __init__(self, field: PrimeField, numbers: Mapping[str, Residue]) -> None:
        self.field = field
        self.symbols = {name: ca.SX.sym(name) for name in numbers}
        self.numbers = numbers
        self.lifted_rationals: dict[str, Fraction] = {}
        self.zero = self.number(Fraction(0))

    def number(self, value: Fraction) -> BaseParameterFactor:
        """A rational number; if it is not a small integer it is a symbol, since CasADi would
        compute with it in floating point."""
        expression = ca.SX(float(value))
        if value.denominator != 1 or abs(value) >= _MAX_EXACT_INTEGER:
            name = f"({value})"
            if name not in self.symbols:
                self.symbols[name], self.lifted_rationals[name] = ca.SX.sym(name), value
            expression = self.symbols[name]
        return BaseParameterFactor(expression, self.field.constant(value), value)

    constant = number

    def symbol(self, name: str) -> BaseParameterFactor:
        """The traced constant of a parameter."""
        return BaseParameterFactor(self.symbols[name], self.numbers[name])

    def quarter_turn_coordinate(
        self, quarters: int, number: BaseParameterFactor
    ) -> BaseParameterFactor:
        """A coordinate that is a multiple of 90° inside sin and cos, and a number outside."""
        turned = self.field.half_turn_angle(Fraction(quarters, 2), number.value.number)
        return BaseParameterFactor(number.expression, turned)

    def trace_tape(self, tape: Tape) -> list[BaseParameterFactor]:
        """The entries of a tape's only output; its only input is the vector of parameters."""
        (entries,) = evaluate_tape_in_algebra(
            tape, self, [[self.symbol(name) for name in self.numbers]]
        )
        return entries

    def apply(self, op: Op, operands: Sequence[BaseParameterFactor]) -> BaseParameterFactor:
        """The result of a tape operation; results that are small integers are recognized by their
        residue."""
        numbers = [x.exact for x in operands if x.exact is not None]
        if op in _RATIONAL_OPERATIONS and len(numbers) == len(operands):
            return self.number(_RATIONAL_OPERATIONS[op](*numbers))
        if op is Op.DIV and operands[1].exact is not None:
            op, operands = Op.MUL, [operands[0], self.number(1 / operands[1].exact)]
        value = self.field.apply(op, [x.value for x in operands])
        small = (
            value.number if value.number <= _MAX_RECOGNIZED_INTEGER else value.number - FIELD_PRIME
        )
        if small >= -_MAX_RECOGNIZED_INTEGER:
            return self.number(Fraction(small))
        return BaseParameterFactor(_CASADI_OPERATIONS[op](*(x.expression for x in operands)), value)

    def is_zero(self, value: BaseParameterFactor) -> bool:
        """Whether the constant vanishes."""
        return value.is_zero

    def negate(self, a: BaseParameterFactor) -> BaseParameterFactor:
        """−a."""
        return self.apply(Op.NEG, [a])

    # -- closed forms ----------------------------------------------------------------------------

    def factor_formulas(self, constants: Sequence[BaseParameterFactor]) -> BaseFactorFormulas:
        """Formulas of constants, multiplied out and cancelled where that stays readable, otherwise
        as they were made, with names for common parts."""
        forms = [self._expand_formula(x) for x in constants]
        long = [k for k, form in enumerate(forms) if form is None]
        if not long:
            return BaseFactorFormulas([form for form in forms if form is not None], {})
        tape = self._record_constants([constants[k] for k in long])
        words = [
            Number(self.lifted_rationals[name]) if name in self.lifted_rationals else Name(name)
            for name in self.symbols
        ]
        named, shared = base_parameter_formulas(tape, words)
        for k, form in zip(long, named, strict=True):
            forms[k] = form
        return BaseFactorFormulas([form for form in forms if form is not None], shared)

    def _expand_formula(self, value: BaseParameterFactor) -> Expression | None:
        """The constant multiplied out and cancelled; None if it exceeds the budget of terms."""
        if value.exact is not None:
            return Number(value.exact)
        used = [x.name() for x in ca.symvar(value.expression)]
        used = [name for name in self.symbols if name in used]
        tape = self._record_constants([value], used)
        exact = {
            name: self.lifted_rationals[name] for name in used if name in self.lifted_rationals
        }
        try:
            found = evaluate_tape_in_quotient_field(
                tape,
                {"p": used},
                exact,
                ExactPolynomialBudget(_MAX_POLYNOMIAL_TERMS, inf, _MAX_TOTAL_TERMS),
            )
            return QuotientPrinter(found.ring).print_quotient(found.outputs["c"][0])
        except BudgetError:
            return None

    def _record_constants(
        self, constants: Sequence[BaseParameterFactor], used: Sequence[str] | None = None
    ) -> Tape:
        """The tape of constants as functions of the symbols that they use."""
        names = list(self.symbols) if used is None else used
        p = ca.vertcat(*(self.symbols[name] for name in names)) if names else ca.SX.zeros(0)
        column = ca.cse(ca.densify(ca.vertcat(*(x.expression for x in constants), 0)))
        return record_tape(ca.Function("constants", [p], [column[: len(constants)]], ["p"], ["c"]))


@dataclass(frozen=True)
class BaseFactorFormulas:
    """Formulas, and the formulas of their common parts k1, k2, …"""

    formulas: list[Expression]
    common_parts: dict[str, Expression]


_RATIONAL_OPERATIONS: dict[Op, Callable[..., Fraction]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
}

_CASADI_OPERATIONS: dict[Op, Callable[..., SX]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
    Op.SIN: ca.sin,
    Op.COS: ca.cos,
    Op.TAN: ca.tan,
    Op.SQRT: ca.sqrt,
    Op.POW: ca.power,
}
