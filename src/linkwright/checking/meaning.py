"""Which of their symbols is which of ours: as said, as the text defines it, known, or inferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property

from ..errors import ExpressionError, NameNotFoundError
from ..expressions import ZERO, Call, Expression, Name, Number, Sum, names, parse
from ..expressions.calculus import derivative, renamed
from ..expressions.tokens import shorten
from .latex_symbols import MARKS
from .paper_symbols import spellings
from .reading import Line
from .vocabulary import Vocabulary

_SHORT = re.compile(r"([sScC])_?(\d+)")
_INDEX = re.compile(r"(\D+?)_?(\d+)")
_LETTERS = ("q", "theta", "phi", "psi", "alpha", "beta", "gamma", "x", "y", "z", "s", "d", "r")


MOST_NESTED = 60
OURS = "="
"""Stands before names of ours in what is said of the text's names, which may be the same."""


def _ours(expression: Expression, both: set[str]) -> Expression:
    """The expression, with those of its names marked as ours that are theirs as well."""
    return renamed(expression, lambda name: f"{OURS}{name}" if name in both else name)


class Meanings:
    """The meaning of every name in one section of a text: ours, or an expression of others."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        lines: Sequence[Line],
        said: Mapping[str, str],
    ) -> None:
        self.vocabulary = vocabulary
        self.lines = lines
        both = {name for name in said if name in vocabulary}
        self.said = {name: _ours(parse(text), both) for name, text in said.items()}
        self.used = frozenset().union(*(names(x.left) | names(x.right) for x in lines))
        self.defined: dict[str, Expression] = {}
        self.defining: dict[int, str] = {}
        self._known: dict[str, str | Expression | None] = {}
        self.coordinates = self._coordinates()
        self.idle: set[int] = set()  # definitions that nothing uses
        self._define()
        self._drop_idle()

    # -- what a name is ---------------------------------------------------------------------

    def find(self, name: str) -> str | Expression | None:
        """Our own name, or the expression that it stands for."""
        if name not in self._known:
            self._known[name] = self._find(name)
        return self._known[name]

    def redefine(self, name: str, right: Expression) -> None:
        self.defined[name] = right
        self._known.clear()

    def _find(self, name: str) -> str | Expression | None:
        if name.startswith(OURS):
            return name.removeprefix(OURS)
        if name in self.said:
            value = self.said[name]
            is_itself = isinstance(value, Name) and value.name.removeprefix(OURS) == name
            return name if is_itself else value
        if (rate := self._rate_of_said(name)) is not None:
            return rate
        if name in self.defined:
            return self.defined[name]
        if name in self.coordinates:
            return self.coordinates[name]
        if self._short_is_trigonometric(name) and (short := self._short(name)) is not None:
            return short
        if name in self.vocabulary:
            return self.vocabulary.canonical(name)
        if name.startswith("d") and name[1:] in self.defined:
            return self.rate(self.defined[name[1:]])
        if self.vocabulary.is_stray(name):
            return None
        if (short := self._short(name)) is not None:
            return short
        return self._respelled(name)

    def _rate_of_said(self, name: str) -> str | Expression | None:
        """Dots follow the names that are said: dalpha is dq1 where alpha is q1."""
        if not name.startswith("d") and not name.rstrip("0123456789_").endswith(("d", "dot", "p")):
            return None
        for theirs, value in self.said.items():
            for one, two in spellings(theirs):
                if name in (one, two):
                    rate = self.rate(value)
                    rate = rate if name == one else self.rate(rate)
                    if not isinstance(rate, Name):
                        return rate
                    ours = rate.name.removeprefix(OURS)
                    return ours if ours in self.vocabulary else None
        return None

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def wanted(self, expressions: Iterable[Expression]) -> list[str]:
        """Our names that the expressions need; an error for one that means nothing."""
        found: dict[str, None] = {}
        stack: set[str] = set()
        done: set[str] = set()

        def visit(expression: Expression) -> None:
            for name in sorted(names(expression) - done):
                if name in stack:
                    raise ExpressionError(f"'{name}' is defined by itself")
                if len(stack) > MOST_NESTED:
                    raise ExpressionError(
                        f"more than {MOST_NESTED} definitions stand inside each other",
                        remedy="write some of them out",
                    )
                meaning = self.find(name)
                if meaning is None:
                    raise self.unknown(name)
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

    def used_in(self, pair: tuple[Expression, Expression]) -> set[str]:
        """All names that an equation leads to, through definitions."""
        front, seen = list(names(pair[0]) | names(pair[1])), set[str]()
        while front:
            name = front.pop()
            if name not in seen:
                seen.add(name)
                meaning = self.find(name)
                front += [] if meaning is None or isinstance(meaning, str) else names(meaning)
        return seen

    def partial(self, expression: Expression, column: str, k: int) -> Expression:
        """The derivative by the k-th coordinate or speed, all others being constant."""
        symbols = self.vocabulary.symbols[column]

        def of_ours(ours: str) -> Expression:
            symbol = self.vocabulary.known(ours)
            if not symbol.is_symbolic():
                return Name(f"partial@{column}@{k}@{ours}")
            return Number(Fraction(int(symbol.element_hash() == symbols[k].element_hash())))

        return self._derivative(expression, of_ours)

    def total_rate(self, expression: Expression) -> Expression:
        """The derivative by time, along the motion."""
        return self._derivative(expression, lambda ours: Name(f"rate@{ours}"))

    def _derivative(
        self, expression: Expression, of_ours: Callable[[str], Expression]
    ) -> Expression:
        """From the derivatives of our names, through the text's definitions."""

        def of_name(name: str) -> Expression:
            meaning = name if "@" in name else self.find(name)
            if meaning is None:
                raise self.unknown(name)
            return of_ours(meaning) if isinstance(meaning, str) else derivative(meaning, of_name)

        return derivative(expression, of_name)

    def unknown(self, name: str) -> NameNotFoundError:
        name = name.removeprefix(OURS)
        known = [*self.vocabulary.given, *self.vocabulary.papers.energies]
        near = [word for word in get_close_matches(name, known, n=3) if word not in self.defined]
        stem = name.rstrip("0123456789_")
        if self.vocabulary.papers.why_index_fails(name) and stem in self.vocabulary.parameters:
            near = [stem]  # a parameter m, written m1
        elif why := self.vocabulary.papers.why_index_fails(name):
            return NameNotFoundError(
                f"'{shorten(name)}' has no meaning for {self.vocabulary.mechanism.name}: {why}",
                remedy="count coordinates, bodies and constraints from 1, or say what it is",
            )
        advice = f"did you mean {' or '.join(map(repr, near))}? or " if near else ""
        return NameNotFoundError(
            f"'{shorten(name)}' has no meaning for {self.vocabulary.mechanism.name}",
            remedy=f"{advice}say what it is, with names or ':='",
        )

    # -- definitions ------------------------------------------------------------------------

    def _define(self) -> None:
        """`a := b`, and `a = b` where a is a name that means nothing else."""
        for i, line in enumerate(self.lines):
            if line.is_definition and not isinstance(line.left, Name):
                raise ExpressionError(f"only a name can be defined, in '{line.text}'")
            if line.is_definition and isinstance(line.left, Name):
                if line.left.name in self.vocabulary.names.q:
                    self.coordinates.pop(line.left.name, None)
                self.redefine(line.left.name, line.right)
                self.defining[i] = line.left.name
        ours = {name.removeprefix(OURS) for value in self.said.values() for name in names(value)}
        for i, line in enumerate(self.lines):
            for side, other in ((line.left, line.right), (line.right, line.left)):
                if i in self.defining or line.is_said_wrong or not isinstance(side, Name):
                    continue
                if side.name not in self and side.name not in names(other) | ours:
                    self.redefine(side.name, other)
                    self.defining[i] = side.name

    def _drop_idle(self) -> None:
        """A name that stands in one equation alone, without :=, and is nearly one of ours is rather
        a mistyped one; another is a definition that nothing uses."""
        words = [names(line.left) | names(line.right) for line in self.lines]
        counted = Counter(word for used in words for word in used)
        for i, name in list(self.defining.items()):
            rates = [name, f"d{name}", f"dd{name}"]
            if any(counted[word] > (word in words[i]) for word in rates):
                continue
            self.idle.add(i)
            if not self.lines[i].is_definition and self._is_nearly_ours(name):
                del self.defining[i], self.defined[name]
                self._known.clear()

    def _is_nearly_ours(self, name: str) -> bool:
        known = [*self.vocabulary.given, *self.vocabulary.papers.energies]
        own = self.vocabulary
        return (
            own.is_stray(name)
            or bool(own.papers.why_index_fails(name))
            or bool(get_close_matches(name, known, 1, 0.7))
        )

    def say(self, words: Mapping[str, str]) -> None:
        """More names of theirs for names of ours."""
        self.said |= {theirs: Name(f"{OURS}{ours}") for theirs, ours in words.items()}
        self._known.clear()

    def unsay(self, words: Iterable[str]) -> None:
        for word in words:
            self.said.pop(word, None)
        self._known.clear()

    def rate(self, expression: Expression) -> Expression:
        """The derivative by time."""
        return derivative(expression, self._rate_of_name)

    def _rate_of_name(self, name: str) -> Expression:
        own = self.find(name)
        if own in self.vocabulary.parameters or name == "pi":
            return ZERO
        if own == "t":
            return Number(Fraction(1))
        if name.startswith(OURS):
            return Name(f"{OURS}d{name.removeprefix(OURS)}")
        return Name(f"d{name}")

    # -- inference --------------------------------------------------------------------------

    def _coordinates(self) -> dict[str, str]:
        """Coordinates that the text calls otherwise: a letter with the numbers of ours, or, of one
        coordinate, a letter alone. Dots say that a letter is one."""
        own = self.vocabulary.names
        if own.nq != own.nv or any(name in self.used for name in own.q):
            return {}
        for letter in self._families():
            found: dict[str, str] = {}
            for i, name in enumerate(own.q, 1):
                theirs = (
                    letter if own.nq == 1 and f"{letter}1" not in self._bare else f"{letter}{i}"
                )
                if theirs in self.said:
                    return {}
                found[theirs] = name
                for one, two in spellings(theirs):
                    found |= {one: f"d{name}", two: f"dd{name}"}
            clash = found.keys() & set(self.vocabulary.own) & self.used
            if not clash and self._covers(letter, found):
                return {key: x for key, x in found.items() if key not in self.said}
        return {}

    def _covers(self, letter: str, found: Mapping[str, str]) -> bool:
        """Whether all names of the text with this letter and a number are among the coordinates."""
        numbered = re.compile(rf"{letter}_?\d+")
        return all(x.replace("_", "") in found for x in self.used if numbered.fullmatch(x))

    @property
    def _bare(self) -> set[str]:
        return {name.lstrip("d") for name in self.used} | {n.replace("_", "") for n in self.used}

    def _families(self) -> list[str]:
        """Letters that dots or custom make coordinates, those with dots first."""
        dotted, plain = [], []
        for letter in _LETTERS:
            stems = {letter, f"{letter}1", f"{letter}_1", f"{letter}2"}
            rates = {word for stem in stems for pair in spellings(stem) for word in pair}
            if any(word in self.vocabulary for word in rates & self.used):
                continue  # x1, … are mass centres
            if rates & self.used:
                dotted.append(letter)
            elif stems & self.used and self._is_customary(letter):
                plain.append(letter)
        return dotted + plain

    def _is_customary(self, letter: str) -> bool:
        """Whether a letter without dots means coordinates: q any, theta angles, unless ours do."""
        own = self.vocabulary
        if letter not in ("q", "theta") or letter in own.families or letter in own.own:
            return False
        joints = [joint for _, joint in own.mechanism.joints_depth_first() if joint.moves]
        return letter == "q" or all(f.turns for joint in joints for f in joint.freedoms)

    def _respelled(self, name: str) -> str | None:
        """l_1 or L1 for l1, m for m1 where there is one only, s3prime for s3 if s3 is not used."""
        if (plain := self._without_marks(name)) is not None:
            return plain
        flat = name.replace("_", "")
        if flat != name and (flat in self.coordinates or flat in self.defined):
            return self.coordinates.get(flat) or flat
        own = self.vocabulary.parameters
        same = [p for p in own if p.replace("_", "").lower() == flat.lower() and p not in self.used]
        if len(same) == 1:
            return same[0]
        numbered = [p for p in own if p.rstrip("0123456789") == flat]
        return numbered[0] if len(numbered) == 1 else None

    def _without_marks(self, name: str) -> str | None:
        """Our name of which a text writes only the form with a prime or an accent."""
        plain = MARKS.sub("", name)
        has_both = any(word.lstrip("d") == plain.lstrip("d") for word in self.used)
        if len(MARKS.findall(name)) != 1 or has_both or plain not in self.vocabulary.given:
            return None
        return plain

    def _short(self, name: str) -> Expression | None:
        """s12 is the sine of q1 + q2, where coordinates have these names; else of the sum of the
        first and second coordinate."""
        match = _SHORT.fullmatch(name)
        own = self.vocabulary.names.q
        if match is None or name.replace("_", "") in self.vocabulary.given:
            return None
        at = [int(d) for d in match[2]]
        if not all(1 <= i <= len(own) for i in at) or len(set(at)) < len(at):
            return None
        named = {name.replace("_", ""): name for name in own}
        is_named = all(f"q{i}" in named for i in at)
        chosen = [Name(named[f"q{i}"] if is_named else own[i - 1]) for i in at]
        angle: Expression = chosen[0] if len(chosen) == 1 else Sum(tuple(chosen))
        return Call("sin" if match[1] in "sS" else "cos", (angle,))

    @cached_property
    def _shorts(self) -> list[str]:
        return [name for name in self.used if _SHORT.fullmatch(name)]

    def _short_is_trigonometric(self, name: str) -> bool:
        """C12 and c123 are cosines where sines are written so, and no C11 or c112 occurs."""
        if name.replace("_", "") in self.vocabulary.given or not _SHORT.fullmatch(name):
            return False
        letter, family = name[0], self._shorts
        sines = any(n[0] == {"c": "s", "C": "S"}.get(letter, letter) for n in family)
        indices = [n[1:].lstrip("_") for n in family if n[0] == letter]
        return sines and all(len(set(at)) == len(at) for at in indices)
