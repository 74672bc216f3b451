"""Checks of the numbers and arrays that users give, with error messages that name them.

Each function returns the given value as floats. Its argument `what` is the name of the value in the
message.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike

from .errors import ArgumentError, abbreviate_names
from .types import Floats


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is one real number; a truth value is not."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def value_text(value: object) -> str:
    """The value as it is written in a message."""
    return str(value) if is_number(value) else repr(value)


def check_number(value: object, what: str) -> float:
    """The value as a finite float, or an error."""
    if not is_number(value) or not math.isfinite(value):
        raise ArgumentError(
            f"{what} is {value_text(value)}, which is not a finite number",
            remedy="give one, in SI units",
        )
    return float(value)


def check_positive(value: object, what: str, *, or_infinite: bool = False) -> float:
    """The value as a float above 0, finite unless infinity is allowed, or an error."""
    if not is_number(value) or not value > 0 or (math.isinf(value) and not or_infinite):
        raise ArgumentError(
            f"{what} cannot be {value_text(value)}", remedy="give a number above 0, in SI units"
        )
    return float(value)


def check_whole_number(value: object, what: str, least: int = 0) -> int:
    """The value as an integer from `least` on, or an error; NumPy's integers are accepted."""
    if not isinstance(value, int | np.integer) or value < least:
        raise ArgumentError(
            f"{what} cannot be {value_text(value)}", remedy=f"give a whole number from {least}"
        )
    return int(value)


def check_number_table(given: object, what: str) -> dict[str, float]:
    """The given table as finite floats by name, or an error."""
    if not isinstance(given, Mapping):
        raise ArgumentError(f"{what} is not a table", remedy="give numbers by name")
    return {str(name): check_number(value, f"{what} of '{name}'") for name, value in given.items()}


def read_number_array(values: object) -> Floats | None:
    """The values as an array of floats of any shape, or None if they are not real numbers.

    NaN and infinity are accepted.
    """
    try:
        return None if np.iscomplexobj(cast(ArrayLike, values)) else np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        return None


def check_finite_array(values: object, what: str) -> Floats:
    """The values as an array of finite floats of any shape, or an error."""
    found = read_number_array(values)
    if found is None:
        raise ArgumentError(
            f"{what} is not an array of numbers (got {shorten_value_text(values)})",
            remedy="give numbers",
        )
    if not np.isfinite(found).all():
        raise ArgumentError(f"{what} has entries that are not finite", remedy="give numbers")
    return found


def check_number_list(values: object, what: str) -> Floats:
    """The values as (n) finite floats, n at least 1, or an error; one number is a list of one."""
    found = read_number_array(values)
    if found is None or found.ndim > 1 or not found.size or not np.isfinite(found).all():
        raise ArgumentError(f"{what} is not a list of finite numbers", remedy="give numbers")
    return np.atleast_1d(found)


def check_vector(
    values: object,
    size: int,
    what: str,
    names: Sequence[str] = (),
    *,
    where: str = "",
    remedy: str = "",
) -> Floats:
    """The values as (size) finite floats, copied, or an error; `names` are those of the entries."""
    found = read_number_array(values)
    if found is None or found.shape != (size,) or not np.isfinite(found).all():
        raise _vector_error(size, what, names, where, remedy)
    return found.copy()


def check_vector_rows(
    values: object, size: int, what: str, names: Sequence[str] = (), *, where: str = ""
) -> Floats:
    """The values as (…, size) finite floats, or an error; `names` are those of the entries."""
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
    values: object, size: int, what: str, *, or_infinite: bool = False
) -> Floats:
    """(size) floats from one number for all entries or one for each, or an error.

    They must be finite unless infinity is allowed.
    """
    found = read_number_array(values)
    if found is not None and found.shape in ((), (1,), (size,)):
        wrong = np.isnan(found) if or_infinite else ~np.isfinite(found)
        if not wrong.any():
            return np.array(np.broadcast_to(found, (size,)))
    finite = "" if or_infinite else "finite "
    raise ArgumentError(
        f"{what} must be 1 or {size} {finite}numbers (got {shorten_value_text(values)})"
    )


def shorten_value_text(values: object) -> str:
    """The given value, shortened to fit a line of a message."""
    text = " ".join(value_text(values).split())
    return text if len(text) <= 40 else text[:39] + "…"
