"""Sums of products of cosines and sines, and the product-to-sum formulas."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

AngleVector = tuple[int, ...]  # an angle, as multiples of the ring's angles


class PrintedTrigFactor(NamedTuple):
    """The cosine or sine of an angle."""

    function: str
    angle: AngleVector


PrintedTrigMonomial = tuple[tuple[PrintedTrigFactor, int], ...]
PrintedTrigSum = dict[PrintedTrigMonomial, Fraction]


def swap_sine_cosine(atom: PrintedTrigFactor) -> PrintedTrigFactor:
    """The sine for a cosine of the same angle, and the cosine for a sine."""
    return PrintedTrigFactor("sin" if atom.function == "cos" else "cos", atom.angle)


def multiply_trig_power(
    monomial: PrintedTrigMonomial, atom: PrintedTrigFactor, power: int
) -> PrintedTrigMonomial:
    """The monomial times a power of a cosine or sine."""
    powers = dict(monomial)
    powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted((a, p) for a, p in powers.items() if p))


def trig_product_to_sum(
    parts: dict[PrintedTrigFactor, Fraction], atom: PrintedTrigFactor
) -> dict[PrintedTrigFactor, Fraction]:
    """A sum of cosines and sines times one more, by 2 cos a cos b = cos(a − b) + cos(a + b) and so
    on; the signs of angles are not normalized yet."""
    total: dict[PrintedTrigFactor, Fraction] = {}
    for (function, angle), c in parts.items():
        more = tuple(x + y for x, y in zip(angle, atom.angle, strict=True))
        less = tuple(x - y for x, y in zip(angle, atom.angle, strict=True))
        match function, atom.function:
            case "cos", "cos":
                made = [("cos", more, c), ("cos", less, c)]
            case "sin", "sin":
                made = [("cos", less, c), ("cos", more, -c)]
            case "sin", _:
                made = [("sin", more, c), ("sin", less, c)]
            case _:
                made = [("sin", more, c), ("sin", less, -c)]
        for name, vector, half in made:
            key = PrintedTrigFactor(name, vector)
            total[key] = total.get(key, Fraction(0)) + half / 2
    return total
