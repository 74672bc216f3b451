"""Numbers modulo a prime that know what they are as angles, and of which degree.

A value is a number modulo p = 2¹²⁷ − 3421569. What enters sin and cos is an angle as well: an
integer combination of angles that each are a random rational point (c, s) of the circle,

    c = (1 − t²)/(1 + t²),   s = 2t/(1 + t²),

so that cos(q₁ + q₂) and sin 2q are exact. Any other angle (a gear's ratio, an
expression) is a point of its own, the same wherever its value is the same; it need not be
independent of the others, so that in a `lenient` field it counts as an unknown function. Outside
sin and cos, q is a number independent of its point: what holds for independent numbers holds for
angles.

Two different rational functions of degree d agree at a random point with probability d/p at most
(Schwartz, Zippel); `degree` bounds d from the tape.

A square root has two signs modulo p, and functions such as sign and exp have no meaning there. In a
`lenient` field such functions are unknown ones: the same value for the same argument. What holds
for any function holds for the right one, but a difference need not be one: `ResidueMarks` says
which values depend on roots (and on which) and on unknown functions, and which could not be
computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import or_

from ...errors import UnsupportedError
from ...tape import Op
from .degree_bounds import RATIONAL_OPS, TRIGONOMETRIC_OPS
from .modular_arithmetic import (
    BadPointError,
    ModularCirclePoint,
    add_circle_points_modulo,
    multiply_circle_point_modulo,
    ratio_modulo,
    rational_from_residue,
    rational_root_factors,
    root_modulo,
)
from .random_residues import RandomResidues
from .residues import (
    FIELD_PRIME,
    NO_TURNS,
    Residue,
    ResidueMarks,
    add_residues,
    combine_residue_marks,
    integer_from_residue,
    invert_residue,
    multiply_residues,
    negate_residue,
    raise_residue,
)
from .tape_algebra import operation_undefined_in_algebra

MAX_EXPONENT = 64
MAX_ROOTED_CONSTANT = 10**9
TURN_ATOM = -1
"""The atom of which angles that are not right angles are shares."""


_PIECEWISE_OPS = frozenset({Op.ABS, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.NOT, Op.SELECT})
_LEAF_OPS = {Op.CONSTANT, Op.INPUT}
_IRRATIONAL_OPS = frozenset(Op) - _LEAF_OPS - RATIONAL_OPS - TRIGONOMETRIC_OPS - {Op.SQRT, Op.POW}


class PrimeField:
    """The algebra of numbers modulo a prime at one random point.

    `finest` is the number of parts into which an atom is divided, if fractions of angles occur.
    `symbol_degree` is the degree, in the random values, of computed values that count as symbols.
    In a `lenient` field, functions without a meaning modulo p are unknown functions, and errors
    become marks. The bits of `signs` say which roots are negated.
    """

    def __init__(
        self,
        seed: int,
        finest: Mapping[int, int] | None = None,
        *,
        lenient: bool = False,
        signs: int = 0,
    ) -> None:
        self.seed = seed
        self.angle_parts: dict[int, int] = dict(finest or {})
        self.lenient, self.signs = lenient, signs
        self.random_point = RandomResidues(FIELD_PRIME, seed)
        self.radicands: dict[int, int] = {}
        self.symbol_degree = 1

    def is_zero(self, value: Residue) -> bool:
        """Whether the value is zero modulo p."""
        return value.number == 0

    def symbol(self, name: str) -> Residue:
        """A random number for an input, the same for the same name."""
        number = self.random_point.draw_residue_number("input", name)
        return Residue(number, ((number, Fraction(1)),), numerator_degree=1)

    def take_as_symbols(self, values: Sequence[Residue]) -> list[Residue]:
        """The values as symbols of degree 1; `symbol_degree` is multiplied by their degree.

        The product of all denominators is the common one.
        """
        below = sum(value.denominator_degree for value in values)
        self.symbol_degree *= (
            max((value.numerator_degree for value in values), default=0) + below or 1
        )
        return [
            Residue(
                x.number, x.angle_atoms, x.half_turns, min(1, x.numerator_degree), marks=x.marks
            )
            for x in values
        ]

    def unit_quaternion_residues(self, names: Sequence[str]) -> list[Residue]:
        """The entries of a random unit quaternion, the same for the same names."""
        return [
            Residue(number, None, NO_TURNS, 2, 2)
            for number in self.random_point.draw_unit_quaternion(names)
        ]

    def constant(self, value: Fraction) -> Residue:
        """The rational number modulo p."""
        number = ratio_modulo(value.numerator, value.denominator, FIELD_PRIME)
        return Residue(number, () if value == 0 else None)

    def pi(self) -> Residue:
        """π: half a turn as an angle, and a random number outside sin and cos."""
        return self.half_turn_angle(Fraction(1), self.symbol("the number pi").number)

    def half_turn_angle(self, share: Fraction, number: int) -> Residue:
        """The angle share · π; `number` stands for its value outside sin and cos."""
        return Residue(number, (), share)

    def apply(self, op: Op, operands: Sequence[Residue]) -> Residue:
        """The result of an operation of the tape."""
        if not self.lenient:
            return self._rational_function(op, operands)
        try:
            if op in _IRRATIONAL_OPS:
                return self._irrational_function(op, operands)
            return self._rational_function(op, operands)
        except (BadPointError, UnsupportedError) as error:
            return self.missing_residue(str(error))

    def missing_residue(self, why: str) -> Residue:
        """The residue that stands for a value that does not exist, with the reason."""
        return Residue(0, marks=ResidueMarks(failure_reason=why))

    def _irrational_function(self, op: Op, operands: Sequence[Residue]) -> Residue:
        """The value of a function that is not rational, as a new generator.

        Its degree is twice that of the arguments, since two arguments may coincide by chance. Where
        the root of x² occurs, |x| is that root.
        """
        if op is Op.ABS:
            square = multiply_residues(operands[0], operands[0])
            if square.number in self.radicands:
                return self.square_root(square)
        are_truths = [x.marks is not None and x.marks.has_unknown_function for x in operands]
        number = self.random_point.unknown_function_residue(
            op, [x.number for x in operands], are_truths
        )
        degree = sum(x.numerator_degree + x.denominator_degree for x in operands)
        below = sum(x.denominator_degree for x in operands) if op in _PIECEWISE_OPS else 0
        marks = _mark_residue_unknown(combine_residue_marks(*operands))
        return Residue(
            number, numerator_degree=2 + 2 * degree, denominator_degree=below, marks=marks
        )

    def _rational_function(self, op: Op, operands: Sequence[Residue]) -> Residue:
        """The result of a rational operation, sine, cosine, tangent, root or power."""
        match op:
            case Op.ADD:
                return add_residues(*operands)
            case Op.SUB:
                return add_residues(operands[0], negate_residue(operands[1]))
            case Op.NEG:
                return negate_residue(operands[0])
            case Op.MUL:
                return multiply_residues(*operands)
            case Op.DIV:
                return multiply_residues(operands[0], invert_residue(operands[1]))
            case Op.FMA:
                return add_residues(multiply_residues(*operands[:2]), operands[2])
            case Op.SIN:
                return self.cosine_and_sine(operands[0])[1]
            case Op.COS:
                return self.cosine_and_sine(operands[0])[0]
            case Op.TAN:
                cosine, sine = self.cosine_and_sine(operands[0])
                return multiply_residues(sine, invert_residue(cosine))
            case Op.SQRT:
                return self.square_root(operands[0])
            case Op.POW:
                return self.raise_to_power(*operands)
            case _:
                raise operation_undefined_in_algebra(op, "a prime field")

    def raise_to_power(self, base: Residue, exponent: Residue) -> Residue:
        """The base to a whole or half-integer power; half powers use the square root."""
        doubled = None
        if not (exponent.denominator_degree or exponent.numerator_degree or exponent.marks):
            doubled = integer_from_residue(2 * exponent.number, 2 * MAX_EXPONENT)
        if doubled is not None:
            whole, half = divmod(doubled, 2)
            power = raise_residue(base, whole)
            return multiply_residues(self.square_root(base), power) if half else power
        if self.lenient:
            return self._irrational_function(Op.POW, (base, exponent))
        raise operation_undefined_in_algebra(Op.POW, "a prime field")

    def square_root(self, value: Residue) -> Residue:
        """The smaller of both roots, so that equal values have equal roots.

        In a lenient field, a root that does not exist modulo p is an unknown number.
        """
        if (factors := self._root_of_constant(value)) is not None:
            return factors
        number, exists = root_modulo(value.number, FIELD_PRIME)
        if not exists and not self.lenient:
            raise BadPointError("no root modulo p")
        degree = max(value.numerator_degree, value.denominator_degree)
        bit = self.radicands.setdefault(value.number, len(self.radicands))
        if not exists:
            number = self.random_point.draw_residue_number(Op.SQRT.name, value.number)
        elif self.signs >> bit & 1:
            number = -number % FIELD_PRIME
        marks = ResidueMarks(1 << bit, not exists)
        if value.marks is not None:
            marks |= value.marks
        return Residue(number, numerator_degree=degree, denominator_degree=degree, marks=marks)

    def _root_of_constant(self, value: Residue) -> Residue | None:
        """The root of a small rational number by the roots of its prime factors, so that √6 is
        √2 √3 and √8 is 2 √2 for all signs of these; None for other values."""
        if value.numerator_degree or value.denominator_degree or value.marks is not None:
            return None
        number = rational_from_residue(value.number, MAX_ROOTED_CONSTANT, FIELD_PRIME)
        if number is None or number <= 0:
            return None
        outside, primes, left = rational_root_factors(number)
        if left != 1 or (outside == 1 and len(primes) == 1):
            return None
        roots = [self.square_root(self.constant(Fraction(prime))) for prime in primes]
        return reduce(multiply_residues, roots, self.constant(outside))

    def cosine_and_sine(self, angle: Residue) -> tuple[Residue, Residue]:
        """(cos, sin) of an angle."""
        atoms, turns, marks = angle.angle_atoms, angle.half_turns, angle.marks
        if atoms is None:
            atoms, turns = ((angle.number, Fraction(1)),), Fraction(0)
            marks = _mark_residue_unknown(marks) if self.lenient else marks
        total, degree = (1, 0), 0
        if self.lenient and (rest := turns % Fraction(1, 2)):
            turns -= rest
            total, own = self._oblique_circle_point(rest)
            marks = own if marks is None else marks | own
        total = add_circle_points_modulo(total, _right_angle_residues(turns), FIELD_PRIME)
        for atom, share in atoms:
            parts = self.angle_parts.get(atom, 1)
            whole = share * parts
            if whole.denominator != 1:
                self.angle_parts[atom] = parts * whole.denominator
                raise AngleSubdivisionError
            total = add_circle_points_modulo(
                total,
                multiply_circle_point_modulo(
                    self.random_point.draw_circle_point(atom), int(whole), FIELD_PRIME
                ),
                FIELD_PRIME,
            )
            degree += 2 * abs(int(whole))
        degree += (
            max(angle.numerator_degree, angle.denominator_degree)
            if angle.angle_atoms is None
            else 0
        )
        c, s = (Residue(x, None, NO_TURNS, degree, degree, marks) for x in total)
        return c, s

    def _oblique_circle_point(self, turns: Fraction) -> tuple[ModularCirclePoint, ResidueMarks]:
        """The circle point of an angle between 0 and a right angle, and its marks.

        It is exact for multiples of 15°, by roots of 2 and 3; other angles are unknown.
        """
        steps = 12 * turns
        if steps.denominator != 1:
            parts = self.angle_parts.get(TURN_ATOM, 1)
            whole = turns * parts
            if whole.denominator != 1:
                self.angle_parts[TURN_ATOM] = parts * whole.denominator
                raise AngleSubdivisionError
            return multiply_circle_point_modulo(
                self.random_point.draw_circle_point(TURN_ATOM), int(whole), FIELD_PRIME
            ), ResidueMarks(has_unknown_function=True)
        half = ratio_modulo(1, 2, FIELD_PRIME)
        two, three = (self.square_root(self.constant(Fraction(x))) for x in (2, 3))
        thirty = (three.number * half % FIELD_PRIME, half)
        forty_five = (two.number * half % FIELD_PRIME, two.number * half % FIELD_PRIME)
        eighths, twelfths = {1: (1, -1), 2: (0, 1), 3: (1, 0), 4: (0, 2), 5: (1, 1)}[int(steps)]
        point = add_circle_points_modulo(
            multiply_circle_point_modulo(forty_five, eighths, FIELD_PRIME),
            multiply_circle_point_modulo(thirty, twelfths, FIELD_PRIME),
            FIELD_PRIME,
        )
        marks = [x.marks for x, used in ((two, eighths), (three, twelfths)) if used and x.marks]
        return point, reduce(or_, marks)


def _mark_residue_unknown(marks: ResidueMarks | None) -> ResidueMarks:
    """The marks with the one for an unknown function or angle added."""
    unknown = ResidueMarks(has_unknown_function=True)
    return unknown if marks is None else marks | unknown


class AngleSubdivisionError(ArithmeticError):
    """A fraction of an angle occurs: start again with the angle counted in smaller parts."""


def _right_angle_residues(turns: Fraction) -> tuple[int, int]:
    """The circle point of a multiple of a right angle."""
    quarters = 2 * turns
    if quarters.denominator != 1:
        raise UnsupportedError(
            f"an angle of {turns}·π is not a right angle", remedy="keep it as a symbol"
        )
    return [(1, 0), (0, 1), (-1, 0), (0, -1)][int(quarters) % 4]
