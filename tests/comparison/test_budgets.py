"""Budgets of comparisons: what waits is not charged, a formulation that is too slow stops there."""

from __future__ import annotations

import io
import os
import pickle
import time
from pathlib import Path

from matplotlib.figure import Figure

from linkwright.comparison.cost_figures import _set_compared_chain_length_ticks
from linkwright.comparison.size_scaling import measure_scaling
from linkwright.processes.timed_worker import TimedWorkerProcess, serve_timed_work


def test_a_budget_is_of_processor_time() -> None:
    """Half a second of sleep passes a budget of 0.2 s, which is of processor time."""
    with TimedWorkerProcess() as worker:
        assert worker.call_within(time.sleep, 0.5, seconds=0.2) is None


def _print_and_divide(a: int, b: int) -> float:
    os.write(1, b"libraries print")
    return a / b


def test_what_workers_print_is_no_answer(tmp_path: Path) -> None:
    """The work of a worker, done here: its input and output are a file and a pipe."""
    requests = tmp_path / "requests"
    pairs = ((6, 3), (1, 0))
    requests.write_bytes(b"".join(pickle.dumps((_print_and_divide, x, 100.0)) for x in pairs))
    given = os.open(requests, os.O_RDONLY)
    source, target = os.pipe()
    kept = os.dup(0), os.dup(1)
    for number, place in ((given, 0), (target, 1)):
        os.dup2(number, place)
        os.close(number)
    try:
        serve_timed_work()
    finally:
        for place, number in enumerate(kept):
            os.dup2(number, place)
            os.close(number)
    answers = io.BytesIO(os.read(source, 65536))
    os.close(source)
    assert pickle.load(answers)[:2] == (True, 2.0)
    is_right, error, seconds = pickle.load(answers)
    assert answers.read() == b""
    assert not is_right
    assert isinstance(error, ZeroDivisionError)
    assert 0 <= seconds < 100


def test_a_formulation_stops_at_the_first_size_beyond_its_budget() -> None:
    found = measure_scaling([1, 2, 3], by=["lagrange"], duration=0.01, budget=1e-6)
    assert found.stopped["lagrange, Christoffel symbols"].startswith("stopped at 1 links")
    assert not found.rows


def test_ticks_of_sizes_are_round_numbers() -> None:
    axes = Figure().subplots()
    _set_compared_chain_length_ticks(axes, list(range(2, 16)))
    assert axes.get_xticks().tolist() == [2, 3, 5, 10]
    _set_compared_chain_length_ticks(axes, [4, 7])
    assert axes.get_xticks().tolist() == [4, 7]
