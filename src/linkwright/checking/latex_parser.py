r"""LaTeX to equations: the subset that papers print equations of motion in.

`\ddot{\theta}_1` is the name ddtheta1, `l_{c1}` lc1, `s'_3` and `s_3'` are s3prime, `\bar l_1` is
lbar1, and `\frac{\partial L}{\partial q_1}` is L_q1. Indices of sums stand for their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from ..expressions import Call, Expression, Name, Number, negate_expression, parse_expression
from .equation_grammar import RADIANS_PER_DEGREE
from .latex_shorthands import LatexTrigShorthands
from .latex_symbols import LATEX_FONTS, LATEX_FUNCTIONS
from .name_grammar import BRACKET_PAIRS
from .statement_matrices import ExpressionOrMatrix, StatementMatrix, require_scalar_statement
from .text_symbols import StatementSymbols

MAX_TOTAL_STEPS = 4_000_000
_TRANSPOSE_TOKENS = ("T", "\\top")


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


class LatexStatementParser(LatexTrigShorthands):
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
