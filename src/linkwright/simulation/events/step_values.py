"""Values of event functions along a step, computed only where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .event_function import EventFunction, StepStates
from .present_mode import PresentMode


@dataclass(frozen=True)
class StepValues:
    """The values of event functions in one mode, along one step with its dense output."""

    context: RunContext
    present: PresentMode
    functions: Sequence[EventFunction]
    dense_output: Callable[[float], Floats]

    def table(self, times: Floats) -> Floats:
        """Return all values, one row for each time."""
        states = self._states_at(times)
        found = np.zeros((len(times), len(self.functions)))
        for k, function in enumerate(self.functions):
            found[:, k] = function.values(states)
        return found

    def one(self, t: float, k: int) -> float:
        """Return the value of one function at a time."""
        return float(self.functions[k].values(self._states_at(np.array([t])))[0])

    def _states_at(self, times: Floats) -> StepStates:
        """Return the states at some times."""
        states = [self.dense_output(float(t)) for t in times]
        return StepStates(self.context, self.present, times, states)
