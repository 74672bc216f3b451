"""What differs between the runs of an ensemble: starts and parameters, checked and assembled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from ..errors import (
    ArgumentError,
    AssemblyError,
    LinkwrightError,
    NameNotFoundError,
    suggest_remedy,
)
from ..expressions import expression_to_float, names_in_expression
from ..kinematics.assembly import check_assembly_quaternions
from ..kinematics.closing import CLOSURE_TOLERANCES
from ..kinematics.constraint_system import constraint_system
from ..kinematics.pose_configurations import read_pose, read_pose_velocities
from ..mechanism import Mechanism, mechanism_names, read_coordinate_numbers
from ..model.model import Model
from ..number_checks import check_finite_array
from ..types import Floats, VectorLike
from .ensemble_parameters import find_rejected_parameters, first_varied_name
from .start import with_unit_quaternions
from .start_rows import StartRows

StartTable = dict[str, Floats] | Floats | None
"""The starts of all runs: by name (runs,), as an array (runs, n), or none given."""


class EnsembleRuns:
    """The starts and parameters that are given for the runs of an ensemble.

    `count` is their number. `parameters` has one row for each run.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        q0: VectorLike | None,
        qd0: VectorLike | None,
        parameters: Mapping[str, Floats],
        runs: int | None,
    ) -> None:
        self.mechanism, self.names = mechanism, mechanism_names(mechanism)
        q0, qd0 = read_pose(mechanism, q0), read_pose_velocities(mechanism, qd0)
        starts = [
            read_coordinate_numbers(mechanism, given, what)
            for given, what in ((q0, "q0"), (qd0, "qd0"))
        ]
        self.count = _run_count([*starts, parameters], runs)
        self.q0 = self._read_start(starts[0], self.names.q, "q0")
        self.qd0 = self._read_start(starts[1], self.names.qd, "qd0")
        self.parameter_names = list(parameters)
        columns = [np.broadcast_to(values, self.count) for values in parameters.values()]
        self.parameters = np.stack(columns, axis=1) if columns else np.zeros((self.count, 0))
        if isinstance(self.q0, dict) and self.names.nq != self.names.nv:
            for run in range(self.count) if self.q0 else ():
                given = {name: float(values[run]) for name, values in self.q0.items()}
                check_assembly_quaternions(given, self.names.q)

    @cached_property
    def failures(self) -> dict[int, str]:
        """Runs with parameters that the mechanism rejects, and why."""
        if not self.parameter_names:
            return {}
        found = find_rejected_parameters(self.mechanism, self.parameter_names, self.parameters)
        return {run: f"cannot start: {error}" for run, error in found.items()}

    def mechanism_of(self, run: int) -> Mechanism:
        """Return the mechanism of one run, with the parameters of this run."""
        if not self.parameter_names:
            return self.mechanism
        return self.mechanism.with_parameters(**self.parameters_of(run))

    def parameters_of(self, run: int) -> dict[str, float]:
        """Return the parameters of one run by name."""
        return dict(zip(self.parameter_names, self.parameters[run].tolist(), strict=True))

    def start_of(self, run: int) -> tuple[VectorLike | None, VectorLike | None]:
        """Return q0 and q̇0 of one run, as `simulate` takes them."""
        return self._of_run(self.q0, run), self._of_run(self.qd0, run)

    def _of_run(self, given: StartTable, run: int) -> dict[str, float] | Floats | None:
        if isinstance(given, dict):
            return {name: float(values[run]) for name, values in given.items()}
        return None if given is None else given[run]

    def _read_start(self, given: VectorLike | None, names: Sequence[str], what: str) -> StartTable:
        """Return given starts, one entry or row for each run."""
        if given is None:
            return None
        if isinstance(given, Mapping):
            return {
                name: self._read_column(name, values, names, what) for name, values in given.items()
            }
        values = check_finite_array(given, what)
        if values.ndim > 2 or values.shape[-1:] != (len(names),):
            raise LinkwrightError(
                f"{what} has shape {values.shape}",
                remedy=f"give an array of shape (runs, {len(names)})",
            )
        return np.array(np.broadcast_to(values, (self.count, len(names))))

    def _read_column(self, name: str, values: object, names: Sequence[str], what: str) -> Floats:
        """Return the given values of one coordinate or velocity, one for each run."""
        if name not in names:
            raise NameNotFoundError(
                f"unknown name '{name}'", where=what, remedy=suggest_remedy(name, list(names))
            )
        numbers = check_finite_array(values, f"{what}['{name}']")
        if numbers.ndim > 1:
            raise ArgumentError(
                f"{what}['{name}'] has shape {numbers.shape}",
                remedy="give one number, or one for each run",
            )
        return np.broadcast_to(numbers, self.count)


def _run_count(given: Sequence[VectorLike | None], runs: int | None) -> int:
    """Return the number of runs, of which all that is given must have as many."""
    counts = set() if runs is None else {runs}
    for some in given:
        if isinstance(some, Mapping):
            counts |= {np.shape(values)[0] for values in some.values() if np.ndim(values)}
        elif some is not None and np.ndim(some) > 1:
            counts.add(np.shape(some)[0])
    if len(counts) > 1:
        raise LinkwrightError(
            f"starts, parameters and inputs have different numbers of runs: {sorted(counts)}",
            remedy="give arrays of equal length, or single numbers",
        )
    if counts == {0}:
        raise ArgumentError(
            "an ensemble needs at least one run (got 0)",
            remedy="give arrays with one number per run",
        )
    return counts.pop() if counts else 1


class EnsembleStart:
    """The starting states of all runs: q and q̇, one row for each run, on the constraints.

    `failures` are the runs that cannot start, and why.
    """

    def __init__(self, runs: EnsembleRuns, model: Model) -> None:
        self.runs, self.model, self.names = runs, model, model.names
        places = [runs.parameter_names.index(name) for name in model.parameters]
        self._parameters = runs.parameters[:, places] if places else None
        self.rows = StartRows(model, runs.mechanism, runs.mechanism_of, self._parameters)
        self.q = self._positions()
        self.qd = self._velocities()
        self.failures = {
            run: f"cannot start: {error}" for run, error in self.rows.failures.items()
        } | runs.failures

    def _positions(self) -> Floats:
        given = self.runs.q0
        if given is not None and not isinstance(given, dict):
            q = with_unit_quaternions(self.model, given, self._parameters)
            if self.names.position_row_count:
                last = self.rows.time_and_parameters
                self._check(self.model.constraint_residual(q, *last))
            return q
        q = self._rough_positions()
        for name, values in (given or {}).items():
            q[:, self.names.q.index(name)] = values
        q = with_unit_quaternions(self.model, q, self._parameters)
        return self.rows.close_positions(q, given or {})

    def _rough_positions(self) -> Floats:
        """Return the coordinates from which `assemble` starts, one row per run."""
        runs = self.runs
        if not self.names.constraints:
            return np.tile(self.model.neutral(), (runs.count, 1))
        q = np.tile(constraint_system(runs.mechanism).starting_q, (runs.count, 1))
        return vary_rough_positions(
            runs.mechanism,
            q,
            runs.parameter_names,
            [run for run in range(runs.count) if run not in runs.failures],
            runs.mechanism_of,
        )

    def _velocities(self) -> Floats:
        given, names = self.runs.qd0, self.names
        if given is None or isinstance(given, dict):
            qd = np.zeros((self.runs.count, names.nv))
            for name, values in (given or {}).items():
                qd[:, names.qd.index(name)] = values
            return self.rows.project_velocities(self.q, qd, list(given or {}))
        if names.constraints:
            last = self.rows.time_and_parameters
            self._check(self.model.constraint_velocity(self.q, given, *last))
        return self.rows.project_velocities(self.q, given)

    def _check(self, residuals: Floats) -> None:
        """Raise an error for the first run whose start violates the constraints."""
        left = np.abs(residuals).max(axis=-1)
        bad = ~(left < max(CLOSURE_TOLERANCES.accepted_residual, self.model.leeway))
        if bad.any():
            raise AssemblyError(
                f"the constraints are not satisfied at the start of run {int(bad.argmax())}: "
                f"the residual is {left[bad][0]:.3g}",
                where=self.runs.mechanism.name,
                remedy="give coordinates and velocities by name",
            )


def vary_rough_positions(
    mechanism: Mechanism,
    q: Floats,
    varied: Sequence[str],
    runs: Sequence[int],
    mechanism_of: Callable[[int], Mechanism],
) -> Floats:
    """Return q (runs, nq) with what `[assembly]` computes from varied parameters."""
    names = mechanism_names(mechanism).q
    for name, value in mechanism.assembly.items():
        if first_varied_name(mechanism, names_in_expression(value), varied) is not None:
            for run in runs:
                q[run, names.index(name)] = expression_to_float(value, mechanism_of(run).values)
    return q
