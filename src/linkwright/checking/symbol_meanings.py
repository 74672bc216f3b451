"""The meanings of a text's symbols: given, defined by the text, known, or inferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction

from ..errors import ExpressionError, NameNotFoundError
from ..expressions import (
    ZERO,
    Expression,
    Name,
    Number,
    names_in_expression,
    parse_expression,
)
from ..expressions.calculus import differentiate_expression, rename_expression_names
from ..expressions.tokens import shorten_expression_text
from .coordinate_aliases import infer_coordinate_aliases
from .latex_symbols import ACCENT_WORDS
from .printed_labels import is_printed_label
from .statement_reader import Statement
from .symbol_table import ENERGY_LETTERS, spellings_of_rate
from .trig_shorthands import expand_trig_shorthand, is_trig_shorthand
from .vocabulary import CheckerVocabulary

MAX_NESTED_DEFINITIONS = 60
MECHANISM_NAME_PREFIX = "="
"""Stands before names of ours in what is said of the text's names, which may be the same."""


def _mark_mechanism_names(expression: Expression, both: set[str]) -> Expression:
    """The expression, with those of its names marked as ours that are theirs as well."""
    return rename_expression_names(
        expression, lambda name: f"{MECHANISM_NAME_PREFIX}{name}" if name in both else name
    )


class SymbolMeanings:
    """The meaning of every name in one section of a text: ours, or an expression of others."""

    def __init__(
        self,
        vocabulary: CheckerVocabulary,
        lines: Sequence[Statement],
        said: Mapping[str, str],
    ) -> None:
        self.vocabulary = vocabulary
        self.statements = lines
        both = {name for name in said if name in vocabulary}
        self.given_meanings = {
            name: _mark_mechanism_names(parse_expression(text), both) for name, text in said.items()
        }
        self.text_names = frozenset().union(
            *(names_in_expression(x.left) | names_in_expression(x.right) for x in lines)
        )
        self.definitions: dict[str, Expression] = {}
        self.defining_statements: dict[int, str] = {}
        self._meaning_cache: dict[str, str | Expression | None] = {}
        self.coordinate_aliases = infer_coordinate_aliases(
            vocabulary, self.text_names, self.given_meanings
        )
        self.unused_definitions: set[int] = set()  # definitions that nothing uses
        self._collect_definitions()
        self._drop_unused_definitions()

    # -- what a name is ---------------------------------------------------------------------

    def find_meaning(self, name: str) -> str | Expression | None:
        """Our own name, or the expression that it stands for."""
        if name not in self._meaning_cache:
            self._meaning_cache[name] = self._resolve_name(name)
        return self._meaning_cache[name]

    def redefine_name(self, name: str, right: Expression) -> None:
        """Define a name of the text by an expression."""
        self.definitions[name] = right
        self._meaning_cache.clear()

    def _resolve_name(self, name: str) -> str | Expression | None:
        if name.startswith(MECHANISM_NAME_PREFIX):
            return name.removeprefix(MECHANISM_NAME_PREFIX)
        if name in self.given_meanings:
            value = self.given_meanings[name]
            is_itself = (
                isinstance(value, Name) and value.name.removeprefix(MECHANISM_NAME_PREFIX) == name
            )
            return name if is_itself else value
        if (rate := self._rate_of_given_name(name)) is not None:
            return rate
        if name in self.definitions:
            return self.definitions[name]
        if name in self.coordinate_aliases:
            return self.coordinate_aliases[name]
        if (
            is_trig_shorthand(self.vocabulary, self.text_names, name)
            and (short := expand_trig_shorthand(self.vocabulary, name)) is not None
        ):
            return short
        if name in self.vocabulary:
            return self.vocabulary.canonical_name(name)
        if name.startswith("d") and name[1:] in self.definitions:
            return self.time_derivative(self.definitions[name[1:]])
        if self.vocabulary.is_stray_name(name):
            return None
        if (short := expand_trig_shorthand(self.vocabulary, name)) is not None:
            return short
        return self.respell_name(name)

    def _rate_of_given_name(self, name: str) -> str | Expression | None:
        """The rate of a name that was given a meaning: dalpha is dq1 where alpha is q1."""
        if not name.startswith("d") and not name.rstrip("0123456789_").endswith(("d", "dot", "p")):
            return None
        for theirs, value in self.given_meanings.items():
            for one, two in spellings_of_rate(theirs):
                if name in (one, two):
                    rate = self.time_derivative(value)
                    rate = rate if name == one else self.time_derivative(rate)
                    if not isinstance(rate, Name):
                        return rate
                    ours = rate.name.removeprefix(MECHANISM_NAME_PREFIX)
                    return ours if ours in self.vocabulary else None
        return None

    def __contains__(self, name: str) -> bool:
        return self.find_meaning(name) is not None

    def needed_names(self, expressions: Iterable[Expression]) -> list[str]:
        """Our names that the expressions need; an error for one that means nothing."""
        found: dict[str, None] = {}
        stack: set[str] = set()
        done: set[str] = set()

        def visit(expression: Expression) -> None:
            for name in sorted(names_in_expression(expression) - done):
                if name in stack:
                    raise ExpressionError(f"'{name}' is defined by itself")
                if len(stack) > MAX_NESTED_DEFINITIONS:
                    raise ExpressionError(
                        f"more than {MAX_NESTED_DEFINITIONS} definitions stand inside each other",
                        remedy="write some of them out",
                    )
                meaning = self.find_meaning(name)
                if meaning is None:
                    raise self.unknown_name_error(name)
                if isinstance(meaning, str):
                    found[meaning] = None
                else:
                    stack.add(name)
                    visit(meaning)
                    stack.discard(name)
                done.add(name)

        for expression in expressions:
            visit(expression)
        return list(found)

    def names_behind_sides(self, pair: tuple[Expression, Expression]) -> set[str]:
        """All names that an equation leads to, through definitions."""
        front, seen = list(names_in_expression(pair[0]) | names_in_expression(pair[1])), set[str]()
        while front:
            name = front.pop()
            if name not in seen:
                seen.add(name)
                meaning = self.find_meaning(name)
                front += (
                    []
                    if meaning is None or isinstance(meaning, str)
                    else names_in_expression(meaning)
                )
        return seen

    def partial_derivative(self, expression: Expression, column: str, k: int) -> Expression:
        """The derivative by the k-th coordinate or speed, all others being constant."""
        symbols = self.vocabulary.symbols[column]

        def of_ours(ours: str) -> Expression:
            symbol = self.vocabulary.require_expression(ours)
            if not symbol.is_symbolic():
                return Name(f"partial@{column}@{k}@{ours}")
            return Number(Fraction(int(symbol.element_hash() == symbols[k].element_hash())))

        return self._differentiate_meaning(expression, of_ours)

    def total_time_derivative(self, expression: Expression) -> Expression:
        """The derivative by time, along the motion."""
        return self._differentiate_meaning(expression, lambda ours: Name(f"rate@{ours}"))

    def _differentiate_meaning(
        self, expression: Expression, of_ours: Callable[[str], Expression]
    ) -> Expression:
        """Differentiate a meaning by the derivatives of our names, through the text's
        definitions."""

        def of_name(name: str) -> Expression:
            meaning = name if "@" in name else self.find_meaning(name)
            if meaning is None:
                raise self.unknown_name_error(name)
            return (
                of_ours(meaning)
                if isinstance(meaning, str)
                else differentiate_expression(meaning, of_name)
            )

        return differentiate_expression(expression, of_name)

    def unknown_name_error(self, name: str) -> NameNotFoundError:
        """The error for a name without a meaning, with the nearest known names."""
        name = name.removeprefix(MECHANISM_NAME_PREFIX)
        known = [*self.vocabulary.atomic_symbols, *ENERGY_LETTERS]
        near = [
            word
            for word in get_close_matches(name, known, n=3)
            if word not in self.definitions and word != name
        ]
        stem = name.rstrip("0123456789_")
        if self.vocabulary.why_index_fails(name) and stem in self.vocabulary.parameters:
            near = [stem]  # a parameter m, written m1
        elif why := self.vocabulary.why_index_fails(name):
            return NameNotFoundError(
                f"'{shorten_expression_text(name)}' has no meaning for "
                f"{self.vocabulary.mechanism.name}: {why}",
                remedy="count coordinates, bodies and constraints from 1, or say what it is",
            )
        advice = f"did you mean {' or '.join(map(repr, near))}? or " if near else ""
        return NameNotFoundError(
            f"'{shorten_expression_text(name)}' has no meaning for "
            f"{self.vocabulary.mechanism.name}",
            remedy=f"{advice}say what it is, with names or ':='",
        )

    # -- definitions ------------------------------------------------------------------------

    def _collect_definitions(self) -> None:
        """Collect `a := b`, and `a = b` where a is a name that means nothing else."""
        for i, line in enumerate(self.statements):
            if line.is_definition and not isinstance(line.left, Name):
                raise ExpressionError(f"only a name can be defined, in '{line.text}'")
            if line.is_definition and isinstance(line.left, Name):
                if line.left.name in self.vocabulary.names.q:
                    self.coordinate_aliases.pop(line.left.name, None)
                self.redefine_name(line.left.name, line.right)
                self.defining_statements[i] = line.left.name
        ours = {
            name.removeprefix(MECHANISM_NAME_PREFIX)
            for value in self.given_meanings.values()
            for name in names_in_expression(value)
        }
        for i, line in enumerate(self.statements):
            for side, other in ((line.left, line.right), (line.right, line.left)):
                if (
                    i in self.defining_statements
                    or line.is_said_wrong
                    or not isinstance(side, Name)
                    or is_printed_label(side.name)
                ):
                    continue
                if side.name in names_in_expression(other) | ours:
                    continue
                if side.name not in self or (
                    side is line.left and _is_own_symbol_of_text(self, side.name, line)
                ):
                    self.redefine_name(side.name, other)
                    self.defining_statements[i] = side.name

    def _drop_unused_definitions(self) -> None:
        """A name that stands in one equation alone, without :=, and is nearly one of ours is rather
        a mistyped one; another is a definition that nothing uses."""
        words = [
            names_in_expression(line.left) | names_in_expression(line.right)
            for line in self.statements
        ]
        counted = Counter(word for used in words for word in used)
        for i, name in list(self.defining_statements.items()):
            rates = [name, f"d{name}", f"dd{name}"]
            if any(counted[word] > (word in words[i]) for word in rates):
                continue
            self.unused_definitions.add(i)
            if not self.statements[i].is_definition and _is_near_known_name(self.vocabulary, name):
                del self.defining_statements[i], self.definitions[name]
                self._meaning_cache.clear()

    def assign_names(self, words: Mapping[str, str]) -> None:
        """Give names of the text the meanings of names of ours."""
        self.given_meanings |= {
            theirs: Name(f"{MECHANISM_NAME_PREFIX}{ours}") for theirs, ours in words.items()
        }
        self._meaning_cache.clear()

    def withdraw_names(self, words: Iterable[str]) -> None:
        """Forget meanings that were assigned to names."""
        for word in words:
            self.given_meanings.pop(word, None)
        self._meaning_cache.clear()

    def time_derivative(self, expression: Expression) -> Expression:
        """The derivative by time."""
        return differentiate_expression(expression, self._rate_of_name)

    def _rate_of_name(self, name: str) -> Expression:
        own = self.find_meaning(name)
        if own in self.vocabulary.parameters or name == "pi":
            return ZERO
        if own == "t":
            return Number(Fraction(1))
        if name.startswith(MECHANISM_NAME_PREFIX):
            return Name(f"{MECHANISM_NAME_PREFIX}d{name.removeprefix(MECHANISM_NAME_PREFIX)}")
        return Name(f"d{name}")

    # -- other spellings --------------------------------------------------------------------------

    def respell_name(self, name: str) -> str | None:
        """Our spelling of a name: l1 for l_1 or L1, m1 for m if m1 is the only such name, s3 for
        s3prime if s3 is not used."""
        if (plain := self._unaccented_name(name)) is not None:
            return plain
        flat = name.replace("_", "")
        if flat != name and (flat in self.coordinate_aliases or flat in self.definitions):
            return self.coordinate_aliases.get(flat) or flat
        own = self.vocabulary.parameters
        same = [
            p
            for p in own
            if p.replace("_", "").lower() == flat.lower() and p not in self.text_names
        ]
        if len(same) == 1:
            return same[0]
        numbered = [p for p in own if p.rstrip("0123456789") == flat]
        return numbered[0] if len(numbered) == 1 else None

    def _unaccented_name(self, name: str) -> str | None:
        """Our name of which a text writes only the form with a prime or an accent."""
        plain = ACCENT_WORDS.sub("", name)
        has_both = any(word.lstrip("d") == plain.lstrip("d") for word in self.text_names)
        if (
            len(ACCENT_WORDS.findall(name)) != 1
            or has_both
            or plain not in self.vocabulary.atomic_symbols
        ):
            return None
        return plain


def _is_own_symbol_of_text(meanings: SymbolMeanings, name: str, line: Statement) -> bool:
    """Whether a name that is nearly one of ours is alone on the left of an equation, and others use
    it: D = m1 + m2 is not a damping d, and D does not mean d in the other equations either."""
    is_used = any(
        name in names_in_expression(x.left) | names_in_expression(x.right)
        for x in meanings.statements
        if x is not line
    )
    flat = name.replace("_", "")
    if not is_used or name in meanings.vocabulary or flat in meanings.coordinate_aliases:
        return False
    is_shorthand = expand_trig_shorthand(meanings.vocabulary, name) is not None
    return not is_shorthand and meanings.find_meaning(name) == meanings.respell_name(name)


def _is_near_known_name(own: CheckerVocabulary, name: str) -> bool:
    """Whether a name is nearly one of ours."""
    known = [*own.atomic_symbols, *ENERGY_LETTERS]
    return (
        own.is_stray_name(name)
        or bool(own.why_index_fails(name))
        or bool(get_close_matches(name, known, 1, 0.7))
    )
