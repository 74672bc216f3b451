"""Throughput of workers, overhead of the engines, and the slopes of docs/explanation/scale.md.

    python benchmarks/studies.py [--repeats 5] [--blocks 8] [--no-dask]
    python benchmarks/studies.py --scaling    # only one and two workers, about two minutes

Prints a table for this machine. Workers make blocks of about one second. Throughput and overhead
are those between the first and the last block: starting processes is not counted, and is printed
by itself. The best of several repeats counts, since other programs only take time away.
"""

from __future__ import annotations

import argparse
import heapq
import os
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import linkwright as lw
from linkwright.studies.block_engines import ProcessEngine, SerialEngine
from linkwright.studies.block_worker import BlockMaker
from linkwright.studies.dask_engine import DaskEngine
from linkwright.studies.design_evaluation import evaluate_designs
from linkwright.studies.design_seeds import design_seeds
from linkwright.studies.object_storage import FolderStorage
from linkwright.studies.sampling_methods import Sampling
from linkwright.studies.study_call import prepare_recipe
from linkwright.studies.study_plan import measure_rate
from linkwright.studies.study_recipe import StudyRecipe
from linkwright.studies.study_store import BlockReport, StudyStore

VARY = {"m2": (0.5, 1.5), "q0.q1": (0.0, 1.0)}
MEASURE = {"peak": "max(abs(dq1))", "loss": "energy[-1] - energy[0]", "height": "max(tool.y)"}
RUN = {
    "t": 1.0,
    "by": "recursive",
    "integrator": "dop853",
    "rtol": 1e-9,
    "atol": 1e-10,
    "samples": 51,
}


def recipe_of(count: int, block: int) -> StudyRecipe:
    arm = lw.gallery("elbow")
    recipe, _ = prepare_recipe(arm, VARY, MEASURE, ("random", count, 0), {"run": RUN})
    return replace(recipe, block=block)


@dataclass(frozen=True)
class EngineTimes:
    """Designs per second, overhead as a share of the work, and seconds until the first block."""

    rate: float
    overhead: float
    start: float


def time_engine(kind: str, workers: int, blocks: int, block: int) -> EngineTimes:
    """Make blocks with an engine; the overhead is what its workers did not spend in designs."""
    with tempfile.TemporaryDirectory() as folder:
        store = StudyStore.create(
            FolderStorage(Path(folder) / "a"), recipe_of(blocks * block, block)
        )
        engines = {
            "serial": lambda: SerialEngine(BlockMaker(store, {}, 1)),
            "processes": lambda: ProcessEngine(store, workers),
            "dask": lambda: DaskEngine(store, "local", workers),
        }
        times: list[tuple[float, BlockReport]] = []
        begin = time.perf_counter()
        engines[kind]().run(
            iter(range(blocks)), lambda one: times.append((time.perf_counter(), one))
        )
        return engine_times(times, begin)


def engine_times(times: list[tuple[float, BlockReport]], begin: float) -> EngineTimes:
    """Return the sum of the workers' rates while all of them work, and what they lose.

    The first report of a worker ends its start. What happens before the last worker has started,
    or after the first one has ended, does not count: a worker alone has the machine for itself.
    """
    groups: dict[str, list[tuple[float, BlockReport]]] = {}
    for moment, one in times:
        groups.setdefault(one.worker, []).append((moment, one))
    first = max(rows[0][0] for rows in groups.values())
    last = min(rows[-1][0] for rows in groups.values())
    rate = wall = busy = 0.0
    for rows in groups.values():
        kept = [row for row in rows if first <= row[0] <= last]
        own = kept[-1][0] - kept[0][0]
        rate += sum(one.designs for _, one in kept[1:]) / own
        busy += sum(one.seconds for _, one in kept[1:])
        wall += own
    return EngineTimes(rate, wall / busy - 1, times[0][0] - begin)


def best_of(kind: str, workers: int, blocks: int, block: int, repeats: int) -> EngineTimes:
    found = [time_engine(kind, workers, blocks, block) for _ in range(repeats)]
    return EngineTimes(
        max(one.rate for one in found),
        min(one.overhead for one in found),
        min(one.start for one in found),
    )


def seconds_of(function: object, repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()  # type: ignore[operator]
        times.append(time.perf_counter() - begin)
    return min(times)


def analyses() -> dict[str, StudyRecipe]:
    """Studies of other analyses than runs, by name; blocks of the sizes that are timed."""
    arm, bars = lw.gallery("elbow"), lw.gallery("four-bar")
    length = float(bars.values["l3"])
    short = {"l3": (0.9 * length, length)}
    hanging, crank = {"q": {"q1": -1.5}}, {"q": {"theta1": -1.0}}
    swing = {"motion": {"q1": "t", "q2": "sin(t)"}, "t": 1.0, "samples": 51}
    turn = {"motion": {"theta1": "t"}, "t": 1.0, "samples": 51}
    cases = {
        "linear model, arm": (arm, {"m2": (0.5, 1.5)}, "linearize.frequencies[0]", 512, hanging),
        "linear model, four-bar": (bars, short, "linearize.frequencies[0]", 512, crank),
        "inverse motion, arm": (arm, {"m2": (0.5, 1.5)}, "max(inverse.tau1)", 512, swing),
        "inverse motion, four-bar": (bars, short, "max(inverse.tau1)", 512, turn),
        "kinematics, four-bar": (bars, short, "kinematics.theta2[-1]", 512, turn),
        "equilibria, arm": (arm, {"m2": (0.5, 1.5)}, "equilibria.count", 4, {"starts": 5}),
        "linkage, four-bar": (bars, short, "min(linkage.transmission_angle)", 64, {"samples": 37}),
    }
    found = {}
    for name, (mechanism, vary, text, count, given) in cases.items():
        kind = text.split("(")[-1].split(".")[0]
        sampling = ("random", 10**6, 0)
        recipe, _ = prepare_recipe(
            mechanism, vary, {"y": text}, sampling, {"run": RUN, kind: given}
        )
        found[name] = replace(recipe, block=count)
    return found


def slopes() -> dict[str, str]:
    """The times that grow with a study, each measured by itself."""
    found: dict[str, str] = {}
    recipe = recipe_of(10**6, 4096)
    designs = evaluate_designs(recipe, {}, 0, 4096)
    for size in (16, 64, 256, 1024, 4096):
        took = seconds_of(lambda size=size: evaluate_designs(recipe, {}, 0, size), 3)
        found[f"a design of an ensemble of {size}"] = f"{1e6 * took / size:.1f} µs"
    for name, one in analyses().items():
        evaluate_designs(one, {}, 0, 2)
        blocks = iter(map(one.block_range, range(1, 10)))  # new designs, whose code is not cached
        took = seconds_of(
            lambda one=one, blocks=blocks: evaluate_designs(one, {}, *next(blocks)), 3
        )
        found[f"a design: {name}"] = f"{1e3 * took / one.block:.3f} ms"
    with tempfile.TemporaryDirectory() as folder:
        store = StudyStore.create(FolderStorage(Path(folder) / "a"), recipe)
        took = seconds_of(lambda: store.write_block(0, designs, 1.0))
        found["writing a block of 4096 designs (7 chunks and the marker)"] = f"{1e3 * took:.2f} ms"
        took = seconds_of(lambda: store.is_sound(0))
        size = store.bytes_per_block
        found["checking it on a resume"] = f"{1e3 * took:.2f} ms, {size / took / 1e6:.0f} MB/s"
        content, count = b"x" * 1000, iter(range(10**6))
        took = seconds_of(lambda: store.storage.write(f"o/{next(count)}", content), 2000)
        found["an object of the folder"] = f"{1e6 * took:.0f} µs"
        found["bytes of a design in the store"] = f"{size / 4096:.0f}"
    sampling = Sampling("sobol", 2**30, 0, 2**30)
    for dimensions in (2, 10):
        sampling.shares(dimensions, 0, 10)
        took = seconds_of(lambda d=dimensions: sampling.shares(d, 5_000_000, 5_000_010), 1)
        found[f"passing a Sobol' point of {dimensions} factors"] = f"{1e9 * took / 5e6:.1f} ns"
    found["a seed"] = f"{1e9 * seconds_of(lambda: design_seeds(0, 0, 10**6)) / 1e6:.0f} ns"
    found["rate that the plan measures"] = f"{measure_rate(recipe, {}):.0f} designs/s"
    return found


def dask_messages(count: int = 2000) -> float:
    """Tasks per second that a scheduler of this machine passes on, without work."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=2,
            processes=False,
            dashboard_address=None,
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        client.submit(int, 0, pure=False).result()
        begin = time.perf_counter()
        client.gather([client.submit(int, k, pure=False) for k in range(count)])
        return count / (time.perf_counter() - begin)


def simulated_efficiency(
    workers: int, block_seconds: float, task_seconds: float, spread: float = 0.3, blocks: int = 40
) -> float:
    """The share of time in which workers make designs, behind one scheduler.

    Each block takes a log-normal time, then waits for the scheduler, which needs `task_seconds` for
    each block (all its messages) and serves one at a time. Each worker has one block in reserve.
    """
    rng = np.random.default_rng(0)
    total = workers * blocks
    times = iter((block_seconds * rng.lognormal(-(spread**2) / 2, spread, total)).tolist())
    sent, free, last, busy = 2 * workers, 0.0, 0.0, 0.0
    arrivals = [[0.0, 0.0] for _ in range(workers)]
    events = []
    for worker in range(workers):
        took = next(times)
        busy += took
        events.append((took, worker, 0))
    heapq.heapify(events)
    while events:
        last, worker, block = heapq.heappop(events)
        free = max(free, last) + task_seconds  # the answer, and the next task on its way
        if sent < total:
            sent += 1
            arrivals[worker].append(free)
        if block + 1 < len(arrivals[worker]):
            took = next(times)
            busy += took
            begin = max(last, arrivals[worker][block + 1])
            heapq.heappush(events, (begin + took, worker, block + 1))
    return busy / (last * workers)


def scaling(repeats: int, blocks: int, block: int) -> None:
    """Print rates of one and two processes in turn, so that other programs disturb both alike."""
    found: dict[int, list[EngineTimes]] = {1: [], 2: []}
    for _ in range(repeats):
        for workers, rows in found.items():
            before = os.times()
            rows.append(time_engine("processes", workers, workers * blocks, block))
            after = os.times()
            spent = 1e6 / (workers * blocks * block)
            user = spent * (after.children_user - before.children_user)
            system = spent * (after.children_system - before.children_system)
            print(
                f"{workers} workers: {rows[-1].rate:.0f} designs/s, overhead "
                f"{100 * rows[-1].overhead:.1f} %; a design takes {user:.1f} µs of processor time "
                f"and {system:.1f} µs of the kernel's, with the start; "
                f"load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
    best = {workers: max(one.rate for one in rows) for workers, rows in found.items()}
    least = {workers: min(one.overhead for one in rows) for workers, rows in found.items()}
    print(
        f"2 workers make {best[2] / best[1]:.2f} × one (best of {repeats} each; goal 1.6); "
        f"overhead {100 * least[1]:.1f} % and {100 * least[2]:.1f} % (goal 5 %)"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=8, help="blocks for each worker")
    parser.add_argument("--no-dask", action="store_true")
    parser.add_argument("--scaling", action="store_true", help="only one and two processes")
    options = parser.parse_args()
    block = int(measure_rate(recipe_of(10**6, 4096), {}))
    print(f"blocks of {block} designs, about 1 s each; best of {options.repeats}")
    if options.scaling:
        scaling(options.repeats, options.blocks, block)
        return
    kinds = ["processes"] if options.no_dask else ["processes", "dask"]
    one = best_of("serial", 1, options.blocks, block, options.repeats)
    print(f"serial: {one.rate:.0f} designs/s, overhead {100 * one.overhead:.1f} %")
    for kind in kinds:
        rates = {}
        for workers in (1, 2):
            found = best_of(kind, workers, workers * options.blocks, block, options.repeats)
            rates[workers] = found.rate
            print(
                f"{kind}, {workers} workers: {found.rate:.0f} designs/s, overhead "
                f"{100 * found.overhead:.1f} %, first block after {found.start:.1f} s"
            )
        print(f"{kind}: 2 workers make {rates[2] / rates[1]:.2f} × one")
    for name, text in slopes().items():
        print(f"{name}: {text}")
    if not options.no_dask:
        rate = dask_messages()
        print(f"dask: {rate:.0f} tasks/s through one scheduler ({1e3 / rate:.2f} ms each)")
    for seconds in (0.1, 1.0, 10.0, 60.0):
        row = [
            f"{workers}: {100 * simulated_efficiency(workers, seconds, 1e-3):.0f} %"
            for workers in (10, 100, 1000, 10_000)
        ]
        print(f"simulated, blocks of {seconds:g} s, 1 ms a task: {', '.join(row)}")


if __name__ == "__main__":
    main()
