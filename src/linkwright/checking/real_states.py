"""Motions at random real states, in balls of some 75 digits, and the values of names there.

A prime field has no order: it cannot tell the two signs of a root apart, and functions such as sign
have no meaning in it. Real states can: loops and constraints are closed on the branch on which the
mechanism is assembled, so that an equation that fails at such a state is certainly wrong.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import numpy as np

from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.tape_algebra import evaluate_expression_in_algebra
from ..expressions import Expression, Sum, expression_to_float
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    jacobian_pseudoinverse,
)
from ..mechanism import quaternion_coordinate_offsets
from ..readings.balls import ExactBallAlgebra, ball_precision, make_ball
from ..types import Ball
from .motion_sampler import CheckAssumptions, ProofMotionSampler
from .symbol_meanings import SymbolMeanings
from .vocabulary import CheckerVocabulary

BALL_PRECISION_BITS = 256
MAX_VANISHING_SHARE = 1e-30
"""A residual below this share of its largest term vanishes."""
MAX_VANISHING_RESIDUAL = 1e-42
"""A residual below this vanishes whatever its terms are: what closed loops leave open."""
MIN_FAILING_SHARE = 1e-12
"""A residual above this share of its largest term does not: much more than what the closing of
loops leaves open."""
SAMPLE_SPREADS = ((0.1, 0.4), (0.1, 0.1), (0.02, 0.02), (0.0, 0.3), (0.0, 0.1), (0.0, 0.01))
"""The spread of parameters (relative) and coordinates about the mechanism's own, until loops
close."""
EquationSides = tuple[Expression, Expression]


class RealStateVerdict(Enum):
    """The verdict of real states on an equation."""

    HOLDS = "holds"
    FAILS = "fails"
    FAILS_AT_SOME = "fails at some states, and holds at others"
    UNKNOWN = "unknown"


class OpenLoopError(ArithmeticError):
    """Loops cannot be closed near the mechanism's own configuration."""


class RealStateField(ExactBallAlgebra):
    """The algebra of balls with random numbers by name, in the place of a prime field."""

    def __init__(self, seed: int, spread: tuple[float, float]) -> None:
        self.seed = seed
        self.parameter_spread, self.coordinate_spread = spread
        self.symbol_degree = 1

    def random_fraction(self, name: str) -> Fraction:
        """A random fraction between -1 and 1, the same for the same name."""
        return Fraction(random.Random(f"{self.seed} {name}").randint(-997, 997), 997)

    def symbol(self, name: str) -> Ball:
        """A random number of its own for each name, as a ball."""
        return make_ball(self.random_fraction(name))

    def missing_residue(self, why: str) -> Ball:
        """A ball that is not a number, for a value that does not exist."""
        return flint.arb("nan")

    def is_zero(self, value: Ball) -> bool:
        """Whether a ball contains zero."""
        return bool(value.contains(0))

    def take_as_symbols(self, values: Sequence[Ball]) -> list[Ball]:
        """The values themselves: balls are not replaced by symbols."""
        return list(values)


class RealStateProofSampler(ProofMotionSampler):
    """Values of the wanted names on random real motions."""

    def __init__(
        self, vocabulary: CheckerVocabulary, wanted: Sequence[str], setting: CheckAssumptions
    ) -> None:
        super().__init__(vocabulary, wanted, setting)
        self.parameter_seed: int | None = None  # where parameters are taken from, if elsewhere
        self._state_cache: dict[int, tuple[RealStateField, dict[str, Ball]]] = {}

    def state_values(self, seed: int) -> tuple[RealStateField, dict[str, Ball]] | None:
        """The values of the wanted names at a state; None where loops cannot be closed."""
        if seed not in self._state_cache:
            for spread in SAMPLE_SPREADS:
                field: Any = RealStateField(seed, spread)
                try:
                    self._state_cache[seed] = field, self(field)
                    break
                except OpenLoopError:
                    continue
        return self._state_cache.get(seed)

    def sample_free_parameter(self, field: PrimeField | RealStateField, name: str) -> Ball:
        """A random value of a parameter near the one that the mechanism gives it."""
        assert isinstance(field, RealStateField)
        shift = field.random_fraction(name)
        if self.parameter_seed is not None:
            shift = RealStateField(self.parameter_seed, SAMPLE_SPREADS[0]).random_fraction(name)
        scale = Fraction(field.parameter_spread)
        nominal = self._nominal_parameter(name)
        return nominal * make_ball(1 + scale * shift) if nominal != 0 else make_ball(scale * shift)

    def _nominal_parameter(self, name: str) -> Ball:
        mechanism, eqs = self.vocabulary.mechanism, self.vocabulary.eqs
        if name in eqs.parameters:
            return make_ball(eqs.parameters[name], mechanism.parameters, name)
        if name in mechanism.parameters:
            return make_ball(expression_to_float(mechanism.parameters[name], mechanism.values))
        return make_ball(1)

    def sample_coordinates(self, field: PrimeField | RealStateField) -> list[Ball]:
        """Random coordinates around the mechanism's own configuration."""
        assert isinstance(field, RealStateField)
        eqs, own = self.vocabulary.eqs, self.vocabulary.names
        start = eqs.home if own.constraints and eqs.home else eqs.neutral
        spread = Fraction(field.coordinate_spread) if own.constraints else Fraction(1)
        found = [
            make_ball(x) + make_ball(spread) * field.symbol(f"q {name}")
            for x, name in zip(start, own.q, strict=True)
        ]
        return self._normalize_quaternions(found)

    def _normalize_quaternions(self, q: list[Ball]) -> list[Ball]:
        """Scale quaternions to length 1."""
        for k in quaternion_coordinate_offsets(self.vocabulary.mechanism):
            length = sum((x * x for x in q[k : k + 4]), flint.arb(0)).sqrt()
            q[k : k + 4] = [x / length for x in q[k : k + 4]]
        return q

    # -- closing loops ----------------------------------------------------------------------

    def _close_loops(self, field: Any, found: dict[str, list[Any]]) -> None:
        """Close the loops with Newton's method in floating point, then with the same Jacobian in
        balls."""
        q = self._close_in_floating_point(found)
        exact = self._normalize_quaternions([make_ball(float(x)) for x in q])
        inverse, rates = self._inverse_constraint_jacobian(q, found)
        for _ in range(CLOSURE_TOLERANCES.max_iterations):
            residual: list[Any] = self._evaluate_quantity(
                "constraint_residual", {**found, "q": exact}, field
            )
            if not all(x.is_finite() for x in residual):
                raise OpenLoopError
            if all(abs(x) < CLOSURE_TOLERANCES.ball_residual for x in residual):
                found["q"] = exact
                return
            step = rates @ (inverse @ np.array(residual, dtype=object))
            moved = [_midpoint_of_proof_ball(x - dx) for x, dx in zip(exact, step, strict=True)]
            exact = self._normalize_quaternions(moved)
        raise OpenLoopError

    def _close_in_floating_point(self, found: Mapping[str, list[Any]]) -> Any:
        functions = PositionConstraints(
            lambda q: np.asarray(self._evaluate_in_floats("constraint_residual", q, found)),
            lambda q: self._position_jacobian(q, found),
            lambda q, step: q + np.array(self._coordinate_rate_map(q), dtype=float) @ step,
        )
        closure = close_positions(
            functions,
            np.array([float(x) for x in found["q"]]),
            tolerance=CLOSURE_TOLERANCES.continued_residual,
            longest_step=CLOSURE_TOLERANCES.longest_sampled_step,
        )
        if not closure.residual < CLOSURE_TOLERANCES.continued_residual:
            raise OpenLoopError
        return closure.q

    def _position_jacobian(self, q: Any, found: Mapping[str, list[Any]]) -> Any:
        J = self._evaluate_in_floats("constraint_jacobian", q, found)
        return J[list(self.vocabulary.eqs.names.position_rows)]

    def _inverse_constraint_jacobian(
        self, q: Any, found: Mapping[str, list[Any]]
    ) -> tuple[Any, Any]:
        J = self._position_jacobian(q, found)
        return jacobian_pseudoinverse(J, CLOSURE_TOLERANCES.rank_share), np.array(
            self._coordinate_rate_map(q), dtype=float
        )

    @cached_property
    def _coordinate_rate_map(self) -> Any:
        import casadi as ca

        eqs = self.vocabulary.eqs
        return ca.Function("rates", [eqs.symbols["q"]], [eqs.rate_matrix])

    def _evaluate_in_floats(self, name: str, q: Any, found: Mapping[str, list[Any]]) -> Any:
        function = self.vocabulary.eqs.function(name)
        kept = len(self.vocabulary.eqs.parameters)
        given = {
            "q": q,
            "t": [float(x) for x in found["t"]],
            "p": [float(x) for x in found["p"][:kept]],
        }
        entries = np.array(function(*(given[key] for key in function.name_in())), dtype=float)
        return entries.ravel() if entries.shape[1] == 1 and name.endswith("residual") else entries


def _midpoint_of_proof_ball(x: Ball) -> Ball:
    return x.mid()


class RealStateProofTest:
    """A test of equations at random real states of the mechanism."""

    def __init__(
        self, meanings: SymbolMeanings, wanted: Sequence[str], setting: CheckAssumptions
    ) -> None:
        self.meanings = meanings
        self.sampler = RealStateProofSampler(meanings.vocabulary, wanted, setting)

    def judge_statement(self, pair: EquationSides, states: int = 3) -> RealStateVerdict:
        """Whether an equation holds at all of some states, fails at all, or at some only."""
        counted = dict.fromkeys(RealStateVerdict, 0)
        for seed in range(1, 4 * states):
            counted[self.judge_at_state(pair, seed)] += 1
            held, failed = counted[RealStateVerdict.HOLDS], counted[RealStateVerdict.FAILS]
            if held and failed:
                return RealStateVerdict.FAILS_AT_SOME
            if held + failed == states:
                return RealStateVerdict.HOLDS if held else RealStateVerdict.FAILS
        return (
            RealStateVerdict.FAILS if counted[RealStateVerdict.FAILS] else RealStateVerdict.UNKNOWN
        )

    def judge_at_state(self, pair: EquationSides, seed: int) -> RealStateVerdict:
        """The verdict on an equation at one real state."""
        with ball_precision(BALL_PRECISION_BITS):
            found = self.side_values(pair, seed)
            if found is None:
                return RealStateVerdict.UNKNOWN
            left, right, scale = found
            return judge_statement_residual(left - right, scale)

    def judge_constancy(self, pair: EquationSides, states: int = 3) -> RealStateVerdict:
        """Whether left − right is the same at all states with the same parameters."""
        self.sampler.parameter_seed = 1
        with ball_precision(BALL_PRECISION_BITS):
            found = self._values_with_shared_parameters(pair, states)
            if len(found) < 2:
                return RealStateVerdict.UNKNOWN
            apart = [left - right for left, right, _ in found]
            scale = max((scale for *_, scale in found), key=float)
            verdicts = {judge_statement_residual(x - apart[0], scale) for x in apart[1:]}
        if RealStateVerdict.FAILS in verdicts:
            return RealStateVerdict.FAILS
        return (
            RealStateVerdict.HOLDS
            if verdicts == {RealStateVerdict.HOLDS}
            else RealStateVerdict.UNKNOWN
        )

    def _values_with_shared_parameters(
        self, pair: EquationSides, states: int
    ) -> list[tuple[Ball, Ball, Ball]]:
        """Values at several states: loops that close less easily have parameters of their own."""
        found: dict[float, list[tuple[Ball, Ball, Ball]]] = {}
        for seed in range(1, 4 * states):
            state, values = self.sampler.state_values(seed), self.side_values(pair, seed)
            if state is None or values is None:
                continue
            group = found.setdefault(state[0].parameter_spread, [])
            group.append(values)
            if len(group) == states:
                return group
        return max(found.values(), key=len, default=[])

    def side_values(self, pair: EquationSides, seed: int) -> tuple[Ball, Ball, Ball] | None:
        """Both sides, and the size of their largest term."""
        state = self.sampler.state_values(seed)
        if state is None:
            return None
        scope = RealStatementValues(state[1], self.meanings)
        try:
            sides = [scope(side) for side in pair]
            terms = [scope(term) for side in pair for term in _terms_of_statement_side(side)]
        except (ZeroDivisionError, ValueError, OverflowError):
            return None
        scale = max((abs(x) for x in (*sides, *terms)), key=lambda x: float(x.abs_upper()))
        return sides[0], sides[1], scale


class RealStatementValues:
    """The values of their names at one real state."""

    def __init__(self, ours: Mapping[str, Ball], meanings: SymbolMeanings) -> None:
        self.mechanism_values, self.meanings = ours, meanings
        self.text_values: dict[str, Ball] = {}
        self.algebra = ExactBallAlgebra()

    def lookup(self, name: str) -> Ball:
        """The ball of a name of the text at this state."""
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

    def __call__(self, expression: Expression) -> Ball:
        return evaluate_expression_in_algebra(expression, self.algebra, self.lookup)


def judge_statement_residual(residual: Ball, scale: Ball) -> RealStateVerdict:
    """Whether a residual vanishes, against the size of what cancels in it."""
    if not (residual.is_finite() and scale.is_finite()):
        return RealStateVerdict.UNKNOWN
    size = float(scale.abs_upper())
    if float(residual.abs_upper()) <= max(MAX_VANISHING_SHARE * size, MAX_VANISHING_RESIDUAL):
        return RealStateVerdict.HOLDS
    return (
        RealStateVerdict.FAILS
        if float(residual.abs_lower()) > MIN_FAILING_SHARE * size
        else RealStateVerdict.UNKNOWN
    )


def _terms_of_statement_side(side: Expression) -> tuple[Expression, ...]:
    return side.terms if isinstance(side, Sum) else ()
