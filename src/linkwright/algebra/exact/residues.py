"""Values of a prime field: numbers modulo p with their angles, degrees and marks."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from .modular_arithmetic import inverse_modulo, power_modulo

FIELD_PRIME = 2**127 - 3421569
"""3 mod 4, so that roots are powers; all primes up to 47 have roots, so that 15° is an exact point,
and so are oblique axes of small numbers.
Free bodies of a bicycle have degrees up to 2⁶², beyond primes of one machine word."""

NO_TURNS = Fraction(0)
"""The turns of most residues, created once: a new fraction takes longer than a product of
residues."""


@dataclass(frozen=True, slots=True)
class ResidueMarks:
    """Marks of what a residue depends on besides rational operations.

    `root_bits` has one bit for each square root, `has_unknown_function` stands for unknown
    functions, and `failure_reason` says why no value exists.
    """

    root_bits: int = 0
    has_unknown_function: bool = False
    failure_reason: str = ""

    def __or__(self, other: ResidueMarks) -> ResidueMarks:
        return ResidueMarks(
            self.root_bits | other.root_bits,
            self.has_unknown_function or other.has_unknown_function,
            self.failure_reason or other.failure_reason,
        )


@dataclass(frozen=True, slots=True)
class Residue:
    """A number modulo p, which may also be an angle.

    The angle is a sum of rational multiples of `angle_atoms` and of a half turn. `numerator_degree`
    and `denominator_degree` bound the degrees of the rational function behind it.
    """

    number: int
    angle_atoms: tuple[tuple[int, Fraction], ...] | None = None
    half_turns: Fraction = NO_TURNS
    numerator_degree: int = 0
    denominator_degree: int = 0
    marks: ResidueMarks | None = None


def combine_residue_marks(*values: Residue) -> ResidueMarks | None:
    """The combined marks of values, for a result that depends on all of them."""
    found = None
    for value in values:
        if value.marks is not None:
            found = value.marks if found is None else found | value.marks
    return found


def add_residues(a: Residue, b: Residue) -> Residue:
    """The sum a + b, also as an angle."""
    atoms = None
    if a.angle_atoms is not None and b.angle_atoms is not None:
        total = dict(a.angle_atoms)
        for atom, multiple in b.angle_atoms:
            total[atom] = total.get(atom, Fraction(0)) + multiple
        atoms = tuple(sorted((x, m) for x, m in total.items() if m))
    top = max(a.numerator_degree + b.denominator_degree, b.numerator_degree + a.denominator_degree)
    number = (a.number + b.number) % FIELD_PRIME
    bottom, marks = a.denominator_degree + b.denominator_degree, combine_residue_marks(a, b)
    turns, others = a.half_turns, b.half_turns
    whole = turns + others if turns and others else turns or others
    return Residue(number, atoms, whole, top, bottom, marks)


def negate_residue(a: Residue) -> Residue:
    """The residue −a, also as an angle."""
    atoms = None if a.angle_atoms is None else tuple((x, -m) for x, m in a.angle_atoms)
    return Residue(
        -a.number % FIELD_PRIME,
        atoms,
        -a.half_turns if a.half_turns else NO_TURNS,
        a.numerator_degree,
        a.denominator_degree,
        a.marks,
    )


def multiply_residues(a: Residue, b: Residue) -> Residue:
    """The product a · b; a small rational multiple of an angle stays an angle."""
    atoms, turns = None, NO_TURNS
    for angle, factor in ((a, b), (b, a)):
        if angle.angle_atoms is None or not (angle.angle_atoms or angle.half_turns):
            continue
        ratio = _small_rational_of_residue(factor)
        if ratio is not None:
            atoms = tuple((x, m * ratio) for x, m in angle.angle_atoms if m * ratio)
            turns = angle.half_turns * ratio
    top, bottom = (
        a.numerator_degree + b.numerator_degree,
        a.denominator_degree + b.denominator_degree,
    )
    return Residue(
        a.number * b.number % FIELD_PRIME, atoms, turns, top, bottom, combine_residue_marks(a, b)
    )


def _small_rational_of_residue(value: Residue) -> Fraction | None:
    """The small rational number that a constant residue stands for, or None."""
    if value.numerator_degree or value.denominator_degree or value.angle_atoms:
        return None
    for denominator in range(1, 33):
        scaled = value.number * denominator % FIELD_PRIME
        scaled = scaled - FIELD_PRIME if scaled > FIELD_PRIME // 2 else scaled
        if abs(scaled) <= 1024:
            return Fraction(scaled, denominator)
    return None


def invert_residue(a: Residue) -> Residue:
    """The inverse 1/a; raises `BadPointError` for zero."""
    return Residue(
        inverse_modulo(a.number, FIELD_PRIME),
        None,
        NO_TURNS,
        a.denominator_degree,
        a.numerator_degree,
        a.marks,
    )


def integer_from_residue(number: int, bound: int) -> int | None:
    """The integer between −bound and bound that the residue stands for, or None."""
    residue = number % FIELD_PRIME
    signed = residue - FIELD_PRIME if residue > FIELD_PRIME // 2 else residue
    return signed if abs(signed) <= bound else None


def raise_residue(base: Residue, exponent: int) -> Residue:
    """The base to a whole power, which may be negative."""
    if exponent == 1:
        return base
    if exponent < 0:
        base, exponent = invert_residue(base), -exponent
    number = power_modulo(base.number, exponent, FIELD_PRIME)
    top, bottom = base.numerator_degree * exponent, base.denominator_degree * exponent
    return Residue(number, None, NO_TURNS, top, bottom, base.marks)
