"""Syntax trees as LaTeX or MathML: one walk, two ways to set the pieces."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

from .printing import to_text
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

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega"
)
_GREEK = dict(zip(_GREEK_NAMES.split(" "), "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΠΣΦΨΩ", strict=True))
_GREEK_WORDS = {letter: word for word, letter in _GREEK.items()}
_SPLIT = re.compile(r"([^\W\d_]+?)_?(\d\w*|c\d+)?")


class Setter(Protocol):
    """How pieces are put together in one notation."""

    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str: ...
    def unit(self, text: str) -> str: ...
    def number(self, text: str) -> str: ...
    def row(self, pieces: Sequence[str]) -> str: ...
    def operator(self, symbol: str) -> str: ...
    def fraction(self, top: str, bottom: str) -> str: ...
    def power(self, base: str, exponent: str) -> str: ...
    def root(self, inner: str) -> str: ...
    def call(self, function: str, inner: str, exponent: str = "") -> str: ...
    def parentheses(self, inner: str) -> str: ...


class LatexSetter:
    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str:
        base = _GREEK_WORDS.get(base, base)
        head = f"\\{base}" if base in _GREEK else _latex_word(base, 1)
        head = {0: head, 1: f"\\dot{{{head}}}", 2: f"\\ddot{{{head}}}"}[dots]
        low = f"_{_braced(_latex_word(index, 2))}" if index else ""
        return head + low + (f"^{_braced(exponent)}" if exponent else "")

    def unit(self, text: str) -> str:
        powers = re.sub(r"\^(-?\d+)", r"^{\1}", text).replace("*", r" \, ")
        return f"\\,\\mathrm{{{powers}}}"

    def number(self, text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return mantissa
        ten = f"10^{{{exponent}}}"
        return ten if mantissa == "1" else f"{mantissa} \\cdot {ten}"

    def row(self, pieces: Sequence[str]) -> str:
        return " ".join(pieces)

    def operator(self, symbol: str) -> str:
        return {"·": "\\,"}.get(symbol, symbol)

    def fraction(self, top: str, bottom: str) -> str:
        return f"\\frac{{{top}}}{{{bottom}}}"

    def power(self, base: str, exponent: str) -> str:
        return f"{{{base}}}^{_braced(exponent)}"

    def root(self, inner: str) -> str:
        return f"\\sqrt{{{inner}}}"

    def call(self, function: str, inner: str, exponent: str = "") -> str:
        known = {"sin", "cos", "tan", "exp", "log", "min", "max", "tanh"}
        name = f"\\{function}" if function in known else f"\\operatorname{{{function}}}"
        name += f"^{_braced(exponent)}" if exponent else ""
        return name + self.parentheses(inner)

    def parentheses(self, inner: str) -> str:
        """As high as what is inside."""
        is_high = any(word in inner for word in ("\\frac", "\\sqrt", "\\left"))
        return f"\\left({inner}\\right)" if is_high else f"({inner})"


_LATEX_ESCAPES = {c: f"\\{c}" for c in "%&_#${} "} | {
    "\\": "\\backslash{}", "^": "\\hat{}", "~": "\\sim{}",
    **{letter: f"\\{word}{{}}" for letter, word in _GREEK_WORDS.items()},
}  # fmt: skip


def _braced(text: str) -> str:
    return text if len(text) == 1 else f"{{{text}}}"


def _latex_word(text: str, plain: int) -> str:
    """Text inside a formula, upright if longer than `plain` letters, nothing in it a command."""
    if text.isascii() and text.isalnum() and len(text) <= plain:
        return text
    if plain > 1 and re.fullmatch(r"[0-9,]+", text):
        return text
    escaped = (_LATEX_ESCAPES.get(c, c if c.isprintable() else "\\ ") for c in text)
    return f"\\mathrm{{{''.join(escaped)}}}"


class MathmlSetter:
    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str:
        head = f"<mi>{escape(_GREEK.get(base, base))}</mi>"
        if dots:
            head = f"<mover>{head}<mo>{'.' * dots}</mo></mover>"  # accents vanish in some fonts
        low = f"<mtext>{escape(index)}</mtext>"
        if exponent:
            return self.power(head, exponent, low) if index else self.power(head, exponent)
        return f"<msub>{head}{low}</msub>" if index else head

    def unit(self, text: str) -> str:
        return f"<mtext> {escape(text)}</mtext>"

    def number(self, text: str) -> str:
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return f"<mn>{mantissa}</mn>"
        ten = f"<msup><mn>10</mn><mn>{exponent}</mn></msup>"
        return ten if mantissa == "1" else f"<mrow><mn>{mantissa}</mn><mo>·</mo>{ten}</mrow>"

    def row(self, pieces: Sequence[str]) -> str:
        return f"<mrow>{''.join(pieces)}</mrow>"

    def operator(self, symbol: str) -> str:
        if symbol == "·":
            return '<mo lspace="0.1em" rspace="0.1em">&#x2062;</mo>'
        return f"<mo>{symbol.replace('-', '−')}</mo>"

    def fraction(self, top: str, bottom: str) -> str:
        return f"<mfrac>{top}{bottom}</mfrac>"

    def power(self, base: str, exponent: str, index: str = "") -> str:
        kind = "msubsup" if index else "msup"
        return f"<{kind}>{base}{index}{exponent}</{kind}>"

    def root(self, inner: str) -> str:
        return f"<msqrt>{inner}</msqrt>"

    def call(self, function: str, inner: str, exponent: str = "") -> str:
        name = self.power(f"<mi>{function}</mi>", exponent) if exponent else f"<mi>{function}</mi>"
        return f"<mrow>{name}<mo>&#x2061;</mo>{self.parentheses(inner)}</mrow>"

    def parentheses(self, inner: str) -> str:
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"


_SUM, _PRODUCT, _POWER, _ATOM = range(4)


class Typesetter:
    """Sets expressions; `dotted` maps names such as dq1 to (q1, 1), a rate of q1."""

    def __init__(self, setter: Setter, dotted: Mapping[str, tuple[str, int]] | None = None) -> None:
        self.setter = setter
        self.dotted = dotted or {}

    def set(self, expression: Expression) -> str:
        return self.within(expression, _SUM)

    def name(self, name: str, exponent: str = "") -> str:
        plain, dots = self.dotted.get(name, (name.rstrip("'"), name.count("'")))
        match = _SPLIT.fullmatch(plain)
        base, index = (match.group(1), match.group(2) or "") if match else (plain, "")
        if match is None and "_" in plain:
            base, _, index = plain.partition("_")
        return self.setter.identifier(base, index, dots, exponent)

    def entry(self, name: str) -> str:
        """An entry of a matrix, `M[1,2]`; single digits need no comma between them."""
        base, _, index = name.partition("[")
        places = index.removesuffix("]").split(",")
        mark = "" if all(len(place) == 1 for place in places) else ","
        return self.setter.identifier(base, mark.join(places), 0)

    def within(self, expression: Expression, level: int) -> str:
        text, binding = self.bare(expression)
        return self.setter.parentheses(text) if binding < level else text

    def bare(self, expression: Expression) -> tuple[str, int]:
        s = self.setter
        match expression:
            case Number(value):
                return self.number(expression), _SUM if value < 0 else _ATOM
            case Name(name):
                return self.name(name), _ATOM
            case Negation(operand):
                return s.row([s.operator("-"), self.within(operand, _PRODUCT)]), _SUM
            case Sum(terms):
                return self.sum(terms), _SUM
            case Product(factors):
                return self.product(factors)
            case Reciprocal(operand):
                return s.fraction(s.number("1"), self.set(operand)), _ATOM
            case Power(Name(name), exponent):
                return self.name(name, self.set(exponent)), _ATOM
            case Power(Call("sin" | "cos" | "tan" as name, (inner,)), Number(n) as times) if n > 0:
                return s.call(name, self.set(inner), self.set(times)), _ATOM
            case Power(base, exponent):
                return s.power(self.within(base, _ATOM), self.set(exponent)), _POWER
            case Call("sqrt", (inner,)):
                return s.root(self.set(inner)), _ATOM
            case Call(function, arguments):
                pieces = [self.set(arguments[0])]
                for argument in arguments[1:]:
                    pieces += [s.operator(","), self.set(argument)]
                return s.call(function, s.row(pieces)), _ATOM
            case Measured(value, unit):
                return s.row([self.set(value), s.unit(unit)]), _SUM

    def number(self, number: Number) -> str:
        s, text = self.setter, to_text(number)
        if "/" in text:
            top, bottom = text.lstrip("-").split("/")
            set_ = s.fraction(s.number(top), s.number(bottom))
        else:
            set_ = s.number(text.lstrip("-"))
        return s.row([s.operator("-"), set_]) if number.value < 0 else set_

    def sum(self, terms: Sequence[Expression]) -> str:
        s, pieces = self.setter, []
        for position, term in enumerate(terms):
            negative = minus(term)
            if negative is not None:
                pieces += [s.operator("-"), self.within(negative, _PRODUCT)]
            else:
                pieces += [s.operator("+")] if position else []
                pieces.append(self.within(term, _PRODUCT))
        return s.row(pieces)

    def product(self, factors: Sequence[Expression]) -> tuple[str, int]:
        s = self.setter
        top = [f for f in factors if not isinstance(f, Reciprocal)]
        bottom = [f.operand for f in factors if isinstance(f, Reciprocal)]
        if bottom:
            above = self.row_of(top) if top else s.number("1")
            return s.fraction(above, self.row_of(bottom)), _PRODUCT
        return self.row_of(top), _PRODUCT

    def row_of(self, factors: Sequence[Expression]) -> str:
        if len(factors) == 1:
            return self.set(factors[0])
        pieces = [self.within(factors[0], _POWER)]
        for factor in factors[1:]:
            pieces += [self.setter.operator("·"), self.within(factor, _POWER)]
        return self.setter.row(pieces)


def begins_negative(term: Expression) -> bool:
    """Whether a term is set with a minus before it."""
    return minus(term) is not None


def minus(term: Expression) -> Expression | None:
    """What is subtracted, if the term is negative."""
    match term:
        case Negation(operand):
            return operand
        case Number(value) if value < 0:
            return Number(-value)
        case _:
            return None
