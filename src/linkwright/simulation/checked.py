"""What users give as numbers and mechanisms, checked where it comes in."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..errors import LinkwrightError, span_of_names
from ..mechanism import require_mechanism
from ..types import Floats

MOST_SAMPLES = 10_000_000
"""Of a run: more would fill the memory before the motion begins."""


def number(value: Any, what: str) -> float:
    """A finite number."""
    if not _is_number(value) or not math.isfinite(value):
        raise LinkwrightError(
            f"{what} is {_shown(value)}, no finite number", remedy="give one, in SI units"
        )
    return float(value)


def above_zero(value: Any, what: str, *, or_endless: bool = False) -> float:
    """A number above 0, finite unless said."""
    if not _is_number(value) or not value > 0 or (math.isinf(value) and not or_endless):
        raise LinkwrightError(
            f"{what} cannot be {_shown(value)}", remedy="give a number above 0, in SI units"
        )
    return float(value)


def whole(value: Any, what: str, least: int = 0) -> int:
    """A whole number, NumPy's included."""
    if not isinstance(value, int | np.integer) or value < least:
        raise LinkwrightError(
            f"{what} cannot be {_shown(value)}", remedy=f"give a whole number from {least}"
        )
    return int(value)


def sample_times(t: Any, samples: Any) -> Floats:
    """So many equal times from 0 to t."""
    if not _is_number(t) or not 0 < t < math.inf:
        raise LinkwrightError(f"t must be a number of seconds above 0 (got {_shown(t)})")
    if not isinstance(samples, int | np.integer) or samples < 2:
        raise LinkwrightError(f"samples must be a whole number from 2 (got {_shown(samples)})")
    if samples > MOST_SAMPLES:
        raise LinkwrightError(f"samples cannot be {samples}", remedy=f"give at most {MOST_SAMPLES}")
    return np.linspace(0.0, float(t), int(samples))


def numbers(values: Any, what: str) -> Floats:
    """Finite real numbers, in any shape."""
    try:
        found = np.array(np.nan) if np.iscomplexobj(values) else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if not np.isfinite(found).all():
        raise LinkwrightError(f"{what} has entries that are not finite", remedy="give numbers")
    return found


def vector(values: Any, size: int, what: str, names: Sequence[str] = ()) -> Floats:
    """(size) finite numbers; `names` are those of the entries."""
    try:
        found = np.array(values, dtype=float)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (size,) or not np.isfinite(found).all():
        entries = f": {span_of_names(names)}" if names else ""
        raise LinkwrightError(
            f"{what} is not {size} finite numbers", remedy=f"give {size}{entries}"
        )
    return found


def table(given: Any, what: str) -> dict[str, float]:
    """Finite numbers by name."""
    if not isinstance(given, Mapping):
        raise LinkwrightError(f"{what} is no table", remedy="give numbers by name")
    return {str(name): number(value, f"{what} of '{name}'") for name, value in given.items()}


def check_mechanism(given: Any) -> None:
    require_mechanism(given)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _shown(value: Any) -> str:
    return str(value) if _is_number(value) else repr(value)
