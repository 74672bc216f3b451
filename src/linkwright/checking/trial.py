"""One equation as the text has it: its value at a point, its proof, and what it says by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from ..algebra.exact.algebra import evaluate_expression
from ..algebra.exact.modular import UnluckyError
from ..algebra.exact.prime_field import FinerError, PrimeField
from ..algebra.exact.residue_values import Value
from ..errors import LinkwrightError
from ..expressions import Call, Expression, Name, names, to_text
from ..expressions.tree import children
from ..tape import Op
from .duals import EPS, is_dual, is_scalar, is_vector, names_reached, split_pair
from .meaning import Meanings
from .misprints import Misprints
from .prover import Pair, Prover, Scope
from .values import AnyAlgebra, AnyValue, DualAlgebra, DualLookup, Lookup, key_of

if TYPE_CHECKING:
    from .section import Section

T = TypeVar("T")
MOST_SEEDS = 60
MOST_SIBLINGS = 60
MOST_ROOTS = 2


MOST_EVALUATIONS = 12_000
"""Definitions that a search may evaluate for corrections in which the equation is not linear: one
or two seconds. Chains of definitions inside functions would take the cube of their length."""


@dataclass
class Budget:
    """How many definitions a search may still evaluate."""

    left: int = MOST_EVALUATIONS

    def spend(self, count: int) -> bool:
        """Whether so many may be evaluated."""
        self.left -= count
        return self.left >= 0


class Trial:
    """An equation of numbers or of dual vectors, for which corrections are tried and proved."""

    def __init__(self, section: Section, pair: Pair) -> None:
        self.section, self.pair = section, pair
        self.text: Meanings = section.undivided or section.meanings
        self.owners = section.vocabulary.owners
        self.axes = self._count_axes() if section.undivided else 0
        self.budget = Budget()

    def _count_axes(self) -> int:
        reached = {x for side in self.pair for x in names_reached(side, self.text.find)}
        if any(is_vector(name, self.owners) for name in reached):
            return 3
        return 1 if any(is_dual(name, self.owners) for name in reached) else 0

    # -- points and proofs --------------------------------------------------------------------

    @cached_property
    def provers(self) -> list[Prover]:
        """Those of the section, with values of all symbols that a correction may need."""
        section = self.section
        more = frozenset(self._wanted_by(self.pool) - set(section.wanted))
        if not more:
            return section.provers
        if more not in section.repair_provers:
            wanted = [*section.wanted, *sorted(more)]
            made = [Prover(section.meanings, wanted, x) for x in section.settings]
            section.repair_provers[more] = made
        return section.repair_provers[more]

    def _wanted_by(self, symbols: Iterable[Expression]) -> set[str]:
        found: set[str] = set()
        for symbol in symbols:
            for name in names(symbol):
                parts = split_names(name, self.owners) if self.axes else []
                found |= {part for part in parts if part in self.section.vocabulary}
                if parts or name == EPS or name in self.text.used or name not in self.text:
                    continue
                try:
                    found |= set(self.section.meanings.wanted([Name(name)]))
                except LinkwrightError:
                    continue
        return found

    def at_a_point(self, prover: Prover, use: Callable[[Scope], list[T]]) -> list[T]:
        """What `use` finds at the first point at which the equation has a value, for some signs of
        the mechanism's roots there."""
        for seed in range(1, MOST_SEEDS):
            found: list[T] = []
            signs, count = 0, 1
            while signs < count:
                try:
                    found += prover.scope(seed, use, signs)
                except UnluckyError:
                    break
                except LinkwrightError:
                    return found
                roots = prover.scope(seed, lambda scope: len(scope.field.radicands), signs)
                signs, count = signs + 1, 2 ** min(roots, MOST_ROOTS)
            if signs:
                return found
        return []

    def misprints(self, scope: Scope) -> Misprints:
        return Misprints(*self.reading(scope), self.pool)

    def reading(
        self, scope: Scope, given: Mapping[str, AnyValue] | None = None
    ) -> tuple[AnyAlgebra, Lookup]:
        """The algebra of the equation and the values of its names at a point."""
        if not self.axes:
            scope.theirs = dict(given or {})  # type: ignore[arg-type]
            return scope.field, scope.maybe
        algebra = DualAlgebra(scope.field, self.axes)
        lookup = DualLookup(scope, algebra, self.text, self.owners)
        lookup.known = dict(given or {})  # type: ignore[arg-type]
        return algebra, lookup.maybe

    def holds(self, prover: Prover, pair: Pair) -> bool:
        try:
            if not self.axes:
                return prover.holds(pair)
            parts = split_pair(pair, self.text.find, self.owners)
            return all(proof.holds for proof in prover.prove(parts))
        except LinkwrightError:
            return False

    def free_value(self, pair: Pair, *, expand: bool = False) -> tuple[int, ...] | None:
        """left − right with a random number for each name: zero if the equation says nothing.
        Equations that are the same have the same value. `expand` writes definitions out."""
        scope = _FreeScope(self.text, expand)
        algebra, lookup = self.reading(scope)  # type: ignore[arg-type]
        valuation = Misprints(algebra, lookup, ())
        try:
            left, right = (valuation.value(side) for side in pair)
            return key_of(valuation.apply(Op.SUB, [left, right]))
        except (UnluckyError, FinerError, LinkwrightError):
            return None

    @contextmanager
    def redefined(self, name: str, right: Expression) -> Iterator[None]:
        """With another definition of a name."""
        meanings = [x for x in (self.text, self.section.meanings) if name in x.defined]
        old = [x.defined[name] for x in meanings]
        for one in meanings:
            one.redefine(name, right)
        try:
            yield
        finally:
            for one, before in zip(meanings, old, strict=True):
                one.redefine(name, before)

    # -- symbols ------------------------------------------------------------------------------

    @cached_property
    def pool(self) -> list[Expression]:
        """What may have been left out or mistaken: symbols of the equation, of the text and of
        the mechanism, neighbours of these, and the sines and cosines of the equation."""
        own = names(self.pair[0]) | names(self.pair[1])
        words = [*sorted(own), *sorted(self.text.used - own), *self._unused()]
        words += [*self.siblings, *self._rates(), *sorted(self.text.said)]
        calls = sorted({call for side in self.pair for call in calls_of(side)}, key=to_text)
        known = [Name(word) for word in dict.fromkeys(words) if "@" not in word]
        return [*known, *calls]

    def _unused(self) -> list[str]:
        """Parameters and motion that the text does not name, in its own spelling."""
        vocabulary = self.section.vocabulary
        named = {meaning for x in self.text.used if isinstance(meaning := self.text.find(x), str)}
        motion = [f"{dots}{name}" for name in vocabulary.names.qd for dots in ("", "d", "dd")]
        theirs: dict[str, str] = {}
        for word, ours in self.text.coordinates.items():
            theirs.setdefault(ours, word)
        others = [x for x in [*vocabulary.parameters, *motion] if x not in named]
        return [theirs.get(x, x) for x in others if x not in vocabulary.hidden]

    def _rates(self) -> list[str]:
        """The rates of generalized speeds that the text defines."""
        speeds = {f"d{name}" for name in self.section.vocabulary.names.qd}
        defined = self.text.defined.items()
        rates = [f"d{name}" for name, right in defined if names(right) & speeds]
        return [name for name in rates if name in self.text]

    @cached_property
    def siblings(self) -> list[str]:
        """Other members of the families of an equation's names: x1 for x2, y2 for x2, ddx2, c12
        for s12."""
        known: dict[str, None] = {}
        plain = {*self.section.vocabulary.parameters, "pi", EPS}
        for name in sorted(names(self.pair[0]) | names(self.pair[1])):
            if name not in plain and len(known) < MOST_SIBLINGS:
                known |= dict.fromkeys(x for x in self._neighbours(name) if self._is_known(x))
        return list(known)

    def _is_known(self, name: str) -> bool:
        return name in self.text or (self.axes > 0 and is_dual(name, self.owners))

    def _neighbours(self, name: str) -> Iterator[str]:
        own = self.section.vocabulary.names
        count = max(len(own.bodies) + 1, own.nv, len(own.constraints))
        for i, letter in enumerate(name):
            others = "123456789"[:count] if letter.isdigit() else ""
            others += "xyz" if letter in "xyz" else ""
            for other in others:
                if other != letter:
                    yield f"{name[:i]}{other}{name[i + 1 :]}"
        yield from (f"d{name}", f"dd{name}", name.removeprefix("d"))
        if isinstance(self.text.find(name), Call) and name[0] in "sScC":
            yield from self._other_shorthands(name)
        if is_vector(name, self.owners):
            kind, owner = name.split("_", 1)
            yield from (f"{kind}_{x}" for x in self.owners if x != owner)

    def _other_shorthands(self, name: str) -> Iterator[str]:
        """c12, s1 and s2 for s12, which is sin(q1 + q2)."""
        yield name[0].translate(str.maketrans("sScC", "cCsS")) + name[1:]
        count = min(len(self.section.vocabulary.names.q), 9)
        for i in range(count):
            yield from (f"{name[0]}{'123456789'[i:j]}" for j in range(i + 1, count + 1))


class _FreeScope:
    """Random numbers for all names, the same for names of the same meaning."""

    def __init__(self, text: Meanings, expand: bool) -> None:
        self.field = PrimeField(1)
        self.text = text
        self.expand = expand
        self.known: dict[str, Value] = {}

    def lookup(self, name: str) -> Value:
        if name not in self.known:
            meaning = self.text.find(name)
            if isinstance(meaning, Expression) and (self.expand or name not in self.text.defined):
                found = evaluate_expression(meaning, self.field, self.lookup)
            else:
                own = meaning if isinstance(meaning, str) else name
                found = self.field.symbol(f"free {own}")
            self.known[name] = found
        return self.known[name]

    maybe = lookup


def split_names(name: str, owners: Iterable[str]) -> list[str]:
    """The names of the parts of a dual vector or component."""
    known = list(owners)
    if is_vector(name, known):
        return [f"{name}@{axis}{part}" for axis in "xyz" for part in "rd"]
    return [f"{name}@{part}" for part in "rd"] if is_scalar(name, known) else []


def calls_of(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
    for child in children(expression):
        yield from calls_of(child)
