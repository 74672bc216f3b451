"""Syntax trees as plain text, which `parse_expression` reads back to the same tree."""

from __future__ import annotations

from fractions import Fraction

from .tree import (
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Ratio,
    Reciprocal,
    Sum,
)

_SUM_LEVEL, _PRODUCT_LEVEL, _POWER_LEVEL, _ATOM_LEVEL = range(4)


def expression_text(expression: Expression) -> str:
    """The expression as plain text, with as few parentheses as possible."""
    return _expression_text_at_level(expression, _SUM_LEVEL)


def decimal_literal_text(value: Fraction) -> str | None:
    """The value as a decimal literal, 0.001 or 1e-12, or None if it is periodic."""
    denominator = value.denominator
    if denominator == 1 and abs(value) < 1000:
        return str(value.numerator)
    twos = (denominator & -denominator).bit_length() - 1
    fives, rest = 0, denominator >> twos
    while rest % 5 == 0:
        rest //= 5
        fives += 1
    if rest != 1:
        return None
    places = max(twos, fives)
    digits = str(abs(value.numerator) * 10**places // denominator)
    sign = "-" if value < 0 else ""
    positional, scientific = (
        _positional_decimal_literal(digits, places),
        _scientific_decimal_literal(digits, places),
    )
    return sign + (positional if len(positional) <= len(scientific) + 4 else scientific)


def _positional_decimal_literal(digits: str, places: int) -> str:
    if places == 0:
        return digits
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def _scientific_decimal_literal(digits: str, places: int) -> str:
    stripped = digits.rstrip("0") or "0"
    exponent = len(digits) - 1 - places
    mantissa = stripped[0] + (f".{stripped[1:]}" if len(stripped) > 1 else "")
    return f"{mantissa}e{exponent}"


def _expression_text_at_level(expression: Expression, level: int) -> str:
    """The text, in parentheses if it binds less tightly than `level` requires."""
    text, binding = _expression_text_and_level(expression)
    return f"({text})" if binding < level else text


def _expression_text_and_level(expression: Expression) -> tuple[str, int]:
    match expression:
        case Name(name):
            return name, _ATOM_LEVEL
        case Number(value):
            return _number_literal_text_and_level(value, isinstance(expression, Ratio))
        case Call(function, arguments):
            return (
                f"{function}("
                f"{', '.join(_expression_text_at_level(a, _SUM_LEVEL) for a in arguments)})",
                _ATOM_LEVEL,
            )
        case Power(base, exponent):
            return (
                f"{_expression_text_at_level(base, _ATOM_LEVEL)}"
                f"^{_exponent_expression_text(exponent)}",
                _POWER_LEVEL,
            )
        case Product(factors):
            return _operator_chain_text(factors, Reciprocal, "*", "/", _POWER_LEVEL), _PRODUCT_LEVEL
        case Sum(terms):
            return _operator_chain_text(terms, Negation, " + ", " - ", _PRODUCT_LEVEL), _SUM_LEVEL
        case Negation(operand):
            return f"-{_expression_text_at_level(operand, _PRODUCT_LEVEL)}", _SUM_LEVEL
        case Reciprocal(operand):
            return f"1/{_expression_text_at_level(operand, _POWER_LEVEL)}", _PRODUCT_LEVEL
        case NumberWithUnit(value, unit):
            return f"{_expression_text_at_level(value, _SUM_LEVEL)} {unit}", _SUM_LEVEL


def _number_literal_text_and_level(value: Fraction, is_ratio: bool) -> tuple[str, int]:
    whole = value.denominator == 1
    decimal = None if is_ratio and not whole else decimal_literal_text(value)
    if decimal is None:
        return f"{value.numerator}/{value.denominator}", _SUM_LEVEL if value < 0 else _PRODUCT_LEVEL
    return decimal, _SUM_LEVEL if value < 0 else _ATOM_LEVEL


def _exponent_expression_text(exponent: Expression) -> str:
    if isinstance(exponent, Number) and exponent.value < 0:
        return f"-{_expression_text_at_level(type(exponent)(-exponent.value), _ATOM_LEVEL)}"
    return _expression_text_at_level(exponent, _ATOM_LEVEL)


def _operator_chain_text(
    parts: tuple[Expression, ...],
    inverse: type[Negation] | type[Reciprocal],
    join: str,
    join_inverse: str,
    level: int,
) -> str:
    """The text of a chain: `a + b - c` from (a, b, −c), `a*b/c` from (a, b, 1/c)."""
    first, *others = parts
    # The first of a chain may bind as loosely as the chain itself: 1/12*m, -a*b + c.
    loose = isinstance(first, Number) and (inverse is Negation or first.value >= 0)
    loose = loose or (inverse is Negation and isinstance(first, Negation))
    text = _expression_text_at_level(first, level - 1 if loose else level)
    for part in others:
        if isinstance(part, inverse):
            text += join_inverse + _expression_text_at_level(part.operand, level)
        elif inverse is Negation and isinstance(part, Number) and part.value < 0:
            text += join_inverse + _expression_text_at_level(type(part)(-part.value), level)
        else:
            text += join + _expression_text_at_level(part, level)
    return text
