"""Inputs of an ensemble: numbers and tables that may differ from run to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..errors import ArgumentError, LinkwrightError, UnsupportedError
from ..mechanism import Mechanism, mechanism_names
from ..number_checks import check_finite_array
from ..types import Floats
from .feedback import Feedback
from .time_tables import NUMBERS_PER_PIECE, TimeTable, is_number_list, read_time_table


class EnsembleInputs:
    """The torque of an ensemble: what all runs share, and what differs from run to run.

    A number that differs enters the compiled code as a table with one constant piece, a table that
    differs as a table with other coefficients at the same times.
    """

    def __init__(self, given: Any, mechanism: Mechanism, duration: float) -> None:
        if callable(given) and not isinstance(given, Feedback):
            raise UnsupportedError(
                "the torque of an ensemble cannot be a Python function",
                remedy="give numbers, expressions or tables, or call simulate run by run",
            )
        if isinstance(given, Feedback) and (given.follows or given.period):
            raise UnsupportedError(
                "an ensemble cannot have a controller that follows a reference or is sampled",
                remedy="give its law as expressions, or call simulate",
            )
        if not isinstance(given, Mapping | Feedback) and np.ndim(given) == 2:
            columns, speeds = check_finite_array(given, "torque"), mechanism_names(mechanism).qd
            if mechanism.actuators:
                raise UnsupportedError(
                    "ensembles do not support an array of torques where there are actuators",
                    where=mechanism.name,
                    remedy=f"give a table by actuator: {', '.join(mechanism.actuators)}",
                )
            if columns.shape[1] != len(speeds):
                raise LinkwrightError(
                    f"torque has shape {columns.shape}",
                    remedy=f"give an array of shape (runs, {len(speeds)})",
                )
            given = dict(zip(speeds, columns.T, strict=True))
        self.given = given
        self._columns: dict[str, Callable[[int], Any]] = {}
        """For each input that differs, by name, the function from a run to its value."""
        self._tables: dict[str, list[TimeTable]] = {}
        self._constants: dict[str, Floats] = {}
        counts = set()
        if isinstance(given, Mapping):
            for name, value in given.items():
                counts |= self._add(name, value, duration)
        if len(counts) > 1:
            raise LinkwrightError(
                f"the inputs have different numbers of runs: {sorted(counts)}",
                remedy="give arrays of equal length",
            )
        if 0 in counts:
            raise ArgumentError(
                "the inputs of an ensemble are for 0 runs", remedy="give one number per run"
            )
        self.count = counts.pop() if counts else None
        """The number of runs; None if all inputs are the same in all runs."""
        self.duration = duration

    def _add(self, name: str, value: Any, duration: float) -> set[int]:
        """Note an input if it differs from run to run, and return its number of runs; else return
        an empty set."""
        if is_number_list(value):
            numbers = check_finite_array(value, f"torque['{name}']")
            self._constants[name] = numbers
            self._columns[name] = lambda run: float(numbers[run])
            return {len(numbers)}
        if isinstance(value, tuple | list) and len(value) in (2, 3) and np.ndim(value[1]) == 2:
            times, values, *kind = value
            rows = check_finite_array(values, f"torque['{name}']")
            self._tables[name] = [read_time_table(name, (times, row, *kind)) for row in rows]
            self._columns[name] = lambda run: (times, rows[run], *kind)
            return {len(rows)}
        return set()

    @property
    def shared(self) -> Any:
        """The torque with the values of the first run, as `simulate` takes it; its numbers that
        differ are tables."""
        if not self._columns:
            return self.given
        found = {**self.given, **{name: own(0) for name, own in self._columns.items()}}
        for name in self._constants:
            found[name] = ([0.0, self.duration], [0.0, 0.0])
        return found

    def torque_of(self, run: int) -> Any:
        """Return the torque of one run, as `simulate` takes it."""
        if not self._columns:
            return self.given
        return {**self.given, **{name: own(run) for name, own in self._columns.items()}}

    def write_pieces(self, parameters: Floats, runs: Sequence[int] | range, t: float) -> None:
        """Write the coefficients from t on of the tables that differ, one row for each run."""
        place = 0
        for name, value in self.shared.items() if self._columns else ():
            if isinstance(value, str | Real):
                continue
            columns = slice(NUMBERS_PER_PIECE * place, NUMBERS_PER_PIECE * (place + 1))
            if name in self._constants:
                parameters[:, columns] = 0.0
                parameters[:, columns.start + 3] = self._constants[name][list(runs)]
            elif name in self._tables:
                parameters[:, columns] = [self._tables[name][run].piece(t) for run in runs]
            place += 1
