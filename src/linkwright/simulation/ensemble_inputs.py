"""Inputs of an ensemble: numbers, tables and controllers that may differ from run to run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TypeGuard, cast

import numpy as np

from ..errors import ArgumentError, LinkwrightError, UnsupportedError
from ..mechanism import Mechanism, mechanism_names
from ..number_checks import check_finite_array
from ..types import Floats, ForceLike
from .controller_gains import share_controllers
from .feedback import Feedback
from .inputs import ForceLaw
from .right_hand_side import RightHandSide
from .time_tables import (
    NUMBERS_PER_PIECE,
    TimeTable,
    constant_table,
    is_number_list,
    read_time_table,
)

TorqueLike = ForceLike | Feedback | Sequence[Feedback]
"""The inputs of a run, or of many runs."""


class EnsembleInputs:
    """The torque of an ensemble: what all runs share, and what differs from run to run.

    A number that differs enters the compiled code as a table with one constant piece, a table that
    differs as a table with other coefficients at the same times, and controllers that differ as one
    law with gains.
    """

    def __init__(self, given: TorqueLike | None, mechanism: Mechanism, duration: float) -> None:
        _refuse_python_function(given)
        self.duration = duration
        self._columns: dict[str, Callable[[int], object]] = {}
        """For each input that differs, by name, the function from a run to its value."""
        self._tables: dict[str, list[TimeTable]] = {}
        self._by_name: Mapping[str, object] = {}
        self.laws: tuple[Feedback, ...] = ()
        self.shared: ForceLike | Feedback | None = None
        """The torque as `simulate` takes it, with the values of the first run; numbers that differ
        are tables, and controllers that differ share one law, if they can."""
        self.gains = np.zeros((0, 0))
        """Numbers of the controllers' laws that differ, one row for each run."""
        counts: set[int] = set()
        if is_controller_list(given):
            self.laws = tuple(given)
            counts = {len(self.laws)}
            self.shared, self.gains = share_controllers(self.laws)
        else:
            one = cast("ForceLike | Feedback | None", given)
            if do_inputs_differ(one) and not isinstance(one, Mapping):
                one = _columns_by_name(one, mechanism)
            self.shared = one
            if isinstance(one, Mapping):
                self._by_name = one
                counts = {n for k, value in one.items() for n in self._add(str(k), value)}
                self.shared = self._shared_table() if self._columns else one
        self.count = _count_of(counts)
        """The number of runs; None if all inputs are the same in all runs."""

    def _add(self, name: str, value: object) -> set[int]:
        """Note an input if it differs from run to run, and return its number of runs; else return
        an empty set."""
        if is_number_list(value):
            numbers = check_finite_array(value, f"torque['{name}']")
            self._tables[name] = [constant_table(float(x), self.duration) for x in numbers]
            self._columns[name] = lambda run: float(numbers[run])
            return {len(numbers)}
        if isinstance(value, tuple | list) and len(value) in (2, 3) and np.ndim(value[1]) == 2:
            times, values, *kind = value
            rows = check_finite_array(values, f"torque['{name}']")
            self._tables[name] = [read_time_table(name, (times, row, *kind)) for row in rows]
            self._columns[name] = lambda run: (times, rows[run], *kind)
            return {len(rows)}
        return set()

    def _shared_table(self) -> dict[str, object]:
        """Return the inputs by name with the tables of the first run."""
        first = {
            name: (tables[0].times, tables[0].values, tables[0].kind)
            for name, tables in self._tables.items()
            if tables
        }
        return {**self._by_name, **first}

    @property
    def has_own_law_for_each_run(self) -> bool:
        """Whether controllers differ in more than their gains."""
        return bool(self.laws) and self.shared is None

    @property
    def differ(self) -> bool:
        """Whether inputs differ from run to run."""
        return bool(self._columns or self.laws)

    def torque_of(self, run: int) -> ForceLike | Feedback | None:
        """Return the torque of one run, as `simulate` takes it."""
        if self.laws:
            return self.laws[run]
        if not self._columns:
            return self.shared
        return {**self._by_name, **{name: own(run) for name, own in self._columns.items()}}

    def right_hand_side_of(self, run: int, shared: RightHandSide) -> RightHandSide:
        """Return the right-hand side with the inputs of one run."""
        drive = shared.force_law
        if self.laws and drive.feedback is not None:
            law = drive.feedback.with_numbers_of(self.laws[run], self.gains[run])
            return shared.with_force_law(drive.with_feedback(law))
        if not self._columns:
            return shared
        tables = zip(self._table_names(), drive.tables, strict=True)
        own = (self._tables[name][run] if name in self._tables else t for name, t in tables)
        return shared.with_force_law(drive.with_tables(tuple(own)))

    def start_of_controller(self, run: int, shared: RightHandSide) -> tuple[float, ...]:
        """Return the states of a run's own controller at its start, or those of all runs."""
        return self.laws[run].start if self.laws else shared.force_law.start_states

    def _table_names(self) -> list[str]:
        """Return the names of the inputs that are tables, in the order of the drive's tables."""
        shared = self.shared if isinstance(self.shared, Mapping) else {}
        return [name for name, value in shared.items() if not isinstance(value, str | Real)]

    def outer_values(self, times: Floats, count: int, shared: ForceLaw) -> Floats:
        """Return w of `count` runs at times, (runs or 1, times or 1, entries)."""
        law = shared.feedback
        if law is not None:
            laws = self.laws or (law,)
            numbers = self.gains if self.laws else np.array([law.gains])
            moments = times if law.has_moving_reference else times[:1]
            rows = [
                [law.with_numbers_of(one, gains).outer(float(t)) for t in moments]
                for one, gains in zip(laws, numbers, strict=True)
            ]
            found: Floats = np.array(rows)
            return found if found.shape[-1] else np.zeros((1, 1, 1))
        if not shared.tables:
            return np.zeros((1, 1, 1))
        columns = []
        for name, table in zip(self._table_names(), shared.tables, strict=True):
            own = self._tables.get(name, [table])
            values = np.array([[one(float(t)) for t in times] for one in own])
            columns.append(np.broadcast_to(values, (count, len(times))))
        return np.stack(columns, axis=-1)

    def write_pieces(self, parameters: Floats, runs: Sequence[int] | range, t: float) -> None:
        """Write set points and gains, and the coefficients from t on of the tables that differ,
        one row for each run."""
        law = self.shared if self.laws else None
        if isinstance(law, Feedback) and law.period is None and not law.has_moving_reference:
            own = [law.with_numbers_of(self.laws[run], self.gains[run]).outer(t) for run in runs]
            parameters[:, : len(own[0])] = own
        for place, name in enumerate(self._table_names() if self._columns else ()):
            columns = slice(NUMBERS_PER_PIECE * place, NUMBERS_PER_PIECE * (place + 1))
            if name in self._tables:
                parameters[:, columns] = [self._tables[name][run].piece(t) for run in runs]


@dataclass(frozen=True, eq=False)
class InputsOfRun:
    """The inputs of one run of an ensemble, for a trajectory that is integrated alone."""

    inputs: EnsembleInputs
    run: int

    def write_pieces(self, parameters: Floats, runs: Sequence[int] | range, t: float) -> None:
        """Write gains and coefficients of the run's tables from t on into the only row."""
        self.inputs.write_pieces(parameters, [self.run] * len(runs), t)


def is_controller_list(given: object) -> TypeGuard[Sequence[Feedback]]:
    """Whether inputs are controllers, one for each run."""
    if not isinstance(given, list | tuple) or not given:
        return False
    return all(isinstance(law, Feedback) for law in given)


def do_inputs_differ(given: object) -> bool:
    """Whether inputs have values for each run of an ensemble."""
    if isinstance(given, Mapping):
        return any(
            is_number_list(value)
            or (isinstance(value, tuple | list) and len(value) > 1 and np.ndim(value[1]) == 2)
            for value in given.values()
        )
    if given is None or callable(given):
        return False
    return is_controller_list(given) or np.ndim(given) == 2  # type: ignore[arg-type]


def _refuse_python_function(given: object) -> None:
    if callable(given) and not isinstance(given, Feedback):
        raise UnsupportedError(
            "the torque of an ensemble cannot be a Python function",
            remedy="give numbers, expressions, tables or controllers, or call simulate run by run",
        )


def _columns_by_name(given: object, mechanism: Mechanism) -> dict[str, object]:
    """Return an array of forces (runs, nv) by velocity."""
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
    return dict(zip(speeds, columns.T, strict=True))


def _count_of(counts: set[int]) -> int | None:
    """Return the one number of runs; None if no input differs."""
    if len(counts) > 1:
        raise LinkwrightError(
            f"the inputs have different numbers of runs: {sorted(counts)}",
            remedy="give arrays of equal length",
        )
    if 0 in counts:
        raise ArgumentError(
            "an ensemble needs at least one run (got 0)",
            remedy="give one number per run",
        )
    return counts.pop() if counts else None
