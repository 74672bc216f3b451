"""Shorthands of papers for sines and cosines: s12 for sin(q1 + q2)."""

from __future__ import annotations

from collections.abc import Iterable

from ..expressions import Expression
from .symbol_table import TRIG_SHORTHANDS
from .vocabulary import CheckerVocabulary


def expand_trig_shorthand(vocabulary: CheckerVocabulary, name: str) -> Expression | None:
    """The sine or cosine that a shorthand stands for, unless the mechanism has such a name."""
    if name.replace("_", "") in vocabulary.atomic_symbols:
        return None
    for row in TRIG_SHORTHANDS.values():
        if (arguments := row.arguments(name, vocabulary)) is not None:
            return row.value(vocabulary, *arguments)
    return None


def is_trig_shorthand(vocabulary: CheckerVocabulary, text_names: Iterable[str], name: str) -> bool:
    """Whether a text means a shorthand: C12 and c123 are cosines where sines are written so, and
    no C11 or c112 occurs."""
    is_ours = name.replace("_", "") in vocabulary.atomic_symbols
    if is_ours or not _has_shorthand_form(name):
        return False
    letter = name[0]
    family = [x for x in text_names if _has_shorthand_form(x)]
    sines = any(n[0] == {"c": "s", "C": "S"}.get(letter, letter) for n in family)
    indices = [n[1:].lstrip("_") for n in family if n[0] == letter]
    return sines and all(len(set(at)) == len(at) for at in indices)


def _has_shorthand_form(name: str) -> bool:
    return any(row.has_form(name) for row in TRIG_SHORTHANDS.values())
