"""Equations at random motions: those that hold everywhere, with the chance that this is luck.

Each equation is evaluated modulo a prime, where "holds" has a chance of error that is known, and at
real states on the mechanism's own branch, where "fails" is certain. A verdict needs both: roots of
the text and of the mechanism are tried with all signs, and real states say which is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

from ..algebra.exact.modular_arithmetic import BadPointError, schwartz_zippel_chance
from ..algebra.exact.prime_field import AngleSubdivisionError, PrimeField
from ..algebra.exact.residues import FIELD_PRIME, Residue
from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra
from ..expressions import Expression, Name
from ..tape import Op
from .constraint_functions import describes_constraint_function
from .motion_sampler import CheckAssumptions, ProofMotionSampler
from .real_states import RealStateProofTest, RealStateVerdict
from .symbol_meanings import SymbolMeanings

Made = TypeVar("Made")


MAX_ERROR_CHANCE = 2.0**-50
MAX_PROOF_POINTS = 200
MAX_BAD_POINTS = 24
PERTURBED_POINT_SEED = 1000
MAX_SIGNED_ROOTS = 8
MAX_POINTS_WITH_ROOTS = 400
DISAGREEMENT_REASON = "a prime and a real state disagree"
UNDECIDED_ROOTS_REASON = "it has roots whose signs cannot be told modulo a prime"
EquationSides = tuple[Expression, Expression]


class StatementPointValues:
    """The values of their names at one point."""

    def __init__(
        self, field: PrimeField, ours: dict[str, Residue], meanings: SymbolMeanings
    ) -> None:
        self.field = field
        self.mechanism_values = ours
        self.meanings = meanings
        self.text_values: dict[str, Residue] = {}

    def lookup(self, name: str) -> Residue:
        """The residue of a name of the text at this point."""
        if name not in self.text_values:
            meaning = self.meanings.find_meaning(name)
            if meaning is None or (
                isinstance(meaning, str) and meaning not in self.mechanism_values
            ):
                raise self.meanings.unknown_name_error(name)
            self.text_values[name] = (
                self.mechanism_values[meaning] if isinstance(meaning, str) else self(meaning)
            )
        return self.text_values[name]

    def lookup_or_none(self, name: str) -> Residue | None:
        """The value of a name that may have none."""
        try:
            return self.lookup(name)
        except LookupError:
            return None

    def __call__(self, expression: Expression) -> Residue:
        return evaluate_expression_in_algebra(expression, self.field, self.lookup)

    def residual(self, pair: EquationSides) -> Residue:
        """left − right at this point, with its degree in the random symbols."""
        field = self.field
        found = field.apply(Op.SUB, (self(pair[0]), self(pair[1])))
        return replace(
            found,
            numerator_degree=found.numerator_degree * field.symbol_degree,
            denominator_degree=found.denominator_degree * field.symbol_degree,
        )


@dataclass(frozen=True)
class EquationProof:
    """Whether an equation holds on all motions; `why` it cannot be said.

    An equation with roots that holds for some of their signs only is not decided, and has a
    `chance` below 1: it holds on one branch, but which one is not known.
    """

    holds: bool | None
    chance: float = 0.0
    why: str = ""


class EquationProver:
    """Proofs of the equations of one section under given assumptions."""

    def __init__(
        self, meanings: SymbolMeanings, wanted: Sequence[str], setting: CheckAssumptions
    ) -> None:
        self.meanings = meanings
        self.assumptions = setting
        self.sampler = ProofMotionSampler(meanings.vocabulary, wanted, setting)
        self._point_cache: dict[tuple[int, int], tuple[PrimeField, dict[str, Residue]]] = {}
        self._mechanism_root_counts: dict[
            int, int
        ] = {}  # how many roots the mechanism has, by seed

    @cached_property
    def real_state_test(self) -> RealStateProofTest:
        """The test of equations at real states under the same assumptions."""
        return RealStateProofTest(self.meanings, self.sampler.needed_names, self.assumptions)

    def evaluate_at_point(
        self, seed: int, use: Callable[[StatementPointValues], Made], signs: int = 0
    ) -> Made:
        """The result of `use` on the values at a point; angles are subdivided as needed."""
        finest: dict[int, int] = {}
        key = seed, signs
        while True:
            known = key in self._point_cache
            field = (
                self._point_cache[key][0]
                if known
                else PrimeField(seed, finest, lenient=True, signs=signs)
            )
            try:
                if not known:
                    self._point_cache[key] = field, self.sampler(field)
                    self._mechanism_root_counts[seed] = len(field.radicands)
                return use(StatementPointValues(field, self._point_cache[key][1], self.meanings))
            except AngleSubdivisionError:
                finest = field.angle_parts
                self._point_cache.pop(key, None)

    def perturbed_residuals(self, pairs: Sequence[EquationSides], at: int | None) -> list[int]:
        """The residuals with one acceleration changed and all else equal."""
        self.sampler.perturbed_acceleration = at
        self._point_cache.pop((PERTURBED_POINT_SEED, 0), None)
        try:
            return self.evaluate_at_point(
                PERTURBED_POINT_SEED, lambda scope: [scope.residual(pair).number for pair in pairs]
            )
        finally:
            self.sampler.perturbed_acceleration = None
            self._point_cache.pop((PERTURBED_POINT_SEED, 0), None)

    def holds(self, pair: EquationSides) -> bool:
        """Whether the equation is proved."""
        return self.prove_statements([pair])[0].holds is True

    def prove_statements(self, pairs: Sequence[EquationSides]) -> list[EquationProof]:
        """The proofs of equations modulo a prime, confirmed at real states."""
        free = [i for i, pair in enumerate(pairs) if self.prover_for_statement(pair) is not self]
        closed = [i for i in range(len(pairs)) if i not in free]
        found = dict(zip(closed, self.prove_on_motions([pairs[i] for i in closed]), strict=True))
        if free:
            tried = self.free_state_prover.prove_on_motions([pairs[i] for i in free])
            found |= dict(zip(free, tried, strict=True))
        return [found[i] for i in range(len(pairs))]

    def prover_for_statement(self, pair: EquationSides) -> EquationProver:
        """This prover; that of free states for an equation about functions of the constraints."""
        if self.assumptions.is_free or not describes_constraint_function(self.meanings, pair):
            return self
        return self.free_state_prover

    @cached_property
    def free_state_prover(self) -> EquationProver:
        """The prover at states that need not keep the constraints."""
        setting = replace(self.assumptions, is_free=True)
        return EquationProver(self.meanings, self.sampler.needed_names, setting)

    @cached_property
    def open_loop_prover(self) -> EquationProver:
        """The prover of balances with any multipliers, where loops cannot be closed at random
        points: those of a closed redundant loop do not satisfy the balances of an open one."""
        setting = replace(self.assumptions, leaves_loops_open=True)
        return EquationProver(self.meanings, self.sampler.needed_names, setting)

    def prove_on_motions(self, pairs: Sequence[EquationSides]) -> list[EquationProof]:
        """The proofs on the motions of this prover, whatever the equations are about."""
        proofs = self._prove_modulo_prime(pairs)
        left = [i for i, proof in enumerate(proofs) if proof.holds is None]
        if left and self.sampler.open_loop_reason:
            tried = self.open_loop_prover._prove_modulo_prime([pairs[i] for i in left])
            for i, proof in zip(left, tried, strict=True):
                proofs[i] = proof if proof.holds else proofs[i]
        return [self._confirm_at_real_states(*one) for one in zip(pairs, proofs, strict=True)]

    def _confirm_at_real_states(self, pair: EquationSides, proof: EquationProof) -> EquationProof:
        """The proof, if real states agree with it; what they decide, where it decides nothing."""
        if proof.holds is False:
            return proof
        real = self.real_state_test.judge_statement(pair, states=1 if proof.holds else 8)
        if real is RealStateVerdict.UNKNOWN:
            return proof
        if proof.holds:
            agree = real is RealStateVerdict.HOLDS
            return proof if agree else EquationProof(None, 1.0, DISAGREEMENT_REASON)
        if real is RealStateVerdict.HOLDS and proof.chance < 1:
            return EquationProof(True, proof.chance)
        if real is RealStateVerdict.HOLDS:
            why = f"{proof.why}; it holds at 8 random states to 30 digits, which is not a proof"
            return EquationProof(None, 1.0, why)
        of_branches = real is RealStateVerdict.FAILS_AT_SOME and proof.why == UNDECIDED_ROOTS_REASON
        why = "it holds for one sign of a root only"
        return EquationProof(None, 1.0, why) if of_branches else EquationProof(False)

    # -- modulo a prime ---------------------------------------------------------------------

    def _prove_modulo_prime(self, pairs: Sequence[EquationSides]) -> list[EquationProof]:
        missed, open_pairs = [1.0] * len(pairs), set(range(len(pairs)))
        found: dict[int, EquationProof] = {}
        unlucky = [0] * len(pairs)
        for seed in range(1, MAX_PROOF_POINTS):
            if not open_pairs:
                break
            for i, residual in self._residuals_at_point(seed, pairs, sorted(open_pairs)).items():
                marks = residual.marks
                if marks is not None and marks.failure_reason:
                    unlucky[i] += 1
                    if unlucky[i] > MAX_BAD_POINTS:
                        found[i] = EquationProof(None, 1.0, marks.failure_reason)
                elif marks is not None and marks.root_bits:
                    found[i] = self._prove_with_roots(pairs[i])
                elif residual.number:
                    found[i] = self._proof_of_failure(residual)
                else:
                    missed[i] *= schwartz_zippel_chance(residual.numerator_degree, FIELD_PRIME)
                    if missed[i] <= MAX_ERROR_CHANCE:
                        found[i] = EquationProof(True, missed[i])
            open_pairs -= found.keys()
        nowhere = EquationProof(
            None, 1.0, "no proof was found: a degree is too large, or points are few"
        )
        return [found.get(i, nowhere) for i in range(len(pairs))]

    def _proof_of_failure(self, residual: Residue) -> EquationProof:
        """An equation that fails at a point, and whether this is certain."""
        if residual.marks is not None and residual.marks.has_unknown_function:
            return EquationProof(
                None, 1.0, "it has a function or an angle that is not exact modulo a prime"
            )
        why = self.sampler.unsure_failure_reason
        return EquationProof(None, 1.0, why) if why else EquationProof(False)

    def _residuals_at_point(
        self, seed: int, pairs: Sequence[EquationSides], wanted: Sequence[int], signs: int = 0
    ) -> dict[int, Residue]:
        """The residuals at a point; none where the point divides by zero."""

        def each(scope: StatementPointValues) -> dict[int, Residue]:
            return {i: scope.residual(pairs[i]) for i in wanted}

        try:
            return self.evaluate_at_point(seed, each, signs)
        except BadPointError:
            return {}

    def _prove_with_roots(self, pair: EquationSides) -> EquationProof:
        """Modulo a prime a root has two signs: an equation holds for all of them, fails for all, or
        holds on one branch of the mechanism. Signs of the text's own roots are not a branch."""
        missed, for_all = 1.0, True
        for seed in range(1, MAX_POINTS_WITH_ROOTS):
            first = self._residuals_at_point(seed, [pair], [0]).get(0)
            marks = first.marks if first is not None else None
            if first is None or (marks and marks.has_unknown_function and first.number):
                continue  # a root does not exist here
            residuals = self._residuals_for_all_signs(pair, seed)
            if residuals is None:
                return EquationProof(None, 1.0, f"it has more than {MAX_SIGNED_ROOTS} roots")
            usable = {
                k: x for k, x in residuals.items() if x.marks is None or not x.marks.failure_reason
            }
            if not usable:
                continue
            zeros = {signs: not residual.number for signs, residual in usable.items()}
            loose = any(
                x.marks is not None and x.marks.has_unknown_function for x in usable.values()
            )
            if not all(zeros.values()) and loose:
                continue  # a root does not exist here
            if not any(zeros.values()):
                why = self.sampler.unsure_failure_reason
                return EquationProof(None, 1.0, why) if why else EquationProof(False)
            own = (1 << self._mechanism_root_counts[seed]) - 1
            if any(zero != zeros.get(signs & own, zero) for signs, zero in zeros.items()):
                return EquationProof(None, 1.0, UNDECIDED_ROOTS_REASON)
            for_all &= all(zeros.values())
            missed *= schwartz_zippel_chance(
                sum(x.numerator_degree for x in usable.values()), FIELD_PRIME
            )
            if missed <= MAX_ERROR_CHANCE:
                return (
                    EquationProof(True, missed)
                    if for_all
                    else EquationProof(None, missed, UNDECIDED_ROOTS_REASON)
                )
        return EquationProof(None, 1.0, "no point was found at which its roots exist")

    def _residuals_for_all_signs(self, pair: EquationSides, seed: int) -> dict[int, Residue] | None:
        """Residuals for all signs of the roots that they depend on; None if these are too many."""
        residuals: dict[int, Residue] = {}
        mask, waiting = 0, [0]
        while waiting:
            signs = waiting.pop()
            residual = self._residuals_at_point(seed, [pair], [0], signs).get(0)
            if residual is None:
                continue
            residuals[signs] = residual
            seen = residual.marks.root_bits if residual.marks is not None else 0
            if seen & ~mask:
                mask |= seen
                if mask.bit_count() > MAX_SIGNED_ROOTS:
                    return None
                waiting = [x for x in _root_signs_to_prove(mask) if x not in residuals]
        return residuals

    # -- constants --------------------------------------------------------------------------

    def prove_constant_difference(self, pair: EquationSides) -> EquationProof:
        """Whether left − right does not change with the motion, the parameters being the same."""
        proof = self._prove_constant_modulo_prime(pair)
        if proof.holds is False:
            return proof
        real = RealStateProofTest(
            self.meanings, self.sampler.needed_names, self.assumptions
        ).judge_constancy(pair)
        if real is RealStateVerdict.FAILS:
            return (
                EquationProof(None, 1.0, DISAGREEMENT_REASON)
                if proof.holds
                else EquationProof(False)
            )
        if proof.holds or real is RealStateVerdict.UNKNOWN:
            return proof
        why = "it is right up to a constant at some random states, which is not a proof"
        return EquationProof(None, 1.0, why)

    def _prove_constant_modulo_prime(self, pair: EquationSides) -> EquationProof:
        """Prove that a difference is constant. If it has degree d and changes, d/p of the
        parameters and d/p of the motions at most do not show it. Roots of parameters alone have
        the same sign at both motions, and all signs are tried."""
        is_certain = not self.meanings.vocabulary.names.position_row_count
        missed, loops_open = 1.0, False
        for seed in range(101, 140):
            compared = self._residuals_at_two_motions(pair, seed, loops_open)
            if not compared:
                continue
            if any(one.number != two.number for one, two in compared):
                if is_certain and all(x.marks is None for both in compared for x in both):
                    return EquationProof(False)
                if loops_open or is_certain:
                    break
                loops_open = True  # lengths that close loops follow from the motion
                continue
            degree = sum(
                max(x.numerator_degree + x.denominator_degree for x in both) for both in compared
            )
            missed *= schwartz_zippel_chance(2 * degree, FIELD_PRIME)
            if missed <= MAX_ERROR_CHANCE:
                return EquationProof(True, missed)
        return EquationProof(None, 1.0, "whether it is right up to a constant could not be decided")

    def _residuals_at_two_motions(
        self, pair: EquationSides, seed: int, loops_open: bool
    ) -> list[tuple[Residue, Residue]] | None:
        """Residuals at two motions with the same parameters, for all signs of roots; None where
        they do not exist at a motion."""
        found = []
        for number in (1, 2):
            prover = EquationProver(self.meanings, self.sampler.needed_names, self.assumptions)
            prover.sampler.motion_number = number
            prover.sampler.open_loop_reason = "as wanted" if loops_open else ""
            found.append(prover._residuals_for_all_signs(pair, seed) or {})
        if found[0].keys() != found[1].keys():
            return None
        if any(
            x.marks is not None and x.marks.failure_reason for one in found for x in one.values()
        ):
            return None
        return [(found[0][signs], found[1][signs]) for signs in found[0]]


def _root_signs_to_prove(mask: int) -> list[int]:
    """All numbers whose bits are among those of the mask."""
    found = [0]
    for k in range(mask.bit_length()):
        if mask >> k & 1:
            found += [x | 1 << k for x in found]
    return found


def single_name_of_statement_side(expression: Expression) -> str:
    """The name that a side of an equation consists of; empty if it is more than a name."""
    return expression.name if isinstance(expression, Name) else ""
