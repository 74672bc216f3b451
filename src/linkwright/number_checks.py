"""Checks of the numbers and arrays that users give: what is not right is an error that names it.

Every function returns what was given as floats, and takes `what`, the name of the argument, for its
message.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from .errors import ArgumentError, abbreviate_names
from .types import Floats


def is_number(value: Any) -> bool:
    """Whether a value is one real number; a truth value is not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def value_text(value: Any) -> str:
    """A value in a message."""
    return str(value) if is_number(value) else repr(value)


def check_number(value: Any, what: str) -> float:
    """A finite number."""
    if not is_number(value) or not math.isfinite(value):
        raise ArgumentError(
            f"{what} is {value_text(value)}, which is not a finite number",
            remedy="give one, in SI units",
        )
    return float(value)


def check_positive(value: Any, what: str, *, or_infinite: bool = False) -> float:
    """A number above 0, finite unless infinity is allowed."""
    if not is_number(value) or not value > 0 or (math.isinf(value) and not or_infinite):
        raise ArgumentError(
            f"{what} cannot be {value_text(value)}", remedy="give a number above 0, in SI units"
        )
    return float(value)


def check_whole_number(value: Any, what: str, least: int = 0) -> int:
    """A whole number, NumPy's included."""
    if not isinstance(value, int | np.integer) or value < least:
        raise ArgumentError(
            f"{what} cannot be {value_text(value)}", remedy=f"give a whole number from {least}"
        )
    return int(value)


def check_number_table(given: Any, what: str) -> dict[str, float]:
    """Finite numbers by name."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what} is not a table", remedy="give numbers by name")
    return {str(name): check_number(value, f"{what} of '{name}'") for name, value in given.items()}


def read_number_array(values: Any) -> Floats | None:
    """Real numbers in any shape, NaN and infinity included; None where they are not numbers."""
    try:
        return None if np.iscomplexobj(values) else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None


def check_finite_array(values: Any, what: str) -> Floats:
    """Finite numbers in any shape."""
    found = read_number_array(values)
    if found is None or not np.isfinite(found).all():
        raise ArgumentError(f"{what} has entries that are not finite", remedy="give numbers")
    return found


def check_number_list(values: Any, what: str) -> Floats:
    """(n) finite numbers, at least one; a number stands for a list of it."""
    found = read_number_array(values)
    if found is None or found.ndim > 1 or not found.size or not np.isfinite(found).all():
        raise ArgumentError(f"{what} is not a list of finite numbers", remedy="give numbers")
    return np.atleast_1d(found)


def check_vector(
    values: Any, size: int, what: str, names: Sequence[str] = (), *, where: str = "",
    remedy: str = "",
) -> Floats:  # fmt: skip
    """(size) finite numbers, a copy; `names` are those of the entries."""
    found = read_number_array(values)
    if found is None or found.shape != (size,) or not np.isfinite(found).all():
        raise _vector_error(size, what, names, where, remedy)
    return found.copy()


def check_vector_rows(
    values: Any, size: int, what: str, names: Sequence[str] = (), *, where: str = ""
) -> Floats:
    """(…, size) finite numbers; `names` are those of the entries."""
    found = read_number_array(values)
    if found is None or found.shape[-1:] != (size,) or not np.isfinite(found).all():
        raise _vector_error(size, what, names, where)
    return found


def _vector_error(
    size: int, what: str, names: Sequence[str], where: str = "", remedy: str = ""
) -> ArgumentError:
    entries = f": {abbreviate_names(names)}" if names else ""
    wanted = remedy or f"give {size}{entries}"
    return ArgumentError(f"{what} is not {size} finite numbers", where=where, remedy=wanted)


def check_scalar_or_vector(
    values: Any, size: int, what: str, *, or_infinite: bool = False
) -> Floats:
    """(size) numbers, given as one for all or one for each; finite unless infinity is allowed."""
    found = read_number_array(values)
    if found is not None and found.shape in ((), (1,), (size,)):
        wrong = np.isnan(found) if or_infinite else ~np.isfinite(found)
        if not wrong.any():
            return np.array(np.broadcast_to(found, (size,)))
    finite = "" if or_infinite else "finite "
    raise ArgumentError(
        f"{what} must be 1 or {size} {finite}numbers (got {_short_value_text(values)})"
    )


def _short_value_text(values: Any) -> str:
    """The given value, in a message that stays a line."""
    text = " ".join(value_text(values).split())
    return text if len(text) <= 40 else text[:39] + "…"
