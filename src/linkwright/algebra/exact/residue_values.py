"""Values of a prime field: numbers modulo p with their angles, degrees and marks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .modular import inverse, power

PRIME = 2**61 - 1281
"""3 mod 4, so that roots are powers; 2, 3 and 5 have roots, so that 15° is an exact point."""


@dataclass(frozen=True, slots=True)
class ValueMarks:
    """What a value depends on, beside rational operations: `roots`, one bit for each square root;
    unknown functions (`is_loose`); `why` there is no value at all."""

    roots: int = 0
    is_loose: bool = False
    why: str = ""

    def __or__(self, other: ValueMarks) -> ValueMarks:
        return ValueMarks(
            self.roots | other.roots, self.is_loose or other.is_loose, self.why or other.why
        )


@dataclass(frozen=True, slots=True)
class Value:
    """A number modulo p; as an angle, rational multiples of `atoms` and a share of a half turn.

    (numerator, denominator) bound the degrees of the rational function that it is.
    """

    number: int
    atoms: tuple[tuple[int, Fraction], ...] | None = None
    turns: Fraction = Fraction(0)
    numerator: int = 0
    denominator: int = 0
    marks: ValueMarks | None = None


def combined_marks(*values: Value) -> ValueMarks | None:
    """The marks of what is computed from these values."""
    found = None
    for value in values:
        if value.marks is not None:
            found = value.marks if found is None else found | value.marks
    return found


def add_values(a: Value, b: Value) -> Value:
    atoms = None
    if a.atoms is not None and b.atoms is not None:
        total = dict(a.atoms)
        for atom, multiple in b.atoms:
            total[atom] = total.get(atom, Fraction(0)) + multiple
        atoms = tuple(sorted((x, m) for x, m in total.items() if m))
    top = max(a.numerator + b.denominator, b.numerator + a.denominator)
    number = (a.number + b.number) % PRIME
    bottom, marks = a.denominator + b.denominator, combined_marks(a, b)
    return Value(number, atoms, a.turns + b.turns, top, bottom, marks)


def negate_value(a: Value) -> Value:
    atoms = None if a.atoms is None else tuple((x, -m) for x, m in a.atoms)
    return Value(-a.number % PRIME, atoms, -a.turns, a.numerator, a.denominator, a.marks)


def multiply_values(a: Value, b: Value) -> Value:
    atoms, turns = None, Fraction(0)
    for angle, factor in ((a, b), (b, a)):
        ratio = _plain(factor)
        if angle.atoms is not None and (angle.atoms or angle.turns) and ratio is not None:
            atoms = tuple((x, m * ratio) for x, m in angle.atoms if m * ratio)
            turns = angle.turns * ratio
    top, bottom = a.numerator + b.numerator, a.denominator + b.denominator
    return Value(a.number * b.number % PRIME, atoms, turns, top, bottom, combined_marks(a, b))


def _plain(value: Value) -> Fraction | None:
    """A small constant rational, if the value is one."""
    if value.numerator or value.denominator or value.atoms:
        return None
    for denominator in range(1, 33):
        scaled = value.number * denominator % PRIME
        scaled = scaled - PRIME if scaled > PRIME // 2 else scaled
        if abs(scaled) <= 1024:
            return Fraction(scaled, denominator)
    return None


def invert_value(a: Value) -> Value:
    return Value(inverse(a.number, PRIME), None, Fraction(0), a.denominator, a.numerator, a.marks)


def small_integer(number: int, bound: int) -> int | None:
    """The integer between −bound and bound that the residue is, if there is one."""
    residue = number % PRIME
    signed = residue - PRIME if residue > PRIME // 2 else residue
    return signed if abs(signed) <= bound else None


def raise_value(base: Value, exponent: int) -> Value:
    if exponent == 1:
        return base
    if exponent < 0:
        base, exponent = invert_value(base), -exponent
    number = power(base.number, exponent, PRIME)
    top, bottom = base.numerator * exponent, base.denominator * exponent
    return Value(number, None, Fraction(0), top, bottom, base.marks)
