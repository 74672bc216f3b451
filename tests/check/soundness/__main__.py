"""Ten thousand new cases: `LINKWRIGHT_SEED=7 python -m tests.check.soundness`; exit status 1 if one is wrong."""

from __future__ import annotations

import argparse
import os
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

from .campaign import Tally, campaign
from .random_subjects import FAMILIES, random_subject
from .subjects import BUILDERS, gallery_subject
from .verdicts import Outcome

EACH = 4
"""True equations, and as many misprints, that one task draws."""
Task = tuple[str, str, bool]


def tasks(seed: str, cases: int) -> Iterator[Task]:
    """Half of the gallery, half random mechanisms; every fourth text holds several equations."""
    count = cases // (2 * EACH)
    families = [*FAMILIES, *["tree"] * 6]
    gallery = list(BUILDERS)
    for i in range(count):
        name = gallery[i // 2 % len(gallery)] if i % 2 else families[i // 2 % len(families)]
        yield name, f"{seed}.{i}", i % 4 == 3


def run_task(task: Task) -> list[Outcome]:
    name, seed, batch = task
    subject = gallery_subject(name) if name in BUILDERS else random_subject(name, seed)
    return campaign(subject, seed, EACH, EACH, batch=batch)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--missed", action="store_true", help="list misprints without a repair")
    options = parser.parse_args()
    seed = os.environ.get("LINKWRIGHT_SEED") or str(random.SystemRandom().randrange(10**6))
    print(f"seed {seed}", flush=True)
    tally = Tally()
    with ProcessPoolExecutor(options.jobs) as pool:
        for outcomes in pool.map(run_task, tasks(seed, options.cases), chunksize=4):
            tally.add(outcomes)
            for outcome in outcomes:
                if outcome.problem or (options.missed and outcome.repair is False):
                    print(outcome, flush=True)
    print(f"seed {seed}\n{tally.table()}")
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
