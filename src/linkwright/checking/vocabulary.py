"""The meaning of names for a mechanism: its own names first, then those of papers.

The symbols are rows of `symbol_table`; this module looks names up in it. `L_q1` is the derivative
by the coordinate q1 where there is one of that name, else by the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import casadi as ca

from ..algebra.casadi_algebra import CasadiAlgebra
from ..algebra.operators import direct_casadi_operators
from ..errors import NameNotFoundError, UnsupportedError
from ..expressions import ExactNumber, Expression, fold_expression
from ..mechanism import Mechanism
from ..tape import Tape, record_tape
from ..types import SX
from .body_symbol_values import CheckerBodySymbols
from .checked_mechanism import CheckedMechanism
from .declarations import NO_DECLARATIONS, TextDeclarations
from .derivative_variables import number_behind_variable
from .printed_labels import is_printed_label, name_of_printed_label, printed_quantity_entry
from .reaction_symbol_values import CheckerReactionSymbols
from .symbol_patterns import (
    NUMBERS,
    CheckerSymbolRow,
    add_names_without_underscores,
    list_checker_symbols,
)
from .symbol_table import (
    DUAL_COMPONENTS,
    DUAL_VECTORS,
    EFFORT,
    ENTRIES,
    FORCE_SYMBOLS,
    MECHANISM_SYMBOLS,
    MULTIPLIER,
    NAMED_MOMENTA,
    PAPER_SYMBOLS,
)
from .symbol_values import CheckerSymbolValues
from .written_line_values import LABELLING_FORMULATIONS, WrittenLineValues

NumberConverter = Callable[[ExactNumber], Any]
SymbolRows = Sequence[CheckerSymbolRow[SX]]
MeaningLookup = Callable[[str], str | Expression | None]
_DERIVED_NAME_PREFIXES = ("rate@", "partial@", "lagrange@")


def require_exact_float_in_statement(value: ExactNumber) -> float:
    """The number, where floating point has it."""
    if isinstance(value, Fraction) and Fraction(float(value)) == value:
        return float(value)
    raise UnsupportedError(
        f"{value} cannot be represented exactly here", remedy="give it a name among the parameters"
    )


class CheckerVocabulary(CheckedMechanism):
    """The names that a mechanism gives a meaning to, and their expressions.

    It looks names up in the rows of three tables: the mechanism's own names, symbols of papers that
    are free symbols, and symbols of papers that are expressions. It has more than 20 methods
    because a heading of the text may change any single step of looking a name up.
    """

    mechanism_rows: SymbolRows = MECHANISM_SYMBOLS
    force_rows: SymbolRows = FORCE_SYMBOLS
    paper_rows: SymbolRows = PAPER_SYMBOLS
    indexed_rows: SymbolRows = (*ENTRIES, EFFORT, MULTIPLIER)
    """Rows of which an index out of range is an error of the text, and not another symbol."""

    inputs: tuple[str, ...] = ("q", "qd", "qdd", "tau", "u", "lambda", "t", "p")

    def __init__(self, mechanism: Mechanism, declared: TextDeclarations = NO_DECLARATIONS) -> None:
        super().__init__(mechanism, declared)
        self.generalized_speeds: list[SX] = []
        self.body_values = CheckerBodySymbols(self)
        self.values = CheckerSymbolValues(self)
        self.reaction_values = CheckerReactionSymbols(self)
        self._expression_cache: dict[str, SX | None] = {}
        self._paper_cache: dict[str, SX | None] = {}

    # -- finding ----------------------------------------------------------------------------

    def find_expression(self, name: str) -> SX | None:
        """The expression of a name, if it has one."""
        if name not in self._expression_cache:
            self._expression_cache[name] = self._resolve_symbol(name)
        return self._expression_cache[name]

    def require_expression(self, name: str) -> SX:
        """The expression of a name that is known to have one."""
        found = self.find_expression(name)
        assert found is not None, name
        return found

    def __contains__(self, name: str) -> bool:
        return self.find_expression(name) is not None

    def _resolve_symbol(self, name: str) -> SX | None:
        if "@" in name:
            is_derived = name.startswith(_DERIVED_NAME_PREFIXES)
            return self.values.derived_symbol(name) if is_derived else self._dual_part(name)
        if is_printed_label(name):
            return self.label_expression(name)
        if (own := _own_spelling(self, name)) is not None:
            return self.mechanism_symbols[own]
        return None if self.is_stray_name(name) else self.paper_expression(name)

    def label_expression(self, name: str) -> SX | None:
        """The entry that a printed label, such as M[1,2] or Gc1[1,2], names."""
        found = printed_quantity_entry(self, name)
        for written in self.written_labels if found is None else ():
            found = written.line_expression(name) if found is None else found
        return found

    def paper_spelling(self, name: str) -> str:
        """The spelling in papers of an entry that is written with a label: M1_2 for M[1,2]."""
        return name_of_printed_label(name)

    def adopt_text_speeds(
        self, lines: Sequence[tuple[str, Expression]], find: MeaningLookup
    ) -> None:
        """Take note of the names that a text defines; only printed dual velocities need to."""

    def ambiguity_sentence(self, names: Iterable[str]) -> str:
        """A sentence for a name with two meanings in the text; empty if there is none."""
        return ""

    @property
    def file_speeds(self) -> tuple[str, ...]:
        """Names of generalized speeds that a text need not define, in their order."""
        return ()

    @cached_property
    def written_labels(self) -> tuple[WrittenLineValues, ...]:
        """The equations whose labels no other formulation prints."""
        return tuple(WrittenLineValues(self, by) for by in LABELLING_FORMULATIONS)

    def paper_expression(self, name: str) -> SX | None:
        """The meaning of a symbol in papers, whatever the mechanism's own names are."""
        if name not in self._paper_cache:
            force = self.force_symbols.get(name, self.force_symbols.get(name.replace("_", "")))
            own_value = self.expression_in_rows(self.paper_rows, name) if force is None else force
            self._paper_cache[name] = own_value
        return self._paper_cache[name]

    def expression_in_rows(self, rows: SymbolRows, name: str) -> SX | None:
        """The value of a name by the first row that gives it one."""
        for row in rows:
            arguments = row.arguments(name, self)
            value = row.value(self, *arguments) if arguments is not None else None
            if value is not None:
                return value
        return None

    def first_spelling(self, name: str) -> str:
        """The first of the spellings of a symbol of papers: M12 for d_12."""
        for row in self.paper_rows:
            if (arguments := row.arguments(name, self)) is not None:
                return " ".join((row.spellings[0], *map(str, arguments)))
        return name.replace("_", "")

    def _dual_part(self, name: str) -> SX | None:
        """`V2x@r`, `VPx@d`, `z_tool@xd`: the real or dual part of a component."""
        word, _, place = name.partition("@")
        for row in DUAL_VECTORS if len(place) == 2 else DUAL_COMPONENTS:
            arguments = row.arguments(word, self)
            pair = row.value(self, *arguments) if arguments is not None else None
            if pair is not None:
                axis = place[0] if len(place) == 2 else word[-1]
                return pair[place[-1] == "d"]["xyz".index(axis)]
        return None

    def why_index_fails(self, name: str) -> str:
        """The reason why the indices of a symbol of papers fail; empty if it is not such a one."""
        row = next((x for x in self.indexed_rows if x.matched_texts(name) is not None), None)
        if row is None or self.paper_expression(name) is not None:
            return ""
        stem = name.rstrip("0123456789_")
        for key in row.number_keys:
            if NUMBERS[key].absence and not NUMBERS[key].size(self):
                return NUMBERS[key].absence.format(stem=stem)
        if row.requirement is not None and not row.requirement.is_met(self):
            return row.requirement.message
        wanted = len(row.number_keys)
        if len(name[len(stem) :].replace("_", "")) < wanted:
            example = f"{stem}{'111'[:wanted]}"
            return f"as an entry of {stem} it needs {wanted} indices, such as {example}"
        return "its indices are out of range"

    def collision_sentence(self, name: str) -> str:
        """A sentence for a name of the mechanism that means something else in papers."""
        spelling = _own_spelling(self, name)
        if spelling is not None:
            own = self.mechanism_symbols[spelling]
            other = self.paper_expression(name)
            if other is None or ca.is_equal(ca.SX(own), ca.SX(other), 2):
                return ""
            return f"{name} is the mechanism's own {name}, not what papers call so."
        variable = name.partition("_")[2]
        number = number_behind_variable(self, variable) if name in self else ""
        if not number:
            return ""
        return f"{variable} in {name} is the coordinate of that name, not coordinate {number}."

    def is_paper_symbol(self, name: str) -> bool:
        """Whether a name has its meaning from papers, not from the mechanism."""
        return name in self and _own_spelling(self, name) is None

    @cached_property
    def mechanism_symbols(self) -> dict[str, SX]:
        """The mechanism's names: parameters, motion, actuators, and their other spellings."""
        return add_names_without_underscores(list_checker_symbols(self.mechanism_rows, self))

    @cached_property
    def force_symbols(self) -> dict[str, SX]:
        """Generalized forces, multipliers and the time, by number or by coordinate."""
        return add_names_without_underscores(list_checker_symbols(self.force_rows, self))

    @property
    def atomic_symbols(self) -> dict[str, SX]:
        """Names that stand for one symbol each."""
        return {**self.force_symbols, **self.mechanism_symbols}

    def canonical_name(self, name: str) -> str:
        """The mechanism's own spelling of a name: m1 for m_1."""
        if name in self.mechanism_symbols and name not in self.flat_spellings:
            return name
        return self.flat_spellings.get(name.replace("_", ""), name)

    def is_stray_name(self, name: str) -> bool:
        """Whether a name looks like one of a family of the mechanism's, but is not: m3 of two."""
        if not self.family_members(name) or name.replace("_", "") in self.atomic_symbols:
            return False
        return self.paper_expression(name) is None

    # -- quantities -------------------------------------------------------------------------

    def set_generalized_speeds(self, speeds: Sequence[Expression], find: MeaningLookup) -> None:
        """Set the generalized speeds of the text, by which partial velocities are taken."""
        self.generalized_speeds = [self.translate_expression(speed, find) for speed in speeds]
        self._expression_cache = {
            name: x for name, x in self._expression_cache.items() if "@" not in name
        }

    def translate_expression(
        self,
        expression: Expression,
        find: MeaningLookup,
        lift: NumberConverter = require_exact_float_in_statement,
    ) -> SX:
        """An expression of their names as one of our symbols."""
        known: dict[str, SX] = {}

        def value(name: str) -> SX:
            if name not in known:
                meaning = find(name)
                if meaning is None:
                    raise NameNotFoundError(f"'{name}' has no meaning for {self.mechanism.name}")
                if isinstance(meaning, str):
                    known[name] = self.require_expression(meaning)
                else:
                    known[name] = fold_expression(meaning, algebra, value)
            return known[name]

        algebra = CasadiAlgebra(lift)
        found = fold_expression(expression, algebra, value)
        return ca.SX(lift(found) if isinstance(found, Fraction) else found)

    # -- tapes ------------------------------------------------------------------------------

    @direct_casadi_operators()
    def record_names(self, wanted: Sequence[str]) -> Tape:
        """All wanted names as functions of the motion, the drives, and the parameters."""
        inputs = [self.symbols[key] for key in self.inputs]
        columns = ca.vertcat(*(ca.SX(self.require_expression(name)) for name in wanted))
        merged = ca.cse([ca.densify(columns)])
        return record_tape(ca.Function("wanted", inputs, merged, list(self.inputs), ["wanted"]))


def _own_spelling(own: CheckerVocabulary, name: str) -> str | None:
    """The spelling of a name among the mechanism's own. Underscores do not count, except in a
    momentum: p_p2 is that of p2, and pp2 its velocity."""
    if name in own.mechanism_symbols:
        return name
    flat = name.replace("_", "")
    is_own = flat in own.mechanism_symbols and not _is_named_momentum(own, name)
    return flat if is_own else None


def _is_named_momentum(own: CheckerVocabulary, name: str) -> bool:
    """Whether a name is a momentum, or its rate, with the name of a velocity."""
    found = [row.matched_texts(name) for row in NAMED_MOMENTA]
    return any(words is not None and words[0] in own.names.qd for words in found)
