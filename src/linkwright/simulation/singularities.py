"""Singular positions of a driven mechanism between the samples of its motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..mechanism import Mechanism, mechanism_names
from ..types import Floats
from .driven_mechanism import SINGULAR_SHARE, DrivenMechanism, KinematicState

_DIP_SHARE = 0.5
"""Share of its median below which the singular share at a sample may go through zero nearby."""

_GOLDEN_RATIO = (np.sqrt(5) - 1) / 2

_MOVING_SHARE = 1e-8
"""Coordinates slower than this share of the fastest count as at rest all the time."""

_STANDING_SHARE = 1e-9
"""A velocity below this share of its largest value counts as zero at a sample."""

_SMALLEST_DRIVE_RATE = 1e-9
"""Rate below which a drive counts as at rest, rad/s or m/s."""

_SHOWN_COORDINATES = 6
"""The largest number of coordinates that a message lists."""


@dataclass(frozen=True)
class Singularity:
    """A singular position q at time t, and the coordinates `what` that it concerns.

    `kind` is "dead centre": a coordinate stands still while the drive moves, and could not drive
    the mechanism here; "limit": the drive itself cannot go on; or "branch point": all constraints
    lose rank, and branches of the motion meet.
    """

    t: float
    kind: str
    what: tuple[str, ...]
    q: Floats

    def __str__(self) -> str:
        """Return the kind, the coordinates and the time."""
        return f"{self.kind} of {', '.join(self.what) or 'the mechanism'} at t = {self.t:.12g}"

    def end_of_motion(self, driven: DrivenMechanism) -> str:
        """Return the status of a motion that ends here."""
        who = " and ".join(f"'{name}'" for name in self.what) or "the mechanism"
        what = "cannot go on" if self.kind == "limit" else "is where branches of the motion meet"
        place = _coordinates_text(driven.mechanism, self.q)
        return (
            f"stopped at t = {self.t:.12g} s ({place}): {who} {what}; "
            "turn back before it, drive another coordinate, or check the lengths"
        )


def _coordinates_text(mechanism: Mechanism, q: Floats) -> str:
    """Return "q1 = …, q2 = …" of the first coordinates."""
    names = mechanism_names(mechanism).q
    first = zip(names[:_SHOWN_COORDINATES], q, strict=False)
    shown = ", ".join(f"{name} = {x:.10g}" for name, x in first)
    return shown + (", …" if len(names) > _SHOWN_COORDINATES else "")


def find_singularities(
    driven: DrivenMechanism, states: Sequence[KinematicState]
) -> list[Singularity]:
    """Return the dead centres of single coordinates, and the branch points."""
    if not driven.is_constrained or len(states) < 2:
        return []
    return [*_find_dead_centres(driven, states), *_find_branch_points(driven, states)]


def _find_dead_centres(
    driven: DrivenMechanism, states: Sequence[KinematicState]
) -> list[Singularity]:
    """Return the positions at which a dependent coordinate stands still while the drive moves."""
    found: list[Singularity] = []
    fastest = np.max([np.abs(x.qd) for x in states], axis=0)
    columns = driven.dependent_velocities
    moving = [k for k in columns if fastest[k] > _MOVING_SHARE * fastest.max()]
    for a, b in pairwise(states):
        if min(a.singular_share, b.singular_share) <= SINGULAR_SHARE:
            continue
        for k in moving:
            small = _STANDING_SHARE * max(fastest[k], 1e-300)
            if abs(a.qd[k]) > small and (a.qd[k] * b.qd[k] < 0 or abs(b.qd[k]) <= small):
                state = _state_with_zero_velocity(driven, a, b, k)
                if state is not None and _drive_moves(driven, state):
                    name = driven.names.qd[k]
                    found.append(Singularity(state.t, "dead centre", (name,), state.q))
    return found


def _drive_moves(driven: DrivenMechanism, state: KinematicState) -> bool:
    """Return whether the drive itself moves; where it rests, all coordinates stand still."""
    rates = np.abs(driven.path(state.t)[1])
    is_moving = bool(rates.max(initial=0.0) > _SMALLEST_DRIVE_RATE)
    return is_moving or not driven.driven_velocities


def _state_with_zero_velocity(
    driven: DrivenMechanism, a: KinematicState, b: KinematicState, k: int
) -> KinematicState | None:
    """Return the state between a and b at which velocity k is zero."""
    from scipy.optimize import brentq

    if abs(b.qd[k]) <= 1e-12 * abs(a.qd[k]):  # the root is b itself
        return b

    def velocity(t: float) -> float:
        state = driven.next_state(a, t)
        return float("nan") if state is None else float(state.qd[k])

    try:
        t = brentq(velocity, a.t, b.t, xtol=1e-15, rtol=8.9e-16)  # the smallest that it accepts
    except (ValueError, RuntimeError):
        return None
    return driven.next_state(a, float(t))


def _find_branch_points(
    driven: DrivenMechanism, states: Sequence[KinematicState]
) -> list[Singularity]:
    """Return the positions at which the smallest singular value of J_p goes through zero and the
    motion continues."""
    shares = np.array([state.singular_share for state in states])
    usual = float(np.median(shares))
    found: list[Singularity] = []
    for k in range(len(states)):
        low, high = max(0, k - 1), min(len(states) - 1, k + 1)
        is_end = k in (0, len(shares) - 1)
        is_lowest = is_end or (shares[k] <= shares[low] and shares[k] < shares[high])
        if not is_lowest or shares[k] > _DIP_SHARE * usual:
            continue
        t = _time_of_zero_share(driven, states[low], states[high])
        if t is None or any(abs(t - one.t) < 1e-9 for one in found):
            continue
        side = min(1e-3, 0.2 * (states[high].t - states[low].t))
        state = driven.interpolate_singular_state(states[low], t, side)
        if state is not None:
            found.append(Singularity(t, "branch point", driven.path.names, state.q))
    return found


def _time_of_zero_share(
    driven: DrivenMechanism, a: KinematicState, b: KinematicState
) -> float | None:
    """Return the time between a and b at which the singular share is zero; None if it stays above.

    Golden section brackets the minimum. The share with a sign that changes there is smooth, so a
    polynomial through its values on both sides has the zero to more digits.
    """

    def singular_share(t: float) -> float:
        state = driven.next_state(a, t)
        return np.inf if state is None else state.singular_share

    low, high = a.t, b.t
    for _ in range(45):  # 0.618^45 is below 1e-9
        one = high - _GOLDEN_RATIO * (high - low)
        two = low + _GOLDEN_RATIO * (high - low)
        low, high = (low, two) if singular_share(one) < singular_share(two) else (one, high)
        if high - low < 1e-7 * (b.t - a.t):
            break
    t = (low + high) / 2
    if not singular_share(t) < 1e-4:
        return None
    side = 0.01 * (b.t - a.t)
    offsets = side * np.array([-4, -3, -2, -1, 1, 2, 3, 4])
    inside = offsets[(t + offsets >= a.t) & (t + offsets <= b.t)]
    values = np.array([np.sign(x) * singular_share(t + x) for x in inside])
    if len(inside) < 3 or not np.isfinite(values).all():
        return t
    roots = np.roots(np.polyfit(inside / side, values, len(inside) - 1))
    nearest = roots[np.argmin(np.abs(roots))]
    return float(t + side * nearest.real) if abs(nearest) < 1 else t
