"""Syntax trees as LaTeX or MathML: one walk over the tree, two notations."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Protocol

from .printing import expression_text
from .tree import (
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
)

_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "phi chi psi omega Gamma Delta Theta Lambda Pi Sigma Phi Psi Omega"
)
GREEK_LETTERS = dict(zip(_GREEK_NAMES.split(" "), "αβγδεζηθικλμνξπρστφχψωΓΔΘΛΠΣΦΨΩ", strict=True))
_GREEK_WORDS = {letter: word for word, letter in GREEK_LETTERS.items()}
_GREEK_ALIASES = {"eps": "epsilon"}
"""Short spellings of Greek letters: eps is the dual unit of printed equations."""
_GREEK_INDEX = re.compile(rf"^({'|'.join(GREEK_LETTERS)})(\d*)$")
"""An index that is the name of a Greek coordinate, as in tau_theta1."""
_NAME_AND_INDEX = re.compile(r"([^\W\d_]+?)_?(\d\w*|[cw]\d+)?")
_BODY_COMPONENT = re.compile(r"(I(?=[xyz]{2})|c(?=[xyz]\d))([xyz]{1,2})(\d*)")
"""The name of a moment of inertia, Ixx2, or of a coordinate of a centre of mass, cx2."""
_FORCE_AND_AXIS = re.compile(r"([FM])([xyz123])_(\w+)")
"""Components of forces and moments: Fx_q1 is F with the index x, q1."""
_JOINT_COMPONENT = re.compile(r"(?:(tau|lambda)_)?([^.]+)\.(?:(q|v|w)([wxyz])|([a-zA-Z]\w*))")
"""Coordinates and velocities of joints with several: hip.wx is ω with the index hip, x; tau_hip.wx
is τ with the index hip, ωx."""


class FormulaNotation(Protocol):
    """The rules by which a notation, LaTeX or MathML, composes the parts of a formula."""

    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str:
        """A symbol with an index, dots for time derivatives, and an exponent."""

    def unit(self, text: str) -> str:
        """A unit behind its number."""

    def number(self, text: str) -> str:
        """A decimal literal; an exponent e-3 becomes a power of ten."""

    def row(self, pieces: Sequence[str]) -> str:
        """Pieces side by side."""

    def operator(self, symbol: str) -> str:
        """An operator sign: + − · and the comma between arguments."""

    def fraction(self, top: str, bottom: str) -> str:
        """A fraction."""

    def power(self, base: str, exponent: str) -> str:
        """A base with an exponent."""

    def root(self, inner: str) -> str:
        """A square root."""

    def call(self, function: str, inner: str, exponent: str = "") -> str:
        """A function of its argument, with an exponent on the function's name."""

    def parentheses(self, inner: str) -> str:
        """The formula in parentheses."""


class LatexNotation:
    """The notation of LaTeX."""

    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str:
        """The symbol in LaTeX; Greek names become commands and long names upright text."""
        base = _GREEK_ALIASES.get(base, _GREEK_WORDS.get(base, base))
        head = f"\\{base}" if base in GREEK_LETTERS else _latex_identifier_text(base, 1)
        head = {0: head, 1: f"\\dot{{{head}}}", 2: f"\\ddot{{{head}}}"}[dots]
        below = _GREEK_INDEX.sub(r"\\\1_\2", index).rstrip("_")
        below = below if below != index else _latex_identifier_text(index, 2)
        low = f"_{_exponent_in_latex_braces(below)}" if index else ""
        return head + low + (f"^{_exponent_in_latex_braces(exponent)}" if exponent else "")

    def unit(self, text: str) -> str:
        """The unit in upright letters."""
        powers = re.sub(r"\^(-?\d+)", r"^{\1}", text).replace("*", r" \, ")
        return f"\\,\\mathrm{{{powers}}}"

    def number(self, text: str) -> str:
        """The number, with a power of ten in place of an exponent."""
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return mantissa
        ten = f"10^{{{exponent}}}"
        return ten if mantissa == "1" else f"{mantissa} \\cdot {ten}"

    def row(self, pieces: Sequence[str]) -> str:
        """The pieces separated by spaces."""
        return " ".join(pieces)

    def operator(self, symbol: str) -> str:
        """The operator; a product is a thin space."""
        return {"·": "\\,", "∂": "\\partial"}.get(symbol, symbol)

    def fraction(self, top: str, bottom: str) -> str:
        """The fraction as \\frac."""
        return f"\\frac{{{top}}}{{{bottom}}}"

    def power(self, base: str, exponent: str) -> str:
        """The base with an exponent."""
        return f"{{{base}}}^{_exponent_in_latex_braces(exponent)}"

    def root(self, inner: str) -> str:
        """The square root as \\sqrt."""
        return f"\\sqrt{{{inner}}}"

    def call(self, function: str, inner: str, exponent: str = "") -> str:
        """The function as an operator name, with its argument in parentheses; |x| for abs."""
        if function == "abs":
            made = f"\\left|{inner}\\right|"
            return self.power(made, exponent) if exponent else made
        known = {"sin", "cos", "tan", "exp", "log", "min", "max", "tanh"}
        name = f"\\{function}" if function in known else f"\\operatorname{{{function}}}"
        name += f"^{_exponent_in_latex_braces(exponent)}" if exponent else ""
        return name + self.parentheses(inner)

    def parentheses(self, inner: str) -> str:
        """Parentheses as high as their content."""
        is_high = any(word in inner for word in ("\\frac", "\\sqrt", "\\left"))
        return f"\\left({inner}\\right)" if is_high else f"({inner})"


_LATEX_ESCAPES = {c: f"\\{c}" for c in "%&_#${} "} | {
    "\\": "\\backslash{}",
    "^": "\\hat{}",
    "~": "\\sim{}",
    **{letter: f"\\{word}{{}}" for letter, word in _GREEK_WORDS.items()},
}


def _exponent_in_latex_braces(text: str) -> str:
    """The text in braces, if it is longer than one character."""
    return text if len(text) == 1 else f"{{{text}}}"


def _latex_identifier_text(text: str, plain: int) -> str:
    """Text inside a formula, escaped, and upright if it is longer than `plain` letters."""
    if text.isascii() and text.isalnum() and len(text) <= plain:
        return text
    if plain > 1 and re.fullmatch(r"[0-9,]+", text):
        return text
    escaped = (_LATEX_ESCAPES.get(c, c if c.isprintable() else "\\ ") for c in text)
    return f"\\mathrm{{{''.join(escaped)}}}"


class MathmlNotation:
    """The notation of MathML."""

    def identifier(self, base: str, index: str, dots: int, exponent: str = "") -> str:
        """The symbol in MathML, with dots above it and its index below."""
        base = _GREEK_ALIASES.get(base, base)
        head = f"<mi>{escape(GREEK_LETTERS.get(base, base))}</mi>"
        if dots:
            head = f"<mover>{head}<mo>{'.' * dots}</mo></mover>"  # accents vanish in some fonts
        below = _GREEK_INDEX.sub(lambda found: GREEK_LETTERS[found[1]] + found[2], index)
        low = f"<mtext>{escape(below)}</mtext>"
        if exponent:
            return self.power(head, exponent, low) if index else self.power(head, exponent)
        return f"<msub>{head}{low}</msub>" if index else head

    def unit(self, text: str) -> str:
        """The unit as text."""
        return f"<mtext> {escape(text)}</mtext>"

    def number(self, text: str) -> str:
        """The number, with a power of ten in place of an exponent."""
        mantissa, _, exponent = text.partition("e")
        if not exponent:
            return f"<mn>{mantissa}</mn>"
        ten = f"<msup><mn>10</mn><mn>{exponent}</mn></msup>"
        return ten if mantissa == "1" else f"<mrow><mn>{mantissa}</mn><mo>·</mo>{ten}</mrow>"

    def row(self, pieces: Sequence[str]) -> str:
        """The pieces in a row element."""
        return f"<mrow>{''.join(pieces)}</mrow>"

    def operator(self, symbol: str) -> str:
        """The operator; a product is the invisible times sign."""
        if symbol == "·":
            return '<mo lspace="0.1em" rspace="0.1em">&#x2062;</mo>'
        return f"<mo>{symbol.replace('-', '−')}</mo>"

    def fraction(self, top: str, bottom: str) -> str:
        """The fraction as an mfrac element."""
        return f"<mfrac>{top}{bottom}</mfrac>"

    def power(self, base: str, exponent: str, index: str = "") -> str:
        """The base with an exponent and, if given, an index."""
        kind = "msubsup" if index else "msup"
        return f"<{kind}>{base}{index}{exponent}</{kind}>"

    def root(self, inner: str) -> str:
        """The square root as an msqrt element."""
        return f"<msqrt>{inner}</msqrt>"

    def call(self, function: str, inner: str, exponent: str = "") -> str:
        """The function with its argument in parentheses; |x| for abs."""
        if function == "abs":
            made = f"<mrow><mo>|</mo>{inner}<mo>|</mo></mrow>"
            return self.power(made, exponent) if exponent else made
        name = self.power(f"<mi>{function}</mi>", exponent) if exponent else f"<mi>{function}</mi>"
        return f"<mrow>{name}<mo>&#x2061;</mo>{self.parentheses(inner)}</mrow>"

    def parentheses(self, inner: str) -> str:
        """The formula in parentheses."""
        return f"<mrow><mo>(</mo>{inner}<mo>)</mo></mrow>"


def _split_primes(name: str) -> tuple[str, int]:
    """A name without the one or two primes at its end that mean rates, and their number."""
    plain = name.rstrip("'")
    primes = len(name) - len(plain)
    return (plain, primes) if plain and primes <= 2 else (name, 0)


def _joint_component(
    force: str, joint: str, letter: str, axis: str, ending: str
) -> tuple[str, str]:
    """The letter and the index of a coordinate or velocity of a joint, or of a force along it."""
    letter = "omega" if letter == "w" else letter or ending
    if force:
        return force, f"{joint},{GREEK_LETTERS.get(letter, letter)}{axis}"
    return letter, ",".join(part for part in (joint, axis) if part)


_SUM_LEVEL, _PRODUCT_LEVEL, _POWER_LEVEL, _ATOM_LEVEL = range(4)


class ExpressionTypesetter:
    """Typesets expressions in a notation; `dotted` maps the name of a rate, dq1, to (q1, 1)."""

    def __init__(
        self, setter: FormulaNotation, dotted: Mapping[str, tuple[str, int]] | None = None
    ) -> None:
        self.setter = setter
        self.dotted = dotted or {}

    def typeset(self, expression: Expression) -> str:
        """The expression in the notation."""
        return self.typeset_at_level(expression, _SUM_LEVEL)

    def name(self, name: str, exponent: str = "") -> str:
        """A name as a symbol, with its trailing digits as the index and its rate as dots."""
        if name.endswith("]"):
            made = self.entry(name)
            return self.setter.power(made, exponent) if exponent else made
        plain, dots = self.dotted.get(name) or _split_primes(name)
        match = _NAME_AND_INDEX.fullmatch(plain)
        base, index = (match.group(1), match.group(2) or "") if match else (plain, "")
        index = re.sub(r"(?<=\d)_(?=\d)", ",", index)
        if component := _JOINT_COMPONENT.fullmatch(plain):
            base, index = _joint_component(*component.groups(default=""))
        elif component := _FORCE_AND_AXIS.fullmatch(plain):
            base, index = component.group(1), f"{component.group(2)},{component.group(3)}"
        elif component := _BODY_COMPONENT.fullmatch(plain):
            base, *parts = component.groups(default="")
            index = ",".join(part for part in parts if part)
        elif match is None and "_" in plain:
            base, _, index = plain.partition("_")
        return self.setter.identifier(base, index, dots, exponent)

    def entry(self, name: str) -> str:
        """A matrix entry such as `M[1,2]`; indices of one digit have no comma between them. The
        matrix may have an index and a superscript: `alpha1^2[3]`. A name without entries is itself.
        """
        head, _, index = name.partition("[")
        if not index and "^" not in name:
            return self.name(name)
        head, _, superscript = head.partition("^")
        match = _NAME_AND_INDEX.fullmatch(head)
        base, number = (match.group(1), match.group(2) or "") if match else (head, "")
        places = index.removesuffix("]").split(",")
        mark = "" if all(len(place) == 1 for place in places) else ","
        places = [number, mark.join(places)] if number else [mark.join(places)]
        above = self.setter.number(superscript) if superscript else ""
        return self.setter.identifier(base, ",".join(places), 0, above)

    def derivative(self, name: str, by: str, *, is_rate: bool = False) -> str:
        """The partial derivative ∂L/∂q of one name by another, or its rate d/dt ∂L/∂q."""
        s, partial = self.setter, self.setter.operator("∂")
        made = s.fraction(s.row([partial, self.name(name)]), s.row([partial, self.name(by)]))
        if not is_rate:
            return made
        d = s.identifier("d", "", 0)
        return s.row([s.fraction(d, s.row([d, s.identifier("t", "", 0)])), made])

    def typeset_at_level(self, expression: Expression, level: int) -> str:
        """The expression, in parentheses if it binds less tightly than `level` requires."""
        text, binding = self.typeset_with_level(expression)
        return self.setter.parentheses(text) if binding < level else text

    def typeset_with_level(self, expression: Expression) -> tuple[str, int]:
        """The expression and the level at which it binds."""
        s = self.setter
        match expression:
            case Number(value):
                return self.typeset_number(expression), _SUM_LEVEL if value < 0 else _ATOM_LEVEL
            case Name(name):
                return self.name(name), _ATOM_LEVEL
            case Negation(operand):
                return s.row(
                    [s.operator("-"), self.typeset_at_level(operand, _PRODUCT_LEVEL)]
                ), _SUM_LEVEL
            case Sum(terms):
                return self.typeset_sum(terms), _SUM_LEVEL
            case Product(factors):
                return self.typeset_product(factors)
            case Reciprocal(operand):
                return s.fraction(s.number("1"), self.typeset(operand)), _ATOM_LEVEL
            case Power(Name(name), exponent):
                return self.name(name, self.typeset(exponent)), _ATOM_LEVEL
            case Power(Call("sin" | "cos" | "tan" as name, (inner,)), Number(n) as times) if n > 0:
                return s.call(name, self.typeset(inner), self.typeset(times)), _ATOM_LEVEL
            case Power(base, exponent):
                return s.power(
                    self.typeset_at_level(base, _ATOM_LEVEL), self.typeset(exponent)
                ), _POWER_LEVEL
            case Call("sqrt", (inner,)):
                return s.root(self.typeset(inner)), _ATOM_LEVEL
            case Call(function, arguments):
                pieces = [self.typeset(arguments[0])]
                for argument in arguments[1:]:
                    pieces += [s.operator(","), self.typeset(argument)]
                return s.call(function, s.row(pieces)), _ATOM_LEVEL
            case NumberWithUnit(value, unit):
                return s.row([self.typeset(value), s.unit(unit)]), _SUM_LEVEL

    def typeset_number(self, number: Number) -> str:
        """A number: a decimal, or a fraction of integers."""
        s, text = self.setter, expression_text(number)
        if "/" in text:
            top, bottom = text.lstrip("-").split("/")
            set_ = s.fraction(s.number(top), s.number(bottom))
        else:
            set_ = s.number(text.lstrip("-"))
        return s.row([s.operator("-"), set_]) if number.value < 0 else set_

    def typeset_sum(self, terms: Sequence[Expression]) -> str:
        """A sum, with minus signs before negative terms."""
        s, pieces = self.setter, []
        for position, term in enumerate(terms):
            negative = subtracted_term_expression(term)
            if negative is not None:
                pieces += [s.operator("-"), self.typeset_at_level(negative, _PRODUCT_LEVEL)]
            else:
                pieces += [s.operator("+")] if position else []
                pieces.append(self.typeset_at_level(term, _PRODUCT_LEVEL))
        return s.row(pieces)

    def typeset_product(self, factors: Sequence[Expression]) -> tuple[str, int]:
        """A product and its level; reciprocal factors form the denominator of a fraction."""
        s = self.setter
        top = [f for f in factors if not isinstance(f, Reciprocal)]
        bottom = [f.operand for f in factors if isinstance(f, Reciprocal)]
        if bottom:
            above = self.typeset_factors(top) if top else s.number("1")
            return s.fraction(above, self.typeset_factors(bottom)), _PRODUCT_LEVEL
        return self.typeset_factors(top), _PRODUCT_LEVEL

    def typeset_factors(self, factors: Sequence[Expression]) -> str:
        """Factors side by side, in parentheses where they need them."""
        if len(factors) == 1:
            return self.typeset(factors[0])
        pieces = [self.typeset_at_level(factors[0], _POWER_LEVEL)]
        for factor in factors[1:]:
            pieces += [self.setter.operator("·"), self.typeset_at_level(factor, _POWER_LEVEL)]
        return self.setter.row(pieces)


def has_leading_minus(term: Expression) -> bool:
    """Whether a term is typeset with a minus sign before it."""
    return subtracted_term_expression(term) is not None


def subtracted_term_expression(term: Expression) -> Expression | None:
    """The positive expression that a negative term subtracts; None for other terms."""
    match term:
        case Negation(operand):
            return operand
        case Number(value) if value < 0:
            return type(term)(-value)
        case _:
            return None
