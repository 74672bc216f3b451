r"""Fractions, derivatives and sums of LaTeX.

`\frac{\partial L}{\partial q_1}` is the name L_q1, with \frac{d}{dt} before it dL_q1; by a vector
of coordinates, it is a vector. The body of a sum is the product that follows it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from ..expressions import Name, Number, Reciprocal
from .latex_symbols import LatexStatementSymbols
from .statement_matrices import (
    ExpressionOrMatrix,
    add_statement_terms,
    multiply_statement_factors,
    require_scalar_statement,
)

_MAX_SUM_TERMS = 100


class LatexStatementCalculus(LatexStatementSymbols):
    """Parser of derivatives, sums and fractions, which LaTeX writes above and below."""

    @abstractmethod
    def parse_script(self) -> ExpressionOrMatrix:
        """A group, or one token."""

    # -- fractions and derivatives ---------------------------------------------------------

    def parse_fraction(self) -> ExpressionOrMatrix:
        r"""Parse the two groups of a \frac: a derivative or a quotient."""
        if (derivative := self.parse_derivative()) is not None:
            return derivative
        top, bottom = (
            self.parse_script(),
            require_scalar_statement(self.parse_script(), "a divisor"),
        )
        if isinstance(bottom, Number):
            if bottom.value == 0:
                raise self.parse_error("division by zero")
            if isinstance(top, Number):
                return Number(top.value / bottom.value)
        if top == Number(Fraction(1)):
            return Reciprocal(bottom)
        return multiply_statement_factors([top, Reciprocal(bottom)], self.symbols)

    def parse_derivative(self) -> ExpressionOrMatrix | None:
        r"""Parse \frac{\partial L}{\partial q_1}, \frac{d}{dt} of a name or \frac{d^2
        q_1}{dt^2}; None for others."""
        if self.tokens[self.position : self.position + 7] == ["{", "d", "}", "{", "d", "t", "}"]:
            self.position += 7
            return self.differentiate_by_time(self.parse_power(), 1)
        if self.token == "{" and self.peek() == "\\partial":
            return self.parse_partial_derivative()
        if self.token == "{" and self.peek() == "d":
            return self.parse_time_derivative()
        return None

    def parse_partial_derivative(self) -> ExpressionOrMatrix:
        r"""Parse \frac{\partial L}{\partial q_1} as the name L_q1."""
        self.position += 2
        above = None if self.token == "}" else self.parse_bare_symbol()
        for word in ("}", "{", "\\partial"):
            self.expect(word)
        below = self.parse_bare_symbol()
        self.expect("}")
        if above is None:
            operand = self.parse_power()
            if not isinstance(operand, Name):
                raise self.parse_error("a derivative must be followed by a name")
            above = operand.name
        return self.partial_derivative_name(above, below)

    def parse_bare_symbol(self) -> str:
        """A name, without what it depends on."""
        if self.accept("{"):
            inner = self.parse_bare_symbol()
            self.expect("}")
            return inner
        name = self.parse_symbol()
        self.skip_dependence()
        return name

    def parse_optional_bare_symbol(self) -> str | None:
        """Parse a symbol without what it depends on, if one begins here."""
        name = self.parse_optional_symbol()
        if name is not None:
            self.skip_dependence()
        return name

    def skip_dependence(self) -> None:
        r"""Skip a list such as (q, \dot q) of what a symbol depends on."""
        begin = self.position
        if self.token in ("(", "[") and self.parse_dependence() is None:
            self.position = begin

    def parse_slashed_derivative(self) -> ExpressionOrMatrix:
        r"""Parse \partial L/\partial q_1 as the name L_q1."""
        self.take()
        above = self.parse_bare_symbol()
        self.expect("/")
        self.expect("\\partial")
        return self.partial_derivative_name(above, self.parse_bare_symbol())

    def parse_time_derivative(self) -> ExpressionOrMatrix | None:
        r"""Parse \frac{d q_1}{dt} or \frac{d^2 q_1}{dt^2}; None for other fractions."""
        begin, self.position = self.position, self.position + 2
        order = 2 if self.accept_square() else 1
        name = self.parse_optional_bare_symbol()
        if name and self.tokens[self.position : self.position + 4] == ["}", "{", "d", "t"]:
            self.position += 4
            if (order == 2) == self.accept_square() and self.accept("}"):
                return self.differentiate_by_time(self.expand_motion_vector(name), order)
        self.position = begin
        return None

    def parse_slashed_time_derivative(self) -> ExpressionOrMatrix | None:
        """Parse dx/dt, d/dt x, d^2x/dt^2 or dL/dq_1; None for a product that begins with d."""
        begin = self.position
        self.take()
        order = 2 if self.accept_square() else 1
        above = self.parse_optional_bare_symbol()
        is_quotient = self.token == "/" and self.peek() == "d"
        if not is_quotient or not (self.peek(2)[:1].isalpha() or self.peek(2)[:1] == "\\"):
            self.position = begin
            return None
        self.position += 2
        below = self.parse_optional_bare_symbol()
        if below == "t" and not self.symbols.is_mechanism_name("t"):
            if (self.accept_square()) != (order == 2):
                raise self.parse_error("a derivative has different orders above and below")
            return self.differentiate_by_time(
                self.parse_power() if above is None else self.expand_motion_vector(above), order
            )
        if below is None or not self.symbols.is_motion_name(below):
            self.position = begin
            return None
        if self.symbols.is_parameter_name("d"):
            raise self.parse_error(
                "'d…/d…' may be a derivative, or a quotient", "write \\partial or \\frac"
            )
        if above is None or order == 2:
            raise self.parse_error(
                "a derivative has no name above", "write \\partial L/\\partial q_1"
            )
        return self.partial_derivative_name(above, below)

    def accept_square(self) -> bool:
        """Take ^2 or ^{2} if it is next, and say whether it was."""
        for words in (["^", "2"], ["^", "{", "2", "}"]):
            if self.tokens[self.position : self.position + len(words)] == words:
                self.position += len(words)
                return True
        return False

    # -- sums ------------------------------------------------------------------------------

    def parse_summation(self) -> ExpressionOrMatrix:
        r"""Parse \sum_{i=1}^{6} and the product that follows as a written-out sum."""
        letters, first, last = ["i"], 1, self.symbols.velocity_count
        for _ in range(2):
            if self.accept("_"):
                letters, first = self.parse_lower_limit()
            elif self.accept("^"):
                last = self.parse_upper_limit()
        if last < 1 or last - first > _MAX_SUM_TERMS:
            raise self.parse_error(f"a sum has more than {_MAX_SUM_TERMS} terms, or none")
        kept, begin = dict(self.index_values), self.position
        terms = list(self.parse_summands(letters, range(first, last + 1), begin))
        self.index_values = kept
        return add_statement_terms(terms, self.symbols)

    def parse_summands(
        self, letters: list[str], span: range, begin: int
    ) -> Iterator[ExpressionOrMatrix]:
        r"""Parse the summand of a \sum for all values of its indices."""
        for value in span:
            self.index_values[letters[0]] = value
            if len(letters) > 1:
                yield from self.parse_summands(letters[1:], span, begin)
            else:
                self.position = begin
                yield self.parse_product()

    def parse_lower_limit(self) -> tuple[list[str], int]:
        r"""Parse the index letters below a \sum and their first value."""
        if not self.accept("{"):
            return [self.take()], 1
        letters = [self.take()]
        while self.accept(","):
            letters.append(self.take())
        first = self.parse_limit() if self.accept("=") else 1
        self.expect("}")
        return letters, first

    def parse_upper_limit(self) -> int:
        r"""Parse the last value of the indices above a \sum."""
        if not self.accept("{"):
            return self.parse_limit()
        found = self.parse_limit()
        self.expect("}")
        return found

    def parse_limit(self) -> int:
        """A number, the letter of an outer sum, or n for the number of coordinates."""
        total, sign = 0, 1
        while True:
            token = self.take()
            if token.isdigit() and len(token) < 5:
                total += sign * int(token)
            elif token in self.index_values:
                total += sign * self.index_values[token]
            elif token in ("i", "j", "k"):
                self.open_indices.add(token)
                total += sign
            elif token in ("n", "N"):
                total += sign * self.symbols.velocity_count
            else:
                raise self.parse_error(f"the limit '{token}' of a sum is not a number")
            mark = self.accept("+", "-")
            if mark is None:
                return total
            sign = -1 if mark == "-" else 1
