"""Plain text to equations: `tau1 = m*l^2*ddq1`, with typographic signs, vectors and derivatives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..errors import ExpressionError, suggest
from ..expressions import Expression, Name, negate
from ..expressions.tokens import MAX_LENGTH, shorten
from ..expressions.tree import FUNCTIONS
from .grammar import BRACKETS, Grammar
from .latex_tokens import GREEK_LETTERS
from .matrices import Value, column, scalar
from .symbols import Symbols

_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?!\w))?)"
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*'*)"
    r"|(?P<mark>\*\*|:=|[-+*/^(),;=\[\]∂°])|(?P<end>$))"
)
_SIGNS = str.maketrans({
    "·": "*", "×": "*", "⋅": "*", "∗": "*", "−": "-", "–": "-", "π": "pi", "½": "(1/2)",
    "¼": "(1/4)", "⅓": "(1/3)", "′": "'", "″": "''", "√": " sqrt", "Σ": " sum", "∑": " sum",
    "𝜕": "∂", "≡": ":=", "≔": ":=",
    **{c: str(i) for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
})  # fmt: skip
_RAISED = {c: str(i) for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_POWERS = re.compile(f"[{''.join(_RAISED)}]+")
_OVER = {"\u0307": "d", "\u0308": "dd"}
_BESIDE = {"\u0302": "hat", "\u0304": "bar", "\u0305": "bar", "\u0303": "tilde"}
_ACCENTED = re.compile(f"(\\w)([{''.join((*_OVER, *_BESIDE))}]+)")
_ENERGIES = ("K", "T", "V", "P", "U", "L", "H", "E")
_FUNCTIONS = {
    **{name: name for name in FUNCTIONS}, "Sin": "sin", "Cos": "cos", "Tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "ln": "log",
    "sgn": "sign",
}  # fmt: skip
_MAX_VARIABLE = 2  # letters of a name before a bracket that is surely no mistyped function


def plain_signs(text: str) -> str:
    """θ̈₁ as ddtheta1, q̇ as dq, ² as ^2, · as *."""
    apart = unicodedata.normalize("NFD", text) if not text.isascii() else text
    apart = _ACCENTED.sub(_accented, apart).translate(_SIGNS)
    return _POWERS.sub(lambda m: "^" + "".join(_RAISED[c] for c in m[0]), apart)


def _accented(match: re.Match[str]) -> str:
    letter, marks = match[1], match[2]
    dots = "".join(_OVER.get(mark, "") for mark in marks)
    return dots + letter + "".join(_BESIDE.get(mark, "") for mark in marks)


def text_tokens(text: str, symbols: Symbols) -> list[str]:
    """The tokens of an equation, and an empty one at the end."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(
            f"the equation has {len(text)} characters, more than {MAX_LENGTH}",
            remedy="split it with names of your own",
        )
    found: list[str] = []
    at = 0
    while True:
        match = _TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise ExpressionError(f"cannot read '{rest[0]}' in '{shorten(text)}'")
        kind = match.lastgroup or "end"
        word = match.group(kind)
        at = match.end()
        if kind == "end":
            return [*found, ""]
        found.append(_name(word, symbols) if kind == "name" else "^" if word == "**" else word)


def _name(word: str, symbols: Symbols) -> str:
    """Greek letters and primes in words, unless the mechanism writes them so itself."""
    plain = word.rstrip("'")
    primes = "prime" * (len(word) - len(plain))
    if not plain.isascii() and not symbols.is_own(plain):
        plain = "".join(GREEK_LETTERS.get(letter, letter) for letter in plain)
    return plain + primes


def read_plain(text: str, symbols: Symbols) -> Iterator[tuple[Expression, Expression, bool]]:
    """The equations of one line."""
    return TextParser(text, text_tokens(text, symbols), symbols).equations()


class TextParser(Grammar):
    """The grammar, with the names of plain text."""

    is_strict_division = True

    def exponent(self) -> Value:
        if self.accept("-"):
            return negate(scalar(self.exponent(), "an exponent"))
        return self.power()

    def raised(self, base: Value) -> Value:
        """^T is the transpose."""
        if self.peek() == "T":
            self.at += 2
            return self.transposed(base)
        return super().raised(base)

    def is_matrix_power(self, at: int) -> bool:
        return self.tokens[at] == "T" or self.tokens[at : at + 2] == ["-", "1"]

    def atom(self) -> Value:
        token = self.token
        if token in BRACKETS:
            return self.bracketed()
        if token == "-":
            self.take()
            return negate(scalar(self.power(), "a sign"))
        if token[:1].isdigit() or token[:1] == ".":
            return self.number()
        if token == "∂":
            return self.partial_derivative()
        if token[:1].isalpha() or token[:1] == "_":
            return self.derivative() or self.named()
        raise self.unexpected()

    def number(self) -> Expression:
        if self.peek() == "deg" and not self.symbols.is_own("deg"):
            self.tokens[self.at + 1] = "°"
        return super().number()

    def symbol(self) -> str:
        return self.take()

    def named(self) -> Value:
        start = self.at
        word = self.symbol()
        is_call = self.token in ("(", "^") or not self.symbols.is_own(word)
        if word in _FUNCTIONS and is_call and self.begins_argument():
            return self.function(_FUNCTIONS[word])
        begin = self.at
        found = self.applied(word, start)
        if self.at == begin and self.token == "(":
            self.refuse_mistyped_function(word)
        return found

    def begins_argument(self) -> bool:
        return self.begins_factor() or self.token in ("^", "-")

    def refuse_mistyped_function(self, word: str) -> None:
        """A long word before a bracket is rather a function that we do not know than a factor."""
        letters = word.rstrip("0123456789")
        greek = letters in GREEK_LETTERS.values()
        is_known = self.symbols.is_own(word) or greek or "_" in word or letters != word
        if not is_known and len(letters) > _MAX_VARIABLE:
            raise self.fail(f"'{word}' is not a function", suggest(word, list(FUNCTIONS)))

    # -- derivatives -----------------------------------------------------------------------

    def partial_derivative(self) -> Value:
        """∂L/∂q1 is the name L_q1."""
        self.take()
        above = self.symbol()
        self.expect("/")
        self.expect("∂")
        return self.by(above, self.symbol())

    def by(self, above: str, below: str) -> Value:
        entries = self.symbols.motion(below)
        if entries is None:
            return Name(f"{above}_{below}")
        return column([Name(f"{above}_{x}") for x in entries])

    def derivative(self) -> Value | None:
        """dL/dq1 is L_q1, dL/ddq1 is L_dq1; d/dt(…) is the rate of a name."""
        head, slash, below = self.token, self.peek(), self.peek(2)
        if slash != "/" or self.symbols.is_own(below):
            pass
        elif head == "d" and below == "dt":
            self.at += 3
            return self.rate(self.power())
        elif below == "dt" and head[0] == "d" and self.symbols.is_motion(head[1:]):
            self.at += 3
            return self.applied(head, self.at)
        is_energy = head[:1] == "d" and head[1:] in _ENERGIES
        if slash == "/" and is_energy and below[:1] == "d" and self.symbols.is_motion(below[1:]):
            self.at += 3
            return self.by(head[1:], below[1:])
        return None
