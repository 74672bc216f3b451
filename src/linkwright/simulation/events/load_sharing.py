"""Which sticking joints hold a motion that several of them could hold, as joints of a loop.

The others depend on them, and ride along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...integrators.push_solver import DEPENDENT_SHARE
from ...types import Floats

FREE = 1.0
"""The value of an event function for an event that cannot happen in a mode."""

NO_FORCE = 1e-13
"""Forces below this are zero except for rounding, N or N m: a contact without load stays closed
instead of opening again and again."""


def find_holders(W: Floats, held: Sequence[int], room: Mapping[int, float]) -> list[int]:
    """Return the rows of joints that hold a motion beside rows that are `held`.

    W are the responses of rows to forces of rows. `room` is how much more each row of a joint can
    bear: those with most room come first.
    """
    left, found = W.copy(), list[int]()
    for i in [*held, *sorted(room, key=lambda i: -room[i])]:
        if left[i, i] > DEPENDENT_SHARE * W[i, i]:
            left -= np.outer(left[:, i], left[i]) / left[i, i]
            found.append(i)
    return [i for i in found if i in room]
