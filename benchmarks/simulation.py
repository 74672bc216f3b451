"""Simulation beside SciPy on the same compiled rates, in one run: `make bench`.

    python benchmarks/simulation.py [--seconds 2]

Processor time on one thread, everything warm, best of many in turn. "whole call" is `lw.simulate`
from the mechanism to the run, with assembly and energies; the peer is SciPy's DOP853 with the same
tolerances and samples on our compiled rates, without projection. Final states are compared first.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from functools import partial
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
            lw.simulate_ensemble, lw.gallery("four-bar"), 2.0, starts, speeds, parameters=varied,
            samples=samples, threads=1,
        )  # fmt: skip
        assert set(call()["status"].values) == {"finished"}
        (a,) = best(call, seconds=seconds, clock=time.process_time)
        print(f"| {label} | {a:.2f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--seconds", type=float, default=2.0)
    seconds = parser.parse_args().seconds
    print_single_runs(seconds)
    print_ensembles(seconds)


if __name__ == "__main__":
    main()
