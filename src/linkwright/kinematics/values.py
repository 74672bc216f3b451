"""From exact numbers to what derivations compute with: floats, or symbols of parameters.

`parameters` says which numbers stay symbols: "numeric" none, "symbolic" all but 0, ±1 and
right angles, or a list of names. A number that has no name gets one from its place, such as
`m_upper_arm`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..algebra.linear import Scalar
from ..algebra.rotations import CosSin
from ..errors import NameNotFoundError, suggest
from ..expressions import (
    PI,
    Exact,
    Expression,
    Measured,
    Number,
    PiMultiple,
    Unit,
    evaluate,
    fold,
    names,
)
from ..mechanism import Mechanism
from ..types import SX

Parameters = str | Sequence[str]

_LARGEST_INTEGER = 1 << 20
_RIGHT_ANGLES: dict[int, CosSin] = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (-1.0, 0.0), 3: (0.0, -1.0)}


class Values:
    """Turns the expressions of one mechanism into floats and symbols, and remembers these."""

    def __init__(self, mechanism: Mechanism, parameters: Parameters = "numeric") -> None:
        self.mechanism = mechanism
        self.exact = parameters == "symbolic"
        if isinstance(parameters, str) and parameters not in ("numeric", "symbolic"):
            parameters = [parameters]
        self.wanted = () if isinstance(parameters, str) else tuple(parameters)
        self.symbols: dict[str, Any] = {}
        self.symbol_values: dict[str, Exact] = {}
        self.literals: dict[str, Fraction] = {}
        self.offered: set[str] = set(mechanism.parameters)
        self.place = ""
        self.given: dict[tuple[str, str], str] = {}
        self.known: dict[str, Scalar | Fraction] = {}
        """Values of parameters, each made once: they may use each other many times."""

    def scalar(self, expression: Expression, name: str) -> Scalar:
        """The number as float or symbol; `name` is what to call it if it has no name."""
        if not names(expression) and isinstance(expression, Number | Measured):
            return self.named(evaluate(expression), name)
        if not self.exact and not self._depends(expression):
            return float(evaluate(expression, self.mechanism.values))
        value = fold(expression, CasadiAlgebra(self.lifted, self.inside), self.lookup)
        return self.named(value, name) if isinstance(value, Fraction) else value

    def at(self, place: str) -> None:
        """From here on, numbers stand at this place (a body, a joint, a frame)."""
        self.place = place

    def named(self, value: Exact, name: str) -> Scalar:
        name = self.unique(name)
        if name in self.wanted or (self.exact and value not in (0, 1, -1)):
            return self.symbol(name, value)
        return float(value)

    def unique(self, name: str) -> str:
        """The name that a number gets: its own, unless another place has taken that."""
        key = (self.place, name)
        if key not in self.given:
            known, number = name, 1
            while name in self.offered:
                number += 1
                name = f"{known}_{number}"
            self.offered.add(name)
            self.given[key] = name
        return self.given[key]

    def cosine_sine(self, angle: Expression, name: str) -> CosSin:
        """cos and sin of an angle, exact for right angles (also when written as decimals)."""
        value = evaluate(angle, self.mechanism.values)
        if not self._depends(angle):
            quarter = _quarter_turns(value)
            if quarter is not None:
                return _RIGHT_ANGLES[quarter % 4]
        scalar = self.scalar(angle, name)
        if isinstance(scalar, float):
            return math.cos(scalar), math.sin(scalar)
        return ca.cos(scalar), ca.sin(scalar)

    def expression(self, expression: Expression, scope: Mapping[str, Scalar]) -> Scalar:
        """An expression of things that move (`scope`) and of parameters."""

        def lookup(name: str) -> Scalar | Fraction:
            return scope[name] if name in scope else self.lookup(name)

        value = fold(expression, CasadiAlgebra(self.lifted, self.inside), lookup)
        return self.lifted(value) if isinstance(value, Fraction) else value

    def number(self, expression: Expression) -> float:
        """The plain value, whatever is kept as a symbol."""
        return float(evaluate(expression, self.mechanism.values))

    def varies(self, expressions: Iterable[Expression], own: Iterable[str]) -> bool:
        """Whether symbols that somebody may change are in there: parameters, or asked for."""
        named = any(self._depends(expression) for expression in expressions if names(expression))
        return named or any(self.unique(name) in self.wanted for name in own)

    def keeps(self, name: str) -> bool:
        return self.exact or name in self.wanted

    def symbol(self, name: str, value: Exact) -> SX:
        if name not in self.symbols:
            self.symbols[name] = ca.SX.sym(name)
            self.symbol_values[name] = value
        symbol: SX = self.symbols[name]
        return symbol

    def lookup(self, name: str) -> Scalar | Fraction:
        if self.keeps(name):
            return self.symbol(name, self.mechanism.values[name])
        if name not in self.known:
            for other in self.mechanism.values:  # in an order in which each knows those it uses
                self.known[other] = self._parameter(other)
        return self.known[name]

    def _parameter(self, name: str) -> Scalar | Fraction:
        """The value of a parameter that is no symbol, by those before it."""
        expression = self.mechanism.parameters[name]
        if self.keeps(name) or not self._depends(expression):
            return float(self.mechanism.values[name])
        return fold(expression, CasadiAlgebra(self.lifted, self.inside), self.lookup)

    def lifted(self, value: Exact) -> Scalar:
        """A literal inside an expression: a float, or, where all must stay exact, a symbol."""
        if not self.exact or (
            isinstance(value, Fraction) and value.denominator == 1 and abs(value) < _LARGEST_INTEGER
        ):
            return float(value)
        return self.literal(value) if isinstance(value, Fraction) else self.symbol(PI, value)

    def inside(self, value: Exact) -> Scalar:
        """A literal of which a function is taken, as 3 in sqrt(3), so that nobody rounds that."""
        if not self.exact or not isinstance(value, Fraction):
            return self.lifted(value)
        return self.literal(value)

    def literal(self, value: Fraction) -> SX:
        """The symbol that stands for a number, and that is printed as this."""
        text = f"{value.numerator}" + (f"_{value.denominator}" if value.denominator != 1 else "")
        place, self.place = self.place, ""
        name = self.unique(f"n_{text}".replace("-", "m"))
        self.place = place
        self.literals[name] = value
        return self.symbol(name, value)

    def finish(self) -> None:
        """Puts the symbols in the order asked for; raises if one of them is not there."""
        for name in self.wanted:
            if name not in self.symbols:
                known = sorted(self.offered)
                what = "has no effect on this mechanism" if name in known else "is no parameter"
                remedy = "leave it out" if name in known else suggest(name, known)
                raise NameNotFoundError(
                    f"'{name}' {what}", where=self.mechanism.name, remedy=remedy
                )
        if self.wanted:
            self.symbols = {name: self.symbols[name] for name in self.wanted}
            self.symbol_values = {name: self.symbol_values[name] for name in self.wanted}

    def _depends(self, expression: Expression) -> bool:
        """Whether a kept symbol is in the expression, directly or through parameters."""
        return any(name in self._varying or self.keeps(name) for name in names(expression))

    @cached_property
    def _varying(self) -> frozenset[str]:
        """Parameters that are symbols, or use some."""
        found: set[str] = set()
        for name in self.mechanism.values:  # in an order in which each stands behind those it uses
            if self.keeps(name) or not found.isdisjoint(names(self.mechanism.parameters[name])):
                found.add(name)
        return frozenset(found)


def read_expression(
    mechanism: Mechanism,
    expression: Expression,
    scope: Mapping[str, Scalar],
    symbols: Mapping[str, Scalar] | None = None,
) -> Scalar:
    """An expression of coordinates and the like (`scope`), and of the mechanism's parameters,
    some of which may be kept as `symbols`."""
    kept = symbols or {}

    def lookup(name: str) -> Scalar | Fraction:
        if name in scope:
            return scope[name]
        if name in kept:
            return kept[name]
        if name in mechanism.parameters:
            return float(mechanism.values[name])
        known = [*scope, *mechanism.parameters]
        raise NameNotFoundError(
            f"there is no '{name}'", where=mechanism.name, remedy=suggest(name, known)
        )

    return _as_scalar(fold(expression, CasadiAlgebra(float), lookup))


def _quarter_turns(value: Exact) -> int | None:
    """k if the angle is k·π/2, exactly or as near as a float can be."""
    if isinstance(value, PiMultiple):
        doubled = value.coefficient * 2
        return int(doubled) if doubled.denominator == 1 else None
    k = round(float(value) / (math.pi / 2))
    return k if abs(float(value) - k * (math.pi / 2)) <= 2.3e-16 * max(1, abs(k)) else None


def _as_scalar(value: Scalar | Fraction) -> Scalar:
    return float(value) if isinstance(value, Fraction) else value


class CasadiAlgebra:
    """Expressions as CasADi's; literals stay rationals until they meet a symbol."""

    def __init__(
        self, lift: Callable[[Exact], Scalar], inside: Callable[[Exact], Scalar] | None = None
    ) -> None:
        self.lift = lift
        self.inside = inside or lift  # of literals in functions

    def number(self, value: Fraction) -> Scalar | Fraction:
        return value

    def pi(self) -> Scalar:
        return self.lift(PiMultiple(Fraction(1)))

    def add(self, terms: Iterable[Scalar | Fraction]) -> Scalar | Fraction:
        constant, total = Fraction(0), None
        for term in terms:
            if isinstance(term, Fraction):
                constant += term
            else:
                total = term if total is None else total + term
        if total is None or constant == 0:
            return constant if total is None else total
        return total + self.lift(constant)

    def multiply(self, factors: Iterable[Scalar | Fraction]) -> Scalar | Fraction:
        constant, product = Fraction(1), None
        for factor in factors:
            if isinstance(factor, Fraction):
                constant *= factor
            else:
                product = factor if product is None else product * factor
        if product is None or constant == 0:
            return constant
        scaled = (
            product
            if constant.numerator == 1
            else self.lift(Fraction(constant.numerator)) * product
        )
        return (
            scaled
            if constant.denominator == 1
            else scaled / self.lift(Fraction(constant.denominator))
        )

    def negate(self, operand: Scalar | Fraction) -> Scalar | Fraction:
        return -operand

    def reciprocal(self, operand: Scalar | Fraction) -> Scalar | Fraction:
        return 1 / operand

    def power(self, base: Scalar | Fraction, exponent: Scalar | Fraction) -> Scalar | Fraction:
        if isinstance(base, Fraction) and isinstance(exponent, Fraction):
            if exponent.denominator != 1:
                return self.power(self.inside(base), exponent)
            value = evaluate(Number(base)) if exponent == 1 else base**exponent
            return value if isinstance(value, Fraction) else float(value)
        if exponent == Fraction(1, 2):
            return ca.sqrt(_as_scalar(base))
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            return _integer_power(base, int(exponent))
        return ca.power(_as_scalar(base), _as_scalar(exponent))

    def call(self, function: str, arguments: Sequence[Scalar | Fraction]) -> Scalar:
        return _CASADI_FUNCTIONS[function](*(
            self.inside(a) if isinstance(a, Fraction) else a for a in arguments
        ))  # fmt: skip

    def measure(self, value: Scalar | Fraction, unit: Unit) -> Scalar | Fraction:
        scale = [unit.scale, *[self.pi()] * unit.pi_power]
        return self.multiply([value, *scale])


def _integer_power(base: Scalar, exponent: int) -> Scalar:
    """By repeated multiplication, so that it is exact and differentiates cleanly."""
    if exponent < 0:
        return 1 / _integer_power(base, -exponent)
    result: Scalar = 1.0
    for bit in bin(exponent)[2:]:
        result = result * result * (base if bit == "1" else 1.0)
    return result


_CASADI_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": ca.sin,
    "cos": ca.cos,
    "tan": ca.tan,
    "asin": ca.asin,
    "acos": ca.acos,
    "atan": ca.atan,
    "atan2": ca.atan2,
    "sqrt": ca.sqrt,
    "exp": ca.exp,
    "log": ca.log,
    "tanh": ca.tanh,
    "abs": ca.fabs,
    "sign": ca.sign,
    "min": ca.fmin,
    "max": ca.fmax,
    "floor": ca.floor,
}
