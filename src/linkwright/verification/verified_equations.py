"""Equations under examination: their tapes, random states, and proofs about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random
from typing import Any

import casadi as ca
import numpy as np

from ..algebra.array_functions import ArrayFunction
from ..algebra.exact.constrained_points import PointConstraints
from ..algebra.exact.residue_programs import ModularProgram
from ..algebra.exact.tape_identity import TapeVerdict, compare_tapes_modulo
from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.assembly import closed_state_near_home
from ..mechanism import Mechanism, coordinate_names
from ..quantities import quantity_entry_names, quantity_ports
from ..readings.balls import MAX_UNROUNDED_CONSTANT, compare_tapes_in_balls, exact_ball_inputs
from ..tape import Op, Tape, record_tape
from ..types import SX, Floats

MAX_ERROR_CHANCE = 2.0**-60
"""The chance of an error for each identity: many together stay below 2⁻⁵⁰."""
COMPARED_LOOP_STATES, LOOP_TOLERANCE = 4, 1e-8
ROUNDED_DIGITS = 11
"""The digits that must agree where constants were rounded on a tape."""


@dataclass(frozen=True)
class IdentityProof:
    """Whether an identity holds; `is_proved` for all states and values, or seen at random ones."""

    holds: bool
    is_proved: bool
    text: str
    differing: tuple[str, ...] = ()
    chance: float = 0.0
    exponent: int = 0


class VerifiedEquations:
    """Equations, with what checks need of them. `others` puts equations of the same mechanism
    beside them, with the same symbols."""

    def __init__(self, eqs: Equations) -> None:
        self.eqs, self.names = eqs, eqs.names
        self.mechanism: Mechanism = eqs.mechanism
        self.known_functions = set(eqs.function_names())
        self._tapes: dict[str, Tape] = {}
        self._functions: dict[str, tuple[ArrayFunction, list[str], tuple[int, ...]]] = {}

    @cached_property
    def time_inputs(self) -> list[str]:
        return self.names.time_arguments("t")

    @cached_property
    def force_function(self) -> str:
        """The function of M q̈ + C q̇ + g − f."""
        return "required_forces" if self.names.constraints else "inverse_dynamics"

    def has_functions(self, *functions: str) -> bool:
        """Whether they can be made, which for C is not said by its name alone."""
        return set(functions) <= self.known_functions and all(map(self.eqs.can_build, functions))

    def function_expression(self, function: str) -> SX:
        """The expression of a function's first output."""
        return self.eqs.expressions(function)[0]

    def expression_at_rest(self, expression: SX) -> SX:
        return ca.substitute(expression, self.eqs.symbols["qd"], ca.SX.zeros(self.eqs.nv))

    def time_derivative(self, expression: SX) -> SX:
        """d/dt along the motion, with q̈ as it is."""
        s = self.eqs.symbols
        total = ca.jtimes(expression, s["q"], self.eqs.rate_matrix @ s["qd"])
        total += ca.jtimes(expression, s["qd"], s["qdd"])
        return total + ca.jtimes(expression, s["t"], ca.SX.ones(1)) if self.time_inputs else total

    # -- proofs --------------------------------------------------------------------------

    def function_tape(self, function: str) -> Tape:
        """The tape of a function, recorded once."""
        if function not in self._tapes:
            inputs, outputs = quantity_ports(self.names, function, list(self.eqs.parameters))
            whole, kept = self.eqs.function(function), [x for x in outputs if x.name != "pivot"]
            if len(kept) < len(outputs):  # sizes of pivots are not part of the equations
                whole = whole.factory(function, whole.name_in(), [port.name for port in kept])
            self._tapes[function] = record_tape(whole, inputs, kept)
        return self._tapes[function]

    def prove_identity(self, name: str, left: SX, right: SX | float = 0.0) -> IdentityProof:
        """That two expressions are the same function."""
        return self.prove_same_tapes(
            *(
                self._expression_tape(name, ca.densify(ca.SX(side) * ca.SX.ones(left.shape)))
                for side in (left, right)
            )
        )

    def _expression_tape(self, name: str, expression: SX) -> Tape:
        keys = ["q", "qd", "qdd", "tau", *self.time_inputs, *(["p"] if self.eqs.parameters else [])]
        symbols = [self.eqs.symbols[key] for key in keys]
        return record_tape(ca.Function("f", symbols, [ca.cse(expression)], keys, [name]))

    def prove_same_tapes(self, one: Tape, other: Tape) -> IdentityProof:
        """Modulo a prime; where that cannot decide, in ball arithmetic."""
        names = quantity_entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        verdict = compare_tapes_modulo(
            one, other, entries, MAX_ERROR_CHANCE, self.quaternion_groups
        )
        return self._verdict_to_proof(verdict, one, other)

    def prove_same_on_constraints(self, other: VerifiedEquations, function: str) -> IdentityProof:
        """Modulo a prime, at points that obey the constraints; where no lengths close the loops, in
        floats where the mechanism is assembled."""
        one, two = self.function_tape(function), other.function_tape(function)
        if _has_rounded_constants(one) or _has_rounded_constants(two):
            return self._compare_at_states(other, function, "its numbers are rounded")
        names = quantity_entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        try:
            verdict = compare_tapes_modulo(
                one, two, entries, MAX_ERROR_CHANCE, self.quaternion_groups, self._point_constrainer
            )
        except UnsupportedError as error:
            return self._compare_at_states(other, function, error.what)
        if verdict.is_undecided:
            return self._compare_at_states(
                other, function, "it has functions that are not rational"
            )
        return self._verdict_to_proof(verdict, one, two)

    @cached_property
    def _point_constrainer(self) -> PointConstraints:
        names = quantity_entry_names(self.names, list(self.eqs.parameters))

        def program(function: str) -> ModularProgram:
            tape = self.function_tape(function)
            return ModularProgram(tape, [names[port.name] for port in tape.inputs])

        residual = program("constraint_residual") if self.names.position_row_count else None
        jacobian, velocity = program("constraint_jacobian"), program("constraint_velocity")
        return PointConstraints(residual, jacobian, velocity, names["qd"])

    def _compare_at_states(
        self, other: VerifiedEquations, function: str, why: str
    ) -> IdentityProof:
        """Compare in floats, at states that the constraints allow."""
        apart = []
        for state in self.random_states(COMPARED_LOOP_STATES):
            a, b = (x.function_value(function, state) for x in (self, other))
            apart.append(np.abs(a - b).max() / max(1.0, np.abs(a).max()))
        worst = float(np.max(apart))
        text = (
            f"agrees to {worst:.0e} at {COMPARED_LOOP_STATES} closed states; no proof, since {why}"
        )
        return IdentityProof(
            worst < LOOP_TOLERANCE, False, text, () if worst < LOOP_TOLERANCE else ("qdd",)
        )

    def _verdict_to_proof(self, verdict: TapeVerdict, one: Tape, other: Tape) -> IdentityProof:
        if not verdict.is_identical and (
            _has_rounded_constants(one) or _has_rounded_constants(other)
        ):
            return self._compare_in_balls(one, other, ROUNDED_DIGITS)
        if verdict.is_undecided:
            return self._compare_in_balls(one, other, 30)
        return IdentityProof(
            verdict.is_identical, verdict.is_identical, str(verdict), verdict.differing_entries,
            verdict.chance_of_error, verdict.exponent,
        )  # fmt: skip

    def _compare_in_balls(self, one: Tape, other: Tape, digits: int) -> IdentityProof:
        named = self.mechanism.parameters

        def inputs(k: int) -> Any:
            values = {key: list(x) for key, x in self.random_exact_state(k).items()}
            return exact_ball_inputs(one, values, self.eqs.parameters, named)

        found = compare_tapes_in_balls(one, other, inputs, digits)
        return IdentityProof(found.is_agreed, False, str(found), found.differing)

    @cached_property
    def quaternion_groups(self) -> list[list[str]]:
        """Coordinates that together are unit quaternions."""
        found = []
        for name, joint in self.mechanism.joints.items():
            if joint.by_quaternion and joint.moves and self.mechanism.coordinates is None:
                found.append(coordinate_names(name, joint)[-4:])
        return found

    def random_exact_state(self, seed: int) -> Mapping[str, Sequence[Fraction]]:
        """A random state in fractions, with unit quaternions."""
        rng = Random(seed)

        def some(count: int) -> list[Fraction]:
            return [Fraction(rng.randrange(-1200, 1200), 1000) for _ in range(count)]

        q = dict(zip(self.names.q, some(self.names.nq), strict=True))
        for names in self.quaternion_groups:
            t = some(3)
            square = sum((x * x for x in t), Fraction(0))
            entries = [1 - square, *(2 * x for x in t)]
            q |= {n: x / (1 + square) for n, x in zip(names, entries, strict=True)}
        n = self.names.nv
        return {"q": list(q.values()), "qd": some(n), "qdd": some(n), "tau": some(n), "t": some(1)}

    # -- numbers -------------------------------------------------------------------------

    def random_states(
        self, count: int, seed: int = 0, speed: float = 1.0
    ) -> list[dict[str, Floats]]:
        """Random states that the constraints allow, with velocities up to about `speed`."""
        rng = np.random.default_rng(seed)
        n, found = self.eqs.nv, []
        for _ in range(count):
            step, qd, qdd, tau = rng.uniform(-1, 1, (4, n)) * [[1], [speed], [1], [1]]
            if self.names.constraints:
                q, qd = closed_state_near_home(self.mechanism, 0.2 * step, qd)
            else:
                q = self.function_value(
                    "integrate", {"q": np.array(self.eqs.neutral), "step": 1.5 * step}
                )
            found.append({"q": q, "qd": qd, "qdd": qdd, "tau": tau, "t": np.zeros(1)})
        return found

    def function_value(self, function: str, state: Mapping[str, Floats]) -> Floats:
        """A function's first output in floats, all parameters at their values."""
        if function not in self._functions:
            inputs, outputs = quantity_ports(self.names, function)
            evaluate = ArrayFunction(self.eqs.function_at_values(function))
            self._functions[function] = evaluate, [port.name for port in inputs], outputs[0].shape
        evaluate, keys, shape = self._functions[function]
        return evaluate(*(state[key] for key in keys))[0].reshape(shape)


def _has_rounded_constants(tape: Tape) -> bool:
    """Whether constants are more than small integers and dyadic fractions."""
    numbers = (Fraction(c) for c in tape.constants[tape.ops == Op.CONSTANT].tolist())
    return any(
        abs(x.numerator) > MAX_UNROUNDED_CONSTANT or x.denominator > MAX_UNROUNDED_CONSTANT
        for x in numbers
    )
