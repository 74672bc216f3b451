"""The names of an equation whose meanings were neither given nor known, but inferred."""

from __future__ import annotations

from collections.abc import Mapping

from .prover import EquationSides
from .symbol_meanings import SymbolMeanings
from .symbol_table import spellings_of_rate


def inferred_names_of_statement(
    meanings: SymbolMeanings, pair: EquationSides, guessed: Mapping[str, str]
) -> dict[str, str]:
    """Names of an equation, and of the definitions that it uses, with what they were read as.

    `guessed` are the names that were chosen because equations hold with them.
    """
    found: dict[str, str] = {}
    for name in sorted(meanings.names_behind_sides(pair)):
        if name in guessed:
            found[name] = guessed[name]
        elif (reading := _inferred_reading(meanings, name)) is not None:
            found |= dict([reading])
    return found


def _inferred_reading(meanings: SymbolMeanings, name: str) -> tuple[str, str] | None:
    """A name with ours for it, where it is inferred from its letter; the rate of a coordinate is
    read as the coordinate is."""
    flat = name.replace("_", "")
    ours = meanings.find_meaning(name)
    if ours is None or name in meanings.given_meanings or name in meanings.definitions:
        return None
    for theirs, coordinate in meanings.coordinate_aliases.items():
        rates = (rate for pair in spellings_of_rate(theirs) for rate in pair)
        if coordinate in meanings.vocabulary.names.q and flat in (theirs, *rates):
            return theirs, coordinate
    is_known = name in meanings.vocabulary or flat in meanings.definitions
    if is_known or not isinstance(ours, str) or ours != meanings.respell_name(name):
        return None
    return name, ours
