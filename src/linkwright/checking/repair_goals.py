"""The value that each part of an equation must have for the whole to be right at one point.

Goals are worked out from the root down. Sums, products and quotients are inverted, so that a goal
is a key that candidates are looked up by; inside powers and functions it is a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from ..algebra.exact.modular_arithmetic import BadPointError
from ..algebra.exact.prime_field import AngleSubdivisionError
from ..algebra.exact.tape_algebra import (
    OperationAlgebraWithPi,
    add_algebra_values,
    evaluate_node_in_algebra,
    multiply_algebra_values,
)
from ..errors import LinkwrightError
from ..expressions import (
    PI,
    Call,
    Expression,
    Name,
    Negation,
    Power,
    Product,
    Reciprocal,
    Sum,
)
from ..expressions.tree import child_expressions
from ..tape import Op
from .node_paths import NodePath
from .residue_keys import (
    DualStatementAlgebra,
    ResidueKey,
    StatementAlgebra,
    StatementValue,
    ValueLookup,
    divide_repair_keys,
    is_repair_key_met,
    is_undefined_statement_value,
    negate_repair_key,
    shift_repair_key,
    statement_value_key,
)


@dataclass(frozen=True)
class RepairGoal:
    """The value that a part must have: a key, or one that passes a test."""

    key: ResidueKey | None
    test: Callable[[StatementValue], bool] | None = None

    def is_met_by(self, value: StatementValue | None) -> bool:
        """Whether a value is the one that makes the equation right."""
        if value is None:
            return False
        if self.test is not None:
            return self.test(value)
        return self.key is not None and is_repair_key_met(self.key, statement_value_key(value))


class StatementNodeValuation:
    """The values of an equation's nodes at one point, and the goals of its parts."""

    def __init__(self, algebra: StatementAlgebra, lookup: ValueLookup) -> None:
        self.algebra = cast(OperationAlgebraWithPi[StatementValue], algebra)
        self.lookup = lookup
        self.field = algebra.field if isinstance(algebra, DualStatementAlgebra) else algebra
        self.angle_subdivision = dict(self.field.angle_parts)
        self._node_values: dict[int, StatementValue] = {}
        self._valued_nodes: list[Expression] = []
        self.unit_value = algebra.constant(Fraction(1))

    def value_or_none(self, expression: Expression) -> StatementValue | None:
        """The value of an expression; None where it has none at this point."""
        return self.guarded_value(lambda: self.evaluate_afresh(expression))

    def guarded_value(self, reckon: Callable[[], StatementValue]) -> StatementValue | None:
        """A value, or None where there is none; angles stay cut into the parts they were."""
        try:
            found = reckon()
            return None if is_undefined_statement_value(found) else found
        except AngleSubdivisionError:
            self.field.angle_parts = dict(self.angle_subdivision)
        except (BadPointError, LinkwrightError):
            pass
        return None

    def evaluate_afresh(self, node: Expression) -> StatementValue:
        """The value of an expression, without values of its parts that are already known."""
        return self.combine_parts(
            node, [self.evaluate_afresh(child) for child in child_expressions(node)]
        )

    def node_value(self, node: Expression) -> StatementValue:
        """The value of a node of the equation, remembered."""
        if id(node) not in self._node_values:
            self._valued_nodes.append(node)  # so that no other node gets its id
            self._node_values[id(node)] = self.combine_parts(
                node, [self.node_value(x) for x in child_expressions(node)]
            )
        return self._node_values[id(node)]

    def node_key(self, node: Expression) -> tuple[int, ...]:
        """The residues of a node of the equation."""
        found = self.node_value(node)
        if is_undefined_statement_value(found):
            raise BadPointError("no value")
        return statement_value_key(found)

    def combine_parts(self, node: Expression, parts: Sequence[StatementValue]) -> StatementValue:
        """The value of a node from the values of its parts."""
        if isinstance(node, Name) and node.name != PI:
            found = self.lookup(node.name)
            if found is None:
                raise BadPointError(node.name)
            return found
        return evaluate_node_in_algebra(node, self.algebra, parts)

    def apply_to_statement_values(
        self, op: Op, operands: Sequence[StatementValue]
    ) -> StatementValue:
        """The result of an operation on values of the equation."""
        return self.algebra.apply(op, operands)

    def sum_statement_values(self, terms: Sequence[StatementValue]) -> StatementValue:
        """The sum of values of the equation."""
        return add_algebra_values(self.algebra, terms)

    def multiply_statement_values(self, factors: Sequence[StatementValue]) -> StatementValue:
        """The product of values of the equation."""
        return multiply_algebra_values(self.algebra, [self.unit_value, *factors])

    def part_goal(
        self, node: Expression, i: int, goal: RepairGoal, is_angle: bool
    ) -> RepairGoal | None:
        """The value that the i-th part must have, the others unchanged; None if no value will
        do."""
        parts = child_expressions(node)
        if goal.key is not None and not is_angle:
            match node:
                case Sum():
                    return RepairGoal(
                        shift_repair_key(goal.key, self.node_key(node), self.node_key(parts[i]))
                    )
                case Negation():
                    return RepairGoal(negate_repair_key(goal.key))
                case Product():
                    return _repair_goal_of_key(
                        divide_repair_keys(goal.key, self.key_without_parts(parts, i))
                    )
                case Reciprocal() if None not in goal.key:
                    whole = tuple(x or 0 for x in goal.key)
                    return _repair_goal_of_key(
                        divide_repair_keys(statement_value_key(self.unit_value), whole)
                    )
        changed = [self.node_value(part) for part in parts]

        def test(value: StatementValue) -> bool:
            changed[i] = value
            return goal.is_met_by(self.guarded_value(lambda: self.combine_parts(node, changed)))

        return RepairGoal(None, test)

    def key_without_parts(self, parts: Sequence[Expression], *left_out: int) -> tuple[int, ...]:
        """The product of all parts but some."""
        kept = [self.node_value(x) for k, x in enumerate(parts) if k not in left_out]
        return statement_value_key(self.multiply_statement_values(kept))

    def node_goals(
        self, root: Expression, goal: RepairGoal, *, is_angle: bool = False, path: NodePath = ()
    ) -> Iterator[tuple[NodePath, Expression, RepairGoal, bool]]:
        """Every node with its place and its goal, and whether it stands inside an angle."""
        yield path, root, goal, is_angle
        parts = child_expressions(root)[: 1 if isinstance(root, Power) else None]
        inner = is_angle or isinstance(root, Call)
        for i, part in enumerate(parts):
            own = self.part_goal(root, i, goal, inner)
            if own is not None:
                yield from self.node_goals(part, own, is_angle=inner, path=(*path, i))


def _repair_goal_of_key(key: ResidueKey | None) -> RepairGoal | None:
    return None if key is None else RepairGoal(key)
