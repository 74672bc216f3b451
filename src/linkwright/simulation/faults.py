"""Drives and forces that are not finite: which one, and when.

A step fails where a drive is NaN or has a pole. The solver sees only that its steps become short,
so the drives themselves are evaluated again, at and just beyond the state where it stopped; so are
the forces that the mechanism's file declares.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import LinkwrightError
from ..types import Floats
from .system import System

NEAR = 1e-6
"""Share of the time and of the state within which a fault belongs to the state that stopped."""

_POLE = 1e6
"""Times its usual size from which on a drive counts as unbounded."""

_ROUNDS, _POINTS = 14, 17
_REMEDY = "keep it finite: it may divide by zero, or take a root or logarithm of what is negative"


def check_drives(system: System, t: float, y: Floats) -> None:
    """Raises where a drive is not finite at (t, y)."""
    names, values = _drives(system, t, y)
    bad = ~np.isfinite(values)
    if bad.any():
        raise LinkwrightError(describe_fault(t, names[int(np.argmax(bad))], values[bad][0]))


def describe_fault(t: float, what: str, value: float) -> str:
    return f"{what} is not finite ({value:g}) at t = {t:.10g} s; {_REMEDY}"


def find_drive_fault(
    system: System, t: float, y: Floats, reach: float, known: Sequence[tuple[float, Floats]]
) -> str | None:
    """What is wrong with the drives between (t, y) and `reach` seconds later; None if nothing is.

    `known` are earlier states, which tell the usual size of the drives.
    """
    known_fault = system.fault
    if known_fault is not None and known_fault[0] < t - NEAR * max(1.0, abs(t)):
        known_fault = None  # of a trial that came to nothing
    if known_fault is not None:
        reach = max(reach, known_fault[0] - t)
    try:
        fault = _fault_ahead(system, t, y, reach, known)
    except Exception:  # a user's function, called where the solver did not call it
        fault = None
    if fault is None and known_fault is not None:
        at, speed, value = known_fault
        return describe_fault(at, f"the drive '{speed}'", value)
    return fault


def _fault_ahead(
    system: System, t: float, y: Floats, reach: float, known: Sequence[tuple[float, Floats]]
) -> str | None:
    at, (low, high) = _Ahead(system, t, y), (0.0, reach)
    names, _ = _forces(system, t, y)
    fault = None
    for _ in range(_ROUNDS):  # towards the first drive that is not finite, or the largest one
        ahead = np.linspace(low, high, _POINTS)
        rows = np.array([at(h) for h in ahead])
        bad = ~np.isfinite(rows)
        width = (high - low) / (_POINTS - 1)
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
    if _ran_away(system, y, known) or not abs(rows[k, column]) > _POLE * _usual(system, known):
        return None
    place = f"{names[column]} grows without bound towards t = {t + ahead[k]:.10g} s"
    return f"{place}, to {rows[k, column]:.2g}; {_REMEDY}"


class _Ahead:
    """Drives along the tangent of the motion at (t, y)."""

    def __init__(self, system: System, t: float, y: Floats) -> None:
        self.system, self.t, self.y = system, t, y
        rates = system.rates(t, y)
        self.rates = rates if np.isfinite(rates).all() else np.zeros_like(y)

    def __call__(self, ahead: float) -> Floats:
        with np.errstate(all="ignore"):
            return _forces(self.system, self.t + ahead, self.y + ahead * self.rates)[1]


def _forces(system: System, t: float, y: Floats) -> tuple[list[str], Floats]:
    """The drives, and the forces along the speeds that the mechanism's file declares."""
    names, values = _drives(system, t, y)
    if not system.equations.mechanism.forces:
        return names, values
    clock = [t] if system.names.is_time_dependent else []
    declared = system.model.external(*system.motion(y), *clock)
    return [*names, *(f"the force along '{n}'" for n in system.names.qd)], np.append(
        values, declared
    )


def _drives(system: System, t: float, y: Floats) -> tuple[list[str], Floats]:
    """What drives, and how much: actuators where there are some, else forces along speeds."""
    names, values = system.names.qd, None
    with np.errstate(all="ignore"):
        if system.drive.u is not None:
            names, values = system.names.actuators, system.drive.actuators(t, *system.motion(y))
        found = system.torque(t, y) if values is None else values
    return [f"the drive '{name}'" for name in names], found


def _usual(system: System, known: Sequence[tuple[float, Floats]]) -> float:
    sizes = [np.abs(_forces(system, *state)[1]).max() for state in known]
    return 1.0 + float(np.median(sizes)) if sizes else 1.0


def _ran_away(system: System, y: Floats, known: Sequence[tuple[float, Floats]]) -> bool:
    """Whether coordinates are far beyond where they were: then the drive may only follow them."""
    far = np.abs(system.motion(y)[0]).max()
    usual = [np.abs(system.motion(state)[0]).max() for _, state in known]
    return bool(far > 1e3 * (1.0 + float(np.median(usual)))) if usual else False
