r"""Shorthands for sines and cosines in LaTeX: S\theta_2, C q_3, c_{1+2}."""

from __future__ import annotations

from ..expressions import Call, Expression, Name, Number, Sum, negate_expression
from ..expressions import names_in_expression as names_in
from .latex_calculus import LatexStatementCalculus
from .latex_symbols import LATEX_ACCENTS, LATEX_FONTS
from .latex_tokens import GREEK_LETTER_NAMES
from .statement_matrices import ExpressionOrMatrix, StatementMatrix
from .symbol_table import TRIG_SHORTHANDS

_TRIG_SHORTHANDS = {
    spelling[0]: function for function, row in TRIG_SHORTHANDS.items() for spelling in row.spellings
}


class LatexTrigShorthands(LatexStatementCalculus):
    """Parser of the letters s, S, c and C that stand for sines and cosines."""

    def parse_trig_shorthand(self) -> ExpressionOrMatrix | None:
        r"""Parse S\theta_2, C q_3, s(q_1 + q_2), C^2\theta, c\theta_{12} or c_{1+2} as a sine or
        cosine."""
        begin = self.position
        letter = self.accept_shorthand_letter()
        if letter is None or self.symbols.is_parameter_name(letter):
            self.position = begin
            return None
        angle, exponent = None, None
        if self.token == "_":
            angle = self.parse_shorthand_sum()
        else:
            if self.accept("^"):
                exponent = self.parse_script()
            if isinstance(exponent, Number) or exponent is None:
                angle = self.parse_shorthand_angle(letter, exponent is not None)
        if angle is None:
            self.position = begin
            return None
        call = Call(_TRIG_SHORTHANDS[letter], (angle,))
        return call if exponent is None else self.raise_to_power(call, exponent)

    def accept_shorthand_letter(self) -> str | None:
        """Take s, S, c or C, upright or not, if it is next."""
        if self.token[1:] in LATEX_FONTS and self.peek() == "{" and self.peek(3) == "}":
            if self.peek(2) not in _TRIG_SHORTHANDS:
                return None
            letter = self.peek(2)
            self.position += 4
            return letter
        return self.take() if self.token in _TRIG_SHORTHANDS else None

    def parse_shorthand_sum(self) -> Expression | None:
        """The angle of c_{1+2} or s_{1-2}: coordinates by their numbers."""
        end = self.position
        while self.tokens[end] not in ("}", ""):
            end += 1
        inside = self.tokens[self.position + 2 : end]
        own = self.symbols.coordinate_names
        signs, digits = inside[1::2], inside[::2]
        if self.peek() != "{" or not signs or not all(x in ("+", "-") for x in signs):
            return None
        if not all(x.isdigit() and 1 <= int(x) <= len(own) for x in digits):
            return None
        self.position = end + 1
        names = [Name(own[int(x) - 1]) for x in digits]
        terms = [
            negate_expression(x) if s == "-" else x
            for s, x in zip(["+", *signs], names, strict=True)
        ]
        return Sum(tuple(terms))

    def parse_shorthand_angle(self, letter: str, has_power: bool) -> Expression | None:
        """The symbol or bracket that a shorthand is the sine or cosine of."""
        if self.token in ("(", "["):
            return self.parse_shorthand_bracket(letter, has_power)
        word = self.token
        is_symbol = (word[1:] in GREEK_LETTER_NAMES and word[:1] == "\\") or word[
            1:
        ] in LATEX_ACCENTS | LATEX_FONTS
        if not is_symbol and not (word.isalpha() and self.is_coordinate_ahead()):
            return None
        name = self.parse_symbol()
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        many = len(digits) > 1 and len(set(digits)) == len(digits)
        if (
            many
            and not self.symbols.is_mechanism_name(name)
            and len(self.symbols.coordinate_names) < 10
        ):
            return Sum(tuple(Name(f"{stem}{d}") for d in digits))
        return Name(name)

    def is_coordinate_ahead(self) -> bool:
        """Whether the next symbol is a coordinate."""
        begin = self.position
        try:
            name = self.parse_symbol()
        finally:
            self.position = begin
        return self.symbols.is_motion_name(name) and not name.startswith("d")

    def parse_shorthand_bracket(self, letter: str, has_power: bool) -> Expression | None:
        r"""Parse the bracket behind a shorthand: C(q_1 + q_2) is a cosine, C(q, \dot q) the
        Coriolis matrix."""
        begin = self.position
        names = self.parse_dependence()
        self.position = begin
        if names is not None and not has_power:
            is_vector = self.symbols.motion_vector_entries(names[0]) is not None
            is_alone = (
                letter == "C" and self.symbols.velocity_count == 1 and not self.has_sine_shorthand()
            )
            if len(names) > 1 or is_vector or is_alone or not self.symbols.is_motion_name(names[0]):
                return None
        if self.symbols.is_mechanism_name(letter):
            return None
        angle = self.parse_brackets()
        if isinstance(angle, StatementMatrix) or any(
            self.symbols.is_rate_name(x) for x in names_in(angle)
        ):
            return None  # c(dx - dy) is a damper's force
        return angle

    def has_sine_shorthand(self) -> bool:
        """Whether the text writes s or S for a sine somewhere."""
        return any(x in ("s", "S") for x in self.tokens)
