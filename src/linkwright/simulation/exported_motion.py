"""The tapes of a motion that leaves Linkwright: rates, projection, stops, closing of loops.

y = (q, q̇), and p = (u, parameters, holds): efforts of actuators (generalized forces where there are
none), values of the parameters that stay inputs, and for each stop whether it holds the motion.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import LUFactorization
from ..equations import Equations
from ..errors import UnsupportedError
from ..formulations import derive
from ..integrators import EVENT_COLUMN_SIZE, EventColumn
from ..mechanism import Mechanism
from ..tape import Tape, TapeExpression, record_expression_tape
from ..types import SX, Floats, Integers
from .events.rows import ModeRows, UnilateralConstraint
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import StepProjection, project_motion


class ExportedMotion:
    """The tapes of a mechanism's motion, by (t, y, p), for programs in other languages.

    Parameters
    ----------
    mechanism : Mechanism
        Its stops act as in `simulate`; dry friction and rigid contacts are refused.
    parameters : sequence of str
        Names of parameters that stay inputs. Limits of joints keep the values of the mechanism.
    stops : {"stop", "impact", "ignore"}
        As in `simulate`.
    """

    def __init__(
        self, mechanism: Mechanism, parameters: Sequence[str] = (), *, stops: str = "stop"
    ) -> None:
        self.mechanism, self.parameters = mechanism, tuple(parameters)
        self.rows = ModeRows(mechanism, stops)
        _check_motion_is_smooth(mechanism, self.rows)

    # -- sizes -----------------------------------------------------------------------------------

    @cached_property
    def equations(self) -> Equations:
        """The equations of motion."""
        kept = list(self.parameters) or "numeric"
        return derive(self.mechanism, by="recursive", parameters=kept)

    @property
    def stops(self) -> list[UnilateralConstraint]:
        """The stops of joints."""
        return self.rows.unilaterals

    @property
    def input_names(self) -> tuple[str, ...]:
        """The names of the actuators, or of the velocities where there are none."""
        names = self.equations.names
        return tuple(names.actuators) or tuple(names.qd)

    @property
    def state_count(self) -> int:
        """The number of entries of y."""
        return self.equations.nq + self.equations.nv

    @property
    def first_hold(self) -> int:
        """The index in p of the first stop."""
        return len(self.input_names) + len(self.parameters)

    @property
    def parameter_count(self) -> int:
        """The number of entries of p."""
        return self.first_hold + len(self.stops)

    @cached_property
    def nominal_p(self) -> Floats:
        """p without efforts, with the mechanism's own parameters, away from stops."""
        values = [float(self.equations.parameters[name]) for name in self.parameters]
        return np.array([0.0] * len(self.input_names) + values + [0.0] * len(self.stops))

    @property
    def needs_projection(self) -> bool:
        """Whether states can leave constraints or lengths of quaternions."""
        names = self.equations.names
        return bool(names.constraints) or names.nq != names.nv

    @property
    def event_columns(self) -> Integers:
        """The rows of `EventColumn`: every signal is watched as it falls below zero."""
        table = np.zeros((len(self.stops), EVENT_COLUMN_SIZE), np.int64)
        table[:, EventColumn.SIGNAL] = np.arange(len(self.stops))
        table[:, EventColumn.SIGN] = -1
        table[:, [EventColumn.LEAVES, EventColumn.IS_GAP]] = 1
        return table

    @property
    def restitutions(self) -> Floats:
        """The restitutions of the stops; -1 for those that end the motion."""
        return np.array(
            [-1.0 if one.restitution is None else one.restitution for one in self.stops]
        )

    # -- expressions -----------------------------------------------------------------------------

    @cached_property
    def _y(self) -> SX:
        return ca.SX.sym("y", self.state_count)

    @cached_property
    def _p(self) -> SX:
        return ca.SX.sym("p", max(1, self.parameter_count))

    @cached_property
    def _motion(self) -> tuple[SX, SX, SX]:
        """q, q̇ and t."""
        nq = self.equations.nq
        return self._y[:nq], self._y[nq:], self.equations.symbols["t"]

    @cached_property
    def _step_equations(self) -> StepEquations:
        start = len(self.input_names)
        kept = {name: self._p[start + k] for k, name in enumerate(self.parameters)}
        return StepEquations(self.equations, kept=kept)

    @cached_property
    def _free_motion(self) -> tuple[SX, SX, SX]:
        """q̈ without stops, ∂q̈/∂τ, and the smallest pivot."""
        (q, qd, t), of = self._motion, self._step_equations
        s, (B, *_) = self.equations.symbols, self.equations.expressions("input_matrix")
        inputs = [s["q"], s["t"]]
        (B_here,) = of.make_function(self.equations, "inputs", [B], inputs)(q, t)
        tau = ca.SX.sym("tau", self.equations.nv)
        qdd, pivot = of.acceleration(q, qd, tau, t)
        P = ca.jacobian(qdd, tau) if self.stops else ca.SX(0, 0)
        given = B_here @ self._p[: len(self.input_names)]
        qdd, P, pivot = ca.substitute([qdd, P, pivot], [tau], [given])
        return qdd, P, pivot

    @cached_property
    def _stop_rows(self) -> tuple[SX, SX]:
        """R and γ of the stops: the rate of their velocities is R q̈ + γ."""
        own, (q, qd, t) = self.rows.tree.motion, self._motion
        symbols, values = ca.vertcat(own.q, own.qd, own.t), ca.vertcat(q, qd, t)
        n = len(self.stops)
        R, gamma = ca.substitute(
            [self.rows.R[:n, :], self.rows.gamma[:n]], [symbols, ca.SX(0, 1)], [values, ca.SX(0, 1)]
        )
        return R, gamma

    @cached_property
    def _forces_and_accelerations(self) -> tuple[SX, SX]:
        """The forces of the stops that hold the motion, and q̈ under them."""
        qdd, P, _ = self._free_motion
        if not self.stops:
            return ca.SX(0, 1), qdd
        R, gamma = self._stop_rows
        answer, holds = P @ R.T, self._p[self.first_hold : self.parameter_count]
        A = ca.densify(
            ca.repmat(holds, 1, len(self.stops)) * (R @ answer) + ca.diag(1 - holds)
        )
        forces = LUFactorization(A).solve(-holds * (R @ qdd + gamma))
        return forces, qdd + answer @ forces

    # -- tapes -----------------------------------------------------------------------------------

    @cached_property
    def rates(self) -> Tape:
        """(t, y, p) → ẏ, and the smallest pivot."""
        q, qd, _ = self._motion
        N = ca.substitute(self.equations.rate_matrix, self.equations.symbols["q"], q)
        rate = ca.vertcat(N @ qd, self._forces_and_accelerations[1])
        return self._tape("rates", [("rate", rate), ("margin", self._free_motion[2])])

    @cached_property
    def projection(self) -> Tape:
        """(t, y, p) → y on the constraints; their largest residual and the smallest pivot."""
        q, qd, gap, pivot = project_motion(
            self._step_equations,
            *self._motion,
            holds_constraints=bool(self.equations.names.constraints),
        )
        return self._tape(
            "projection", [("projected", ca.vertcat(q, qd)), ("gap", ca.vertcat(gap, pivot))]
        )

    @cached_property
    def signals(self) -> Tape:
        """(t, y, p) → for each stop its gap, or its force where it holds the motion."""
        holds = self._p[self.first_hold : self.parameter_count]
        gaps, _, forces = self._stop_states
        return self._tape("signals", [("signals", holds * forces + (1 - holds) * gaps)])

    @property
    def _stop_states(self) -> tuple[SX, SX, SX]:
        """The gaps of the stops, their rates, and the forces of those that hold the motion."""
        q, qd, t = self._motion
        gaps = self.rows.gap_expressions(q, t)[: len(self.stops)]
        return gaps, self._stop_rows[0] @ qd, self._forces_and_accelerations[0]

    @cached_property
    def stop_states(self) -> Tape:
        """(t, y, p) → gaps, their rates, and forces."""
        names = ("gaps", "velocities", "forces")
        return self._tape("stop_states", list(zip(names, self._stop_states, strict=True)))

    @cached_property
    def impact(self) -> Tape:
        """(t, y, p, shares) → y after an impact with the stops whose share is not zero."""
        shares, (R, _) = ca.SX.sym("shares", len(self.stops)), self._stop_rows
        (q, qd, _), P = self._motion, self._free_motion[1]
        change = ca.SX.zeros(self.equations.nv)
        for k in range(len(self.stops)):
            row = R[k, :]
            answer = P @ row.T
            change -= shares[k] * answer * ((row @ qd) / (row @ answer))
        return self._tape("impact", [("after", ca.vertcat(q, qd + change))], {"shares": shares})

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


def _check_motion_is_smooth(mechanism: Mechanism, rows: ModeRows) -> None:
    """Refuse what needs Python to decide: dry friction and rigid contacts."""
    if rows.joint_frictions:
        raise UnsupportedError(
            f"dry friction of '{rows.joint_frictions[0].name}' sticks and slides, which exported "
            "motions do not",
            where=mechanism.name,
            remedy='give the friction a smoothing, or export mechanism.without("friction")',
        )
    if rows.contacts:
        raise UnsupportedError(
            f"the contact '{rows.contacts[0][0].name}' is rigid, which exported motions do not "
            "support",
            where=mechanism.name,
            remedy="give it a stiffness",
        )
