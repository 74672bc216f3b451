"""Numbers that are watched along a step, and no more of them than are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .columns import OF_FORCES, Column, of_forces, of_motion
from .dynamics import Dynamics
from .modes import Mode, forces_of
from .user_event import Watched


@dataclass(frozen=True)
class Watching:
    """Of one mode and one step, whose states are `between`."""

    context: RunContext
    dynamics: Dynamics
    given: list[Watched]
    mode: Mode
    columns: Sequence[Column]
    between: Callable[[float], Floats]

    def table(self, times: Floats) -> Floats:
        """One row a time, one column a number."""
        return self._values(times, self.columns)

    def one(self, t: float, k: int) -> float:
        """A single number at a time."""
        return float(self._values(np.array([t]), [self.columns[k]])[0, 0])

    def _values(self, times: Floats, columns: Sequence[Column]) -> Floats:
        inside = [self.between(float(t)) for t in times]
        states = [self.context.space.motion(y) for y in inside]
        kinds = {column.kind for column in columns}
        seen, forces = [], []
        if kinds - OF_FORCES - {"given"}:
            q, qd = (np.array(part) for part in zip(*states, strict=True))
            seen = self.dynamics.rows.watched(q, qd)
        if kinds & OF_FORCES:
            forces = [
                forces_of(self.dynamics.at(t, *s, self.context.inputs.forces(t, y)), self.mode)
                for t, s, y in zip(times.tolist(), states, inside, strict=True)
            ]
        table = np.zeros((len(times), len(columns)))
        for k, column in enumerate(columns):
            if column.kind in OF_FORCES:
                table[:, k] = [of_forces(column, self.dynamics, found) for found in forces]
            elif column.kind == "given":
                value = self.given[column.index].value
                table[:, k] = [value(float(t), *s) for t, s in zip(times, states, strict=True)]
            else:
                table[:, k] = of_motion(column, self.dynamics, self.mode, seen)
        return table
