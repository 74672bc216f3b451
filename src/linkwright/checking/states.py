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

from ..algebra.exact.algebra import evaluate_expression
from ..expressions import Expression, Sum, to_float
from ..kinematics.closing import TOLERANCES, ConstraintFunctions, close_positions, pseudoinverse
from ..mechanism import quaternion_starts
from ..readings.balls import Ball, ExactBalls, ball_of, precision
from .meaning import Meanings
from .points import Ground, Setting
from .vocabulary import Vocabulary

BITS = 256
ZERO = 1e-30
"""A residual below this share of its largest term vanishes."""
LEAST = 1e-42
"""A residual below this vanishes whatever its terms are: what closed loops leave open."""
DIFFERENT = 1e-12
"""A residual above this share of its largest term does not: much more than what the closing of
loops leaves open."""
SPREADS = ((0.1, 0.4), (0.1, 0.1), (0.02, 0.02), (0.0, 0.3), (0.0, 0.1), (0.0, 0.01))
"""How far parameters (relative) and coordinates lie from the mechanism's own, until loops close."""
Pair = tuple[Expression, Expression]


class Judgement(Enum):
    """What real states say of an equation."""

    HOLDS = "holds"
    FAILS = "fails"
    FAILS_AT_SOME = "fails at some states, and holds at others"
    UNKNOWN = "unknown"


class OpenLoopError(ArithmeticError):
    """Loops cannot be closed near the mechanism's own configuration."""


class RealField(ExactBalls):
    """The algebra of balls with random numbers by name, in the place of a prime field."""

    def __init__(self, seed: int, spread: tuple[float, float]) -> None:
        self.seed = seed
        self.of_parameters, self.of_coordinates = spread
        self.reckoned = 1

    def drawn(self, name: str) -> Fraction:
        """A random fraction between -1 and 1, the same for the same name."""
        return Fraction(random.Random(f"{self.seed} {name}").randint(-997, 997), 997)

    def symbol(self, name: str) -> Ball:
        return ball_of(self.drawn(name))

    def nothing(self, why: str) -> Ball:
        return flint.arb("nan")

    def is_zero(self, value: Ball) -> bool:
        return bool(value.contains(0))

    def as_symbols(self, values: Sequence[Ball]) -> list[Ball]:
        return list(values)


class RealGround(Ground):
    """Values of the wanted names on random real motions."""

    def __init__(self, vocabulary: Vocabulary, wanted: Sequence[str], setting: Setting) -> None:
        super().__init__(vocabulary, wanted, setting)
        self.parameter_seed: int | None = None  # where parameters are taken from, if elsewhere
        self._states: dict[int, tuple[RealField, dict[str, Ball]]] = {}

    def state(self, seed: int) -> tuple[RealField, dict[str, Ball]] | None:
        """The values of the wanted names at a state; None where loops cannot be closed."""
        if seed not in self._states:
            for spread in SPREADS:
                field: Any = RealField(seed, spread)
                try:
                    self._states[seed] = field, self(field)
                    break
                except OpenLoopError:
                    continue
        return self._states.get(seed)

    def free_parameter(self, field: Any, name: str) -> Ball:
        """Near the value that the mechanism gives it."""
        shift = field.drawn(name)
        if self.parameter_seed is not None:
            shift = RealField(self.parameter_seed, SPREADS[0]).drawn(name)
        scale = Fraction(field.of_parameters)
        nominal = self._nominal(name)
        return nominal * ball_of(1 + scale * shift) if nominal != 0 else ball_of(scale * shift)

    def _nominal(self, name: str) -> Ball:
        mechanism, eqs = self.vocabulary.mechanism, self.vocabulary.eqs
        if name in eqs.parameters:
            return ball_of(eqs.parameters[name], mechanism.parameters, name)
        if name in mechanism.parameters:
            return ball_of(to_float(mechanism.parameters[name], mechanism.values))
        return ball_of(1)

    def coordinates(self, field: Any) -> list[Ball]:
        """Around the mechanism's own configuration."""
        eqs, own = self.vocabulary.eqs, self.vocabulary.names
        start = eqs.home if own.constraints and eqs.home else eqs.neutral
        spread = Fraction(field.of_coordinates) if own.constraints else Fraction(1)
        found = [
            ball_of(x) + ball_of(spread) * field.symbol(f"q {name}")
            for x, name in zip(start, own.q, strict=True)
        ]
        return self._normalized(found)

    def _normalized(self, q: list[Ball]) -> list[Ball]:
        """With quaternions of length 1."""
        for k in quaternion_starts(self.vocabulary.mechanism):
            length = sum((x * x for x in q[k : k + 4]), flint.arb(0)).sqrt()
            q[k : k + 4] = [x / length for x in q[k : k + 4]]
        return q

    # -- closing loops ----------------------------------------------------------------------

    def _close(self, field: Any, found: dict[str, list[Any]]) -> None:
        """Newton's method in floating point, then with the same Jacobian in balls."""
        q = self._close_in_floating_point(found)
        exact = self._normalized([ball_of(float(x)) for x in q])
        inverse, rates = self._inverse_jacobian(q, found)
        for _ in range(TOLERANCES.max_iterations):
            residual: list[Any] = self._read("constraint_residual", {**found, "q": exact}, field)
            if not all(x.is_finite() for x in residual):
                raise OpenLoopError
            if all(abs(x) < TOLERANCES.ball_closed for x in residual):
                found["q"] = exact
                return
            step = rates @ (inverse @ np.array(residual, dtype=object))
            moved = [_middle(x - dx) for x, dx in zip(exact, step, strict=True)]
            exact = self._normalized(moved)
        raise OpenLoopError

    def _close_in_floating_point(self, found: Mapping[str, list[Any]]) -> Any:
        functions = ConstraintFunctions(
            lambda q: np.asarray(self._numeric("constraint_residual", q, found)),
            lambda q: self._position_jacobian(q, found),
            lambda q, step: q + np.array(self._rates(q), dtype=float) @ step,
        )
        closure = close_positions(
            functions, np.array([float(x) for x in found["q"]]), tolerance=TOLERANCES.continued,
            longest_step=TOLERANCES.longest_sampled_step,
        )  # fmt: skip
        if not closure.residual < TOLERANCES.continued:
            raise OpenLoopError
        return closure.q

    def _position_jacobian(self, q: Any, found: Mapping[str, list[Any]]) -> Any:
        J = self._numeric("constraint_jacobian", q, found)
        return J[list(self.vocabulary.eqs.names.position_rows)]

    def _inverse_jacobian(self, q: Any, found: Mapping[str, list[Any]]) -> tuple[Any, Any]:
        J = self._position_jacobian(q, found)
        return pseudoinverse(J, TOLERANCES.rank_share), np.array(self._rates(q), dtype=float)

    @cached_property
    def _rates(self) -> Any:
        import casadi as ca

        eqs = self.vocabulary.eqs
        return ca.Function("rates", [eqs.symbols["q"]], [eqs.rates])

    def _numeric(self, name: str, q: Any, found: Mapping[str, list[Any]]) -> Any:
        function = self.vocabulary.eqs.function(name)
        kept = len(self.vocabulary.eqs.parameters)
        given = {
            "q": q,
            "t": [float(x) for x in found["t"]],
            "p": [float(x) for x in found["p"][:kept]],
        }
        entries = np.array(function(*(given[key] for key in function.name_in())), dtype=float)
        return entries.ravel() if entries.shape[1] == 1 and name.endswith("residual") else entries


def _middle(x: Ball) -> Ball:
    return x.mid()


class RealStates:
    """Equations at random real states of the mechanism."""

    def __init__(self, meanings: Meanings, wanted: Sequence[str], setting: Setting) -> None:
        self.meanings = meanings
        self.ground = RealGround(meanings.vocabulary, wanted, setting)

    def judge(self, pair: Pair, states: int = 3) -> Judgement:
        """Whether an equation holds at all of some states, fails at all, or at some only."""
        counted = dict.fromkeys(Judgement, 0)
        for seed in range(1, 4 * states):
            counted[self.residual(pair, seed)] += 1
            held, failed = counted[Judgement.HOLDS], counted[Judgement.FAILS]
            if held and failed:
                return Judgement.FAILS_AT_SOME
            if held + failed == states:
                return Judgement.HOLDS if held else Judgement.FAILS
        return Judgement.FAILS if counted[Judgement.FAILS] else Judgement.UNKNOWN

    def residual(self, pair: Pair, seed: int) -> Judgement:
        with precision(BITS):
            found = self.values(pair, seed)
            if found is None:
                return Judgement.UNKNOWN
            left, right, scale = found
            return compare(left - right, scale)

    def is_constant(self, pair: Pair, states: int = 3) -> Judgement:
        """Whether left − right is the same at all states with the same parameters."""
        self.ground.parameter_seed = 1
        with precision(BITS):
            found = self._with_the_same_parameters(pair, states)
            if len(found) < 2:
                return Judgement.UNKNOWN
            apart = [left - right for left, right, _ in found]
            scale = max((scale for *_, scale in found), key=float)
            verdicts = {compare(x - apart[0], scale) for x in apart[1:]}
        if Judgement.FAILS in verdicts:
            return Judgement.FAILS
        return Judgement.HOLDS if verdicts == {Judgement.HOLDS} else Judgement.UNKNOWN

    def _with_the_same_parameters(self, pair: Pair, states: int) -> list[tuple[Ball, Ball, Ball]]:
        """Values at several states: loops that close less easily have parameters of their own."""
        found: dict[float, list[tuple[Ball, Ball, Ball]]] = {}
        for seed in range(1, 4 * states):
            state, values = self.ground.state(seed), self.values(pair, seed)
            if state is None or values is None:
                continue
            group = found.setdefault(state[0].of_parameters, [])
            group.append(values)
            if len(group) == states:
                return group
        return max(found.values(), key=len, default=[])

    def values(self, pair: Pair, seed: int) -> tuple[Ball, Ball, Ball] | None:
        """Both sides, and the size of their largest term."""
        state = self.ground.state(seed)
        if state is None:
            return None
        scope = RealScope(state[1], self.meanings)
        try:
            sides = [scope(side) for side in pair]
            terms = [scope(term) for side in pair for term in _terms(side)]
        except (ZeroDivisionError, ValueError, OverflowError):
            return None
        scale = max((abs(x) for x in (*sides, *terms)), key=lambda x: float(x.abs_upper()))
        return sides[0], sides[1], scale


class RealScope:
    """The values of their names at one real state."""

    def __init__(self, ours: Mapping[str, Ball], meanings: Meanings) -> None:
        self.ours, self.meanings = ours, meanings
        self.theirs: dict[str, Ball] = {}
        self.algebra = ExactBalls()

    def lookup(self, name: str) -> Ball:
        if name not in self.theirs:
            meaning = self.meanings.find(name)
            if meaning is None or (isinstance(meaning, str) and meaning not in self.ours):
                raise self.meanings.unknown(name)
            self.theirs[name] = self.ours[meaning] if isinstance(meaning, str) else self(meaning)
        return self.theirs[name]

    def __call__(self, expression: Expression) -> Ball:
        return evaluate_expression(expression, self.algebra, self.lookup)


def compare(residual: Ball, scale: Ball) -> Judgement:
    """Whether a residual vanishes, against the size of what cancels in it."""
    if not (residual.is_finite() and scale.is_finite()):
        return Judgement.UNKNOWN
    size = float(scale.abs_upper())
    if float(residual.abs_upper()) <= max(ZERO * size, LEAST):
        return Judgement.HOLDS
    return Judgement.FAILS if float(residual.abs_lower()) > DIFFERENT * size else Judgement.UNKNOWN


def _terms(side: Expression) -> tuple[Expression, ...]:
    return side.terms if isinstance(side, Sum) else ()
