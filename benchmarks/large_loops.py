"""Chains of loops: IFToMM's A02 of N windows, 10 s, against its exact solution: `make bench`.

    python benchmarks/large_loops.py [--windows 10 20 40 80]

Times are processor times on one thread. "first" is the first `lw.simulate` in a process with an
empty cache, from the mechanism to the run: deriving, taping, compiling, ten singular
configurations. "second" is the same call again. The error is that of the tips of all cranks. The
last line has the exponents k of the fits time ~ N^k.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time

import numpy as np
from scipy.special import ellipj, ellipk

import linkwright as lw

TOLERANCE = 1e-11
"""Relative tolerance of a step: it keeps positions within 1e-8 of the exact solution for 10 s."""


def exact_tips(windows: int, t: np.ndarray) -> np.ndarray:
    """Return (x, y) of the cranks' tips, which start upright at 1 m/s: elliptic functions of a
    pendulum."""
    inertia, weight = (windows + 1) / 3 + windows, 9.81 * ((windows + 1) / 2 + windows)
    square = weight / inertia
    m = 4 * square / (1 + 4 * square)
    sn, cn, _, _ = ellipj(ellipk(m) - np.sqrt(1 + 4 * square) / 2 * t, m)
    return np.array([2 * sn * cn, 2 * sn**2 - 1])


def timed_run(mechanism: lw.Mechanism) -> tuple[lw.Run, float]:
    begin = time.process_time()
    run = lw.simulate(
        mechanism, 10.0, qd0={"theta0": -1.0}, samples=101, rtol=TOLERANCE, atol=TOLERANCE / 10
    )
    return run, time.process_time() - begin


def print_row(windows: int) -> tuple[float, float, float]:
    """Print the row of a chain; return its times: derive, first, second."""
    mechanism = lw.gallery(f"n-four-bar-{windows}")
    lw.assemble(mechanism)
    begin = time.process_time()
    equations = lw.derive(mechanism, parameters="numeric")
    operations = equations.function("forward_dynamics").n_instructions()
    derived = time.process_time() - begin
    (_, first), (run, second) = timed_run(mechanism), timed_run(mechanism)
    tips = np.array([np.cos(run.q[:, ::2]), np.sin(run.q[:, ::2])])
    error = np.abs(tips - exact_tips(windows, run.t)[:, :, None]).max()
    assert error < 1e-8, f"{windows} windows: {error:.1e} from the exact solution"
    drift = np.ptp(run.energy) / run.kinetic.max()
    print(
        f"| {windows} | {derived:.2f} | {operations} | {first:.2f} | {second:.2f} | {error:.0e} "
        f"| {drift:.0e} | {len(run.singular)} |",
        flush=True,
    )
    return derived, first, second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--windows", type=int, nargs="+", default=[10, 20, 40, 80])
    windows = parser.parse_args().windows
    with tempfile.TemporaryDirectory() as folder:
        os.environ["LINKWRIGHT_CACHE"] = folder
        timed_run(lw.gallery("n-four-bar-1"))  # loads the packages and compiles the integrator
        print("| N | derive, s | operations | first, s | second, s | error | energy | crossings |")
        print("|---|---|---|---|---|---|---|---|")
        times = np.array([print_row(count) for count in windows])
        if len(windows) > 1:
            derived, first, second = np.polyfit(np.log(windows), np.log(times), 1)[0]
            print(f"| exponent | {derived:.2f} | | {first:.2f} | {second:.2f} | | | |")


if __name__ == "__main__":
    main()
