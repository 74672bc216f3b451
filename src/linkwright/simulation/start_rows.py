"""Starts on the constraints, many at once, one row for each run.

A single run is one row: it has the same bits as this row among others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..errors import LinkwrightError
from ..kinematics.assembly import assemble, assemble_velocities
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ..kinematics.constraint_system import constraint_system
from ..kinematics.held_coordinates import steps_of_held_coordinates
from ..mechanism import Mechanism
from ..model.model import Model
from ..model.upright_states import are_states_upright
from ..types import Booleans, Floats
from .start_constraints import start_position_constraints


@dataclass
class StartRows:
    """Puts starts onto the constraints of a model.

    `mechanism_of` gives the mechanism of a run, and `parameters` (runs, count) the values of the
    parameters that the model keeps. `failures` are the runs that cannot start, and why.
    """

    model: Model
    mechanism: Mechanism
    mechanism_of: Callable[[int], Mechanism]
    parameters: Floats | None = None
    failures: dict[int, LinkwrightError] = field(default_factory=dict)

    @property
    def model_parameters(self) -> list[Floats]:
        """The last input of the model's functions: the parameters by run, if the model keeps
        some."""
        return [] if self.parameters is None else [self.parameters]

    @property
    def time_and_parameters(self) -> list[Floats]:
        """The inputs of the model's functions after the state."""
        time = [np.zeros(())] if self.model.names.is_time_dependent else []
        return [*time, *self.model_parameters]

    def close_positions(self, q: Floats, given: Mapping[str, Floats]) -> Floats:
        """Return q (runs, nq) with closed loops, where `given` coordinates (runs,) are held.

        All runs are closed together; those that stay open, in which a coordinate moves by half a
        turn, or that close with a joint turned over are assembled one by one.
        """
        if not self.model.names.position_row_count:
            return q
        system = constraint_system(self.mechanism)
        functions = start_position_constraints(self.model, self.mechanism, q, self.parameters)
        hold, share = steps_of_held_coordinates(system, list(given)), system.scale.closure
        with np.errstate(all="ignore"):
            closure = close_positions(
                functions,
                q,
                hold=hold,
                rank_share=share,
                longest_step=CLOSURE_TOLERANCES.longest_step,
            )
            found = self._polish(functions, closure.q, hold, share)
            is_near = np.abs(found - q).max(axis=-1) < np.pi
        size = np.maximum(1.0, np.abs(q).max(axis=-1))
        bound = np.maximum(CLOSURE_TOLERANCES.closed_residual * size, self.model.leeway)
        is_closed = closure.has_converged & (closure.residual <= bound) & is_near
        for run in np.flatnonzero(~is_closed | ~self._are_upright(found)):
            own = {name: float(values[run]) for name, values in given.items()}
            try:
                found[run] = assemble(self.mechanism_of(int(run)), own, list(own))
            except LinkwrightError as error:
                self.failures[int(run)] = error
        return found

    def _polish(
        self, functions: PositionConstraints, q: Floats, hold: Sequence[int], share: float
    ) -> Floats:
        """Return closed coordinates as near to the constraints as rounding lets them be."""
        return close_positions(
            functions,
            q,
            hold=hold,
            tolerance=0.0,
            rank_share=share,
            max_iterations=CLOSURE_TOLERANCES.max_corrections,
        ).q.copy()

    def _are_upright(self, q: Floats) -> Booleans:
        """Return which configurations have no joint turned over and no wheel that lies flat."""
        p = np.zeros((len(q), 0)) if self.parameters is None else self.parameters
        return are_states_upright(self.mechanism, self.model.parameters, q, np.zeros(()), p)

    def project_velocities(self, q: Floats, qd: Floats, held: Sequence[str] = ()) -> Floats:
        """Return velocities (runs, nv) that the constraints allow, those nearest to qd; `held`
        velocities keep their values.

        Runs where the rank of the constraints is in doubt are done one by one, with the rank that
        `Mechanism.closure` gives.
        """
        names, last = self.model.names, self.time_and_parameters
        if not names.constraints:
            return qd
        J = self.model.constraint_jacobian(q, *last)
        violation = self.model.constraint_velocity(q, qd, *last)
        hold = [names.qd.index(name) for name in held]
        found = project_velocities(J, qd, violation, hold=hold)
        left = np.abs(self.model.constraint_velocity(q, found, *last)).max(axis=-1)
        is_clear = self._have_clear_ranks(np.delete(J, hold, axis=-1))
        for run in np.flatnonzero(~(left < CLOSURE_TOLERANCES.accepted_residual) | ~is_clear):
            own = {n: float(qd[run, names.qd.index(n)]) for n in held} if held else qd[run]
            try:
                if int(run) not in self.failures:
                    found[run] = assemble_velocities(self.mechanism_of(int(run)), q[run], own)
            except LinkwrightError as error:
                self.failures[int(run)] = error
        return found

    def _have_clear_ranks(self, J: Floats) -> Booleans:
        """Return which Jacobians (runs, m, n) have no singular values between those that count and
        rounding."""
        if 0 in J.shape:
            return np.ones(len(J), dtype=bool)
        is_finite: Booleans = np.asarray(np.isfinite(J).all(axis=(-2, -1)))
        finite: Floats = np.where(is_finite[:, None, None], J, 0.0)
        sizes = np.linalg.svd(finite, compute_uv=False)
        counted = self.mechanism.closure * sizes[:, :1]
        rounding = CLOSURE_TOLERANCES.implied_row_share * sizes[:, :1]
        is_clear: Booleans = np.all((sizes >= counted) | (sizes <= rounding), axis=-1)
        return is_finite & is_clear
