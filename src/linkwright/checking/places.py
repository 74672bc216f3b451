"""Places in a tree: numbers of children from the root."""

from __future__ import annotations

from collections.abc import Sequence

from ..expressions import (
    Call,
    Expression,
    Negation,
    Power,
    Product,
    Reciprocal,
    Sum,
    negate,
)
from ..expressions.tree import children

Place = tuple[int, ...]


def put(root: Expression, path: Sequence[int], new: Expression) -> Expression:
    """The tree with another one in a place."""
    if not path:
        return new
    parts = list(children(root))
    parts[path[0]] = put(parts[path[0]], path[1:], new)
    match root:
        case Negation():
            return negate(parts[0])
        case Reciprocal():
            return Reciprocal(parts[0])
        case Sum():
            return Sum(tuple(parts))
        case Product():
            return Product(tuple(parts))
        case Power():
            return Power(parts[0], parts[1])
        case Call(function, _):
            return Call(function, tuple(parts))
        case _:
            return root


def node_at(root: Expression, path: Sequence[int]) -> Expression:
    for i in path:
        root = children(root)[i]
    return root


def size(node: Expression) -> int:
    """The number of its nodes."""
    return 1 + sum(size(child) for child in children(node))
