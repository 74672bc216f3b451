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

from ..algebra.exact.algebra import evaluate_expression
from ..algebra.exact.modular import UnluckyError, chance_of_error
from ..algebra.exact.prime_field import FinerError, PrimeField
from ..algebra.exact.residue_values import PRIME, Value
from ..expressions import Expression, Name
from ..tape import Op
from .meaning import Meanings
from .points import Ground, Setting
from .states import Judgement, RealStates

Made = TypeVar("Made")


CHANCE = 2.0**-50
MOST_POINTS = 200
MOST_UNLUCKY = 24
PUSHED = 1000
MOST_ROOTS = 8
MOST_ROOTED_POINTS = 60
DISAGREEMENT = "a prime and a real state disagree"
ROOTS_UNDECIDED = "it has roots whose signs cannot be told modulo a prime"
Pair = tuple[Expression, Expression]


class Scope:
    """The values of their names at one point."""

    def __init__(self, field: PrimeField, ours: dict[str, Value], meanings: Meanings) -> None:
        self.field = field
        self.ours = ours
        self.meanings = meanings
        self.theirs: dict[str, Value] = {}

    def lookup(self, name: str) -> Value:
        if name not in self.theirs:
            meaning = self.meanings.find(name)
            if meaning is None or (isinstance(meaning, str) and meaning not in self.ours):
                raise self.meanings.unknown(name)
            self.theirs[name] = self.ours[meaning] if isinstance(meaning, str) else self(meaning)
        return self.theirs[name]

    def maybe(self, name: str) -> Value | None:
        """The value of a name that may have none."""
        try:
            return self.lookup(name)
        except LookupError:
            return None

    def __call__(self, expression: Expression) -> Value:
        return evaluate_expression(expression, self.field, self.lookup)

    def residual(self, pair: Pair) -> Value:
        """left − right, with its degree in what is random."""
        field = self.field
        found = field.apply(Op.SUB, (self(pair[0]), self(pair[1])))
        return replace(
            found,
            numerator=found.numerator * field.reckoned,
            denominator=found.denominator * field.reckoned,
        )


@dataclass(frozen=True)
class Proof:
    """Whether an equation holds on all motions; `why` it cannot be said.

    An equation with roots that holds for some of their signs only is not decided, and has a
    `chance` below 1: it holds on one branch, but which one is not known.
    """

    holds: bool | None
    chance: float = 0.0
    why: str = ""


class Prover:
    """Equations of one section under one setting."""

    def __init__(self, meanings: Meanings, wanted: Sequence[str], setting: Setting) -> None:
        self.meanings = meanings
        self.setting = setting
        self.ground = Ground(meanings.vocabulary, wanted, setting)
        self._points: dict[tuple[int, int], tuple[PrimeField, dict[str, Value]]] = {}
        self._own_roots: dict[int, int] = {}  # how many roots the mechanism has, by seed

    @cached_property
    def real(self) -> RealStates:
        return RealStates(self.meanings, self.ground.wanted, self.setting)

    def scope(self, seed: int, use: Callable[[Scope], Made], signs: int = 0) -> Made:
        """What `use` makes of the scope of a point; parts of angles are found on the way."""
        finest: dict[int, int] = {}
        key = seed, signs
        while True:
            known = key in self._points
            field = (
                self._points[key][0]
                if known
                else PrimeField(seed, finest, lenient=True, signs=signs)
            )
            try:
                if not known:
                    self._points[key] = field, self.ground(field)
                    self._own_roots[seed] = len(field.radicands)
                return use(Scope(field, self._points[key][1], self.meanings))
            except FinerError:
                finest = field.finest
                self._points.pop(key, None)

    def pushed(self, pairs: Sequence[Pair], at: int | None) -> list[int]:
        """Residuals with one acceleration changed, all else being equal."""
        self.ground.pushed = at
        self._points.pop((PUSHED, 0), None)
        try:
            return self.scope(PUSHED, lambda scope: [scope.residual(pair).number for pair in pairs])
        finally:
            self.ground.pushed = None
            self._points.pop((PUSHED, 0), None)

    def holds(self, pair: Pair) -> bool:
        return self.prove([pair])[0].holds is True

    def prove(self, pairs: Sequence[Pair]) -> list[Proof]:
        proofs = self._prove_modulo_prime(pairs)
        return [self._confirmed(*one) for one in zip(pairs, proofs, strict=True)]

    def _confirmed(self, pair: Pair, proof: Proof) -> Proof:
        """The proof, if real states agree with it; what they decide, where it decides nothing."""
        if proof.holds is False:
            return proof
        real = self.real.judge(pair, states=1 if proof.holds else 8)
        if real is Judgement.UNKNOWN:
            return proof
        if proof.holds:
            agree = real is Judgement.HOLDS
            return proof if agree else Proof(None, 1.0, DISAGREEMENT)
        if real is Judgement.HOLDS and proof.chance < 1:
            return Proof(True, proof.chance)
        if real is Judgement.HOLDS:
            why = f"{proof.why}; it holds at 8 random states to 30 digits, which is not a proof"
            return Proof(None, 1.0, why)
        of_branches = real is Judgement.FAILS_AT_SOME and proof.why == ROOTS_UNDECIDED
        why = "it holds for one sign of a root only"
        return Proof(None, 1.0, why) if of_branches else Proof(False)

    # -- modulo a prime ---------------------------------------------------------------------

    def _prove_modulo_prime(self, pairs: Sequence[Pair]) -> list[Proof]:
        missed, open_pairs = [1.0] * len(pairs), set(range(len(pairs)))
        found: dict[int, Proof] = {}
        unlucky = [0] * len(pairs)
        for seed in range(1, MOST_POINTS):
            if not open_pairs:
                break
            for i, residual in self._residuals(seed, pairs, sorted(open_pairs)).items():
                marks = residual.marks
                if marks is not None and marks.why:
                    unlucky[i] += 1
                    if unlucky[i] > MOST_UNLUCKY:
                        found[i] = Proof(None, 1.0, marks.why)
                elif marks is not None and marks.roots:
                    found[i] = self._with_roots(pairs[i])
                elif residual.number:
                    found[i] = self._failing(residual)
                else:
                    missed[i] *= chance_of_error(residual.numerator, PRIME)
                    if missed[i] <= CHANCE:
                        found[i] = Proof(True, missed[i])
            open_pairs -= found.keys()
        nowhere = Proof(None, 1.0, "no proof was found: a degree is too large, or points are few")
        return [found.get(i, nowhere) for i in range(len(pairs))]

    def _failing(self, residual: Value) -> Proof:
        """An equation that fails at a point, and whether this is certain."""
        if residual.marks is not None and residual.marks.is_loose:
            return Proof(
                None, 1.0, "it has a function or an angle that is not exact modulo a prime"
            )
        why = self.ground.open_because
        return Proof(None, 1.0, why) if why else Proof(False)

    def _residuals(
        self, seed: int, pairs: Sequence[Pair], wanted: Sequence[int], signs: int = 0
    ) -> dict[int, Value]:
        """Residuals at a point; none where the point is unlucky."""

        def each(scope: Scope) -> dict[int, Value]:
            return {i: scope.residual(pairs[i]) for i in wanted}

        try:
            return self.scope(seed, each, signs)
        except UnluckyError:
            return {}

    def _with_roots(self, pair: Pair) -> Proof:
        """Modulo a prime a root has two signs: an equation holds for all of them, fails for all, or
        holds on one branch of the mechanism. Signs of the text's own roots are not a branch."""
        missed, for_all = 1.0, True
        for seed in range(1, MOST_ROOTED_POINTS):
            first = self._residuals(seed, [pair], [0]).get(0)
            marks = first.marks if first is not None else None
            if first is None or (marks and marks.is_loose and first.number):
                continue  # a root does not exist here
            residuals = self._for_all_signs(pair, seed)
            if residuals is None:
                return Proof(None, 1.0, f"it has more than {MOST_ROOTS} roots")
            usable = {k: x for k, x in residuals.items() if x.marks is None or not x.marks.why}
            if not usable:
                continue
            zeros = {signs: not residual.number for signs, residual in usable.items()}
            loose = any(x.marks is not None and x.marks.is_loose for x in usable.values())
            if not all(zeros.values()) and loose:
                continue  # a root does not exist here
            if not any(zeros.values()):
                why = self.ground.open_because
                return Proof(None, 1.0, why) if why else Proof(False)
            own = (1 << self._own_roots[seed]) - 1
            if any(zero != zeros.get(signs & own, zero) for signs, zero in zeros.items()):
                return Proof(None, 1.0, ROOTS_UNDECIDED)
            for_all &= all(zeros.values())
            missed *= chance_of_error(sum(x.numerator for x in usable.values()), PRIME)
            if missed <= CHANCE:
                return Proof(True, missed) if for_all else Proof(None, missed, ROOTS_UNDECIDED)
        return Proof(None, 1.0, "no point was found at which its roots exist")

    def _for_all_signs(self, pair: Pair, seed: int) -> dict[int, Value] | None:
        """Residuals for all signs of the roots that they depend on; None if these are too many."""
        residuals: dict[int, Value] = {}
        mask, waiting = 0, [0]
        while waiting:
            signs = waiting.pop()
            residual = self._residuals(seed, [pair], [0], signs).get(0)
            if residual is None:
                continue
            residuals[signs] = residual
            seen = residual.marks.roots if residual.marks is not None else 0
            if seen & ~mask:
                mask |= seen
                if mask.bit_count() > MOST_ROOTS:
                    return None
                waiting = [x for x in _subsets(mask) if x not in residuals]
        return residuals

    # -- constants --------------------------------------------------------------------------

    def constancy(self, pair: Pair) -> Proof:
        """Whether left − right does not change with the motion, the parameters being the same."""
        proof = self._constancy_modulo_prime(pair)
        if proof.holds is False:
            return proof
        real = RealStates(self.meanings, self.ground.wanted, self.setting).is_constant(pair)
        if real is Judgement.FAILS:
            return Proof(None, 1.0, DISAGREEMENT) if proof.holds else Proof(False)
        if proof.holds or real is Judgement.UNKNOWN:
            return proof
        why = "it is right up to a constant at some random states, which is not a proof"
        return Proof(None, 1.0, why)

    def _constancy_modulo_prime(self, pair: Pair) -> Proof:
        """Of a difference of degree d that does change, d/p of the parameters and d/p of the
        motions at most do not show it. Roots of parameters alone have the same sign at both
        motions, and all signs are tried."""
        is_certain = not self.meanings.vocabulary.names.positions
        missed, loops_open = 1.0, False
        for seed in range(101, 140):
            compared = self._at_two_motions(pair, seed, loops_open)
            if not compared:
                continue
            if any(one.number != two.number for one, two in compared):
                if is_certain and all(x.marks is None for both in compared for x in both):
                    return Proof(False)
                if loops_open or is_certain:
                    break
                loops_open = True  # lengths that close loops follow from the motion
                continue
            degree = sum(max(x.numerator + x.denominator for x in both) for both in compared)
            missed *= chance_of_error(2 * degree, PRIME)
            if missed <= CHANCE:
                return Proof(True, missed)
        return Proof(None, 1.0, "whether it is right up to a constant could not be decided")

    def _at_two_motions(
        self, pair: Pair, seed: int, loops_open: bool
    ) -> list[tuple[Value, Value]] | None:
        """Residuals at two motions with the same parameters, for all signs of roots; None where
        they do not exist at a motion."""
        found = []
        for number in (1, 2):
            prover = Prover(self.meanings, self.ground.wanted, self.setting)
            prover.ground.motion_number = number
            prover.ground.open_because = "as wanted" if loops_open else ""
            found.append(prover._for_all_signs(pair, seed) or {})
        if found[0].keys() != found[1].keys():
            return None
        if any(x.marks is not None and x.marks.why for one in found for x in one.values()):
            return None
        return [(found[0][signs], found[1][signs]) for signs in found[0]]


def _subsets(mask: int) -> list[int]:
    """All numbers whose bits are among those of the mask."""
    found = [0]
    for k in range(mask.bit_length()):
        if mask >> k & 1:
            found += [x | 1 << k for x in found]
    return found


def drives_of(meanings: Meanings, wanted: Sequence[str]) -> frozenset[str]:
    """The drives that the wanted names depend on, by actuator or tau1, tau2, …"""
    import casadi as ca

    vocabulary = meanings.vocabulary
    own = vocabulary.names
    named = own.actuators or tuple(f"tau{i + 1}" for i in range(own.nv))
    columns = ("u", "tau") if not own.actuators else ("u",)
    if own.actuators and any(
        ca.depends_on(vocabulary.known(name), vocabulary.symbols["tau"]) for name in wanted
    ):
        return frozenset(named)
    return frozenset(
        drive
        for i, drive in enumerate(named)
        if any(
            ca.depends_on(vocabulary.known(name), vocabulary.symbols[key][i])
            for name in wanted
            for key in columns
        )
    )


def only_name(expression: Expression) -> str:
    return expression.name if isinstance(expression, Name) else ""
