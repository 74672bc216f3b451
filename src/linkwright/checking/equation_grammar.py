"""The grammar that text and LaTeX share; their symbols differ.

    sum      = ["-"|"+"] product {("+"|"-") product}
    product  = power {["*"|"/"] power}                      factors may stand side by side
    power    = atom {"^" exponent}
    atom     = number | symbol | function argument | "(" sum ")" | "(" sum {"," sum} ")"

Sides of equations may be vectors and matrices: see `statement_matrices`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from ..expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    negate_expression,
    parse_expression,
)
from ..expressions.parser import MAX_EXPONENT, MAX_EXPRESSION_DEPTH
from ..expressions.tree import FUNCTION_ARITIES
from .name_grammar import BRACKET_PAIRS, StatementNameGrammar
from .statement_matrices import (
    ExpressionOrMatrix,
    StatementMatrix,
    add_statement_terms,
    equate_statement_entries,
    invert_statement_matrix,
    lift_statement_to_matrix,
    multiply_statement_factors,
    require_scalar_statement,
    statement_column,
)
from .text_symbols import StatementSymbols

PRODUCT_OPERATORS = {"*": "*", "\\cdot": "*", "\\times": "*", "\\ast": "*"}
RADIANS_PER_DEGREE = Product((Name("pi"), Number(Fraction(1, 180))))


class StatementGrammar(StatementNameGrammar):
    """Reads equations from tokens."""

    is_strict_division = False  # whether a/b c is refused, since it may be a/(b c)

    def __init__(self, text: str, tokens: list[str], symbols: StatementSymbols) -> None:
        super().__init__(text, tokens, symbols)
        self.nesting_depth = 0

    # -- equations -------------------------------------------------------------------------

    def parse_equations(self) -> Iterator[tuple[Expression, Expression, bool]]:
        """Parse left side, right side, and whether it is a definition; a chain a = b = c gives a
        = b and a = c."""
        sides, signs = [self.parse_side()], []
        while sign := self.accept("=", ":="):
            signs.append(sign)
            sides.append(self.parse_side())
        if self.token:
            raise self.unexpected_token_error()
        if not signs:
            raise self.parse_error("'=' is missing", "write equations as left = right")
        for right in sides[1:]:
            for pair in equate_statement_entries(sides[0], right, self.symbols):
                yield *pair, ":=" in signs

    def parse_side(self) -> ExpressionOrMatrix:
        """Parse one side of an equation."""
        if self.token in ("", "=", ":="):
            raise self.parse_error("a side of an equation is empty")
        return self.parse_sum()

    # -- sums, products, powers ------------------------------------------------------------

    def parse_sum(self) -> ExpressionOrMatrix:
        """Parse terms that are joined by + and −."""
        terms = []
        sign = self.accept("+", "-")
        while True:
            term = self.parse_product()
            terms.append(negate_statement_value(term) if sign == "-" else term)
            if (sign := self.accept("+", "-")) is None:
                return add_statement_terms(terms, self.symbols)

    def parse_product(self) -> ExpressionOrMatrix:
        """Parse factors that stand side by side or are joined by product signs and /."""
        factors = [self.parse_power()]
        while True:
            if self.accept("/"):
                self.append_divisor(factors, self.parse_power())
            elif self.accept(*PRODUCT_OPERATORS) or self.begins_factor():
                factors.append(self.parse_power())
            else:
                return multiply_statement_factors(factors, self.symbols)

    def append_divisor(
        self, factors: list[ExpressionOrMatrix], divisor: ExpressionOrMatrix
    ) -> None:
        """Append the factor 1/divisor; `1/12` at the head becomes one exact number."""
        below = require_scalar_statement(divisor, "a divisor")
        first = factors[0]
        are_numbers = len(factors) == 1 and isinstance(first, Number) and isinstance(below, Number)
        if isinstance(below, Number) and below.value == 0:
            raise self.parse_error("division by zero")
        if are_numbers and isinstance(first, Number) and isinstance(below, Number):
            factors[0] = Number(first.value / below.value)
            return
        factors.append(Reciprocal(below))
        if self.is_strict_division and self.begins_factor():
            raise self.parse_error(
                f"'/' may reach as far as '{self.token}', or not",
                "write * between factors, and brackets round a divisor",
            )

    def begins_factor(self) -> bool:
        """Whether a factor begins at the current token."""
        token = self.token
        return bool(token) and (token in BRACKET_PAIRS or token[0].isalnum() or token[0] == ".")

    def parse_power(self) -> ExpressionOrMatrix:
        """Parse an atom and what stands above it."""
        self.nesting_depth += 1
        if self.nesting_depth > MAX_EXPRESSION_DEPTH:
            raise self.parse_error(f"more than {MAX_EXPRESSION_DEPTH} levels of nesting")
        base = self.parse_atom()
        while self.token == "^":
            base = self.parse_superscript(base)
        self.nesting_depth -= 1
        return base

    def parse_superscript(self, base: ExpressionOrMatrix) -> ExpressionOrMatrix:
        """Parse a power: what stands before ^, to the power behind it."""
        self.take()
        return self.raise_to_power(base, self.parse_exponent())

    def parse_exponent(self) -> ExpressionOrMatrix:
        """Parse the exponent behind ^."""
        return self.parse_power()

    def transpose_value(self, base: ExpressionOrMatrix) -> ExpressionOrMatrix:
        """The transpose; J^T of a matrix of theirs is the matrix JT."""
        if isinstance(base, Name):
            shape = self.symbols.matrix_shape(base.name)
            if shape is None and self.symbols.has_transposed_row(base.name):
                shape = (self.symbols.velocity_count, 1)
            if shape is not None:
                base = lift_statement_to_matrix(base, shape, self.symbols)
            elif len(base.name) == 1 and base.name.isupper():
                return Name(f"{base.name}T")
        return base.transpose if isinstance(base, StatementMatrix) else base

    def raise_to_power(
        self, base: ExpressionOrMatrix, exponent: ExpressionOrMatrix
    ) -> ExpressionOrMatrix:
        """The power of a number, or the inverse of a matrix for the exponent −1."""
        power = require_scalar_statement(exponent, "an exponent")
        if isinstance(power, Number) and abs(power.value) > MAX_EXPONENT:
            raise self.parse_error(f"an exponent is larger than {MAX_EXPONENT}")
        if isinstance(base, Name) and (shape := self.symbols.matrix_shape(base.name)):
            is_inverse = power == Number(Fraction(-1)) and shape[0] == shape[1]
            base = lift_statement_to_matrix(base, shape, self.symbols) if is_inverse else base
        if isinstance(base, StatementMatrix):
            if power != Number(Fraction(-1)):
                raise self.parse_error("a vector or matrix has a power")
            return invert_statement_matrix(base)
        return base if power == Number(Fraction(1)) else Power(base, power)

    # -- atoms -----------------------------------------------------------------------------

    @abstractmethod
    def parse_atom(self) -> ExpressionOrMatrix:
        """A number, a name, a function, or what stands in brackets."""

    def parse_number(self) -> Expression:
        """Parse a number; ° behind it converts degrees to radians."""
        found = parse_expression(self.take())
        if self.accept("°"):
            return Product((found, RADIANS_PER_DEGREE))
        return found

    def parse_brackets(self) -> ExpressionOrMatrix:
        """Parse what brackets hold; with commas, a list of entries, with semicolons one of rows."""
        if self.token not in BRACKET_PAIRS:
            raise self.unexpected_token_error()
        closing = BRACKET_PAIRS[self.take()]
        rows: list[list[ExpressionOrMatrix]] = [[self.parse_sum()]]
        while sign := self.accept(",", ";"):
            if sign == ";":
                rows.append([])
            rows[-1].append(self.parse_sum())
        self.expect_closing_bracket(closing)
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]
        return self.matrix_of_rows(rows)

    def expect_closing_bracket(self, closing: str) -> None:
        """Take the closing bracket; an error if another token stands here."""
        if self.accept(closing):
            return
        if self.token in ("", "=", ":="):
            raise self.parse_error(f"a bracket is not closed: '{closing}' is missing")
        raise self.unexpected_token_error()

    def matrix_of_rows(self, rows: list[list[ExpressionOrMatrix]]) -> StatementMatrix:
        """A list (a, b), or a matrix [a, b; c, d] or [[a, b], [c, d]]."""
        (first, *_) = rows
        nested = [x for x in first if isinstance(x, StatementMatrix)]
        if len(rows) == 1 and len(nested) == len(first):
            return StatementMatrix(tuple(tuple(entry for (entry,) in x.rows) for x in nested))
        table = [[require_scalar_statement(x, "a list") for x in row] for row in rows]
        if len({len(row) for row in table}) > 1:
            raise self.parse_error("rows of a matrix differ in length")
        if len(table) == 1:
            return statement_column(table[0], is_list=True)
        return StatementMatrix(tuple(map(tuple, table)))

    # -- functions -------------------------------------------------------------------------

    def parse_function_call(self, name: str) -> Expression:
        """Parse the power and the arguments behind the name of a function: sin^2(q1)."""
        exponent = None
        if self.accept("^"):
            exponent = self.parse_exponent()
            if not (isinstance(exponent, Number) and exponent.value > 0):
                raise self.parse_error(
                    f"a power of {name} that is not a positive number may mean its inverse",
                    "write arcsin, or 1/sin(…)",
                )
        call = Call(name, self.parse_arguments(name))
        return (
            call
            if exponent is None
            else require_scalar_statement(self.raise_to_power(call, exponent), name)
        )

    def parse_arguments(self, name: str) -> tuple[Expression, ...]:
        """Parse the arguments of a function, as many as it takes."""
        found = self.parse_argument()
        if (
            isinstance(found, StatementMatrix)
            and found.is_list
            and FUNCTION_ARITIES[name] == len(found.rows)
        ):
            return tuple(entry for (entry,) in found.rows)
        if FUNCTION_ARITIES[name] != 1:
            raise self.parse_error(f"{name} takes {FUNCTION_ARITIES[name]} arguments")
        return (require_scalar_statement(found, f"{name}(…)"),)

    def parse_argument(self) -> ExpressionOrMatrix:
        """Parse an argument in brackets, or numbers and one symbol: sin 2q1 dq1 is sin(2 q1)
        dq1."""
        if self.token in BRACKET_PAIRS:
            return self.parse_brackets()
        factors: list[ExpressionOrMatrix] = []
        while self.token[:1].isdigit():
            factors.append(self.parse_number())
        if self.token == "-" and not factors:
            self.take()
            return negate_statement_value(self.parse_argument())
        if not factors or self.begins_factor():
            factors.append(self.parse_power())
        if self.token == "t" and not self.symbols.is_mechanism_name("t"):  # sin omega t
            factors.append(self.parse_atom())
        return multiply_statement_factors(factors, self.symbols)


def negate_statement_value(value: ExpressionOrMatrix) -> ExpressionOrMatrix:
    """An expression or matrix with the opposite sign."""
    return (
        value.map_entries(negate_expression)
        if isinstance(value, StatementMatrix)
        else negate_expression(value)
    )
