"""Which of their symbols is which of ours: as said, as the text defines it, known, or inferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from functools import cached_property

from ..errors import ExpressionError, NameNotFoundError
from ..expressions import (
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
    names,
    negate,
    parse,
)
from ..expressions.tokens import shorten
from .latex_symbols import MARKS
from .reading import Line
from .vocabulary import Vocabulary, spellings

_SHORT = re.compile(r"([sScC])_?(\d+)")
_INDEX = re.compile(r"(\D+?)_?(\d+)")
_LETTERS = ("q", "theta", "phi", "psi", "alpha", "beta", "gamma", "x", "y", "z", "s", "d", "r")


class Meanings:
    """The meaning of every name in one section of a text: ours, or an expression of others."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        lines: Sequence[Line],
        said: Mapping[str, str],
        *,
        lenient: bool = False,
    ) -> None:
        self.vocabulary = vocabulary
        self.lines = lines
        self.said = {name: parse(text) for name, text in said.items()}
        self.used = frozenset().union(*(names(x.left) | names(x.right) for x in lines))
        self.defined: dict[str, Expression] = {}
        self.defining: dict[int, str] = {}
        self._known: dict[str, str | Expression | None] = {}
        self.coordinates = self._coordinates()
        self._define()
        self._refuse_idle(lenient)

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
        if name in self.said:
            value = self.said[name]
            own = isinstance(value, Name) and value.name == name
            return name if own else value
        if name in self.defined:
            return self.defined[name]
        if name in self.coordinates:
            return self.coordinates[name]
        if self._short_is_trigonometric(name) and (short := self._short(name)) is not None:
            return short
        if name in self.vocabulary:
            return name
        if name.startswith("d") and name[1:] in self.defined:
            return self.rate(self.defined[name[1:]])
        if (short := self._short(name)) is not None:
            return short
        return self._respelled(name)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def wanted(self, expressions: Iterable[Expression]) -> list[str]:
        """Our names that the expressions need; an error for one that means nothing."""
        found: dict[str, None] = {}
        stack: set[str] = set()

        def visit(expression: Expression) -> None:
            for name in sorted(names(expression)):
                if name in stack:
                    raise ExpressionError(f"'{name}' is defined by itself")
                meaning = self.find(name)
                if meaning is None:
                    raise self.unknown(name)
                if isinstance(meaning, str):
                    found[meaning] = None
                else:
                    stack.add(name)
                    visit(meaning)
                    stack.discard(name)

        for expression in expressions:
            visit(expression)
        return list(found)

    def unknown(self, name: str) -> NameNotFoundError:
        known = [*self.vocabulary.given, *self.vocabulary.energies]
        near = [word for word in get_close_matches(name, known, n=3) if word not in self.defined]
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
        ours = frozenset().union(*(names(value) for value in self.said.values()))
        for i, line in enumerate(self.lines):
            for side, other in ((line.left, line.right), (line.right, line.left)):
                if i in self.defining or line.is_said_wrong or not isinstance(side, Name):
                    continue
                if side.name not in self and side.name not in names(other) | ours:
                    self.redefine(side.name, other)
                    self.defining[i] = side.name

    def _refuse_idle(self, lenient: bool) -> None:
        """A name that stands in one equation alone, without :=, is rather a mistyped one."""
        words = [names(line.left) | names(line.right) for line in self.lines]
        counted = Counter(word for used in words for word in used)
        for i, name in list(self.defining.items()):
            rates = [name, f"d{name}", f"dd{name}"]
            used = any(counted[word] > (word in words[i]) for word in rates)
            if self.lines[i].is_definition or used:
                continue
            if not lenient:
                raise self.unknown(name)
            del self.defining[i], self.defined[name]
            self._known.clear()

    def say(self, words: Mapping[str, str]) -> None:
        """More names of theirs for names of ours."""
        self.said |= {theirs: Name(ours) for theirs, ours in words.items()}
        self._known.clear()

    def unsay(self, words: Iterable[str]) -> None:
        for word in words:
            self.said.pop(word, None)
        self._known.clear()

    def rate(self, expression: Expression) -> Expression:
        """The derivative by time."""
        match expression:
            case Number():
                return ZERO
            case Name(name):
                return self._rate_of_name(name)
            case Negation(operand):
                return negate(self.rate(operand))
            case Sum(terms):
                return Sum(tuple(self.rate(term) for term in terms))
            case Product(factors):
                return Sum(tuple(
                    Product((*factors[:i], self.rate(factor), *factors[i + 1 :]))
                    for i, factor in enumerate(factors)
                ))  # fmt: skip
            case Reciprocal(operand):
                square = Power(operand, Number(Fraction(2)))
                return negate(Product((self.rate(operand), Reciprocal(square))))
            case Power(base, Number(n)):
                return Product((Number(n), Power(base, Number(n - 1)), self.rate(base)))
            case Call("sin", (angle,)):
                return Product((Call("cos", (angle,)), self.rate(angle)))
            case Call("cos", (angle,)):
                return negate(Product((Call("sin", (angle,)), self.rate(angle))))
            case _:
                raise ExpressionError("the rate of a definition cannot be formed")

    def _rate_of_name(self, name: str) -> Expression:
        own = self.find(name)
        if own in self.vocabulary.parameters or name == "pi":
            return ZERO
        if own == "t":
            return Number(Fraction(1))
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
            clash = found.keys() & set(self.vocabulary.parameters) & self.used
            if not clash:
                return {key: x for key, x in found.items() if key not in self.said}
        return {}

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
            elif (
                stems & self.used
                and letter in ("q", "theta")
                and not (stems & set(self.vocabulary.parameters))
            ):
                plain.append(letter)
        return dotted + plain

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
        """s12 is the sine of the sum of the first and second coordinate."""
        match = _SHORT.fullmatch(name)
        own = self.vocabulary.names.q
        if match is None or name in self.vocabulary.given:
            return None
        at = [int(d) for d in match[2]]
        if not all(1 <= i <= len(own) for i in at) or len(set(at)) < len(at):
            return None
        angle: Expression = Sum(tuple(Name(own[i - 1]) for i in at))
        angle = Name(own[at[0] - 1]) if len(at) == 1 else angle
        return Call("sin" if match[1] in "sS" else "cos", (angle,))

    @cached_property
    def _shorts(self) -> list[str]:
        return [name for name in self.used if _SHORT.fullmatch(name)]

    def _short_is_trigonometric(self, name: str) -> bool:
        """C12 and c123 are cosines where sines are written so, and no C11 or c112 occurs."""
        if name in self.vocabulary.given or not _SHORT.fullmatch(name):
            return False
        letter, family = name[0], self._shorts
        sines = any(n[0] == {"c": "s", "C": "S"}.get(letter, letter) for n in family)
        indices = [n[1:].lstrip("_") for n in family if n[0] == letter]
        return sines and all(len(set(at)) == len(at) for at in indices)
