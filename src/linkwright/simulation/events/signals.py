"""Events as signals: expressions of the state that compiled code watches."""

from __future__ import annotations

import casadi as ca

from ...types import SX
from .hybrid import Hybrid


def can_signal(events: Hybrid) -> bool:
    """Whether all that is watched is an expression: with contacts and friction in all modes, with
    stops at least while none is rested on."""
    code = events.dynamics
    has_modes = events.mode_functions is not None
    return not (
        (events.rows.rubs and not has_modes)
        or (events.rows.contacts and not has_modes)
        or code.members
        or code.ties
        or any(event.expression is None for event in events.given)
    )


def signal_expressions(events: Hybrid, t: SX, q: SX, qd: SX) -> SX:
    """What is watched in a mode without contacts and friction: gaps, and the user's events."""
    found: SX = ca.vertcat(events.rows.gap_expressions(q), given_expressions(events, t, q, qd))
    return found


def mode_signal_expressions(events: Hybrid, watched: SX, t: SX, q: SX, qd: SX) -> SX:
    """The same in any mode; `watched` are the numbers of stops, contacts and friction."""
    pads = events.rows.gap_expressions(q)[len(events.rows.barriers) :]
    found: SX = ca.vertcat(watched, pads, given_expressions(events, t, q, qd))
    return found


def given_expressions(events: Hybrid, t: SX, q: SX, qd: SX) -> SX:
    """The values of the user's events."""
    s = events.system.equations.symbols
    values = [event.expression for event in events.given if event.expression is not None]
    found: SX = ca.substitute(
        ca.vertcat(ca.SX(0, 1), *values),
        ca.vertcat(s["t"], s["q"], s["qd"]),
        ca.vertcat(t, q, qd),
    )
    return found
