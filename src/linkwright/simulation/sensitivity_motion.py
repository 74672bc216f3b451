"""The variational equations of a motion as compiled code.

The states of the motion are followed by S, with Ṡ = ∂F/∂y S + ∂F/∂p: the derivatives of its states
in each direction. CasADi's derivatives are exact. S is part of the error norm of a step, so that it
is as accurate as the motion. Where the motion is projected onto constraints, S is projected onto
their tangent space.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca
import numpy as np

from ..model.model import Model
from ..types import SX, Floats
from .compiled_motion import CompiledMotion
from .fixed_steps.step_equations import StepEquations
from .fixed_steps.step_projection import ProjectionMetric, StepProjection
from .projection import Projection
from .right_hand_side import RightHandSide
from .sensitivity_start import StartDerivative
from .state_space import WORK_COUNT


class SensitivityMotion(CompiledMotion):
    """A compiled motion whose states are followed by their derivatives in some directions.

    `parameters` are the names of the parameters of the first directions; the other directions are
    those of the start. `numeric_model` has the numbers of the run, if runs do not differ in them.
    """

    def __init__(
        self,
        system: RightHandSide,
        integrator: str,
        parameters: tuple[str, ...],
        directions: int,
        numeric_model: Model | None,
    ) -> None:
        super().__init__(system, integrator, None)
        self.parameters, self.directions = parameters, directions
        self.numeric_model = numeric_model
        self.varied_count = self.motion_count - WORK_COUNT
        """Entries of y that have derivatives: works have none."""
        self.S = ca.SX.sym("S", self.varied_count, directions)
        self.state_count = self.motion_count + self.varied_count * directions
        self.all_states = ca.vertcat(self.y, ca.vec(self.S))

    @cached_property
    def rate_expressions(self) -> tuple[SX, SX]:
        """ẏ with Ṡ, and the margin."""
        rates, margin = super().rate_expressions
        inputs = ca.vertcat(self.y[: self.varied_count], self.p)
        moves = ca.vertcat(self.S, self._parameter_directions(self.p.shape[0], self.outer.count))
        variations = shorter_product(rates[: self.varied_count], inputs, moves, self.S)
        return ca.vertcat(rates, ca.vec(variations)), margin

    def _parameter_directions(self, rows: int, first: int) -> SX:
        """Return unit columns in the directions of parameters, which begin at a row; others are
        zero."""
        found = np.zeros((rows, self.directions))
        for column, name in enumerate(self.parameters):
            found[first + list(self.kept).index(name), column] = 1.0
        return ca.SX(ca.DM(found))

    @cached_property
    def projection_expressions(self) -> tuple[SX, SX]:
        """y on the constraints with S on their tangent space; the residual and the pivot."""
        y, gap = super().projection_expressions
        space, t = self.system.space, self.system.space.symbols[3]
        q, qd = ca.substitute(list(space.motion_expressions), [space.x], [y[: space.size]])
        metric = None
        if self.holds_constraints:
            metric = StepProjection(StepEquations(self.system.equations, kept=self.kept)).metric(
                q, t
            )
        units = self._parameter_directions(len(self.kept), 0)
        columns = []
        for k in range(self.directions):
            column, unit = self.S[:, k], units[:, k]
            moves = self.state_maps.motion_along(self.y[: space.size], column[: space.size], unit)
            step, change = self._tangent(metric, (q, qd, t), moves, unit)
            along = self.state_maps.state_along((q, qd, t), (step, change), unit)
            columns.append(ca.vertcat(along, column[space.size :]))
        return ca.vertcat(y, *columns), gap

    def _tangent(
        self,
        metric: ProjectionMetric | None,
        state: tuple[SX, SX, SX],
        moves: tuple[SX, SX],
        unit: SX,
    ) -> tuple[SX, SX]:
        """Return changes of q and q̇ with the derivative of the constraints zero along them."""
        names, (q, qd, t), (step, change) = self.system.names, state, moves
        N = self._rate_matrix(q)
        if names.nq != names.nv:  # N is orthogonal but for the factor of quaternions
            step = (N.T @ step) / ca.diag(N.T @ N)
        if metric is not None:
            onto, symbols = metric.projection, [ca.SX.sym("q", names.nq), ca.SX.sym("v", names.nv)]
            if onto.position_row_count:
                residual = onto.residual_of_all_rows(symbols[0], t)
                rows = self._along(residual, symbols, (q, qd), (N @ step, change), unit)
                step = step + metric.smallest_correction(rows)
            violation = onto.velocity_residual(symbols[0], symbols[1], t)
            rows = self._along(violation, symbols, (q, qd), (N @ step, change), unit)
            change = change + metric.smallest_correction(rows)
        return N @ step, change

    def _along(
        self,
        rows: SX,
        symbols: list[SX],
        state: tuple[SX, SX],
        moves: tuple[SX, SX],
        unit: SX,
    ) -> SX:
        """Return the derivative of constraint rows at a state along a direction."""
        parameters = ca.vertcat(*self.kept.values()) if self.kept else ca.SX(0, 1)
        found = ca.jtimes(rows, ca.vertcat(*symbols, parameters), ca.vertcat(*moves, unit))
        return ca.substitute(ca.densify(found), ca.vertcat(*symbols), ca.vertcat(*state))

    def _rate_matrix(self, q: SX) -> SX:
        equations = self.system.equations
        return ca.substitute(ca.densify(equations.rate_matrix), equations.symbols["q"], q)

    @cached_property
    def closing(self) -> Projection | None:
        """Singular values of the constraints, at the numbers of the run."""
        if self.numeric_model is None or not self.holds_constraints:
            return None
        return Projection(self.numeric_model)

    @cached_property
    def state_maps(self) -> StateDerivatives:
        """Derivatives between the motion and the states of the formulation."""
        return StateDerivatives(self.system)

    def start(
        self, y: Floats, motion: tuple[Floats, Floats], derivative: StartDerivative
    ) -> Floats:
        """Return y followed by the derivatives of the start (q, q̇); those of controllers are
        zero."""
        columns = np.zeros((self.varied_count, self.directions))
        units = np.asarray(ca.DM(self._parameter_directions(len(self.kept), 0)), dtype=float)
        columns[: self.system.space.size] = self.state_maps.states_of_start(
            motion, (derivative.q, derivative.qd), units, derivative.parameters
        )
        return np.concatenate([y, columns.T.ravel()])

    def derivatives(self, states: Floats, parameters: Floats) -> tuple[Floats, Floats]:
        """Return ∂q and ∂q̇ (times, coordinates, directions) of states, one row for each time;
        `parameters` are values of the parameters that are kept."""
        size = self.system.space.size
        S = states[:, self.motion_count :].reshape(-1, self.directions, self.varied_count)
        units = np.asarray(ca.DM(self._parameter_directions(len(self.kept), 0)), dtype=float)
        return self.state_maps.motions_of_samples(
            states[:, :size], S[..., :size], units, parameters
        )


class StateDerivatives:
    """Derivatives of the maps between (q, q̇) and the states x of a formulation."""

    def __init__(self, system: RightHandSide) -> None:
        self.space, self.names, equations = system.space, system.names, system.equations
        self.is_plain = equations.state is None
        self.parameters: SX = equations.symbols["p"] if equations.parameters else ca.SX(0, 1)

    def motion_along(self, x: SX, change: SX, unit: SX) -> tuple[SX, SX]:
        """Return the changes of q and q̇ with those of x and of parameters."""
        nq = self.names.nq
        if self.is_plain:
            return change[:nq], change[nq:]
        found = self._to_motion(x, change, unit, self.parameters)
        return found[:nq], found[nq:]

    def state_along(self, state: tuple[SX, SX, SX], moves: tuple[SX, SX], unit: SX) -> SX:
        """Return the change of x at (q, q̇, t) with those of q, of q̇ and of parameters."""
        if self.is_plain:
            return ca.vertcat(*moves)
        return self._to_states(*state, *moves, unit, self.parameters)

    @cached_property
    def _to_motion(self) -> ca.Function:
        """(x, its change, the change of parameters, parameters) → changes of q and q̇."""
        x = self.space.x
        change, unit = ca.SX.sym("dx", x.shape[0]), ca.SX.sym("dp", self.parameters.shape[0])
        motion = ca.vertcat(*self.space.motion_expressions)
        found = ca.jtimes(motion, ca.vertcat(x, self.parameters), ca.vertcat(change, unit))
        return ca.Function("motion", [x, change, unit, self.parameters], [ca.densify(found)])

    @cached_property
    def _to_states(self) -> ca.Function:
        """(q, q̇, t, changes of q, q̇ and parameters, parameters) → the change of x."""
        q, qd, _, t = self.space.symbols
        step, change = ca.SX.sym("dq", q.shape[0]), ca.SX.sym("dqd", qd.shape[0])
        unit = ca.SX.sym("dp", self.parameters.shape[0])
        x = self.space.state_from_motion(q, qd, t)
        moves = ca.vertcat(step, change, unit)
        found = ca.jtimes(x, ca.vertcat(q, qd, self.parameters), moves)
        inputs = [q, qd, t, step, change, unit, self.parameters]
        return ca.Function("states", inputs, [ca.densify(found)])

    def states_of_start(
        self,
        motion: tuple[Floats, Floats],
        changes: tuple[Floats, Floats],
        units: Floats,
        parameters: Floats,
    ) -> Floats:
        """Return the changes of x at a start, at t = 0, one column for each direction."""
        if self.is_plain:
            return np.vstack(changes)
        found = [
            self._to_states(*motion, 0.0, step, change, unit, parameters)
            for step, change, unit in zip(changes[0].T, changes[1].T, units.T, strict=True)
        ]
        return np.hstack([np.asarray(column, dtype=float) for column in found])

    def motions_of_samples(
        self, x: Floats, changes: Floats, units: Floats, parameters: Floats
    ) -> tuple[Floats, Floats]:
        """Return the changes of q and q̇ (times, coordinates, directions) with those of x (times,
        directions, states)."""
        nq = self.names.nq
        found = changes
        if not self.is_plain:
            pairs = [(x, changes[:, k], units[:, k]) for k in range(units.shape[1])]
            maps = [
                np.asarray(self._to_motion(x.T, c.T, u, parameters), dtype=float).T
                for x, c, u in pairs
            ]
            found = np.stack(maps, axis=1)
        found = found.transpose(0, 2, 1)
        return found[:, :nq], found[:, nq:]


def shorter_product(values: SX, inputs: SX, moves: SX, free: SX) -> SX:
    """Return ∂values/∂inputs · moves, by directional derivatives or by the whole Jacobian.

    Directional derivatives are shorter for few directions, the Jacobian for many. `free` are the
    symbols of the moves.
    """
    products = ca.jtimes(values, inputs, moves), ca.jacobian(values, inputs) @ moves
    symbols = [*ca.symvar(values), *ca.symvar(free)]
    lengths = [
        ca.Function("product", symbols, [ca.cse(product)]).n_instructions() for product in products
    ]
    return ca.densify(products[int(np.argmin(lengths))])
