"""Values modulo a prime with their derivatives: what an equation says of each quantity in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..expressions import Expression, Unit, fold
from ..readings.residues import PRIME, FieldAlgebra, PrimeField, Value


@dataclass(frozen=True)
class Jet:
    """A value and its derivatives by the quantities that it depends on."""

    value: Value
    slopes: Mapping[str, int] = field(default_factory=dict)

    def scaled(self, factor: int) -> dict[str, int]:
        """The slopes times a factor, without those that are zero."""
        found = {key: slope * factor % PRIME for key, slope in self.slopes.items()}
        return {key: slope for key, slope in found.items() if slope}


class JetAlgebra:
    """Forward differentiation at one point of a prime field, for `fold`."""

    def __init__(self, point: PrimeField) -> None:
        self.plain = FieldAlgebra(point)

    def evaluate(self, expression: Expression, lookup: Callable[[str], Jet]) -> Jet:
        return fold(expression, self, lookup)

    def number(self, value: Fraction) -> Jet:
        return Jet(self.plain.number(value))

    def pi(self) -> Jet:
        return Jet(self.plain.pi())

    def add(self, terms: Sequence[Jet]) -> Jet:
        total: dict[str, int] = {}
        for term in terms:
            for key, slope in term.slopes.items():
                total[key] = (total.get(key, 0) + slope) % PRIME
        value = self.plain.add([term.value for term in terms])
        return Jet(value, {key: slope for key, slope in total.items() if slope})

    def multiply(self, factors: Sequence[Jet]) -> Jet:
        product = factors[0]
        for factor in factors[1:]:
            left, right = product.scaled(factor.value.number), factor.scaled(product.value.number)
            slopes = self.add([Jet(product.value, left), Jet(product.value, right)]).slopes
            product = Jet(self.plain.multiply([product.value, factor.value]), slopes)
        return product

    def negate(self, operand: Jet) -> Jet:
        return Jet(self.plain.negate(operand.value), operand.scaled(-1))

    def reciprocal(self, operand: Jet) -> Jet:
        inverse = self.plain.reciprocal(operand.value)
        return Jet(inverse, operand.scaled(-inverse.number * inverse.number))

    def power(self, base: Jet, exponent: Jet) -> Jet:
        value = self.plain.power(base.value, exponent.value)
        if not base.slopes:
            return Jet(value)
        lower = self.plain.add([exponent.value, self.plain.number(Fraction(-1))])
        slope = exponent.value.number * self.plain.power(base.value, lower).number
        return Jet(value, base.scaled(slope))

    def call(self, function: str, arguments: Sequence[Jet]) -> Jet:
        (argument,) = arguments if len(arguments) == 1 else (Jet(self.plain.number(Fraction(0))),)
        value = self.plain.call(function, [one.value for one in arguments])
        if not argument.slopes:
            return Jet(value)
        return Jet(value, argument.scaled(self._slope(function, argument.value, value)))

    def _slope(self, function: str, argument: Value, value: Value) -> int:
        match function:
            case "sin":
                return self.plain.call("cos", [argument]).number
            case "cos":
                return -self.plain.call("sin", [argument]).number
            case "tan":
                return 1 + value.number * value.number
            case _:  # sqrt, the only other that has a value here
                twice = self.plain.multiply([self.plain.number(Fraction(2)), value])
                return self.plain.reciprocal(twice).number

    def measure(self, value: Jet, unit: Unit) -> Jet:
        return Jet(self.plain.measure(value.value, unit))
