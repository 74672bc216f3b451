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

from ..algebra.exact.constrained_points import Obeying
from ..algebra.exact.programs import Program
from ..algebra.exact.tape_identity import Verdict, identical
from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.assembly import closed_state
from ..mechanism import Mechanism, coordinate_names
from ..quantities import entry_names, ports
from ..readings.balls import SMALL, agreement, exact_inputs
from ..tape import Op, Tape, record
from ..types import SX, Floats

CHANCE = 2.0**-60
"""Of an error, for each identity: many together stay below 2⁻⁵⁰."""
LOOP_STATES, LOOP_AGREEMENT = 4, 1e-8
ROUNDED_DIGITS = 11
"""Where constants were rounded on a tape, this much must agree."""


@dataclass(frozen=True)
class Proof:
    """Whether an identity holds; `proved` for all states and values, or seen at random ones."""

    holds: bool
    proved: bool
    text: str
    differing: tuple[str, ...] = ()
    chance: float = 0.0
    exponent: int = 0


class Subject:
    """Equations, with what checks need of them. `others` puts equations of the same mechanism
    beside them, with the same symbols."""

    def __init__(self, eqs: Equations) -> None:
        self.eqs, self.names = eqs, eqs.names
        self.mechanism: Mechanism = eqs.mechanism
        self.known = set(eqs.function_names())
        self._tapes: dict[str, Tape] = {}
        self._functions: dict[str, Any] = {}

    @cached_property
    def time(self) -> list[str]:
        return self.names.time_arguments("t")

    @cached_property
    def drives(self) -> str:
        """The function of M q̈ + C q̇ + g − f."""
        return "required_forces" if self.names.constraints else "inverse_dynamics"

    def has(self, *functions: str) -> bool:
        """Whether they can be made, which for C is not said by its name alone."""
        return set(functions) <= self.known and all(map(self.eqs.can_make, functions))

    def of(self, function: str) -> SX:
        """The expression of a function's first output."""
        return self.eqs.expressions(function)[0]

    def at_rest(self, expression: SX) -> SX:
        return ca.substitute(expression, self.eqs.symbols["qd"], ca.SX.zeros(self.eqs.nv))

    def rate(self, expression: SX) -> SX:
        """d/dt along the motion, with q̈ as it is."""
        s = self.eqs.symbols
        total = ca.jtimes(expression, s["q"], self.eqs.rates @ s["qd"])
        total += ca.jtimes(expression, s["qd"], s["qdd"])
        return total + ca.jtimes(expression, s["t"], ca.SX.ones(1)) if self.time else total

    # -- proofs --------------------------------------------------------------------------

    def tape(self, function: str) -> Tape:
        """The tape of a function, recorded once."""
        if function not in self._tapes:
            inputs, outputs = ports(self.names, function, list(self.eqs.parameters))
            whole, kept = self.eqs.function(function), [x for x in outputs if x.name != "pivot"]
            if len(kept) < len(outputs):  # sizes of pivots are no part of the equations
                whole = whole.factory(function, whole.name_in(), [port.name for port in kept])
            self._tapes[function] = record(whole, inputs, kept)
        return self._tapes[function]

    def prove(self, name: str, left: SX, right: SX | float = 0.0) -> Proof:
        """That two expressions are the same function."""
        return self.same(*(self._tape_of(name, ca.densify(ca.SX(side) * ca.SX.ones(left.shape)))
                           for side in (left, right)))  # fmt: skip

    def _tape_of(self, name: str, expression: SX) -> Tape:
        keys = ["q", "qd", "qdd", "tau", *self.time, *(["p"] if self.eqs.parameters else [])]
        symbols = [self.eqs.symbols[key] for key in keys]
        return record(ca.Function("f", symbols, [ca.cse(expression)], keys, [name]))

    def same(self, one: Tape, other: Tape) -> Proof:
        """Modulo a prime; where that cannot decide, in ball arithmetic."""
        names = entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        verdict = identical(one, other, entries, CHANCE, self.quaternions)
        return self._proof(verdict, one, other)

    def same_where_allowed(self, other: Subject, function: str) -> Proof:
        """Modulo a prime, at points that obey the constraints; where no lengths close the loops, in
        floats where the mechanism is assembled."""
        one, two = self.tape(function), other.tape(function)
        if _is_rounded(one) or _is_rounded(two):
            return self._at_states(other, function, "its numbers are rounded")
        names = entry_names(self.names, list(self.eqs.parameters))
        entries = [names[port.name] for port in one.inputs]
        try:
            verdict = identical(one, two, entries, CHANCE, self.quaternions, self._obeying)
        except UnsupportedError as error:
            return self._at_states(other, function, error.what)
        if verdict.undecided:
            return self._at_states(other, function, "it has functions that are not rational")
        return self._proof(verdict, one, two)

    @cached_property
    def _obeying(self) -> Obeying:
        names = entry_names(self.names, list(self.eqs.parameters))

        def program(function: str) -> Program:
            tape = self.tape(function)
            return Program(tape, [names[port.name] for port in tape.inputs])

        residual = program("constraint_residual") if self.names.positions else None
        jacobian, velocity = program("constraint_jacobian"), program("constraint_velocity")
        return Obeying(residual, jacobian, velocity, names["qd"])

    def _at_states(self, other: Subject, function: str, why: str) -> Proof:
        """In floats, at states that the constraints allow."""
        apart = []
        for state in self.states(LOOP_STATES):
            a, b = (x.value(function, state) for x in (self, other))
            apart.append(np.abs(a - b).max() / max(1.0, np.abs(a).max()))
        worst = float(np.max(apart))
        text = f"agrees to {worst:.0e} at {LOOP_STATES} closed states; no proof, since {why}"
        return Proof(
            worst < LOOP_AGREEMENT, False, text, () if worst < LOOP_AGREEMENT else ("qdd",)
        )

    def _proof(self, verdict: Verdict, one: Tape, other: Tape) -> Proof:
        if not verdict.identical and (_is_rounded(one) or _is_rounded(other)):
            return self._in_balls(one, other, ROUNDED_DIGITS)
        if verdict.undecided:
            return self._in_balls(one, other, 30)
        return Proof(
            verdict.identical, verdict.identical, str(verdict), verdict.differing,
            verdict.chance, verdict.exponent,
        )  # fmt: skip

    def _in_balls(self, one: Tape, other: Tape, digits: int) -> Proof:
        named = self.mechanism.parameters

        def inputs(k: int) -> Any:
            values = {key: list(x) for key, x in self.exact_state(k).items()}
            return exact_inputs(one, values, self.eqs.parameters, named)

        found = agreement(one, other, inputs, digits)
        return Proof(found.agree, False, str(found), found.differing)

    @cached_property
    def quaternions(self) -> list[list[str]]:
        """Coordinates that together are unit quaternions."""
        found = []
        for name, joint in self.mechanism.joints.items():
            if joint.by_quaternion and joint.moves and self.mechanism.coordinates is None:
                found.append(coordinate_names(name, joint)[-4:])
        return found

    def exact_state(self, seed: int) -> Mapping[str, Sequence[Fraction]]:
        """A random state in fractions, with unit quaternions."""
        rng = Random(seed)

        def some(count: int) -> list[Fraction]:
            return [Fraction(rng.randrange(-1200, 1200), 1000) for _ in range(count)]

        q = dict(zip(self.names.q, some(self.names.nq), strict=True))
        for names in self.quaternions:
            t = some(3)
            square = sum((x * x for x in t), Fraction(0))
            entries = [1 - square, *(2 * x for x in t)]
            q |= {n: x / (1 + square) for n, x in zip(names, entries, strict=True)}
        n = self.names.nv
        return {"q": list(q.values()), "qd": some(n), "qdd": some(n), "tau": some(n), "t": some(1)}

    # -- numbers -------------------------------------------------------------------------

    def states(self, count: int, seed: int = 0, speed: float = 1.0) -> list[dict[str, Floats]]:
        """Random states that the constraints allow, with speeds up to about `speed`."""
        rng = np.random.default_rng(seed)
        n, found = self.eqs.nv, []
        for _ in range(count):
            step, qd, qdd, tau = rng.uniform(-1, 1, (4, n)) * [[1], [speed], [1], [1]]
            if self.names.constraints:
                q, qd = closed_state(self.mechanism, 0.2 * step, qd)
            else:
                q = self.value("integrate", {"q": np.array(self.eqs.neutral), "step": 1.5 * step})
            found.append({"q": q, "qd": qd, "qdd": qdd, "tau": tau, "t": np.zeros(1)})
        return found

    def value(self, function: str, state: Mapping[str, Floats]) -> Floats:
        """A function's first output in floats, all parameters at their values."""
        inputs, outputs = ports(self.names, function)
        found = self._folded(function)(*(state[port.name] for port in inputs))
        array = np.asarray(found[0] if isinstance(found, tuple) else found, dtype=float)
        return array.reshape(outputs[0].shape)

    def _folded(self, function: str) -> Any:
        if function not in self._functions:
            self._functions[function] = self.eqs.folded(function)
        return self._functions[function]


def _is_rounded(tape: Tape) -> bool:
    """Whether constants are more than small integers and dyadic fractions."""
    numbers = (Fraction(c) for c in tape.constants[tape.ops == Op.CONSTANT].tolist())
    return any(abs(x.numerator) > SMALL or x.denominator > SMALL for x in numbers)
