r"""LaTeX to equations: the subset that papers print equations of motion in.

`\ddot{\theta}_1` is the name ddtheta1, `l_{c1}` lc1, `s'_3` and `s_3'` are s3prime, `\bar l_1` is
lbar1, and `\frac{\partial L}{\partial q_1}` is L_q1. Indices of sums stand for their numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod

from ..expressions import Call, Expression, Name, Number, Sum, negate, parse
from ..expressions import names as names_in
from .grammar import BRACKETS, DEGREE
from .latex_calculus import LatexCalculus
from .latex_symbols import ACCENTS, FONTS, FUNCTIONS_OF_LATEX
from .latex_tokens import GREEK
from .matrices import Matrix, Value, scalar
from .symbols import Symbols

MAX_STEPS_OF_ALL = 4_000_000
_TRANSPOSED = ("T", "\\top")
_SHORT = {"s": "sin", "S": "sin", "c": "cos", "C": "cos"}


def read_latex(
    text: str, symbols: Symbols, ranges: dict[str, range]
) -> Iterator[tuple[Expression, Expression, bool]]:
    """The equations that a text means, for all values of indices that are left open."""
    parser = LatexParser(text, symbols, {letter: span[0] for letter, span in ranges.items()})
    first = list(parser.equations())
    letters = sorted({*ranges, *parser.open_indices})
    if not letters:
        yield from first
        return
    spans = [ranges.get(x, range(1, symbols.size + 1)) for x in letters]
    if parser.steps * prod(map(len, spans)) > MAX_STEPS_OF_ALL:
        raise parser.fail("the sums are too long")
    for values in product(*spans):
        yield from LatexParser(text, symbols, dict(zip(letters, values, strict=True))).equations()


class LatexParser(LatexCalculus):
    """The grammar, with the powers, matrices and functions of LaTeX."""

    is_in_bars = False

    def begins_factor(self) -> bool:
        is_bar = self.token == "|" and not self.is_in_bars
        return super().begins_factor() or self.is_command() or is_bar

    # -- powers ----------------------------------------------------------------------------

    def raised(self, base: Value) -> Value:
        """To a power; ^T is the transpose."""
        self.take()
        if self.accept_transposed():
            self.skip_positions()
            return self.transposed(base)
        return self.to_power(base, self.script())

    def skip_positions(self) -> None:
        """Takes the (q) of J^T(q)."""
        begin = self.at
        names = self.dependence() if self.token == "(" else None
        if not names or not all(self.symbols.motion(x) and x[:1] != "d" for x in names):
            self.at = begin

    def exponent(self) -> Value:
        return self.script()

    def accept_transposed(self) -> bool:
        """Takes T, {T}, {\\top} or {\\mathsf{T}} if it is next."""
        length = self.transposed_length(self.at)
        self.at += length
        return bool(length)

    def transposed_length(self, at: int) -> int:
        """The number of tokens of T, {T}, \\top or {\\mathsf{T}} there; 0 for anything else."""
        words = self.tokens[at : at + 7]
        letter = next((i for i, x in enumerate(words) if x != "{" and x[1:] not in FONTS), 0)
        opened = words[:letter].count("{")
        is_whole = letter < len(words) and words[letter] in _TRANSPOSED
        is_closed = words[letter + 1 : letter + 1 + opened] == ["}"] * opened
        return letter + 1 + opened if is_whole and is_closed else 0

    def is_matrix_power(self, at: int) -> bool:
        words = self.tokens[at : at + 4]
        return bool(self.transposed_length(at)) or words == ["{", "-", "1", "}"]

    def script(self) -> Value:
        """What follows ^ or \\frac: a group, or one token."""
        if self.accept("{"):
            if self.token == "(" and self.tokens[self.at - 2] == "^":
                raise self.fail("a superscript in brackets is not read", "write it as an index")
            inner = self.sum()
            self.expect("}")
            return inner
        if self.token[:1].isdigit() and len(self.token) > 1:  # in \frac12 the digit 1
            digit, self.tokens[self.at] = self.token[0], self.token[1:]
            return parse(digit)
        return self.atom()

    # -- atoms -----------------------------------------------------------------------------

    def atom(self) -> Value:
        token = self.token
        if token == "{" and self.peek() == "}":
            return self.with_prescript()
        if token in BRACKETS:
            is_symbol = token == "{" and self.is_indexed_group()
            return self.named() if is_symbol else self.bracketed()
        if token == "-":
            self.take()
            return negate(scalar(self.power(), "a sign"))
        if token[:1].isdigit() or token[:1] == ".":
            return self.number()
        if token == "°":
            self.take()
            return DEGREE
        if token == "|" and not self.is_in_bars:
            return self.absolute()
        if token == "\\begin":
            return self.matrix()
        if token == "\\frac":
            self.take()
            return self.fraction()
        if token == "\\partial":
            return self.slashed_derivative()
        if token == "\\sqrt":
            self.take()
            root = self.script() if self.token == "{" else self.bracketed()
            return Call("sqrt", (scalar(root, "a root"),))
        if token == "\\sum":
            self.take()
            return self.summation()
        if (word := self.function_ahead()) is not None:
            return self.function(word)
        if token and (token.isalpha() or self.is_command()):
            return self.shorthand() or self.named()
        raise self.unexpected()

    def named(self) -> Value:
        start = self.at
        if self.token == "d" and (found := self.slashed_time_derivative()) is not None:
            return found
        if self.token in self.indices and self.peek() not in ("_", "'"):
            return Number(Fraction(self.indices[self.take()]))
        is_bold_zero = self.token[1:] in FONTS and "0" in (self.peek(1), self.peek(2))
        if is_bold_zero:
            self.take()
            return self.script()
        name = self.symbol()
        if self.token == "^" and not self.transposed_length(self.at + 1):
            return self.with_superscript(name, start)
        return self.applied(name, start)

    def with_superscript(self, name: str, start: int) -> Value:
        """q^2_1 is q_1^2."""
        self.take()
        exponent = self.script()
        if self.accept("_"):
            name += self.index()
        return self.to_power(self.applied(name, start), exponent)

    def absolute(self) -> Expression:
        """|x|; its even powers are those of x."""
        self.take()
        self.is_in_bars = True
        inner = scalar(self.sum(), "|…|")
        self.is_in_bars = False
        self.expect("|")
        return Call("abs", (inner,))

    def to_power(self, base: Value, exponent: Value) -> Value:
        is_even = isinstance(exponent, Number) and exponent.value % 2 == 0
        if is_even and isinstance(base, Call) and base.function == "abs":
            (base,) = base.arguments
        return super().to_power(base, exponent)

    def with_prescript(self) -> Value:
        """{}^{B}V is the name BV."""
        self.at += 2
        if not self.accept("^"):
            return self.atom()
        before = "".join(x for x in self.superscript_tokens() if x[1:] not in FONTS)
        if not (before.isalpha() and before.isupper()):
            raise self.fail("a superscript has nothing below it", "write it as an index")
        name = self.symbol()
        return Name(f"{before}{name}")

    def matrix(self) -> Matrix:
        self.take()
        rows: list[list[Expression]] = [[]]
        while True:
            if self.token in ("\\\\", "\\end") and not rows[-1]:
                if self.take() == "\\end":
                    rows.pop()
                    break
                continue
            rows[-1].append(scalar(self.sum(), "a matrix"))
            mark = self.accept("&", "\\\\", "\\end")
            if mark is None:
                raise self.unexpected()
            if mark == "\\end":
                break
            if mark == "\\\\":
                rows.append([])
        if not rows or len({len(row) for row in rows}) > 1:
            raise self.fail("rows of a matrix differ in length")
        return Matrix(tuple(map(tuple, rows)))

    # -- functions -------------------------------------------------------------------------

    def function_ahead(self) -> str | None:
        """Takes \\sin, \\operatorname{sin} or Sin if it is next, and names it as we do."""
        if self.token[:1] == "\\" and self.token[1:] in FUNCTIONS_OF_LATEX:
            return FUNCTIONS_OF_LATEX[self.take()[1:]]
        if self.token[1:] not in FONTS or self.peek() != "{":
            return None
        end = self.at + 2
        while self.tokens[end] not in ("}", "") and end < self.at + 9:
            end += 1
        word = "".join(self.tokens[self.at + 2 : end]).lstrip("\\")
        if self.tokens[end] != "}" or word not in FUNCTIONS_OF_LATEX:
            return None
        self.at = end + 1
        return FUNCTIONS_OF_LATEX[word]

    def shorthand(self) -> Value | None:
        r"""S\theta_2, C q_3, s(q_1 + q_2), C^2\theta, c\theta_{12}, c_{1+2}."""
        begin = self.at
        letter = self.short_letter()
        if letter is None or self.symbols.is_parameter(letter):
            self.at = begin
            return None
        angle, exponent = None, None
        if self.token == "_":
            angle = self.short_sum()
        else:
            if self.accept("^"):
                exponent = self.script()
            if isinstance(exponent, Number) or exponent is None:
                angle = self.short_angle(letter, exponent is not None)
        if angle is None:
            self.at = begin
            return None
        call = Call(_SHORT[letter], (angle,))
        return call if exponent is None else self.to_power(call, exponent)

    def short_letter(self) -> str | None:
        """s, S, c or C, upright or not."""
        if self.token[1:] in FONTS and self.peek() == "{" and self.peek(3) == "}":
            if self.peek(2) not in _SHORT:
                return None
            letter = self.peek(2)
            self.at += 4
            return letter
        return self.take() if self.token in _SHORT else None

    def short_sum(self) -> Expression | None:
        """The angle of c_{1+2} or s_{1-2}: coordinates by their numbers."""
        end = self.at
        while self.tokens[end] not in ("}", ""):
            end += 1
        inside = self.tokens[self.at + 2 : end]
        own = self.symbols.coordinates
        signs, digits = inside[1::2], inside[::2]
        if self.peek() != "{" or not signs or not all(x in ("+", "-") for x in signs):
            return None
        if not all(x.isdigit() and 1 <= int(x) <= len(own) for x in digits):
            return None
        self.at = end + 1
        names = [Name(own[int(x) - 1]) for x in digits]
        terms = [negate(x) if s == "-" else x for s, x in zip(["+", *signs], names, strict=True)]
        return Sum(tuple(terms))

    def short_angle(self, letter: str, has_power: bool) -> Expression | None:
        """The symbol or bracket that a shorthand is the sine or cosine of."""
        if self.token in ("(", "["):
            return self.short_bracket(letter, has_power)
        word = self.token
        is_symbol = (word[1:] in GREEK and word[:1] == "\\") or word[1:] in ACCENTS | FONTS
        if not is_symbol and not (word.isalpha() and self.is_coordinate_ahead()):
            return None
        name = self.symbol()
        stem = name.rstrip("0123456789")
        digits = name[len(stem) :]
        many = len(digits) > 1 and len(set(digits)) == len(digits)
        if many and not self.symbols.is_own(name) and len(self.symbols.coordinates) < 10:
            return Sum(tuple(Name(f"{stem}{d}") for d in digits))
        return Name(name)

    def is_coordinate_ahead(self) -> bool:
        begin = self.at
        try:
            name = self.symbol()
        finally:
            self.at = begin
        return self.symbols.is_motion(name) and not name.startswith("d")

    def short_bracket(self, letter: str, has_power: bool) -> Expression | None:
        """C(q_1 + q_2) is a cosine; C(q, \\dot q) is the Coriolis matrix."""
        begin = self.at
        names = self.dependence()
        self.at = begin
        if names is not None and not has_power:
            is_vector = self.symbols.motion(names[0]) is not None
            is_alone = letter == "C" and self.symbols.size == 1 and not self.has_sines()
            if len(names) > 1 or is_vector or is_alone or not self.symbols.is_motion(names[0]):
                return None
        if self.symbols.is_own(letter):
            return None
        angle = self.bracketed()
        if isinstance(angle, Matrix) or any(self.symbols.is_rate(x) for x in names_in(angle)):
            return None  # c(dx - dy) is a damper's force
        return angle

    def has_sines(self) -> bool:
        return any(x in ("s", "S") for x in self.tokens)
