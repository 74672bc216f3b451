"""Syntax tree to plain text that `parse` reads back to the same tree."""

from __future__ import annotations

from fractions import Fraction

from .tree import (
    Call,
    Expression,
    Measured,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
)

_SUM, _PRODUCT, _POWER, _ATOM = range(4)


def to_text(expression: Expression) -> str:
    return _print(expression, _SUM)


def decimal_text(value: Fraction) -> str | None:
    """The value as a decimal literal, 0.001 or 1e-12, whichever reads better; None if endless."""
    denominator = value.denominator
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
    positional, scientific = _positional(digits, places), _scientific(digits, places)
    return sign + (positional if len(positional) <= len(scientific) + 4 else scientific)


def _positional(digits: str, places: int) -> str:
    if places == 0:
        return digits
    digits = digits.rjust(places + 1, "0")
    return f"{digits[:-places]}.{digits[-places:]}"


def _scientific(digits: str, places: int) -> str:
    stripped = digits.rstrip("0") or "0"
    exponent = len(digits) - 1 - places
    mantissa = stripped[0] + (f".{stripped[1:]}" if len(stripped) > 1 else "")
    return f"{mantissa}e{exponent}"


def _print(expression: Expression, level: int) -> str:
    """The text, in parentheses where it binds less tightly than `level` demands."""
    text, binding = _bare(expression)
    return f"({text})" if binding < level else text


def _bare(expression: Expression) -> tuple[str, int]:
    match expression:
        case Number(value):
            return _number(value)
        case Name(name):
            return name, _ATOM
        case Call(function, arguments):
            return f"{function}({', '.join(_print(a, _SUM) for a in arguments)})", _ATOM
        case Power(base, exponent):
            return f"{_print(base, _ATOM)}^{_exponent(exponent)}", _POWER
        case Product(factors):
            return _chain(factors, Reciprocal, "*", "/", _POWER), _PRODUCT
        case Sum(terms):
            return _chain(terms, Negation, " + ", " - ", _PRODUCT), _SUM
        case Negation(operand):
            return f"-{_print(operand, _PRODUCT)}", _SUM
        case Reciprocal(operand):
            return f"1/{_print(operand, _POWER)}", _PRODUCT
        case Measured(value, unit):
            return f"{_print(value, _SUM)} {unit}", _SUM


def _number(value: Fraction) -> tuple[str, int]:
    decimal = decimal_text(value)
    if decimal is None:
        return f"{value.numerator}/{value.denominator}", _SUM if value < 0 else _PRODUCT
    return decimal, _SUM if value < 0 else _ATOM


def _exponent(exponent: Expression) -> str:
    if isinstance(exponent, Number) and exponent.value < 0:
        return f"-{_print(Number(-exponent.value), _ATOM)}"
    return _print(exponent, _ATOM)


def _chain(
    parts: tuple[Expression, ...],
    inverse: type[Negation] | type[Reciprocal],
    join: str,
    join_inverse: str,
    level: int,
) -> str:
    """`a + b - c` from (a, b, −c), `a*b/c` from (a, b, 1/c)."""
    first, *others = parts
    # The first of a chain may bind as loosely as the chain itself: 1/12*m, -a*b + c.
    loose = isinstance(first, Number) and (inverse is Negation or first.value >= 0)
    loose = loose or (inverse is Negation and isinstance(first, Negation))
    text = _print(first, level - 1 if loose else level)
    for part in others:
        if isinstance(part, inverse):
            text += join_inverse + _print(part.operand, level)
        elif inverse is Negation and isinstance(part, Number) and part.value < 0:
            text += join_inverse + _print(Number(-part.value), level)
        else:
            text += join + _print(part, level)
    return text
