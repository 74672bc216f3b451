"""Text to syntax tree.

    sum     = ["-"|"+"] product {("+"|"-") product}
    product = power {("*"|"/") power}
    power   = atom ["^" power]
    atom    = number | name | function "(" sum {"," sum} ")" | "(" sum ")" | "-" power

and, behind a whole expression without names, a unit: `30 deg`, `25 g*cm^2`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real

from ..errors import ExpressionError, suggest_remedy
from .tokens import (
    Token,
    normalize_expression_spelling,
    shorten_expression_text,
    tokenize_expression,
)
from .tree import (
    FUNCTION_ARITIES,
    Call,
    Expression,
    Name,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
    names_in_expression,
    negate_expression,
)
from .units import UNIT_PLACE_RULE, parse_unit

MAX_EXPRESSION_DEPTH = 64
MAX_EXPONENT = 64
MAX_DECIMAL_EXPONENT = 400
MAX_DECIMAL_DIGITS = 400
_PLAIN_FUNCTIONS = {name: (count,) for name, count in FUNCTION_ARITIES.items()}


def parse_expression(text: str) -> Expression:
    """Reads an expression, exactly: decimals become rationals, nothing is rounded."""
    return _ExpressionParser(text).parse_text()


INDEX_FUNCTION = "at"
"""The function that an index calls: x[-1] is at(x, -1)."""


def parse_indexed_expression(text: str, functions: Mapping[str, tuple[int, ...]]) -> Expression:
    """Reads an expression in which values may have an index, x[-1], and which may call these
    functions, each with one of its numbers of arguments."""
    return _ExpressionParser(text, functions, has_indices=True).parse_text()


def read_expression(value: object) -> Expression:
    """An expression from what users and files give: text, a number, or an expression.

    A float stands for its shortest decimal, 0.1 for 1/10.
    """
    match value:
        case str():
            return parse_expression(value)
        case bool():
            raise ExpressionError(f"'{value}' is not a number")
        case Integral() | Rational():
            return Number(Fraction(value))
        case Decimal() | Real():
            return _decimal_literal(
                str(Decimal(repr(float(value))) if isinstance(value, Real) else value)
            )
        case _ if isinstance(value, Expression):
            return value
        case _:
            raise ExpressionError(
                f"{shorten_expression_text(_text_of_value(value))} is not a number",
                remedy="give a number or an expression in quotes",
            )


def _text_of_value(value: object) -> str:
    """Return a value of a file as its author wrote it: 0.3, not Decimal('0.3')."""
    match value:
        case Mapping():
            entries = (f"{key} = {_text_of_value(entry)}" for key, entry in value.items())
            return "{" + ", ".join(entries) + "}"
        case list() | tuple():
            return "[" + ", ".join(_text_of_value(entry) for entry in value) + "]"
        case Decimal():
            return str(value)
        case _:
            return repr(value)


def _decimal_literal(text: str) -> Number:
    """The exact value of a decimal literal; raises if it is too long or too large."""
    mantissa, _, exponent = text.lower().partition("e")
    if not mantissa.lstrip("+-").replace(".", "", 1).isdigit():
        raise ExpressionError(f"{text} is not a finite number")
    if (
        len(mantissa) > MAX_DECIMAL_DIGITS
        or len(exponent) > 5
        or abs(int(exponent or 0)) > (MAX_DECIMAL_EXPONENT)
    ):
        raise ExpressionError(
            f"the number {shorten_expression_text(text)} is too long or too large"
        )
    return Number(Fraction(text))


class _ExpressionParser:
    """A recursive-descent parser of one text."""

    def __init__(
        self,
        text: str,
        functions: Mapping[str, tuple[int, ...]] | None = None,
        *,
        has_indices: bool = False,
    ) -> None:
        self.text = normalize_expression_spelling(text)
        self.functions = _PLAIN_FUNCTIONS if functions is None else functions
        self.has_indices = has_indices
        self.tokens = tokenize_expression(self.text, has_indices=has_indices)
        self.at = 0
        self.depth = 0

    @property
    def current_token(self) -> Token:
        """The next token, which is not consumed."""
        return self.tokens[self.at]

    def take_token(self) -> Token:
        """The next token, which is consumed."""
        self.at += 1
        return self.tokens[self.at - 1]

    def accept_operator(self, *operators: str) -> str | None:
        """Consumes the next token if it is one of the operators; returns it, or None."""
        if self.current_token.kind == "operator" and self.current_token.text in operators:
            return self.take_token().text
        return None

    def syntax_error(self, what: str, remedy: str = "") -> ExpressionError:
        """The error at the current text."""
        return ExpressionError(f"{what} in '{shorten_expression_text(self.text)}'", remedy=remedy)

    def parse_text(self) -> Expression:
        """Parses the whole text: an expression, or a number with a unit."""
        if self.current_token.kind == "end":
            raise ExpressionError("the expression is empty", remedy="give a number")
        expression = self.parse_sum()
        if self.current_token.kind == "name":
            return self.parse_unit_behind(expression)
        if self.current_token.kind != "end":
            raise self.unexpected_token_error(self.current_token)
        return expression

    def unexpected_token_error(self, token: Token) -> ExpressionError:
        """The error for a token in a wrong place, with a hint if a * is missing."""
        is_factor = token.kind in ("name", "number") or token.text == "("
        return self.syntax_error(f"unexpected '{token.text}'", UNIT_PLACE_RULE if is_factor else "")

    def parse_unit_behind(self, value: Expression) -> Expression:
        """Parses the unit behind a number."""
        unit = " ".join(self.text[self.current_token.start :].split())
        if names_in_expression(value):
            raise self.syntax_error(
                f"'{unit}' follows an expression with names",
                "units follow plain numbers; put * between factors",
            )
        if unit.startswith("_"):
            raise self.syntax_error(
                f"unexpected '{self.current_token.text}'", "write numbers without _"
            )
        parse_unit(unit)
        return NumberWithUnit(value, unit)

    def parse_sum(self) -> Expression:
        """Parses terms joined by + and −."""
        sign = self.accept_operator("+", "-")
        terms = [negate_expression(self.parse_product()) if sign == "-" else self.parse_product()]
        while sign := self.accept_operator("+", "-"):
            terms.append(
                negate_expression(self.parse_product()) if sign == "-" else self.parse_product()
            )
        return terms[0] if len(terms) == 1 else Sum(tuple(terms))

    def parse_product(self) -> Expression:
        """Parses factors joined by * and /."""
        factors = [self.parse_power()]
        while sign := self.accept_operator("*", "/"):
            factor = self.parse_power()
            if sign == "*":
                factors.append(factor)
            else:
                self.append_divisor(factors, factor)
        return factors[0] if len(factors) == 1 else Product(tuple(factors))

    def append_divisor(self, factors: list[Expression], divisor: Expression) -> None:
        """Appends 1/divisor to the factors; a leading quotient such as `1/12` is one number."""
        match factors, divisor:
            case _, Number(value) if value == 0:
                raise self.syntax_error("division by zero")
            case [Number(first)], Number(second):
                factors[0] = Number(first / second)
            case _:
                factors.append(Reciprocal(divisor))

    def parse_power(self) -> Expression:
        """Parses a base with an optional exponent."""
        self.depth += 1  # every way down leads through here
        if self.depth > MAX_EXPRESSION_DEPTH:
            raise self.syntax_error(f"more than {MAX_EXPRESSION_DEPTH} levels of nesting")
        base = self.parse_atom()
        while self.has_indices and self.accept_operator("["):
            base = Call(INDEX_FUNCTION, (base, self.parse_sum()))
            if not self.accept_operator("]"):
                raise self.syntax_error("a bracket is not closed")
        exponent = self.parse_power() if self.accept_operator("^") else None
        self.depth -= 1
        if exponent is None:
            return base
        if isinstance(exponent, Number) and abs(exponent.value) > MAX_EXPONENT:
            raise self.syntax_error(f"an exponent is larger than {MAX_EXPONENT}")
        return Power(base, exponent)

    def parse_atom(self) -> Expression:
        """Parses a number, a name, a call, a parenthesis or a sign."""
        token = self.take_token()
        if token.kind == "number":
            return _decimal_literal(token.text)
        if token.kind == "name":
            return self.parse_call(token.text) if self.accept_operator("(") else Name(token.text)
        if token.text == "(":
            inner = self.parse_sum()
            self.expect_parenthesis()
            return inner
        if token.text == "-":
            return negate_expression(self.parse_power())
        if token.kind == "end":
            raise self.syntax_error("something is missing at the end")
        raise self.unexpected_token_error(token)

    def parse_call(self, function: str) -> Expression:
        """Parses the arguments of a function and checks their number."""
        if function not in self.functions:
            raise self.syntax_error(
                f"'{function}' is not a function", suggest_remedy(function, list(self.functions))
            )
        arguments = [self.parse_sum()]
        while self.accept_operator(","):
            arguments.append(self.parse_sum())
        self.expect_parenthesis()
        if len(arguments) not in self.functions[function]:
            wanted = " or ".join(map(str, self.functions[function]))
            raise self.syntax_error(f"{function} takes {wanted} argument(s)")
        return Call(function, tuple(arguments))

    def expect_parenthesis(self) -> None:
        """Consumes a closing parenthesis, or raises."""
        if self.current_token.kind in ("name", "number") or self.current_token.text == "(":
            raise self.unexpected_token_error(self.current_token)
        if not self.accept_operator(")"):
            raise self.syntax_error("a parenthesis is not closed")
