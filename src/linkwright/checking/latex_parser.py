r"""LaTeX to equations: the subset that papers print equations of motion in.

`\ddot{\theta}_1` is the name ddtheta1, `l_{c1}` lc1, `s'_3` and `s_3'` are s3prime, `\bar l_1` is
lbar1, and `\frac{\partial L}{\partial q_1}` is L_q1. Indices of sums stand for their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from ..expressions import Call, Expression, Name, Number, Sum, negate_expression, parse_expression
from ..expressions import names_in_expression as names_in
from .equation_grammar import BRACKET_PAIRS, RADIANS_PER_DEGREE
from .latex_calculus import LatexStatementCalculus
from .latex_symbols import LATEX_ACCENTS, LATEX_FONTS, LATEX_FUNCTIONS
from .latex_tokens import GREEK_LETTER_NAMES
from .statement_matrices import ExpressionOrMatrix, StatementMatrix, require_scalar_statement
from .symbol_table import TRIG_SHORTHANDS
from .text_symbols import StatementSymbols

MAX_TOTAL_STEPS = 4_000_000
_TRANSPOSE_TOKENS = ("T", "\\top")
_TRIG_SHORTHANDS = {
    spelling[0]: function for function, row in TRIG_SHORTHANDS.items() for spelling in row.spellings
}


def parse_latex_equations(
    text: str, symbols: StatementSymbols, ranges: dict[str, range]
) -> Iterator[tuple[Expression, Expression, bool]]:
    """The equations that a text means, for all values of indices that are left open."""
    parser = LatexStatementParser(
        text, symbols, {letter: span[0] for letter, span in ranges.items()}
    )
    first = list(parser.parse_equations())
    letters = sorted({*ranges, *parser.open_indices})
    if not letters:
        yield from first
        return
    spans = [ranges.get(x, range(1, symbols.velocity_count + 1)) for x in letters]
    if parser.step_count * prod(map(len, spans)) > MAX_TOTAL_STEPS:
        raise parser.parse_error("the sums are too long")
    for values in product(*spans):
        yield from LatexStatementParser(
            text, symbols, dict(zip(letters, values, strict=True))
        ).parse_equations()


class LatexStatementParser(LatexStatementCalculus):
    """The grammar, with the powers, matrices and functions of LaTeX."""

    is_in_bars = False

    def begins_factor(self) -> bool:
        """Whether a factor begins here: also a command, or a bar that opens |x|."""
        is_bar = self.token == "|" and not self.is_in_bars
        return super().begins_factor() or self.is_latex_command() or is_bar

    # -- powers ----------------------------------------------------------------------------

    def parse_superscript(self, base: ExpressionOrMatrix) -> ExpressionOrMatrix:
        """Parse a power; ^T is the transpose."""
        self.take()
        if self.accept_transpose():
            self.skip_position_argument()
            return self.transpose_value(base)
        return self.raise_to_power(base, self.parse_script())

    def skip_position_argument(self) -> None:
        """Skip the (q) of J^T(q)."""
        begin = self.position
        names = self.parse_dependence() if self.token == "(" else None
        if not names or not all(
            self.symbols.motion_vector_entries(x) and x[:1] != "d" for x in names
        ):
            self.position = begin

    def parse_exponent(self) -> ExpressionOrMatrix:
        """Parse the group or token above a symbol."""
        return self.parse_script()

    def accept_transpose(self) -> bool:
        r"""Take T, {T}, {\top} or {\mathsf{T}} if it is next, and say whether it was."""
        length = self.transpose_token_count(self.position)
        self.position += length
        return bool(length)

    def transpose_token_count(self, at: int) -> int:
        """The number of tokens of T, {T}, \\top or {\\mathsf{T}} there; 0 for anything else."""
        words = self.tokens[at : at + 7]
        letter = next((i for i, x in enumerate(words) if x != "{" and x[1:] not in LATEX_FONTS), 0)
        opened = words[:letter].count("{")
        is_whole = letter < len(words) and words[letter] in _TRANSPOSE_TOKENS
        is_closed = words[letter + 1 : letter + 1 + opened] == ["}"] * opened
        return letter + 1 + opened if is_whole and is_closed else 0

    def is_matrix_power(self, at: int) -> bool:
        """Whether a transpose or the inverse, {-1}, stands at a token."""
        words = self.tokens[at : at + 4]
        return bool(self.transpose_token_count(at)) or words == ["{", "-", "1", "}"]

    def parse_script(self) -> ExpressionOrMatrix:
        r"""Parse what follows ^ or \frac: a group, or one token."""
        if self.accept("{"):
            if self.token == "(" and self.tokens[self.position - 2] == "^":
                raise self.parse_error(
                    "a superscript in brackets is not read", "write it as an index"
                )
            inner = self.parse_sum()
            self.expect("}")
            return inner
        if self.token[:1].isdigit() and len(self.token) > 1:  # in \frac12 the digit 1
            digit, self.tokens[self.position] = self.token[0], self.token[1:]
            return parse_expression(digit)
        return self.parse_atom()

    # -- atoms -----------------------------------------------------------------------------

    def parse_atom(self) -> ExpressionOrMatrix:
        """Parse a bracket, number, command or name."""
        token = self.token
        if token == "{" and self.peek() == "}":
            return self.parse_prescript()
        if token in BRACKET_PAIRS:
            is_symbol = token == "{" and self.is_indexed_group()
            return self.parse_name() if is_symbol else self.parse_brackets()
        if token == "-":
            self.take()
            return negate_expression(require_scalar_statement(self.parse_power(), "a sign"))
        if token[:1].isdigit() or token[:1] == ".":
            return self.parse_number()
        if token == "°":
            self.take()
            return RADIANS_PER_DEGREE
        if token == "|" and not self.is_in_bars:
            return self.parse_absolute_value()
        if token == "\\begin":
            return self.parse_matrix()
        if token == "\\frac":
            self.take()
            return self.parse_fraction()
        if token == "\\partial":
            return self.parse_slashed_derivative()
        if token == "\\sqrt":
            self.take()
            root = self.parse_script() if self.token == "{" else self.parse_brackets()
            return Call("sqrt", (require_scalar_statement(root, "a root"),))
        if token == "\\sum":
            self.take()
            return self.parse_summation()
        if (word := self.accept_function_name()) is not None:
            return self.parse_function_call(word)
        if token and (token.isalpha() or self.is_latex_command()):
            return self.parse_trig_shorthand() or self.parse_name()
        raise self.unexpected_token_error()

    def parse_name(self) -> ExpressionOrMatrix:
        """Parse a symbol, an index that a sum binds, or a derivative d…/dt."""
        start = self.position
        if self.token == "d" and (found := self.parse_slashed_time_derivative()) is not None:
            return found
        if self.token in self.index_values and self.peek() not in ("_", "'"):
            return Number(Fraction(self.index_values[self.take()]))
        is_bold_zero = self.token[1:] in LATEX_FONTS and "0" in (self.peek(1), self.peek(2))
        if is_bold_zero:
            self.take()
            return self.parse_script()
        name = self.parse_symbol()
        if self.token == "^" and not self.transpose_token_count(self.position + 1):
            return self.parse_superscripted_name(name, start)
        return self.parse_dependent_name(name, start)

    def parse_superscripted_name(self, name: str, start: int) -> ExpressionOrMatrix:
        """Parse a power between a name and its index: q^2_1 is q_1^2."""
        self.take()
        exponent = self.parse_script()
        if self.accept("_"):
            name += self.parse_index()
        return self.raise_to_power(self.parse_dependent_name(name, start), exponent)

    def parse_absolute_value(self) -> Expression:
        """Parse |x|; its even powers are those of x."""
        self.take()
        self.is_in_bars = True
        inner = require_scalar_statement(self.parse_sum(), "|…|")
        self.is_in_bars = False
        self.expect("|")
        return Call("abs", (inner,))

    def raise_to_power(
        self, base: ExpressionOrMatrix, exponent: ExpressionOrMatrix
    ) -> ExpressionOrMatrix:
        """The power of a number; even powers of a length |x| are those of x."""
        is_even = isinstance(exponent, Number) and exponent.value % 2 == 0
        if is_even and isinstance(base, Call) and base.function == "abs":
            (base,) = base.arguments
        return super().raise_to_power(base, exponent)

    def parse_prescript(self) -> ExpressionOrMatrix:
        """Parse an index before a symbol: {}^{B}V is the name BV."""
        self.position += 2
        if not self.accept("^"):
            return self.parse_atom()
        before = "".join(x for x in self.take_superscript_tokens() if x[1:] not in LATEX_FONTS)
        if not (before.isalpha() and before.isupper()):
            raise self.parse_error("a superscript has nothing below it", "write it as an index")
        name = self.parse_symbol()
        return Name(f"{before}{name}")

    def parse_matrix(self) -> StatementMatrix:
        """Parse the rows of a matrix environment."""
        self.take()
        rows: list[list[Expression]] = [[]]
        while True:
            if self.token in ("\\\\", "\\end") and not rows[-1]:
                if self.take() == "\\end":
                    rows.pop()
                    break
                continue
            rows[-1].append(require_scalar_statement(self.parse_sum(), "a matrix"))
            mark = self.accept("&", "\\\\", "\\end")
            if mark is None:
                raise self.unexpected_token_error()
            if mark == "\\end":
                break
            if mark == "\\\\":
                rows.append([])
        if not rows or len({len(row) for row in rows}) > 1:
            raise self.parse_error("rows of a matrix differ in length")
        return StatementMatrix(tuple(map(tuple, rows)))

    # -- functions -------------------------------------------------------------------------

    def accept_function_name(self) -> str | None:
        r"""Take \sin, \operatorname{sin} or Sin if it is next, and return our name of the
        function."""
        if self.token[:1] == "\\" and self.token[1:] in LATEX_FUNCTIONS:
            return LATEX_FUNCTIONS[self.take()[1:]]
        if self.token[1:] not in LATEX_FONTS or self.peek() != "{":
            return None
        end = self.position + 2
        while self.tokens[end] not in ("}", "") and end < self.position + 9:
            end += 1
        word = "".join(self.tokens[self.position + 2 : end]).lstrip("\\")
        if self.tokens[end] != "}" or word not in LATEX_FUNCTIONS:
            return None
        self.position = end + 1
        return LATEX_FUNCTIONS[word]

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
