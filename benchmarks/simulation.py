"""Simulation beside SciPy on the same compiled rates and beside EXUDYN, in one run: `make bench`.

    python benchmarks/simulation.py [--seconds 2] [--runs 10000]

Times are processor times on one thread with warm caches, the best of many measurements in turn.
"whole call" is `lw.simulate` from the mechanism to the run, with assembly and energies; the peer is
SciPy's DOP853 with the same tolerances and samples on our compiled rates, without projection. Final
states are compared first. EXUDYN's solver makes at least as many steps as in its own examples;
`lw.simulate` has the coarsest tolerance at which it is at least as accurate. Rollouts beside
`mujoco.rollout`: `rollouts.py`; chains of loops against their exact solution: `large_loops.py`.
"""

from __future__ import annotations

import argparse
import math
import resource
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from timing import best

import linkwright as lw
from linkwright.readings.llvm import compile_tape
from linkwright.simulation.preparation import prepare_simulation

CASES: list[tuple[str, float, dict[str, Any], float]] = [
    ("triple-pendulum", 5.0, {"q0": [1.0, 0.5, -0.3]}, 1e-7),
    ("triple-pendulum", 100.0, {"q0": [1.0, 0.5, -0.3]}, math.inf),
    ("four-bar", 2.0, {"q0": {"theta1": 1.0}, "qd0": {"theta1": 2.0}}, 1e-6),
    ("bricard", 10.0, {}, 1e-5),
    ("stewart", 1.0, {}, 1e-5),
]
"""Mechanism, duration, start, and how near the peer must come at the end: it does not hold
constraints, and a hundred seconds of three pendulums are chaos."""

EVENTS = {"a": "theta1 - 0.1", "b": "dtheta2"}


def peer(name: str, t: float, options: dict[str, Any]) -> Callable[[], Any]:
    """SciPy on the rates of the same system."""
    mechanism = lw.gallery(name)
    prepared = prepare_simulation(mechanism, "recursive", None, "projection")
    run = lw.simulate(mechanism, t, **options)
    start = prepared.rhs.space.start(run.q[0], run.qd[0])
    rates, none = compile_tape(prepared.program("dop853", None).rates_tape, threads=1), np.zeros(1)
    times = np.linspace(0.0, t, 501)
    return partial(
        solve_ivp, lambda t, y: rates([t], y, none)[0], (0.0, t), start, "DOP853", times,
        rtol=1e-9, atol=1e-10,
    )  # fmt: skip


def simulated(name: str, t: float, options: dict[str, Any]) -> Callable[[], Any]:
    return partial(lw.simulate, lw.gallery(name), t, **options)


def print_single_runs(seconds: float) -> None:
    print("| run | whole call, ms | SciPy on the same rates, ms | ratio | steps |")
    print("|---|---|---|---|---|")
    for name, t, options, near in CASES:
        ours, theirs = simulated(name, t, options), peer(name, t, options)
        run, found = ours(), theirs()
        difference = np.abs(run.q[-1] - found.y[: run.q.shape[1], -1]).max()
        assert difference < near, f"{name}: the results differ by {difference:.1e}"
        a, b = best(ours, theirs, seconds=seconds, clock=time.process_time)
        steps = int(run.statistics["steps"])
        print(f"| {name} {t:g} s | {a * 1e3:.2f} | {b * 1e3:.1f} | {b / a:.0f} | {steps} |")
    shifted = iter(np.linspace(0.9, 1.1, 10**6))
    bars = lw.gallery("four-bar")
    (a,) = best(
        lambda: lw.simulate(bars, 2.0, {"theta1": next(shifted)}, {"theta1": 2.0}),
        seconds=seconds,
        clock=time.process_time,
    )
    print(f"| four-bar 2 s, another start each time | {a * 1e3:.2f} | | | |")
    run = simulated("triple-pendulum", 5.0, {"q0": [1.0, 0.5, -0.3], "events": EVENTS})
    count = len(run().events)
    (a,) = best(run, seconds=seconds, clock=time.process_time)
    print(f"| triple-pendulum 5 s, {count} events met | {a * 1e3:.2f} | | | |")


def print_ensembles(seconds: float) -> None:
    rng, runs = np.random.default_rng(0), 10_000
    starts = {"theta1": rng.uniform(0.9, 1.1, runs)}
    speeds = {"theta1": rng.uniform(1.0, 3.0, runs)}
    varied = {"m2": rng.uniform(0.5, 2.0, runs), "l2": rng.uniform(2.9, 3.1, runs)}
    print("\n| 10⁴ four-bars of other masses, lengths and starts, 2 s, one thread | s |")
    print("|---|---|")
    for label, samples in (("final states, with assembly", 2), ("101 samples, with assembly", 101)):
        call = partial(
            lw.simulate, lw.gallery("four-bar"), 2.0, starts, speeds, parameters=varied,
            samples=samples, threads=1,
        )  # fmt: skip
        assert set(call()["status"].values) == {"finished"}
        (a,) = best(call, seconds=seconds, clock=time.process_time)
        print(f"| {label} | {a:.2f} |")


def matched_call(
    simulate: Callable[[float], float], wanted: float, error: float
) -> tuple[Callable[[], float], float]:
    """The run with the coarsest tolerance whose error is not larger, and its error."""
    for digits in range(3, 13):
        rtol = 10.0**-digits
        own = abs(simulate(rtol) - wanted)
        if own <= error:
            return partial(simulate, rtol), own
    raise AssertionError(f"no tolerance gives an error of {error:.1e}")


def exudyn_cases() -> list[tuple[str, int, Callable[[int], float], Callable[[float], float]]]:
    """Name, steps of EXUDYN, its solver by the number of steps, and ours by the tolerance."""
    import exudyn_models as peers

    bars = lw.gallery("four-bar")
    start: dict[str, Any] = {"q0": {"theta1": 1.0}, "qd0": {"theta1": 2.0}}
    first = lw.simulate(bars, 2.0, **start)
    disk, lean, spin = lw.gallery("rolling-disk").with_parameters(r=0.01), math.radians(1), 31.4
    roll: dict[str, Any] = {"q0": {"theta": lean}, "qd0": {"psi": spin, "theta": 0, "phi": 0}}
    height = list(lw.compile(disk).names.q).index("z")
    linkage = lw.gallery("bricard")
    point = lw.compile(linkage).placement("P3")

    def crank(rtol: float) -> float:
        found = lw.simulate(bars, 2.0, rtol=rtol, atol=rtol / 10, samples=2, **start)
        return math.remainder(found.q[-1, 0], 2 * math.pi)

    def center(rtol: float) -> float:
        found = lw.simulate(disk, 0.5, rtol=rtol, atol=rtol / 100, samples=2, **roll)
        return float(found.q[-1, height])

    def corner(rtol: float) -> float:
        found = lw.simulate(linkage, 10.0, rtol=rtol, atol=rtol / 10, samples=2)
        return float(point(found.q[-1])[0, 3])

    return [
        ("four-bar, 2 s", 4000, peers.four_bar(first.q[0], first.qd[0], 2.0), crank),
        ("coin, 0.5 s", 4000, peers.coin(lean, spin, 0.01, 0.5), center),
        ("Bricard, 10 s", 8000, peers.bricard(10.0), corner),
    ]


def print_exudyn(seconds: float) -> None:
    if find_spec("exudyn") is None:
        print('\nEXUDYN is not installed: pip install "linkwright[bench]"')
        return
    print("\n| beside EXUDYN's solver | its error | its ms | our error | our ms | ratio |")
    print("|---|---|---|---|---|---|")
    for name, steps, theirs, ours in exudyn_cases():
        wanted = ours(1e-12)
        error = abs(theirs(steps) - wanted)
        call, own = matched_call(ours, wanted, error)
        a, b = best(call, partial(theirs, steps), seconds=seconds, clock=time.process_time)
        print(f"| {name} | {error:.1e} | {b * 1e3:.0f} | {own:.1e} | {a * 1e3:.2f} | {b / a:.0f} |")


def resident_megabytes() -> tuple[float, int]:
    """Resident memory of this process, and the number of its mappings."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    mappings = Path("/proc/self/maps").read_text().count("\n")
    return pages * resource.getpagesize() / 2**20, mappings


def print_memory(runs: int) -> None:
    """Many runs of a hundred mechanisms in turn: memory and code images must not grow."""
    bars, count = lw.gallery("elbow"), 100
    mechanisms = [bars.with_parameters(m1=1 + k / count) for k in range(count)]
    print(f"\n| {runs} runs of {count} mechanisms | resident, MB | mappings |")
    print("|---|---|---|")
    for done in range(runs):
        lw.simulate(mechanisms[done % count], 0.1, {"q1": 0.3}, samples=11)
        if done + 1 in (count, runs // 10, runs // 2, runs):
            megabytes, mappings = resident_megabytes()
            print(f"| after {done + 1} | {megabytes:.0f} | {mappings} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument(
        "--runs", type=int, default=10_000, help="number of runs; 0 leaves the memory table out"
    )
    given = parser.parse_args()
    print_single_runs(given.seconds)
    print_exudyn(given.seconds)
    print_ensembles(given.seconds)
    if given.runs:
        print_memory(given.runs)


if __name__ == "__main__":
    main()
