"""Where the runs of an ensemble start: checked, assembled and closed together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import (
    AssemblyError,
    LinkwrightError,
    NameNotFoundError,
    suggest_remedy,
)
from ..kinematics.assembly import assemble, assemble_velocities
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ..kinematics.constraint_system import constraint_system
from ..mechanism import Mechanism
from ..model.model import Model
from ..number_checks import check_finite_array
from ..types import Floats
from .start import with_unit_quaternions
from .system import WORKS, System


class EnsembleStart:
    """Where the runs start: rows of q, q̇ and parameters."""

    def __init__(
        self,
        model: Model,
        mechanism: Mechanism,
        q0: Any,
        qd0: Any,
        parameters: Mapping[str, Floats],
    ) -> None:
        self.model, self.mechanism, self.names = model, mechanism, model.names
        self.parameter_names = list(parameters)
        tables = [table for table in (q0, qd0) if isinstance(table, Mapping)]
        arrays = [np.asarray(x) for x in (q0, qd0) if x is not None and not isinstance(x, Mapping)]
        counts = {
            np.shape(v)[0] for table in (*tables, parameters) for v in table.values() if np.ndim(v)
        }
        counts |= {array.shape[0] for array in arrays if array.ndim > 1}
        if len(counts) > 1:
            raise LinkwrightError(
                f"starts and parameters are given for {sorted(counts)} runs",
                remedy="give as many of each, or one",
            )
        self.count = counts.pop() if counts else 1
        columns = [np.broadcast_to(values, self.count) for values in parameters.values()]
        self.parameters = np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))
        self.q = self._positions(q0)
        self.qd = self._velocities(qd0)

    @property
    def _last(self) -> list[Any]:
        """The inputs of the model's functions that follow the state."""
        found: list[Any] = [0.0] if self.names.is_time_dependent else []
        return [*found, self.parameters] if self.parameter_names else found

    def _rows(self, given: Any, names: Sequence[str], what: str) -> Floats:
        values = check_finite_array(given, what)
        if values.ndim > 2 or values.shape[-1:] != (len(names),):
            raise LinkwrightError(
                f"{what} has shape {values.shape}", remedy=f"give (runs, {len(names)})"
            )
        return np.array(np.broadcast_to(values, (self.count, len(names))))

    def _table(
        self, given: Mapping[str, Any], names: Sequence[str], what: str
    ) -> dict[int, Floats]:
        """Columns by place."""
        found = {}
        for name, values in given.items():
            if name not in names:
                raise NameNotFoundError(
                    f"there is no '{name}'", where=what, remedy=suggest_remedy(name, list(names))
                )
            numbers = check_finite_array(values, f"{what}['{name}']")
            found[list(names).index(name)] = np.broadcast_to(numbers, self.count)
        return found

    def _positions(self, q0: Any) -> Floats:
        model, names = self.model, self.names
        if q0 is not None and not isinstance(q0, Mapping):
            q = with_unit_quaternions(
                model,
                self._rows(q0, names.q, "q0"),
                *([self.parameters] if self.parameter_names else []),
            )
            self._check(model.constraint_residual, q) if names.position_row_count else None
            return q
        table = self._table(q0 or {}, names.q, "q0")
        home = assemble(self.mechanism) if names.constraints else model.neutral()
        q = np.tile(home, (self.count, 1))
        for place, values in table.items():
            q[:, place] = values
        return self._closed(q, table, q0 or {}) if names.position_row_count else q

    def _check(self, function: Any, *state: Floats) -> None:
        left = np.abs(function(*state, *self._last)).max(axis=-1)
        bad = ~(left < max(CLOSURE_TOLERANCES.accepted_residual, self.model.leeway))
        if bad.any():
            raise AssemblyError(
                f"the constraints do not hold at the start of run {int(bad.argmax())}: "
                f"{left[bad][0]:.3g} is left",
                where=self.mechanism.name, remedy="give coordinates and velocities by name",
            )  # fmt: skip

    def _closed(self, q: Floats, table: Mapping[int, Floats], given: Mapping[str, Any]) -> Floats:
        """q with loops closed; what is given by name is held. Runs that do not close together are
        assembled one by one."""
        model, rows = self.model, list(self.names.position_rows)
        hold = constraint_system(self.mechanism).held_steps(list(given))
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *self._last),
            lambda q: model.constraint_jacobian(q, *self._last)[..., rows, :],
            lambda q, step: model.integrate(
                q, step, *([self.parameters] if self.parameter_names else [])
            ),
        )
        with np.errstate(all="ignore"):
            closure = close_positions(functions, q, hold=hold)
        for run in np.flatnonzero(~np.asarray(closure.has_converged)):
            own = {name: float(np.broadcast_to(x, self.count)[run]) for name, x in given.items()}
            closure.q[run] = assemble(self.mechanism_of(int(run)), own, list(own))
        return closure.q

    def mechanism_of(self, run: int) -> Mechanism:
        """The mechanism of one run, with its own parameters."""
        if not self.parameter_names:
            return self.mechanism
        values = dict(zip(self.parameter_names, self.parameters[run].tolist(), strict=True))
        return self.mechanism.with_parameters(**values)

    def _velocities(self, qd0: Any) -> Floats:
        model, names = self.model, self.names
        if qd0 is not None and not isinstance(qd0, Mapping):
            qd = self._rows(qd0, names.qd, "qd0")
            self._check(model.constraint_velocity, self.q, qd) if names.constraints else None
            return qd
        table = self._table(qd0 or {}, names.qd, "qd0")
        qd = np.zeros((self.count, names.nv))
        for place, values in table.items():
            qd[:, place] = values
        if not names.constraints:
            return qd
        J = model.constraint_jacobian(self.q, *self._last)
        violation = model.constraint_velocity(self.q, qd, *self._last)
        qd = project_velocities(J, qd, violation, hold=list(table))
        left = np.abs(model.constraint_velocity(self.q, qd, *self._last)).max(axis=-1)
        for run in np.flatnonzero(~(left < CLOSURE_TOLERANCES.accepted_residual)):
            own = {names.qd[k]: float(x[run]) for k, x in table.items()}
            qd[run] = assemble_velocities(self.mechanism_of(int(run)), self.q[run], own)
        return qd

    def states(self, system: System) -> Floats:
        """Rows of the states that are integrated; no work is done yet."""
        assert system.equations.state is None
        return np.hstack([self.q, self.qd, np.zeros((self.count, WORKS))])
