"""Conversion of exact numbers to what derivations compute with: floats, or parameter symbols.

`parameters` says which numbers stay symbols: "numeric" none, "symbolic" all but 0, right
angles and ratios of ±1, or a list of names. `made_up_names` has the names of numbers without one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property

import casadi as ca

from ..algebra.casadi_algebra import CasadiAlgebra, rational_to_scalar
from ..algebra.linear_algebra import Scalar
from ..algebra.rotations import CosSin
from ..errors import NameNotFoundError, suggest_remedy
from ..expressions import (
    PI,
    ExactNumber,
    Expression,
    Number,
    NumberWithUnit,
    PiMultiple,
    evaluate_expression_exactly,
    fold_expression,
    names_in_expression,
    negate_expression,
)
from ..mechanism import Mechanism
from ..types import SX
from .made_up_names import MadeUpNames

ParameterSelection = str | Sequence[str]

_MAX_EXACT_INTEGER = 1 << 20
_RIGHT_ANGLES: dict[int, CosSin] = {0: (1.0, 0.0), 1: (0.0, 1.0), 2: (-1.0, 0.0), 3: (0.0, -1.0)}


class KinematicParameters:
    """Converts the expressions of one mechanism to floats and symbols, and keeps the symbols.

    The class has more than 20 methods because each place of a number in an expression (a factor,
    a divisor, an argument of a function) keeps it exact in its own way.
    """

    def __init__(self, mechanism: Mechanism, parameters: ParameterSelection = "numeric") -> None:
        self.mechanism = mechanism
        self.is_exact = parameters == "symbolic"
        if isinstance(parameters, str) and parameters not in ("numeric", "symbolic"):
            parameters = [parameters]
        self.requested_names = () if isinstance(parameters, str) else tuple(parameters)
        self.symbols: dict[str, SX] = {}
        self.symbol_values: dict[str, ExactNumber] = {}
        self.literals: dict[str, Fraction] = {}
        self.names = MadeUpNames(mechanism)
        self.parameter_values: dict[str, Scalar | Fraction] = {}
        """Values of parameters, each made once: they may use each other many times."""

    def read_ratio(self, expression: Expression, name: str) -> Scalar:
        """Return a number without a unit like `read_scalar`, but ±1 as a float: gears of 1
        and directions along an axis need no symbol."""
        return self.read_scalar(expression, name, plain=(0, 1, -1))

    def read_scalar(
        self, expression: Expression, name: str, plain: Collection[int] = (0,)
    ) -> Scalar:
        """Return the number as a float or symbol; `name` is the symbol's name if the number has
        none. Unnamed numbers that are `plain` do not become symbols; a mass of 1 kg does, for
        without its symbol the units of a printed equation would be wrong."""
        if not names_in_expression(expression) and isinstance(expression, Number | NumberWithUnit):
            return self.named_scalar(evaluate_expression_exactly(expression), name, plain)
        if not self.is_exact and not self._uses_symbols(expression):
            return float(evaluate_expression_exactly(expression, self.mechanism.values))
        value = fold_expression(
            expression,
            CasadiAlgebra(self.lift_literal, self.lift_function_argument),
            self.look_up_name,
        )
        return self.named_scalar(value, name, plain) if isinstance(value, Fraction) else value

    def read_opposite_scalar(self, expression: Expression, name: str) -> Scalar:
        """Return the number, whose symbol, if it gets one, stands for its opposite."""
        if names_in_expression(expression) or not isinstance(expression, Number | NumberWithUnit):
            return self.read_scalar(expression, name)
        opposite = evaluate_expression_exactly(negate_expression(expression))
        return -self.named_scalar(opposite, name)

    def enter_place(self, place: str) -> None:
        """Set the place (a body, a joint, a frame) of the numbers that follow."""
        self.names.place = place

    def named_scalar(self, value: ExactNumber, name: str, plain: Collection[int] = (0,)) -> Scalar:
        """Return a literal number as a float, or as a symbol of this name where it is to stay
        one."""
        name = self.names.unique_name(name)
        if name in self.requested_names or (self.is_exact and value not in plain):
            return self.parameter_symbol(name, value)
        return float(value)

    def cosine_sine(self, angle: Expression, name: str) -> CosSin:
        """Return cos and sin of an angle, exact for right angles (also when written as
        decimals)."""
        value = evaluate_expression_exactly(angle, self.mechanism.values)
        if not self._uses_symbols(angle):
            quarter = _placement_quarter_turns(value)
            if quarter is not None:
                return _RIGHT_ANGLES[quarter % 4]
        scalar = self.read_scalar(angle, name)
        if isinstance(scalar, float):
            return math.cos(scalar), math.sin(scalar)
        return ca.cos(scalar), ca.sin(scalar)

    def read_motion_expression(self, expression: Expression, scope: Mapping[str, Scalar]) -> Scalar:
        """Return an expression of moving quantities (`scope`) and of parameters."""

        def kinematic_symbol_or_parameter(name: str) -> Scalar | Fraction:
            return scope[name] if name in scope else self.look_up_name(name)

        value = fold_expression(
            expression,
            CasadiAlgebra(self.lift_literal, self.lift_function_argument, self.lift_divisor),
            kinematic_symbol_or_parameter,
        )
        return self.lift_literal(value) if isinstance(value, Fraction) else value

    def read_number(self, expression: Expression) -> float:
        """Return the value as a float, even where parameters stay symbols."""
        return float(evaluate_expression_exactly(expression, self.mechanism.values))

    def has_symbols(self, expressions: Iterable[Expression], own: Iterable[str]) -> bool:
        """Return whether the expressions use parameters that stay symbols, or their `own` names
        were requested."""
        named = any(
            self._uses_symbols(expression)
            for expression in expressions
            if names_in_expression(expression)
        )
        return named or any(self.names.unique_name(name) in self.requested_names for name in own)

    def keeps_symbol(self, name: str) -> bool:
        """Return whether the parameter of this name stays a symbol."""
        return self.is_exact or name in self.requested_names

    def parameter_symbol(self, name: str, value: ExactNumber) -> SX:
        """Return the symbol of this name, made on first use, and keep its value."""
        if name not in self.symbols:
            self.symbols[name] = ca.SX.sym(name)
            self.symbol_values[name] = value
        return self.symbols[name]

    def look_up_name(self, name: str) -> Scalar | Fraction:
        """Return the symbol of a parameter, or its value by the symbols that it uses."""
        if self.keeps_symbol(name):
            return self.parameter_symbol(name, self.mechanism.values[name])
        if name not in self.parameter_values:
            for other in self.mechanism.values:  # in an order in which each knows those it uses
                self.parameter_values[other] = self._parameter_value(other)
        return self.parameter_values[name]

    def _parameter_value(self, name: str) -> Scalar | Fraction:
        """Return the value of a parameter that is not a symbol, from those before it."""
        expression = self.mechanism.parameters[name]
        if self.keeps_symbol(name) or not self._uses_symbols(expression):
            return float(self.mechanism.values[name])
        return fold_expression(
            expression,
            CasadiAlgebra(self.lift_literal, self.lift_function_argument),
            self.look_up_name,
        )

    def lift_literal(self, value: ExactNumber) -> Scalar:
        """Return a literal inside an expression as a float, or as a symbol where all numbers must
        stay exact."""
        if not self.is_exact or (
            isinstance(value, Fraction)
            and value.denominator == 1
            and abs(value) < _MAX_EXACT_INTEGER
        ):
            return float(value)
        return (
            self.literal_symbol(value)
            if isinstance(value, Fraction)
            else self.parameter_symbol(PI, value)
        )

    def lift_function_argument(self, value: ExactNumber) -> Scalar:
        """Return a literal that is a function's argument, as 3 in sqrt(3), as a symbol where all
        must stay exact."""
        if not self.is_exact or not isinstance(value, Fraction):
            return self.lift_literal(value)
        return self.literal_symbol(value)

    def lift_divisor(self, value: ExactNumber) -> Scalar:
        """Return the denominator of a literal that multiplies moving quantities, as 10 in 0.3*q, as
        a symbol where all must stay exact: derivatives would divide, and round, floats."""
        n = value.numerator if isinstance(value, Fraction) else 0
        return self.lift_function_argument(value) if n & (n - 1) else self.lift_literal(value)

    def literal_symbol(self, value: Fraction) -> SX:
        """Return the symbol that stands for a rational number and is printed as this number."""
        text = f"{value.numerator}" + (f"_{value.denominator}" if value.denominator != 1 else "")
        place, self.names.place = self.names.place, ""
        name = self.names.unique_name(f"n_{text}".replace("-", "m"))
        self.names.place = place
        self.literals[name] = value
        return self.parameter_symbol(name, value)

    def order_symbols(self) -> None:
        """Put the symbols in the requested order; raise if one of them does not exist."""
        for name in self.requested_names:
            if name not in self.symbols:
                known = sorted({*self.mechanism.parameters, *self.names.names_by_place.values()})
                is_known = name in known
                effect = "has no effect on the equations of motion"
                what = effect if is_known else "is not a parameter"
                remedy = "leave it out" if is_known else suggest_remedy(name, known)
                raise NameNotFoundError(
                    f"'{name}' {what}", where=self.mechanism.name, remedy=remedy
                )
        if self.requested_names:
            self.symbols = {name: self.symbols[name] for name in self.requested_names}
            self.symbol_values = {name: self.symbol_values[name] for name in self.requested_names}

    def _uses_symbols(self, expression: Expression) -> bool:
        """Return whether the expression uses a symbol, directly or through parameters."""
        return any(
            name in self._symbolic_parameters or self.keeps_symbol(name)
            for name in names_in_expression(expression)
        )

    @cached_property
    def _symbolic_parameters(self) -> frozenset[str]:
        """The parameters that are symbols, or use some."""
        found: set[str] = set()
        for name in self.mechanism.values:  # in an order in which each stands behind those it uses
            if self.keeps_symbol(name) or not found.isdisjoint(
                names_in_expression(self.mechanism.parameters[name])
            ):
                found.add(name)
        return frozenset(found)


def read_kinematic_expression(
    mechanism: Mechanism,
    expression: Expression,
    scope: Mapping[str, Scalar],
    symbols: Mapping[str, Scalar] | None = None,
) -> Scalar:
    """Return an expression of coordinates and the like (`scope`) and of the mechanism's parameters,
    some of which may stay `symbols`."""
    kept = symbols or {}

    def kinematic_symbol(name: str) -> Scalar | Fraction:
        if name in scope:
            return scope[name]
        if name in kept:
            return kept[name]
        if name in mechanism.parameters:
            return float(mechanism.values[name])
        known = [*scope, *mechanism.parameters]
        raise NameNotFoundError(
            f"unknown name '{name}'", where=mechanism.name, remedy=suggest_remedy(name, known)
        )

    return rational_to_scalar(fold_expression(expression, CasadiAlgebra(float), kinematic_symbol))


def _placement_quarter_turns(value: ExactNumber) -> int | None:
    """Return k if the angle is k·π/2, exactly or to the last digit of a float; else None."""
    if isinstance(value, PiMultiple):
        doubled = value.coefficient * 2
        return int(doubled) if doubled.denominator == 1 else None
    k = round(float(value) / (math.pi / 2))
    return k if abs(float(value) - k * (math.pi / 2)) <= 2.3e-16 * max(1, abs(k)) else None
