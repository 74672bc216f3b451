"""What a call from Python costs more than the raw gufunc behind it: part of `make bench`.

    python benchmarks/calls.py [--seconds 1]

Both treat one state; figures are the best of many, the two in turn. The aim is at most 80 ns.
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import best, repeated

import linkwright as lw

FUNCTIONS = ("gravity", "bias", "inverse_dynamics")


def extra_cost(model: lw.Model, name: str, seconds: float) -> tuple[float, float]:
    """Nanoseconds of the raw gufunc, and what the function of the model takes beyond them."""
    ufunc, function = model.ufunc(name), getattr(model, name)
    state = [np.full(model.nv, 0.1)] * ufunc.nin
    np.testing.assert_array_equal(function(*state), ufunc(*state))
    raw, whole = best(repeated(ufunc, *state), repeated(function, *state), seconds=seconds)
    return 1e6 * raw, 1e6 * (whole - raw)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    seconds = parser.parse_args().seconds
    model = lw.compile(lw.gallery("six-axis"), threads=1)
    for name in FUNCTIONS:
        raw, extra = extra_cost(model, name, seconds)
        print(f"six-axis, one state, {name}: gufunc {raw:.0f} ns, the call {extra:.0f} ns more")


if __name__ == "__main__":
    main()
