"""The modes of a compiled run, and the samples that lie in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .compiled_motion import CompiledMotion

if TYPE_CHECKING:
    from .trajectory_records import TrajectoryRecords


@dataclass(frozen=True)
class ModeStart:
    """The first sample of a mode, its program, and its numbers."""

    first_sample: int
    form: CompiledMotion
    numbers: Floats


@dataclass
class ModeHistory:
    """The modes of one run in their order; none if nothing can happen in it."""

    starts: list[ModeStart] = field(default_factory=list)

    def add(self, start: ModeStart) -> None:
        """Begin a mode; earlier ones in which no sample lies are dropped."""
        while self.starts and self.starts[-1].first_sample >= start.first_sample:
            self.starts.pop()
        self.starts.append(start)

    def numbers(self, count: int) -> Floats | None:
        """Return the numbers of the modes at the samples; None if no mode had forces."""
        if not any(start.form.has_modes for start in self.starts):
            return None
        found = np.zeros((count, len(self.starts[0].numbers)))
        for start in self.starts:
            found[start.first_sample :] = start.numbers
        return found

    def projected_samples(self, records: TrajectoryRecords, row: int, count: int) -> Floats:
        """Return the first samples on the constraints and the contacts of their modes."""
        if not self.starts:
            return records.projected_samples(row)[:count]
        found = records.samples[row, :count].copy()
        ends = [*(start.first_sample for start in self.starts[1:]), count]
        for start, end in zip(self.starts, ends, strict=True):
            part = slice(start.first_sample, min(end, count))
            parameters = records.parameters[row].copy()
            parameters[start.form.first_mode_number :][: len(start.numbers)] = start.numbers
            times = records.times[part]
            found[part] = records.projected(start.form, times, found[part], parameters)
        return found
