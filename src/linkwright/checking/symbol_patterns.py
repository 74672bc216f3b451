"""Rows of the table of symbols: a pattern of names, what they mean, and their value.

A pattern is a name with placeholders: `M{i}{j}` is M12, M_12 or M1_2, and `x{body}` is x1 or x_1.
Numbers count from 1 up to a size of the mechanism; words are names of the mechanism's parts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary

Value = TypeVar("Value")
MAX_INDEX_DIGITS = 4
_PLACEHOLDER = re.compile(r"\{([\w.]+)\}")
_INDEX_DIGITS = r"_?(\d[\d_]*)"
"""The indices of a symbol: digits, with underscores between numbers of several digits."""


@dataclass(frozen=True)
class SymbolNumberPlaceholder:
    """A number from 1 to `size`; `absence` is the message where a mechanism has no such thing."""

    size: Callable[[CheckerVocabulary], int]
    example: str = "1"
    absence: str = ""


@dataclass(frozen=True)
class SymbolWordPlaceholder:
    """A word of a name. `choices` lists (index, word) of a mechanism where the words are known."""

    example: str
    regex: str = r"\w+"
    choices: Callable[[CheckerVocabulary], Sequence[tuple[int, str]]] | None = None


class RateSpelledName(str):
    """The name of a coordinate whose velocity is written with marks, also before its number."""

    __slots__ = ()

    @property
    def stem(self) -> str:
        """The name without the number at its end."""
        return self.rstrip("0123456789")

    @property
    def number(self) -> str:
        """The number at the end of the name."""
        return self[len(self.stem) :]


_NO_CONSTRAINTS = "the mechanism has no constraints, which {stem} belongs to"
_NO_HOLONOMIC = "the mechanism has no holonomic constraints, which f1, f2, … stand for"

NUMBERS = {
    "i": SymbolNumberPlaceholder(lambda own: own.names.nv),
    "j": SymbolNumberPlaceholder(lambda own: own.names.nv, "2"),
    "k": SymbolNumberPlaceholder(lambda own: own.names.nv, "3"),
    "effort": SymbolNumberPlaceholder(lambda own: len(own.names.actuators) or own.names.nv),
    "body": SymbolNumberPlaceholder(lambda own: len(own.names.bodies)),
    "row": SymbolNumberPlaceholder(lambda own: 3),
    "constraint": SymbolNumberPlaceholder(
        lambda own: len(own.names.constraints), "1", _NO_CONSTRAINTS
    ),
    "holonomic": SymbolNumberPlaceholder(
        lambda own: own.names.position_row_count, "1", _NO_HOLONOMIC
    ),
    "spring": SymbolNumberPlaceholder(lambda own: own.spring_count),
    "moving": SymbolNumberPlaceholder(lambda own: len(own.coordinate_names)),
}
"""Numbers of velocities, efforts, bodies, rows of a vector in space, constraints, and the springs
and coordinates of the approximate equations."""

WORDS = {
    "axis": SymbolWordPlaceholder("x", "[xyz]"),
    "energy": SymbolWordPlaceholder("L", "[A-Z]"),
    "entry": SymbolWordPlaceholder("M12", r"(?!d[A-Za-z])[A-Za-z]+\d+"),
    "variable": SymbolWordPlaceholder("q1"),
    "rate": SymbolWordPlaceholder("dq1"),
    "joint": SymbolWordPlaceholder("q1", ".+"),
    "frame": SymbolWordPlaceholder("tool", r"(?!\d)\w+"),
    "digit": SymbolWordPlaceholder("1", r"\d"),
    "word": SymbolWordPlaceholder("x", r"\w*"),
    "digits": SymbolWordPlaceholder("12", r"_?\d+"),
    "parameter": SymbolWordPlaceholder("m1", choices=lambda own: list(enumerate(own.parameters))),
    "coordinate": SymbolWordPlaceholder(
        "q1", choices=lambda own: list(enumerate(own.coordinate_names))
    ),
    "actuator": SymbolWordPlaceholder(
        "motor", choices=lambda own: list(enumerate(own.names.actuators))
    ),
    "velocity": SymbolWordPlaceholder("q1", choices=lambda own: list(enumerate(own.names.qd))),
    "turning": SymbolWordPlaceholder("ball.qw", r"(?!\d)[\w.]+"),
    "multiplier": SymbolWordPlaceholder("pin_1", choices=lambda own: own.multiplier_names),
    "rated": SymbolWordPlaceholder(
        RateSpelledName("q1"), choices=lambda own: own.coordinates_with_rates
    ),
    "speed": SymbolWordPlaceholder(
        "wx_body", choices=lambda own: own.velocities_without_coordinate
    ),
}
"""Axes, names of the mechanism, and single digits where a name has no room for more."""


@dataclass(frozen=True)
class SymbolRequirement:
    """A condition without which a symbol has no meaning, and the message if it is not met."""

    is_met: Callable[[CheckerVocabulary], bool]
    message: str = ""


@dataclass(frozen=True)
class CheckerSymbolRow(Generic[Value]):
    """Spellings of a symbol, separated by spaces, its meaning, and the function of its value.

    The function takes the vocabulary and what the placeholders stand for: words as text, axes and
    numbers counted from zero. It returns None where a mechanism has no such quantity.
    """

    patterns: str
    meaning: str
    value: Callable[..., Value | None]
    requirement: SymbolRequirement | None = None
    ignores_underscores: bool = False

    @property
    def spellings(self) -> list[str]:
        """The patterns one by one."""
        return self.patterns.split()

    @property
    def examples(self) -> list[str]:
        """The spellings with an example for every placeholder, for the documentation."""
        words = {key: one.example for key, one in (NUMBERS | WORDS).items()}
        return [spelling.format(**words) for spelling in self.spellings]

    @cached_property
    def _regexes(self) -> list[re.Pattern[str]]:
        return [_compile_symbol_pattern(x, self.ignores_underscores) for x in self.spellings]

    @cached_property
    def number_keys(self) -> list[str]:
        """The placeholders of the symbol's indices, such as i and j."""
        return [key for key in _PLACEHOLDER.findall(self.spellings[0]) if key in NUMBERS]

    @cached_property
    def word_keys(self) -> list[str]:
        """The placeholders of words, such as axis and joint."""
        return [key for key in _PLACEHOLDER.findall(self.spellings[0]) if key in WORDS]

    def matched_texts(self, name: str) -> tuple[str, ...] | None:
        """The texts in place of the words and the indices; None if no pattern has this form."""
        own = name.replace("_", "") if self.ignores_underscores else name
        for regex in self._regexes:
            if match := regex.fullmatch(own):
                return match.groups()
        return None

    def has_form(self, name: str) -> bool:
        """Whether a name is written like this symbol, with one digit for each of its indices; a
        single index may have several."""
        texts = self.matched_texts(name)
        if texts is None or not self.number_keys:
            return texts is not None
        count, parts = len(self.number_keys), texts[-1].split("_")
        if count == 1 or len(parts) > 1:
            return len(parts) == count and (count == 1 or all(len(part) == 1 for part in parts))
        return len(texts[-1]) == count

    def index_sizes(self, own: CheckerVocabulary) -> list[int]:
        """The largest value of each index."""
        return [NUMBERS[key].size(own) for key in self.number_keys]

    def arguments(self, name: str, own: CheckerVocabulary) -> tuple[int | str, ...] | None:
        """What the placeholders stand for in a name; None if it is not of this row, or out of
        range."""
        texts = self.matched_texts(name)
        if texts is None or (self.requirement and not self.requirement.is_met(own)):
            return None
        words = [_read_placeholder_word(*pair) for pair in zip(self.word_keys, texts, strict=False)]
        if not self.number_keys:
            return tuple(words)
        at = split_symbol_indices(texts[-1], self.index_sizes(own))
        return (*words, *(i - 1 for i in at)) if at else None

    @cached_property
    def family_key(self) -> str:
        """The one placeholder of a row that lists a family of names; empty if it has none."""
        keys = {key.split(".")[0] for key in _PLACEHOLDER.findall(self.patterns)}
        assert len(keys) <= 1, self.patterns
        return keys.pop() if keys else ""

    def family_members(self, own: CheckerVocabulary) -> Sequence[tuple[int, str]]:
        """(index, word) of all members of the family in a mechanism."""
        if self.requirement and not self.requirement.is_met(own):
            return []
        if self.family_key in NUMBERS:
            return [(k, str(k + 1)) for k in range(NUMBERS[self.family_key].size(own))]
        choices = WORDS[self.family_key].choices if self.family_key else None
        return choices(own) if choices is not None else [(0, "")]

    def member_names(self, word: str) -> Iterator[str]:
        """The spellings of one member of the family, such as q1dot and qdot1 for q1."""
        for spelling in self.spellings:
            yield spelling.format(**{self.family_key: word}) if self.family_key else spelling


@dataclass(frozen=True)
class CheckerMatrixSymbol:
    """Letters of a matrix or vector, and the placeholders that number its entries."""

    letters: str
    indices: tuple[str, ...]
    meaning: str

    @property
    def examples(self) -> list[str]:
        """The letters one by one."""
        return self.letters.split()


def list_checker_symbols(
    rows: Sequence[CheckerSymbolRow[Value]], own: CheckerVocabulary
) -> dict[str, Value]:
    """All names of the rows with their values. Rows of the same family are listed member by member;
    of equal names the first counts."""
    found: dict[str, Value] = {}
    for _, group in groupby(rows, key=lambda row: row.family_key or row.patterns):
        family = list(group)
        for index, word in family[0].family_members(own):
            for row in family:
                value = row.value(own, index) if row.family_key else row.value(own)
                for name in row.member_names(word):
                    if value is not None:
                        found.setdefault(name, value)
    return found


def add_names_without_underscores(found: dict[str, Value]) -> dict[str, Value]:
    """The names, and beside them those without underscores; of equal names the first counts."""
    flat: dict[str, Value] = {}
    for name, value in found.items():
        flat.setdefault(name.replace("_", ""), value)
    return {**flat, **found}


def split_symbol_indices(text: str, sizes: Sequence[int]) -> list[int]:
    """12 is 1 and 2, or 12 where one index is wanted; with _ between them, indices may have several
    digits. Empty if they are not as many as the sizes, or out of range."""
    parts = text.strip("_").split("_")
    if len(parts) == 1 and len(sizes) > 1:
        (digits,) = parts
        width = len(digits) // len(sizes)
        parts = [digits[k : k + width] for k in range(0, len(digits), width or 1)]
    if len(parts) != len(sizes) or any(not 0 < len(part) <= MAX_INDEX_DIGITS for part in parts):
        return []
    at = [int(part) for part in parts]
    return at if all(1 <= i <= size for i, size in zip(at, sizes, strict=True)) else []


def _read_placeholder_word(key: str, text: str) -> int | str:
    """The index of an axis, and other words as they are."""
    return "xyz".index(text) if key == "axis" else text


def _compile_symbol_pattern(pattern: str, ignores_underscores: bool) -> re.Pattern[str]:
    """The regular expression of a pattern: one group for each word, and one for all indices."""
    pieces, in_numbers = [], False
    own = pattern.replace("_", "") if ignores_underscores else pattern
    for i, piece in enumerate(_PLACEHOLDER.split(own)):
        if i % 2 == 0:
            pieces.append(re.escape(piece))
            in_numbers = in_numbers and not piece
        elif piece in NUMBERS:
            pieces.append("" if in_numbers else _INDEX_DIGITS)
            in_numbers = True
        else:
            pieces.append(f"({WORDS[piece.split('.')[0]].regex})")
    return re.compile("".join(pieces))
