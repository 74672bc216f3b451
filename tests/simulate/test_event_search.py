"""The search for events in a step: gaps that are zero up to rounding do not close again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from linkwright.simulation.events.event_function import EventFunction, StepStates
from linkwright.simulation.events.search import first_passage
from linkwright.types import Floats


@dataclass(frozen=True)
class Gap(EventFunction):
    name = "gap"
    begins_at_zero = True

    def values(self, states: StepStates) -> Floats:
        raise AssertionError("values come from GapValues")


@dataclass(frozen=True)
class GapValues:
    """A gap c t² + v t with the noise of a projection, at most 1e-16."""

    v: float = 0.0
    c: float = 0.0

    def one(self, t: float, k: int) -> float:
        noise = 1e-16 * np.sin(1e6 * t + 4)
        return float(self.c * t * t + self.v * t + noise)

    def table(self, times: Floats) -> Floats:
        return np.array([[self.one(float(t), 0)] for t in times])


def test_a_gap_that_stays_zero_up_to_rounding_does_not_close() -> None:
    table = GapValues().table(np.linspace(0, 1e-3, 9))
    assert table.min() < 0 < table.max()  # the noise has both signs
    assert first_passage(GapValues(), 0.0, 1e-3, [Gap()], {}) is None


@pytest.mark.parametrize(("v", "c", "expected"), [(1.0, -100.0, 0.01), (0.0, -1.0, 0.0)])
def test_a_gap_that_closes_is_found(v: float, c: float, expected: float) -> None:
    """v t + c t² passes zero at −v/c; a gap that only falls is closed at once."""
    found = first_passage(GapValues(v, c), 0.0, 0.02, [Gap()], {})
    assert found is not None
    assert abs(found[0] - expected) < 1e-9
