"""Mutated files of every kind are refused in a line or give finite numbers; see `run.py`."""

from __future__ import annotations

from .run import fuzz

CASES, SEED = 360, 7


def test_mutated_files_are_refused_or_give_finite_numbers() -> None:
    tally = fuzz(CASES, SEED)
    print(tally)
    assert not tally.failures, str(tally)
    assert tally.counts["clean"] == CASES
