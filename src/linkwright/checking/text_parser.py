"""Plain text to equations: `tau1 = m*l^2*ddq1`, with typographic signs, vectors and derivatives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from ..errors import ExpressionError, suggest_remedy
from ..expressions import Expression, Name, negate_expression
from ..expressions.tokens import MAX_EXPRESSION_LENGTH, shorten_expression_text
from ..expressions.tree import FUNCTION_ARITIES
from .equation_grammar import StatementGrammar
from .latex_tokens import GREEK_NAMES_BY_LETTER
from .name_grammar import BRACKET_PAIRS
from .printed_labels import AXIS_LABEL_WORD
from .statement_matrices import ExpressionOrMatrix, require_scalar_statement, statement_column
from .symbol_table import ENERGY_LETTERS
from .text_symbols import StatementSymbols

_PLAIN_TEXT_TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+(?!\w))?)"
    r"|(?P<name>[^\W\d]\w*(?:\.\w+)*'*)"
    r"|(?P<mark>\*\*|:=|[-+*/^(),;=\[\]∂°])|(?P<end>$))"
)
_TYPOGRAPHIC_SIGNS = str.maketrans({
    "·": "*", "×": "*", "⋅": "*", "∗": "*", "−": "-", "–": "-", "π": "pi", "½": "(1/2)",
    "¼": "(1/4)", "⅓": "(1/3)", "′": "'", "″": "''", "√": " sqrt", "Σ": " sum", "∑": " sum",
    "𝜕": "∂", "≡": ":=", "≔": ":=",
    **{c: str(i) for i, c in enumerate("₀₁₂₃₄₅₆₇₈₉")},
})  # fmt: skip
_SUPERSCRIPT_DIGITS = {c: str(i) for i, c in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")}
_SUPERSCRIPT_NUMBER = re.compile(f"[{''.join(_SUPERSCRIPT_DIGITS)}]+")
_COMBINING_DOTS = {"\u0307": "d", "\u0308": "dd"}
_COMBINING_ACCENTS = {"\u0302": "hat", "\u0304": "bar", "\u0305": "bar", "\u0303": "tilde"}
_ACCENTED_LETTER = re.compile(f"(\\w)([{''.join((*_COMBINING_DOTS, *_COMBINING_ACCENTS))}]+)")
_TEXT_FUNCTIONS = {
    **{name: name for name in FUNCTION_ARITIES}, "Sin": "sin", "Cos": "cos", "Tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "arctan2": "atan2", "ln": "log",
    "sgn": "sign",
}  # fmt: skip
_MAX_VARIABLE_LETTERS = 2  # letters of a name before a bracket that is surely no mistyped function


def normalize_typography(text: str) -> str:
    """The text in plain characters: ddtheta1 for θ̈₁, dq for q̇, ^2 for ², * for ·."""
    apart = unicodedata.normalize("NFD", text) if not text.isascii() else text
    apart = _ACCENTED_LETTER.sub(_spell_out_accents, apart).translate(_TYPOGRAPHIC_SIGNS)
    return _SUPERSCRIPT_NUMBER.sub(
        lambda m: "^" + "".join(_SUPERSCRIPT_DIGITS[c] for c in m[0]), apart
    )


def _spell_out_accents(match: re.Match[str]) -> str:
    letter, marks = match[1], match[2]
    dots = "".join(_COMBINING_DOTS.get(mark, "") for mark in marks)
    return dots + letter + "".join(_COMBINING_ACCENTS.get(mark, "") for mark in marks)


def tokenize_plain_text(text: str, symbols: StatementSymbols) -> list[str]:
    """The tokens of an equation, and an empty one at the end."""
    if len(text) > MAX_EXPRESSION_LENGTH:
        raise ExpressionError(
            f"the equation has {len(text)} characters, more than {MAX_EXPRESSION_LENGTH}",
            remedy="split it with names of your own",
        )
    found: list[str] = []
    at = 0
    while True:
        match = _PLAIN_TEXT_TOKEN.match(text, at)
        if match is None:
            rest = text[at:].lstrip()
            raise ExpressionError(f"cannot read '{rest[0]}' in '{shorten_expression_text(text)}'")
        kind = match.lastgroup or "end"
        word = match.group(kind)
        at = match.end()
        if kind == "end":
            return [*found, ""]
        found.append(
            _spell_out_greek(word, symbols) if kind == "name" else "^" if word == "**" else word
        )


def _spell_out_greek(word: str, symbols: StatementSymbols) -> str:
    """Greek letters and primes in words, unless the mechanism writes them so itself."""
    plain = word.rstrip("'")
    primes = "prime" * (len(word) - len(plain))
    if not plain.isascii() and not symbols.is_mechanism_name(plain):
        plain = "".join(GREEK_NAMES_BY_LETTER.get(letter, letter) for letter in plain)
    return plain + primes


def parse_plain_equations(
    text: str, symbols: StatementSymbols
) -> Iterator[tuple[Expression, Expression, bool]]:
    """The equations of one line."""
    return PlainTextStatementParser(
        text, tokenize_plain_text(text, symbols), symbols
    ).parse_equations()


class PlainTextStatementParser(StatementGrammar):
    """The grammar, with the names of plain text."""

    is_strict_division = True

    def parse_exponent(self) -> ExpressionOrMatrix:
        """Parse an exponent, which may have a sign."""
        if self.accept("-"):
            return negate_expression(require_scalar_statement(self.parse_exponent(), "an exponent"))
        return self.parse_power()

    def parse_superscript(self, base: ExpressionOrMatrix) -> ExpressionOrMatrix:
        """Parse a power; ^T is the transpose."""
        if self.peek() == "T":
            self.position += 2
            return self.transpose_value(base)
        return super().parse_superscript(base)

    def is_matrix_power(self, at: int) -> bool:
        """Whether a transpose, T, or the inverse, -1, stands at a token."""
        return self.tokens[at] == "T" or self.tokens[at : at + 2] == ["-", "1"]

    def parse_atom(self) -> ExpressionOrMatrix:
        """Parse a bracket, number, derivative or name."""
        token = self.token
        if token in BRACKET_PAIRS:
            return self.parse_brackets()
        if token == "-":
            self.take()
            return negate_expression(require_scalar_statement(self.parse_power(), "a sign"))
        if token[:1].isdigit() or token[:1] == ".":
            return self.parse_number()
        if token == "∂":
            return self.parse_partial_derivative()
        if token[:1].isalpha() or token[:1] == "_":
            return self.parse_derivative() or self.parse_name()
        raise self.unexpected_token_error()

    def parse_number(self) -> Expression:
        """Parse a number; deg or ° behind it converts degrees to radians."""
        if self.peek() == "deg" and not self.symbols.is_mechanism_name("deg"):
            self.tokens[self.position + 1] = "°"
        return super().parse_number()

    def parse_symbol(self) -> str:
        """Take the name at the current token."""
        return self.take()

    def parse_name(self) -> ExpressionOrMatrix:
        """Parse a function call, or a name with what it depends on."""
        start = self.position
        word = self.parse_symbol()
        is_call = self.token in ("(", "^") or not self.symbols.is_mechanism_name(word)
        if word in _TEXT_FUNCTIONS and is_call and self.begins_argument():
            return self.parse_function_call(_TEXT_FUNCTIONS[word])
        if label := self.parse_printed_label(word):
            return Name(label)
        begin = self.position
        found = self.parse_dependent_name(word, start)
        if self.position == begin and self.token == "(":
            self.refuse_mistyped_function(word)
        return found

    def parse_printed_label(self, word: str) -> str:
        """Parse the rest of a printed entry's label, as of M[1,2] or alpha1^2[x]; empty if other
        text follows."""
        begin, above, found = self.position, "", list[str]()
        is_vector = AXIS_LABEL_WORD.fullmatch(word) and not self.symbols.is_mechanism_name(word)
        if is_vector and self.token == "^" and self.peek().isdecimal() and self.peek(2) == "[":
            self.take()
            above = f"^{self.take()}"
        while self.accept("[" if not found else ","):
            is_axis = bool(is_vector) and self.token in ("x", "y", "z") and not found
            if not is_axis and (above or not self.token.isdecimal()):
                break
            found.append(self.take())
        if found and self.accept("]"):
            return f"{word}{above}[{','.join(found)}]"
        self.position = begin
        return ""

    def begins_argument(self) -> bool:
        """Whether the argument of a function begins here."""
        return self.begins_factor() or self.token in ("^", "-")

    def refuse_mistyped_function(self, word: str) -> None:
        """A long word before a bracket is rather a function that we do not know than a factor."""
        letters = word.rstrip("0123456789")
        greek = letters in GREEK_NAMES_BY_LETTER.values()
        is_known = self.symbols.is_mechanism_name(word) or greek or "_" in word or letters != word
        if not is_known and len(letters) > _MAX_VARIABLE_LETTERS:
            raise self.parse_error(
                f"'{word}' is not a function", suggest_remedy(word, list(FUNCTION_ARITIES))
            )

    # -- derivatives -----------------------------------------------------------------------

    def parse_partial_derivative(self) -> ExpressionOrMatrix:
        """Parse ∂L/∂q1 as the name L_q1."""
        self.take()
        above = self.parse_symbol()
        self.expect("/")
        self.expect("∂")
        return self.partial_derivative_name(above, self.parse_symbol())

    def partial_derivative_name(self, above: str, below: str) -> ExpressionOrMatrix:
        """The name of ∂above/∂below; a column of names for a vector below."""
        entries = self.symbols.motion_vector_entries(below)
        if entries is None:
            return Name(f"{above}_{below}")
        return statement_column([Name(f"{above}_{x}") for x in entries])

    def parse_derivative(self) -> ExpressionOrMatrix | None:
        """Parse dL/dq1 as L_q1, dL/ddq1 as L_dq1, and d/dt(…) as the rate of a name; None for
        others."""
        head, slash, below = self.token, self.peek(), self.peek(2)
        if slash != "/" or self.symbols.is_mechanism_name(below):
            pass
        elif head == "d" and below == "dt":
            self.position += 3
            return self.differentiate_by_time(self.parse_power())
        elif below == "dt" and head[0] == "d" and self.symbols.is_motion_name(head[1:]):
            self.position += 3
            return self.parse_dependent_name(head, self.position)
        is_energy = head[:1] == "d" and head[1:] in ENERGY_LETTERS
        if (
            slash == "/"
            and is_energy
            and below[:1] == "d"
            and self.symbols.is_motion_name(below[1:])
        ):
            self.position += 3
            return self.partial_derivative_name(head[1:], below[1:])
        return None
