"""Events that a user gives: when something passes zero, note it, stop, or change the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ...algebra.array_functions import ArrayFunction
from ...equations import Equations
from ...errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ...expressions import parse_expression
from ...kinematics.parameter_values import read_kinematic_expression
from ...types import SX, Floats

DIRECTIONS = {"any": 0, "rising": 1, "falling": -1}
ACTIONS = ("record", "stop")


@dataclass(frozen=True)
class Event:
    """`when` passes zero: an expression of t, coordinates and speeds ("q1 - 0.5", "dq1"), or a
    function of (t, q, q̇). Then `action`: "record", "stop", a table of new values by coordinate and
    speed ({"dq1": "-0.8*dq1"}), or a function of (t, q, q̇) that returns new (q, q̇)."""

    when: Any
    action: Any = "record"
    direction: str = "any"


@dataclass(frozen=True)
class Watched:
    """An event ready to be evaluated."""

    name: str
    value: Callable[[float, Floats, Floats], float]
    change: Callable[[float, Floats, Floats], tuple[Floats, Floats]] | None
    stops: bool
    sign: int
    sets: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Places of the coordinates and speeds that a table gives; a function gives whole states."""
    expression: SX | None = None
    """Of the equations' t, q and q̇, where the event is given as text."""


def watched_events(equations: Equations, given: Mapping[str, Any] | None) -> list[Watched]:
    """From text, a function, a table of the fields of `Event`, or an `Event`, by name."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise LinkwrightError("events are no table", remedy='give {"name": "expression", …}')
    return [_watched(equations, str(name), event) for name, event in given.items()]


def _watched(equations: Equations, name: str, given: Any) -> Watched:
    event = _event(name, given)
    where = f"events.{name}"
    if not isinstance(event.direction, str) or event.direction not in DIRECTIONS:
        raise LinkwrightError(
            f"{event.direction!r} is no direction", where=where,
            remedy=f"use {', '.join(DIRECTIONS)}",
        )  # fmt: skip
    value = _value(equations, event.when, where)
    change, sets = None, None
    if isinstance(event.action, Mapping):
        places = _places(equations, event.action, where)
        change = _changes(equations, event.action, places, where)
        sets = tuple(k for p, k in places if not p), tuple(k for p, k in places if p)
    elif callable(event.action):
        change = _own_change(equations, event.action, where)
    elif event.action not in ACTIONS:
        raise LinkwrightError(
            f"{event.action!r} is no action", where=where,
            remedy="use record, stop, a table of new values, or a function of (t, q, qd)",
        )  # fmt: skip
    sign = DIRECTIONS[event.direction]
    text = event.when if isinstance(event.when, str) else None
    expression = None if text is None else _expressions(equations, [text])
    return Watched(name, value, change, event.action == "stop", sign, sets, expression)


def _event(name: str, given: Any) -> Event:
    if isinstance(given, Event):
        return given
    if isinstance(given, Mapping):
        unknown = [key for key in given if key not in ("when", "action", "direction")]
        if unknown or "when" not in given:
            what = f"unknown key '{unknown[0]}'" if unknown else "has no 'when'"
            remedy = "use when, action, direction"
            raise LinkwrightError(what, where=f"events.{name}", remedy=remedy)
        return Event(**given)
    return Event(given)


def _scope(equations: Equations) -> dict[str, Any]:
    s, names = equations.symbols, equations.names
    scope = dict(zip(names.q, ca.vertsplit(s["q"]), strict=True)) | {"t": s["t"]}
    return scope | {f"d{n}": x for n, x in zip(names.qd, ca.vertsplit(s["qd"]), strict=True)}


def _expressions(equations: Equations, texts: list[str]) -> SX:
    scope = _scope(equations)
    found: SX = ca.vertcat(
        *(
            read_kinematic_expression(equations.mechanism, parse_expression(text), scope)
            for text in texts
        )
    )
    return found


def _compiled(equations: Equations, texts: list[str]) -> ArrayFunction:
    s = equations.symbols
    inputs = [s["q"], s["qd"], s["t"]]
    return ArrayFunction(ca.Function("event", inputs, [_expressions(equations, texts)]))


def _value(equations: Equations, when: Any, where: str) -> Callable[[float, Floats, Floats], float]:
    if isinstance(when, str):
        function = _compiled(equations, [when])
        return lambda t, q, qd: float(function(q, qd, t)[0][0, 0])
    if not callable(when):
        raise LinkwrightError(
            f"{when!r} is neither text nor a function", where=where, remedy="give one of these"
        )

    def value(t: float, q: Floats, qd: Floats) -> float:
        found = np.asarray(when(t, q, qd), dtype=float)
        if found.size != 1:
            raise LinkwrightError("gives no number", where=where, remedy="return one")
        return float(found.reshape(()))

    return value


def _places(equations: Equations, table: Mapping[str, Any], where: str) -> list[tuple[int, int]]:
    """Of what is changed: 0 and the place of a coordinate, 1 and the place of a speed."""
    names = equations.names
    places = {name: (0, k) for k, name in enumerate(names.q)}
    places |= {f"d{name}": (1, k) for k, name in enumerate(names.qd)}
    for name in table:
        if name not in places:
            what = f"there is no coordinate or speed '{name}'"
            raise NameNotFoundError(what, where=where, remedy=suggest_remedy(name, list(places)))
    return [places[name] for name in table]


def _changes(
    equations: Equations, table: Mapping[str, Any], places: list[tuple[int, int]], where: str
) -> Callable[[float, Floats, Floats], tuple[Floats, Floats]]:
    function = _compiled(equations, [str(value) for value in table.values()])

    def change(t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        state = (q.copy(), qd.copy())
        values = function(q, qd, t)[0].ravel()
        if not np.isfinite(values).all():
            name = list(table)[int(np.argmin(np.isfinite(values)))]
            remedy = "look at what divides or takes roots in it"
            raise LinkwrightError(f"the new '{name}' is not finite", where=where, remedy=remedy)
        for (part, k), value in zip(places, values, strict=True):
            state[part][k] = value
        return state

    return change


def _own_change(
    equations: Equations, function: Callable[..., Any], where: str
) -> Callable[[float, Floats, Floats], tuple[Floats, Floats]]:
    sizes = equations.names.nq, equations.names.nv

    def change(t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        try:
            new_q, new_qd = (np.array(x, dtype=float) for x in function(t, q.copy(), qd.copy()))
        except (TypeError, ValueError):
            new_q, new_qd = np.zeros(0), np.zeros(0)
        right = (new_q.shape, new_qd.shape) == ((sizes[0],), (sizes[1],))
        if not right or not (np.isfinite(new_q).all() and np.isfinite(new_qd).all()):
            remedy = f"return (q, qd), {sizes[0]} and {sizes[1]} finite numbers"
            raise LinkwrightError("the action returns no state", where=where, remedy=remedy)
        return new_q, new_qd

    return change
