"""Closed forms of the symbols that the checker knows: dp1, ddx2, L_dq1, Fx_q1, JT11, …"""

from __future__ import annotations

from itertools import chain

import casadi as ca

from ..equations import Equations
from ..forms.form_sources import SymbolSource
from ..types import SX
from .approximate_vocabulary import ApproximateCheckerVocabulary
from .symbol_patterns import NUMBERS, CheckerSymbolRow, Value, list_checker_symbols
from .symbol_table import (
    DUAL_COMPONENTS,
    DUAL_UNIT_NAME,
    DUAL_VECTORS,
    MASS_MATRIX,
    RARE_MASS_MATRIX,
    TRIG_SHORTHANDS,
    WHOLE_SYMBOLS,
)
from .vocabulary import CheckerVocabulary


def find_symbol_source(eqs: Equations, name: str) -> SymbolSource | None:
    """The expression of a checker's symbol, in equations that have its symbols; None if the name
    has no meaning for the mechanism. Under `approximate` the names are those of its equations."""
    vocabulary = _symbol_vocabulary(eqs)
    found = vocabulary.find_expression(name)
    for find in (_shorthand_value, _dual_component_value, _whole_matrix_value):
        found = find(vocabulary, name) if found is None else found
    if found is None:
        return None
    own = dict(zip(vocabulary.parameters, ca.vertsplit(vocabulary.symbols["p"]), strict=True))
    twins = vocabulary.duplicate_parameters
    old, new = ([own[key] for key in keys] for keys in (twins.keys(), twins.values()))
    value = ca.substitute(ca.SX(found), ca.vertcat(*old), ca.vertcat(*new)) if old else ca.SX(found)
    return SymbolSource(vocabulary.eqs, value, _symbol_names(vocabulary))


def why_symbol_is_absent(eqs: Equations, name: str) -> str:
    """Return why a symbol of the checker has no value here; empty if it does not know the name."""
    vocabulary = _symbol_vocabulary(eqs)
    of = f"for {eqs.mechanism.name}"
    whole = next((one for one in WHOLE_SYMBOLS if name in one.letters.split()), None)
    if whole is not None:
        return f"'{name}', the symbol of {whole.meaning}, has no value {of}"
    if any(_names_part_of_mechanism(vocabulary, row, name) for row in DUAL_VECTORS):
        return (
            f"'{name}' is a dual vector, which has no closed form; ask for a component, such as V1x"
        )
    if why := vocabulary.why_index_fails(name):
        return f"'{name}' has no value {of}: {why}"
    told = (_why_row_has_no_value(vocabulary, row, name) for row in vocabulary.paper_rows)
    dual = (_why_row_has_no_value(vocabulary, row, name) for row in DUAL_COMPONENTS)
    return next(filter(None, chain(told, dual)), "")


def _why_row_has_no_value(
    vocabulary: CheckerVocabulary, row: CheckerSymbolRow[Value], name: str
) -> str:
    """Why a symbol of the row has no value; empty if the name is not of this row."""
    if not _names_part_of_mechanism(vocabulary, row, name):
        return ""
    is_met = row.requirement is None or row.requirement.is_met(vocabulary)
    reason = "" if row.requirement is None or is_met else f": {row.requirement.message}"
    of = f"for {vocabulary.eqs.mechanism.name}"
    return f"'{name}' ({row.meaning}) has no value {of}{reason}"


def _names_part_of_mechanism(
    vocabulary: CheckerVocabulary, row: CheckerSymbolRow[Value], name: str
) -> bool:
    """Whether a name is written like a symbol of the row, with a word that the mechanism has."""
    texts, own = row.matched_texts(name), vocabulary.names
    known = {*own.joints, *own.qd, *vocabulary.frame_names}
    words = zip(row.word_keys, texts or (), strict=False)
    return texts is not None and all(
        word in known for key, word in words if key in ("joint", "frame", "velocity")
    )


def _shorthand_value(vocabulary: CheckerVocabulary, name: str) -> SX | None:
    """sin(q1 + q2) for s12."""
    for row in TRIG_SHORTHANDS.values():
        if (arguments := row.arguments(name, vocabulary)) is not None:
            made = row.value(vocabulary, *arguments)
            return None if made is None else vocabulary.translate_expression(made, str)
    return None


def _dual_component_value(vocabulary: CheckerVocabulary, name: str) -> SX | None:
    """The real part of a dual component plus eps times its dual part."""
    for row in DUAL_COMPONENTS:
        arguments = row.arguments(name, vocabulary)
        pair = row.value(vocabulary, *arguments) if arguments is not None else None
        if pair is not None:
            real, dual = (part["xyz".index(name[-1])] for part in pair)
            return real + ca.SX.sym(DUAL_UNIT_NAME) * dual
    return None


def _whole_matrix_value(vocabulary: CheckerVocabulary, name: str) -> SX | None:
    """The matrix or vector of a letter, entry by entry."""
    symbol = next((one for one in WHOLE_SYMBOLS if name in one.letters.split()), None)
    if symbol is None:
        return None
    symbol = MASS_MATRIX if symbol is RARE_MASS_MATRIX else symbol
    rows, *columns = (NUMBERS[key].size(vocabulary) for key in symbol.indices)
    ends = [str(k + 1) for k in range(columns[0])] if columns else [""]
    for letter in (name, *symbol.letters.split()):
        entries = [
            found
            for i in range(rows)
            for j in ends
            if (found := vocabulary.paper_expression(f"{letter}{i + 1}{j}")) is not None
        ]
        if rows and len(entries) == rows * len(ends):
            return ca.reshape(ca.vertcat(*entries), len(ends), rows).T
    return None


def _symbol_vocabulary(eqs: Equations) -> CheckerVocabulary:
    """The vocabulary of the equations' mechanism, made once."""
    if ("checker", "vocabulary") not in eqs._built:
        kind = ApproximateCheckerVocabulary if eqs.by == "approximate" else CheckerVocabulary
        eqs._built["checker", "vocabulary"] = kind(eqs.mechanism)
    vocabulary: CheckerVocabulary = eqs._built["checker", "vocabulary"]
    return vocabulary


def _symbol_names(vocabulary: CheckerVocabulary) -> dict[int, str]:
    """The first spelling of each free symbol, by element hash."""
    found: dict[int, str] = {}
    for rows in (vocabulary.mechanism_rows, vocabulary.force_rows):
        for name, value in list_checker_symbols(rows, vocabulary).items():
            symbol: SX = ca.SX(value)
            if symbol.is_symbolic():
                found.setdefault(symbol.element_hash(), name)
    return found
