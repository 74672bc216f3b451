"""The samples of a run while it is integrated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types import Floats
from .events.hybrid import Hybrid
from .run_context import RunContext


class SampleRecord:
    """States at the samples, and what only the run itself knows of them.

    `forces` is what a Python function returned, which is not called again; `pushes` and
    `reactions` are those of the present mode.
    """

    def __init__(self, context: RunContext, events: Hybrid | None) -> None:
        self.context, self.events = context, events
        self.times: list[float] = []
        self.states: list[Floats] = []
        self.forces: list[Floats] = []
        self.pushes: list[Floats] = []
        self._reactions: list[Floats | None] = []

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.states)

    def keep(self, t: float, y: Floats) -> None:
        """Add a sample."""
        self.times.append(float(t))
        self.states.append(y)
        if self.context.force_law.function is not None:
            self.forces.append(self.context.inputs.numeric_inputs(t, y))
        if self.events is not None:
            self.pushes.append(self.events.push_at(t, y))
            self._reactions.append(self.events.reactions_at(t, y))

    def extend(
        self,
        times: Floats,
        columns: Floats,
        pushes: Floats | None,
        reactions: Floats | None,
    ) -> None:
        """Add samples that compiled code has computed, one column for each time."""
        self.times += times.tolist()
        self.states += list(columns.T)
        if pushes is not None:
            self.pushes += list(pushes)
            self._reactions += [None] * len(times) if reactions is None else list(reactions)

    def keep_last(self, t: float, y: Floats) -> None:
        """Add the sample at which a run ends, in place of one at the same time."""
        if t <= self.times[-1]:
            for history in self._histories:
                del history[-1:]
        self.keep(t, y)

    def update_last(self, t: float, y: Floats) -> None:
        """Evaluate the forces of the mode again, where a force has jumped at the last sample."""
        if self.events is not None and t - self.times[-1] <= 1e-12 * max(1.0, t):
            self.pushes[-1] = self.events.push_at(t, y)
            self._reactions[-1] = self.events.reactions_at(t, y)

    def drop_incomplete(self) -> None:
        """Remove a sample that an exception left incomplete."""
        complete = min(len(history) for history in self._histories if history)
        for history in self._histories:
            del history[complete:]

    @property
    def _histories(self) -> tuple[list[Any], ...]:
        """All lists that have one entry for each sample, if any."""
        return self.times, self.states, self.forces, self.pushes, self._reactions

    @property
    def columns(self) -> Floats:
        """The states, one column for each time."""
        return np.concatenate(self.states).reshape(len(self.states), -1).T

    @property
    def reactions(self) -> Floats | None:
        """Reactions of joints and loops, where contacts press on bodies."""
        found = [x for x in self._reactions if x is not None]
        return np.array(found) if found else None

    def some(self, count: int) -> list[tuple[float, Floats]]:
        """Return about `count` of the samples, spread evenly."""
        known = list(zip(self.times, self.states, strict=True))
        return known[:: 1 + len(known) // count]
