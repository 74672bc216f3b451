"""How long the equations of a large mechanism take to derive and compile: part of `make bench`.

    python benchmarks/large_models.py [--bodies 206] [--loops 6]

A random tree of the size of a musculoskeletal model, with loops; processor time, empty cache.
"""

from __future__ import annotations

import argparse
import os
import time

import numpy as np

import linkwright as lw


def random_tree(bodies: int, loops: int) -> lw.Mechanism:
    """Return a tree of revolute joints with branches, closed by rods between its bodies."""
    rng = np.random.default_rng(1)

    def numbers(low: float, high: float, count: int) -> list[float]:
        return [round(float(x), 3) for x in rng.uniform(low, high, count)]

    parts: dict[str, dict[str, dict[str, object]]] = {"bodies": {}, "joints": {}}
    for k in range(bodies):
        parts["bodies"][f"b{k}"] = {
            "mass": numbers(0.5, 2, 1)[0],
            "center": numbers(-0.1, 0.1, 3),
            "inertia": {
                "xx": 0.02,
                "yy": 0.03,
                "zz": 0.025,
                "xy": 0.001,
                "xz": 0.002,
                "yz": 0.0015,
            },
        }
        branches = rng.random() > 0.75
        parent = int(rng.integers(0, k)) if k and branches else k - 1
        parts["joints"][f"q{k}"] = {
            "type": "revolute",
            "parent": f"b{parent}" if k else "ground",
            "child": f"b{k}",
            "axis": np.eye(3)[rng.integers(3)].tolist(),
            "origin": numbers(-0.2, 0.2, 3),
        }
    pairs = rng.choice(bodies, (loops, 2), replace=False)
    rods = {
        f"rod{k}": {"type": "distance", "between": [f"b{a}", f"b{b}"], "length": 0.5}
        for k, (a, b) in enumerate(pairs)
    }
    return lw.Mechanism(name=f"{bodies} bodies", **parts, constraints=rods)


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=206)
    parser.add_argument("--loops", type=int, default=6)
    options = parser.parse_args()
    os.environ["LINKWRIGHT_CACHE"] = "off"
    model = lw.compile(random_tree(options.bodies, options.loops), threads=1)
    total = 0.0
    for name in ("mass_matrix", "bias"):
        start = time.process_time()
        model.ufunc(name)
        seconds = time.process_time() - start
        total += seconds
        print(f"{options.bodies} bodies, {options.loops} loops, {name}: {seconds:.1f} s")
    print(f"both: {total:.1f} s")


if __name__ == "__main__":
    main()
