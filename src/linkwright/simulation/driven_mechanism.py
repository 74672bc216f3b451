"""A mechanism with prescribed motion of some coordinates: positions and rates of the others.

With d the driven coordinates and p the others, Newton's method solves φ(d, p, t) = 0 for p, and
J_p ṗ = −J_d ḋ − φ_t, J_p p̈ = −J_d d̈ − γ give the rates. Where J_p loses rank, the drive is at a
limit position and cannot move on; if (J_p, J_d ḋ + φ_t) loses rank too, branches of motion meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import AssemblyError, LinkwrightError, UnsupportedError
from ..kinematics.assembly import assemble
from ..kinematics.assembly_search import close_configuration
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    project_accelerations,
    project_velocities,
    smallest_jacobian_singular_share,
)
from ..kinematics.constraint_equations import constraint_equations
from ..kinematics.constraint_system import constraint_system
from ..kinematics.held_coordinates import velocity_of_coordinate
from ..kinematics.mobility_analysis import mobility
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import neutral_coordinates
from ..mechanism import Mechanism, mechanism_names
from ..types import Floats
from .coordinate_paths import CoordinatePath
from .start import placed

SINGULAR_SHARE = CLOSURE_TOLERANCES.state_rank_share
"""J_p has lost rank where its smallest singular value is below this share of the largest."""

CONTINUATION_SHARE = 0.05
"""Largest correction of a predicted position, as a share of its change: a larger one may lead to
another branch."""

CONTINUATION_SLACK = 1e-7
"""Correction of a predicted position that is always accepted, rad or m: it is needed for a drive at
rest."""


@dataclass(frozen=True)
class KinematicState:
    """Position, velocities and accelerations at time t.

    `singular_share` is the smallest singular value of J_p as a share of the largest (1 where no
    coordinate depends on others), `residual` is that of the constraints, rad or m.
    """

    t: float
    q: Floats
    qd: Floats
    qdd: Floats
    singular_share: float
    residual: float


class DrivenMechanism:
    """Positions, velocities and accelerations of a mechanism along a path of some coordinates."""

    def __init__(self, mechanism: Mechanism, path: CoordinatePath) -> None:
        self.mechanism, self.path, self.names = mechanism, path, mechanism_names(mechanism)
        self.is_constrained = bool(self.names.constraints)
        if self.names.position_row_count < len(self.names.constraints):
            raise UnsupportedError(
                "constraints of speeds leave positions to the history of the motion",
                where=mechanism.name,
                remedy="use simulate",
            )
        self.driven_velocities = [self._velocity_index(name) for name in path.names]
        self.dependent_velocities = [
            k for k in range(self.names.nv) if k not in self.driven_velocities
        ]
        self.driven_coordinates = [self.names.q.index(name) for name in path.names]
        if self.is_constrained:
            self.system = constraint_system(mechanism)
            tree = build_kinematic_tree(mechanism, "numeric")
            motion, constraints = tree.motion, constraint_equations(tree)
            assert constraints is not None
            outputs = [constraints.velocity, constraints.bias, constraints.J]
            self._constraint_rates = ca.Function("rates", [motion.q, motion.qd, motion.t], outputs)
            self._check_mobility()

    def _velocity_index(self, name: str) -> int:
        """Return the index of the velocity that is the coordinate's rate."""
        if self.is_constrained:
            return velocity_of_coordinate(constraint_system(self.mechanism), name)
        if name not in self.names.qd:
            raise UnsupportedError(
                f"'{name}' has no velocity of its own",
                where=self.mechanism.name,
                remedy='use rotation = "cardan"',
            )
        return self.names.qd.index(name)

    def _check_mobility(self) -> None:
        """Raise unless as many coordinates are driven as there are degrees of freedom."""
        free = mobility(self.mechanism)
        given, count = len(self.driven_velocities), free.configuration
        if given < count:
            names = [n for n in free.independent if n not in self.path.names]
            verb = "coordinate is" if count == 1 else "coordinates are"
            raise LinkwrightError(
                f"{count} {verb} free and {given} driven",
                where=self.mechanism.name,
                remedy=f"drive others too, such as {', '.join(names)}",
            )
        if given > count:
            raise LinkwrightError(
                f"{given} coordinates are driven, but only {count} can be",
                where=self.mechanism.name,
                remedy="drive fewer, and let the others follow",
            )

    def first_state(self, t: float, guess: Mapping[str, float] | None) -> KinematicState:
        """Return the first state, on the branch of the guess; without a guess, on that of
        the assembly."""
        values = self.path(t)[0]
        wanted = {**(guess or {}), **dict(zip(self.path.names, values.tolist(), strict=True))}
        if self.is_constrained:
            q = assemble(self.mechanism, wanted, self.path.names, t=t)
        else:
            start = np.array(neutral_coordinates(build_kinematic_tree(self.mechanism, "numeric")))
            q = placed(start, wanted, self.names.q, "coordinate")
        state = self.state_near(t, q)
        if state is None:
            raise AssemblyError("the mechanism cannot be assembled", where=self.mechanism.name)
        return state

    def state_near(self, t: float, guess: Floats) -> KinematicState | None:
        """Return the state at t near the guess; None where constraints cannot be satisfied."""
        d, dd, ddd = self.path(t)
        q = guess.copy()
        q[self.driven_coordinates] = d
        qd, qdd = np.zeros(self.names.nv), np.zeros(self.names.nv)
        driven = self.driven_velocities
        qd[driven], qdd[driven] = dd, ddd
        if not self.is_constrained:
            return KinematicState(t, q, qd, qdd, 1.0, 0.0)
        q, residual = close_configuration(self.system, q, t, driven)
        allowed = CLOSURE_TOLERANCES.continued_residual * max(1.0, np.abs(q).max())
        if not residual <= allowed or not self.system.is_upright(q, t):
            return None
        rounding = CLOSURE_TOLERANCES.rounding_share
        violation, _, J = self._constraint_terms(q, qd, t)
        qd = project_velocities(J, qd, violation, hold=driven, rank_share=rounding)
        _, gamma, _ = self._constraint_terms(q, qd, t)
        qdd = project_accelerations(J, qdd, gamma, hold=driven, rank_share=rounding)
        return KinematicState(t, q, qd, qdd, self._singular_share(J), residual)

    def _constraint_terms(self, q: Floats, qd: Floats, t: float) -> tuple[Floats, Floats, Floats]:
        """Return J q̇ − b, γ and J."""
        terms = (np.asarray(x, dtype=float) for x in self._constraint_rates(q, qd, t))
        violation, gamma, J = terms
        return violation.ravel(), gamma.ravel(), J

    def _singular_share(self, J: Floats) -> float:
        """Return the smallest singular value of J_p as a share of the largest."""
        if not self.dependent_velocities:
            return 1.0
        columns = J[:, self.dependent_velocities]
        return smallest_jacobian_singular_share(columns, len(self.dependent_velocities))

    def jacobian(self, state: KinematicState) -> Floats:
        """Return J of all constraints at a state."""
        return self._constraint_terms(state.q, state.qd, state.t)[2]

    def drive_violation(self, q: Floats, t: float) -> tuple[Floats, Floats]:
        """Return J_d ḋ + φ_t, the violation by the driven coordinates alone, and J."""
        qd = np.zeros(self.names.nv)
        qd[self.driven_velocities] = self.path(t)[1]
        violation, _, J = self._constraint_terms(q, qd, t)
        return violation, J

    def move_coordinates(self, q: Floats, step: Floats) -> Floats:
        """Return q ⊕ step."""
        return self.system.move(q, step) if self.is_constrained else q + step

    def predict_coordinates(self, state: KinematicState, t: float) -> Floats:
        """Return q at t by a Taylor series of second order."""
        h = t - state.t
        return self.move_coordinates(state.q, h * state.qd + h * h / 2 * state.qdd)

    def next_state(self, state: KinematicState, t: float) -> KinematicState | None:
        """Return the state at t that continues the motion smoothly; None where t is too far."""
        if not self.is_constrained:
            return self.state_near(t, state.q)
        guess = self.predict_coordinates(state, t)
        after = self.state_near(t, guess)
        if after is None:
            return None
        way = np.abs(t - state.t) * np.abs(state.qd).max(initial=0.0)
        correction = np.abs(after.q - guess).max(initial=0.0)
        return after if correction <= CONTINUATION_SHARE * way + CONTINUATION_SLACK else None

    def interpolate_singular_state(
        self, state: KinematicState, t: float, side: float
    ) -> KinematicState | None:
        """Return the state at t, where J_p has no inverse, from states at t − side and t + side.

        Coordinates and rates are those of the cubic through both states.
        """
        before = self.next_state(state, t - side)
        after = self.next_state(before, t + side) if before is not None else None
        if before is None or after is None:
            return None
        rate = 0.75 * (after.q - before.q) / side - (before.qd + after.qd) / 4
        second_rate = (after.qd - before.qd) / (2 * side)
        q = (before.q + after.q) / 2 - side * (after.qd - before.qd) / 4
        residual = max(before.residual, after.residual)
        return KinematicState(t, q, rate, second_rate, 0.0, residual)
