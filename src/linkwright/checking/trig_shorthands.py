"""Shorthands of papers for sines and cosines: s12 for sin(q1 + q2)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..expressions import Call, Expression, Name, Sum
from .vocabulary import Vocabulary

_TRIG_SHORTHAND_NAME = re.compile(r"([sScC])_?(\d+)")


def expand_trig_shorthand(vocabulary: Vocabulary, name: str) -> Expression | None:
    """s12 is the sine of q1 + q2, where coordinates have these names; else of the sum of the
    first and second coordinate."""
    match = _TRIG_SHORTHAND_NAME.fullmatch(name)
    own = vocabulary.names.q
    if match is None or name.replace("_", "") in vocabulary.atomic_symbols:
        return None
    at = [int(d) for d in match[2]]
    if not all(1 <= i <= len(own) for i in at) or len(set(at)) < len(at):
        return None
    named = {name.replace("_", ""): name for name in own}
    is_named = all(f"q{i}" in named for i in at)
    chosen = [Name(named[f"q{i}"] if is_named else own[i - 1]) for i in at]
    angle: Expression = chosen[0] if len(chosen) == 1 else Sum(tuple(chosen))
    return Call("sin" if match[1] in "sS" else "cos", (angle,))


def is_trig_shorthand(vocabulary: Vocabulary, text_names: Iterable[str], name: str) -> bool:
    """C12 and c123 are cosines where sines are written so, and no C11 or c112 occurs."""
    is_ours = name.replace("_", "") in vocabulary.atomic_symbols
    if is_ours or not _TRIG_SHORTHAND_NAME.fullmatch(name):
        return False
    letter = name[0]
    family = [x for x in text_names if _TRIG_SHORTHAND_NAME.fullmatch(x)]
    sines = any(n[0] == {"c": "s", "C": "S"}.get(letter, letter) for n in family)
    indices = [n[1:].lstrip("_") for n in family if n[0] == letter]
    return sines and all(len(set(at)) == len(at) for at in indices)
