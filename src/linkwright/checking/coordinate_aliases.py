"""Coordinates that a text calls by another letter than the mechanism does."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence, Set

from .symbol_table import COORDINATE_LETTERS, spellings_of_rate
from .vocabulary import CheckerVocabulary

GENERIC_COORDINATE_LETTER = "q"
"""The letter whose numbers count the coordinates, whatever our names are."""


def infer_coordinate_aliases(
    vocabulary: CheckerVocabulary, text_names: Set[str], given_names: Container[str]
) -> dict[str, str]:
    """The text's names of coordinates and their rates, with ours: a letter with numbers that count
    them, or, for one coordinate, a letter alone. Dots show that a letter is a coordinate."""
    own = vocabulary.names
    if own.nq != own.nv or any(name in text_names for name in own.q):
        return {}
    undotted = _undotted_names(text_names)
    for letter in _coordinate_letters(vocabulary, text_names):
        found: dict[str, str] = {}
        is_letter_alone = own.nq == 1 and f"{letter}1" not in undotted
        if not is_letter_alone and _is_own_letter(own.q, letter):
            continue  # dq1 where there is q2: another member of our family
        for i, name in enumerate(own.q, 1):
            theirs = letter if is_letter_alone else f"{letter}{i}"
            if theirs in given_names:
                return {}
            found[theirs] = name
            for one, two in spellings_of_rate(theirs):
                found |= {one: f"d{name}", two: f"dd{name}"}
        clash = found.keys() & set(vocabulary.mechanism_symbols) & text_names
        if (
            not clash
            and _covers_coordinates(text_names, letter, found)
            and not _contradicts_our_numbers(own.q, text_names, letter, found)
        ):
            return {key: x for key, x in found.items() if key not in given_names}
    return {}


def _is_own_letter(coordinates: Sequence[str], letter: str) -> bool:
    """Whether a coordinate of ours has this letter and a number, or is one of several and has the
    letter alone: theta1 is not x where the coordinates are x and theta."""
    numbered = re.compile(rf"{letter}_?\d+")
    return any(map(numbered.fullmatch, coordinates)) or (
        len(coordinates) > 1 and letter in coordinates
    )


def _contradicts_our_numbers(
    coordinates: Sequence[str], text_names: Set[str], letter: str, found: Mapping[str, str]
) -> bool:
    """Whether a letter's numbers may also be those in our names, with another meaning: phi1 and
    phi2 where the coordinates are x, theta1 and theta2. The letter q always counts."""
    flat = {name.replace("_", "") for name in text_names}
    used = {
        theirs: ours
        for theirs, ours in found.items()
        if ours in coordinates
        and flat & {theirs, *(word for pair in spellings_of_rate(theirs) for word in pair)}
    }
    numbers = [name[len(name.rstrip("0123456789")) :] for name in coordinates]
    by_number = {
        f"{letter}{number}": name
        for name, number in zip(coordinates, numbers, strict=True)
        if number and numbers.count(number) == 1
    }
    return (
        letter != GENERIC_COORDINATE_LETTER
        and used.keys() <= by_number.keys()
        and any(by_number[theirs] != ours for theirs, ours in used.items())
    )


def _covers_coordinates(text_names: Set[str], letter: str, found: Mapping[str, str]) -> bool:
    """Whether all names of the text with this letter and a number are among the coordinates."""
    numbered = re.compile(rf"{letter}_?\d+")
    return all(x.replace("_", "") in found for x in text_names if numbered.fullmatch(x))


def _undotted_names(text_names: Set[str]) -> set[str]:
    """Names of the text without dots, and without underscores."""
    return {name.lstrip("d") for name in text_names} | {n.replace("_", "") for n in text_names}


def _coordinate_letters(vocabulary: CheckerVocabulary, text_names: Set[str]) -> list[str]:
    """Letters that are coordinates by their dots or by custom, those with dots first."""
    dotted, plain = [], []
    for letter in COORDINATE_LETTERS:
        stems = {letter, f"{letter}1", f"{letter}_1", f"{letter}2"}
        rates = {word for stem in stems for pair in spellings_of_rate(stem) for word in pair}
        if any(word in vocabulary for word in rates & text_names):
            continue  # x1, … are centres of mass
        if rates & text_names:
            dotted.append(letter)
        elif stems & text_names and _is_customary_letter(vocabulary, letter):
            plain.append(letter)
    return dotted + plain


def _is_customary_letter(own: CheckerVocabulary, letter: str) -> bool:
    """Whether a letter without dots means coordinates: q any, theta angles, unless ours do."""
    if (
        letter not in ("q", "theta")
        or letter in own.name_families
        or letter in own.mechanism_symbols
    ):
        return False
    joints = [joint for _, joint in own.mechanism.joints_depth_first() if joint.moves]
    return letter == "q" or all(f.is_rotation for joint in joints for f in joint.dofs)
