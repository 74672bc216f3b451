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
    names,
    negate,
    to_text,
)
from ..expressions.tokens import shorten
from ..expressions.tree import children
from .symbols import Symbols

MAX_INVERSE = 4
MAX_ENTRY = 20_000
Shape = tuple[int, int]


@dataclass(frozen=True)
class Matrix:
    """Entries by rows; a list `(a, b)` is a row or a column, as its neighbours need it."""

    rows: tuple[tuple[Expression, ...], ...]
    is_list: bool = False

    @property
    def shape(self) -> Shape:
        return len(self.rows), len(self.rows[0])

    @property
    def transpose(self) -> Matrix:
        if self.is_list:
            return replace(self, is_list=False) if self.shape[1] == 1 else self
        return Matrix(tuple(zip(*self.rows, strict=True)))

    def map(self, function: Callable[[Expression], Expression]) -> Matrix:
        return replace(self, rows=tuple(tuple(map(function, row)) for row in self.rows))


Value = Expression | Matrix


def column(entries: Sequence[Expression], *, is_list: bool = False) -> Matrix:
    return Matrix(tuple((entry,) for entry in entries), is_list)


def shape_text(value: Value) -> str:
    if not isinstance(value, Matrix):
        return f"the number {shorten(to_text(value), 30)}"
    rows, columns = value.shape
    return f"a vector of {max(value.shape)}" if 1 in value.shape else f"a {rows}×{columns} matrix"


# -- sums and products ----------------------------------------------------------------------


def add(terms: Sequence[Value], symbols: Symbols) -> Value:
    """The sum; beside vectors, a bare name such as τ is the vector of τ1, τ2, …"""
    whole = [term for term in terms if isinstance(term, Matrix)]
    if not whole:
        scalars = tuple(term for term in terms if not isinstance(term, Matrix))
        return scalars[0] if len(scalars) == 1 else Sum(scalars)
    shape = next((x.shape for x in whole if not x.is_list), whole[0].shape)
    lifted = [lift(term, shape, symbols) for term in terms]
    if len(lifted) == 1:
        return lifted[0]
    rows = zip(*(x.rows for x in lifted), strict=True)
    return Matrix(
        tuple(tuple(map(Sum, zip(*row, strict=True))) for row in rows),
        all(x.is_list for x in lifted),
    )


def lift(value: Value, shape: Shape, symbols: Symbols) -> Matrix:
    """The value as a matrix of this shape."""
    if isinstance(value, Matrix):
        if value.shape == shape:
            return value
        turned = Matrix(tuple(zip(*value.rows, strict=True)))
        if value.is_list and turned.shape == shape:
            return turned
        wanted = f"{shape[0]} entries" if 1 in shape else f"{shape[0]}×{shape[1]} entries"
        raise ExpressionError(f"{shape_text(value)} stands where {wanted} are needed")
    if value == ZERO:
        return Matrix(((ZERO,) * shape[1],) * shape[0])
    entries = [
        [entry_of(value, i, j, shape, symbols) for j in range(1, shape[1] + 1)]
        for i in range(1, shape[0] + 1)
    ]
    return Matrix(tuple(map(tuple, entries)))


def entry_of(value: Expression, i: int, j: int, shape: Shape, symbols: Symbols) -> Expression:
    """An entry of an expression in which names stand for vectors."""
    match value:
        case Name(name) if shape[0] == shape[1] and name not in symbols.shapes and name[:1] == "d":
            return rate_of_entry(symbols.entry(name[1:], i, j, shape), symbols)
        case Name(name) if shape[0] == shape[1] and symbols.is_diagonal(name):
            return Name(f"{name}{i}") if i == j else ZERO
        case Name(name) if symbols.can_be_vector(name):
            return Name(symbols.entry(name, i, j, shape))
        case Negation(operand):
            return negate(entry_of(operand, i, j, shape, symbols))
        case Sum(terms):
            return Sum(tuple(entry_of(term, i, j, shape, symbols) for term in terms))
        case Product(factors):
            can = [isinstance(x, Name) and symbols.can_be_vector(x.name) for x in factors]
            if can.count(True) == 1:
                at = can.index(True)
                entry = entry_of(factors[at], i, j, shape, symbols)
                return Product((*factors[:at], entry, *factors[at + 1 :]))
    raise ExpressionError(f"{shape_text(value)} stands beside a vector")


def rate_of_entry(name: str, symbols: Symbols) -> Expression:
    """The rate of an entry of a matrix that depends on the coordinates."""
    pairs = zip(symbols.coordinates, symbols.speeds, strict=False)
    return Sum(tuple(Product((Name(f"{name}_{q}"), Name(f"d{v}"))) for q, v in pairs))


def multiply(factors: Sequence[Value], symbols: Symbols) -> Value:
    """The product; before vectors, a bare name such as M is the matrix of M11, M12, …"""
    known = [factor for factor in factors if not isinstance(factor, Matrix)]
    if len(known) == len(factors):
        return known[0] if len(known) == 1 else Product(tuple(known))
    whole: Matrix | None = None
    scalars: list[Expression] = []
    for factor in _with_matrices(factors, symbols):
        if not isinstance(factor, Matrix):
            scalars.append(factor)
            continue
        found = factor if whole is None else _times(whole, factor)
        whole = found if isinstance(found, Matrix) else None
        if not isinstance(found, Matrix):
            scalars.append(found)
    if whole is None:
        return scalars[0] if len(scalars) == 1 else Product(tuple(scalars))
    return whole.map(lambda x: Product((*scalars, x))) if scalars else whole


def _with_matrices(factors: Sequence[Value], symbols: Symbols) -> list[Value]:
    found: list[Value] = []
    last = factors[-1]
    if isinstance(last, Name) and symbols.is_vector_name(last.name):
        before = factors[-2] if len(factors) > 1 else None
        if isinstance(before, Matrix) and 1 not in before.shape:
            factors = [*factors[:-1], lift(last, (before.shape[1], 1), symbols)]
    for factor in reversed(factors):
        beside = found[-1] if found else None
        if not isinstance(factor, Matrix) and isinstance(beside, Matrix):
            shape = _matrix_shape(factor, symbols)
            if shape is not None and shape[1] == beside.shape[0]:
                factor = lift(factor, shape, symbols)
        found.append(factor)
    for factor in found:
        _refuse_matrices(factor, symbols)
    return found[::-1]


def _matrix_shape(value: Expression, symbols: Symbols) -> Shape | None:
    """The shape of what stands before a vector: M, or M - 2 C."""
    match value:
        case Name(name):
            return symbols.matrix_shape(name)
        case Negation(operand):
            return _matrix_shape(operand, symbols)
        case Sum(terms):
            shapes = {_matrix_shape(term, symbols) for term in terms}
            return shapes.pop() if len(shapes) == 1 else None
        case Product(factors):
            shapes = {_matrix_shape(factor, symbols) for factor in factors} - {None}
            return shapes.pop() if len(shapes) == 1 else None
    return None


def _refuse_matrices(value: Value, symbols: Symbols) -> None:
    """Refuses a matrix among numbers that multiply a vector."""
    if isinstance(value, Matrix):
        return
    for name in sorted(names(value)):
        if symbols.matrix_shape(name) is not None:
            raise ExpressionError(
                f"the matrix {name} stands among numbers in {shorten(to_text(value), 30)}"
            )


def _times(left: Matrix, right: Matrix) -> Value:
    if left.is_list and left.shape[1] != right.shape[0]:
        left = Matrix(tuple(zip(*left.rows, strict=True)))
    if left.shape[1] != right.shape[0]:
        raise ExpressionError(f"{shape_text(left)} cannot be multiplied by {shape_text(right)}")
    columns = list(zip(*right.rows, strict=True))
    rows = [[_dot(row, column) for column in columns] for row in left.rows]
    found = _bounded(Matrix(tuple(map(tuple, rows))))
    return found.rows[0][0] if found.shape == (1, 1) else found


def _bounded(value: Matrix) -> Matrix:
    """The matrix, unless its entries, written out, are too long."""
    sizes: dict[int, int] = {}

    def size(expression: Expression) -> int:
        key = id(expression)
        if key not in sizes:
            sizes[key] = 1 + sum(map(size, children(expression)))
        return sizes[key]

    if max(size(entry) for row in value.rows for entry in row) > MAX_ENTRY:
        raise ExpressionError(
            "a product of matrices is too long to be written out",
            remedy="give the products names of their own",
        )
    return value


def _dot(row: Sequence[Expression], column: Sequence[Expression]) -> Expression:
    terms = tuple(Product(pair) for pair in zip(row, column, strict=True))
    return terms[0] if len(terms) == 1 else Sum(terms)


def invert(value: Matrix) -> Matrix:
    """By cofactors; for small matrices."""
    n, columns = value.shape
    if n != columns or n > MAX_INVERSE:
        raise ExpressionError(
            f"the inverse of {shape_text(value)} is not written out",
            remedy="multiply the equation by the matrix",
        )
    rows = [list(row) for row in value.rows]
    whole = Reciprocal(_determinant(rows))
    entries = [[Product((_cofactor(rows, j, i), whole)) for j in range(n)] for i in range(n)]
    return _bounded(Matrix(tuple(map(tuple, entries))))


def _determinant(rows: list[list[Expression]]) -> Expression:
    if len(rows) == 1:
        return rows[0][0]
    terms = tuple(Product((x, _cofactor(rows, 0, j))) for j, x in enumerate(rows[0]))
    return terms[0] if len(terms) == 1 else Sum(terms)


def _cofactor(rows: list[list[Expression]], i: int, j: int) -> Expression:
    if len(rows) == 1:
        return ONE
    minor = [[*row[:j], *row[j + 1 :]] for k, row in enumerate(rows) if k != i]
    found = _determinant(minor)
    return negate(found) if (i + j) % 2 else found


# -- equations ------------------------------------------------------------------------------


def equate(left: Value, right: Value, symbols: Symbols) -> Iterator[tuple[Expression, Expression]]:
    """The equation, or one for each entry of its sides."""
    if isinstance(left, Matrix):
        shape = right.shape if isinstance(right, Matrix) and left.is_list else left.shape
    elif isinstance(right, Matrix):
        shape = right.shape
    else:
        if isinstance(left, Name):
            symbols.scalars.add(left.name)
        yield left, right
        return
    sides = [_whole(side, shape, symbols) for side in (left, right)]
    for row in zip(*(side.rows for side in sides), strict=True):
        yield from zip(*row, strict=True)


def _whole(side: Value, shape: Shape, symbols: Symbols) -> Matrix:
    """A side as a matrix; a name alone is that of the whole matrix, whatever else it means."""
    if isinstance(side, Name) and not symbols.is_entry(side.name):
        symbols.shapes.setdefault(side.name, shape)
    return lift(side, shape, symbols)


def scalar(value: Value, what: str) -> Expression:
    """The value, unless it is a vector."""
    if isinstance(value, Matrix):
        raise ExpressionError(f"{what} has {shape_text(value)} for a number")
    return value
