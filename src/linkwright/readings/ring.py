"""Trigonometric polynomials: exact, and canonical, so that equality is comparison.

A value is an element of Q[inputs][c, s]/(c² + s² − 1): a polynomial in the inputs and in the
cosines and sines of chosen angles, in which no sine occurs twice. Every integer combination of
those angles is expanded by the addition theorems. A root is a generator l reduced by l² = P;
functions that are no polynomials (sign, exp, …) are generators of their own, one for one value.
A quotient stays a pair, and is compared by cross-multiplication; but 1/l of a root, and what is
divided by sums with roots (directions of skew axes), is a generator r, with rP = l for r = 1/l.

Constants are dyadic rationals on a tape and are taken for exactly what they are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ..errors import LinkwrightError
from ..tape import Op
from .angles import Form, Table

if TYPE_CHECKING:
    import flint


Poly = Any  # flint.fmpq_mpoly has no type stubs


class BudgetError(LinkwrightError):
    """A polynomial grew beyond what was allowed: it is better read as a list of steps."""


@dataclass
class Budget:
    """The most terms of any polynomial on the way, and the seconds for all of them."""

    terms: int = 200_000
    seconds: float = 20.0
    deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self.deadline = time.monotonic() + self.seconds

    def check(self, terms: int) -> None:
        if terms > self.terms or time.monotonic() > self.deadline:
            raise BudgetError(
                "the closed form is too long to be read", remedy="raise terms or seconds"
            )


@dataclass(frozen=True, slots=True)
class Value:
    """numerator/denominator; `reduced` marks the generators with g² = P that may occur."""

    numerator: Poly
    reduced: int = 0
    denominator: Poly = None


@dataclass(frozen=True)
class Opaque:
    """A generator for a function of values that is no polynomial of them."""

    op: Op
    operands: tuple[Value, ...]


class Ring:
    """The polynomials of one tape: its generators, and what they stand for.

    In the order of generators: functions (later ones first, as they may contain earlier ones),
    sines, cosines, inputs. `unit` are groups of inputs whose squares sum to 1.
    """

    def __init__(
        self,
        symbols: Sequence[str],
        angles: Sequence[Form],
        multiples: Table,
        spare: int = 0,
        units: Sequence[Sequence[str]] = (),
        budget: Budget | None = None,
    ) -> None:
        from flint import Ordering, fmpq_mpoly_ctx

        self.angles, self.multiples = tuple(angles), multiples
        self.budget = budget or Budget()
        self.spare, self.opaque = spare, list[Opaque]()
        a, leading = len(self.angles), [group[0] for group in units]
        rest = [name for name in symbols if name not in leading]
        self.symbols = (*leading, *rest)
        names = [f"_f{k}" for k in reversed(range(spare))]
        names += [f"_s{k}" for k in range(a)] + [f"_c{k}" for k in range(a)]
        self.first_sine, self.first_cosine, self.first_symbol = spare, spare + a, spare + 2 * a
        # names of users never reach FLINT
        names += [f"_x{k}" for k in range(len(self.symbols))]
        self.context = fmpq_mpoly_ctx.get(names or ["_x0"], Ordering.lex)
        self.generators = self.context.gens()
        self.places = {name: self.first_symbol + k for k, name in enumerate(self.symbols)}
        self.relations: dict[int, tuple[tuple[Poly, ...], int]] = {}
        self.reciprocals = 0  # generators 1/l, which are reduced together with their P
        self.one = self.context.constant(1)
        for k in range(a):
            s, c = self.generators[spare + k], self.generators[self.first_cosine + k]
            self.relations[1 << (spare + k)] = (s * s + c * c - 1,), 0
        for group in units:
            squares = [self.generators[self.places[name]] ** 2 for name in group]
            unit = sum(squares[1:], squares[0]) - 1
            self.relations[1 << self.places[group[0]]] = (unit,), 0
        self.turned: dict[Form, tuple[Value, Value]] = {}

    # -- the algebra --------------------------------------------------------------------

    def symbol(self, name: str) -> Value:
        place = self.places[name]
        return Value(self.generators[place], (1 << place) if (1 << place) in self.relations else 0)

    def constant(self, value: Fraction) -> Value:
        from flint import fmpq

        return Value(self.context.constant(fmpq(value.numerator, value.denominator)))

    def apply(self, op: Op, operands: Sequence[Value]) -> Value:
        match op:
            case Op.MUL:
                return self.product(operands[0], operands[1])
            case Op.ADD:
                return self.sum(operands[0], operands[1])
            case Op.SUB:
                return self.sum(operands[0], _negative(operands[1]))
            case Op.NEG:
                return _negative(operands[0])
            case Op.DIV:
                return self.quotient(operands[0], operands[1])
            case Op.FMA:
                return self.sum(self.product(operands[0], operands[1]), operands[2])
            case Op.COS:
                return self.circle(operands[0])[0]
            case Op.SIN:
                return self.circle(operands[0])[1]
            case Op.TAN:
                cosine, sine = self.circle(operands[0])
                return self.quotient(sine, cosine)
            case Op.POW:
                return self.power(operands[0], operands[1])
            case _:
                return self.function(op, operands)

    def sum(self, a: Value, b: Value) -> Value:
        mask = a.reduced | b.reduced
        if a.denominator is None and b.denominator is None:
            total = a.numerator + b.numerator
            self.budget.check(len(total))
            return Value(total, mask)
        one, other = a.denominator, b.denominator
        if one is not None and other is not None and one == other:
            return self.ratio(Value(a.numerator + b.numerator, mask), Value(one, mask))
        a_top, b_top = Value(a.numerator, a.reduced), Value(b.numerator, b.reduced)
        if other is not None:
            a_top = self.product(a_top, Value(other, b.reduced))
        if one is not None:
            b_top = self.product(b_top, Value(one, a.reduced))
        bottom = self.product(Value(one or self.one, mask), Value(other or self.one, mask))
        return self.ratio(Value(a_top.numerator + b_top.numerator, mask), bottom)

    def product(self, a: Value, b: Value) -> Value:
        mask = a.reduced | b.reduced
        if a.denominator is None and b.denominator is None:
            pending = a.reduced & b.reduced | mask & self.reciprocals
            return self.reduce(self.times(a.numerator, b.numerator), pending, mask)
        top = self.product(Value(a.numerator, a.reduced), Value(b.numerator, b.reduced))
        one, other = a.denominator or self.one, b.denominator or self.one
        return self.ratio(top, self.product(Value(one, a.reduced), Value(other, b.reduced)))

    def times(self, a: Poly, b: Poly) -> Poly:
        if len(a) * len(b) > 64:
            self.budget.check(max(len(a), len(b), len(a) * len(b) // 64))
        return a * b

    def reduce(self, poly: Poly, pending: int, mask: int) -> Value:
        """Takes out squares of the `pending` generators, outermost first; where reciprocals of
        roots occur, again until nothing changes, since 1 − c² for s² may meet them."""
        while pending:
            before, asked = poly, pending
            while pending:
                bit = pending & -pending
                pending ^= bit
                relations, inner = self.relations[bit]
                for relation in relations:
                    poly = divmod(poly, relation)[1]
                pending |= inner
                mask |= inner
            pending = asked if mask & self.reciprocals and poly != before else 0
        self.budget.check(len(poly))
        return Value(poly, mask)

    def quotient(self, a: Value, b: Value) -> Value:
        if b.numerator.is_constant() and b.denominator is None:
            if b.numerator.is_zero():
                raise BudgetError("the closed form divides by zero")
            return Value(a.numerator / b.numerator.leading_coefficient(), a.reduced, a.denominator)
        if b.denominator is None and self.has_function(b.numerator):
            return self.by_function(a, b)
        top = self.product(
            Value(a.numerator, a.reduced), Value(b.denominator or self.one, b.reduced)
        )
        bottom = self.product(
            Value(a.denominator or self.one, a.reduced), Value(b.numerator, b.reduced)
        )
        return self.ratio(top, bottom)

    def by_function(self, a: Value, b: Value) -> Value:
        """a/b of a divisor with roots or other functions, whose reciprocal is a generator."""
        lead = b.numerator.leading_coefficient()
        a = Value(a.numerator / lead, a.reduced, a.denominator)
        divisor = b.numerator / lead
        if len(divisor) > 1:
            return self.product(
                a, self.function(Op.DIV, (Value(self.one), Value(divisor, b.reduced)))
            )
        rest = self.one
        for place, power in enumerate(divisor.monoms()[0]):
            for _ in range(int(power)):
                if place < self.spare:
                    k = self.spare - 1 - place
                    reciprocal = self.function(Op.DIV, (Value(self.one), self._opaque(k)))
                    a = self.product(a, reciprocal)
                else:
                    rest = rest * self.generators[place]
        return self.quotient(a, Value(rest, b.reduced))

    def has_function(self, poly: Poly) -> bool:
        """Whether the polynomial has a root, or another function, in it."""
        return bool(self.spare) and any(poly.degrees()[: self.spare])

    def ratio(self, top: Value, bottom: Value) -> Value:
        """Lowest terms as polynomials, and a denominator with leading coefficient 1."""
        upper, lower = top.numerator, bottom.numerator
        mask = top.reduced | bottom.reduced
        if upper.is_zero():
            return Value(upper)
        if len(upper) * len(lower) < 10_000:
            common = upper.gcd(lower)
            if not common.is_constant():
                upper, lower = divmod(upper, common)[0], divmod(lower, common)[0]
        lead = lower.leading_coefficient()
        if lower.is_constant():
            return Value(upper / lead, mask)
        return Value(upper / lead, mask, lower / lead)

    def power(self, base: Value, exponent: Value) -> Value:
        """Whole powers; a half is a root."""
        number = _rational(exponent)
        if number is None or number.denominator > 2 or abs(number) > 64:
            return self.function(Op.POW, (base, exponent))
        whole = number.numerator // number.denominator
        result = Value(self.one)
        for _ in range(abs(whole)):
            result = self.product(result, base)
        if whole < 0:
            result = self.quotient(Value(self.one), result)
        if number.denominator == 2:
            result = self.product(result, self.function(Op.SQRT, (base,)))
        return result

    # -- angles and other functions -------------------------------------------------------

    def circle(self, angle: Value) -> tuple[Value, Value]:
        """cos and sin."""
        form = self.form(angle)
        multiples = self.multiples.get(form) if form is not None else None
        if form is None or multiples is None:
            return self.function(Op.COS, (angle,)), self.function(Op.SIN, (angle,))
        if form not in self.turned:
            self.budget.check(sum(map(abs, multiples)) ** 3)
            c, s = Value(self.one), Value(self.one * 0)
            for k, times in enumerate(multiples):
                for _ in range(abs(times)):
                    c, s = self.turn((c, s), k, times > 0)
            self.turned[form] = c, s
        return self.turned[form]

    def turn(self, point: tuple[Value, Value], k: int, forward: bool) -> tuple[Value, Value]:
        """The point of the circle moved by the angle k, or back."""
        sine_bit = 1 << (self.first_sine + k)
        cosine = Value(self.generators[self.first_cosine + k])
        sine = Value(self.generators[self.first_sine + k], sine_bit)
        sine = sine if forward else _negative(sine)
        (c, s), product = point, self.product
        return (
            self.sum(product(c, cosine), _negative(product(s, sine))),
            self.sum(product(s, cosine), product(c, sine)),
        )

    def form(self, angle: Value) -> Form | None:
        """The angle as multiples of monomials in the inputs, if it is that."""
        if angle.denominator is not None or len(angle.numerator) > 32:
            return None
        terms = []
        for exponents, coefficient in angle.numerator.terms():
            if any(exponents[: self.first_symbol]):
                return None
            powers = exponents[self.first_symbol :]
            monomial = tuple(
                (name, int(power))
                for name, power in zip(self.symbols, powers, strict=True)
                if power
            )
            terms.append((tuple(sorted(monomial)), as_fraction(coefficient)))
        return tuple(sorted(terms))

    def function(self, op: Op, operands: Sequence[Value]) -> Value:
        """A generator of its own, the same for the same values; a root is reduced by l² = P."""
        found = Opaque(op, tuple(operands))
        for k, known in enumerate(self.opaque):
            if known.op is op and all(
                same(self, x, y) for x, y in zip(known.operands, operands, strict=True)
            ):
                return self._opaque(k)
        if op is Op.SQRT and (root := _rational_root(operands[0])) is not None:
            return self.constant(root)
        if len(self.opaque) == self.spare:
            raise BudgetError("the closed form has too many functions")
        self.opaque.append(found)
        k = len(self.opaque) - 1
        self.relate(self.spare - 1 - k, op, operands[-1])
        return self._opaque(k)

    def relate(self, place: int, op: Op, inside: Value) -> None:
        """What reduces the new generator: l² = P of a root, rP = l and rl = 1 of r = 1/l."""
        if inside.denominator is not None:
            return
        generator, poly, bit = self.generators[place], inside.numerator, 1 << place
        if op is Op.SQRT:
            self.relations[bit] = (generator * generator - poly,), inside.reduced
        elif op is Op.DIV:
            root = next((k for k in range(self.spare) if poly == self.generators[k]), None)
            if root is not None and self.opaque[self.spare - 1 - root].op is Op.SQRT:
                squared = self.opaque[self.spare - 1 - root].operands[0]
                pair = generator * squared.numerator - poly, generator * poly - 1
                self.relations[bit] = pair, inside.reduced | squared.reduced
                self.reciprocals |= bit

    def _opaque(self, k: int) -> Value:
        place = self.spare - 1 - k
        return Value(self.generators[place], (1 << place) if (1 << place) in self.relations else 0)


def _negative(a: Value) -> Value:
    return Value(-a.numerator, a.reduced, a.denominator)


def as_fraction(number: flint.fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))


def _rational(value: Value) -> Fraction | None:
    if value.denominator is not None or not value.numerator.is_constant():
        return None
    zero = value.numerator.is_zero()
    return Fraction(0) if zero else as_fraction(value.numerator.leading_coefficient())


def _rational_root(value: Value) -> Fraction | None:
    from math import isqrt

    number = _rational(value)
    if number is None or number < 0:
        return None
    n, d = isqrt(number.numerator), isqrt(number.denominator)
    return Fraction(n, d) if Fraction(n * n, d * d) == number else None


def same(ring: Ring, a: Value, b: Value) -> bool:
    """Equality, by cross-multiplication where there are quotients."""
    if a.denominator is None and b.denominator is None:
        return bool(a.numerator == b.numerator)
    one = ring.product(Value(a.numerator, a.reduced), Value(b.denominator or ring.one, b.reduced))
    other = ring.product(Value(b.numerator, b.reduced), Value(a.denominator or ring.one, a.reduced))
    return bool(one.numerator == other.numerator)
