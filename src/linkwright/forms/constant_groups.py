"""Names for sums and products of constants that a form repeats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..expressions import (
    Expression,
    Name,
    Number,
    Product,
    Reciprocal,
    Sum,
    expression_text,
)
from ..expressions.tree import child_expressions, rebuild_expression

_NAME_CHARACTERS = 3
"""The characters of a group's name, about."""
_DEFINITION_CHARACTERS = 8
"""What the definition of a group costs in addition to its value."""


@dataclass
class ConstantGroups:
    """The sums and products of `constants` in some expressions; those that are worth a name are
    `chosen`, and `saved_characters` says how much shorter the expressions become. Parts that
    expressions share, as objects, are treated once."""

    expressions: Sequence[Expression]
    constants: frozenset[str]
    chosen: dict[Expression, Name] = field(default_factory=dict)
    saved_characters: int = 0
    constant_by_id: dict[int, bool] = field(default_factory=dict)
    candidates_by_id: dict[int, tuple[Expression, ...]] = field(default_factory=dict)
    replaced_by_id: dict[int, Expression] = field(default_factory=dict)

    def choose_groups(self, unused_name: Callable[[], str]) -> None:
        """Give names to the parts that occur so often that a name shortens the expressions."""
        counts: Counter[Expression] = Counter()
        for expression in self.expressions:
            counts.update(self.group_candidates(expression))
        for part, count in counts.items():
            length = len(expression_text(part))
            saved = (count - 1) * (length - _NAME_CHARACTERS) - length - _DEFINITION_CHARACTERS
            if count > 1 and saved > 0:
                self.chosen[part] = Name(unused_name())
                self.saved_characters += saved

    def is_constant(self, expression: Expression) -> bool:
        """Whether the expression contains constants only."""
        if isinstance(expression, Name):
            return expression.name in self.constants
        key = id(expression)
        if key not in self.constant_by_id:
            inside = child_expressions(expression)
            self.constant_by_id[key] = all(self.is_constant(child) for child in inside)
        return self.constant_by_id[key]

    def constant_factor(self, expression: Expression) -> Expression | None:
        """The constant factors of a product, or a constant sum; None if there are none."""
        if isinstance(expression, Product):
            kept = [
                f
                for f in expression.factors
                if not isinstance(f, Number | Reciprocal) and self.is_constant(f)
            ]
            if len(kept) < 2:
                return kept[0] if kept and isinstance(kept[0], Sum) else None
            return Product(tuple(kept))
        return expression if isinstance(expression, Sum) and self.is_constant(expression) else None

    def group_candidates(self, expression: Expression) -> tuple[Expression, ...]:
        """The constant part of every product, and all sums of constants."""
        if isinstance(expression, Name | Number):
            return ()
        key = id(expression)
        if key not in self.candidates_by_id:
            part = self.constant_factor(expression)
            found = [] if part is None else [part]
            if part is None or isinstance(expression, Product):
                for child in child_expressions(expression):
                    if part is None or not self.is_constant(child):
                        found += self.group_candidates(child)
            self.candidates_by_id[key] = tuple(found)
        return self.candidates_by_id[key]

    def replace_groups(self, expression: Expression) -> Expression:
        """The expression with the chosen parts replaced by their names."""
        if isinstance(expression, Name | Number):
            return expression
        key = id(expression)
        if key not in self.replaced_by_id:
            self.replaced_by_id[key] = self.replace_inside(expression)
        return self.replaced_by_id[key]

    def replace_inside(self, expression: Expression) -> Expression:
        """A sum, product or function with the chosen parts replaced by their names."""
        part = self.constant_factor(expression)
        if part is None or part not in self.chosen:
            return rebuild_expression(expression, self.replace_groups)
        name = self.chosen[part]
        if part == expression or not isinstance(expression, Product):
            return name
        inside = part.factors if isinstance(part, Product) else (part,)
        rest = [f for f in expression.factors if f not in inside]
        number = [f for f in rest if isinstance(f, Number)]
        others = [self.replace_groups(f) for f in rest if not isinstance(f, Number)]
        factors = (*number, name, *others)
        return factors[0] if len(factors) == 1 else Product(factors)
