"""What drives a simulated mechanism: constants, expressions, tables over time, functions.

All become τ(t, q, q̇), (nv) forces along the speeds; with actuators, of u by τ = B u.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..equations import Equations
from ..errors import LinkwrightError, NameNotFoundError, suggest
from ..expressions import parse
from ..kinematics.values import read_expression
from .feedback import Feedback

Floats = NDArray[np.float64]
Drive = Callable[[float, Floats, Floats], Floats]


def drive_of(equations: Equations, given: Any) -> Drive | Feedback:
    """τ(t, q, q̇) from what a user gives: nothing, numbers, a table by name, a function; or the
    law of a controller."""
    n = equations.nv
    if isinstance(given, Feedback):
        given.check_fits(equations.nq, n, equations.mechanism.name)
        return given
    if given is None:
        rest = np.zeros(n)
        return lambda t, q, qd: rest
    if callable(given):
        return lambda t, q, qd: _sized(given(t, q, qd), n)
    if isinstance(given, Mapping):
        return _by_name(equations, given)
    constant = _sized(given, n)
    return lambda t, q, qd: constant


def _sized(values: Any, n: int) -> Floats:
    found = np.asarray(values, dtype=float)
    if found.shape != (n,):
        raise LinkwrightError(f"the drives have shape {found.shape}", remedy=f"give {n} numbers")
    return found


def _by_name(equations: Equations, given: Mapping[str, Any]) -> Drive:
    """Of single speeds or actuators: numbers, expressions of t, q, qd, or tables (t, values)."""
    tables = {k: _table(k, v) for k, v in given.items() if not isinstance(v, str | int | float)}
    plain = {k: v for k, v in given.items() if k not in tables}
    function = _compiled(equations, plain, list(tables))

    def drive(t: float, q: Floats, qd: Floats) -> Floats:
        inputs = np.array([np.interp(t, *table) for table in tables.values()])
        return np.asarray(function(q, qd, t, inputs), dtype=float).ravel()

    return drive


def _table(name: str, given: Any) -> tuple[Floats, Floats]:
    """Times and values, which are interpolated."""
    try:
        times, values = (np.asarray(x, dtype=float) for x in given)
    except (TypeError, ValueError):
        raise LinkwrightError(
            f"'{name}' is driven by neither a number, text, nor (times, values)",
            remedy="give one of these",
        ) from None
    if times.ndim != 1 or times.shape != values.shape or (np.diff(times) <= 0).any():
        raise LinkwrightError(
            f"the table of '{name}' needs rising times and as many values",
            remedy="give two lists of one length",
        )
    return times, values


def _compiled(
    equations: Equations, given: Mapping[str, Any], tabled: Sequence[str]
) -> Any:  # fmt: skip
    """τ as a function of q, q̇, t and the tables' values."""
    s = equations.symbols
    extra = ca.SX.sym("table", len(tabled))
    tables = dict(zip(tabled, ca.vertsplit(extra) if tabled else [], strict=True))
    tau = expressions_of(equations, {**given, **tables})
    p = [float(value) for value in equations.parameters.values()]
    if p:
        tau = ca.substitute(tau, s["p"], ca.DM(p))
    return ca.Function("drive", [s["q"], s["qd"], s["t"], extra], [tau])


def expressions_of(equations: Equations, given: Mapping[str, Any]) -> Any:
    """τ = B u of drives by name: numbers, symbols, or texts of t, q, qd, which are parsed and
    never evaluated."""
    s, names = equations.symbols, equations.names
    drives = list(names.actuators) or list(names.qd)
    for name in given:
        if name not in drives:
            raise NameNotFoundError(f"there is no drive '{name}'", remedy=suggest(name, drives))
    scope = dict(zip(names.q, ca.vertsplit(s["q"]), strict=True)) | {"t": s["t"]}
    scope |= {f"d{n}": x for n, x in zip(names.qd, ca.vertsplit(s["qd"]), strict=True)}
    values = {
        name: read_expression(equations.mechanism, parse(value), scope)
        if isinstance(value, str)
        else value
        for name, value in given.items()
    }
    u = ca.vertcat(*(values.get(name, 0.0) for name in drives))
    return equations.expressions("input_matrix")[0] @ u
