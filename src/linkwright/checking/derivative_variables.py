"""Coordinates that symbols of papers give by a name or by numbers: q1 in L_q1, 12 in s12."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..expressions import Call, Expression, Name, Sum
from ..mechanism import quaternion_coordinate_offsets

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary

_NUMBERED_VARIABLE = re.compile(r"(d?)q(\d+)")


def find_derivative_variable(vocabulary: CheckerVocabulary, name: str) -> tuple[str, int] | None:
    """The column and index of a coordinate or velocity that is derived by: one of the
    mechanism's own names; else q1 is the first coordinate, whatever its name."""
    own = vocabulary.names
    flat = name.replace("_", "")
    for key, words in (("q", own.q), ("qd", [f"d{word}" for word in own.qd])):
        for i, word in enumerate(words):
            if flat == word.replace("_", "") and not _is_quaternion_entry(vocabulary, key, i):
                return key, i
    match = _NUMBERED_VARIABLE.fullmatch(flat)
    if match is None or own.q != own.qd or not 1 <= int(match[2]) <= own.nv:
        return None
    return "qd" if match[1] else "q", int(match[2]) - 1


def number_behind_variable(vocabulary: CheckerVocabulary, variable: str) -> str:
    """The number of the coordinate for which people may take the variable q2 of a derivative,
    where a coordinate of that name has another number; else an empty text."""
    flat = variable.replace("_", "")
    place = find_derivative_variable(vocabulary, variable)
    number = _NUMBERED_VARIABLE.fullmatch(flat)
    if place is None or number is None or int(number[2]) == place[1] + 1:
        return ""
    is_own = flat.lstrip("d") in vocabulary.mechanism_symbols
    return number[2] if is_own else ""


def function_of_coordinate_sum(
    vocabulary: CheckerVocabulary, function: str, digits: str
) -> Expression | None:
    """sin(q1 + q2) for the digits 12, where coordinates have these names; else of the sum of
    the first and second coordinate."""
    own = vocabulary.names.q
    at = [int(digit) for digit in digits.lstrip("_")]
    if not all(1 <= i <= len(own) for i in at) or len(set(at)) < len(at):
        return None
    named = {name.replace("_", ""): name for name in own}
    is_named = all(f"q{i}" in named for i in at)
    chosen = [Name(named[f"q{i}"] if is_named else own[i - 1]) for i in at]
    return Call(function, (chosen[0] if len(chosen) == 1 else Sum(tuple(chosen)),))


def _is_quaternion_entry(vocabulary: CheckerVocabulary, column: str, i: int) -> bool:
    """Whether a coordinate cannot change alone."""
    return column == "q" and any(
        k <= i < k + 4 for k in quaternion_coordinate_offsets(vocabulary.mechanism)
    )
