"""The elements of the ring of quotients."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING

from ...tape import Op
from ...types import FlintPolynomial, FlintRational

if TYPE_CHECKING:
    from .quotient_ring import QuotientRing


@dataclass(frozen=True, slots=True)
class Quotient:
    """numerator/denominator; the denominator None stands for 1.

    The bits of `reducible_generators` mark the generators with g² = P that may occur.
    """

    numerator: FlintPolynomial
    reducible_generators: int = 0
    denominator: FlintPolynomial = None


@dataclass(frozen=True)
class OpaqueFunction:
    """A function of quotients that is not a polynomial and has a generator of its own."""

    op: Op
    operands: tuple[Quotient, ...]


def negate_quotient(a: Quotient) -> Quotient:
    """The quotient −a."""
    return Quotient(-a.numerator, a.reducible_generators, a.denominator)


def fraction_from_flint(number: FlintRational) -> Fraction:
    """The FLINT rational as a `Fraction`."""
    return Fraction(int(number.p), int(number.q))


def rational_quotient_value(value: Quotient) -> Fraction | None:
    """The value of a constant quotient; None if it contains generators."""
    if value.denominator is not None or not value.numerator.is_constant():
        return None
    zero = value.numerator.is_zero()
    return Fraction(0) if zero else fraction_from_flint(value.numerator.leading_coefficient())


def rational_square_root(value: Quotient) -> Fraction | None:
    """The rational square root of a constant quotient; None if it has none."""
    number = rational_quotient_value(value)
    if number is None or number < 0:
        return None
    n, d = isqrt(number.numerator), isqrt(number.denominator)
    return Fraction(n, d) if Fraction(n * n, d * d) == number else None


def are_equal_quotients(ring: QuotientRing, a: Quotient, b: Quotient) -> bool:
    """Whether two quotients are equal, by cross-multiplication."""
    if a.denominator is None and b.denominator is None:
        return bool(a.numerator == b.numerator)
    one = ring.multiply_quotients(
        Quotient(a.numerator, a.reducible_generators),
        Quotient(b.denominator or ring.one_polynomial, b.reducible_generators),
    )
    other = ring.multiply_quotients(
        Quotient(b.numerator, b.reducible_generators),
        Quotient(a.denominator or ring.one_polynomial, a.reducible_generators),
    )
    return bool(one.numerator == other.numerator)


def raise_quotient(ring: QuotientRing, base: Quotient, exponent: Quotient) -> Quotient:
    """The base to a whole or half-integer power; half powers use the square root."""
    number = rational_quotient_value(exponent)
    if number is None or number.denominator > 2 or abs(number) > 64:
        return ring.function_generator(Op.POW, (base, exponent))
    whole = number.numerator // number.denominator
    result = Quotient(ring.one_polynomial)
    for _ in range(abs(whole)):
        result = ring.multiply_quotients(result, base)
    if whole < 0:
        result = ring.divide_quotients(Quotient(ring.one_polynomial), result)
    if number.denominator == 2:
        result = ring.multiply_quotients(result, ring.square_root(base))
    return result
