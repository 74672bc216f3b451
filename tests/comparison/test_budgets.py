"""Budgets of comparisons: what waits is not charged, a formulation that is too slow stops there."""

from __future__ import annotations

import time

from matplotlib.figure import Figure

from linkwright.comparison.cost_figures import _set_compared_chain_length_ticks
from linkwright.comparison.size_scaling import measure_scaling
from linkwright.processes.timed_worker import TimedWorkerProcess


def test_a_budget_is_of_processor_time() -> None:
    """Half a second of sleep passes a budget of 0.2 s, which is of processor time."""
    with TimedWorkerProcess() as worker:
        assert worker.call_within(time.sleep, 0.5, seconds=0.2) is None


def test_a_formulation_stops_at_the_first_size_beyond_its_budget() -> None:
    found = measure_scaling([1, 2, 3], by=["lagrange"], duration=0.01, budget=1e-6)
    assert found.stopped["lagrange"].startswith("stopped at 1 links")
    assert not found.rows


def test_ticks_of_sizes_are_round_numbers() -> None:
    axes = Figure().subplots()
    _set_compared_chain_length_ticks(axes, list(range(2, 16)))
    assert axes.get_xticks().tolist() == [2, 3, 5, 10]
    _set_compared_chain_length_ticks(axes, [4, 7])
    assert axes.get_xticks().tolist() == [4, 7]
