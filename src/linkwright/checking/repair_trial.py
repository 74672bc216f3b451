"""One equation as the text has it: its value at a point, its proof, and what it says by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ..algebra.exact.modular_arithmetic import BadPointError
from ..algebra.exact.prime_field import AngleSubdivisionError, PrimeField
from ..algebra.exact.residues import Residue
from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra
from ..errors import LinkwrightError
from ..expressions import Call, Expression, Name, expression_text, names_in_expression
from ..expressions.tree import child_expressions
from ..tape import Op
from .dual_statements import (
    is_dual_component_symbol,
    is_dual_symbol_name,
    is_dual_vector_symbol,
    names_behind_expression,
    split_dual_sides,
)
from .frame_names import FrameNames
from .misprints import MisprintSearch
from .prover import EquationProver, EquationSides, StatementPointValues
from .residue_keys import (
    DualStatementAlgebra,
    DualStatementPointValues,
    StatementAlgebra,
    StatementValue,
    ValueLookup,
    statement_value_key,
)
from .symbol_meanings import SymbolMeanings
from .symbol_table import DUAL_UNIT_NAME

if TYPE_CHECKING:
    from .checked_section import CheckedSection

T = TypeVar("T")
MAX_TRIAL_SEEDS = 60
MAX_SIBLING_NAMES = 60
MAX_TRIAL_ROOTS = 2


MOST_EVALUATIONS = 12_000
"""Definitions that a search may evaluate for corrections in which the equation is not linear: one
or two seconds. Chains of definitions inside functions would take the cube of their length."""


@dataclass
class RepairBudget:
    """The number of definitions that a search may still evaluate."""

    left: int = MOST_EVALUATIONS

    def spend_on_repair_trials(self, count: int) -> bool:
        """Whether `count` more definitions may be evaluated; they count as evaluated."""
        self.left -= count
        return self.left >= 0


class RepairTrial:
    """An equation of numbers or of dual vectors, for which corrections are tried and proved."""

    def __init__(self, section: CheckedSection, pair: EquationSides) -> None:
        self.section, self.sides = section, pair
        self.text_meanings: SymbolMeanings = section.dual_meanings or section.meanings
        self.frame_names = section.vocabulary.frame_names
        self.axis_count = self._count_axes() if section.dual_meanings else 0
        self.budget = RepairBudget()

    def _count_axes(self) -> int:
        reached = {
            x
            for side in self.sides
            for x in names_behind_expression(side, self.text_meanings.find_meaning)
        }
        if any(is_dual_vector_symbol(name, self.frame_names) for name in reached):
            return 3
        return 1 if any(is_dual_symbol_name(name, self.frame_names) for name in reached) else 0

    # -- points and proofs --------------------------------------------------------------------

    @cached_property
    def provers(self) -> list[EquationProver]:
        """The section's provers, with values of all symbols that a correction may need."""
        section = self.section
        more = frozenset(self._names_needed_by(self.symbol_pool) - set(section.needed_names))
        provers = section.provers
        if more:
            if more not in section.repair_provers:
                wanted = [*section.needed_names, *sorted(more)]
                section.repair_provers[more] = [
                    EquationProver(section.meanings, wanted, x) for x in section.assumption_choices
                ]
            provers = section.repair_provers[more]
        return [prover.prover_for_statement(self.sides) for prover in provers]

    def _names_needed_by(self, symbols: Iterable[Expression]) -> set[str]:
        found: set[str] = set()
        for symbol in symbols:
            for name in names_in_expression(symbol):
                parts = dual_part_names(name, self.frame_names) if self.axis_count else []
                found |= {part for part in parts if part in self.section.vocabulary}
                if (
                    parts
                    or name == DUAL_UNIT_NAME
                    or name in self.text_meanings.text_names
                    or name not in self.text_meanings
                ):
                    continue
                try:
                    found |= set(self.section.meanings.needed_names([Name(name)]))
                except LinkwrightError:
                    continue
        return found

    def search_at_point(
        self, prover: EquationProver, use: Callable[[StatementPointValues], list[T]]
    ) -> list[T]:
        """Apply `use` at the first point at which the equation has a value, for some signs of
        the mechanism's roots there."""
        for seed in range(1, MAX_TRIAL_SEEDS):
            found: list[T] = []
            signs, count = 0, 1
            while signs < count:
                try:
                    found += prover.evaluate_at_point(seed, use, signs)
                except BadPointError:
                    break
                except LinkwrightError:
                    return found
                roots = prover.evaluate_at_point(
                    seed, lambda scope: len(scope.field.radicands), signs
                )
                signs, count = signs + 1, 2 ** min(roots, MAX_TRIAL_ROOTS)
            if signs:
                return found
        return []

    def misprint_search(self, scope: StatementPointValues) -> MisprintSearch:
        """The search for misprints at the values of one point."""
        return MisprintSearch(*self.algebra_and_lookup(scope), self.symbol_pool)

    def algebra_and_lookup(
        self, scope: StatementPointValues, given: Mapping[str, StatementValue] | None = None
    ) -> tuple[StatementAlgebra, ValueLookup]:
        """The algebra of the equation and the values of its names at a point."""
        if not self.axis_count:
            scope.text_values = dict(given or {})  # type: ignore[arg-type]
            return scope.field, scope.lookup_or_none
        algebra = DualStatementAlgebra(scope.field, self.axis_count)
        lookup = DualStatementPointValues(scope, algebra, self.text_meanings, self.frame_names)
        lookup.known_values = dict(given or {})  # type: ignore[arg-type]
        return algebra, lookup.lookup_or_none

    def is_proved(self, prover: EquationProver, pair: EquationSides) -> bool:
        """Whether a corrected equation is proved, all parts of a dual one."""
        try:
            if not self.axis_count:
                return prover.holds(pair)
            parts = split_dual_sides(pair, self.text_meanings.find_meaning, self.frame_names)
            return all(proof.holds for proof in prover.prove_statements(parts))
        except LinkwrightError:
            return False

    def random_residual_key(
        self, pair: EquationSides, *, expand: bool = False
    ) -> tuple[int, ...] | None:
        """left − right with a random number for each name: zero if the equation says nothing.
        Equations that are the same have the same value. `expand` writes definitions out."""
        scope = _FreeStatementValues(self.text_meanings, expand)
        algebra, lookup = self.algebra_and_lookup(scope)  # type: ignore[arg-type]
        valuation = MisprintSearch(algebra, lookup, ())
        try:
            left, right = (valuation.node_value(side) for side in pair)
            return statement_value_key(valuation.apply_to_statement_values(Op.SUB, [left, right]))
        except (BadPointError, AngleSubdivisionError, LinkwrightError):
            return None

    @contextmanager
    def redefine_temporarily(self, name: str, right: Expression) -> Iterator[None]:
        """Use another definition of a name in this context."""
        meanings = [x for x in (self.text_meanings, self.section.meanings) if name in x.definitions]
        old = [x.definitions[name] for x in meanings]
        for one in meanings:
            one.redefine_name(name, right)
        try:
            yield
        finally:
            for one, before in zip(meanings, old, strict=True):
                one.redefine_name(name, before)

    # -- symbols ------------------------------------------------------------------------------

    @cached_property
    def symbol_pool(self) -> list[Expression]:
        """The symbols that may have been left out or mistaken: those of the equation, of the text
        and of the mechanism, neighbours of these, and the sines and cosines of the equation."""
        own = names_in_expression(self.sides[0]) | names_in_expression(self.sides[1])
        words = [
            *sorted(own),
            *sorted(self.text_meanings.text_names - own),
            *self._unnamed_symbols(),
        ]
        words += [
            *self.sibling_names,
            *self._generalized_speed_rates(),
            *sorted(self.text_meanings.given_meanings),
        ]
        calls = sorted(
            {call for side in self.sides for call in calls_in_statement_side(side)},
            key=expression_text,
        )
        known = [Name(word) for word in dict.fromkeys(words) if "@" not in word]
        return [*known, *calls]

    def _unnamed_symbols(self) -> list[str]:
        """Parameters and motion that the text does not name, in its own spelling."""
        vocabulary = self.section.vocabulary
        named = {
            meaning
            for x in self.text_meanings.text_names
            if isinstance(meaning := self.text_meanings.find_meaning(x), str)
        }
        motion = [f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")]
        theirs: dict[str, str] = {}
        for word, ours in self.text_meanings.coordinate_aliases.items():
            theirs.setdefault(ours, word)
        others = [x for x in [*vocabulary.parameters, *motion] if x not in named]
        return [theirs.get(x, x) for x in others if x not in vocabulary.hidden_parameters]

    def _generalized_speed_rates(self) -> list[str]:
        """The rates of generalized speeds that the text defines."""
        speeds = {f"d{name}" for name in self.section.vocabulary.names.qd}
        defined = self.text_meanings.definitions.items()
        rates = [f"d{name}" for name, right in defined if names_in_expression(right) & speeds]
        return [name for name in rates if name in self.text_meanings]

    @cached_property
    def sibling_names(self) -> list[str]:
        """Other members of the families of an equation's names: x1 for x2, y2 for x2, ddx2, c12
        for s12."""
        known: dict[str, None] = {}
        plain = {*self.section.vocabulary.parameters, "pi", DUAL_UNIT_NAME}
        for name in sorted(names_in_expression(self.sides[0]) | names_in_expression(self.sides[1])):
            if name not in plain and len(known) < MAX_SIBLING_NAMES:
                known |= dict.fromkeys(
                    x for x in self._neighbouring_names(name) if self._has_meaning(x)
                )
        return list(known)

    def _has_meaning(self, name: str) -> bool:
        return name in self.text_meanings or (
            self.axis_count > 0 and is_dual_symbol_name(name, self.frame_names)
        )

    def _neighbouring_names(self, name: str) -> Iterator[str]:
        own = self.section.vocabulary.names
        count = max(len(own.bodies) + 1, own.nv, len(own.constraints))
        for i, letter in enumerate(name):
            others = "123456789"[:count] if letter.isdigit() else ""
            others += "xyz" if letter in "xyz" else ""
            for other in others:
                if other != letter:
                    yield f"{name[:i]}{other}{name[i + 1 :]}"
        yield from (f"d{name}", f"dd{name}", name.removeprefix("d"))
        if isinstance(self.text_meanings.find_meaning(name), Call) and name[0] in "sScC":
            yield from self._other_shorthands(name)
        if is_dual_vector_symbol(name, self.frame_names):
            kind, owner = name.split("_", 1)
            yield from (f"{kind}_{x}" for x in self.frame_names if x != owner)

    def _other_shorthands(self, name: str) -> Iterator[str]:
        """Shorthands that may be meant: c12, s1 and s2 for s12, which is sin(q1 + q2)."""
        yield name[0].translate(str.maketrans("sScC", "cCsS")) + name[1:]
        count = min(len(self.section.vocabulary.names.q), 9)
        for i in range(count):
            yield from (f"{name[0]}{'123456789'[i:j]}" for j in range(i + 1, count + 1))


class _FreeStatementValues:
    """Random numbers for all names, the same for names of the same meaning."""

    def __init__(self, text: SymbolMeanings, expand: bool) -> None:
        self.field = PrimeField(1)
        self.text_meanings = text
        self.expands_definitions = expand
        self.known_values: dict[str, Residue] = {}

    def lookup(self, name: str) -> Residue:
        """The residue of a name: of its definition, or a random one."""
        if name not in self.known_values:
            meaning = self.text_meanings.find_meaning(name)
            if isinstance(meaning, Expression) and (
                self.expands_definitions or name not in self.text_meanings.definitions
            ):
                found = evaluate_expression_in_algebra(meaning, self.field, self.lookup)
            else:
                own = meaning if isinstance(meaning, str) else name
                found = self.field.symbol(f"free {own}")
            self.known_values[name] = found
        return self.known_values[name]

    lookup_or_none = lookup


def dual_part_names(name: str, owners: FrameNames) -> list[str]:
    """The names of the parts of a dual vector or component."""
    if is_dual_vector_symbol(name, owners):
        return [f"{name}@{axis}{part}" for axis in "xyz" for part in "rd"]
    return [f"{name}@{part}" for part in "rd"] if is_dual_component_symbol(name, owners) else []


def calls_in_statement_side(expression: Expression) -> Iterator[Call]:
    """All function calls in one side of an equation."""
    if isinstance(expression, Call):
        yield expression
    for child in child_expressions(expression):
        yield from calls_in_statement_side(child)
