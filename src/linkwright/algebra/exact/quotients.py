"""Elements of the ring of quotients: what they are made of."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

from ...tape import Op

Poly = Any  # flint.fmpq_mpoly has no type stubs


@dataclass(frozen=True, slots=True)
class Quotient:
    """numerator/denominator; `reduced` marks the generators with g² = P that may occur."""

    numerator: Poly
    reduced: int = 0
    denominator: Poly = None


@dataclass(frozen=True)
class Opaque:
    """A generator for a function of values that is no polynomial of them."""

    op: Op
    operands: tuple[Quotient, ...]


def negated(a: Quotient) -> Quotient:
    return Quotient(-a.numerator, a.reduced, a.denominator)


def as_fraction(number: Any) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def rational_value(value: Quotient) -> Fraction | None:
    if value.denominator is not None or not value.numerator.is_constant():
        return None
    zero = value.numerator.is_zero()
    return Fraction(0) if zero else as_fraction(value.numerator.leading_coefficient())


def rational_root(value: Quotient) -> Fraction | None:
    number = rational_value(value)
    if number is None or number < 0:
        return None
    n, d = isqrt(number.numerator), isqrt(number.denominator)
    return Fraction(n, d) if Fraction(n * n, d * d) == number else None
