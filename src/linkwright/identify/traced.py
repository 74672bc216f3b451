"""Constants of a mechanism as expressions, each with its value in a prime field beside it.

The value decides what is zero (or a small whole number), so that elimination needs no normal form
and expressions stay as short as they were made. That two different constants are taken for one has
a probability below degree/p.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import casadi as ca

from ..errors import LinkwrightError
from ..expressions import Expression, Number, Unit
from ..readings.algebra import read
from ..readings.field import PRIME, PrimeField, Value
from ..tape import Op, Tape, record
from .ring import Ring, TooLongError, spare_generators
from .wording import worded

_SMALL = 4
_READABLE = 100
"""Terms up to which a constant is multiplied out."""

SX = Any  # casadi.SX has no type stubs


@dataclass(frozen=True, slots=True)
class Traced:
    """An expression of the mechanism's numbers and its value in the field."""

    expression: SX
    value: Value

    @property
    def is_zero(self) -> bool:
        return self.value.number == 0

    @property
    def is_one(self) -> bool:
        return self.value.number == 1

    @property
    def is_constant(self) -> bool:
        return bool(self.expression.is_constant())


class Tracer:
    """The algebra of traced constants."""

    def __init__(self, field: PrimeField, numbers: Mapping[str, Value]) -> None:
        self.field = field
        self.symbols = {name: ca.SX.sym(name) for name in numbers}
        self.numbers = numbers
        self.zero = self.number(Fraction(0))

    def number(self, value: Fraction) -> Traced:
        over = ca.SX(float(value.numerator))
        exact = over if value.denominator == 1 else over / ca.SX(float(value.denominator))
        return Traced(exact, self.field.constant(value))

    constant = number

    def symbol(self, name: str) -> Traced:
        return Traced(self.symbols[name], self.numbers[name])

    def quarter_turns(self, quarters: int, number: Traced) -> Traced:
        """A coordinate: so many right angles inside sin and cos, a number outside."""
        turned = self.field.half_turns(Fraction(quarters, 2), number.value.number)
        return Traced(number.expression, turned)

    def read(self, tape: Tape) -> list[Traced]:
        """The entries of a tape's one output; its one input are the numbers."""
        (entries,) = read(tape, self, [[self.symbol(name) for name in self.symbols]])
        return entries

    def apply(self, op: Op, operands: Sequence[Traced]) -> Traced:
        value = self.field.apply(op, [x.value for x in operands])
        small = value.number if value.number <= _SMALL else value.number - PRIME
        if small >= -_SMALL:
            return self.number(Fraction(small))
        return Traced(_MEANINGS[op](*(x.expression for x in operands)), value)

    def minus(self, a: Traced, b: Traced) -> Traced:
        return self.apply(Op.SUB, [a, b])

    def negate(self, a: Traced) -> Traced:
        return self.apply(Op.NEG, [a])

    def times(self, a: Traced, b: Traced) -> Traced:
        return self.apply(Op.MUL, [a, b])

    def reciprocal(self, a: Traced) -> Traced:
        return self.apply(Op.DIV, [self.number(Fraction(1)), a])

    # -- as an algebra of expressions ----------------------------------------------------------

    def pi(self) -> Traced:
        raise LinkwrightError("pi has no value in a prime field")

    def add(self, terms: Sequence[Traced]) -> Traced:
        total = self.zero
        for term in terms:
            total = self.apply(Op.ADD, [total, term])
        return total

    def multiply(self, factors: Sequence[Traced]) -> Traced:
        product = self.number(Fraction(1))
        for factor in factors:
            product = self.times(product, factor)
        return product

    def power(self, base: Traced, exponent: Traced) -> Traced:
        return self.apply(Op.POW, [base, exponent])

    def call(self, function: str, arguments: Sequence[Traced]) -> Traced:
        return self.apply(Op[function.upper()], arguments)

    def measure(self, value: Traced, unit: Unit) -> Traced:
        return self.times(value, self.number(unit.scale))

    # -- closed forms ----------------------------------------------------------------------------

    def closed_forms(self, constants: Sequence[Traced]) -> ClosedForms:
        """Constants multiplied out and cancelled where that stays readable, else as they are made,
        with names for what they have in common."""
        forms = [self._multiplied_out(x) for x in constants]
        long = [k for k, form in enumerate(forms) if form is None]
        if not long:
            return ClosedForms([form for form in forms if form is not None], {})
        named, shared = worded(self._tape([constants[k] for k in long]), list(self.symbols))
        for k, form in zip(long, named, strict=True):
            forms[k] = form
        return ClosedForms([form for form in forms if form is not None], shared)

    def _multiplied_out(self, value: Traced) -> Expression | None:
        if value.is_constant:
            return Number(_whole(value))
        used = [x.name() for x in ca.symvar(value.expression)]
        used = [name for name in self.symbols if name in used]
        tape = self._tape([value], used)
        ring = Ring(used, spare_generators(tape), _READABLE)
        try:
            ((entry,),) = ring.read(tape, [[ring.symbol(name) for name in used]])
            return ring.expression(entry)
        except TooLongError:
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


def _whole(value: Traced) -> Fraction:
    return Fraction(float(value.expression)).limit_denominator(1 << 20)


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
