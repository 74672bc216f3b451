"""The grammar that text and LaTeX share; their symbols differ.

    sum      = ["-"|"+"] product {("+"|"-") product}
    product  = power {["*"|"/"] power}                      factors may stand side by side
    power    = atom {"^" exponent}
    atom     = number | symbol | function argument | "(" sum ")" | "(" sum {"," sum} ")"

Sides of equations may be vectors and matrices: see `matrices`.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction

from ..errors import ExpressionError
from ..expressions import (
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate,
    parse,
)
from ..expressions.parser import MAX_DEPTH, MAX_POWER
from ..expressions.tree import FUNCTIONS
from .matrices import (
    Matrix,
    Value,
    add,
    column,
    equate,
    invert,
    lift,
    multiply,
    rate_of_entry,
    scalar,
)
from .symbols import Symbols
from .token_reader import TokenReader

OPERATORS = {"*": "*", "\\cdot": "*", "\\times": "*", "\\ast": "*"}
BRACKETS = {"(": ")", "[": "]", "{": "}", "\\{": "\\}"}
_ENTRY = re.compile(r"[MDHd]_?\d\d")
DEGREE = Product((Name("pi"), Number(Fraction(1, 180))))


class Grammar(TokenReader, ABC):
    """Reads equations from tokens."""

    is_strict_division = False  # whether a/b c is refused, since it may be a/(b c)

    def __init__(self, text: str, tokens: list[str], symbols: Symbols) -> None:
        super().__init__(text, tokens)
        self.symbols = symbols
        self.depth = 0

    # -- equations -------------------------------------------------------------------------

    def equations(self) -> Iterator[tuple[Expression, Expression, bool]]:
        """Left and right, and whether it is a definition; a chain a = b = c is a = b and a = c."""
        sides, signs = [self.side()], []
        while sign := self.accept("=", ":="):
            signs.append(sign)
            sides.append(self.side())
        if self.token:
            raise self.unexpected()
        if not signs:
            raise self.fail("there is no '='", "write equations as left = right")
        for right in sides[1:]:
            for pair in equate(sides[0], right, self.symbols):
                yield *pair, ":=" in signs

    def side(self) -> Value:
        if self.token in ("", "=", ":="):
            raise self.fail("a side of an equation is empty")
        return self.sum()

    # -- sums, products, powers ------------------------------------------------------------

    def sum(self) -> Value:
        terms = []
        sign = self.accept("+", "-")
        while True:
            term = self.product()
            terms.append(minus(term) if sign == "-" else term)
            if (sign := self.accept("+", "-")) is None:
                return add(terms, self.symbols)

    def product(self) -> Value:
        factors = [self.power()]
        while True:
            if self.accept("/"):
                self.divide(factors, self.power())
            elif self.accept(*OPERATORS) or self.begins_factor():
                factors.append(self.power())
            else:
                return multiply(factors, self.symbols)

    def divide(self, factors: list[Value], divisor: Value) -> None:
        """Appends 1/divisor; `1/12` at the head is one exact number."""
        below = scalar(divisor, "a divisor")
        first = factors[0]
        are_numbers = len(factors) == 1 and isinstance(first, Number) and isinstance(below, Number)
        if isinstance(below, Number) and below.value == 0:
            raise self.fail("division by zero")
        if are_numbers and isinstance(first, Number) and isinstance(below, Number):
            factors[0] = Number(first.value / below.value)
            return
        factors.append(Reciprocal(below))
        if self.is_strict_division and self.begins_factor():
            raise self.fail(
                f"'/' may reach as far as '{self.token}', or not",
                "write * between factors, and brackets round a divisor",
            )

    def begins_factor(self) -> bool:
        token = self.token
        return bool(token) and (token in BRACKETS or token[0].isalnum() or token[0] == ".")

    def power(self) -> Value:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"more than {MAX_DEPTH} levels of nesting")
        base = self.atom()
        while self.token == "^":
            base = self.raised(base)
        self.depth -= 1
        return base

    def raised(self, base: Value) -> Value:
        """What stands before ^, to the power behind it."""
        self.take()
        return self.to_power(base, self.exponent())

    def exponent(self) -> Value:
        return self.power()

    def transposed(self, base: Value) -> Value:
        """The transpose; J^T of a matrix of theirs is the matrix JT."""
        if isinstance(base, Name):
            shape = self.symbols.matrix_shape(base.name)
            if shape is None and self.symbols.has_row(base.name):
                shape = (self.symbols.size, 1)
            if shape is not None:
                base = lift(base, shape, self.symbols)
            elif len(base.name) == 1 and base.name.isupper():
                return Name(f"{base.name}T")
        return base.transpose if isinstance(base, Matrix) else base

    def to_power(self, base: Value, exponent: Value) -> Value:
        power = scalar(exponent, "an exponent")
        if isinstance(power, Number) and abs(power.value) > MAX_POWER:
            raise self.fail(f"an exponent is larger than {MAX_POWER}")
        if isinstance(base, Name) and (shape := self.symbols.matrix_shape(base.name)):
            is_inverse = power == Number(Fraction(-1)) and shape[0] == shape[1]
            base = lift(base, shape, self.symbols) if is_inverse else base
        if isinstance(base, Matrix):
            if power != Number(Fraction(-1)):
                raise self.fail("a vector or matrix has a power")
            return invert(base)
        return base if power == Number(Fraction(1)) else Power(base, power)

    # -- atoms -----------------------------------------------------------------------------

    @abstractmethod
    def atom(self) -> Value:
        """A number, a name, a function, or what stands in brackets."""

    def number(self) -> Expression:
        found = parse(self.take())
        if self.accept("°"):
            return Product((found, DEGREE))
        return found

    def bracketed(self) -> Value:
        """What brackets hold; with commas, a list of entries, with semicolons one of rows."""
        if self.token not in BRACKETS:
            raise self.unexpected()
        closing = BRACKETS[self.take()]
        rows: list[list[Value]] = [[self.sum()]]
        while sign := self.accept(",", ";"):
            if sign == ";":
                rows.append([])
            rows[-1].append(self.sum())
        self.close(closing)
        if len(rows) == 1 and len(rows[0]) == 1:
            return rows[0][0]
        return self.listed(rows)

    def close(self, closing: str) -> None:
        if self.accept(closing):
            return
        if self.token in ("", "=", ":="):
            raise self.fail(f"a bracket is not closed: '{closing}' is missing")
        raise self.unexpected()

    def listed(self, rows: list[list[Value]]) -> Matrix:
        """A list (a, b), or a matrix [a, b; c, d] or [[a, b], [c, d]]."""
        (first, *_) = rows
        nested = [x for x in first if isinstance(x, Matrix)]
        if len(rows) == 1 and len(nested) == len(first):
            return Matrix(tuple(tuple(entry for (entry,) in x.rows) for x in nested))
        table = [[scalar(x, "a list") for x in row] for row in rows]
        if len({len(row) for row in table}) > 1:
            raise self.fail("rows of a matrix differ in length")
        if len(table) == 1:
            return column(table[0], is_list=True)
        return Matrix(tuple(map(tuple, table)))

    # -- functions -------------------------------------------------------------------------

    def function(self, name: str) -> Expression:
        exponent = None
        if self.accept("^"):
            exponent = self.exponent()
            if not (isinstance(exponent, Number) and exponent.value > 0):
                raise self.fail(
                    f"a power of {name} that is not a positive number may mean its inverse",
                    "write arcsin, or 1/sin(…)",
                )
        call = Call(name, self.arguments(name))
        return call if exponent is None else scalar(self.to_power(call, exponent), name)

    def arguments(self, name: str) -> tuple[Expression, ...]:
        found = self.argument()
        if isinstance(found, Matrix) and found.is_list and FUNCTIONS[name] == len(found.rows):
            return tuple(entry for (entry,) in found.rows)
        if FUNCTIONS[name] != 1:
            raise self.fail(f"{name} takes {FUNCTIONS[name]} arguments")
        return (scalar(found, f"{name}(…)"),)

    def argument(self) -> Value:
        """In brackets, or numbers and one symbol: sin 2q1 dq1 is sin(2 q1) dq1."""
        if self.token in BRACKETS:
            return self.bracketed()
        factors: list[Value] = []
        while self.token[:1].isdigit():
            factors.append(self.number())
        if self.token == "-" and not factors:
            self.take()
            return minus(self.argument())
        if not factors or self.begins_factor():
            factors.append(self.power())
        if self.token == "t" and not self.symbols.is_own("t"):  # sin omega t
            factors.append(self.atom())
        return multiply(factors, self.symbols)

    def applied(self, head: str, start: int) -> Value:
        """A name, with or without the list of what it depends on: M(q), q1(t)."""
        after = self.after_dependence(head, start)
        if after is None:
            return self.moving(head)
        names = self.dependence() or []
        self.at = after
        if self.symbols.is_velocity_force(head, names):
            return self.velocity_forces()
        return self.moving(head)

    def velocity_forces(self) -> Matrix:
        """The vector C q̇."""
        size, speeds = self.symbols.size, self.symbols.speeds
        rates = [Name(f"d{x}") for x in speeds]
        coriolis = lift(Name("C"), (size, size), self.symbols)
        rows = [zip(row, rates, strict=True) for row in coriolis.rows]
        return column([Sum(tuple(map(Product, row))) for row in rows])

    # -- derivatives -----------------------------------------------------------------------

    def moving(self, name: str) -> Value:
        """A name, or the vector that it stands for."""
        entries = self.symbols.motion(name)
        return Name(name) if entries is None else column([Name(x) for x in entries])

    def by(self, above: str, below: str) -> Value:
        """∂L/∂q1 is the name L_q1; by a vector, it is a vector."""
        entries = self.symbols.motion(below)
        if entries is None:
            return Name(f"{above}_{below}")
        return column([Name(f"{above}_{x}") for x in entries])

    def rate(self, operand: Value, order: int = 1) -> Value:
        """The derivative by time of a name, or of a vector of names."""
        if isinstance(operand, Matrix):
            return operand.map(lambda x: self.rate_of_name(x, order))
        return self.rate_of_name(operand, order)

    def rate_of_name(self, operand: Expression, order: int) -> Expression:
        if not isinstance(operand, Name):
            raise self.fail("d/dt stands before something else than a name")
        name, own = operand.name, self.symbols
        if order == 1 and _ENTRY.fullmatch(name) and not own.is_own(name):
            return rate_of_entry(name, own)
        return Name(f"{'d' * order}{name}")

    # -- what names depend on --------------------------------------------------------------

    def after_dependence(self, head: str, start: int) -> int | None:
        """Where the text goes on behind a list of what the name depends on, if one follows."""
        if self.token not in ("(", "["):
            return None
        begin = self.at
        names = self.dependence()
        after, self.at = self.at, begin
        if names is None:
            return None
        following = self.tokens[after]
        has_power = following == "^" and not self.is_matrix_power(after + 1)
        ends = following in ("", "=", ":=") and start == 0
        if not self.symbols.is_function(head, names, has_power, ends):
            is_term = self.is_boundary(following) and self.is_boundary(self.tokens[start - 1])
            if is_term and self.symbols.may_be_function(head, names):
                raise self.fail(
                    f"'{head}({names[0]})' may be a product, or a function",
                    f"write {head}*{names[0]}, or {head}1({names[0]})",
                )
            return None
        if ends:
            self.symbols.functions.add(head)
        return after

    def is_boundary(self, token: str) -> bool:
        """Whether a term of a sum ends there; the token before the first is the last, empty one."""
        return token in ("", "+", "-", "=", ":=")

    def dependence(self) -> list[str] | None:
        """Names in brackets, with commas between them; None for anything else."""
        closing = BRACKETS[self.take()]
        found: list[str] = []
        try:
            while True:
                if self.accept("\\dots", "\\ldots", "\\cdots", "…"):
                    self.accept(",")
                    continue
                if not (self.token and (self.token[0].isalpha() or self.token[0] == "\\")):
                    return None
                found.append(self.symbol())
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
    def symbol(self) -> str:
        """The name that begins here."""


def minus(value: Value) -> Value:
    return value.map(negate) if isinstance(value, Matrix) else negate(value)
