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
from .state_space import WORKS


class SensitivityMotion(CompiledMotion):
    """A compiled motion whose states are followed by their derivatives in some directions.

    `parameters` are the names of the parameters of the first directions; the other directions are
    those of the start. `numeric_model` has the numbers of the run.
    """

    def __init__(
        self,
        system: RightHandSide,
        integrator: str,
        parameters: tuple[str, ...],
        directions: int,
        numeric_model: Model,
    ) -> None:
        super().__init__(system, integrator, None)
        self.parameters, self.directions = parameters, directions
        self.numeric_model = numeric_model
        self.varied_count = self.motion_count - WORKS
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
        names, t = self.system.names, self.system.space.symbols[3]
        q, qd = y[: names.nq], y[names.nq : names.nq + names.nv]
        metric = None
        if self.holds_constraints:
            metric = StepProjection(StepEquations(self.system.equations, kept=self.kept)).metric(
                q, t
            )
        units = self._parameter_directions(len(self.kept), 0)
        columns = [
            self._tangent(metric, (q, qd, t), self.S[:, k], units[:, k])
            for k in range(self.directions)
        ]
        return ca.vertcat(y, *columns), gap

    def _tangent(
        self, metric: ProjectionMetric | None, state: tuple[SX, SX, SX], column: SX, unit: SX
    ) -> SX:
        """Return a column of S with the derivative of the constraints zero along it."""
        names, (q, qd, t) = self.system.names, state
        step, change = column[: names.nq], column[names.nq : names.nq + names.nv]
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
        return ca.vertcat(N @ step, change, column[names.nq + names.nv :])

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
        return Projection(self.numeric_model) if self.holds_constraints else None

    def start(self, y: Floats, derivative: StartDerivative) -> Floats:
        """Return y followed by the derivatives of the start; those of controllers are zero."""
        columns = np.zeros((self.varied_count, self.directions))
        count = len(derivative.q) + len(derivative.qd)
        columns[:count] = np.vstack([derivative.q, derivative.qd])
        return np.concatenate([y, columns.T.ravel()])

    def derivatives(self, states: Floats) -> tuple[Floats, Floats]:
        """Return ∂q and ∂q̇ (times, coordinates, directions) of states, one row for each time."""
        names = self.system.names
        S = states[:, self.motion_count :].reshape(-1, self.directions, self.varied_count)
        S = S.transpose(0, 2, 1)
        return S[:, : names.nq], S[:, names.nq : names.nq + names.nv]


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
