"""Parameters of the runs of an ensemble: their names, and values that the mechanism rejects."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..expressions import Expression, names_in_expression
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism, has_text, part_numbers
from ..number_checks import check_finite_array
from ..types import SX, Floats, VectorLike

MAX_CHECKED_RUNS = 8
"""Runs whose mechanisms are all made to check their parameters: one takes about a millisecond, as
much as twenty runs. Extremes of two or three parameters are about eight runs."""


def read_parameters(
    mechanism: Mechanism, given: Mapping[str, VectorLike] | None, reserved: Sequence[str] = ()
) -> dict[str, Floats]:
    """Return the given values of parameters, one number or text with a unit, or one for each run.

    `reserved` are names of results, which a parameter may not have.
    """
    found = {}
    if given is not None and not isinstance(given, Mapping):
        raise LinkwrightError(
            "parameters are not a table", remedy='give {"m2": 1.5} or {"m2": [1.0, 2.0]}'
        )
    for name, values in (given or {}).items():
        if name not in mechanism.parameters:
            raise NameNotFoundError(
                f"unknown parameter '{name}'",
                where=mechanism.name,
                remedy=suggest_remedy(name, list(mechanism.parameters)),
            )
        if name in reserved:
            raise LinkwrightError(
                f"the parameter '{name}' has the name of a result",
                where=mechanism.name,
                remedy="rename the parameter",
            )
        if has_text(values):
            values = _read_texts(mechanism, name, values)
        found[name] = check_finite_array(values, f"parameters['{name}']")
        if found[name].ndim > 1:
            raise LinkwrightError(
                f"parameters['{name}'] has shape {found[name].shape}",
                remedy="give one number, or one for each run",
            )
    return found


def _read_texts(mechanism: Mechanism, name: str, values: Any) -> Any:
    """Return values of a parameter in SI units; text may have a unit."""
    if isinstance(values, str):
        return float(mechanism.with_parameters(**{name: values}).values[name])
    return [_read_texts(mechanism, name, x) if has_text(x) else x for x in values]


def first_varied_name(
    mechanism: Mechanism, names: Iterable[str], varied: Sequence[str]
) -> str | None:
    """Return a varied parameter among names, or on which one of them depends."""
    pending, seen = list(names), set[str]()
    while pending:
        name = pending.pop()
        if name in varied:
            return name
        if name in mechanism.parameters and name not in seen:
            seen.add(name)
            pending += names_in_expression(mechanism.parameters[name])
    return None


def names_in_tree(mechanism: Mechanism, names: Sequence[str]) -> list[str]:
    """Return those of the parameters on which the kinematic tree depends; others concern contacts
    and friction alone, or nothing."""

    def are_known(some: Sequence[str]) -> bool:
        try:
            build_kinematic_tree(mechanism, some)
        except NameNotFoundError:
            return False
        return True

    return list(names) if are_known(names) else [name for name in names if are_known([name])]


def find_rejected_parameters(
    mechanism: Mechanism, names: Sequence[str], values: Floats
) -> dict[int, LinkwrightError]:
    """Return the runs whose parameters the mechanism rejects, such as negative masses.

    A number of the mechanism is rejected beyond a bound. Of many runs, those in which a number is
    smallest or largest, or nearest to zero, are therefore checked, and from a rejected one the next
    ones up to one that is accepted: a few bad runs cost little.
    """
    found: dict[int, LinkwrightError] = {}

    @cache
    def is_rejected(run: int) -> bool:
        try:
            mechanism.with_parameters(**dict(zip(names, values[run].tolist(), strict=True)))
        except LinkwrightError as error:
            found[run] = error
        return run in found

    if len(values) <= MAX_CHECKED_RUNS:
        return {run: found[run] for run in range(len(values)) if is_rejected(run)}
    numbers = _numbers_of_runs(mechanism, names, values)
    for run in np.flatnonzero(~np.isfinite(numbers).all(axis=0)).tolist():
        is_rejected(run)
    for row in numbers:
        for order in (row, -row, np.abs(row)):
            known = np.where(np.isfinite(row), order, np.inf)
            if is_rejected(int(known.argmin())):
                all(map(is_rejected, np.argsort(known, kind="stable").tolist()))  # up to a good one
    return dict(sorted(found.items()))


def _numbers_of_runs(mechanism: Mechanism, names: Sequence[str], values: Floats) -> Floats:
    """Return the parameters, and all numbers of the mechanism that depend on them, (numbers,
    runs)."""
    symbols = KinematicParameters(mechanism, list(names))
    numbers = [symbols.read_scalar(e, "number") for e in _dependent_numbers(mechanism, names)]
    numbers += [
        symbols.read_scalar(high, "number") - symbols.read_scalar(low, "number")
        for low, high in _limits(mechanism)
    ]
    if not numbers:
        return values.T
    kept = [name for name in names if name in symbols.symbols]
    inputs: SX = ca.vertcat(ca.SX(0, 1), *(symbols.symbols[name] for name in kept))
    function = ca.Function("numbers", [inputs], [ca.vertcat(ca.SX(0, 1), *numbers)])
    columns = values.T[[list(names).index(name) for name in kept]]
    found: Floats = np.asarray(function(columns), dtype=float).reshape(len(numbers), -1)
    return np.vstack([values.T, np.broadcast_to(found, (len(numbers), len(values)))])


def _dependent_numbers(mechanism: Mechanism, varied: Sequence[str]) -> Iterator[Expression]:
    """Yield the numbers of the mechanism's parts that depend on varied parameters. A law of the
    motion, which has other names too (a length L, a rate), is not one of them."""
    for _, number, _ in part_numbers(mechanism):
        names = names_in_expression(number)
        if set(names) <= set(mechanism.parameters) and first_varied_name(mechanism, names, varied):
            yield number


def _limits(mechanism: Mechanism) -> Iterator[tuple[Expression, Expression]]:
    """Yield the lower and upper limits of joints and lengths."""
    for length in mechanism.lengths.values():
        if length.limits.lower is not None and length.limits.upper is not None:
            yield length.limits.lower, length.limits.upper
    for joint in mechanism.joints.values():
        lower, upper = joint.limits.lower, joint.limits.upper
        if lower is not None and upper is not None:
            yield from zip(joint.each(lower), joint.each(upper), strict=True)
