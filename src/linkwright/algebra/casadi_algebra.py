"""Parsed expressions in CasADi's symbols: the algebra in which derivations evaluate them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import casadi as ca

from ..expressions import ExactNumber, Number, PiMultiple, Unit, evaluate_expression_exactly
from .linear_algebra import Scalar


def rational_to_scalar(value: Scalar | Fraction) -> Scalar:
    """Return a rational as a float, and other values as they are."""
    return float(value) if isinstance(value, Fraction) else value


class CasadiAlgebra:
    """The algebra of CasADi expressions; literals stay rationals until they meet a symbol."""

    def __init__(
        self,
        lift: Callable[[ExactNumber], Scalar],
        inside: Callable[[ExactNumber], Scalar] | None = None,
        divisor: Callable[[ExactNumber], Scalar] | None = None,
    ) -> None:
        self.lift = lift
        self.lift_divisor = divisor or lift
        self.lift_argument = inside or lift  # of literals in functions

    def number(self, value: Fraction) -> Scalar | Fraction:
        """Return a literal as the rational that it is."""
        return value

    def pi(self) -> Scalar:
        """Return π as a float or symbol."""
        return self.lift(PiMultiple(Fraction(1)))

    def add(self, terms: Iterable[Scalar | Fraction]) -> Scalar | Fraction:
        """Return the sum; rational terms are added exactly first."""
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
        """Return the product; rational factors are multiplied exactly first."""
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
            else scaled / self.lift_divisor(Fraction(constant.denominator))
        )

    def negate(self, operand: Scalar | Fraction) -> Scalar | Fraction:
        """Return −operand."""
        return -operand

    def reciprocal(self, operand: Scalar | Fraction) -> Scalar | Fraction:
        """Return 1/operand."""
        return 1 / operand

    def power(self, base: Scalar | Fraction, exponent: Scalar | Fraction) -> Scalar | Fraction:
        """Return base^exponent: exact for rationals, by multiplication for integers, √ for 1/2."""
        if isinstance(base, Fraction) and isinstance(exponent, Fraction):
            if exponent.denominator != 1:
                return self.power(self.lift_argument(base), exponent)
            value = evaluate_expression_exactly(Number(base)) if exponent == 1 else base**exponent
            return value if isinstance(value, Fraction) else float(value)
        if exponent == Fraction(1, 2):
            return ca.sqrt(rational_to_scalar(base))
        if isinstance(exponent, Fraction) and exponent.denominator == 1:
            return _integer_power(base, int(exponent))
        return ca.power(rational_to_scalar(base), rational_to_scalar(exponent))

    def call(self, function: str, arguments: Sequence[Scalar | Fraction]) -> Scalar:
        """Return CasADi's function of this name, applied to the arguments."""
        return _CASADI_FUNCTIONS[function](
            *(self.lift_argument(a) if isinstance(a, Fraction) else a for a in arguments)
        )

    def measure(self, value: Scalar | Fraction, unit: Unit) -> Scalar | Fraction:
        """Return a value with a unit, in SI units."""
        scale = [unit.scale, *[self.pi()] * unit.pi_power]
        return self.multiply([value, *scale])


def _integer_power(base: Scalar, exponent: int) -> Scalar:
    """Return the power by repeated multiplication, which is exact and differentiates cleanly."""
    if exponent < 0:
        return 1 / _integer_power(base, -exponent)
    result: Scalar = 1.0
    for bit in bin(exponent)[2:]:
        result = result * result * (base if bit == "1" else 1.0)
    return result


_CASADI_FUNCTIONS: dict[str, Callable[..., Scalar]] = {
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
