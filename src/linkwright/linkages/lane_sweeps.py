"""Sweeps of the input of many linkages at once, which differ in parameters that one model takes.

They go the way of `sweep_input`. What it does at limit positions, it does for one linkage at a
time: lanes that meet one are lost.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import UnsupportedError
from ..mechanism.mechanism_units import coordinate_units
from ..model.model import Model
from ..simulation.kinematic_lanes import LaneFollower, LaneMotions
from ..types import Floats, Integers
from .input_sweeps import PROBE_WAY, RANGE_SAMPLES, SHORTEST_SWEEP, START_SAMPLES


def sweep_lanes(
    model: Model,
    name: str,
    over: tuple[float, float] | None,
    rough: Floats,
    parameters: Floats | None,
    samples: int,
) -> LaneMotions:
    """Return the motions over input `name`, from rough values of coordinates (lanes, nq).

    Without `over`, inputs that make full turns go from 0 to 2π; the others are lost.
    """
    index = model.names.q.index(name)
    sweeper = _LaneSweeper(LaneFollower(model, [name], parameters))
    lanes = len(rough)
    if over is not None:
        first, last = (np.full(lanes, float(end)) for end in over)
        return sweeper.sweep(first, last, rough, samples)
    if coordinate_units(model.mechanism)[index] != "rad":
        raise UnsupportedError(
            f"the limits of '{name}' are found one by one", where=model.mechanism.name
        )
    home, is_closed = sweeper.follower.close(rough)
    here, zero = home[:, index], np.zeros(lanes)
    turn = sweeper.sweep(here, here + 2 * np.pi, home, RANGE_SAMPLES)
    back = sweeper.sweep(here, zero, home, START_SAMPLES)
    start = np.where((here == 0)[:, None], home, back.q[:, -1])
    probe = sweeper.sweep(zero, zero + PROBE_WAY, start, 3)
    found = sweeper.sweep(zero, zero + 2 * np.pi, start, samples)
    is_followed = is_closed & turn.is_followed & back.is_followed & probe.is_followed
    return replace(found, is_followed=is_followed & found.is_followed)


@dataclass(frozen=True)
class _LaneSweeper:
    """Sweeps at unit rate, from another value of the input in each lane."""

    follower: LaneFollower

    def sweep(self, first: Floats, last: Floats, near: Floats, samples: int) -> LaneMotions:
        """Return the motions from the first to the last values, on the branch near coordinates."""
        is_short = np.abs(last - first) < SHORTEST_SWEEP
        last = np.where(is_short, first + SHORTEST_SWEEP, last)
        direction = np.where(last >= first, 1.0, -1.0)

        def paths(lanes: Integers, t: Floats) -> tuple[Floats, Floats, Floats]:
            values, rates = first[lanes] + direction[lanes] * t, direction[lanes]
            return values[:, None], rates[:, None], np.zeros((len(t), 1))

        times = np.linspace(np.zeros(len(first)), np.abs(last - first), samples, axis=1)
        return self.follower.follow(paths, near, times)
