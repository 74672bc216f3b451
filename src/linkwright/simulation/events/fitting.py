"""A state that somebody changed, made to hold the constraints: what was given stays as given."""

from __future__ import annotations

import numpy as np

from ...errors import LinkwrightError
from ...model import Model
from ...types import Floats
from ..system import System

_STEPS, _CLOSED, _LEFT = 30, 1e-14, 1e-9


class Fitting:
    """Of a mechanism with constraints, at one instant."""

    def __init__(self, system: System, model: Model, t: float, where: str) -> None:
        self.system, self.model, self.where = system, model, where
        self.time = [t] if model.names.in_time else []
        self.leeway = model.leeway
        self.share = model.mechanism.closure if self.leeway else 1e-10

    def positions(self, q: Floats, given: tuple[int, ...]) -> Floats:
        """By the least changes of the coordinates that are not given."""
        model, wanted, size = self.model, q[list(given)], np.inf
        for _ in range(_STEPS):
            positions = model.names.positions
            closure = model.constraint_residual(q, *self.time) if positions else np.zeros(0)
            wrong = np.concatenate([closure, q[list(given)] - wanted])
            size = float(np.abs(wrong).max(initial=0.0))
            if not size > _CLOSED:
                break
            J = model.constraint_jacobian(q, *self.time)[list(model.names.position_rows)]
            A = np.vstack([J, self.system.coordinate_rates(q)[list(given)]])
            change = np.linalg.pinv(A, rcond=self.share) @ wrong
            if not np.abs(A @ change).max(initial=0.0) > _CLOSED:
                break
            q = model.integrate(q, -change)
        return self._checked(q, size, "positions")

    def speeds(self, q: Floats, qd: Floats, given: tuple[int, ...]) -> Floats:
        """By the least changes of the speeds that are not given."""
        model, fixed = self.model, np.eye(len(qd))[list(given)]
        A = np.vstack([model.constraint_jacobian(q, *self.time), fixed])
        wrong = np.concatenate([model.constraint_velocity(q, qd, *self.time), np.zeros(len(fixed))])
        change = np.linalg.pinv(A, rcond=self.share) @ wrong
        left = float(np.abs(A @ change - wrong).max(initial=0.0))
        return self._checked(qd - change, left / max(1.0, np.abs(qd).max(initial=0.0)), "speeds")

    def _checked(self, found: Floats, left: float, what: str) -> Floats:
        if not left <= max(_LEFT, self.leeway):
            raise LinkwrightError(
                f"the action gives {what} that contradict the constraints", where=self.where,
                remedy="change fewer of them: the others follow",
            )  # fmt: skip
        return found
