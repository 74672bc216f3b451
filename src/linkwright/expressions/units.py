"""Units at the boundary of the program: everything inside is in SI units.

A dimension is the exponents of (kilogram, metre, second). Angles have none, so that N*m and N*m/rad
have the same dimension, as in practice.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import lru_cache

from ..errors import ExpressionError
from .tokens import Token, normalize_expression_spelling, tokenize_expression

Dimension = tuple[int, int, int]
DIMENSIONLESS: Dimension = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: its factor `scale · pi^pi_power` to SI units, and its dimension."""

    scale: Fraction
    pi_power: int
    dimension: Dimension

    def multiply_unit(self, other: Unit, sign: int = 1) -> Unit:
        """The product of both units, or their quotient for `sign` −1."""
        scale = self.scale * other.scale**sign
        a, b, c = self.dimension
        x, y, z = other.dimension
        dimension = (a + sign * x, b + sign * y, c + sign * z)
        return Unit(scale, self.pi_power + sign * other.pi_power, dimension)


def _build_unit_table() -> dict[str, Unit]:
    mass, length, time, force = (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, -2)
    plain = {
        "kg": ("1", mass), "g": ("0.001", mass), "mg": ("1e-6", mass), "t": ("1000", mass),
        "lb": ("0.45359237", mass),
        "m": ("1", length), "km": ("1000", length), "dm": ("0.1", length), "cm": ("0.01", length),
        "mm": ("0.001", length), "um": ("1e-6", length), "inch": ("0.0254", length),
        "ft": ("0.3048", length),
        "s": ("1", time), "ms": ("0.001", time), "us": ("1e-6", time), "min": ("60", time),
        "h": ("3600", time),
        "N": ("1", force), "kN": ("1000", force), "mN": ("0.001", force),
        "Nm": ("1", (1, 2, -2)), "J": ("1", (1, 2, -2)), "W": ("1", (1, 2, -3)),
        "Hz": ("1", (0, 0, -1)), "rad": ("1", DIMENSIONLESS), "mrad": ("0.001", DIMENSIONLESS),
        "percent": ("0.01", DIMENSIONLESS),
    }  # fmt: skip
    units = {name: Unit(Fraction(scale), 0, dim) for name, (scale, dim) in plain.items()}
    units["deg"] = Unit(Fraction(1, 180), 1, DIMENSIONLESS)
    units["rev"] = Unit(Fraction(2), 1, DIMENSIONLESS)
    units["rpm"] = Unit(Fraction(1, 30), 1, (0, 0, -1))
    return units


UNITS = _build_unit_table()
UNIT_PLACE_RULE = (
    "a unit may only follow a plain number at the end of the whole expression, "
    "and * is needed between factors"
)
_DIMENSIONLESS_UNIT = Unit(Fraction(1), 0, DIMENSIONLESS)
_MAX_UNIT_EXPONENT = 9


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Reads `kg*m^2/s^2`: unit names joined by * and /, each with an integer exponent.

    Quotients bind as in arithmetic: `N*m*s/rad`, `J/(kg*m)`.
    """
    reader = _UnitParser(tokenize_expression(normalize_expression_spelling(text)), text)
    unit = reader.parse_unit_product()
    reader.expect_end()
    return unit


class _UnitParser:
    """A recursive-descent reader of units."""

    def __init__(self, tokens: list[Token], text: str) -> None:
        self.tokens = tokens
        self.text = text
        self.at = 0

    def peek_token(self) -> str:
        """The text of the next token."""
        return self.tokens[self.at].text

    def take_token(self) -> Token:
        """The next token, which is consumed."""
        self.at += 1
        return self.tokens[self.at - 1]

    def unit_error(self, what: str, remedy: str = "") -> ExpressionError:
        """The error for a unit that cannot be read."""
        return ExpressionError(f"{what} in the unit '{self.text}'", remedy=remedy)

    def unknown_unit_error(self, word: str) -> ExpressionError:
        """The error for a word that is not a unit, with similar units."""
        where = f" (in '{self.text}')" if self.text.strip() != word else ""
        what = f"'{word}' is not a unit{where}" if word else f"a unit is missing in '{self.text}'"
        return ExpressionError(what, remedy=_unit_remedy(word))

    def expect_end(self) -> None:
        """Raises unless all tokens are consumed."""
        if self.tokens[self.at].kind != "end":
            raise self.unit_error(f"unexpected '{self.peek_token()}'", UNIT_PLACE_RULE)

    def parse_unit_product(self) -> Unit:
        """Reads units joined by * and /."""
        unit = self.parse_unit_power()
        while self.peek_token() in ("*", "/"):
            sign = 1 if self.take_token().text == "*" else -1
            unit = unit.multiply_unit(self.parse_unit_power(), sign)
        return unit

    def parse_unit_power(self) -> Unit:
        """Reads a unit with an integer exponent."""
        unit = self.parse_unit_atom()
        if self.peek_token() != "^":
            return unit
        self.take_token()
        sign = -1 if self.peek_token() == "-" and self.take_token() else 1
        token = self.take_token()
        if (
            token.kind != "number"
            or not token.text.isdigit()
            or int(token.text) > _MAX_UNIT_EXPONENT
        ):
            raise self.unit_error(
                "the exponent is not a small integer", "write it as in m^2 or s^-1"
            )
        result = _DIMENSIONLESS_UNIT
        for _ in range(int(token.text)):
            result = result.multiply_unit(unit, sign)
        return result

    def parse_unit_atom(self) -> Unit:
        """Reads the name of a unit, 1, or units in parentheses."""
        token = self.take_token()
        if token.text == "(":
            unit = self.parse_unit_product()
            if self.take_token().text != ")":
                raise self.unit_error("a parenthesis is not closed")
            return unit
        if token.text == "1":
            return _DIMENSIONLESS_UNIT
        if token.text not in UNITS:
            raise self.unknown_unit_error(token.text)
        return UNITS[token.text]


def _unit_remedy(word: str) -> str:
    """Units that are spelt like the word, or else some common units, and where a unit may stand."""
    near = get_close_matches(word, UNITS, n=3)
    if near:
        return f"did you mean {' or '.join(repr(n) for n in near)}? {UNIT_PLACE_RULE}"
    return f"use units such as m, mm, kg, s, rad, deg, N; {UNIT_PLACE_RULE}"


_BASE_UNITS = ("kg", "m", "s")


def dimension_text(dimension: Dimension) -> str:
    """The dimension in SI base units, `kg*m^2/s^2`; `1` for a plain number."""
    upper = [
        f"{u}^{e}" if e > 1 else u for u, e in zip(_BASE_UNITS, dimension, strict=True) if e > 0
    ]
    lower = [
        f"{u}^{-e}" if e < -1 else u for u, e in zip(_BASE_UNITS, dimension, strict=True) if e < 0
    ]
    if not lower:
        return "*".join(upper) or "1"
    bottom = lower[0] if len(lower) == 1 else f"({'*'.join(lower)})"
    return f"{'*'.join(upper) or '1'}/{bottom}"
