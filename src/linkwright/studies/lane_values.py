"""Values of measures for many designs at once: numbers, vectors and histories.

A value is an array (designs, times, entries), where an axis of length 1 stands for any length.
`LaneAlgebra` gives the expression language its meaning on such values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ExpressionError
from ..expressions import Unit
from ..types import Booleans, Floats, Integers

LaneArray = NDArray[Any]
"""Real or complex numbers."""


@dataclass(frozen=True, eq=False)
class SampleClock:
    """The times of histories, and how many of its samples each design has reached."""

    times: Floats
    counts: Integers
    unit: str = "s"

    @property
    def is_valid(self) -> Booleans:
        """Which samples there are, (designs, times, 1)."""
        return (np.arange(len(self.times)) < self.counts[:, None])[..., None]


@dataclass(frozen=True, eq=False)
class MeasuredValue:
    """A value of each design; `clock` is that of a history, None for numbers and vectors."""

    array: LaneArray
    clock: SampleClock | None = None

    @property
    def is_history(self) -> bool:
        """Whether the value depends on time."""
        return self.clock is not None


def number_value(values: Any) -> MeasuredValue:
    """Return one number for each design, or one for all."""
    return MeasuredValue(np.asarray(values).reshape(-1, 1, 1))


_ELEMENTWISE: dict[str, Callable[[LaneArray], LaneArray]] = {
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "degrees": np.degrees,
    "radians": np.radians,
    "real": np.real,
    "imag": np.imag,
}
"""Functions of single numbers."""

_ORDERED = ("min", "max", "range", "peak", "rms", "settling_time", "first_time", "time_above")
"""Functions that need real numbers."""

MEASURE_FUNCTIONS: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(_ELEMENTWISE, (1,)),
    "atan2": (2,),
    "min": (1, 2),
    "max": (1, 2),
    "mean": (1,),
    "rms": (1,),
    "peak": (1,),
    "range": (1,),
    "norm": (1,),
    "integral": (1,),
    "derivative": (1,),
    "at": (2,),
    "value_at": (2,),
    "settling_time": (2, 3),
    "first_time": (2,),
    "time_above": (2,),
    "overshoot": (1, 2),
}
"""Functions of measures, with their numbers of arguments."""


@dataclass(frozen=True)
class LaneAlgebra:
    """The meaning of expressions on values of many designs."""

    reductions: dict[str, Callable[[MeasuredValue], MeasuredValue]] = field(
        default_factory=lambda: dict(_REDUCTIONS)
    )

    def number(self, value: Fraction) -> MeasuredValue:
        """Return a literal."""
        return number_value(float(value))

    def pi(self) -> MeasuredValue:
        """Return π."""
        return number_value(np.pi)

    def add(self, terms: Sequence[MeasuredValue]) -> MeasuredValue:
        """Return the sum."""
        return _combine(lambda *parts: sum(parts[1:], parts[0]), terms)

    def multiply(self, factors: Sequence[MeasuredValue]) -> MeasuredValue:
        """Return the product."""

        def product(*parts: LaneArray) -> LaneArray:
            found = parts[0]
            for part in parts[1:]:
                found = found * part
            return found

        return _combine(product, factors)

    def negate(self, operand: MeasuredValue) -> MeasuredValue:
        """Return the negative."""
        return MeasuredValue(-operand.array, operand.clock)

    def reciprocal(self, operand: MeasuredValue) -> MeasuredValue:
        """Return the reciprocal."""
        return MeasuredValue(1.0 / operand.array, operand.clock)

    def power(self, base: MeasuredValue, exponent: MeasuredValue) -> MeasuredValue:
        """Return the power."""
        return _combine(lambda x, y: np.power(x, y), (base, exponent))

    def measure(self, value: MeasuredValue, unit: Unit) -> MeasuredValue:
        """Return a number with a unit in SI units."""
        return MeasuredValue(value.array * float(unit.scale) * np.pi**unit.pi_power, value.clock)

    def call(self, function: str, arguments: Sequence[MeasuredValue]) -> MeasuredValue:
        """Return the value of a function, one of `MEASURE_FUNCTIONS`."""
        first = arguments[0]
        if function in _ORDERED and any(np.iscomplexobj(one.array) for one in arguments):
            raise ExpressionError(
                f"{function} needs real numbers; these are complex",
                remedy="take real(…), imag(…) or abs(…) of them",
            )
        if len(arguments) == 1:
            if function in _ELEMENTWISE:
                return MeasuredValue(_ELEMENTWISE[function](first.array), first.clock)
            return self.reductions[function](first)
        if function in ("min", "max", "atan2"):
            pair = {"min": np.minimum, "max": np.maximum, "atan2": np.arctan2}[function]
            return _combine(pair, arguments)
        return _TIMED[function](*arguments)


def _combine(function: Callable[..., LaneArray], parts: Sequence[MeasuredValue]) -> MeasuredValue:
    """Return a function of values number by number; histories must have the same times."""
    clocks = {id(one.clock): one.clock for one in parts if one.clock is not None}
    if len(clocks) > 1:
        raise ExpressionError(
            "histories of different analyses have different times",
            remedy="reduce each of them first: max(tau1) - max(inverse.tau1)",
        )
    sizes = {one.array.shape[2] for one in parts} - {1}
    if len(sizes) > 1:
        raise ExpressionError(
            f"vectors of {' and '.join(map(str, sorted(sizes)))} entries cannot be combined",
            remedy="name single entries, or reduce them first",
        )
    clock = next(iter(clocks.values()), None)
    return MeasuredValue(function(*(one.array for one in parts)), clock)


def _reduce(
    value: MeasuredValue, function: Callable[..., LaneArray], empty: float
) -> MeasuredValue:
    """Return a function over all times and entries; samples that there are not do not count, nor
    do missing entries of vectors."""
    array = value.array
    if value.clock is not None:
        shape = np.broadcast_shapes(array.shape, value.clock.is_valid.shape)
        array = np.where(value.clock.is_valid, np.broadcast_to(array, shape), empty)
        found = function(array, axis=(1, 2))
        found = np.where(value.clock.counts > 0, found, np.nan)
    else:
        is_missing = np.isnan(array)
        found = function(np.where(is_missing, empty, array), axis=(1, 2))
        found = np.where(is_missing.all(axis=(1, 2)), np.nan, found)
    return number_value(found)


def _largest(value: MeasuredValue) -> MeasuredValue:
    return _reduce(value, np.max, -np.inf)


def _smallest(value: MeasuredValue) -> MeasuredValue:
    return _reduce(value, np.min, np.inf)


def _peak(value: MeasuredValue) -> MeasuredValue:
    return _largest(MeasuredValue(np.abs(value.array), value.clock))


def _range(value: MeasuredValue) -> MeasuredValue:
    return number_value(_largest(value).array - _smallest(value).array)


def _norm(value: MeasuredValue) -> MeasuredValue:
    """Return the Euclidean length over the entries, at each time."""
    return MeasuredValue(
        np.sqrt((np.abs(value.array) ** 2).sum(axis=2, keepdims=True)), value.clock
    )


def _integral(value: MeasuredValue) -> MeasuredValue:
    """Return the integral over time by trapezoids, up to the last sample of each design."""
    clock = _clock_of(value, "integral")
    if clock.counts.size and len(clock.times) < 2:
        return number_value(np.zeros(len(value.array)))
    shape = np.broadcast_shapes(value.array.shape, clock.is_valid.shape)
    array = np.broadcast_to(value.array, shape)
    steps = (array[:, 1:] + array[:, :-1]) / 2 * np.diff(clock.times)[:, None]
    found = np.where(clock.is_valid[:, 1:], steps, 0.0).sum(axis=1, keepdims=True)
    return MeasuredValue(np.where(clock.counts[:, None, None] > 0, found, np.nan))


def _mean(value: MeasuredValue) -> MeasuredValue:
    """Return the mean over time, or that of the entries of a vector."""
    if value.clock is None:
        return number_value(np.nanmean(value.array, axis=(1, 2)))
    clock = value.clock
    length = clock.times[np.maximum(clock.counts - 1, 0)] - clock.times[0]
    found = _integral(value).array / np.where(length > 0, length, np.nan)[:, None, None]
    return MeasuredValue(np.where(length[:, None, None] > 0, found, value.array[:, :1]))


def _rms(value: MeasuredValue) -> MeasuredValue:
    return MeasuredValue(np.sqrt(_mean(MeasuredValue(value.array**2, value.clock)).array))


def _derivative(value: MeasuredValue) -> MeasuredValue:
    """Return the rate of change by second-order differences."""
    clock = _clock_of(value, "derivative")
    if len(clock.times) < 3:
        raise ExpressionError("derivative needs at least 3 samples", remedy="give more samples")
    shape = np.broadcast_shapes(value.array.shape, clock.is_valid.shape)
    array = np.broadcast_to(value.array, shape)
    found = np.gradient(array, clock.times, axis=1, edge_order=2)
    for lane in np.flatnonzero((clock.counts < len(clock.times)) & (clock.counts > 2)):
        part = slice(0, int(clock.counts[lane]))  # the last sample has no neighbour on its right
        found[lane, part] = np.gradient(array[lane, part], clock.times[part], axis=0, edge_order=2)
    return MeasuredValue(found, clock)


def _overshoot(value: MeasuredValue) -> MeasuredValue:
    """Return how far a history passes its end, as a share of the way from its start."""
    return _overshoot_of(value, _entry(value, -1))


def _overshoot_of(value: MeasuredValue, target: MeasuredValue) -> MeasuredValue:
    first = _entry(value, 0).array
    way = target.array - first
    clock = _clock_of(value, "overshoot")
    with np.errstate(all="ignore"):
        found = _largest(MeasuredValue((value.array - target.array) / way, clock)).array
    return number_value(np.where(np.isfinite(found), np.maximum(found, 0.0), np.nan))


_REDUCTIONS: dict[str, Callable[[MeasuredValue], MeasuredValue]] = {
    "max": _largest,
    "min": _smallest,
    "peak": _peak,
    "range": _range,
    "norm": _norm,
    "integral": _integral,
    "mean": _mean,
    "rms": _rms,
    "derivative": _derivative,
    "overshoot": _overshoot,
}


def _clock_of(value: MeasuredValue, function: str) -> SampleClock:
    if value.clock is None:
        raise ExpressionError(f"{function} needs a history; this is a number or a vector")
    return value.clock


def _single_number(value: MeasuredValue, function: str) -> float:
    """Return the number of an argument that must be the same for all designs."""
    if value.array.size != 1:
        raise ExpressionError(f"{function} needs a plain number as its last argument")
    return float(np.real(value.array.item()))


def _index(value: MeasuredValue, number: MeasuredValue) -> MeasuredValue:
    place = _single_number(number, "an index")
    if place != int(place):
        raise ExpressionError(
            f"the index {place:g} is not a whole number", remedy="value_at(x, 0.5) takes a time"
        )
    return _entry(value, int(place))


def _entry(value: MeasuredValue, place: int) -> MeasuredValue:
    """Return a sample of a history, −1 the last that a design reached; or an entry of a vector."""
    array, clock = value.array, value.clock
    size = array.shape[2] if clock is None else len(clock.times)
    if not -size <= place < size:
        what = "entries" if clock is None else "samples"
        raise ExpressionError(f"the index {place} is beyond the {size} {what}")
    if clock is None:
        return MeasuredValue(array[:, :, place, None])
    array = np.broadcast_to(array, np.broadcast_shapes(array.shape, clock.is_valid.shape))
    rows = clock.counts + place if place < 0 else np.full(len(clock.counts), place)
    found = array[np.arange(len(array)), np.clip(rows, 0, size - 1)][:, None, :]
    return MeasuredValue(
        np.where(((rows >= 0) & (rows < clock.counts))[:, None, None], found, np.nan)
    )


def _value_at(value: MeasuredValue, moment: MeasuredValue) -> MeasuredValue:
    """Return a history at a time, between samples linearly; NaN where a design has ended."""
    clock, t = _clock_of(value, "value_at"), _single_number(moment, "value_at")
    if not clock.times[0] <= t <= clock.times[-1]:
        raise ExpressionError(
            f"the time {t:g} is not in {clock.times[0]:g} … {clock.times[-1]:g} {clock.unit}"
        )
    k = int(np.clip(np.searchsorted(clock.times, t, side="right") - 1, 0, len(clock.times) - 2))
    share = (t - clock.times[k]) / (clock.times[k + 1] - clock.times[k])
    low, high = _entry(value, k).array, _entry(value, k + 1).array
    return MeasuredValue(low if share == 0 else low + share * (high - low))


def _settling_time(
    value: MeasuredValue, band: MeasuredValue, target: MeasuredValue | None = None
) -> MeasuredValue:
    """Return the time after which a history stays within a band about its end, or a target;
    infinite if it never does."""
    clock = _clock_of(value, "settling_time")
    goal = _entry(value, -1) if target is None else target
    if (band.array < 0).any():
        raise ExpressionError("settling_time needs a band that is not negative")
    outside = ~(np.abs(value.array - goal.array) <= band.array)  # NaN is not inside
    outside = (outside & clock.is_valid).any(axis=2)
    size = len(clock.times)
    last = np.where(outside.any(axis=1), size - 1 - np.argmax(outside[:, ::-1], axis=1), -1)
    times = np.append(clock.times, np.inf)
    found = np.where(last + 1 < clock.counts, times[np.minimum(last + 1, size)], np.inf)
    return number_value(np.where(clock.counts > 0, found, np.nan))


def _first_time(value: MeasuredValue, level: MeasuredValue) -> MeasuredValue:
    """Return the first time at which a history reaches a level; NaN if it never does."""
    clock = _clock_of(value, "first_time")
    gap = (value.array - level.array)[:, :, 0]
    gap = np.broadcast_to(gap, (len(clock.counts), len(clock.times)))
    is_there = gap == 0
    crosses = np.zeros_like(is_there)
    crosses[:, 1:] = gap[:, 1:] * gap[:, :-1] < 0
    either = (is_there | crosses) & clock.is_valid[..., 0]
    k = np.argmax(either, axis=1)
    rows = np.arange(len(gap))
    before = np.maximum(k - 1, 0)
    with np.errstate(all="ignore"):
        share = np.where(
            is_there[rows, k], 1.0, gap[rows, before] / (gap[rows, before] - gap[rows, k])
        )
    found = clock.times[before] + share * (clock.times[k] - clock.times[before])
    return number_value(np.where(either.any(axis=1), found, np.nan))


def _time_above(value: MeasuredValue, level: MeasuredValue) -> MeasuredValue:
    """Return how long a history is above a level: samples, each with its share of the time."""
    clock = _clock_of(value, "time_above")
    above = MeasuredValue(np.where(value.array > level.array, 1.0, 0.0), clock)
    return number_value(_integral(above).array[:, 0, 0])


_TIMED: dict[str, Callable[..., MeasuredValue]] = {
    "at": _index,
    "value_at": _value_at,
    "settling_time": _settling_time,
    "first_time": _first_time,
    "time_above": _time_above,
    "overshoot": _overshoot_of,
}
