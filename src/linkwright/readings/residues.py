"""Numbers modulo a prime that know what they are as angles, and of which degree.

A value is a number modulo p = 2⁶¹ − 1. What enters sin and cos is an angle as well: an integer
combination of angles that each are a random rational point (c, s) of the circle,

    c = (1 − t²)/(1 + t²),   s = 2t/(1 + t²),

so that cos(q₁ + q₂) and sin 2q are exact. An angle that is no such combination (a gear's ratio, an
expression) is a point of its own, the same wherever its value is the same. Outside sin and cos, q
is a number independent of its point: what holds for independent numbers holds for angles.

Two different rational functions of degree d agree at a random point with probability d/p at most
(Schwartz, Zippel); `degree` bounds d from the tape.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import ExpressionError, UnsupportedError
from ..expressions import Unit
from ..tape import Op
from .algebra import meaningless
from .modular import (
    Circular,
    UnluckyError,
    drawn,
    inverse,
    multiple,
    on_sphere,
    power,
    ratio,
    root,
    turned,
)

PRIME = 2**61 - 1
MAX_POWER = 64


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


class PrimeField:
    """The algebra of one random point. `finest` says into how many parts an atom is cut, where
    halves of angles occur; `reckoned` is the degree, in what is random, of values that follow from
    it and are taken for symbols."""

    def __init__(self, seed: int, finest: Mapping[int, int] | None = None) -> None:
        self.seed = seed
        self.finest: dict[int, int] = dict(finest or {})
        self.points: dict[int, Circular] = {}
        self.reckoned = 1

    def symbol(self, name: str) -> Value:
        """A random number for an input, the same for the same name."""
        number = drawn(PRIME, self.seed, name)
        return Value(number, ((number, Fraction(1)),), numerator=1)

    def as_symbols(self, values: Sequence[Value]) -> list[Value]:
        """Values of degree 1 from here on: what is said of their functions is multiplied by their
        own degree, with the product of all denominators as the common one."""
        below = sum(value.denominator for value in values)
        self.reckoned *= max((value.numerator for value in values), default=0) + below or 1
        return [Value(x.number, x.atoms, x.turns, min(1, x.numerator)) for x in values]

    def constant(self, value: Fraction) -> Value:
        number = ratio(value.numerator, value.denominator, PRIME)
        return Value(number, () if value == 0 else None)

    def half_turns(self, share: Fraction, number: int) -> Value:
        """share · π: `number` stands for its value outside sin and cos."""
        return Value(number, (), share)

    def apply(self, op: Op, operands: Sequence[Value]) -> Value:
        match op:
            case Op.ADD:
                return _sum(*operands)
            case Op.SUB:
                return _sum(operands[0], _negative(operands[1]))
            case Op.NEG:
                return _negative(operands[0])
            case Op.MUL:
                return _product(*operands)
            case Op.DIV:
                return _product(operands[0], _reciprocal(operands[1]))
            case Op.FMA:
                return _sum(_product(*operands[:2]), operands[2])
            case Op.SIN:
                return self.circle(operands[0])[1]
            case Op.COS:
                return self.circle(operands[0])[0]
            case Op.TAN:
                cosine, sine = self.circle(operands[0])
                return _product(sine, _reciprocal(cosine))
            case Op.SQRT:
                return self.root(operands[0])
            case Op.POW:
                return self.power(*operands)
            case _:
                raise meaningless(op, "a prime field")

    def power(self, base: Value, exponent: Value) -> Value:
        """Whole powers; a half is a root."""
        if exponent.denominator or exponent.numerator:
            raise meaningless(Op.POW, "a prime field")
        for whole in range(-16, 17):
            if exponent.number == whole % PRIME:
                return _power(base, whole)
            if exponent.number == self.constant(Fraction(2 * whole + 1, 2)).number:
                return _product(self.root(base), _power(base, whole))
        raise meaningless(Op.POW, "a prime field")

    def root(self, value: Value) -> Value:
        """The smaller of both roots: one choice for one value, wherever it occurs."""
        number, exists = root(value.number, PRIME)
        if not exists:
            raise UnluckyError("no root modulo p")
        degree = max(value.numerator, value.denominator)
        return Value(number, numerator=degree, denominator=degree)

    def circle(self, angle: Value) -> tuple[Value, Value]:
        """cos and sin."""
        atoms, turns = angle.atoms, angle.turns
        if atoms is None:
            atoms, turns = ((angle.number, Fraction(1)),), Fraction(0)
        total, degree = _quarter(turns), 0
        for atom, share in atoms:
            parts = self.finest.get(atom, 1)
            whole = share * parts
            if whole.denominator != 1:
                self.finest[atom] = parts * whole.denominator
                raise FinerError
            total = turned(total, multiple(self.point(atom), int(whole), PRIME), PRIME)
            degree += 2 * abs(int(whole))
        degree += max(angle.numerator, angle.denominator) if angle.atoms is None else 0
        c, s = (Value(x, None, Fraction(0), degree, degree) for x in total)
        return c, s

    def point(self, atom: int) -> Circular:
        if atom not in self.points:
            c, s = on_sphere([drawn(PRIME, self.seed, "angle", atom)], PRIME)
            self.points[atom] = c, s
        return self.points[atom]


class FinerError(ArithmeticError):
    """An angle's part occurs: all its multiples must be counted in that part."""


def _quarter(turns: Fraction) -> tuple[int, int]:
    quarters = 2 * turns
    if quarters.denominator != 1:
        raise UnsupportedError(
            f"an angle of {turns}·π is no right angle", remedy="keep it as a symbol"
        )
    return [(1, 0), (0, 1), (-1, 0), (0, -1)][int(quarters) % 4]


def _sum(a: Value, b: Value) -> Value:
    atoms = None
    if a.atoms is not None and b.atoms is not None:
        total = dict(a.atoms)
        for atom, multiple in b.atoms:
            total[atom] = total.get(atom, Fraction(0)) + multiple
        atoms = tuple(sorted((x, m) for x, m in total.items() if m))
    top = max(a.numerator + b.denominator, b.numerator + a.denominator)
    number = (a.number + b.number) % PRIME
    return Value(number, atoms, a.turns + b.turns, top, a.denominator + b.denominator)


def _negative(a: Value) -> Value:
    atoms = None if a.atoms is None else tuple((x, -m) for x, m in a.atoms)
    return Value(-a.number % PRIME, atoms, -a.turns, a.numerator, a.denominator)


def _product(a: Value, b: Value) -> Value:
    atoms, turns = None, Fraction(0)
    for angle, factor in ((a, b), (b, a)):
        ratio = _plain(factor)
        if angle.atoms is not None and (angle.atoms or angle.turns) and ratio is not None:
            atoms = tuple((x, m * ratio) for x, m in angle.atoms if m * ratio)
            turns = angle.turns * ratio
    top, bottom = a.numerator + b.numerator, a.denominator + b.denominator
    return Value(a.number * b.number % PRIME, atoms, turns, top, bottom)


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


def _reciprocal(a: Value) -> Value:
    return Value(inverse(a.number, PRIME), None, Fraction(0), a.denominator, a.numerator)


def _power(base: Value, exponent: int) -> Value:
    if exponent < 0:
        base, exponent = _reciprocal(base), -exponent
    number = power(base.number, exponent, PRIME)
    return Value(number, None, Fraction(0), base.numerator * exponent, base.denominator * exponent)


class FieldAlgebra:
    """What the operations of an expression mean at one point of a prime field, for `fold`."""

    def __init__(self, field: PrimeField) -> None:
        self.field = field

    def number(self, value: Fraction) -> Value:
        return self.field.constant(value)

    def pi(self) -> Value:
        return self.field.half_turns(Fraction(1), self.field.symbol("the number pi").number)

    def add(self, terms: Sequence[Value]) -> Value:
        total = terms[0]
        for term in terms[1:]:
            total = self.field.apply(Op.ADD, (total, term))
        return total

    def multiply(self, factors: Sequence[Value]) -> Value:
        product = factors[0]
        for factor in factors[1:]:
            product = self.field.apply(Op.MUL, (product, factor))
        return product

    def negate(self, operand: Value) -> Value:
        return self.field.apply(Op.NEG, (operand,))

    def reciprocal(self, operand: Value) -> Value:
        return self.field.apply(Op.DIV, (self.field.constant(Fraction(1)), operand))

    def power(self, base: Value, exponent: Value) -> Value:
        """Whole powers by multiplication; the field itself knows halves."""
        plain = isinstance(exponent, Value) and not exponent.numerator + exponent.denominator
        if plain:
            for whole in range(MAX_POWER + 1):
                if exponent.number == whole:
                    return self.multiply([self.field.constant(Fraction(1)), *[base] * whole])
                if exponent.number == PRIME - whole:
                    return self.reciprocal(self.multiply([base] * whole))
        return self.field.apply(Op.POW, (base, exponent))

    def call(self, function: str, arguments: Sequence[Value]) -> Value:
        if function not in ("sin", "cos", "tan", "sqrt"):
            raise UnsupportedError(
                f"{function} cannot be proved modulo a prime", remedy="leave such terms out"
            )
        return self.field.apply(Op[function.upper()], tuple(arguments))

    def measure(self, value: Value, unit: Unit) -> Value:
        raise ExpressionError("units cannot stand in equations", remedy="use SI and leave them out")
