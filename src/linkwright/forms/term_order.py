"""The order of symbols in a term and of terms in a sum, by what the symbols mean.

Within a term masses come first, then inertias, constants, coordinates, cosines and sines, rates.
Sums begin with the terms that have rates, and have few cosines and sines before many.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum

from ..expressions import Expression, Name, Power, Sum, expression_text, names_in_expression
from .trig_sums import PrintedTrigFactor
from .trig_terms import FormTermReader, TermAtom, TermMonomial, form_name_sort_key

MAX_ORDERED_POWER = 16
"""Higher powers are ordered like this one."""

FactorSortKey = tuple[object, ...]
"""A key by which factors of a product are ordered: nested tuples that compare one by one."""
TermSortKey = list[object]
"""A key by which terms of a sum are ordered: nested lists that compare one by one."""


class FormTermKind(IntEnum):
    """The kind of a symbol or function in a term, in the order in which factors are printed."""

    MASS = 0
    INERTIA = 1
    CONSTANT = 2
    COORDINATE = 3
    CIRCULAR = 4
    CALL = 5
    RATE = 6


_SIZED_KINDS = frozenset({FormTermKind.CIRCULAR, FormTermKind.CALL, FormTermKind.COORDINATE})
"""The kinds of factors that make a term long: sums have short terms first."""


@dataclass(frozen=True)
class FormSymbolRoles:
    """The roles of symbols, which decide how terms are collected and ordered."""

    masses: frozenset[str]
    inertias: frozenset[str]
    constants: frozenset[str]
    coordinates: tuple[str, ...]
    functions: frozenset[str] = frozenset()  # names that stand for functions of coordinates

    @property
    def all_constants(self) -> frozenset[str]:
        """Masses, inertias and other constants."""
        return self.masses | self.inertias | self.constants

    def with_constants(self, names: frozenset[str]) -> FormSymbolRoles:
        """The roles, with these symbols as constants."""
        return replace(self, constants=self.constants | names)

    def with_functions(self, names: frozenset[str]) -> FormSymbolRoles:
        """The roles, with these symbols as functions of coordinates."""
        return replace(self, functions=self.functions | names)

    def atom_kind(self, atom: TermAtom) -> FormTermKind:
        """The kind of a symbol or function: mass, inertia, constant, coordinate, …"""
        if isinstance(atom, PrintedTrigFactor):
            return FormTermKind.CIRCULAR
        if not isinstance(atom, str):
            return (
                FormTermKind.CONSTANT
                if names_in_expression(atom) <= self.constants
                else FormTermKind.CALL
            )
        if atom in self.masses:
            return FormTermKind.MASS
        if atom in self.inertias:
            return FormTermKind.INERTIA
        if atom in self.constants:
            return FormTermKind.CONSTANT
        if atom in self.functions:
            return FormTermKind.CALL
        return FormTermKind.COORDINATE if atom in self.coordinates else FormTermKind.RATE


class AtomKinds(dict[TermAtom, FormTermKind]):
    """The kinds of symbols and functions, also of named ones, each found once."""

    def __init__(self, reader: FormTermReader, roles: FormSymbolRoles) -> None:
        super().__init__()
        self.reader, self.roles = reader, roles

    def __missing__(self, atom: TermAtom) -> FormTermKind:
        kind = self.roles.atom_kind(atom)
        if isinstance(atom, Name) and atom.name in self.reader.definitions:
            inside = self.reader.definitions[atom.name][1]
            kind = FormTermKind.CONSTANT if inside <= self.roles.constants else FormTermKind.CALL
        self[atom] = kind
        return kind


@dataclass
class FormTermOrder:
    """The sort keys of factors and terms of one reader, each computed once."""

    reader: FormTermReader
    roles: FormSymbolRoles
    atom_kinds: AtomKinds = field(init=False)
    atom_sort_keys: dict[TermAtom, FactorSortKey] = field(default_factory=dict)
    sum_sort_keys: dict[Expression, FactorSortKey] = field(default_factory=dict)
    term_sort_keys: dict[TermMonomial, TermSortKey] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.atom_kinds = AtomKinds(self.reader, self.roles)

    def factor_sort_key(self, atom: TermAtom) -> FactorSortKey:
        """The key by which a symbol or function is ordered among factors."""
        return self.atom_kinds[atom], 0, self.atom_sort_key(atom)

    def sum_factor_sort_key(self, expression: Expression) -> FactorSortKey:
        """The sort key of a factor that is a sum, or a symbol or function out of one."""
        base = expression.base if isinstance(expression, Power) else expression
        if id(base) in self.reader.atoms_by_id:
            return self.factor_sort_key(self.reader.atoms_by_id[id(base)])
        if expression not in self.sum_sort_keys:
            first = expression.terms[0] if isinstance(expression, Sum) else expression
            text = form_name_sort_key(expression_text(first))
            self.sum_sort_keys[expression] = self.least_atom_kind(expression), 1, (text,)
        return self.sum_sort_keys[expression]

    def least_atom_kind(self, expression: Expression) -> FormTermKind:
        """The first kind, in the order of factors, of the symbols in an expression."""
        kinds = [self.atom_kinds[name] for name in names_in_expression(expression)]
        inside = [kind for kind in kinds if kind != FormTermKind.COORDINATE]
        return min(inside, default=FormTermKind.CIRCULAR)

    def monomial_sort_key(self, monomial: TermMonomial) -> TermSortKey:
        """The sort key of a term, kept for the next call."""
        if monomial not in self.term_sort_keys:
            self.term_sort_keys[monomial] = self.term_sort_key(monomial)
        return self.term_sort_keys[monomial]

    def term_sort_key(self, monomial: TermMonomial) -> TermSortKey:
        """The sort key of a term: by rates (terms without rates last), then cosines and sines,
        fewest first, then masses, constants and numbers."""
        parts: tuple[list[FactorSortKey], ...] = ([], [], [], [], [], [], [])
        size = 0
        for atom, power in monomial:
            kind = self.atom_kinds[atom]
            parts[kind].extend([self.atom_sort_key(atom)] * min(power, MAX_ORDERED_POWER))
            if kind in _SIZED_KINDS:
                size += power
        for part in parts:
            part.sort()
        mass, inertia, constant, coordinate, circular, call, rate = parts
        bare = [not mass, not (mass or inertia or constant)]
        return [not rate, rate, size, coordinate, call, circular, bare, mass, inertia, constant]

    def atom_sort_key(self, atom: TermAtom) -> FactorSortKey:
        """The key by which a symbol or function is ordered among those of its kind."""
        if atom not in self.atom_sort_keys:
            if isinstance(atom, PrintedTrigFactor):
                form = self.reader.angle_form(atom.angle)
                rank = self.reader.symbol_ranks
                places = tuple(rank.get(m[0][0], len(rank)) if m else -1 for m, _ in form)
                text = form_name_sort_key(expression_text(self.reader.angle_expression(atom.angle)))
                self.atom_sort_keys[atom] = (places, text, atom.function == "cos")
            elif isinstance(atom, str) and self.atom_kinds[atom] in (
                FormTermKind.COORDINATE,
                FormTermKind.RATE,
            ):
                rank = self.reader.symbol_ranks
                self.atom_sort_keys[atom] = (rank.get(atom, len(rank)), form_name_sort_key(atom))
            elif isinstance(atom, str):
                self.atom_sort_keys[atom] = (form_name_sort_key(atom),)
            else:
                self.atom_sort_keys[atom] = (form_name_sort_key(expression_text(atom)),)
        return self.atom_sort_keys[atom]
