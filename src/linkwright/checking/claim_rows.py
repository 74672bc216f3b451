"""Equations of a model solution and of a text as rows of numbers at one random point.

A row has the derivatives of an equation by accelerations, joint torques and named quantities.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from ..algebra.exact.modular_arithmetic import BadPointError
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import FIELD_PRIME, Residue
from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra
from ..errors import LinkwrightError
from ..tape import Op
from .claims import Claim, ClaimSet, read_equation_sides
from .motion_sampler import CheckAssumptions
from .prover import EquationProver, StatementPointValues
from .statement_jets import StatementJet, StatementJetAlgebra
from .symbol_table import GRAVITY_ENTRY, MASS_MATRIX_ENTRY
from .vocabulary import CheckerVocabulary

COMPARISON_SEEDS = range(501, 521)
"""Points that are tried: at some an equation divides by zero."""

ClaimRow = dict[str, int]


class ClaimRows:
    """The rows of all equations of a solution and of a text at one random point."""

    def __init__(self, solution: ClaimSet, text: ClaimSet) -> None:
        self.solution_claims, self.text_claims = solution, text
        self.claim_rows: dict[int, ClaimRow] = {}
        self.perturbed_values: list[dict[str, Residue]] = []
        self.symbol_values: dict[str, Residue] = {}
        self._evaluate_claim_rows()

    @cached_property
    def all_claims(self) -> list[Claim]:
        """The claims of the solution and of the text, and the repaired ones."""
        return [*self.solution_claims.claims, *self.text_claims.claims, *self.repaired_claims]

    @cached_property
    def vocabulary(self) -> CheckerVocabulary:
        """The vocabulary of the mechanism that both texts are about."""
        return self.all_claims[0].meanings.vocabulary

    @cached_property
    def repaired_claims(self) -> list[Claim]:
        """The wrong equations of the text, corrected."""
        return [
            Claim(claim.finding, pair, claim.meanings)
            for claim in self.text_claims.wrong_claims
            for repair in claim.finding.repairs[:1]
            if (pair := read_equation_sides(repair.equation)) is not None
        ]

    def _evaluate_claim_rows(self) -> None:
        """Evaluate the rows of all equations at the first point at which they exist."""
        wanted = self._needed_names(self.all_claims)
        bound = {
            **self.solution_claims.assumptions.parameter_values,
            **self.text_claims.assumptions.parameter_values,
        }
        setting = CheckAssumptions(bound, self.text_claims.assumptions.absent_efforts)
        prover = EquationProver(self.all_claims[0].meanings, wanted, setting)
        for seed in COMPARISON_SEEDS:
            try:
                prover.evaluate_at_point(
                    seed, lambda scope: self._read_rows_at_point(prover, scope)
                )
                return
            except BadPointError:
                continue
            except LinkwrightError:
                return

    def _needed_names(self, claims: Iterable[Claim]) -> list[str]:
        own = self.vocabulary.names
        found = dict.fromkeys(f"dd{name}" for name in own.qd if f"dd{name}" in self.vocabulary)
        for claim in claims:
            found |= dict.fromkeys(
                [*claim.needed_names, *([claim.subject_name] if claim.subject_name else [])]
            )
            for i in self.joints_of_entry(claim.subject_name):
                found |= dict.fromkeys(self.joint_equation_names(i))
        return list(found)

    def joints_of_entry(self, subject: str) -> list[int]:
        """The joints whose equations have this entry of M or g in them."""
        subject = self.vocabulary.paper_spelling(subject)
        entry = MASS_MATRIX_ENTRY.arguments(subject, self.vocabulary)
        if entry is None and self._has_only_gravity_forces:
            entry = GRAVITY_ENTRY.arguments(subject, self.vocabulary)
        return [int(i) + 1 for i in entry or ()]

    @cached_property
    def _has_only_gravity_forces(self) -> bool:
        mechanism = self.vocabulary.mechanism
        return mechanism.without("springs", "forces") == mechanism

    def joint_equation_names(self, i: int) -> list[str]:
        """The names of the i-th joint's torque and row of the mass matrix; none with constraints or
        actuators, where these are not all of its equation."""
        own = self.vocabulary.names
        row = [f"tau{i}", *(f"M{i}_{j + 1}" for j in range(own.nv))]
        is_plain = i <= own.nv and not (own.constraints or own.actuators)
        return row if is_plain and all(name in self.vocabulary for name in row) else []

    def _read_rows_at_point(self, prover: EquationProver, scope: StatementPointValues) -> None:
        field, ground = scope.field, prover.sampler
        self.symbol_values = scope.mechanism_values
        self.claim_rows = {}
        for claim in self.all_claims:
            try:
                self.claim_rows[id(claim)] = self._claim_row(claim, field)
            except (LinkwrightError, LookupError, BadPointError):
                continue  # it can still be the same equation, letter by letter
        self.perturbed_values = []
        for i in range(self.vocabulary.names.nv):
            ground.perturbed_acceleration = i
            try:
                self.perturbed_values.append(ground(field))
            finally:
                ground.perturbed_acceleration = None

    def _claim_row(self, claim: Claim, field: PrimeField) -> ClaimRow:
        algebra = StatementJetAlgebra(field)
        theirs: dict[str, StatementJet] = {}

        def lookup(name: str) -> StatementJet:
            if name not in theirs:
                meaning = claim.meanings.find_meaning(name)
                if meaning is None:
                    raise claim.meanings.unknown_name_error(name)
                theirs[name] = (
                    self._symbol_jet(meaning)
                    if isinstance(meaning, str)
                    else evaluate_expression_in_algebra(meaning, algebra, lookup)
                )
            return theirs[name]

        sides = [evaluate_expression_in_algebra(side, algebra, lookup) for side in claim.sides]
        return dict(algebra.apply(Op.SUB, sides).derivatives)

    def _symbol_jet(self, name: str) -> StatementJet:
        value = self.symbol_values[name]
        return StatementJet(
            value, {} if self._is_point_symbol(name) else {self.quantity_key(name): 1}
        )

    @cached_property
    def _point_symbols(self) -> set[str]:
        """The symbols that are given at the point: coordinates, velocities, parameters, time."""
        symbols = self.vocabulary.symbols
        return {
            str(symbols[key][i])
            for key in ("q", "qd", "p", "t")
            if key in symbols
            for i in range(symbols[key].shape[0])
        }

    def casadi_symbol_name(self, name: str) -> str:
        """The name of the symbol that a name stands for; empty where it is an expression."""
        known = self.vocabulary.require_expression(name)
        return str(known) if known.is_symbolic() else ""

    def _is_point_symbol(self, name: str) -> bool:
        return self.casadi_symbol_name(name) in self._point_symbols

    def quantity_key(self, name: str) -> str:
        """One key for all names of a quantity: d12, D12 and M21."""
        if symbol := self.casadi_symbol_name(name):
            return symbol
        if number := self.symbol_values[name].number:
            return f"value {number}"
        return f"zero {self.vocabulary.first_spelling(name)}"

    def value_row(self, name: str) -> ClaimRow:
        """The row of `name` = its value, which may depend on accelerations."""
        row = {self.quantity_key(name): 1}
        for i, own in enumerate(self.vocabulary.names.qd):
            acceleration = f"dd{own}"
            if acceleration not in self.symbol_values or i >= len(self.perturbed_values):
                continue
            changed = self.perturbed_values[i]
            step = changed[acceleration].number - self.symbol_values[acceleration].number
            rise = changed[name].number - self.symbol_values[name].number
            slope = rise * pow(step, -1, FIELD_PRIME) % FIELD_PRIME
            if slope:
                row[self.quantity_key(acceleration)] = -slope % FIELD_PRIME
        return row

    def value_rows(self, used: Iterable[str], subject: str) -> list[ClaimRow]:
        """The rows of the used quantities that are expressions, but not that of the subject."""
        about = self.quantity_key(subject) if subject in self.symbol_values else ""
        return [
            self.value_row(name)
            for name in used
            if name in self.symbol_values
            and not self.casadi_symbol_name(name)
            and self.quantity_key(name) != about
        ]
