"""Inputs and forces that are not finite: which one, and when.

A step fails where an input is NaN or has a pole. The stepper only notices that its steps become
short. The inputs, and the forces that the mechanism's file declares, are therefore evaluated again
at and just beyond the state where it stopped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .inputs import input_name
from .run_context import RunContext


@dataclass(frozen=True)
class FaultSearch:
    """Numbers of the search for inputs that are not finite, with their reasons."""

    near_share: float = 1e-6
    """A fault within this share of the time belongs to the state at which the run stopped."""
    pole_ratio: float = 1e6
    """An input that is larger than its usual size by this factor counts as unbounded."""
    rounds: int = 14
    """Rounds of the search; with 17 points each, they narrow it to rounding."""
    points: int = 17
    """Points that each round evaluates."""
    runaway_ratio: float = 1e3
    """Coordinates that are larger than usual by this factor have run away, and inputs only follow
    them."""


FAULT_SEARCH = FaultSearch()

_REMEDY = "keep it finite: it may divide by zero, or take a root or logarithm of what is negative"


def check_input_forces(context: RunContext, t: float, y: Floats) -> None:
    """Raise an error where an input is not finite."""
    names, values = _input_forces(context, t, y)
    bad = ~np.isfinite(values)
    if bad.any():
        raise LinkwrightError(describe_fault(t, names[int(np.argmax(bad))], values[bad][0]))


def describe_fault(t: float, what: str, value: float) -> str:
    """Return a sentence that names an input that is not finite."""
    return f"{what} is not finite ({value:g}) at t = {t:.10g} s; {_REMEDY}"


def find_input_fault(
    context: RunContext, t: float, y: Floats, reach: float, known: Sequence[tuple[float, Floats]]
) -> str | None:
    """Return what is wrong with the inputs between (t, y) and `reach` seconds later.

    `known` are earlier states, which tell the usual size of the inputs.
    """
    known_fault = context.inputs.fault
    near = FAULT_SEARCH.near_share * max(1.0, abs(t))
    if known_fault is not None and known_fault.t < t - near:
        known_fault = None  # of a trial that was rejected
    if known_fault is not None:
        reach = max(reach, known_fault.t - t)
    try:
        fault = _fault_ahead(context, t, y, reach, known)
    except Exception:  # a user's function, called where the stepper did not call it
        fault = None
    if fault is None and known_fault is not None:
        what = input_name(context.names, known_fault.velocity)
        return describe_fault(known_fault.t, what, known_fault.value)
    return fault


def _fault_ahead(
    context: RunContext, t: float, y: Floats, reach: float, known: Sequence[tuple[float, Floats]]
) -> str | None:
    """Return the first input that is not finite, or grows without bound, ahead of a state."""
    at, (low, high) = _Ahead(context, t, y), (0.0, reach)
    names, _ = _forces(context, t, y)
    fault = None
    for _ in range(FAULT_SEARCH.rounds):  # towards the first that is not finite, or the largest
        ahead = np.linspace(low, high, FAULT_SEARCH.points)
        rows = np.array([at(h) for h in ahead])
        bad = ~np.isfinite(rows)
        width = (high - low) / (FAULT_SEARCH.points - 1)
        if bad.any():
            k, column = (int(i) for i in np.argwhere(bad)[0])
            fault = describe_fault(t + ahead[k], names[column], rows[k, column])
            low, high = max(0.0, ahead[k] - width), ahead[k]
        else:
            k = int(np.argmax(np.abs(rows).max(axis=1)))
            low, high = max(0.0, ahead[k] - width), ahead[k] + width
    if fault is not None:
        return fault
    column = int(np.argmax(np.abs(rows[k])))
    is_large = abs(rows[k, column]) > FAULT_SEARCH.pole_ratio * _usual_size(context, known)
    if _has_run_away(context, y, known) or not is_large:
        return None
    place = f"{names[column]} grows without bound towards t = {t + ahead[k]:.10g} s"
    return f"{place}, to {rows[k, column]:.2g}; {_REMEDY}"


class _Ahead:
    """Forces along the tangent of the motion at (t, y)."""

    def __init__(self, context: RunContext, t: float, y: Floats) -> None:
        self.context, self.t, self.y = context, t, y
        rates = context.rates(t, y)
        self.rates = rates if np.isfinite(rates).all() else np.zeros_like(y)

    def __call__(self, ahead: float) -> Floats:
        """Return the forces `ahead` seconds later."""
        with np.errstate(all="ignore"):
            return _forces(self.context, self.t + ahead, self.y + ahead * self.rates)[1]


def _forces(context: RunContext, t: float, y: Floats) -> tuple[list[str], Floats]:
    """Return the inputs, and the forces along the velocities that the file declares."""
    names, values = _input_forces(context, t, y)
    if not context.equations.mechanism.forces:
        return names, values
    clock = [t] if context.names.is_time_dependent else []
    declared = context.model.external(*context.space.motion(y), *clock)
    more = [f"the force along '{n}'" for n in context.names.qd]
    return [*names, *more], np.append(values, declared)


def _input_forces(context: RunContext, t: float, y: Floats) -> tuple[list[str], Floats]:
    """Return the inputs by name: actuators if there are some, else forces along velocities."""
    names, values = context.names.qd, None
    with np.errstate(all="ignore"):
        if context.force_law.u is not None:
            names = context.names.actuators
            values = context.force_law.actuators(t, *context.space.motion(y))
        found = context.inputs.forces(t, y) if values is None else values
    return [input_name(context.names, name) for name in names], found


def _usual_size(context: RunContext, known: Sequence[tuple[float, Floats]]) -> float:
    """Return the median size of the largest force at earlier states, plus one."""
    sizes = [np.abs(_forces(context, *state)[1]).max() for state in known]
    return 1.0 + float(np.median(sizes)) if sizes else 1.0


def _has_run_away(context: RunContext, y: Floats, known: Sequence[tuple[float, Floats]]) -> bool:
    """Whether coordinates are far beyond where they were, so that inputs may only follow them."""
    far = np.abs(context.space.motion(y)[0]).max()
    usual = [np.abs(context.space.motion(state)[0]).max() for _, state in known]
    ratio = FAULT_SEARCH.runaway_ratio
    return bool(far > ratio * (1.0 + float(np.median(usual)))) if usual else False
