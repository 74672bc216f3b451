"""What each part of an equation must be, so that the whole is right at one point.

Goals are worked out from the root down. Sums, products and quotients are inverted, so that a goal
is a key that candidates are looked up by; inside powers and functions it is a test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from ..algebra.exact.algebra import ExpressionAlgebra, add_all, evaluate_node, multiply_all
from ..algebra.exact.modular import UnluckyError
from ..algebra.exact.prime_field import FinerError
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
from ..expressions.tree import children
from ..tape import Op
from .places import Place
from .values import (
    AnyAlgebra,
    AnyValue,
    DualAlgebra,
    Key,
    Lookup,
    has_no_value,
    is_met,
    key_of,
    negative,
    quotient_of_keys,
    shifted,
)


@dataclass(frozen=True)
class Goal:
    """The value that a part must have: a key, or one that passes a test."""

    key: Key | None
    test: Callable[[AnyValue], bool] | None = None

    def is_met_by(self, value: AnyValue | None) -> bool:
        if value is None:
            return False
        if self.test is not None:
            return self.test(value)
        return self.key is not None and is_met(self.key, key_of(value))


class Valuation:
    """The values of an equation's nodes at one point, and the goals of its parts."""

    def __init__(self, algebra: AnyAlgebra, lookup: Lookup) -> None:
        self.algebra = cast(ExpressionAlgebra[AnyValue], algebra)
        self.lookup = lookup
        self.field = algebra.field if isinstance(algebra, DualAlgebra) else algebra
        self.finest = dict(self.field.finest)
        self._values: dict[int, AnyValue] = {}
        self._kept: list[Expression] = []
        self.one = algebra.constant(Fraction(1))

    def value_if_any(self, expression: Expression) -> AnyValue | None:
        return self.guard(lambda: self.fresh_value(expression))

    def guard(self, reckon: Callable[[], AnyValue]) -> AnyValue | None:
        """A value, or None where there is none; angles stay cut into the parts they were."""
        try:
            found = reckon()
            return None if has_no_value(found) else found
        except FinerError:
            self.field.finest = dict(self.finest)
        except (UnluckyError, LinkwrightError):
            pass
        return None

    def fresh_value(self, node: Expression) -> AnyValue:
        return self.combine(node, [self.fresh_value(child) for child in children(node)])

    def value(self, node: Expression) -> AnyValue:
        """The value of a node of the equation, remembered."""
        if id(node) not in self._values:
            self._kept.append(node)  # so that no other node gets its id
            self._values[id(node)] = self.combine(node, [self.value(x) for x in children(node)])
        return self._values[id(node)]

    def key(self, node: Expression) -> tuple[int, ...]:
        found = self.value(node)
        if has_no_value(found):
            raise UnluckyError("no value")
        return key_of(found)

    def combine(self, node: Expression, parts: Sequence[AnyValue]) -> AnyValue:
        if isinstance(node, Name) and node.name != PI:
            found = self.lookup(node.name)
            if found is None:
                raise UnluckyError(node.name)
            return found
        return evaluate_node(node, self.algebra, parts)

    def apply(self, op: Op, operands: Sequence[AnyValue]) -> AnyValue:
        return self.algebra.apply(op, operands)

    def sum(self, terms: Sequence[AnyValue]) -> AnyValue:
        return add_all(self.algebra, terms)

    def product(self, factors: Sequence[AnyValue]) -> AnyValue:
        return multiply_all(self.algebra, [self.one, *factors])

    def goal_of(self, node: Expression, i: int, goal: Goal, is_angle: bool) -> Goal | None:
        """What the i-th part must be, the others staying as they are; None if nothing will do."""
        parts = children(node)
        if goal.key is not None and not is_angle:
            match node:
                case Sum():
                    return Goal(shifted(goal.key, self.key(node), self.key(parts[i])))
                case Negation():
                    return Goal(negative(goal.key))
                case Product():
                    return _goal(quotient_of_keys(goal.key, self.key_without(parts, i)))
                case Reciprocal() if None not in goal.key:
                    whole = tuple(x or 0 for x in goal.key)
                    return _goal(quotient_of_keys(key_of(self.one), whole))
        changed = [self.value(part) for part in parts]

        def test(value: AnyValue) -> bool:
            changed[i] = value
            return goal.is_met_by(self.guard(lambda: self.combine(node, changed)))

        return Goal(None, test)

    def key_without(self, parts: Sequence[Expression], *left_out: int) -> tuple[int, ...]:
        """The product of all parts but some."""
        kept = [self.value(x) for k, x in enumerate(parts) if k not in left_out]
        return key_of(self.product(kept))

    def goals(
        self, root: Expression, goal: Goal, *, is_angle: bool = False, path: Place = ()
    ) -> Iterator[tuple[Place, Expression, Goal, bool]]:
        """Every node with its place and its goal, and whether it stands inside an angle."""
        yield path, root, goal, is_angle
        parts = children(root)[: 1 if isinstance(root, Power) else None]
        inner = is_angle or isinstance(root, Call)
        for i, part in enumerate(parts):
            own = self.goal_of(root, i, goal, inner)
            if own is not None:
                yield from self.goals(part, own, is_angle=inner, path=(*path, i))


def _goal(key: Key | None) -> Goal | None:
    return None if key is None else Goal(key)
