"""Events of the user: where something passes zero, note it, end the run, or change the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from .event_function import Effect, EventFunction, StepStates
from .fitting import StateFitting
from .present_mode import PresentMode
from .zeno import USER_ADVICE

DIRECTIONS = {"any": 0, "rising": 1, "falling": -1}
ACTIONS = ("record", "stop")


@dataclass(frozen=True)
class Event:
    """An event of the user: `action` happens where `when` crosses zero.

    Parameters
    ----------
    when : str or callable
        An expression of t, coordinates and velocities ("q1 - 0.5", "dq1"), or a function of
        (t, q, q̇).
    action : str, mapping or callable
        "record", "stop", a table of new values by coordinate and velocity ({"dq1": "-0.8*dq1"}), or
        a function of (t, q, q̇) that returns new (q, q̇).
    direction : {"any", "rising", "falling"}
        Which passages count.

    Examples
    --------
    >>> import linkwright as lw
    >>> event = lw.simulation.Event("q1 + 0.5", action="stop", direction="falling")
    >>> run = lw.simulate(lw.gallery("elbow"), 2.0, events={"low": event})
    >>> round(float(run.q[-1, 0]), 6)
    -0.5
    """

    when: Any
    action: Any = "record"
    direction: str = "any"


@dataclass(frozen=True)
class UserEvent:
    """An event of the user, ready to be evaluated.

    `sign` is 1 where it counts only while rising, −1 while falling, and 0 both ways.
    """

    name: str
    value: Callable[[float, Floats, Floats], float]
    change: Callable[[float, Floats, Floats], tuple[Floats, Floats]] | None
    stops: bool
    sign: int
    sets: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    """Places of the coordinates and velocities that a table sets; a function sets whole states."""
    expression: SX | None = None
    """Its value as an expression of the equations' t, q and q̇, if it is given as text."""

    def changed_motion(self, t: float, y: Floats, present: PresentMode) -> tuple[Floats, Floats]:
        """Return (q, q̇) after its action, on the constraints; what it sets stays as set."""
        assert self.change is not None
        q, qd = self.change(t, *present.space.motion(y))
        dynamics = present.dynamics
        if not dynamics.constrained:
            return q, qd
        fitting = StateFitting(present.space, dynamics.model, t, f"events.{self.name}")
        of_q, of_qd = ((), ()) if self.sets is None else self.sets
        q = fitting.fit_positions(q, of_q) if of_q or self.sets is None else q
        return q, fitting.fit_velocities(q, qd, of_qd)


@dataclass(frozen=True)
class UserEventFunction(EventFunction):
    """The value of an event of the user, in one direction."""

    index: int
    event: UserEvent
    sign: int
    is_only_noted: bool
    counts_at_once = False
    must_be_finite = True
    interrupts = False
    zeno_advice = USER_ADVICE

    @property
    def name(self) -> str:
        """The name of the event."""
        return self.event.name

    @property
    def is_smooth(self) -> bool:  # type: ignore[override]
        """Whether the event does not change the state."""
        return self.event.change is None

    def value_at(self, t: float, q: Floats, qd: Floats) -> float:
        """Return its value at a motion."""
        return self.event.value(t, q, qd)

    def values(self, states: StepStates) -> Floats:
        """Return its values."""
        value = self.event.value
        pairs = zip(states.times, states.motions, strict=True)
        return np.array([value(float(t), *motion) for t, motion in pairs])

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """Note it, end the run, or change the state."""
        if self.event.change is not None:
            motion = self.event.changed_motion(t, y, present)
            return Effect("changes the state", present.jump_to(t, y, *motion))
        if self.event.stops:
            return Effect("stop", status=f"stopped at t = {t:.12g} s by event '{self.name}'")
        return Effect("passed")


def user_event_functions(events: Sequence[UserEvent]) -> list[EventFunction]:
    """Return the event functions of all events of the user, one for each direction."""
    return [
        UserEventFunction(k, event, sign, event.change is None)
        for k, event in enumerate(events)
        for sign in ((event.sign,) if event.sign else (-1, 1))
    ]


def read_user_events(equations: Equations, given: Mapping[str, object] | None) -> list[UserEvent]:
    """Return events from text, functions, tables of the fields of `Event`, or `Event`s, by name."""
    if given is None:
        return []
    if not isinstance(given, Mapping):
        raise LinkwrightError("events are not a table", remedy='give {"name": "expression", …}')
    return [_read_user_event(equations, str(name), event) for name, event in given.items()]


def _read_user_event(equations: Equations, name: str, given: Any) -> UserEvent:
    """Return one event, checked."""
    event = _event(name, given)
    where = f"events.{name}"
    if not isinstance(event.direction, str) or event.direction not in DIRECTIONS:
        raise LinkwrightError(
            f"{event.direction!r} is not a direction",
            where=where,
            remedy=f"use {', '.join(DIRECTIONS)}",
        )
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
            f"{event.action!r} is not an action",
            where=where,
            remedy="use record, stop, a table of new values, or a function of (t, q, qd)",
        )
    sign = DIRECTIONS[event.direction]
    text = event.when if isinstance(event.when, str) else None
    expression = None if text is None else _expressions(equations, [text])
    return UserEvent(name, value, change, event.action == "stop", sign, sets, expression)


def _event(name: str, given: Any) -> Event:
    """Return an `Event` from what the user gives."""
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
    """Return the symbols that expressions may name."""
    s, names = equations.symbols, equations.names
    scope = dict(zip(names.q, ca.vertsplit(s["q"]), strict=True)) | {"t": s["t"]}
    return scope | {f"d{n}": x for n, x in zip(names.qd, ca.vertsplit(s["qd"]), strict=True)}


def _expressions(equations: Equations, texts: list[str]) -> SX:
    """Return texts as one vector of expressions."""
    scope = _scope(equations)
    found: SX = ca.vertcat(
        *(
            read_kinematic_expression(equations.mechanism, parse_expression(text), scope)
            for text in texts
        )
    )
    return found


def _compiled(equations: Equations, texts: list[str]) -> ArrayFunction:
    """Return texts as a function of (q, q̇, t)."""
    s = equations.symbols
    inputs = [s["q"], s["qd"], s["t"]]
    return ArrayFunction(ca.Function("event", inputs, [_expressions(equations, texts)]))


def _value(equations: Equations, when: Any, where: str) -> Callable[[float, Floats, Floats], float]:
    """Return the event function."""
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
    """Return the places of what is changed: (0, coordinate) or (1, velocity)."""
    names = equations.names
    places = {name: (0, k) for k, name in enumerate(names.q)}
    places |= {f"d{name}": (1, k) for k, name in enumerate(names.qd)}
    for name in table:
        if name not in places:
            what = f"unknown coordinate or speed '{name}'"
            raise NameNotFoundError(what, where=where, remedy=suggest_remedy(name, list(places)))
    return [places[name] for name in table]


def _changes(
    equations: Equations, table: Mapping[str, Any], places: list[tuple[int, int]], where: str
) -> Callable[[float, Floats, Floats], tuple[Floats, Floats]]:
    """Return the action of a table of new values."""
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
    """Return the action of a Python function, checked."""
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
