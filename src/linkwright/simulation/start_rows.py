"""Starts on the constraints, many at once, one row for each run.

A single run is one row: it has the same bits as this row among others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import casadi as ca
import numpy as np

from ..errors import LinkwrightError
from ..kinematics.assembly import assemble, assemble_velocities
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ..kinematics.constraint_equations import constraint_equations
from ..kinematics.constraint_system import constraint_system
from ..kinematics.held_coordinates import steps_of_held_coordinates
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Booleans, Floats

MAX_KEPT_CONDITIONS = 8
"""How many mechanisms keep the function of their upright configurations."""


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

        All runs are closed together; those that do not converge, in which a coordinate moves by
        half a turn, or that close with a joint turned over are assembled one by one.
        """
        model, rows, last = (
            self.model,
            list(self.model.names.position_rows),
            self.time_and_parameters,
        )
        if not rows:
            return q
        hold = steps_of_held_coordinates(constraint_system(self.mechanism), list(given))
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *last),
            lambda q: model.constraint_jacobian(q, *last)[..., rows, :],
            lambda q, step: model.integrate(q, step, *self.model_parameters),
        )
        with np.errstate(all="ignore"):
            closure = close_positions(
                functions, q, hold=hold, longest_step=CLOSURE_TOLERANCES.longest_step
            )
            is_near = np.abs(closure.q - q).max(axis=-1) < np.pi
        is_closed = np.asarray(closure.has_converged) & is_near
        for run in np.flatnonzero(~is_closed | ~self._are_upright(closure.q)):
            own = {name: float(values[run]) for name, values in given.items()}
            try:
                closure.q[run] = assemble(self.mechanism_of(int(run)), own, list(own))
            except LinkwrightError as error:
                self.failures[int(run)] = error
        return closure.q

    def _are_upright(self, q: Floats) -> Booleans:
        """Return which configurations have no joint turned over and no wheel that lies flat."""
        values = np.zeros((len(q), 0)) if self.parameters is None else self.parameters
        conditions = _upright_conditions(self.mechanism, self.model.parameters)
        numbers: Floats = np.asarray(conditions(q.T, 0.0, values.T), dtype=float)
        found: Booleans = np.broadcast_to(np.all(numbers > 0, axis=0), len(q))
        return found

    def project_velocities(self, q: Floats, qd: Floats, held: Sequence[str] = ()) -> Floats:
        """Return velocities (runs, nv) that the constraints allow, those nearest to qd; `held`
        velocities keep their values."""
        names, last = self.model.names, self.time_and_parameters
        if not names.constraints:
            return qd
        J = self.model.constraint_jacobian(q, *last)
        violation = self.model.constraint_velocity(q, qd, *last)
        found = project_velocities(J, qd, violation, hold=[names.qd.index(n) for n in held])
        left = np.abs(self.model.constraint_velocity(q, found, *last)).max(axis=-1)
        for run in np.flatnonzero(~(left < CLOSURE_TOLERANCES.accepted_residual)):
            own = {n: float(qd[run, names.qd.index(n)]) for n in held} if held else qd[run]
            try:
                if int(run) not in self.failures:
                    found[run] = assemble_velocities(self.mechanism_of(int(run)), q[run], own)
            except LinkwrightError as error:
                self.failures[int(run)] = error
        return found


@lru_cache(maxsize=MAX_KEPT_CONDITIONS)
def _upright_conditions(mechanism: Mechanism, parameters: tuple[str, ...]) -> ca.Function:
    """Return the function (q, t, p) → numbers that are above zero in upright configurations."""
    tree = build_kinematic_tree(mechanism, list(parameters) or "numeric")
    constraints = constraint_equations(tree)
    assert constraints is not None
    p = ca.vertcat(ca.SX(0, 1), *tree.symbols.values())
    found = ca.vertcat(ca.SX(1), ca.SX(constraints.upright_conditions))
    return ca.Function("upright", [tree.motion.q, tree.motion.t, p], [ca.densify(found)])
