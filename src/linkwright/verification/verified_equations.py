"""Equations under examination: their tapes, random states, and proofs about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from random import Random

import casadi as ca
import numpy as np

from ..algebra.array_functions import ArrayFunction
from ..algebra.exact.constrained_points import ResiduePointConstraints
from ..algebra.exact.residue_programs import ResidueProgram
from ..algebra.exact.tape_identity import ModularVerdict, compare_tapes_modulo_prime
from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.assembly import closed_state_near_home
from ..mechanism import Mechanism, joint_coordinate_names
from ..quantities import quantity_entry_names, quantity_ports
from ..readings.balls import (
    MAX_UNROUNDED_CONSTANT,
    compare_tapes_in_balls,
    exact_ball_inputs,
)
from ..tape import Op, Tape, record_tape
from ..types import SX, Ball, Floats

MAX_ERROR_CHANCE = 2.0**-60
"""The chance of an error in one identity; for many together it stays below 2⁻⁵⁰."""
COMPARED_LOOP_STATES, LOOP_TOLERANCE = 4, 1e-8
ROUNDED_DIGITS = 11
"""The number of digits that must agree if constants on a tape were rounded."""


@dataclass(frozen=True)
class IdentityProof:
    """The outcome of a proof: `is_proved` if the identity holds for all states and values,
    otherwise it was compared at random states only."""

    holds: bool
    is_proved: bool
    text: str
    differing: tuple[str, ...] = ()
    chance: float = 0.0
    exponent: int = 0


class VerifiedEquations:
    """Equations under examination: their tapes, random states and proofs of identities."""

    def __init__(self, eqs: Equations) -> None:
        self.eqs, self.names = eqs, eqs.names
        self.mechanism: Mechanism = eqs.mechanism
        self.known_functions = set(eqs.function_names())
        self._tapes: dict[str, Tape] = {}
        self._functions: dict[str, tuple[ArrayFunction, list[str], tuple[int, ...]]] = {}

    @cached_property
    def time_inputs(self) -> list[str]:
        """["t"] if the mechanism depends on time, otherwise []."""
        return self.names.time_arguments("t")

    @cached_property
    def force_function(self) -> str:
        """The name of the function that gives M q̈ + C q̇ + g − f."""
        return "required_forces" if self.names.constraints else "inverse_dynamics"

    def has_functions(self, *functions: str) -> bool:
        """Whether all of the functions exist and can be built."""
        return set(functions) <= self.known_functions and all(map(self.eqs.can_build, functions))

    def function_expression(self, function: str) -> SX:
        """The expression of a function's first output."""
        return self.eqs.expressions(function)[0]

    def expression_at_rest(self, expression: SX) -> SX:
        """An expression at q̇ = 0."""
        return ca.substitute(expression, self.eqs.symbols["qd"], ca.SX.zeros(self.eqs.nv))

    def time_derivative(self, expression: SX) -> SX:
        """The total time derivative along a motion, as an expression of q, q̇ and q̈."""
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
        """Prove that two expressions are the same function."""
        return self.prove_same_tapes(
            *(
                self._expression_tape(name, ca.densify(ca.SX(side) * ca.SX.ones(left.shape)))
                for side in (left, right)
            )
        )

    def _expression_tape(self, name: str, expression: SX) -> Tape:
        """The tape of an expression, with the motion, time and parameters as inputs."""
        keys = ["q", "qd", "qdd", "tau", *self.time_inputs, *(["p"] if self.eqs.parameters else [])]
        symbols = [self.eqs.symbols[key] for key in keys]
        return record_tape(ca.Function("f", symbols, [ca.cse(expression)], keys, [name]))

    def prove_same_tapes(self, one: Tape, other: Tape) -> IdentityProof:
        """Prove that two tapes are the same function, modulo a prime; in ball arithmetic where that
        cannot decide."""
        names = quantity_entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        verdict = compare_tapes_modulo_prime(
            one,
            other,
            entries,
            MAX_ERROR_CHANCE,
            self.quaternion_groups,
            numbers=self.eqs.literals,
        )
        return self._verdict_to_proof(verdict, one, other)

    def prove_same_on_constraints(self, other: VerifiedEquations, function: str) -> IdentityProof:
        """Prove that a function agrees modulo a prime at points that satisfy the constraints; in
        floating point near the assembled configuration if no lengths close the loops."""
        one, two = self.function_tape(function), other.function_tape(function)
        if _is_proof_prevented_by_rounding(one) or _is_proof_prevented_by_rounding(two):
            return self._compare_at_states(other, function, "its numbers are rounded")
        names = quantity_entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        try:
            verdict = compare_tapes_modulo_prime(
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
    def _point_constrainer(self) -> ResiduePointConstraints:
        """The constraints that points modulo a prime must satisfy."""
        names = quantity_entry_names(self.names, list(self.eqs.parameters))

        def proof_constraint_program(function: str) -> ResidueProgram:
            tape = self.function_tape(function)
            return ResidueProgram(tape, [names[port.name] for port in tape.inputs])

        residual = (
            proof_constraint_program("constraint_residual")
            if self.names.position_row_count
            else None
        )
        jacobian = proof_constraint_program("constraint_jacobian")
        velocity = proof_constraint_program("constraint_velocity")
        return ResiduePointConstraints(residual, jacobian, velocity, names["qd"])

    def _compare_at_states(
        self, other: VerifiedEquations, function: str, why: str
    ) -> IdentityProof:
        """Compare a function in floating point, at states that satisfy the constraints."""
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

    def _verdict_to_proof(self, verdict: ModularVerdict, one: Tape, other: Tape) -> IdentityProof:
        """The proof of a verdict modulo a prime, or a comparison in balls if constants were rounded
        or it is undecided."""
        if not verdict.is_identical and (
            _is_proof_prevented_by_rounding(one) or _is_proof_prevented_by_rounding(other)
        ):
            return self._compare_in_balls(one, other, ROUNDED_DIGITS)
        if verdict.is_undecided:
            return self._compare_in_balls(one, other, 30)
        return IdentityProof(
            verdict.is_identical,
            verdict.is_identical,
            str(verdict),
            verdict.differing_entries,
            verdict.chance_of_error,
            verdict.exponent,
        )

    def _compare_in_balls(self, one: Tape, other: Tape, digits: int) -> IdentityProof:
        """Compare two tapes in ball arithmetic at exact random states, to the given digits."""
        named = self.mechanism.parameters

        def proof_ball_inputs(k: int) -> Callable[[], list[list[Ball]]]:
            values = {key: list(x) for key, x in self.random_exact_state(k).items()}
            return exact_ball_inputs(one, values, self.eqs.parameters, named)

        found = compare_tapes_in_balls(one, other, proof_ball_inputs, digits)
        return IdentityProof(found.is_agreed, False, str(found), found.differing)

    @cached_property
    def quaternion_groups(self) -> list[list[str]]:
        """Groups of coordinates that form unit quaternions."""
        found = []
        for name, joint in self.mechanism.joints.items():
            if joint.by_quaternion and joint.moves and self.mechanism.coordinates is None:
                found.append(joint_coordinate_names(name, joint)[-4:])
        return found

    def random_exact_state(self, seed: int) -> Mapping[str, Sequence[Fraction]]:
        """A random state in fractions, with unit quaternions."""
        rng = Random(seed)

        def verified_state_fractions(count: int) -> list[Fraction]:
            return [Fraction(rng.randrange(-1200, 1200), 1000) for _ in range(count)]

        q = dict(zip(self.names.q, verified_state_fractions(self.names.nq), strict=True))
        for names in self.quaternion_groups:
            t = verified_state_fractions(3)
            square = sum((x * x for x in t), Fraction(0))
            entries = [1 - square, *(2 * x for x in t)]
            q |= {n: x / (1 + square) for n, x in zip(names, entries, strict=True)}
        n = self.names.nv
        sizes = {"qd": n, "qdd": n, "tau": n, "t": 1}
        return {"q": list(q.values())} | {
            key: verified_state_fractions(k) for key, k in sizes.items()
        }

    # -- numbers -------------------------------------------------------------------------

    def random_states(
        self, count: int, seed: int = 0, speed: float = 1.0
    ) -> list[dict[str, Floats]]:
        """Random states that satisfy the constraints, with velocities up to about `speed`."""
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
        """The first output of a function in floating point, with all parameters at their values."""
        if function not in self._functions:
            inputs, outputs = quantity_ports(self.names, function)
            evaluate = ArrayFunction(self.eqs.function_at_values(function))
            self._functions[function] = evaluate, [port.name for port in inputs], outputs[0].shape
        evaluate, keys, shape = self._functions[function]
        return evaluate(*(state[key] for key in keys))[0].reshape(shape)


def _is_proof_prevented_by_rounding(tape: Tape) -> bool:
    """Whether a tape has constants other than small integers and dyadic fractions."""
    numbers = (Fraction(c) for c in tape.constants[tape.ops == Op.CONSTANT].tolist())
    return any(
        abs(x.numerator) > MAX_UNROUNDED_CONSTANT or x.denominator > MAX_UNROUNDED_CONSTANT
        for x in numbers
    )
