"""Sums of products of cosines and sines, and the product-to-sum formulas."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from operator import add, sub
from typing import NamedTuple

AngleVector = tuple[int, ...]  # an angle, as multiples of the ring's angles


class PrintedTrigFactor(NamedTuple):
    """The cosine or sine of an angle."""

    function: str
    angle: AngleVector


Rational = int | Fraction
"""A coefficient: integers are much faster, and most coefficients are integers."""
PrintedTrigMonomial = tuple[tuple[PrintedTrigFactor, int], ...]
PrintedTrigSum = dict[PrintedTrigMonomial, Rational]


def exact_ratio(a: Rational, b: Rational) -> Rational:
    """The exact quotient a / b, an integer where it is one."""
    ratio = Fraction(a, b)
    return ratio.numerator if ratio.denominator == 1 else ratio


def split_common_rational(values: Sequence[Rational]) -> tuple[Rational, list[int]]:
    """The rational number by which all values are coprime integers, and these integers; it is
    positive."""
    bottom = lcm(*(c.denominator for c in values))
    whole = [c.numerator * (bottom // c.denominator) for c in values]
    top = gcd(*whole)
    return exact_ratio(top, bottom), [n // top for n in whole]


def swap_sine_cosine(atom: PrintedTrigFactor) -> PrintedTrigFactor:
    """The sine for a cosine of the same angle, and the cosine for a sine."""
    return PrintedTrigFactor("sin" if atom.function == "cos" else "cos", atom.angle)


def multiply_trig_factors(
    monomial: PrintedTrigMonomial, *factors: tuple[PrintedTrigFactor, int]
) -> PrintedTrigMonomial:
    """The monomial times powers of cosines and sines."""
    powers = dict(monomial)
    for atom, power in factors:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted([(a, p) for a, p in powers.items() if p]))


def trig_product_to_sum(
    parts: dict[PrintedTrigFactor, int], atom: PrintedTrigFactor
) -> dict[PrintedTrigFactor, int]:
    """Twice a sum of cosines and sines times one more, by 2 cos a cos b = cos(a − b) + cos(a + b)
    and so on; the signs of angles are not normalized yet."""
    total: dict[PrintedTrigFactor, int] = {}
    times_cosine = atom.function == "cos"
    for (function, angle), c in parts.items():
        made = "sin" if (function == "sin") == times_cosine else "cos"
        more = PrintedTrigFactor(made, tuple(map(add, angle, atom.angle)))
        less = PrintedTrigFactor(made, tuple(map(sub, angle, atom.angle)))
        # cos a sin b = sin(a + b) − sin(a − b), sin a sin b = cos(a − b) − cos(a + b)
        total[more] = total.get(more, 0) + (c if times_cosine or function == "cos" else -c)
        total[less] = total.get(less, 0) + (c if times_cosine or function == "sin" else -c)
    return total
