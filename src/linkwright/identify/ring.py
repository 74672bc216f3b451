"""Exact quotients of polynomials in named quantities, cosines, sines and roots.

A tape, or an expression, read here has a normal form: sin² is 1 − cos², a root's square is what
stands under it, and common factors are cancelled. Zero is therefore seen to be zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from ..errors import UnsupportedError
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    Unit,
    negate,
)
from ..readings.algebra import meaningless, read
from ..tape import Op, Tape

Polynomial = Any  # flint.fmpq_mpoly has no type stubs

_WHERE = "exact quotients of polynomials"
_LARGEST_POWER = 64


class TooLongError(ArithmeticError):
    """A polynomial of more terms than allowed."""


@dataclass(frozen=True, slots=True)
class Quotient:
    """over / under; `circle` are cosine and sine where they are known to be given numbers."""

    over: Polynomial
    under: Polynomial
    circle: tuple[Fraction, Fraction] | None = None

    @property
    def is_zero(self) -> bool:
        return bool(self.over == 0)

    @property
    def is_constant(self) -> bool:
        return bool(self.over.is_constant() and self.under.is_constant())


class Ring:
    """The algebra; `spare` is how many cosines, sines and roots may turn up, `longest` how many
    terms a polynomial may have, `most` how many all of them together."""

    def __init__(
        self, names: Sequence[str], spare: int = 0, longest: int = 5000, most: int = 1 << 40
    ) -> None:
        import flint

        self.meaning: list[Expression] = [Name(name) for name in names]
        self.places = {name: k for k, name in enumerate(names)}
        labels = [f"x{k}" for k in range(len(names) + spare)] or ["x0"]
        self.context = flint.fmpq_mpoly_ctx.get(labels, "degrevlex")
        self.generators = self.context.gens()
        self.squares: dict[int, Polynomial] = {}
        self.one = self.context.constant(1)
        self.known: dict[str, Quotient] = {}
        self.longest, self.most = longest, most

    # -- values --------------------------------------------------------------------------

    def number(self, value: Fraction) -> Quotient:
        import flint

        scalar = flint.fmpq(value.numerator, value.denominator)
        return Quotient(self.context.constant(scalar), self.one)

    constant = number

    def symbol(self, name: str) -> Quotient:
        return Quotient(self.generators[self.places[name]], self.one)

    def at(self, cosine: Fraction, sine: Fraction, value: Fraction) -> Quotient:
        """A state's angle, of which cosine and sine are given (and a number beside them)."""
        return Quotient(self.number(value).over, self.one, (cosine, sine))

    def read(self, tape: Tape, inputs: Sequence[Sequence[Quotient]]) -> list[list[Quotient]]:
        return read(tape, self, inputs)

    def is_zero(self, value: Quotient) -> bool:
        return value.is_zero

    # -- arithmetic ----------------------------------------------------------------------

    def plus(self, a: Quotient, b: Quotient) -> Quotient:
        if a.under == b.under:
            return self.reduced(a.over + b.over, a.under)
        return self.reduced(a.over * b.under + b.over * a.under, a.under * b.under)

    def minus(self, a: Quotient, b: Quotient) -> Quotient:
        return self.plus(a, self.negate(b))

    def negate(self, a: Quotient) -> Quotient:
        circle = None if a.circle is None else (a.circle[0], -a.circle[1])
        return Quotient(-a.over, a.under, circle)

    def times(self, a: Quotient, b: Quotient) -> Quotient:
        return self.reduced(a.over * b.over, a.under * b.under)

    def reciprocal(self, a: Quotient) -> Quotient:
        if a.is_zero:
            raise ZeroDivisionError
        return self.reduced(a.under, a.over)

    def reduced(self, over: Polynomial, under: Polynomial) -> Quotient:
        self.most -= len(over) + len(under)
        if max(len(over), len(under)) > self.longest or self.most < 0:
            raise TooLongError
        over, under = self.without_squares(over), self.without_squares(under)
        if over == 0:
            return Quotient(over, self.one)
        if not under.is_constant():
            common = over.gcd(under)
            over, under = over / common, under / common
        leading = under.leading_coefficient()
        return Quotient(over / leading, under / leading)

    def without_squares(self, polynomial: Polynomial) -> Polynomial:
        """sin² and squares of roots replaced."""
        for place, square in self.squares.items():
            if polynomial.degrees()[place] > 1:
                polynomial = self._lowered(polynomial, place, square)
        return polynomial

    def _lowered(self, polynomial: Polynomial, place: int, square: Polynomial) -> Polynomial:
        parts: dict[int, dict[tuple[int, ...], Any]] = {}
        for exponents, coefficient in polynomial.to_dict().items():
            pairs, rest = divmod(int(exponents[place]), 2)
            low = (*exponents[:place], rest, *exponents[place + 1 :])
            parts.setdefault(pairs, {})[low] = coefficient
        total = self.context.constant(0)
        for pairs, terms in parts.items():
            total += self.context.from_dict(terms) * square**pairs
        return self.without_squares(total)

    # -- functions -----------------------------------------------------------------------

    def apply(self, op: Op, operands: Sequence[Quotient]) -> Quotient:
        match op:
            case Op.ADD:
                return self.plus(*operands)
            case Op.SUB:
                return self.minus(*operands)
            case Op.NEG:
                return self.negate(operands[0])
            case Op.MUL:
                return self.times(*operands)
            case Op.DIV:
                return self.times(operands[0], self.reciprocal(operands[1]))
            case Op.FMA:
                return self.plus(self.times(*operands[:2]), operands[2])
            case Op.SIN | Op.COS | Op.SQRT:
                return self.call(op.name.lower(), operands)
            case Op.TAN:
                return self.call("tan", operands)
            case Op.POW:
                return self.power(*operands)
            case _:
                raise meaningless(op, _WHERE)

    def call(self, function: str, arguments: Sequence[Quotient]) -> Quotient:
        argument = arguments[0]
        if function == "tan":
            return self.times(
                self.call("sin", arguments), self.reciprocal(self.call("cos", arguments))
            )
        if function == "sqrt":
            return self._root(argument)
        if function not in ("sin", "cos"):
            raise UnsupportedError(f"{function} has no meaning in {_WHERE}")
        if argument.circle is not None:
            return self.number(argument.circle[function == "sin"])
        if argument.is_zero:
            return self.number(Fraction(function == "cos"))
        cosine, sine = self._circle(argument)
        return cosine if function == "cos" else sine

    def _circle(self, angle: Quotient) -> tuple[Quotient, Quotient]:
        """The same pair for an angle and its negative."""
        inside = self.expression(angle)
        opposite = str(self.negate(angle))
        if f"cos {opposite}" in self.known:
            return self.known[f"cos {opposite}"], self.negate(self.known[f"sin {opposite}"])
        key = str(angle)
        if f"cos {key}" not in self.known:
            cosine, sine = (self._another(Call(f, (inside,))) for f in ("cos", "sin"))
            self.known[f"cos {key}"], self.known[f"sin {key}"] = cosine, sine
            self.squares[len(self.meaning) - 1] = 1 - cosine.over * cosine.over
        return self.known[f"cos {key}"], self.known[f"sin {key}"]

    def _root(self, square: Quotient) -> Quotient:
        """√(a/b) = √(ab)/b."""
        product = self.without_squares(square.over * square.under)
        key = f"sqrt {product}"
        if key not in self.known:
            inside = self.expression(Quotient(product, self.one))
            self.known[key] = self._another(Call("sqrt", (inside,)))
            self.squares[len(self.meaning) - 1] = product
        return self.reduced(self.known[key].over, square.under)

    def _another(self, meaning: Expression) -> Quotient:
        if len(self.meaning) >= len(self.generators):
            raise UnsupportedError("there are more cosines and roots than were counted")
        self.meaning.append(meaning)
        return Quotient(self.generators[len(self.meaning) - 1], self.one)

    # -- as an algebra of expressions -------------------------------------------------------

    def pi(self) -> Quotient:
        raise UnsupportedError(f"pi has no meaning in {_WHERE}")

    def add(self, terms: Iterable[Quotient]) -> Quotient:
        total = self.number(Fraction(0))
        for term in terms:
            total = self.plus(total, term)
        return total

    def multiply(self, factors: Iterable[Quotient]) -> Quotient:
        product = self.number(Fraction(1))
        for factor in factors:
            product = self.times(product, factor)
        return product

    def power(self, base: Quotient, exponent: Quotient) -> Quotient:
        if not exponent.is_constant:
            raise meaningless(Op.POW, _WHERE)
        value = Fraction(0)
        if not exponent.is_zero:
            value = _fraction(exponent.over.leading_coefficient())
        if value == Fraction(1, 2):
            return self._root(base)
        if value.denominator != 1 or abs(value) > _LARGEST_POWER:
            raise meaningless(Op.POW, _WHERE)
        if value < 0:
            base, value = self.reciprocal(base), -value
        longest = max(len(base.over), len(base.under))
        if comb(longest + int(value) - 1, int(value)) > self.longest:
            raise TooLongError
        return self.reduced(base.over ** int(value), base.under ** int(value))

    def measure(self, value: Quotient, unit: Unit) -> Quotient:
        if unit.pi_power:
            raise UnsupportedError(f"pi has no meaning in {_WHERE}")
        return self.times(value, self.number(unit.scale))

    # -- printing ----------------------------------------------------------------------------

    def expression(self, value: Quotient) -> Expression:
        """The quotient as a syntax tree, terms in a stable order."""
        over = self._polynomial(value.over)
        if value.under == 1:
            return over
        under = self._polynomial(value.under)
        if over == ONE:
            return Reciprocal(under)
        factors = over.factors if isinstance(over, Product) else (over,)
        return Product((*factors, Reciprocal(under)))

    def _polynomial(self, polynomial: Polynomial) -> Expression:
        terms = [self._term(e, _fraction(c)) for e, c in polynomial.to_dict().items()]
        return total(terms)

    def _term(self, exponents: Sequence[int], coefficient: Fraction) -> Expression:
        factors: list[Expression] = []
        for meaning, exponent in zip(self.meaning, exponents, strict=False):
            if exponent == 1:
                factors.append(meaning)
            elif exponent > 1:
                factors.append(Power(meaning, Number(Fraction(int(exponent)))))
        return scaled(coefficient, factors)


def scaled(coefficient: Fraction, factors: Sequence[Expression]) -> Expression:
    """coefficient · factors, without a factor 1 and with the sign in front."""
    parts = list(factors)
    if abs(coefficient) != 1 or not parts:
        parts.insert(0, Number(abs(coefficient)))
    term = parts[0] if len(parts) == 1 else Product(tuple(parts))
    return negate(term) if coefficient < 0 else term


def total(terms: Sequence[Expression]) -> Expression:
    if not terms:
        return ZERO
    return terms[0] if len(terms) == 1 else Sum(tuple(terms))


def spare_generators(tape: Tape) -> int:
    """How many cosines, sines and roots a tape can bring."""
    counted = {Op.SIN: 2, Op.COS: 2, Op.TAN: 2, Op.SQRT: 1, Op.POW: 1}
    return sum(counted.get(Op(code), 0) for code in tape.ops.tolist())


def coefficients(
    ring: Ring, polynomial: Polynomial, places: Iterable[int]
) -> Mapping[tuple[int, ...], Polynomial]:
    """The polynomial as a sum over monomials in the generators at `places`: their coefficients,
    which are polynomials in the other generators."""
    inside = sorted(places)
    parts: dict[tuple[int, ...], dict[tuple[int, ...], Any]] = {}
    for exponents, coefficient in polynomial.to_dict().items():
        key = tuple(exponents[k] for k in inside)
        rest = list(exponents)
        for k in inside:
            rest[k] = 0
        parts.setdefault(key, {})[tuple(rest)] = coefficient
    return {key: ring.context.from_dict(terms) for key, terms in parts.items()}


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))
