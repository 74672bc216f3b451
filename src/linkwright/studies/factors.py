"""Factors of a study: what is varied, and over which values."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentError, LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import expression_to_float, parse_expression
from ..mechanism import Mechanism, mechanism_names, read_coordinate_numbers
from ..number_checks import is_number
from ..types import Floats, Integers

FactorValue = float | str
"""A value of a factor: a number in SI units, or a text such as the name of a formulation."""

STARTS = ("q0", "qd0")
TABLES = (*STARTS, "torque", "control", "parameters")
"""Words before the dot of a factor's name."""
CHOICES = ("by", "integrator")
"""Settings that are factors themselves."""

DISTRIBUTIONS = {"uniform": 2, "loguniform": 2, "normal": 2}
"""Distributions with their numbers: both ends, or mean and standard deviation."""

_CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")


@dataclass(frozen=True)
class Factor:
    """Something that differs between designs.

    Attributes
    ----------
    name : str
        As given: "m2", "q0.q1", "torque.q1", "control.kp", "by".
    table, key : str
        The varied quantity: "parameters" and "m2", "q0" and "q1", "by" and "".
    distribution : str
        "uniform", "loguniform" or "normal"; empty for single values.
    numbers : tuple of float
        The ends of the range, or mean and standard deviation.
    levels : tuple of float or str
        Single values.
    """

    name: str
    table: str
    key: str
    distribution: str = ""
    numbers: tuple[float, ...] = ()
    levels: tuple[FactorValue, ...] = ()

    @property
    def has_text(self) -> bool:
        """Whether values are texts."""
        return bool(self.levels) and isinstance(self.levels[0], str)

    @property
    def is_number(self) -> bool:
        """Whether values are numbers."""
        return not self.has_text

    def values_at(self, shares: Floats) -> Floats:
        """Return the values at shares of the probability, 0 to 1; for texts their numbers."""
        if self.levels:
            numbers = np.minimum((shares * len(self.levels)).astype(int), len(self.levels) - 1)
            return self.values_of_levels(numbers)
        low, high = self.numbers
        if self.distribution == "uniform":
            found = low + shares * (high - low)
        elif self.distribution == "loguniform":
            found = np.exp(np.log(low) + shares * (np.log(high) - np.log(low)))
        else:
            from scipy.special import ndtri

            inside = np.clip(shares, 2.0**-53, 1 - 2.0**-53)
            found = low + high * ndtri(inside)
        return np.asarray(found, dtype=float)

    def values_of_levels(self, numbers: Integers) -> Floats:
        """Return the values of levels by their numbers; for texts the numbers themselves."""
        if self.has_text:
            return np.asarray(numbers, dtype=float)
        found: Floats = np.array(self.levels, dtype=float)[np.asarray(numbers, dtype=int)]
        return found

    def with_points(self, count: int) -> Factor:
        """Return the factor with `count` levels in place of a range; levels stay as they are."""
        if self.levels:
            return self
        ends = self.distribution != "normal"
        shares = np.linspace(0, 1, count) if ends else (np.arange(count) + 0.5) / count
        found = self.values_at(np.array([0.5]) if count == 1 else shares)
        return Factor(self.name, self.table, self.key, levels=tuple(map(float, found)))

    def to_json(self) -> dict[str, object]:
        """Return the factor as data."""
        found: dict[str, object] = {"name": self.name, "table": self.table, "key": self.key}
        if self.levels:
            return {**found, "levels": list(self.levels)}
        return {**found, "distribution": self.distribution, "numbers": list(self.numbers)}

    @classmethod
    def from_json(cls, data: Mapping[str, object]) -> Factor:
        """Return the factor of data."""
        given = {key: tuple(x) if isinstance(x, list) else x for key, x in data.items()}
        return cls(**given)  # type: ignore[arg-type]

    def summary(self) -> str:
        """Return the factor in a few words."""
        if self.levels:
            shown = [f"{x:.6g}" if isinstance(x, float) else str(x) for x in self.levels]
            return ", ".join(shown) if len(shown) <= 6 else f"{len(shown)} values"
        low, high = (f"{x:.6g}" for x in self.numbers)
        return (
            f"{low} … {high}"
            if self.distribution == "uniform"
            else f"{self.distribution}({low}, {high})"
        )


def read_factors(
    mechanism: Mechanism, vary: Mapping[str, object], control: Mapping[str, object] | None
) -> tuple[Factor, ...]:
    """Return the factors that a user gives by name."""
    if not isinstance(vary, Mapping) or not vary:
        raise ArgumentError(
            "vary is not a table with factors",
            remedy='give {"m2": (0.5, 1.5)}, a pandas.DataFrame, or a .csv or .parquet file',
        )
    return tuple(_read_factor(mechanism, str(name), given, control) for name, given in vary.items())


def _read_factor(
    mechanism: Mechanism, name: str, given: object, control: Mapping[str, object] | None
) -> Factor:
    table, key = _find_target(mechanism, name, control)
    read = _reader_of(mechanism, table, key, name)
    try:
        distribution, values = _split_values(given, name)
        if distribution:
            numbers = tuple(_number_of(read(one), name) for one in values)
            _check_distribution(distribution, numbers, name)
            return Factor(name, table, key, distribution, numbers)
        levels = tuple(read(one) for one in values)
    except LinkwrightError as error:
        raise error.within(f"vary '{name}'") from None
    if not levels:
        raise ArgumentError(f"the factor '{name}' has no values", remedy="give a range or a list")
    if any(isinstance(x, str) for x in levels):
        levels = tuple(map(str, levels))
    return Factor(name, table, key, levels=levels)


def _find_target(
    mechanism: Mechanism, name: str, control: Mapping[str, object] | None
) -> tuple[str, str]:
    """Return the table and the key of a factor's name."""
    if name in CHOICES:
        return name, ""
    if name in mechanism.parameters:
        return "parameters", name
    table, _, key = name.partition(".")
    names = mechanism_names(mechanism)
    known = {
        "q0": list(names.q),
        "qd0": [*names.qd, *mechanism.speeds],
        "torque": list(mechanism.actuators) or list(names.qd),
        "control": [] if control is None else [*control],
        "parameters": list(mechanism.parameters),
    }
    if table == "control" and key and control is None:
        raise ArgumentError(
            f"'{name}' needs a controller", remedy='give control={"controller": "pid", …}'
        )
    if key and table == "control":
        return table, key
    if key and table in known and key in known[table]:
        return table, key
    if key and table in known:
        raise NameNotFoundError(
            f"unknown name '{key}' for {table}",
            where=f"vary '{name}'",
            remedy=suggest_remedy(key, known[table]),
        )
    every = [*mechanism.parameters, *(f"q0.{q}" for q in names.q), *(f"qd0.{q}" for q in names.qd)]
    every += [*(f"torque.{one}" for one in known["torque"]), *CHOICES]
    raise NameNotFoundError(
        f"'{name}' is not a factor of {mechanism.name}", remedy=suggest_remedy(name, every)
    )


def _reader_of(
    mechanism: Mechanism, table: str, key: str, name: str
) -> Callable[[object], FactorValue]:
    """Return the function that reads one value of a factor, in SI units."""

    def read(given: object) -> FactorValue:
        if isinstance(given, np.generic):
            given = given.item()
        if is_number(given):
            if not np.isfinite(float(given)):
                raise ArgumentError(
                    f"the factor '{name}' has the value {given}", remedy="give finite numbers"
                )
            return float(given)
        if not isinstance(given, str):
            raise ArgumentError(
                f"the factor '{name}' has the value {given!r}", remedy="give numbers or texts"
            )
        if table in CHOICES:
            return given
        plain = _plain_number(given)
        if plain is not None:  # a design that the mechanism rejects is a failure, no mistake here
            return plain
        if table in ("torque", "control"):
            try:
                return expression_to_float(parse_expression(given))
            except (LinkwrightError, ValueError):
                return given
        if table == "parameters":
            return float(mechanism.with_parameters(**{key: given}).values[key])
        if table == "qd0" and key in mechanism.speeds:
            return expression_to_float(parse_expression(given))
        found = read_coordinate_numbers(mechanism, {key: given}, table)
        return float(found[key])

    return read


def _plain_number(text: str) -> float | None:
    """Return a number without a unit, None for another text."""
    try:
        found = float(text)
    except ValueError:
        return None
    return found if np.isfinite(found) else None


def _split_values(given: object, name: str) -> tuple[str, list[object]]:
    """Return the distribution and its values; an empty name for single values."""
    if isinstance(given, tuple) and len(given) == 2:
        return "uniform", list(given)
    if isinstance(given, str):
        return _split_text(given)
    if hasattr(given, "__array__"):  # arrays, columns of pandas
        return "", list(np.asarray(given).ravel())
    if isinstance(given, Sequence):
        return "", list(given)
    if is_number(given):
        return "", [given]
    raise ArgumentError(
        f"the factor '{name}' has the values {given!r}",
        remedy='give a range (0.5, 1.5), a list [1, 2], or text: "0.5..1.5", "normal(1, 0.1)"',
    )


def _split_text(text: str) -> tuple[str, list[object]]:
    call = _CALL.fullmatch(text)
    if call is not None and call[1] in DISTRIBUTIONS:
        return call[1], [part.strip() for part in call[2].split(",")]
    if ".." in text:
        return "uniform", [part.strip() for part in text.split("..")]
    depth, parts = 0, [""]
    for letter in text:  # commas of calls do not separate values
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return "", [part.strip() for part in parts]


def _number_of(value: FactorValue, name: str) -> float:
    if isinstance(value, str):
        raise ArgumentError(
            f"'{value}' is not a number of the factor '{name}'", remedy="give numbers"
        )
    return value


def _check_distribution(distribution: str, numbers: tuple[float, ...], name: str) -> None:
    """Raise for ranges that do not rise, and deviations that are not positive."""
    if len(numbers) != DISTRIBUTIONS[distribution]:
        raise ArgumentError(
            f"{distribution} of the factor '{name}' takes 2 numbers (got {len(numbers)})",
            remedy=f"write {distribution}(1, 2)",
        )
    low, high = numbers
    if distribution == "normal" and high <= 0:
        raise ArgumentError(
            f"the standard deviation of the factor '{name}' is {high:g}", remedy="give above 0"
        )
    if distribution != "normal" and not low < high:
        raise ArgumentError(
            f"the range {low:g}..{high:g} of the factor '{name}' does not rise",
            remedy="give the smaller number first, or a list for one value",
        )
    if distribution == "loguniform" and low <= 0:
        raise ArgumentError(
            f"the range of the factor '{name}' begins at {low:g}",
            remedy="a logarithmic range begins above 0",
        )
