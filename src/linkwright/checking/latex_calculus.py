r"""Fractions, derivatives and sums of LaTeX.

`\frac{\partial L}{\partial q_1}` is the name L_q1, with \frac{d}{dt} before it dL_q1; by a vector
of coordinates, it is a vector. The body of a sum is the product that follows it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from ..expressions import Name, Number, Reciprocal
from .latex_symbols import LatexSymbols
from .matrices import Value, add, multiply, scalar

_MAX_TERMS = 100


class LatexCalculus(LatexSymbols):
    """What LaTeX writes above and below."""

    @abstractmethod
    def script(self) -> Value:
        """A group, or one token."""

    # -- fractions and derivatives ---------------------------------------------------------

    def fraction(self) -> Value:
        if (derivative := self.derivative()) is not None:
            return derivative
        top, bottom = self.script(), scalar(self.script(), "a divisor")
        if isinstance(bottom, Number):
            if bottom.value == 0:
                raise self.fail("division by zero")
            if isinstance(top, Number):
                return Number(top.value / bottom.value)
        if top == Number(Fraction(1)):
            return Reciprocal(bottom)
        return multiply([top, Reciprocal(bottom)], self.symbols)

    def derivative(self) -> Value | None:
        r"""\frac{\partial L}{\partial q_1}, \frac{d}{dt} of a name, \frac{d^2 q_1}{dt^2}."""
        if self.tokens[self.at : self.at + 7] == ["{", "d", "}", "{", "d", "t", "}"]:
            self.at += 7
            return self.rate(self.power(), 1)
        if self.token == "{" and self.peek() == "\\partial":
            return self.partial_derivative()
        if self.token == "{" and self.peek() == "d":
            return self.time_derivative()
        return None

    def partial_derivative(self) -> Value:
        self.at += 2
        above = None if self.token == "}" else self.bare_symbol()
        for word in ("}", "{", "\\partial"):
            self.expect(word)
        below = self.bare_symbol()
        self.expect("}")
        if above is None:
            operand = self.power()
            if not isinstance(operand, Name):
                raise self.fail("a derivative stands before something else than a name")
            above = operand.name
        return self.by(above, below)

    def bare_symbol(self) -> str:
        """A name, without what it depends on."""
        if self.accept("{"):
            inner = self.bare_symbol()
            self.expect("}")
            return inner
        name = self.symbol()
        self.skip_dependence()
        return name

    def bare_symbol_or_none(self) -> str | None:
        name = self.symbol_or_none()
        if name is not None:
            self.skip_dependence()
        return name

    def skip_dependence(self) -> None:
        begin = self.at
        if self.token in ("(", "[") and self.dependence() is None:
            self.at = begin

    def slashed_derivative(self) -> Value:
        """∂L/∂q_1"""
        self.take()
        above = self.bare_symbol()
        self.expect("/")
        self.expect("\\partial")
        return self.by(above, self.bare_symbol())

    def time_derivative(self) -> Value | None:
        r"""\frac{d q_1}{dt}, \frac{d^2 q_1}{dt^2}; None for other fractions."""
        begin, self.at = self.at, self.at + 2
        order = 2 if self.accept_square() else 1
        name = self.bare_symbol_or_none()
        if name and self.tokens[self.at : self.at + 4] == ["}", "{", "d", "t"]:
            self.at += 4
            if (order == 2) == self.accept_square() and self.accept("}"):
                return self.rate(self.moving(name), order)
        self.at = begin
        return None

    def slashed_time_derivative(self) -> Value | None:
        """dx/dt, d/dt x, d^2x/dt^2, dL/dq_1; None for a product that begins with d."""
        begin = self.at
        self.take()
        order = 2 if self.accept_square() else 1
        above = self.bare_symbol_or_none()
        is_quotient = self.token == "/" and self.peek() == "d"
        if not is_quotient or not (self.peek(2)[:1].isalpha() or self.peek(2)[:1] == "\\"):
            self.at = begin
            return None
        self.at += 2
        below = self.bare_symbol_or_none()
        if below == "t" and not self.symbols.is_own("t"):
            if (self.accept_square()) != (order == 2):
                raise self.fail("a derivative has different orders above and below")
            return self.rate(self.power() if above is None else self.moving(above), order)
        if below is None or not self.symbols.is_motion(below):
            self.at = begin
            return None
        if self.symbols.is_parameter("d"):
            raise self.fail(
                "'d…/d…' may be a derivative, or a quotient", "write \\partial or \\frac"
            )
        if above is None or order == 2:
            raise self.fail("a derivative has no name above", "write \\partial L/\\partial q_1")
        return self.by(above, below)

    def accept_square(self) -> bool:
        """Takes ^2 or ^{2} if it is next."""
        for words in (["^", "2"], ["^", "{", "2", "}"]):
            if self.tokens[self.at : self.at + len(words)] == words:
                self.at += len(words)
                return True
        return False

    # -- sums ------------------------------------------------------------------------------

    def summation(self) -> Value:
        r"""\sum_{i=1}^{6} of the product that follows."""
        letters, first, last = ["i"], 1, self.symbols.size
        for _ in range(2):
            if self.accept("_"):
                letters, first = self.lower_limit()
            elif self.accept("^"):
                last = self.upper_limit()
        if last < 1 or last - first > _MAX_TERMS:
            raise self.fail(f"a sum has more than {_MAX_TERMS} terms, or none")
        kept, begin = dict(self.indices), self.at
        terms = list(self.summands(letters, range(first, last + 1), begin))
        self.indices = kept
        return add(terms, self.symbols)

    def summands(self, letters: list[str], span: range, begin: int) -> Iterator[Value]:
        for value in span:
            self.indices[letters[0]] = value
            if len(letters) > 1:
                yield from self.summands(letters[1:], span, begin)
            else:
                self.at = begin
                yield self.product()

    def lower_limit(self) -> tuple[list[str], int]:
        if not self.accept("{"):
            return [self.take()], 1
        letters = [self.take()]
        while self.accept(","):
            letters.append(self.take())
        first = self.limit() if self.accept("=") else 1
        self.expect("}")
        return letters, first

    def upper_limit(self) -> int:
        if not self.accept("{"):
            return self.limit()
        found = self.limit()
        self.expect("}")
        return found

    def limit(self) -> int:
        """A number, the letter of an outer sum, or n for the number of coordinates."""
        total, sign = 0, 1
        while True:
            token = self.take()
            if token.isdigit() and len(token) < 5:
                total += sign * int(token)
            elif token in self.indices:
                total += sign * self.indices[token]
            elif token in ("i", "j", "k"):
                self.open_indices.add(token)
                total += sign
            elif token in ("n", "N"):
                total += sign * self.symbols.size
            else:
                raise self.fail(f"the limit '{token}' of a sum is not a number")
            mark = self.accept("+", "-")
            if mark is None:
                return total
            sign = -1 if mark == "-" else 1
