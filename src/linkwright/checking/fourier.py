"""Differences in closed form: polynomials of symbols times cosines and sines of sums of angles.

A series is a sum of c · x₁^a x₂^b … · exp(i(k₁q₁ + k₂q₂ + …)), c a complex rational; it has the
interface of the prime field, so that equations are evaluated in both alike. What is no such sum,
or too long to be read, raises `TooLongError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..tape import Op

Factors = tuple[tuple[str, Fraction], ...]
Complex = tuple[Fraction, Fraction]
Terms = dict[tuple[Factors, Factors], Complex]
MOST_TERMS = 3000
MOST_WORK = 6_000
SHOWN = 8
_ONE: tuple[Factors, Factors] = ((), ())


class TooLongError(ArithmeticError):
    """No sum of products that a person would read."""


@dataclass(frozen=True)
class Series:
    """`angle`: the same as a rational combination of angles, and `turns` half turns."""

    terms: Terms
    angle: Factors | None = None
    turns: Fraction = Fraction(0)

    @property
    def number(self) -> int:
        """Zero if it vanishes, as that of values in a field."""
        return 1 if self.terms else 0

    def constant(self) -> Fraction | None:
        if not self.terms:
            return Fraction(0)
        if len(self.terms) == 1 and _ONE in self.terms and self.terms[_ONE][1] == 0:
            return self.terms[_ONE][0]
        return None


class SeriesAlgebra:
    """What the operations of expressions and tapes mean for series, up to so much work."""

    def __init__(self) -> None:
        self.work = 0

    def symbol(self, name: str) -> Series:
        key: tuple[Factors, Factors] = (((name, Fraction(1)),), ())
        return Series({key: (Fraction(1), Fraction(0))}, ((name, Fraction(1)),))

    def constant(self, value: Fraction) -> Series:
        terms: Terms = {_ONE: (value, Fraction(0))} if value else {}
        return Series(terms, None if value else ())

    def half_turns(self, share: Fraction, number: object = None) -> Series:
        return Series(self.symbol("pi").terms, (), share)

    def apply(self, op: Op, operands: Sequence[Series]) -> Series:
        match op:
            case Op.ADD:
                return _sum(*operands)
            case Op.SUB:
                return _sum(operands[0], _scaled(operands[1], Fraction(-1)))
            case Op.NEG:
                return _scaled(operands[0], Fraction(-1))
            case Op.MUL:
                return self.product(*operands)
            case Op.DIV:
                return self.product(operands[0], _reciprocal(operands[1]))
            case Op.FMA:
                return _sum(self.product(*operands[:2]), operands[2])
            case Op.SIN | Op.COS:
                return _wave(operands[0], op is Op.SIN)
            case Op.POW:
                return self.power(*operands)
            case _:
                raise TooLongError(op.name)

    def product(self, a: Series, b: Series) -> Series:
        self.work += len(a.terms) * len(b.terms)
        if self.work > MOST_WORK:
            raise TooLongError("work")
        return _product(a, b)

    def power(self, base: Series, exponent: Series) -> Series:
        n = exponent.constant()
        if n is None or n.denominator != 1 or abs(n) > 16:
            raise TooLongError("power")
        total, factor = self.constant(Fraction(1)), base if n >= 0 else _reciprocal(base)
        for _ in range(abs(int(n))):
            total = self.product(total, factor)
        return total


def _merged(a: Factors, b: Factors) -> Factors:
    if not a or not b:
        return a or b
    total = dict(a)
    for name, power in b:
        total[name] = total.get(name, Fraction(0)) + power
    return tuple(sorted((name, power) for name, power in total.items() if power))


def _sum(a: Series, b: Series) -> Series:
    terms = dict(a.terms)
    for key, (re, im) in b.terms.items():
        old = terms.get(key, (Fraction(0), Fraction(0)))
        terms[key] = old[0] + re, old[1] + im
    angle = None if a.angle is None or b.angle is None else _merged(a.angle, b.angle)
    return Series({k: c for k, c in terms.items() if any(c)}, angle, a.turns + b.turns)


def _scaled(a: Series, by: Fraction) -> Series:
    angle = None if a.angle is None else tuple((name, n * by) for name, n in a.angle if by)
    return Series({k: (x * by, y * by) for k, (x, y) in a.terms.items() if by}, angle, a.turns * by)


def _product(a: Series, b: Series) -> Series:
    for one, other in ((a, b), (b, a)):
        if (factor := one.constant()) is not None:
            return _scaled(other, factor)
    if len(a.terms) * len(b.terms) > MOST_TERMS:
        raise TooLongError("product")
    total: Terms = {}
    for (x, k), (re, im) in a.terms.items():
        for (y, m), (re2, im2) in b.terms.items():
            key = _merged(x, y), _merged(k, m)
            old = total.get(key, (Fraction(0), Fraction(0)))
            total[key] = old[0] + re * re2 - im * im2, old[1] + re * im2 + im * re2
    return Series({key: c for key, c in total.items() if any(c)})


def _reciprocal(a: Series) -> Series:
    if len(a.terms) != 1:
        raise TooLongError("quotient")
    ((factors, waves), (re, im)), *_ = a.terms.items()
    if waves or im:
        raise TooLongError("quotient")
    return Series({(tuple((name, -n) for name, n in factors), ()): (1 / re, Fraction(0))})


def _wave(angle: Series, is_sine: bool) -> Series:
    """(e^{ix} ± e^{−ix})/2 or /2i."""
    if angle.angle is None or (2 * angle.turns).denominator != 1:
        raise TooLongError("angle")
    quarters = int(2 * angle.turns) - (1 if is_sine else 0)  # sin x = cos(x − π/2)
    re, im = [(1, 0), (0, 1), (-1, 0), (0, -1)][quarters % 4]
    half = Fraction(1, 2)
    terms: Terms = {}
    for sign in (1, -1):
        key = (), tuple((name, sign * n) for name, n in angle.angle)
        old = terms.get(key, (Fraction(0), Fraction(0)))
        terms[key] = old[0] + re * half, old[1] + sign * im * half
    return Series({key: c for key, c in terms.items() if any(c)})


# -- printing -------------------------------------------------------------------------------


def to_sum(series: Series) -> list[str]:
    """Its terms as text, each with its sign: `-m2*g*cos(q1 + q2)`."""
    found = []
    for (factors, waves), (re, im) in sorted(series.terms.items()):
        if waves and waves[0][1] < 0:
            continue  # the complex conjugate of another one
        double = 2 if waves else 1
        for number, function in ((re * double, "cos"), (-im * double, "sin")):
            if number:
                wave = [f"{function}({_angle(waves)})"] if waves else []
                found.append(_term(number, factors, wave))
    return found


def shown(series: Series) -> str:
    """The sum as text, cut where it gets long."""
    terms = to_sum(series)
    text = " + ".join(terms[:SHOWN]).replace("+ -", "- ") or "0"
    return text + (f" + … ({len(terms) - SHOWN} more terms)" if len(terms) > SHOWN else "")


def plain(name: str) -> str:
    """The name of an input: `qd theta1` is dtheta1."""
    kind, _, word = name.rpartition(" ")
    return {"qd": "d", "qdd": "dd"}.get(kind, "") + word


def _term(number: Fraction, factors: Factors, wave: list[str]) -> str:
    above = [_raised(plain(name), n) for name, n in factors if n > 0] + wave
    below = [_raised(plain(name), -n) for name, n in factors if n < 0]
    size = abs(number)
    if size.numerator != 1 or not above:
        above.insert(0, str(size.numerator))
    if size.denominator != 1:
        below.insert(0, str(size.denominator))
    text = "*".join(above) + "".join(f"/{factor}" for factor in below)
    return f"-{text}" if number < 0 else text


def _raised(name: str, power: Fraction) -> str:
    return name if power == 1 else f"{name}^{power}"


def _angle(waves: Factors) -> str:
    text = ""
    for name, n in waves:
        size = "" if abs(n) == 1 else f"{abs(n)}*"
        text += f" {'-' if n < 0 else '+'} {size}{plain(name)}"
    return text.removeprefix(" + ")
