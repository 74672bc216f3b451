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

MAX_KEPT_CONDITIONS = 32
"""How many models keep the function that finds joints turned over."""


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
        parameters = np.zeros((len(q), 0)) if self.parameters is None else self.parameters
        found = np.asarray(_upright_conditions(self.model)(q.T, parameters.T), dtype=float)
        return np.asarray((found > 0).all(axis=0)) if len(found) else np.ones(len(q), bool)

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
def _upright_conditions(model: Model) -> ca.Function:
    """Return the upright conditions at t = 0 as a function of q and the parameters that the model
    keeps, with one column for each run."""
    tree = build_kinematic_tree(model.mechanism, list(model.parameters) or "numeric")
    constraints = constraint_equations(tree)
    assert constraints is not None
    parameters = [tree.symbols.get(name, ca.SX.sym(name)) for name in model.parameters]
    found = ca.substitute(constraints.upright_conditions, tree.motion.t, 0.0)
    inputs = [tree.motion.q, ca.vertcat(ca.SX(0, 1), *parameters)]
    return ca.Function("upright", inputs, [found])
