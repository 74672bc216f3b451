"""Vectors and matrices while an equation is read: what comes out is one equation for each entry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from ..errors import ExpressionError
from ..expressions import (
    ONE,
    ZERO,
    Expression,
    Name,
    Negation,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from ..expressions.tokens import shorten_expression_text
from ..expressions.tree import child_expressions
from .text_symbols import StatementSymbols

MAX_INVERSE_SIZE = 4
MAX_ENTRY_NODES = 20_000
MatrixShape = tuple[int, int]


@dataclass(frozen=True)
class StatementMatrix:
    """A matrix by rows; a list `(a, b)` is a row or a column, as its neighbours need it."""

    rows: tuple[tuple[Expression, ...], ...]
    is_list: bool = False

    @property
    def shape(self) -> MatrixShape:
        """The numbers of rows and columns."""
        return len(self.rows), len(self.rows[0])

    @property
    def transpose(self) -> StatementMatrix:
        """The transpose; a list in brackets counts as a column."""
        if self.is_list:
            return replace(self, is_list=False) if self.shape[1] == 1 else self
        return StatementMatrix(tuple(zip(*self.rows, strict=True)))

    def map_entries(self, function: Callable[[Expression], Expression]) -> StatementMatrix:
        """The matrix with a function applied to each entry."""
        return replace(self, rows=tuple(tuple(map(function, row)) for row in self.rows))


ExpressionOrMatrix = Expression | StatementMatrix


def statement_column(entries: Sequence[Expression], *, is_list: bool = False) -> StatementMatrix:
    """A column of entries; `is_list` if the text writes it in round brackets."""
    return StatementMatrix(tuple((entry,) for entry in entries), is_list)


def statement_shape_text(value: ExpressionOrMatrix) -> str:
    """The shape of a value in words, for messages."""
    if not isinstance(value, StatementMatrix):
        return f"the number {shorten_expression_text(expression_text(value), 30)}"
    rows, columns = value.shape
    return f"a vector of {max(value.shape)}" if 1 in value.shape else f"a {rows}×{columns} matrix"


# -- sums and products ----------------------------------------------------------------------


def add_statement_terms(
    terms: Sequence[ExpressionOrMatrix], symbols: StatementSymbols
) -> ExpressionOrMatrix:
    """The sum; beside vectors, a bare name such as τ is the vector of τ1, τ2, …"""
    whole = [term for term in terms if isinstance(term, StatementMatrix)]
    if not whole:
        scalars = tuple(term for term in terms if not isinstance(term, StatementMatrix))
        return scalars[0] if len(scalars) == 1 else Sum(scalars)
    shape = next((x.shape for x in whole if not x.is_list), whole[0].shape)
    lifted = [lift_statement_to_matrix(term, shape, symbols) for term in terms]
    if len(lifted) == 1:
        return lifted[0]
    rows = zip(*(x.rows for x in lifted), strict=True)
    return StatementMatrix(
        tuple(tuple(map(Sum, zip(*row, strict=True))) for row in rows),
        all(x.is_list for x in lifted),
    )


def lift_statement_to_matrix(
    value: ExpressionOrMatrix, shape: MatrixShape, symbols: StatementSymbols
) -> StatementMatrix:
    """The value as a matrix of this shape."""
    if isinstance(value, StatementMatrix):
        if value.shape == shape:
            return value
        turned = StatementMatrix(tuple(zip(*value.rows, strict=True)))
        if value.is_list and turned.shape == shape:
            return turned
        wanted = f"{shape[0]} entries" if 1 in shape else f"{shape[0]}×{shape[1]} entries"
        raise ExpressionError(f"{statement_shape_text(value)} stands where {wanted} are needed")
    if value == ZERO:
        return StatementMatrix(((ZERO,) * shape[1],) * shape[0])
    entries = [
        [entry_of_expression(value, i, j, shape, symbols) for j in range(1, shape[1] + 1)]
        for i in range(1, shape[0] + 1)
    ]
    return StatementMatrix(tuple(map(tuple, entries)))


def entry_of_expression(
    value: Expression, i: int, j: int, shape: MatrixShape, symbols: StatementSymbols
) -> Expression:
    """An entry of an expression in which names stand for vectors."""
    match value:
        case Name(name) if (
            shape[0] == shape[1] and name not in symbols.matrix_shapes and name[:1] == "d"
        ):
            return rate_of_matrix_entry(symbols.entry_name(name[1:], i, j, shape), symbols)
        case Name(name) if shape[0] == shape[1] and symbols.is_diagonal_matrix_name(name):
            return Name(f"{name}{i}") if i == j else ZERO
        case Name(name) if symbols.can_be_vector_name(name):
            return Name(symbols.entry_name(name, i, j, shape))
        case Negation(operand):
            return negate_expression(entry_of_expression(operand, i, j, shape, symbols))
        case Sum(terms):
            return Sum(tuple(entry_of_expression(term, i, j, shape, symbols) for term in terms))
        case Product(factors):
            can = [isinstance(x, Name) and symbols.can_be_vector_name(x.name) for x in factors]
            if can.count(True) == 1:
                at = can.index(True)
                entry = entry_of_expression(factors[at], i, j, shape, symbols)
                return Product((*factors[:at], entry, *factors[at + 1 :]))
    raise ExpressionError(f"{statement_shape_text(value)} stands beside a vector")


def rate_of_matrix_entry(name: str, symbols: StatementSymbols) -> Expression:
    """The rate of an entry of a matrix that depends on the coordinates."""
    pairs = zip(symbols.coordinate_names, symbols.velocity_names, strict=False)
    return Sum(tuple(Product((Name(f"{name}_{q}"), Name(f"d{v}"))) for q, v in pairs))


def multiply_statement_factors(
    factors: Sequence[ExpressionOrMatrix], symbols: StatementSymbols
) -> ExpressionOrMatrix:
    """The product; before vectors, a bare name such as M is the matrix of M11, M12, …"""
    known = [factor for factor in factors if not isinstance(factor, StatementMatrix)]
    if len(known) == len(factors):
        return known[0] if len(known) == 1 else Product(tuple(known))
    whole: StatementMatrix | None = None
    scalars: list[Expression] = []
    for factor in _lift_matrix_names(factors, symbols):
        if not isinstance(factor, StatementMatrix):
            scalars.append(factor)
            continue
        found = factor if whole is None else _multiply_matrices(whole, factor)
        whole = found if isinstance(found, StatementMatrix) else None
        if not isinstance(found, StatementMatrix):
            scalars.append(found)
    if whole is None:
        return scalars[0] if len(scalars) == 1 else Product(tuple(scalars))
    return whole.map_entries(lambda x: Product((*scalars, x))) if scalars else whole


def _lift_matrix_names(
    factors: Sequence[ExpressionOrMatrix], symbols: StatementSymbols
) -> list[ExpressionOrMatrix]:
    found: list[ExpressionOrMatrix] = []
    last = factors[-1]
    if isinstance(last, Name) and symbols.is_vector_name(last.name):
        before = factors[-2] if len(factors) > 1 else None
        if isinstance(before, StatementMatrix) and 1 not in before.shape:
            factors = [*factors[:-1], lift_statement_to_matrix(last, (before.shape[1], 1), symbols)]
    for factor in reversed(factors):
        beside = found[-1] if found else None
        if not isinstance(factor, StatementMatrix) and isinstance(beside, StatementMatrix):
            shape = _shape_before_vector(factor, symbols)
            if shape is not None and shape[1] == beside.shape[0]:
                factor = lift_statement_to_matrix(factor, shape, symbols)
        found.append(factor)
    for factor in found:
        _refuse_matrix_scalars(factor, symbols)
    return found[::-1]


def _shape_before_vector(value: Expression, symbols: StatementSymbols) -> MatrixShape | None:
    """The shape of what stands before a vector: M, or M - 2 C."""
    match value:
        case Name(name):
            return symbols.matrix_shape(name)
        case Negation(operand):
            return _shape_before_vector(operand, symbols)
        case Sum(terms):
            shapes = {_shape_before_vector(term, symbols) for term in terms}
            return shapes.pop() if len(shapes) == 1 else None
        case Product(factors):
            shapes = {_shape_before_vector(factor, symbols) for factor in factors} - {None}
            return shapes.pop() if len(shapes) == 1 else None
    return None


def _refuse_matrix_scalars(value: ExpressionOrMatrix, symbols: StatementSymbols) -> None:
    """Raise an error for a matrix among the numbers that multiply a vector."""
    if isinstance(value, StatementMatrix):
        return
    for name in sorted(names_in_expression(value)):
        if symbols.matrix_shape(name) is not None:
            place = shorten_expression_text(expression_text(value), 30)
            raise ExpressionError(f"the matrix {name} stands among numbers in {place}")


def _multiply_matrices(left: StatementMatrix, right: StatementMatrix) -> ExpressionOrMatrix:
    if left.is_list and left.shape[1] != right.shape[0]:
        left = StatementMatrix(tuple(zip(*left.rows, strict=True)))
    if left.shape[1] != right.shape[0]:
        raise ExpressionError(
            f"{statement_shape_text(left)} cannot be multiplied by {statement_shape_text(right)}"
        )
    columns = list(zip(*right.rows, strict=True))
    rows = [
        [_dot_product_of_statement_entries(row, column) for column in columns] for row in left.rows
    ]
    found = _require_short_entries(StatementMatrix(tuple(map(tuple, rows))))
    return found.rows[0][0] if found.shape == (1, 1) else found


def _require_short_entries(value: StatementMatrix) -> StatementMatrix:
    """The matrix, unless its entries, written out, are too long."""
    sizes: dict[int, int] = {}

    def size(expression: Expression) -> int:
        key = id(expression)
        if key not in sizes:
            sizes[key] = 1 + sum(map(size, child_expressions(expression)))
        return sizes[key]

    if max(size(entry) for row in value.rows for entry in row) > MAX_ENTRY_NODES:
        raise ExpressionError(
            "a product of matrices is too long to be written out",
            remedy="give the products names of their own",
        )
    return value


def _dot_product_of_statement_entries(
    row: Sequence[Expression], column: Sequence[Expression]
) -> Expression:
    terms = tuple(Product(pair) for pair in zip(row, column, strict=True))
    return terms[0] if len(terms) == 1 else Sum(terms)


def invert_statement_matrix(value: StatementMatrix) -> StatementMatrix:
    """The inverse of a small matrix by cofactors."""
    n, columns = value.shape
    if n != columns or n > MAX_INVERSE_SIZE:
        raise ExpressionError(
            f"the inverse of {statement_shape_text(value)} is not written out",
            remedy="multiply the equation by the matrix",
        )
    rows = [list(row) for row in value.rows]
    whole = Reciprocal(_determinant_of_statement_rows(rows))
    entries = [
        [Product((_cofactor_of_statement_rows(rows, j, i), whole)) for j in range(n)]
        for i in range(n)
    ]
    return _require_short_entries(StatementMatrix(tuple(map(tuple, entries))))


def _determinant_of_statement_rows(rows: list[list[Expression]]) -> Expression:
    if len(rows) == 1:
        return rows[0][0]
    terms = tuple(
        Product((x, _cofactor_of_statement_rows(rows, 0, j))) for j, x in enumerate(rows[0])
    )
    return terms[0] if len(terms) == 1 else Sum(terms)


def _cofactor_of_statement_rows(rows: list[list[Expression]], i: int, j: int) -> Expression:
    if len(rows) == 1:
        return ONE
    minor = [[*row[:j], *row[j + 1 :]] for k, row in enumerate(rows) if k != i]
    found = _determinant_of_statement_rows(minor)
    return negate_expression(found) if (i + j) % 2 else found


# -- equations ------------------------------------------------------------------------------


def equate_statement_entries(
    left: ExpressionOrMatrix, right: ExpressionOrMatrix, symbols: StatementSymbols
) -> Iterator[tuple[Expression, Expression]]:
    """The equation, or one for each entry of its sides."""
    if isinstance(left, StatementMatrix):
        shape = right.shape if isinstance(right, StatementMatrix) and left.is_list else left.shape
    elif isinstance(right, StatementMatrix):
        shape = right.shape
    else:
        named = _shape_of_matrix_names(left, right, symbols)
        if named is None:
            if isinstance(left, Name):
                symbols.scalar_names.add(left.name)
            yield left, right
            return
        shape = named
    sides = [_side_as_matrix(side, shape, symbols) for side in (left, right)]
    for row in zip(*(side.rows for side in sides), strict=True):
        yield from zip(*row, strict=True)


def _shape_of_matrix_names(
    left: Expression, right: Expression, symbols: StatementSymbols
) -> MatrixShape | None:
    """The shape of two sides that consist of names of matrices: dM = 2*C."""
    shapes = [
        {symbols.matrix_shape(name) for name in names_in_expression(side)} for side in (left, right)
    ]
    found = shapes[0] - {None}
    is_zero = right == ZERO and not isinstance(left, Name)
    if len(found) != 1 or not (is_zero or found <= shapes[1]):
        return None
    (shape,) = found
    try:
        for side in (left, right):
            assert shape is not None
            lift_statement_to_matrix(side, shape, symbols)
    except ExpressionError:
        return None
    return shape


def _side_as_matrix(
    side: ExpressionOrMatrix, shape: MatrixShape, symbols: StatementSymbols
) -> StatementMatrix:
    """A side as a matrix; a name alone is that of the whole matrix, whatever else it means."""
    is_rate = isinstance(side, Name) and symbols.is_matrix_rate_name(side.name)
    if isinstance(side, Name) and not (is_rate or symbols.is_vector_entry_name(side.name)):
        symbols.matrix_shapes.setdefault(side.name, shape)
    return lift_statement_to_matrix(side, shape, symbols)


def require_scalar_statement(value: ExpressionOrMatrix, what: str) -> Expression:
    """The value, unless it is a vector."""
    if isinstance(value, StatementMatrix):
        raise ExpressionError(f"{what} has {statement_shape_text(value)} for a number")
    return value
