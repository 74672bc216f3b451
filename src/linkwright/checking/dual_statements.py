"""Dual numbers and vectors, a + eps b with eps² = 0: an equation of them is several of numbers.

`DUAL_COMPONENTS` and `DUAL_VECTORS` in `symbol_table` list the names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import reduce

from ..errors import ExpressionError
from ..expressions import (
    ONE,
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    names_in_expression,
    negate_expression,
)
from ..expressions.tokens import shorten_expression_text
from ..expressions.tree import child_expressions
from .frame_names import FrameNames
from .node_paths import NodePath, replace_statement_node
from .statement_reader import Statement
from .symbol_table import DUAL_COMPONENTS, DUAL_UNIT_NAME, DUAL_VECTORS

MAX_DUAL_NODES = 20_000
"""The most nodes of definitions written out in one side of an equation."""
DualParts = tuple[Expression, Expression]
MeaningLookup = Callable[[str], Expression | str | None]


def split_dual_statement(
    line: Statement, find: MeaningLookup, owners: FrameNames
) -> list[Statement]:
    """The parts of an equation of dual numbers or vectors; the equation itself if it has none."""
    known = _names_behind_sides((line.left, line.right), find)
    if not any(is_dual_symbol_name(name, owners) for name in known):
        return [line]
    pairs = split_dual_sides((line.left, line.right), find, owners)
    return [replace(line, left=left, right=right) for left, right in pairs]


def split_dual_sides(
    pair: tuple[Expression, Expression], find: MeaningLookup, owners: FrameNames
) -> list[tuple[Expression, Expression]]:
    """The sides' real and dual parts, along each axis where there are vectors."""
    used = _names_behind_sides(pair, find)
    axes = "xyz" if any(is_dual_vector_symbol(name, owners) for name in used) else ("",)
    parts = []
    for axis in axes:
        left, right = (_DualStatementSplitter(find, owners, axis)(side) for side in pair)
        parts += [(left[k], right[k]) for k in (0, 1)]
    return parts


def _names_behind_sides(pair: tuple[Expression, Expression], find: MeaningLookup) -> set[str]:
    """All names that an equation leads to, as ours where they are aliases."""
    return {name for side in pair for name in names_behind_expression(side, find)}


def names_behind_expression(expression: Expression, find: MeaningLookup) -> Iterator[str]:
    """The names in an expression and in the definitions that it uses, each once."""
    front, seen = list(names_in_expression(expression)), set[str]()
    while front:
        name = front.pop()
        if name in seen:
            continue
        seen.add(name)
        meaning = find(name)
        if isinstance(meaning, Name) or meaning is None or isinstance(meaning, str):
            yield meaning.name.lstrip("=") if isinstance(meaning, Name) else name
        else:
            yield name
            front += names_in_expression(meaning)


def is_dual_vector_symbol(name: str, owners: FrameNames) -> bool:
    """Whether a name is a dual vector of one of the bodies and frames, and not the mechanism's."""
    if name in owners.mechanism_names:
        return False
    matches = (row.matched_texts(name) for row in DUAL_VECTORS)
    return any(texts[-1] in owners for texts in matches if texts is not None)


def is_dual_component_symbol(name: str, owners: FrameNames) -> bool:
    """Whether it is one component of a dual vector: of a body by its number, or of a frame."""
    if name in owners.mechanism_names:
        return False
    matches = (row.matched_texts(name) for row in DUAL_COMPONENTS)
    return any(texts[0] in owners or texts[0].isdigit() for texts in matches if texts is not None)


def is_dual_symbol_name(name: str, owners: FrameNames) -> bool:
    """Whether a name is the dual unit, a dual vector, or a component of one."""
    return (
        name == DUAL_UNIT_NAME
        or is_dual_component_symbol(name, owners)
        or is_dual_vector_symbol(name, owners)
    )


class _DualStatementSplitter:
    """Splits expressions into real and dual part, for one axis of vectors."""

    def __init__(self, find: MeaningLookup, owners: FrameNames, axis: str) -> None:
        self.find_meaning, self.frame_names, self.axis = find, owners, axis
        self.known_parts: dict[str, tuple[DualParts, int]] = {}
        self.expanded_nodes = 0  # nodes that definitions have brought so far

    def __call__(self, node: Expression) -> DualParts:
        match node:
            case Number():
                return node, ZERO
            case Name(name):
                return self.parts_of_name(name)
            case Negation(operand):
                real, dual = self(operand)
                return negate_expression(real), negate_expression(dual)
            case Sum(terms):
                parts = [self(term) for term in terms]
                return _sum_dual_statement_terms([p[0] for p in parts]), _sum_dual_statement_terms(
                    [p[1] for p in parts]
                )
            case Product(factors):
                self.refuse_vector_products(factors)
                return reduce(_multiply_dual_statement_parts, (self(factor) for factor in factors))
            case Reciprocal(operand):
                real, dual = self(operand)
                square = Product((Reciprocal(real), Reciprocal(real)))
                return Reciprocal(real), negate_expression(
                    _multiply_dual_statement_terms(dual, square)
                )
            case Power(base, Number(n)) if n.denominator == 1 and 0 < n <= 16:
                self.refuse_vector_products([base] * int(n))
                return reduce(_multiply_dual_statement_parts, [self(base)] * int(n))
            case Call("sin" | "cos" as function, (angle,)):
                real, dual = self(angle)
                slope = (
                    Call("cos", (real,))
                    if function == "sin"
                    else negate_expression(Call("sin", (real,)))
                )
                return Call(function, (real,)), _multiply_dual_statement_terms(dual, slope)
            case _ if not self.has_dual_symbol(node):
                return node, ZERO
            case _:
                raise ExpressionError(
                    f"'{shorten_expression_text(expression_text(node))}' has no dual part",
                    remedy="write it without eps",
                )

    def refuse_vector_products(self, factors: Sequence[Expression]) -> None:
        """Raise an error for a product of two vectors, which multiplying components would not
        give."""
        vectors = [x for x in factors if self.has_dual_vector(x)] if self.axis else []
        if len(vectors) > 1:
            text = expression_text(Product(tuple(vectors)))
            raise ExpressionError(
                f"'{shorten_expression_text(text)}' is a product of vectors",
                remedy="write its components",
            )

    def has_dual_vector(self, node: Expression) -> bool:
        """Whether an expression leads to a dual vector, also through definitions."""
        return any(
            is_dual_vector_symbol(x, self.frame_names)
            for x in names_behind_expression(node, self.find_meaning)
        )

    def has_dual_symbol(self, node: Expression) -> bool:
        """Whether an expression leads to the dual unit or a dual symbol."""
        return any(
            is_dual_symbol_name(x, self.frame_names)
            for x in names_behind_expression(node, self.find_meaning)
        )

    def parts_of_name(self, name: str) -> DualParts:
        """The real and dual part of a name; an error if its definitions become too long."""
        if name not in self.known_parts:
            start = self.expanded_nodes
            parts = self._split_name(name)
            self.known_parts[name] = parts, max(1, self.expanded_nodes - start)
        parts, length = self.known_parts[name]
        self.expanded_nodes += length
        if self.expanded_nodes > MAX_DUAL_NODES:
            raise ExpressionError(
                f"the definitions that '{name}' uses become too long when they are written out",
                remedy="use fewer definitions with eps inside one another",
            )
        return parts

    def _split_name(self, name: str) -> DualParts:
        if name == DUAL_UNIT_NAME:
            return ZERO, ONE
        own = self.find_meaning(name)
        if isinstance(own, Name):
            name = own.name.lstrip("=")
        elif own is not None and not isinstance(own, str):
            inner = names_behind_expression(own, self.find_meaning)
            is_plain = not any(is_dual_symbol_name(x, self.frame_names) for x in inner)
            return (Name(name), ZERO) if is_plain else self(own)
        if is_dual_vector_symbol(name, self.frame_names):
            return Name(f"{name}@{self.axis}r"), Name(f"{name}@{self.axis}d")
        if is_dual_component_symbol(name, self.frame_names):
            return Name(f"{name}@r"), Name(f"{name}@d")
        return Name(name), ZERO


def remove_nested_dual_units(root: Expression) -> Iterator[tuple[str, Expression]]:
    """The tree without any eps inside of a term that has one: eps² = 0."""
    for place, term in _dual_unit_products(root):
        inner = tuple(
            x if x == Name(DUAL_UNIT_NAME) else _remove_all_dual_units(x) for x in term.factors
        )
        yield (
            "the factors eps inside of another are left out",
            replace_statement_node(root, place, Product(inner)),
        )


def _dual_unit_products(
    node: Expression, place: NodePath = ()
) -> Iterator[tuple[NodePath, Product]]:
    """Products with a factor eps, the outer ones first."""
    if isinstance(node, Product) and Name(DUAL_UNIT_NAME) in node.factors:
        yield place, node
    for i, child in enumerate(child_expressions(node)):
        yield from _dual_unit_products(child, (*place, i))


def _remove_dual_unit(term: Product) -> Expression:
    kept = tuple(factor for factor in term.factors if factor != Name(DUAL_UNIT_NAME))
    return Product(kept) if len(kept) > 1 else kept[0] if kept else ONE


def _remove_all_dual_units(node: Expression) -> Expression:
    """Remove every eps."""
    while found := list(_dual_unit_products(node)):
        place, term = found[-1]
        node = replace_statement_node(node, place, _remove_dual_unit(term))
    return node


def _sum_dual_statement_terms(terms: list[Expression]) -> Expression:
    kept = [term for term in terms if term != ZERO]
    return Sum(tuple(kept)) if len(kept) > 1 else kept[0] if kept else ZERO


def _multiply_dual_statement_terms(a: Expression, b: Expression) -> Expression:
    if ZERO in (a, b):
        return ZERO
    return b if a == ONE else a if b == ONE else Product((a, b))


def _multiply_dual_statement_parts(a: DualParts, b: DualParts) -> DualParts:
    return _multiply_dual_statement_terms(a[0], b[0]), _sum_dual_statement_terms(
        [_multiply_dual_statement_terms(a[0], b[1]), _multiply_dual_statement_terms(a[1], b[0])]
    )
