"""Events as signals: expressions of the state that compiled code watches."""

from __future__ import annotations

import casadi as ca

from ...types import SX
from .hybrid import Hybrid


def can_signal(events: Hybrid) -> bool:
    """Whether all that is watched in a mode without contacts and friction is an expression."""
    code = events.dynamics
    return not (
        events.rows.rubs
        or events.rows.contacts
        or code.members
        or code.ties
        or any(event.expression is None for event in events.given)
    )


def signal_expressions(events: Hybrid, t: SX, q: SX, qd: SX) -> SX:
    """What is watched then: gaps, and the values of the user's events."""
    s = events.context.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    given = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    found: SX = ca.vertcat(events.rows.gap_expressions(q), given)
    return found
