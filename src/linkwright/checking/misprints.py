"""Single misprints: trees that differ from a given one by a slip, and have a given value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, combinations_with_replacement

from ..algebra.exact.modular_arithmetic import rational_from_residue
from ..algebra.exact.residues import FIELD_PRIME
from ..expressions import (
    ONE,
    Call,
    Expression,
    Name,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    expression_text,
    negate_expression,
)
from ..expressions.tokens import shorten_expression_text
from ..expressions.tree import child_expressions
from ..tape import Op
from .misprint_candidates import (
    MisprintCandidate,
    coefficient_candidate,
    multiply_repaired_term,
    name_misprint_kind,
    repaired_coefficient_text,
    stem_of_text_name,
    unsigned_statement_term,
)
from .repair_goals import RepairGoal, StatementNodeValuation
from .residue_keys import (
    ResidueKey,
    StatementAlgebra,
    StatementValue,
    ValueLookup,
    divide_repair_keys,
    is_repair_key_met,
    multiply_repair_keys,
    scalar_of_repair_key,
    statement_value_key,
)

NUMBER_TWO = Number(Fraction(2))
MAX_REPAIR_COEFFICIENT = 64
MAX_PAIRED_SYMBOLS = 80
MAX_REPAIR_EXPONENT = 6


class MisprintSearch(StatementNodeValuation):
    """The search for single misprints whose correction gives an equation the value it must have."""

    def __init__(
        self, algebra: StatementAlgebra, lookup: ValueLookup, pool: Sequence[Expression]
    ) -> None:
        super().__init__(algebra, lookup)
        self.symbols_tried = pool
        self._symbol_tables: dict[int, dict[int, list[tuple[Expression, ResidueKey]]]] = {}
        self._pair_tables: dict[int, dict[int, list[tuple[Expression, ResidueKey]]]] = {}

    @cached_property
    def symbol_pool(self) -> list[tuple[Expression, StatementValue, tuple[int, ...]]]:
        """The symbols that a correction may bring, with their values; zero repairs everything.
        Many points have no value of the equation, and are left before this is asked for."""
        found = [(x, self.value_or_none(x)) for x in self.symbols_tried]
        known = [(x, v, statement_value_key(v)) for x, v in found if v is not None]
        return [(x, v, k) for x, v, k in known if any(k)]

    def find_misprints(self, root: Expression, goal: RepairGoal) -> Iterator[MisprintCandidate]:
        """All slips after whose correction the tree meets the goal; the whole is a term."""
        for one in self.misprints_of_term(root, goal, is_angle=False):
            yield replace(one, is_whole=isinstance(root, Sum))
        for path, node, own, is_angle in self.node_goals(root, goal):
            for one in self.misprints_of_node(node, own, is_angle):
                yield replace(one, path=(*path, *one.path))

    # -- slips of a node ----------------------------------------------------------------------

    def misprints_of_node(
        self, node: Expression, goal: RepairGoal, is_angle: bool
    ) -> Iterator[MisprintCandidate]:
        """Misprints at one node whose correction gives the node the value of the goal."""
        match node:
            case Sum(terms):
                for i, term in enumerate(terms):
                    own = self.part_goal(node, i, goal, is_angle)
                    if own is not None:
                        for one in self.misprints_of_term(term, own, is_angle):
                            yield replace(one, path=(i,))
                    yield from self.extra_term_candidates(node, i, goal)
                    yield from self.flipped_sign_candidates(node, i, goal)
            case Product(factors):
                for i in range(len(factors)):
                    yield from self.extra_factor_candidates(node, (i,), goal)
                    yield from self.inverted_factor_candidates(node, i, goal)
                for pair in combinations(range(len(factors)), 2):
                    yield from self.extra_factor_candidates(node, pair, goal)
            case Power(base, Number(n)):
                yield from self.other_exponent_candidates(node, base, n, goal)
            case Call("sin" | "cos" | "tan" as function, (angle,)):
                for other in ("sin", "cos", "tan"):
                    if other != function:
                        new = Call(other, (angle,))
                        yield from self.candidate_if_met(
                            "function", f"{expression_text(node)} is {other}", new, goal
                        )
            case Name(name) if name != "pi":
                yield from self.other_name_candidates(name, goal, is_angle)
            case Number(value):
                yield from self.other_number_candidates(value, goal)
        if isinstance(node, Name | Call | Sum) and not is_angle:
            yield from self.missing_power_candidates(node, goal)

    def candidate_if_met(
        self, kind: str, what: str, new: Expression, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The candidate that replaces a node, if the new value meets the goal."""
        parts = child_expressions(new)
        if goal.is_met_by(
            self.guarded_value(lambda: self.combine_parts(new, [self.node_value(x) for x in parts]))
        ):
            yield MisprintCandidate(kind, what, (), new)

    def misprints_of_term(
        self, term: Expression, goal: RepairGoal, is_angle: bool
    ) -> Iterator[MisprintCandidate]:
        """A sign, a coefficient, a lost factor."""
        text = shorten_expression_text(expression_text(unsigned_statement_term(term)))
        if goal.key is None or is_angle:
            yield from self.multiples_meeting_goal(term, goal, text)
            return
        quotient = divide_repair_keys(goal.key, self.node_key(term))
        if quotient is None:
            return
        number = scalar_of_repair_key(quotient)
        ratio = (
            None
            if number is None
            else rational_from_residue(number, MAX_REPAIR_COEFFICIENT, FIELD_PRIME)
        )
        if ratio == -1:
            yield MisprintCandidate(
                "sign", f"the sign of the term {text} is changed", (), negate_expression(term)
            )
        elif ratio is not None and ratio not in (0, 1):
            yield coefficient_candidate(term, ratio, text)
        for symbol in self.symbols_with_key(quotient):
            what = f"the factor {expression_text(symbol)} is added to the term {text}"
            yield MisprintCandidate(
                "missing factor", what, (), multiply_repaired_term(term, symbol)
            )
        for pair in self.symbol_pairs_with_key(quotient):
            what = f"the factor {expression_text(pair)} is added to the term {text}"
            kind = "missing factor" if isinstance(pair, Power) else "missing factors"
            yield MisprintCandidate(kind, what, (), multiply_repaired_term(term, pair))

    def multiples_meeting_goal(
        self, term: Expression, goal: RepairGoal, text: str
    ) -> Iterator[MisprintCandidate]:
        """A sign or a factor 2 inside an angle or a power."""
        own = self.node_value(term)
        if goal.is_met_by(self.apply_to_statement_values(Op.NEG, [own])):
            yield MisprintCandidate(
                "sign", f"the sign of the term {text} is changed", (), negate_expression(term)
            )
        for ratio in (Fraction(2), Fraction(1, 2)):
            factor = self.algebra.constant(ratio)
            values = [factor, own]
            multiply = partial(self.multiply_statement_values, values)
            if goal.is_met_by(self.guarded_value(multiply)):
                yield coefficient_candidate(term, ratio, text)

    def extra_term_candidates(
        self, node: Sum, i: int, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The sum without its i-th term, if that meets the goal."""
        rest = (*node.terms[:i], *node.terms[i + 1 :])
        if rest:
            new = rest[0] if len(rest) == 1 else Sum(rest)
            text = shorten_expression_text(expression_text(unsigned_statement_term(node.terms[i])))
            what = f"the term {text} is left out"
            if goal.is_met_by(
                self.guarded_value(
                    lambda: self.sum_statement_values([self.node_value(x) for x in rest])
                )
            ):
                yield MisprintCandidate("extra term", what, (), new)

    def flipped_sign_candidates(
        self, node: Sum, i: int, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """All signs but one."""
        if len(node.terms) < 3:
            return
        kept = self.node_value(node.terms[i])
        value = self.apply_to_statement_values(
            Op.SUB, [self.sum_statement_values([kept, kept]), self.node_value(node)]
        )
        if goal.is_met_by(value):
            new = Sum(
                tuple(t if k == i else negate_expression(t) for k, t in enumerate(node.terms))
            )
            text = shorten_expression_text(expression_text(unsigned_statement_term(node.terms[i])))
            yield MisprintCandidate(
                "sign", f"the signs of all terms but {text} are changed", (), new
            )

    def extra_factor_candidates(
        self, node: Product, which: tuple[int, ...], goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The product without the given factors, if that meets the goal."""
        rest = tuple(x for k, x in enumerate(node.factors) if k not in which)
        if not rest or (
            goal.key
            and not is_repair_key_met(goal.key, self.key_without_parts(node.factors, *which))
        ):
            return
        new = rest[0] if len(rest) == 1 else Product(rest)
        gone = [node.factors[i] for i in which]
        kind = (
            "factor"
            if all(x in (NUMBER_TWO, Reciprocal(NUMBER_TWO)) for x in gone)
            else "extra factor"
        )
        text = expression_text(
            Product((ONE, *gone))
            if which[0]
            else Product(tuple(gone))
            if len(gone) > 1
            else gone[0]
        )
        term = shorten_expression_text(expression_text(node))
        what = f"the factor {text.removeprefix('1*')} is left out of the term {term}"
        kind = kind if len(which) == 1 else "missing factors"
        if goal.is_met_by(
            self.guarded_value(
                lambda: self.multiply_statement_values([self.node_value(x) for x in rest])
            )
        ):
            yield MisprintCandidate(kind, what, (), new)

    def inverted_factor_candidates(
        self, node: Product, i: int, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The product with a factor moved above or below the fraction line, if that meets the
        goal."""
        factor = node.factors[i]
        if goal.key is None or isinstance(factor, Number):
            return
        other = factor.operand if isinstance(factor, Reciprocal) else Reciprocal(factor)
        value = self.value_or_none(other)
        own = divide_repair_keys(goal.key, self.key_without_parts(node.factors, i))
        if value is None or own is None or not is_repair_key_met(own, statement_value_key(value)):
            return
        new = Product((*node.factors[:i], other, *node.factors[i + 1 :]))
        done, base = ("divided", factor) if isinstance(other, Reciprocal) else ("multiplied", other)
        text = shorten_expression_text(expression_text(node))
        yield MisprintCandidate("quotient", f"{text} is {done} by {expression_text(base)}", (), new)

    def other_exponent_candidates(
        self, node: Power, base: Expression, n: Fraction, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The power with other exponents that meet the goal."""
        for other in (*(Fraction(k) for k in range(1, MAX_REPAIR_EXPONENT + 1)), n - 1, n + 1, -n):
            new = base if other == 1 else Power(base, Number(other))
            if other not in (0, n) and goal.is_met_by(self.value_or_none(new)):
                yield MisprintCandidate(
                    "exponent", f"{expression_text(node)} is {expression_text(new)}", (), new
                )

    def missing_power_candidates(
        self, node: Expression, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The square and the cube of a node, if they meet the goal."""
        for exponent, word in ((2, "squared"), (3, "cubed")):
            new = Power(node, Number(Fraction(exponent)))
            what = f"{shorten_expression_text(expression_text(node))} is {word}"
            yield from self.candidate_if_met("exponent", what, new, goal)

    def other_number_candidates(
        self, value: Fraction, goal: RepairGoal
    ) -> Iterator[MisprintCandidate]:
        """The number that it must be, if that is as simple as the old one."""
        number = None if goal.key is None else scalar_of_repair_key(goal.key)
        if number is None:
            tried = {value * 2, value / 2, -value, value + 1, value - 1} - {value, Fraction(0)}
            found = [x for x in sorted(tried) if goal.is_met_by(self.algebra.constant(x))]
        else:
            bound = max(MAX_REPAIR_COEFFICIENT, abs(value.numerator), value.denominator)
            ratio = rational_from_residue(number, bound, FIELD_PRIME)
            found = [ratio] if ratio is not None and ratio not in (value, 0) else []
        for other in found:
            before, after = repaired_coefficient_text(value), repaired_coefficient_text(other)
            what = f"the coefficient {before} is {after}"
            yield MisprintCandidate("coefficient", what, (), Number(other))

    def other_name_candidates(
        self, name: str, goal: RepairGoal, is_angle: bool
    ) -> Iterator[MisprintCandidate]:
        """Other symbols in place of a name, or a further angle beside it."""
        own = stem_of_text_name(name)
        for symbol in self.symbols_meeting_goal(goal):
            if isinstance(symbol, Name) and symbol.name != name:
                yield MisprintCandidate(
                    name_misprint_kind(name, symbol.name), f"{name} is {symbol.name}", (), symbol
                )
        for symbol, value, _ in self.symbol_pool if is_angle else ():
            if isinstance(symbol, Name) and stem_of_text_name(symbol.name) == own:
                for other in (symbol, negate_expression(symbol)):
                    new = Sum((Name(name), other))
                    signed = (
                        value
                        if other is symbol
                        else self.apply_to_statement_values(Op.NEG, [value])
                    )
                    total = self.sum_statement_values([self.node_value(Name(name)), signed])
                    if goal.is_met_by(total):
                        yield MisprintCandidate(
                            "missing angle", f"{name} is {expression_text(new)}", (), new
                        )

    # -- the pool, by value -------------------------------------------------------------------

    def symbols_meeting_goal(self, goal: RepairGoal) -> list[Expression]:
        """The symbols whose values meet the goal."""
        if goal.key is not None:
            return self.symbols_with_key(goal.key)
        return [x for x, value, _ in self.symbol_pool if goal.is_met_by(value)]

    def symbols_with_key(self, goal: ResidueKey) -> list[Expression]:
        """Symbols of the pool with a required key."""
        return _expressions_with_key(
            self._symbol_tables, goal, [(x, k) for x, _, k in self.symbol_pool]
        )

    def symbol_pairs_with_key(self, goal: ResidueKey) -> list[Expression]:
        """Products of two symbols of the pool, and squares, with a required key."""
        return _expressions_with_key(self._pair_tables, goal, self._symbol_pairs)

    @cached_property
    def _symbol_pairs(self) -> list[tuple[Expression, ResidueKey]]:
        used = [(x, k) for x, _, k in self.symbol_pool][:MAX_PAIRED_SYMBOLS]
        return [
            (Power(a, NUMBER_TWO) if a == b else Product((a, b)), multiply_repair_keys(ka, kb))
            for (a, ka), (b, kb) in combinations_with_replacement(used, 2)
        ]


def _expressions_with_key(
    tables: dict[int, dict[int, list[tuple[Expression, ResidueKey]]]],
    goal: ResidueKey,
    known: Sequence[tuple[Expression, ResidueKey]],
) -> list[Expression]:
    """The expressions with the required key, by a table of its first component."""
    at = next((i for i, x in enumerate(goal) if x is not None), None)
    if at is None:
        return []
    if at not in tables:
        tables[at] = {}
        for expression, key in known:
            tables[at].setdefault(key[at] or 0, []).append((expression, key))
    near = tables[at].get(goal[at] or 0, ())
    return [expression for expression, key in near if is_repair_key_met(goal, key)]
