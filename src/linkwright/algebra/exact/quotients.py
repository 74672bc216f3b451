"""Elements of the ring of quotients: what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from ...tape import Op

Polynomial = Any  # flint.fmpq_mpoly has no type stubs


@dataclass(frozen=True, slots=True)
class Quotient:
    """numerator/denominator; `reducible_generators` marks the generators with g² = P that may
    occur."""

    numerator: Polynomial
    reducible_generators: int = 0
    denominator: Polynomial = None


@dataclass(frozen=True)
class OpaqueFunction:
    """A generator for a function of values that is not a polynomial of them."""

    op: Op
    operands: tuple[Quotient, ...]


def negate_quotient(a: Quotient) -> Quotient:
    return Quotient(-a.numerator, a.reducible_generators, a.denominator)


def fraction_from_flint(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def rational_quotient_value(value: Quotient) -> Fraction | None:
    if value.denominator is not None or not value.numerator.is_constant():
        return None
    zero = value.numerator.is_zero()
    return Fraction(0) if zero else fraction_from_flint(value.numerator.leading_coefficient())


def rational_square_root(value: Quotient) -> Fraction | None:
    number = rational_quotient_value(value)
    if number is None or number < 0:
        return None
    n, d = isqrt(number.numerator), isqrt(number.denominator)
    return Fraction(n, d) if Fraction(n * n, d * d) == number else None
