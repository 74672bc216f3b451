"""Projection of states that an event has changed onto the constraints; values that were set are
kept."""

from __future__ import annotations

import numpy as np

from ...errors import LinkwrightError
from ...kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    solve_constraint_least_change,
)
from ...model.model import Model
from ...types import Floats
from ..state_space import StateSpace


class StateFitting:
    """Projects changed states of a constrained mechanism, at one instant."""

    def __init__(self, space: StateSpace, model: Model, t: float, where: str) -> None:
        self.space, self.model, self.where = space, model, where
        self.time = [t] if model.names.is_time_dependent else []
        self.leeway = model.leeway
        self.share = model.mechanism.closure if self.leeway else CLOSURE_TOLERANCES.fine_rank_share

    def fit_positions(self, q: Floats, given: tuple[int, ...]) -> Floats:
        """Return q on the constraints by the least changes of coordinates that are not given."""
        model, wanted, held = self.model, q[list(given)], list(given)

        def residual(q: Floats) -> Floats:
            closure = (
                model.constraint_residual(q, *self.time)
                if model.names.position_row_count
                else np.zeros(0)
            )
            return np.concatenate([closure, q[held] - wanted])

        def jacobian(q: Floats) -> Floats:
            J = model.constraint_jacobian(q, *self.time)[list(model.names.position_rows)]
            return np.vstack([J, self.space.coordinate_rates(q)[held]])

        functions = PositionConstraints(residual, jacobian, model.integrate)
        closure = close_positions(
            functions, q, tolerance=CLOSURE_TOLERANCES.rounding_residual, rank_share=self.share
        )
        return self._checked(closure.q, float(closure.residual), "positions")

    def fit_velocities(self, q: Floats, qd: Floats, given: tuple[int, ...]) -> Floats:
        """Return q̇ on the constraints by the least changes of velocities that are not given."""
        model, fixed = self.model, np.eye(len(qd))[list(given)]
        A = np.vstack([model.constraint_jacobian(q, *self.time), fixed])
        wrong = np.concatenate([model.constraint_velocity(q, qd, *self.time), np.zeros(len(fixed))])
        change = solve_constraint_least_change(A, wrong, rank_share=self.share)
        left = float(np.abs(A @ change - wrong).max(initial=0.0))
        return self._checked(qd - change, left / max(1.0, np.abs(qd).max(initial=0.0)), "speeds")

    def _checked(self, found: Floats, left: float, what: str) -> Floats:
        """Return a state that was found; raise an error if it contradicts the constraints."""
        if not left <= max(CLOSURE_TOLERANCES.tracked_residual, self.leeway):
            raise LinkwrightError(
                f"the action gives {what} that contradict the constraints",
                where=self.where,
                remedy="change fewer of them: the others follow",
            )
        return found
