"""The tapes of a motion that leaves Linkwright: rates, projection, stops, friction, closing
of loops.

y = (q, q̇), and p = (u, parameters, holds, pushes): efforts of actuators (generalized forces where
there are none), values of the parameters that stay inputs, for each row (stop or joint with dry
friction) a `Hold`: whether it holds the motion, and for each joint with friction the force that it
has while it does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import LUFactorization, solve_symmetric_matrix
from ..formulations import derive
from ..integrators.hold_choice import BLOCKED_SHARE, Hold
from ..integrators.step_method import UNKNOWN_RATE
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..mechanism.effort_bounds import actuator_effort_range
from ..tape import Tape, TapeExpression, record_expression_tape
from ..types import SX, Floats
from .effort_limits import clip, limit_given_forces, limit_joint_forces
from .events.sharp_friction import without_sharp_friction
from .exported_rows import ExportedRows
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import StepProjection, project_motion

CONTACT_CORRECTIONS = 2
"""Corrections of the gaps of contacts, with the matrices of the first, as in `HeldMotion`."""


class ExportedMotion:
    """The tapes of a mechanism's motion, by (t, y, p), for programs in other languages.

    The class has more than 20 methods because each tape, and each part that tapes share, is a
    property.

    Parameters
    ----------
    mechanism : Mechanism
        Its stops, rigid contacts and dry friction act as in `simulate`; friction of contacts, and
        friction that depends on reactions, are refused.
    parameters : sequence of str
        Names of parameters that stay inputs. Limits of joints keep the values of the mechanism.
    stops : {"stop", "impact", "ignore"}
        As in `simulate`.
    by : str
        The formulation that derives the accelerations.
    pushes : bool
        Generalized forces are inputs too, after the efforts of actuators: what a hand does to a
        mechanism with actuators.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        parameters: Sequence[str] = (),
        *,
        stops: str = "stop",
        by: str = "recursive",
        pushes: bool = False,
    ) -> None:
        self.parameters = tuple(parameters)
        smooth = without_sharp_friction(mechanism)
        kept = self.parameters
        if smooth is not mechanism:  # some may have an effect on friction alone
            known = build_kinematic_tree(smooth, "symbolic").symbols
            kept = tuple(name for name in kept if name in known)
        self.equations = derive(smooth, by=by, parameters=list(kept) or "numeric")
        names = self.equations.names
        self.input_names = tuple(names.actuators) or tuple(names.qd)
        self._has_pushes = pushes and bool(names.actuators)
        if self._has_pushes:
            self.input_names += tuple(f"push on {name}" for name in names.qd)
        self.state_count = self.equations.nq + self.equations.nv
        first = len(self.input_names)
        self._kept = {name: ca.SX.sym(name) for name in self.parameters}
        self.rows = ExportedRows(mechanism, stops, self._kept)
        self.first_hold = first + len(self.parameters)
        """The index in p of the `Hold` of the first row."""
        self.first_push = self.first_hold + len(self.rows)
        """The index in p of the force of the first joint with friction."""
        self._mode_size = len(self.rows) + self.rows.friction_count
        self.parameter_count = max(1, self.first_hold + self._mode_size)
        self.needs_projection = (
            bool(names.constraints or self.rows.contact_count) or names.nq != names.nv
        )
        """Whether states can leave constraints, contacts or lengths of quaternions."""
        self._y = ca.SX.sym("y", self.state_count)
        unused = ca.SX.sym("p", self.parameter_count - self.first_hold - self._mode_size)
        self._p = ca.vertcat(
            ca.SX.sym("u", first),
            *self._kept.values(),
            ca.SX.sym("hold", len(self.rows)),
            ca.SX.sym("push", self.rows.friction_count),
            unused,
        )

    @property
    def nominal_p(self) -> Floats:
        """p without efforts, with the mechanism's own parameters, in no mode."""
        known = {**self.equations.mechanism.values, **self.equations.parameters}
        values = [float(known[name]) for name in self.parameters]
        found = np.zeros(self.parameter_count)
        found[len(self.input_names) : self.first_hold] = values
        return found

    @property
    def locks_velocities(self) -> bool:
        """Whether each row holds one velocity of a tree: then many rows cost little."""
        return bool(self.rows.held_velocities) and not self.equations.names.constraints

    # -- expressions -----------------------------------------------------------------------------

    @property
    def _motion(self) -> tuple[SX, SX, SX]:
        """q, q̇ and t."""
        nq = self.equations.nq
        return self._y[:nq], self._y[nq:], self.equations.symbols["t"]

    @property
    def _hold_numbers(self) -> SX:
        """For each row a `Hold`."""
        return self._p[self.first_hold : self.first_hold + len(self.rows), :]

    @property
    def _holds(self) -> SX:
        """For each row 1 where it holds the motion by a force, else 0."""
        return ca.eq(self._hold_numbers, int(Hold.HOLDS))

    @property
    def _known_forces(self) -> SX:
        """The forces of the rows that do not hold the motion: of friction in slides."""
        pushes = self._p[self.first_push : self.first_push + self.rows.friction_count, :]
        return (1 - self._holds) * ca.vertcat(ca.SX.zeros(self.rows.stop_count), pushes)

    @cached_property
    def _step_equations(self) -> StepEquations:
        return StepEquations(self.equations, kept=self._kept)

    @cached_property
    def _given_forces(self) -> SX:
        """τ = B u within the limits that the mechanism declares, and the pushes."""
        (q, _, t), s = self._motion, self.equations.symbols
        B, *_ = self.equations.expressions("input_matrix")
        of = self._step_equations
        (B_here,) = of.make_function(self.equations, "inputs", [B], [s["q"], s["t"]])(q, t)
        count = B_here.shape[1]
        tau = self._limited_forces(B_here, self._p[:count])
        return tau + self._p[count : len(self.input_names)] if self._has_pushes else tau

    @cached_property
    def _forced_motion(self) -> tuple[SX, SX, SX]:
        """Generalized forces τ as symbols, q̈ by them, and the smallest pivot."""
        (q, qd, t), tau = self._motion, ca.SX.sym("tau", self.equations.nv)
        return (tau, *self._step_equations.acceleration(q, qd, tau, t))

    @cached_property
    def _free_motion(self) -> tuple[SX, SX]:
        """q̈ without forces of rows, and the smallest pivot."""
        tau, qdd, pivot = self._forced_motion
        qdd, pivot = ca.substitute([qdd, pivot], [tau], [self._given_forces])
        return qdd, pivot

    def _answer(self, forces: SX) -> SX:
        """q̈ that generalized forces (a column each) cause: ∂q̈/∂τ times them."""
        tau, qdd, _ = self._forced_motion
        answer = ca.jtimes(qdd, tau, forces)
        return ca.substitute(answer, tau, self._given_forces)

    def _limited_forces(self, B: SX, u: SX) -> SX:
        """τ = B u within the limits that the mechanism declares."""
        mechanism = self.equations.mechanism
        if not mechanism.actuators:
            return limit_given_forces(self.equations, B @ u).tau
        ranges = [actuator_effort_range(mechanism, one) for one in mechanism.actuators.values()]
        efforts = [clip(x, bounds) for x, bounds in zip(ca.vertsplit(u), ranges, strict=True)]
        return limit_joint_forces(self.equations, B @ ca.vertcat(*efforts)).tau

    @cached_property
    def _responses(self) -> tuple[SX, SX, SX, SX]:
        """R, γ, the accelerations P Rᵀ for units of the rows' forces, and A = R P Rᵀ."""
        R, gamma = self.rows.velocity_rows(*self._motion)
        tau, qdd, _ = self._forced_motion
        answer = ca.substitute(ca.jacobian(qdd, tau), tau, self._given_forces) @ R.T
        return R, gamma, answer, ca.densify(R @ answer)

    @cached_property
    def _holding(self) -> LUFactorization:
        """The equations of the forces of the rows."""
        A, holds, n = self._responses[3], self._holds, len(self.rows)
        return LUFactorization(ca.densify(ca.repmat(holds, 1, n) * A + ca.diag(1 - holds)))

    @cached_property
    def _forces_and_accelerations(self) -> tuple[SX, SX]:
        """The forces of the rows, and q̈ under them."""
        qdd = self._free_motion[0]
        if not len(self.rows):
            return ca.SX(0, 1), qdd
        if self.locks_velocities:
            return self._locked_motion
        R, gamma, answer, _ = self._responses
        forces = self._holding.solve(self._known_forces - self._holds * (R @ qdd + gamma))
        return forces, qdd + answer @ forces

    @property
    def _locked_motion(self) -> tuple[SX, SX]:
        """The same where each row holds one velocity of a tree: its row and column leave M, whose
        other zeros stay."""
        (q, qd, t), of, nv = self._motion, self._step_equations, self.equations.nv
        free, held, known = ca.SX.ones(nv), self.rows.held_velocities, self._known_forces
        for k, (velocity, _) in enumerate(held):
            free[velocity] *= 1 - self._holds[k]
        M = of.mass_matrix(q, t)
        forces = self._given_forces - of.required_forces(q, qd, ca.SX.zeros(nv), t)
        for k, (velocity, factor) in enumerate(held):
            forces[velocity] += factor * known[k]
        locked = ca.sparsify(M) * (free @ free.T) + ca.diag(1 - free)
        qdd = solve_symmetric_matrix(locked, free * forces)
        reactions = M @ qdd - forces
        own = [reactions[v] / factor for v, factor in held]
        return known + self._holds * ca.vertcat(*own), qdd

    @property
    def _touching(self) -> tuple[SX, SX]:
        """q and q̇ with the gaps of contacts that hold the motion, and their rates, at zero: the
        least change in the metric of M. Constraints stay satisfied to first order."""
        (q, qd, t), answer = self._motion, self._responses[2]
        for _ in range(CONTACT_CORRECTIONS):
            gaps = self._holding.solve(self._holds * self.rows.gaps(q, t))
            q = self._step_equations.move_coordinates(q, -answer @ gaps)
        R, _ = self.rows.velocity_rows(q, qd, t)
        return q, qd - answer @ self._holding.solve(self._holds * (R @ qd))

    @property
    def _possible_responses(self) -> SX:
        """A, with zeros for rows against which the constraints allow no motion."""
        R, _, _, A = self._responses
        if not self.equations.names.constraints:
            return A
        q, _, t = self._motion
        M = self._step_equations.mass_matrix(q, t)
        least = BLOCKED_SHARE * ca.sum2(R * R) / ca.trace(M)
        moves = ca.diag(A) > least
        return ca.densify(A * (moves @ moves.T))

    # -- tapes -----------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Tape:
        """(t, y, p) → ẏ, and the smallest pivot."""
        q, qd, _ = self._motion
        N = ca.substitute(self.equations.rate_matrix, self.equations.symbols["q"], q)
        rate = ca.vertcat(N @ qd, self._forces_and_accelerations[1])
        return self._tape("rates", [("rate", rate), ("margin", self._free_motion[1])])

    @cached_property
    def projection(self) -> Tape:
        """(t, y, p) → y on the constraints; their largest residual and the smallest pivot."""
        q, qd, t = self._motion
        if self.rows.contact_count:
            q, qd = self._touching
        holds = bool(self.equations.names.constraints)
        q, qd, gap, pivot = project_motion(self._step_equations, q, qd, t, holds_constraints=holds)
        return self._tape(
            "projection", [("projected", ca.vertcat(q, qd)), ("gap", ca.vertcat(gap, pivot))]
        )

    @cached_property
    def signals(self) -> Tape:
        """(t, y, p) → for each stop its gap, or its force where it holds the motion; for each joint
        with friction its velocity in the direction in which it slides, or what it can bear beside
        what it bears."""
        (q, qd, t), holds = self._motion, self._holds
        held = self.rows.held_signals(self._forces_and_accelerations[0])
        still = ca.SX.zeros(self.equations.nv)
        free, _ = self.rows.free_signals(q, qd, still, t, self._hold_numbers)
        return self._tape("signals", [("signals", holds * held + (1 - holds) * free)])

    @cached_property
    def stop_margins(self) -> Tape:
        """(t, y, p, ẏ) → the signals of rows that do not hold the motion, and 1 for the others;
        their rates, for forces zero unless they depend on time."""
        (q, qd, t), holds = self._motion, self._holds
        slopes = ca.SX.sym("slopes", self.state_count)
        qdd = slopes[self.equations.nq :]
        free, rates = self.rows.free_signals(q, qd, qdd, t, self._hold_numbers)
        forces = ca.vertsplit(self.rows.held_signals(self._forces_and_accelerations[0]))
        held = [UNKNOWN_RATE * ca.depends_on(x, t) for x in forces]
        outputs = {
            "signals": holds + (1 - holds) * free,
            "rates": holds * ca.vertcat(*held) + (1 - holds) * rates,
        }
        return self._tape("stop_margins", list(outputs.items()), {"slopes": slopes})

    @cached_property
    def stop_motions(self) -> Tape:
        """(t, y, p) → gaps and velocities of the rows, and the levels of friction."""
        q, qd, t = self._motion
        velocities = self.rows.velocity_rows(q, qd, t)[0] @ qd
        outputs = {"gaps": self.rows.gaps(q, t), "velocities": velocities}
        return self._tape("stop_motions", [*outputs.items(), ("levels", self.rows.levels)])

    @cached_property
    def stop_forces(self) -> Tape:
        """(t, y, p) → the forces of the rows."""
        return self._tape("stop_forces", [("forces", self._forces_and_accelerations[0])])

    @cached_property
    def stop_accelerations(self) -> Tape:
        """(t, y, p) → accelerations of the rows without their forces."""
        R, gamma = self.rows.velocity_rows(*self._motion)
        found = R @ self._free_motion[0] + gamma
        return self._tape("stop_accelerations", [("accelerations", found)])

    @cached_property
    def stop_responses(self) -> Tape:
        """(t, y, p) → A by rows: it depends on the coordinates alone."""
        found = ca.vec(self._possible_responses.T)
        return self._tape("stop_responses", [("responses", found)])

    @cached_property
    def impact(self) -> Tape:
        """(t, y, p, impulses, shifts) → y after impulses of the rows, and after displacements."""
        given = {name: ca.SX.sym(name, len(self.rows)) for name in ("impulses", "shifts")}
        (q, qd, t), names = self._motion, list(given)
        R, _ = self.rows.velocity_rows(q, qd, t)
        push, shift = ca.horzsplit(self._answer(R.T @ ca.horzcat(*(given[n] for n in names))))
        after = ca.vertcat(self._step_equations.move_coordinates(q, shift), qd + push)
        return self._tape("impact", [("after", after)], given)

    @cached_property
    def constraints(self) -> Tape:
        """(t, q, p) → residuals of the constraints of positions, and their Jacobian by rows."""
        q, (_, _, t) = ca.SX.sym("q", self.equations.nq), self._motion
        of = StepProjection(self._step_equations)
        rows = list(self.equations.names.position_rows)
        jacobian = ca.vec(ca.densify(of.jacobian(q, t)[rows, :]).T)
        return self._tape(
            "constraints", [("residual", of.residual(q, t)), ("jacobian", jacobian)], state=("q", q)
        )

    @cached_property
    def move(self) -> Tape:
        """(q, step) → q after a small step."""
        q, step = ca.SX.sym("q", self.equations.nq), ca.SX.sym("step", self.equations.nv)
        there = self._step_equations.move_coordinates(q, step)
        return record_expression_tape(
            "move", [_column("q", q), _column("step", step)], [_column("there", there)]
        )

    def record_outputs(
        self, quantities: Sequence[tuple[str, ...]], *, with_stops: bool = False
    ) -> Tape:
        """Record (t, y, p) → the values of quantities (name, or name and frame), one after the
        other; of placements the first three rows. Forces are those of the inputs, and those of the
        stops that hold the motion if `with_stops`."""
        s, eqs, found = self.equations.symbols, self.equations, list[SX]()
        tau = self._given_forces
        if with_stops and len(self.rows):
            tau = tau + self._responses[0].T @ self._forces_and_accelerations[0]
        q, qd, t = self._motion
        for name in quantities:
            value = ca.SX(eqs.expressions(*name)[0])
            value = value[:3, :] if name[0] == "placement" else value
            inputs = [s["q"], s["qd"], s["tau"], s["t"]]
            make = self._step_equations.make_function(eqs, "output", [value], inputs)
            (here,) = make(q, qd, tau, t)
            if name[0] == "reactions" and with_stops and self.rows.contact_count:
                pushed = self.rows.contact_reactions(q, t, self._forces_and_accelerations[0])
                here += ca.vertcat(pushed, ca.SX.zeros(here.shape[0] - pushed.shape[0], 6))
            found.append(ca.vec(here.T))
        return self._tape("outputs", [("values", ca.vertcat(*found))])

    def _tape(
        self,
        name: str,
        outputs: Sequence[tuple[str, SX]],
        others: Mapping[str, SX] | None = None,
        state: tuple[str, SX] | None = None,
    ) -> Tape:
        """Record a tape with the inputs t, y (or another state), p, and others."""
        inputs = {"t": self._motion[2], **dict([state or ("y", self._y)]), "p": self._p}
        given = [_column(key, x) for key, x in (inputs | dict(others or {})).items()]
        return record_expression_tape(name, given, [_column(key, x) for key, x in outputs])


def _column(name: str, values: SX) -> TapeExpression:
    """A column vector as an input or output."""
    return name, values, (int(ca.SX(values).numel()),)
