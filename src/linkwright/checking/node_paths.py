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
    negate_expression,
)
from ..expressions.tree import child_expressions

NodePath = tuple[int, ...]


def replace_statement_node(root: Expression, path: Sequence[int], new: Expression) -> Expression:
    """The tree with another one in a place."""
    if not path:
        return new
    parts = list(child_expressions(root))
    parts[path[0]] = replace_statement_node(parts[path[0]], path[1:], new)
    match root:
        case Negation():
            return negate_expression(parts[0])
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


def statement_node_at_path(root: Expression, path: Sequence[int]) -> Expression:
    """The part of an expression at a path."""
    for i in path:
        root = child_expressions(root)[i]
    return root


def count_statement_nodes(node: Expression) -> int:
    """The number of its nodes."""
    return 1 + sum(count_statement_nodes(child) for child in child_expressions(node))
