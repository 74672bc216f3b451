"""Starting states of the runs of an ensemble: they are checked, assembled and closed together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import (
    ArgumentError,
    AssemblyError,
    LinkwrightError,
    NameNotFoundError,
    suggest_remedy,
)
from ..expressions import names_in_expression
from ..kinematics.assembly import assemble, assemble_velocities, check_assembly_quaternions
from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    PositionConstraints,
    close_positions,
    project_velocities,
)
from ..kinematics.constraint_system import constraint_system
from ..kinematics.held_coordinates import steps_of_held_coordinates
from ..mechanism import Mechanism, read_coordinate_numbers
from ..model.model import Model
from ..number_checks import check_finite_array
from ..types import Floats
from .right_hand_side import RightHandSide
from .start import with_unit_quaternions
from .state_space import WORKS

MAX_CHECKED_RUNS = 200
"""Runs whose mechanisms are all made to check their parameters: one takes about a millisecond."""


class EnsembleStart:
    """The starting states and parameters of all runs: q, q̇ and parameters, one row per run."""

    def __init__(
        self,
        model: Model,
        mechanism: Mechanism,
        q0: Any,
        qd0: Any,
        parameters: Mapping[str, Floats],
        *,
        runs: int | None = None,
    ) -> None:
        self.model, self.mechanism, self.names = model, mechanism, model.names
        self.parameter_names = list(parameters)
        q0 = read_coordinate_numbers(mechanism, q0, "q0")
        qd0 = read_coordinate_numbers(mechanism, qd0, "qd0")
        tables = [table for table in (q0, qd0) if isinstance(table, Mapping)]
        arrays = [np.asarray(x) for x in (q0, qd0) if x is not None and not isinstance(x, Mapping)]
        counts = {
            np.shape(v)[0] for table in (*tables, parameters) for v in table.values() if np.ndim(v)
        }
        counts |= {array.shape[0] for array in arrays if array.ndim > 1}
        counts |= {runs} if runs is not None else set()
        if len(counts) > 1:
            raise LinkwrightError(
                f"starts, parameters and inputs have different numbers of runs: {sorted(counts)}",
                remedy="give arrays of equal length, or single numbers",
            )
        self.count = counts.pop() if counts else 1
        if not self.count:
            raise ArgumentError(
                "an ensemble needs at least one run (got 0)",
                remedy="give arrays with one number per run",
            )
        columns = [np.broadcast_to(values, self.count) for values in parameters.values()]
        self.parameters = np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))
        self.failures: dict[int, str] = {}
        """Runs that cannot start, and why."""
        self._check_mechanisms()
        self.q = self._positions(q0)
        self.qd = self._velocities(qd0)

    @property
    def _model_parameters(self) -> list[Floats]:
        """The last input of the model's functions: the parameters by run, if any are given."""
        return [self.parameters] if self.parameter_names else []

    @property
    def _last(self) -> list[Any]:
        """The inputs of the model's functions after the state: time and parameters."""
        found: list[Any] = [0.0] if self.names.is_time_dependent else []
        return [*found, *self._model_parameters]

    def _rows(self, given: Any, names: Sequence[str], what: str) -> Floats:
        values = check_finite_array(given, what)
        if values.ndim > 2 or values.shape[-1:] != (len(names),):
            raise LinkwrightError(
                f"{what} has shape {values.shape}",
                remedy=f"give an array of shape (runs, {len(names)})",
            )
        return np.array(np.broadcast_to(values, (self.count, len(names))))

    def _table(
        self, given: Mapping[str, Any], names: Sequence[str], what: str
    ) -> dict[int, Floats]:
        """Return the given columns by their index."""
        found = {}
        for name, values in given.items():
            if name not in names:
                raise NameNotFoundError(
                    f"there is no '{name}'", where=what, remedy=suggest_remedy(name, list(names))
                )
            numbers = check_finite_array(values, f"{what}['{name}']")
            if numbers.ndim > 1:
                raise ArgumentError(
                    f"{what}['{name}'] has shape {numbers.shape}",
                    remedy="give one number, or one for each run",
                )
            found[list(names).index(name)] = np.broadcast_to(numbers, self.count)
        return found

    def _positions(self, q0: Any) -> Floats:
        model, names = self.model, self.names
        if q0 is not None and not isinstance(q0, Mapping):
            q = with_unit_quaternions(
                model,
                self._rows(q0, names.q, "q0"),
                *self._model_parameters,
            )
            self._check(model.constraint_residual, q) if names.position_row_count else None
            return q
        table = self._table(q0 or {}, names.q, "q0")
        self._check_quaternions(table)
        q = self._rough_positions()
        for place, values in table.items():
            q[:, place] = values
        q = with_unit_quaternions(model, q, *self._model_parameters)
        return self._closed(q, q0 or {}) if names.position_row_count else q

    def _rough_positions(self) -> Floats:
        """Return the coordinates from which `assemble` starts, one row per run."""
        if not self.names.constraints:
            return np.tile(self.model.neutral(), (self.count, 1))
        q = np.tile(constraint_system(self.mechanism).starting_q, (self.count, 1))
        if any(names_in_expression(value) for value in self.mechanism.assembly.values()):
            for run in set(range(self.count)) - set(self.failures):
                q[run] = constraint_system(self.mechanism_of(run)).starting_q
        return q

    def _check_quaternions(self, table: Mapping[int, Floats]) -> None:
        """Raise if a run has only a part of a quaternion, or one whose length is not 1."""
        for run in range(self.count) if self.names.nq != self.names.nv and table else ():
            given = {self.names.q[place]: float(values[run]) for place, values in table.items()}
            check_assembly_quaternions(given, self.names.q)

    def _check(self, function: Any, *state: Floats) -> None:
        left = np.abs(function(*state, *self._last)).max(axis=-1)
        bad = ~(left < max(CLOSURE_TOLERANCES.accepted_residual, self.model.leeway))
        if bad.any():
            raise AssemblyError(
                f"the constraints are not satisfied at the start of run {int(bad.argmax())}: "
                f"the residual is {left[bad][0]:.3g}",
                where=self.mechanism.name, remedy="give coordinates and velocities by name",
            )  # fmt: skip

    def _closed(self, q: Floats, given: Mapping[str, Any]) -> Floats:
        """Return q with closed loops; values given by name are held. All runs are closed together
        by the steps of `assemble`; those that do not converge, or in which a coordinate moves by
        half a turn, are assembled one by one."""
        model, rows = self.model, list(self.names.position_rows)
        hold = steps_of_held_coordinates(constraint_system(self.mechanism), list(given))
        functions = PositionConstraints(
            lambda q: model.constraint_residual(q, *self._last),
            lambda q: model.constraint_jacobian(q, *self._last)[..., rows, :],
            lambda q, step: model.integrate(q, step, *self._model_parameters),
        )
        with np.errstate(all="ignore"):
            closure = close_positions(
                functions, q, hold=hold, longest_step=CLOSURE_TOLERANCES.longest_step
            )
            is_near = np.abs(closure.q - q).max(axis=-1) < np.pi
        for run in np.flatnonzero(~(np.asarray(closure.has_converged) & is_near)):
            own = {name: float(np.broadcast_to(x, self.count)[run]) for name, x in given.items()}
            try:
                closure.q[run] = assemble(self.mechanism_of(int(run)), own, list(own))
            except LinkwrightError as error:
                self.failures[int(run)] = f"cannot start: {error}"
        return closure.q

    def _check_mechanisms(self) -> None:
        """Let the mechanism check its parameters, such as masses that must not be negative.

        Runs with the extreme values of each parameter are checked first. All runs are checked if
        they are few, or if one of the extreme values is rejected.
        """
        if not self.parameter_names:
            return
        extremes = (self.parameters.argmin(axis=0), self.parameters.argmax(axis=0))
        self._check_mechanisms_of({int(run) for some in extremes for run in some})
        if self.count <= MAX_CHECKED_RUNS or self.failures:
            self._check_mechanisms_of(range(self.count))

    def _check_mechanisms_of(self, runs: Iterable[int]) -> None:
        """Note which of the runs have parameters that the mechanism rejects."""
        for run in runs:
            try:
                self.mechanism_of(run)
            except LinkwrightError as error:
                self.failures[run] = f"cannot start: {error}"

    def mechanism_of(self, run: int) -> Mechanism:
        """Return the mechanism of one run, with the parameters of this run."""
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
            if int(run) in self.failures:
                continue
            try:
                qd[run] = assemble_velocities(self.mechanism_of(int(run)), self.q[run], own)
            except LinkwrightError as error:
                self.failures[int(run)] = f"cannot start: {error}"
        return qd

    def states(self, system: RightHandSide) -> Floats:
        """Return the states that are integrated, one row per run; the work terms start at zero."""
        assert system.equations.state is None
        law = system.drive.feedback
        z = np.tile(() if law is None else law.start, (self.count, 1))
        return np.hstack([self.q, self.qd, z, np.zeros((self.count, WORKS))])
