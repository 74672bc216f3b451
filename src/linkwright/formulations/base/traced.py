"""Constants of a mechanism as expressions, each with its value in a prime field beside it.

The value decides what is zero (or a small whole number), so that elimination needs no normal form
and expressions stay as short as they were made. That two different constants are taken for one has
a probability below degree/p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import casadi as ca

from ...algebra.exact.algebra import read
from ...algebra.exact.prime_field import PrimeField
from ...algebra.exact.quotient_expressions import RingPrinter
from ...algebra.exact.quotient_ring import Budget, BudgetError
from ...algebra.exact.residue_values import PRIME, Value
from ...algebra.exact.trig import read_field
from ...expressions import Expression, Name, Number
from ...tape import Op, Tape, record
from ...types import SX
from .wording import worded

_SMALL = 4
_LARGEST_INTEGER = 1 << 20
_LONGEST, _MOST = 500, 8000
"""Terms, of one polynomial and of all, up to which a constant is multiplied out on the way to its
shortest form."""


@dataclass(frozen=True, slots=True)
class Traced:
    """An expression of the mechanism's numbers, its value in the field, and the rational number
    that it is, if it is one."""

    expression: SX
    value: Value
    exact: Fraction | None = None

    @property
    def is_zero(self) -> bool:
        return self.value.number == 0

    @property
    def is_one(self) -> bool:
        return self.value.number == 1

    @property
    def is_constant(self) -> bool:
        return self.exact is not None


class Tracer:
    """The algebra of traced constants."""

    def __init__(self, field: PrimeField, numbers: Mapping[str, Value]) -> None:
        self.field = field
        self.symbols = {name: ca.SX.sym(name) for name in numbers}
        self.numbers = numbers
        self.lifted: dict[str, Fraction] = {}
        self.zero = self.number(Fraction(0))

    def number(self, value: Fraction) -> Traced:
        """A rational number; one that is no small integer is a symbol, since CasADi would compute
        with it in floating point."""
        expression = ca.SX(float(value))
        if value.denominator != 1 or abs(value) >= _LARGEST_INTEGER:
            name = f"({value})"
            if name not in self.symbols:
                self.symbols[name], self.lifted[name] = ca.SX.sym(name), value
            expression = self.symbols[name]
        return Traced(expression, self.field.constant(value), value)

    constant = number

    def symbol(self, name: str) -> Traced:
        return Traced(self.symbols[name], self.numbers[name])

    def quarter_turns(self, quarters: int, number: Traced) -> Traced:
        """A coordinate: so many right angles inside sin and cos, a number outside."""
        turned = self.field.half_turns(Fraction(quarters, 2), number.value.number)
        return Traced(number.expression, turned)

    def read(self, tape: Tape) -> list[Traced]:
        """The entries of a tape's one output; its one input are the numbers."""
        (entries,) = read(tape, self, [[self.symbol(name) for name in self.numbers]])
        return entries

    def apply(self, op: Op, operands: Sequence[Traced]) -> Traced:
        numbers = [x.exact for x in operands if x.exact is not None]
        if op in _RATIONAL and len(numbers) == len(operands):
            return self.number(_RATIONAL[op](*numbers))
        if op is Op.DIV and operands[1].exact is not None:
            op, operands = Op.MUL, [operands[0], self.number(1 / operands[1].exact)]
        value = self.field.apply(op, [x.value for x in operands])
        small = value.number if value.number <= _SMALL else value.number - PRIME
        if small >= -_SMALL:
            return self.number(Fraction(small))
        return Traced(_MEANINGS[op](*(x.expression for x in operands)), value)

    def is_zero(self, value: Traced) -> bool:
        return value.is_zero

    def negate(self, a: Traced) -> Traced:
        return self.apply(Op.NEG, [a])

    # -- closed forms ----------------------------------------------------------------------------

    def closed_forms(self, constants: Sequence[Traced]) -> ClosedForms:
        """Constants multiplied out and cancelled where that stays readable, else as they are made,
        with names for what they have in common."""
        forms = [self._multiplied_out(x) for x in constants]
        long = [k for k, form in enumerate(forms) if form is None]
        if not long:
            return ClosedForms([form for form in forms if form is not None], {})
        tape = self._tape([constants[k] for k in long])
        words = [
            Number(self.lifted[name]) if name in self.lifted else Name(name)
            for name in self.symbols
        ]
        named, shared = worded(tape, words)
        for k, form in zip(long, named, strict=True):
            forms[k] = form
        return ClosedForms([form for form in forms if form is not None], shared)

    def _multiplied_out(self, value: Traced) -> Expression | None:
        if value.exact is not None:
            return Number(value.exact)
        used = [x.name() for x in ca.symvar(value.expression)]
        used = [name for name in self.symbols if name in used]
        tape = self._tape([value], used)
        exact = {name: self.lifted[name] for name in used if name in self.lifted}
        try:
            found = read_field(tape, {"p": used}, exact, Budget(_LONGEST, inf, _MOST))
            return RingPrinter(found.ring).expression(found.outputs["c"][0])
        except BudgetError:
            return None

    def _tape(self, constants: Sequence[Traced], used: Sequence[str] | None = None) -> Tape:
        names = list(self.symbols) if used is None else used
        p = ca.vertcat(*(self.symbols[name] for name in names)) if names else ca.SX.zeros(0)
        column = ca.cse(ca.densify(ca.vertcat(*(x.expression for x in constants), 0)))
        return record(ca.Function("constants", [p], [column[: len(constants)]], ["p"], ["c"]))


@dataclass(frozen=True)
class ClosedForms:
    """Formulas, and those of the names k1, k2, … in them."""

    formulas: list[Expression]
    shared: dict[str, Expression]


_RATIONAL: dict[Op, Callable[..., Fraction]] = {
    Op.ADD: lambda a, b: a + b,
    Op.SUB: lambda a, b: a - b,
    Op.MUL: lambda a, b: a * b,
    Op.DIV: lambda a, b: a / b,
    Op.NEG: lambda a: -a,
}

_MEANINGS: dict[Op, Callable[..., SX]] = {
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
