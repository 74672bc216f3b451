"""Text to syntax tree.

    sum     = ["-"|"+"] product {("+"|"-") product}
    product = power {("*"|"/") power}
    power   = atom ["^" power]
    atom    = number | name | function "(" sum {"," sum} ")" | "(" sum ")" | "-" power

and, behind a whole expression without names, a unit: `30 deg`, `25 g*cm^2`.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

from ..errors import ExpressionError, suggest
from .tokens import Token, normalise, shorten, tokenize
from .tree import (
    FUNCTIONS,
    Call,
    Expression,
    Measured,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    names,
    negate,
)
from .units import PLACE_OF_UNITS, parse_unit

MAX_DEPTH = 64
MAX_POWER = 64
MAX_DECIMAL_EXPONENT = 400
MAX_DIGITS = 400


def parse(text: str) -> Expression:
    """Reads an expression, exactly: decimals become rationals, nothing is rounded."""
    return _Parser(text).whole()


def read_number(value: object) -> Expression:
    """An expression from what users and files give: text, a number, or an expression.

    A float stands for its shortest decimal, 0.1 for 1/10.
    """
    match value:
        case str():
            return parse(value)
        case bool():
            raise ExpressionError(f"'{value}' is no number")
        case Integral() | Rational():
            return Number(Fraction(value))
        case Decimal() | Real():
            return _literal(str(Decimal(repr(float(value))) if isinstance(value, Real) else value))
        case _ if isinstance(value, Expression):
            return value
        case _:
            raise ExpressionError(
                f"{shorten(repr(value))} is no number",
                remedy="give a number or an expression in quotes",
            )


def _literal(text: str) -> Number:
    """The exact value of a decimal literal, refused when absurdly long or large."""
    mantissa, _, exponent = text.lower().partition("e")
    if not mantissa.lstrip("+-").replace(".", "", 1).isdigit():
        raise ExpressionError(f"{text} is no finite number")
    if (
        len(mantissa) > MAX_DIGITS
        or len(exponent) > 5
        or abs(int(exponent or 0)) > (MAX_DECIMAL_EXPONENT)
    ):
        raise ExpressionError(f"the number {shorten(text)} is too long or too large")
    return Number(Fraction(text))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = normalise(text)
        self.tokens = tokenize(self.text)
        self.at = 0
        self.depth = 0

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def accept(self, *operators: str) -> str | None:
        if self.token.kind == "operator" and self.token.text in operators:
            return self.take().text
        return None

    def fail(self, what: str, remedy: str = "") -> ExpressionError:
        return ExpressionError(f"{what} in '{shorten(self.text)}'", remedy=remedy)

    def whole(self) -> Expression:
        if self.token.kind == "end":
            raise ExpressionError("the expression is empty", remedy="give a number")
        expression = self.sum()
        if self.token.kind == "name":
            return self.measured(expression)
        if self.token.kind != "end":
            raise self.unexpected(self.token)
        return expression

    def unexpected(self, token: Token) -> ExpressionError:
        """A word, number or parenthesis where an operator must be is a factor without *."""
        is_factor = token.kind in ("name", "number") or token.text == "("
        return self.fail(f"unexpected '{token.text}'", PLACE_OF_UNITS if is_factor else "")

    def measured(self, value: Expression) -> Expression:
        unit = " ".join(self.text[self.token.start :].split())
        if names(value):
            raise self.fail(
                f"'{unit}' follows an expression with names",
                "units go behind plain numbers; put * between factors",
            )
        if unit.startswith("_"):
            raise self.fail(f"unexpected '{self.token.text}'", "write numbers without _")
        parse_unit(unit)
        return Measured(value, unit)

    def sum(self) -> Expression:
        sign = self.accept("+", "-")
        terms = [negate(self.product()) if sign == "-" else self.product()]
        while sign := self.accept("+", "-"):
            terms.append(negate(self.product()) if sign == "-" else self.product())
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def product(self) -> Expression:
        factors = [self.power()]
        while sign := self.accept("*", "/"):
            factor = self.power()
            if sign == "*":
                factors.append(factor)
            else:
                self.divide(factors, factor)
        return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def divide(self, factors: list[Expression], divisor: Expression) -> None:
        """Appends 1/divisor; `1/12` at the head is one exact number."""
        match factors, divisor:
            case _, Number(value) if value == 0:
                raise self.fail("division by zero")
            case [Number(first)], Number(second):
                factors[0] = Number(first / second)
            case _:
                factors.append(Reciprocal(divisor))

    def power(self) -> Expression:
        self.depth += 1  # every way down leads through here
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} levels of nesting")
        base = self.atom()
        exponent = self.power() if self.accept("^") else None
        self.depth -= 1
        if exponent is None:
            return base
        if isinstance(exponent, Number) and abs(exponent.value) > MAX_POWER:
            raise self.fail(f"an exponent is larger than {MAX_POWER}")
        return Power(base, exponent)

    def atom(self) -> Expression:
        token = self.take()
        if token.kind == "number":
            return _literal(token.text)
        if token.kind == "name":
            return self.call(token.text) if self.accept("(") else Name(token.text)
        if token.text == "(":
            inner = self.sum()
            self.close()
            return inner
        if token.text == "-":
            return negate(self.power())
        if token.kind == "end":
            raise self.fail("something is missing at the end")
        raise self.unexpected(token)

    def call(self, function: str) -> Expression:
        if function not in FUNCTIONS:
            raise self.fail(f"'{function}' is no function", suggest(function, list(FUNCTIONS)))
        arguments = [self.sum()]
        while self.accept(","):
            arguments.append(self.sum())
        self.close()
        if len(arguments) != FUNCTIONS[function]:
            raise self.fail(f"{function} takes {FUNCTIONS[function]} argument(s)")
        return Call(function, tuple(arguments))

    def close(self) -> None:
        if self.token.kind in ("name", "number") or self.token.text == "(":
            raise self.unexpected(self.token)
        if not self.accept(")"):
            raise self.fail("a parenthesis is not closed")
