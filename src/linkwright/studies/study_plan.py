"""What a study will take, from a few of its designs: shapes of measures, rate, size of blocks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import ArgumentError, LinkwrightError
from .design_evaluation import FAILED, evaluate_designs, measure_values
from .lane_values import MeasuredValue
from .measures import MeasureFunction
from .study_progress import duration_text, rate_text, size_text
from .study_recipe import StudyRecipe

BLOCK_SECONDS = 1.0
"""Seconds that a block should take: much longer than its overhead (some milliseconds), short enough
that a kill, or Ctrl-C, loses little."""

MAX_BLOCK = 100_000
"""Largest block: more lanes are not faster."""

BLOCK_BYTES = 256 << 20
"""Memory that the results of a block may take; its motions are made in slices of less."""

BLOCKS_PER_WORKER = 4
"""Fewest blocks for each worker, so that they end at about the same time."""

PILOT_SECONDS = 0.3
"""Seconds after which the rate is known well enough."""

MAX_PILOT_SECONDS = 6.0
"""Seconds that the next, larger pilot may take, as far as the last one tells."""

PILOT_COUNTS = (1, 16, 256, 4096)
"""Designs of pilots: one may take seconds, and an ensemble has some milliseconds of its own, which
few designs share."""

GOLDEN_SECTION = (5**0.5 - 1) / 2

PILOT_DESIGNS = 64
"""Designs that are tried until one of them gives all measures: the first, and others all over the
study, since the first ones of a grid may all be impossible."""

PILOT_PATIENCE = 30.0
"""Seconds after which no more than a few designs are tried."""

FEWEST_PILOTS = 8
"""Designs that are tried however long they take."""


@dataclass(frozen=True)
class StudyPlan(NotebookDisplayed):
    """The number of designs, the time and the size of a study.

    Attributes
    ----------
    count : int
        Number of designs.
    block, blocks : int
        Designs in a block, and number of blocks.
    rate : float
        Designs per second and worker, measured.
    workers : int
        Number of workers.
    size : int
        Bytes of the results.
    objects : int
        Files or objects of the store.

    Examples
    --------
    >>> import linkwright as lw
    >>> arm, measure = lw.gallery("elbow"), {"end": "q1[-1]"}
    >>> plan = lw.studies.plan_study(arm, {"m2": (1.0, 2.0)}, measure, count=64, t=0.1, samples=3)
    >>> plan.count, plan.block * plan.blocks >= plan.count
    (64, True)
    """

    count: int
    block: int
    blocks: int
    rate: float
    workers: int
    size: int
    objects: int

    @property
    def seconds(self) -> float:
        """The time that the study will take."""
        return self.count / self.rate / self.workers

    def summary(self) -> str:
        """Return one line."""
        return f"{self.count} designs, about {duration_text(self.seconds)}, {size_text(self.size)}"

    def __str__(self) -> str:
        """Return the plan in words."""
        return "\n".join(
            [
                f"designs: {self.count} in {self.blocks} block{'s' if self.blocks > 1 else ''} "
                f"of {self.block}",
                f"rate: {rate_text(self.rate)} designs per second and worker, {self.workers} "
                f"worker{'s' if self.workers > 1 else ''}",
                f"time: about {duration_text(self.seconds)}",
                f"size: {size_text(self.size)} in {self.objects} files",
            ]
        )


def learn_sizes(recipe: StudyRecipe, functions: Mapping[str, MeasureFunction]) -> StudyRecipe:
    """Return the recipe with the shapes of all measures, learned from a design that has them."""
    message, tried, end = "", 0, time.monotonic() + PILOT_PATIENCE
    for design in _spread_designs(recipe.count):
        if tried >= FEWEST_PILOTS and time.monotonic() > end:
            break
        tried += 1
        values, found = measure_values(recipe, functions, design, design + 1)
        if found.status[0] == FAILED:
            message = message or found.messages.get(0, "")
            continue
        sizes, histories = dict[str, tuple[int, ...]](), dict[str, list[float]]()
        for name, value in values.items():
            sizes[name] = _size_of(name, value)
            if value.clock is not None:
                histories[name] = value.clock.times.tolist()
        return replace(recipe, sizes=sizes, histories=histories, pilot=design)
    raise LinkwrightError(
        f"all {tried} designs that were tried fail: {message}"
        if tried > 1
        else f"the design that was tried fails: {message}",
        remedy="change the factors or the settings",
    )


def _spread_designs(count: int) -> Iterator[int]:
    """Yield the first design, then others all over the study, in steps of the golden section: equal
    steps would meet the same levels of the last factors of a grid."""
    found = [int(count * (k * GOLDEN_SECTION % 1.0)) for k in range(PILOT_DESIGNS)]
    yield from dict.fromkeys([*found, *range(count if count <= PILOT_DESIGNS else 0)])


def _size_of(name: str, value: MeasuredValue) -> tuple[int, ...]:
    """Return the shape of a measure; raise for what the result cannot hold."""
    if np.iscomplexobj(value.array):
        raise ArgumentError(
            "the values are complex",
            where=f"measure '{name}'",
            remedy="take real(…), imag(…) or abs(…) of them",
        )
    entries = value.array.shape[2]
    if value.clock is not None and entries > 1:
        raise ArgumentError(
            f"{entries} histories cannot be one measure",
            where=f"measure '{name}'",
            remedy="name one of them (q1), or reduce them: max(abs(tau))",
        )
    if value.clock is not None:
        return (len(value.clock.times),)
    return () if entries == 1 else (entries,)


def measure_rate(
    recipe: StudyRecipe, functions: Mapping[str, MeasureFunction], threads: int | None = 1
) -> float:
    """Return the number of designs that one worker with so many threads makes per second."""
    rate, next_design = 0.0, recipe.pilot + 1  # about a good one, designs fail less

    def time_new_designs(count: int) -> float:
        nonlocal next_design  # what is known of a mechanism is kept: each design is tried once
        start = next_design if next_design + count <= recipe.count else 0
        next_design = start + count
        return _seconds_of(recipe, functions, start, count, threads)

    for count in PILOT_COUNTS:
        count = min(count, recipe.count)
        first = time_new_designs(count)  # it may compile
        seconds = first if first > MAX_PILOT_SECONDS else time_new_designs(count)
        rate = count / seconds
        if count == recipe.count or seconds > PILOT_SECONDS or 16 * seconds > MAX_PILOT_SECONDS:
            break
    return rate


def _seconds_of(
    recipe: StudyRecipe,
    functions: Mapping[str, MeasureFunction],
    start: int,
    count: int,
    threads: int | None,
) -> float:
    """Return the time that some designs take."""
    begin = time.perf_counter()
    evaluate_designs(recipe, functions, start, start + count, threads=threads)
    return max(time.perf_counter() - begin, 1e-6)


def choose_block(recipe: StudyRecipe, rate: float, workers: int) -> int:
    """Return the number of designs in a block."""
    entries = [int(np.prod(recipe.sizes.get(one.name, ()))) for one in recipe.measures]
    design = 8 * (len(recipe.factors) + sum(entries) + 2)
    fair = -(-recipe.count // (workers * BLOCKS_PER_WORKER)) if workers > 1 else recipe.count
    wanted = min(rate * BLOCK_SECONDS, BLOCK_BYTES / design, MAX_BLOCK, fair, recipe.count)
    return max(1, int(wanted))
