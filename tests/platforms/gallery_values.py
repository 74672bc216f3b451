"""Values of compiled functions and a run, written to a file: `python gallery_values.py FILE`.

It runs on the machine that is tested and on the one that tests; it needs our own dependencies only.
"""

from __future__ import annotations

import platform
import sys

import numpy as np

import linkwright as lw

FUNCTIONS = {
    "elbow": ("mass_matrix", "inverse_dynamics", "forward_dynamics"),
    "six-axis": ("inverse_dynamics", "forward_dynamics"),
    "four-bar": ("forward_dynamics",),
}
"""Functions by gallery mechanism: trees and a loop."""

STATES = 11
"""A whole block of lanes on every machine, and a rest."""


def compute_values() -> dict[str, np.ndarray]:
    """Return results in double and single precision, of one and two threads, and samples of a run."""
    found: dict[str, np.ndarray] = {}
    for name, functions in FUNCTIONS.items():
        mechanism = lw.gallery(name)
        model = lw.compile(mechanism, threads=1)
        rng = np.random.default_rng(3)
        q = rng.uniform(-1, 1, (STATES, model.nq))
        if mechanism.loops:
            q = np.array([lw.assemble(mechanism, {"theta1": x}, hold=["theta1"]) for x in q[:, 0]])
        for function in functions:
            inputs = [q, *rng.uniform(-1, 1, (2, STATES, model.nv))]
            inputs = inputs[: 1 if function == "mass_matrix" else 3]
            found[f"{name} {function}"] = getattr(model, function)(*inputs)
    elbow = lw.compile(lw.gallery("elbow"), threads=2)
    few = np.linspace(-1, 1, 2 * STATES).reshape(STATES, 2)
    found["elbow single precision"] = elbow.inverse_dynamics(*[few.astype(np.float32)] * 3)
    many = np.resize(few, (100_000, 2))
    found["elbow two threads"] = elbow.inverse_dynamics(many, many, many)[::9999]
    run = lw.simulate(lw.gallery("four-bar"), 1.0, q0={"theta1": 1.0}, samples=11)
    assert run.statistics["compiled"] == 1
    found["run of four-bar"] = run.q
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], machine=platform.machine(), **compute_values())
