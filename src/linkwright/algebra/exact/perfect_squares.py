"""Quotients that are squares: √(l² cos² q) is |l cos q|."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from ...types import FlintPolynomial
from .quotient_ring import QuotientRing
from .quotients import Quotient, fraction_from_flint


def perfect_square_root(ring: QuotientRing, value: Quotient) -> Quotient | None:
    """A quotient whose square is the value, up to its sign; None if there is none.

    The ring writes sin² as (1 − cos)(1 + cos), so that such a pair counts as a square, too.
    """
    top = _polynomial_root(ring, value.numerator)
    if top is None or value.denominator is None:
        return None if top is None else Quotient(top, value.reducible_generators)
    bottom = _polynomial_root(ring, value.denominator)
    return None if bottom is None else Quotient(top, value.reducible_generators, bottom)


def _polynomial_root(ring: QuotientRing, poly: FlintPolynomial) -> FlintPolynomial | None:
    """The polynomial whose square the given one is, or None."""
    if poly.is_zero():
        return None
    number, factors = poly.factor()
    powers = {str(factor): [factor, int(power)] for factor, power in factors}
    constant, root = fraction_from_flint(number), ring.one_polynomial
    for k in range(len(ring.angles)):
        sine = ring.generators[ring.function_capacity + k]
        cosine = ring.generators[ring.first_cosine + k]
        pair = [powers.get(str(cosine - 1)), powers.get(str(cosine + 1))]
        below, above = pair
        if below is not None and above is not None and below[1] % 2 == above[1] % 2 == 1:
            below[1], above[1], constant, root = below[1] - 1, above[1] - 1, -constant, root * sine
    if constant < 0 or any(power % 2 for _, power in powers.values()):
        return None
    n, d = isqrt(constant.numerator), isqrt(constant.denominator)
    if Fraction(n * n, d * d) != constant:
        return None
    for factor, power in powers.values():
        root = root * factor ** (power // 2)
    return root * n / d
