"""Names in text and LaTeX: what they depend on, as in M(q), and their derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod

from ..errors import ExpressionError
from ..expressions import Expression, Name, Product, Sum
from .statement_matrices import (
    ExpressionOrMatrix,
    StatementMatrix,
    lift_statement_to_matrix,
    rate_of_matrix_entry,
    statement_column,
)
from .symbol_table import MASS_MATRIX_ENTRY
from .text_symbols import StatementSymbols
from .token_reader import StatementTokenReader

BRACKET_PAIRS = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}


class StatementNameGrammar(StatementTokenReader, ABC):
    """Reads names from tokens, with the lists of what they depend on."""

    def __init__(self, text: str, tokens: list[str], symbols: StatementSymbols) -> None:
        super().__init__(text, tokens)
        self.symbols = symbols

    def parse_dependent_name(self, head: str, start: int) -> ExpressionOrMatrix:
        """A name, with or without the list of what it depends on: M(q), q1(t)."""
        after = self.end_of_dependence(head, start)
        if after is None:
            return self.expand_motion_vector(head)
        names = self.parse_dependence() or []
        self.position = after
        if self.symbols.is_coriolis_vector(head, names):
            return self.coriolis_vector()
        return self.expand_motion_vector(head)

    def coriolis_vector(self) -> StatementMatrix:
        """The vector C q̇."""
        size, speeds = self.symbols.velocity_count, self.symbols.velocity_names
        rates = [Name(f"d{x}") for x in speeds]
        coriolis = lift_statement_to_matrix(Name("C"), (size, size), self.symbols)
        rows = [zip(row, rates, strict=True) for row in coriolis.rows]
        return statement_column([Sum(tuple(map(Product, row))) for row in rows])

    # -- derivatives -----------------------------------------------------------------------

    def expand_motion_vector(self, name: str) -> ExpressionOrMatrix:
        """A name, or the vector that it stands for."""
        entries = self.symbols.motion_vector_entries(name)
        return Name(name) if entries is None else statement_column([Name(x) for x in entries])

    def partial_derivative_name(self, above: str, below: str) -> ExpressionOrMatrix:
        """The name L_q1 of ∂L/∂q1; a column of names if the variable is a vector."""
        entries = self.symbols.motion_vector_entries(below)
        if entries is None:
            return Name(f"{above}_{below}")
        return statement_column([Name(f"{above}_{x}") for x in entries])

    def differentiate_by_time(
        self, operand: ExpressionOrMatrix, order: int = 1
    ) -> ExpressionOrMatrix:
        """The derivative by time of a name, or of a vector of names."""
        if isinstance(operand, StatementMatrix):
            return operand.map_entries(lambda x: self.rate_of_name(x, order))
        return self.rate_of_name(operand, order)

    def rate_of_name(self, operand: Expression, order: int) -> Expression:
        """The name of a time derivative of the given order; the chain rule for the mass matrix."""
        if not isinstance(operand, Name):
            raise self.parse_error("d/dt must be followed by a name")
        name, own = operand.name, self.symbols
        if order == 1 and MASS_MATRIX_ENTRY.has_form(name) and not own.is_mechanism_name(name):
            return rate_of_matrix_entry(name, own)
        return Name(f"{'d' * order}{name}")

    # -- what names depend on --------------------------------------------------------------

    def end_of_dependence(self, head: str, start: int) -> int | None:
        """The position behind a list of what the name depends on, if one follows."""
        if self.token not in ("(", "["):
            return None
        begin = self.position
        names = self.parse_dependence()
        after, self.position = self.position, begin
        if names is None:
            return None
        following = self.tokens[after]
        has_power = following == "^" and not self.is_matrix_power(after + 1)
        ends = following in ("", "=", ":=") and start == 0
        if not self.symbols.is_function_application(head, names, has_power, ends):
            is_term = self.is_term_boundary(following) and self.is_term_boundary(
                self.tokens[start - 1]
            )
            if is_term and self.symbols.may_be_parameter_function(head, names):
                raise self.parse_error(
                    f"'{head}({names[0]})' may be a product, or a function",
                    f"write {head}*{names[0]}, or {head}1({names[0]})",
                )
            return None
        if ends:
            self.symbols.function_heads.add(head)
        return after

    def is_term_boundary(self, token: str) -> bool:
        """Whether a term of a sum ends there; the token before the first is the last, empty one."""
        return token in ("", "+", "-", "=", ":=")

    def parse_dependence(self) -> list[str] | None:
        """Names in brackets, with commas between them; None for anything else."""
        closing = BRACKET_PAIRS[self.take()]
        found: list[str] = []
        try:
            while True:
                if self.accept("\\dots", "\\ldots", "\\cdots", "…"):
                    self.accept(",")
                    continue
                if not (self.token and (self.token[0].isalpha() or self.token[0] == "\\")):
                    return None
                found.append(self.parse_symbol())
                if self.accept(closing):
                    return found
                if not self.accept(",", ";"):
                    return None
        except ExpressionError:
            return None

    def is_matrix_power(self, at: int) -> bool:
        """Whether T or -1 stands there, which a function may have as well."""
        return False

    @abstractmethod
    def parse_symbol(self) -> str:
        """The name that begins here."""
