"""Numbers modulo a prime that know what they are as angles, and of which degree.

A value is a number modulo p = 2⁶¹ − 1281. What enters sin and cos is an angle as well: an integer
combination of angles that each are a random rational point (c, s) of the circle,

    c = (1 − t²)/(1 + t²),   s = 2t/(1 + t²),

so that cos(q₁ + q₂) and sin 2q are exact. An angle that is no such combination (a gear's ratio, an
expression) is a point of its own, the same wherever its value is the same; it need not be
independent of the others, so that in a `lenient` field it counts as an unknown function. Outside
sin and cos, q is a number independent of its point: what holds for independent numbers holds for
angles.

Two different rational functions of degree d agree at a random point with probability d/p at most
(Schwartz, Zippel); `degree` bounds d from the tape.

A square root has two signs modulo p, and functions such as sign and exp have no meaning there. In a
`lenient` field such functions are unknown ones: the same value for the same argument. What holds
for any function holds for the right one, but a difference need not be one: `ValueMarks` says which
values depend on roots (and on which) and on unknown functions, and which could not be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import reduce
from operator import or_

from ...errors import UnsupportedError
from ...tape import Op
from .algebra import meaningless
from .modular import Circular, UnluckyError, multiple, ratio, root, turned
from .random_point import RandomPoint
from .residue_values import (
    PRIME,
    Value,
    ValueMarks,
    add_values,
    combined_marks,
    invert_value,
    multiply_values,
    negate_value,
    raise_value,
    small_integer,
)

MAX_POWER = 64
TURN = -1
"""The atom of which angles that are not right angles are shares."""


_COMPOSED = frozenset({Op.ABS, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.NOT, Op.SELECT})
_UNKNOWN = frozenset(Op) - {
    Op.CONSTANT, Op.INPUT, Op.ADD, Op.SUB, Op.NEG, Op.MUL, Op.DIV, Op.FMA, Op.SIN, Op.COS, Op.TAN,
    Op.SQRT, Op.POW,
}  # fmt: skip


class PrimeField:
    """The algebra of one random point. `finest` says into how many parts an atom is cut, where
    halves of angles occur; `reckoned` is the degree, in what is random, of values that follow from
    it and are taken for symbols. Where it is `lenient`, functions without a meaning modulo p are
    unknown ones, and errors become marks; bits of `signs` say which roots are negated."""

    def __init__(
        self,
        seed: int,
        finest: Mapping[int, int] | None = None,
        *,
        lenient: bool = False,
        signs: int = 0,
    ) -> None:
        self.seed = seed
        self.finest: dict[int, int] = dict(finest or {})
        self.lenient, self.signs = lenient, signs
        self.at = RandomPoint(PRIME, seed)
        self.radicands: dict[int, int] = {}
        self.reckoned = 1

    def is_zero(self, value: Value) -> bool:
        return value.number == 0

    def symbol(self, name: str) -> Value:
        """A random number for an input, the same for the same name."""
        number = self.at.number("input", name)
        return Value(number, ((number, Fraction(1)),), numerator=1)

    def as_symbols(self, values: Sequence[Value]) -> list[Value]:
        """Values of degree 1 from here on: what is said of their functions is multiplied by their
        own degree, with the product of all denominators as the common one."""
        below = sum(value.denominator for value in values)
        self.reckoned *= max((value.numerator for value in values), default=0) + below or 1
        return [
            Value(x.number, x.atoms, x.turns, min(1, x.numerator), marks=x.marks) for x in values
        ]

    def on_sphere(self, names: Sequence[str]) -> list[Value]:
        """The entries of a random unit quaternion, the same for the same names."""
        return [Value(number, None, Fraction(0), 2, 2) for number in self.at.sphere(names)]

    def constant(self, value: Fraction) -> Value:
        number = ratio(value.numerator, value.denominator, PRIME)
        return Value(number, () if value == 0 else None)

    def pi(self) -> Value:
        """An angle of half a turn; outside sin and cos a random number."""
        return self.half_turns(Fraction(1), self.symbol("the number pi").number)

    def half_turns(self, share: Fraction, number: int) -> Value:
        """share · π: `number` stands for its value outside sin and cos."""
        return Value(number, (), share)

    def apply(self, op: Op, operands: Sequence[Value]) -> Value:
        if not self.lenient:
            return self._rational(op, operands)
        try:
            if op in _UNKNOWN:
                return self._unknown(op, operands)
            return self._rational(op, operands)
        except (UnluckyError, UnsupportedError) as error:
            return self.nothing(str(error))

    def nothing(self, why: str) -> Value:
        """What stands in the place of a value that there is not."""
        return Value(0, marks=ValueMarks(why=why))

    def _unknown(self, op: Op, operands: Sequence[Value]) -> Value:
        """A function that is not rational. Its value is a new generator, or a quotient with one in
        it; twice the degrees of the arguments count that two of them may coincide."""
        are_truths = [x.marks is not None and x.marks.is_loose for x in operands]
        number = self.at.function(op, [x.number for x in operands], are_truths)
        degree = sum(x.numerator + x.denominator for x in operands)
        below = sum(x.denominator for x in operands) if op in _COMPOSED else 0
        marks = _with_unknown(combined_marks(*operands))
        return Value(number, numerator=2 + 2 * degree, denominator=below, marks=marks)

    def _rational(self, op: Op, operands: Sequence[Value]) -> Value:
        match op:
            case Op.ADD:
                return add_values(*operands)
            case Op.SUB:
                return add_values(operands[0], negate_value(operands[1]))
            case Op.NEG:
                return negate_value(operands[0])
            case Op.MUL:
                return multiply_values(*operands)
            case Op.DIV:
                return multiply_values(operands[0], invert_value(operands[1]))
            case Op.FMA:
                return add_values(multiply_values(*operands[:2]), operands[2])
            case Op.SIN:
                return self.circle(operands[0])[1]
            case Op.COS:
                return self.circle(operands[0])[0]
            case Op.TAN:
                cosine, sine = self.circle(operands[0])
                return multiply_values(sine, invert_value(cosine))
            case Op.SQRT:
                return self.root(operands[0])
            case Op.POW:
                return self.power(*operands)
            case _:
                raise meaningless(op, "a prime field")

    def power(self, base: Value, exponent: Value) -> Value:
        """Whole powers; a half is a root."""
        doubled = None
        if not (exponent.denominator or exponent.numerator or exponent.marks):
            doubled = small_integer(2 * exponent.number, 2 * MAX_POWER)
        if doubled is not None:
            whole, half = divmod(doubled, 2)
            power = raise_value(base, whole)
            return multiply_values(self.root(base), power) if half else power
        if self.lenient:
            return self._unknown(Op.POW, (base, exponent))
        raise meaningless(Op.POW, "a prime field")

    def root(self, value: Value) -> Value:
        """The smaller of both roots: one choice for one value, wherever it occurs. One that does
        not exist modulo p is an unknown number where the field is lenient."""
        number, exists = root(value.number, PRIME)
        if not exists and not self.lenient:
            raise UnluckyError("no root modulo p")
        degree = max(value.numerator, value.denominator)
        bit = self.radicands.setdefault(value.number, len(self.radicands))
        if not exists:
            number = self.at.number(Op.SQRT.name, value.number)
        elif self.signs >> bit & 1:
            number = -number % PRIME
        marks = ValueMarks(1 << bit, not exists)
        if value.marks is not None:
            marks |= value.marks
        return Value(number, numerator=degree, denominator=degree, marks=marks)

    def circle(self, angle: Value) -> tuple[Value, Value]:
        """cos and sin."""
        atoms, turns, marks = angle.atoms, angle.turns, angle.marks
        if atoms is None:
            atoms, turns = ((angle.number, Fraction(1)),), Fraction(0)
            marks = _with_unknown(marks) if self.lenient else marks
        total, degree = (1, 0), 0
        if self.lenient and (rest := turns % Fraction(1, 2)):
            turns -= rest
            total, own = self._skew(rest)
            marks = own if marks is None else marks | own
        total = turned(total, _quarter(turns), PRIME)
        for atom, share in atoms:
            parts = self.finest.get(atom, 1)
            whole = share * parts
            if whole.denominator != 1:
                self.finest[atom] = parts * whole.denominator
                raise FinerError
            total = turned(total, multiple(self.at.circle(atom), int(whole), PRIME), PRIME)
            degree += 2 * abs(int(whole))
        degree += max(angle.numerator, angle.denominator) if angle.atoms is None else 0
        c, s = (Value(x, None, Fraction(0), degree, degree, marks) for x in total)
        return c, s

    def _skew(self, turns: Fraction) -> tuple[Circular, ValueMarks]:
        """The point of an angle between 0 and a right one: exact for multiples of 15°, which have
        roots of 2 and 3, and else that of an unknown angle."""
        steps = 12 * turns
        if steps.denominator != 1:
            parts = self.finest.get(TURN, 1)
            whole = turns * parts
            if whole.denominator != 1:
                self.finest[TURN] = parts * whole.denominator
                raise FinerError
            return multiple(self.at.circle(TURN), int(whole), PRIME), ValueMarks(is_loose=True)
        half = ratio(1, 2, PRIME)
        two, three = (self.root(self.constant(Fraction(x))) for x in (2, 3))
        thirty = (three.number * half % PRIME, half)
        forty_five = (two.number * half % PRIME, two.number * half % PRIME)
        eighths, twelfths = {1: (1, -1), 2: (0, 1), 3: (1, 0), 4: (0, 2), 5: (1, 1)}[int(steps)]
        point = turned(
            multiple(forty_five, eighths, PRIME), multiple(thirty, twelfths, PRIME), PRIME
        )
        marks = [x.marks for x, used in ((two, eighths), (three, twelfths)) if used and x.marks]
        return point, reduce(or_, marks)


def _with_unknown(marks: ValueMarks | None) -> ValueMarks:
    """The marks of what depends on an unknown function or angle as well."""
    unknown = ValueMarks(is_loose=True)
    return unknown if marks is None else marks | unknown


class FinerError(ArithmeticError):
    """An angle's part occurs: all its multiples must be counted in that part."""


def _quarter(turns: Fraction) -> tuple[int, int]:
    quarters = 2 * turns
    if quarters.denominator != 1:
        raise UnsupportedError(
            f"an angle of {turns}·π is no right angle", remedy="keep it as a symbol"
        )
    return [(1, 0), (0, 1), (-1, 0), (0, -1)][int(quarters) % 4]
