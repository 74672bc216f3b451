"""Quotients of a ring as expressions, with terms in a stable order."""

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
    negate_expression,
)
from ...tape import Op
from ...types import FlintPolynomial
from .exact_angles import ExactAngle
from .quotient_ring import QuotientRing
from .quotients import OpaqueFunction, Quotient, fraction_from_flint

MonomialExponents = tuple[int, ...]


class QuotientPrinter:
    """Converts values of a ring that is a field to expressions, after all tapes are read.

    Terms are in graded reverse lexicographic order of symbols, cosines and sines, roots.
    """

    def __init__(self, ring: QuotientRing) -> None:
        self.ring = ring
        self.generator_expressions: dict[int, Expression] = {
            ring.symbol_places[name]: Name(name) for name in ring.symbols
        }
        """The expressions of generators, by their places, in the order of printing."""
        for k, form in enumerate(ring.angles):
            angle = _exact_angle_expression(form)
            self.generator_expressions[ring.first_cosine + k] = Call("cos", (angle,))
            self.generator_expressions[ring.first_sine + k] = Call("sin", (angle,))
        for k, function in enumerate(ring.opaque_functions):
            self.generator_expressions[ring.function_capacity - 1 - k] = self._function_expression(
                function
            )

    def _function_expression(self, function: OpaqueFunction) -> Expression:
        inside = function.operands[0]
        call = Call(function.op.name.lower(), (self.print_quotient(inside),))
        if function.op is Op.SQRT and inside.denominator is not None:  # b·√(a/b)
            return Product((self._polynomial_expression(inside.denominator), call))
        return call

    def print_quotient(self, value: Quotient) -> Expression:
        """The quotient as an expression, with leading coefficient 1 in the denominator."""
        if value.denominator is None:
            return self._polynomial_expression(value.numerator)
        lead = self._ordered_terms(value.denominator)[0][1]
        over = self._polynomial_expression(value.numerator / lead)
        under = self._polynomial_expression(value.denominator / lead)
        if over == ONE:
            return Reciprocal(under)
        factors = over.factors if isinstance(over, Product) else (over,)
        return Product((*factors, Reciprocal(under)))

    def _polynomial_expression(self, poly: FlintPolynomial) -> Expression:
        parts = []
        for exponents, coefficient in self._ordered_terms(poly):
            powers = zip(self.generator_expressions.values(), exponents, strict=True)
            factors = [
                _quotient_power_expression(base, exponent) for base, exponent in powers if exponent
            ]
            parts.append(_quotient_term_expression(fraction_from_flint(coefficient), factors))
        return _quotient_sum_expression(parts)

    def _ordered_terms(
        self, poly: FlintPolynomial
    ) -> list[tuple[MonomialExponents, FlintPolynomial]]:
        """The exponents, in the order of printing, and coefficients; the leading term first."""
        places = list(self.generator_expressions)
        found = [(tuple(int(e[place]) for place in places), c) for e, c in poly.terms()]
        return sorted(found, key=lambda term: (-sum(term[0]), term[0][::-1]))

    def polynomial_coefficients(
        self, poly: FlintPolynomial, places: Iterable[int]
    ) -> Mapping[MonomialExponents, FlintPolynomial]:
        """The coefficients of a polynomial in the generators at `places`, by their exponents.

        The coefficients are polynomials in the other generators.
        """
        inside, context = sorted(places), self.ring.context
        own = list(self.generator_expressions)
        parts: dict[MonomialExponents, dict[MonomialExponents, FlintPolynomial]] = {}
        for exponents, coefficient in self._ordered_terms(poly):
            powers = [0] * context.nvars()
            for place, exponent in zip(own, exponents, strict=True):
                powers[place] = exponent
            key = tuple(powers[k] for k in inside)
            for k in inside:
                powers[k] = 0
            parts.setdefault(key, {})[tuple(powers)] = coefficient
        return {key: context.from_dict(terms) for key, terms in parts.items()}


def _exact_angle_expression(form: ExactAngle) -> Expression:
    terms = [
        _quotient_term_expression(
            coefficient, [_quotient_power_expression(Name(name), power) for name, power in monomial]
        )
        for monomial, coefficient in form
    ]
    return _quotient_sum_expression(terms)


def _quotient_power_expression(base: Expression, exponent: int) -> Expression:
    return base if exponent == 1 else Power(base, Number(Fraction(exponent)))


def _quotient_term_expression(coefficient: Fraction, factors: Sequence[Expression]) -> Expression:
    """The product coefficient · factors, without a factor 1 and with the sign in front."""
    parts = list(factors)
    if abs(coefficient) != 1 or not parts:
        parts.insert(0, Number(abs(coefficient)))
    term = parts[0] if len(parts) == 1 else Product(tuple(parts))
    return negate_expression(term) if coefficient < 0 else term


def _quotient_sum_expression(terms: Sequence[Expression]) -> Expression:
    if not terms:
        return ZERO
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))
