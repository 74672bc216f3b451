"""Quotients of a ring as expressions, in an order of terms that is stable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from ...expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate,
)
from ...tape import Op
from .angles import Form
from .quotient_ring import QuotientRing
from .quotients import Opaque, Poly, Quotient, as_fraction

Exponents = tuple[int, ...]


class RingPrinter:
    """Expressions for values of a ring that is a field, once all is read.

    Terms are in graded reverse lexicographic order of symbols, cosines and sines, roots.
    """

    def __init__(self, ring: QuotientRing) -> None:
        self.ring = ring
        self.meanings: dict[int, Expression] = {
            ring.places[name]: Name(name) for name in ring.symbols
        }
        """What the generators stand for, by their places, in the order of printing."""
        for k, form in enumerate(ring.angles):
            angle = _angle(form)
            self.meanings[ring.first_cosine + k] = Call("cos", (angle,))
            self.meanings[ring.first_sine + k] = Call("sin", (angle,))
        for k, function in enumerate(ring.opaque):
            self.meanings[ring.spare - 1 - k] = self._function(function)

    def _function(self, function: Opaque) -> Expression:
        inside = function.operands[0]
        call = Call(function.op.name.lower(), (self.expression(inside),))
        if function.op is Op.SQRT and inside.denominator is not None:  # b·√(a/b)
            return Product((self._polynomial(inside.denominator), call))
        return call

    def expression(self, value: Quotient) -> Expression:
        if value.denominator is None:
            return self._polynomial(value.numerator)
        lead = self._terms(value.denominator)[0][1]
        over = self._polynomial(value.numerator / lead)
        under = self._polynomial(value.denominator / lead)
        if over == ONE:
            return Reciprocal(under)
        factors = over.factors if isinstance(over, Product) else (over,)
        return Product((*factors, Reciprocal(under)))

    def _polynomial(self, poly: Poly) -> Expression:
        parts = []
        for exponents, coefficient in self._terms(poly):
            powers = zip(self.meanings.values(), exponents, strict=True)
            factors = [_power(base, exponent) for base, exponent in powers if exponent]
            parts.append(_scaled(as_fraction(coefficient), factors))
        return _total(parts)

    def _terms(self, poly: Poly) -> list[tuple[Exponents, Poly]]:
        """Exponents in the order of printing and coefficients, the leading term first."""
        places = list(self.meanings)
        found = [(tuple(int(e[place]) for place in places), c) for e, c in poly.terms()]
        return sorted(found, key=lambda term: (-sum(term[0]), term[0][::-1]))

    def coefficients(self, poly: Poly, places: Iterable[int]) -> Mapping[Exponents, Poly]:
        """The polynomial as a sum over monomials in the generators at `places`: their
        coefficients, which are polynomials in the other generators."""
        inside, context = sorted(places), self.ring.context
        own = list(self.meanings)
        parts: dict[Exponents, dict[Exponents, Poly]] = {}
        for exponents, coefficient in self._terms(poly):
            powers = [0] * context.nvars()
            for place, exponent in zip(own, exponents, strict=True):
                powers[place] = exponent
            key = tuple(powers[k] for k in inside)
            for k in inside:
                powers[k] = 0
            parts.setdefault(key, {})[tuple(powers)] = coefficient
        return {key: context.from_dict(terms) for key, terms in parts.items()}


def _angle(form: Form) -> Expression:
    terms = [
        _scaled(coefficient, [_power(Name(name), power) for name, power in monomial])
        for monomial, coefficient in form
    ]
    return _total(terms)


def _power(base: Expression, exponent: int) -> Expression:
    return base if exponent == 1 else Power(base, Number(Fraction(exponent)))


def _scaled(coefficient: Fraction, factors: Sequence[Expression]) -> Expression:
    """coefficient · factors, without a factor 1 and with the sign in front."""
    parts = list(factors)
    if abs(coefficient) != 1 or not parts:
        parts.insert(0, Number(abs(coefficient)))
    term = parts[0] if len(parts) == 1 else Product(tuple(parts))
    return negate(term) if coefficient < 0 else term


def _total(terms: Sequence[Expression]) -> Expression:
    if not terms:
        return ZERO
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))
