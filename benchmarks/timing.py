"""Best of many, candidates in turn, so that a slow moment of the machine hits all alike."""

from __future__ import annotations

import time
from collections.abc import Callable

TURNS = 8


def best(
    *candidates: Callable[[], object],
    seconds: float = 1.0,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """The least time that each candidate took, in seconds.

    A turn is a few calls, so that a candidate finds its own data and code in the caches. With
    `time.process_time` as the clock, what other programs take away does not count.
    """
    least = [float("inf")] * len(candidates)
    for _ in range(TURNS):
        for k, candidate in enumerate(candidates):
            end = time.perf_counter() + seconds / TURNS
            calls = 0
            while calls < 3 or time.perf_counter() < end:
                start = clock()
                candidate()
                least[k] = min(least[k], clock() - start)
                calls += 1
    return least


def repeated(call: Callable[..., object], *args: object, times: int = 1000) -> Callable[[], None]:
    """A call many times over: for functions that treat one state."""

    def loop() -> None:
        for _ in range(times):
            call(*args)

    return loop
