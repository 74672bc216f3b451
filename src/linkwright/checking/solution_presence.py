"""Equations of a model solution that are present, wrong or missing in a text.

At a random point (q, q̇ and the parameters are random numbers modulo 2¹²⁷ − 3421569) an equation is
a relation between accelerations, joint torques and named quantities (M11, phi1, K, x1, …), and its
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

from collections.abc import Sequence

from ..algebra.exact.elimination import independent_rows_modulo
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import FIELD_PRIME
from ..errors import LinkwrightError
from .claim_rows import COMPARISON_SEEDS, ClaimRow, ClaimRows
from .claims import Claim, ClaimSet
from .prover import StatementPointValues

CLAIM_PRESENT, CLAIM_WRONG, CLAIM_MISSING = "present", "wrong", "missing"
MIN_COMMON_NAME_SHARE = 0.5
"""Share of common names from which on a wrong equation is an attempt at one of the solution."""


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
    """The verdicts on the equations of a solution, from their rows and those of a text."""

    def __init__(self, solution: ClaimSet, text: ClaimSet) -> None:
        self.text_claims = text
        self.rows = ClaimRows(solution, text)

    def states_claim(self, claim: Claim) -> bool:
        """Whether the right equations of the text state this one."""
        return (
            self._follows_from_claims(claim, self.text_claims.right_claims)
            or self._is_written_out_entry(claim, self.text_claims.right_claims)
            or self._is_copied_claim(claim)
        )

    def _is_written_out_entry(self, claim: Claim, others: Sequence[Claim]) -> bool:
        """Whether it is about an entry of M or g whose joint has its equation written out."""
        if claim.subject_name not in self.rows.symbol_values or self.rows.casadi_symbol_name(
            claim.subject_name
        ):
            return False
        rows = [self.rows.claim_rows[id(x)] for x in others if self.rows.claim_rows.get(id(x))]
        for i in self.rows.joints_of_entry(claim.subject_name):
            names = self.rows.joint_equation_names(i)
            if names and all(name in self.rows.symbol_values for name in names):
                row = {self.rows.quantity_key(names[0]): 1}
                for own, entry in zip(self.rows.vocabulary.names.qd, names[1:], strict=True):
                    row[self.rows.quantity_key(f"dd{own}")] = (
                        -self.rows.symbol_values[entry].number % FIELD_PRIME
                    )
                if _is_row_combination(row, rows):
                    return True
        return False

    def attempts_claim(self, claim: Claim) -> bool:
        """Whether it would follow if the wrong equations of the text were right."""
        subjects = {
            x.subject_name
            for x in self.text_claims.wrong_claims
            if x.subject_name in self.rows.symbol_values
        }
        keys = {self.rows.quantity_key(name) for name in subjects}
        if (
            claim.subject_name in self.rows.symbol_values
            and self.rows.quantity_key(claim.subject_name) in keys
        ):
            return True
        facts = [
            self.rows.value_row(name) for name in subjects if not self.rows.casadi_symbol_name(name)
        ]
        corrected = [*self.text_claims.right_claims, *self.rows.repaired_claims]
        return self._follows_from_claims(claim, corrected, facts) or self._is_written_out_entry(
            claim, corrected
        )

    def _follows_from_claims(
        self, claim: Claim, others: Sequence[Claim], facts: Sequence[ClaimRow] = ()
    ) -> bool:
        row = self.rows.claim_rows.get(id(claim))
        if not row:
            return False
        rows = [self.rows.claim_rows[id(x)] for x in others if self.rows.claim_rows.get(id(x))]
        rows += facts
        used = self.rows.value_rows(claim.needed_names, claim.subject_name)
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
            name: field.symbol(
                self.rows.quantity_key(name) if name in self.rows.symbol_values else name
            )
            for name in used
        }
        residuals = (
            StatementPointValues(field, ours, x.meanings).residual(x.sides) for x in (one, other)
        )
        first, second = (x.number for x in residuals)
        return first, second
