"""Checks of the times and starts that users give to simulations."""

from __future__ import annotations

import math

import numpy as np

from ..errors import LinkwrightError
from ..number_checks import is_number, value_text
from ..types import Floats

MOST_SAMPLES = 10_000_000
"""The largest number of samples of a run: more would fill the memory before the motion begins."""


def sample_times(t: object, samples: object) -> Floats:
    """Return equally spaced times from 0 to t."""
    if not is_number(t) or not 0 < t < math.inf:
        raise LinkwrightError(f"t must be a number of seconds above 0 (got {value_text(t)})")
    if not isinstance(samples, int | np.integer) or samples < 2:
        raise LinkwrightError(f"samples must be a whole number from 2 (got {value_text(samples)})")
    if samples > MOST_SAMPLES:
        raise LinkwrightError(f"samples cannot be {samples}", remedy=f"give at most {MOST_SAMPLES}")
    return np.linspace(0.0, float(t), int(samples))
