"""Equations of a model solution that are present, wrong or missing in a text.

At a random point (q, q̇ and the parameters are random numbers modulo 2⁶¹ − 1281) an equation is a
relation between accelerations, joint torques and named quantities (M11, phi1, K, x1, …), and its
derivatives by these are a row of numbers. An equation of the solution is present where its row is a
combination of the rows of the text's right equations: then it follows from them. A quantity
that the solution's equation uses, but does not state, may be replaced by its value, so that
`tau1 = d11*ddq1 + …` is present in a text that has d11 written out; the reverse is not true, and a
text with nothing but Lagrange's equation does not have the equations written out.

An entry of the mass matrix or of the gravity vector also follows from the equation of its joint
written out: M12 is the factor of ddq2 in tau1, g1 is tau1 at rest.

Relations between coordinates, velocities and parameters alone have no such row; they are present
where the text has them up to a constant factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from ..algebra.exact.elimination import independent_rows_modulo
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

CLAIM_PRESENT, CLAIM_WRONG, CLAIM_MISSING = "present", "wrong", "missing"
COMPARISON_SEEDS = range(501, 521)
"""Points that are tried: at some an equation divides by zero."""
MIN_COMMON_NAME_SHARE = 0.5
"""Share of common names from which on a wrong equation is an attempt at one of the solution."""

ClaimRow = dict[str, int]


def compare_with_solution(solution: ClaimSet, text: ClaimSet) -> list[str]:
    """The presence of each equation of the solution in the text: present, wrong or missing."""
    if not solution.claims:
        return []
    comparison = _SolutionComparison(solution, text)
    found = [_claim_presence(comparison, claim) for claim in solution.claims]
    return _mark_attempted_claims(solution, text, found)


def _claim_presence(comparison: _SolutionComparison, claim: Claim) -> str:
    if comparison.states_claim(claim):
        return CLAIM_PRESENT
    return CLAIM_WRONG if comparison.attempts_claim(claim) else CLAIM_MISSING


def _mark_attempted_claims(solution: ClaimSet, text: ClaimSet, found: list[str]) -> list[str]:
    """Wrong equations about no single quantity, and without a repair that says what is meant: each
    is an attempt at the missing equation whose names it shares most."""
    for wrong in (x for x in text.wrong_claims if not (x.subject_name or x.finding.repairs)):
        shares = {
            i: _common_name_share(claim, wrong)
            for i, claim in enumerate(solution.claims)
            if found[i] == CLAIM_MISSING
        }
        best = max(shares, key=lambda i: shares[i], default=None)
        if best is not None and shares[best] >= MIN_COMMON_NAME_SHARE:
            found[best] = CLAIM_WRONG
    return found


def _common_name_share(one: Claim, other: Claim) -> float:
    used, others = set(one.needed_names), set(other.needed_names)
    return len(used & others) / max(1, len(used | others))


def _is_row_combination(row: ClaimRow, others: Sequence[ClaimRow]) -> bool:
    keys = sorted({key for one in [*others, row] for key in one})
    dense = [[one.get(key, 0) for key in keys] for one in [*others, row]]
    return len(others) not in independent_rows_modulo(dense, FIELD_PRIME)


class _SolutionComparison:
    """A solution and a text at one random point."""

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

    # -- rows -------------------------------------------------------------------------------

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
            for i in self._joints_of_entry(claim.subject_name):
                found |= dict.fromkeys(self._joint_equation_names(i))
        return list(found)

    def _joints_of_entry(self, subject: str) -> list[int]:
        """The joints whose equations have this entry of M or g in them."""
        entry = MASS_MATRIX_ENTRY.arguments(subject, self.vocabulary)
        if entry is None and self._has_only_gravity_forces:
            entry = GRAVITY_ENTRY.arguments(subject, self.vocabulary)
        return [int(i) + 1 for i in entry or ()]

    @cached_property
    def _has_only_gravity_forces(self) -> bool:
        mechanism = self.vocabulary.mechanism
        return mechanism.without("springs", "forces") == mechanism

    def _joint_equation_names(self, i: int) -> list[str]:
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
            value, {} if self._is_point_symbol(name) else {self._quantity_key(name): 1}
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

    def _casadi_symbol_name(self, name: str) -> str:
        known = self.vocabulary.require_expression(name)
        return str(known) if known.is_symbolic() else ""

    def _is_point_symbol(self, name: str) -> bool:
        return self._casadi_symbol_name(name) in self._point_symbols

    def _quantity_key(self, name: str) -> str:
        """One key for all names of a quantity: d12, D12 and M21."""
        if symbol := self._casadi_symbol_name(name):
            return symbol
        if number := self.symbol_values[name].number:
            return f"value {number}"
        return f"zero {self.vocabulary.first_spelling(name)}"

    def _value_row(self, name: str) -> ClaimRow:
        """The row of `name` = its value, which may depend on accelerations."""
        row = {self._quantity_key(name): 1}
        for i, own in enumerate(self.vocabulary.names.qd):
            acceleration = f"dd{own}"
            if acceleration not in self.symbol_values or i >= len(self.perturbed_values):
                continue
            changed = self.perturbed_values[i]
            step = changed[acceleration].number - self.symbol_values[acceleration].number
            rise = changed[name].number - self.symbol_values[name].number
            slope = rise * pow(step, -1, FIELD_PRIME) % FIELD_PRIME
            if slope:
                row[self._quantity_key(acceleration)] = -slope % FIELD_PRIME
        return row

    def _value_rows(self, used: Iterable[str], subject: str) -> list[ClaimRow]:
        about = self._quantity_key(subject) if subject in self.symbol_values else ""
        return [
            self._value_row(name)
            for name in used
            if name in self.symbol_values
            and not self._casadi_symbol_name(name)
            and self._quantity_key(name) != about
        ]

    # -- verdicts ---------------------------------------------------------------------------

    def states_claim(self, claim: Claim) -> bool:
        """Whether the right equations of the text state this one."""
        return (
            self._follows_from_claims(claim, self.text_claims.right_claims)
            or self._is_written_out_entry(claim, self.text_claims.right_claims)
            or self._is_copied_claim(claim)
        )

    def _is_written_out_entry(self, claim: Claim, others: Sequence[Claim]) -> bool:
        """Whether it is about an entry of M or g whose joint has its equation written out."""
        if claim.subject_name not in self.symbol_values or self._casadi_symbol_name(
            claim.subject_name
        ):
            return False
        rows = [self.claim_rows[id(x)] for x in others if self.claim_rows.get(id(x))]
        for i in self._joints_of_entry(claim.subject_name):
            names = self._joint_equation_names(i)
            if names and all(name in self.symbol_values for name in names):
                row = {self._quantity_key(names[0]): 1}
                for own, entry in zip(self.vocabulary.names.qd, names[1:], strict=True):
                    row[self._quantity_key(f"dd{own}")] = (
                        -self.symbol_values[entry].number % FIELD_PRIME
                    )
                if _is_row_combination(row, rows):
                    return True
        return False

    def attempts_claim(self, claim: Claim) -> bool:
        """Whether it would follow if the wrong equations of the text were right."""
        subjects = {
            x.subject_name
            for x in self.text_claims.wrong_claims
            if x.subject_name in self.symbol_values
        }
        keys = {self._quantity_key(name) for name in subjects}
        if (
            claim.subject_name in self.symbol_values
            and self._quantity_key(claim.subject_name) in keys
        ):
            return True
        facts = [self._value_row(name) for name in subjects if not self._casadi_symbol_name(name)]
        corrected = [*self.text_claims.right_claims, *self.repaired_claims]
        return self._follows_from_claims(claim, corrected, facts) or self._is_written_out_entry(
            claim, corrected
        )

    def _follows_from_claims(
        self, claim: Claim, others: Sequence[Claim], facts: Sequence[ClaimRow] = ()
    ) -> bool:
        row = self.claim_rows.get(id(claim))
        if not row:
            return False
        rows = [self.claim_rows[id(x)] for x in others if self.claim_rows.get(id(x))]
        rows += facts
        used = self._value_rows(claim.needed_names, claim.subject_name)
        says_more = not _is_row_combination(row, used)
        return _is_row_combination(row, [*rows, *used] if says_more else rows)

    def _is_copied_claim(self, claim: Claim) -> bool:
        """Whether a right equation of the text is this one up to a constant factor."""
        return any(
            one.finding.equation == claim.finding.equation or self._is_constant_multiple(one, claim)
            for one in self.text_claims.right_claims
        )

    def _is_constant_multiple(self, one: Claim, other: Claim) -> bool:
        try:
            (a, b), (c, d) = (
                self._random_residuals(one, other, seed) for seed in COMPARISON_SEEDS[:2]
            )
        except (LinkwrightError, ArithmeticError, LookupError):
            return False
        return bool(a and b and c and d) and (a * d - b * c) % FIELD_PRIME == 0

    def _random_residuals(self, one: Claim, other: Claim, seed: int) -> tuple[int, int]:
        """left − right of both equations at independent random values of all quantities."""
        field = PrimeField(seed)
        used = {*one.needed_names, *other.needed_names}
        ours = {
            name: field.symbol(self._quantity_key(name) if name in self.symbol_values else name)
            for name in used
        }
        residuals = (
            StatementPointValues(field, ours, x.meanings).residual(x.sides) for x in (one, other)
        )
        first, second = (x.number for x in residuals)
        return first, second
