"""What a call from Python costs beside the raw gufunc behind it: part of `make bench`.

    python benchmarks/calls.py [--seconds 1]

Both treat one state; figures are the best of many, the two in turn. A call for one state goes past
the gufunc; a list instead of an array takes the gufunc, and then a call may cost 80 ns more.
"""

from __future__ import annotations

import argparse

import numpy as np
from timing import best, repeated

import linkwright as lw

FUNCTIONS = ("gravity", "bias", "inverse_dynamics")


def call_times(model: lw.Model, name: str, seconds: float) -> list[float]:
    """Nanoseconds of the function of the model and of the raw gufunc; of both with a list."""
    ufunc, function = model.ufunc(name), getattr(model, name)
    state = [np.full(model.nv, 0.1)] * ufunc.nin
    mixed = [[0.1] * model.nv, *state[1:]]
    np.testing.assert_array_equal(function(*state), ufunc(*state))
    np.testing.assert_array_equal(function(*mixed), ufunc(*state))
    calls = [repeated(f, *given) for given in (state, mixed) for f in (function, ufunc)]
    return [1e6 * t for t in best(*calls, seconds=seconds)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each measurement")
    seconds = parser.parse_args().seconds
    model = lw.compile(lw.gallery("six-axis"), threads=1)
    for name in FUNCTIONS:
        one, raw, one_list, raw_list = call_times(model, name, seconds)
        print(
            f"six-axis, one state, {name}: {one:.0f} ns, gufunc {raw:.0f} ns; "
            f"with a list {one_list - raw_list:.0f} ns more than the gufunc"
        )


if __name__ == "__main__":
    main()
