"""Singular positions on the way of a driven mechanism, found between its samples."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..types import Floats
from .driven import SINGULAR, Driven, Instant

if TYPE_CHECKING:
    from collections.abc import Sequence


_DIP = 0.5
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Singularity:
    """Where something special happens at time t and position q.

    "dead centre": a coordinate stands still while the drive moves, and could not drive it here.
    "limit": the drive itself cannot go on. "branch point": all constraints lose rank, and
    branches of the motion meet. `what` are the coordinates that it is about.
    """

    t: float
    kind: str
    what: tuple[str, ...]
    q: Floats

    def __str__(self) -> str:
        return f"{self.kind} of {', '.join(self.what) or 'the mechanism'} at t = {self.t:.12g}"

    def sentence(self, driven: Driven) -> str:
        """How a motion ends here."""
        from .kinematic import names_at

        who = " and ".join(f"'{name}'" for name in self.what) or "the mechanism"
        what = "cannot go on" if self.kind == "limit" else "is where branches of the motion meet"
        place = names_at(driven.mechanism, self.q)
        return (
            f"stopped at t = {self.t:.12g} s ({place}): {who} {what}; "
            "turn back before it, drive another coordinate, or check the lengths"
        )


def found_between(driven: Driven, instants: Sequence[Instant]) -> list[Singularity]:
    """Dead centres of single coordinates, and branch points."""
    if not driven.constrained or len(instants) < 2:
        return []
    return [*_dead_centres(driven, instants), *_branch_points(driven, instants)]


def _dead_centres(driven: Driven, instants: Sequence[Instant]) -> list[Singularity]:
    found: list[Singularity] = []
    fastest = np.max([np.abs(x.qd) for x in instants], axis=0)
    moving = [k for k in driven.moving if fastest[k] > 1e-8 * fastest.max()]
    for a, b in pairwise(instants):
        if min(a.share, b.share) <= SINGULAR:
            continue
        for k in moving:
            small = 1e-9 * max(fastest[k], 1e-300)
            if a.qd[k] * b.qd[k] < 0 or (abs(b.qd[k]) <= small < abs(a.qd[k])):
                at = _still(driven, a, b, k)
                if at is not None and _moves(driven, at):
                    found.append(Singularity(at.t, "dead centre", (driven.names.qd[k],), at.q))
    return found


def _moves(driven: Driven, at: Instant) -> bool:
    """Whether the drive itself moves there, so that standing still means something."""
    rates = np.abs(driven.path(at.t)[1])
    return bool(rates.max(initial=0.0) > 1e-9) or not driven.held


def _still(driven: Driven, a: Instant, b: Instant, k: int) -> Instant | None:
    """The instant between a and b at which speed k is zero."""
    from scipy.optimize import brentq

    if abs(b.qd[k]) <= 1e-12 * abs(a.qd[k]):
        return b

    def speed(t: float) -> float:
        here = driven.step(a, t)
        return float("nan") if here is None else float(here.qd[k])

    try:
        t = brentq(speed, a.t, b.t, xtol=1e-15, rtol=8.9e-16)
    except (ValueError, RuntimeError):
        return None
    return driven.step(a, float(t))


def _branch_points(driven: Driven, instants: Sequence[Instant]) -> list[Singularity]:
    """Where the smallest singular value of J_p goes through zero and the motion goes on."""
    shares = np.array([x.share for x in instants])
    usual = float(np.median(shares))
    found: list[Singularity] = []
    for k in range(len(instants)):
        low, high = max(0, k - 1), min(len(instants) - 1, k + 1)
        ends = k in (0, len(shares) - 1)
        dips = ends or (shares[k] <= shares[low] and shares[k] < shares[high])
        if not dips or shares[k] > _DIP * usual:
            continue
        t = _crossing(driven, instants[low], instants[high])
        if t is None or any(abs(t - one.t) < 1e-9 for one in found):
            continue
        side = min(1e-3, 0.2 * (instants[high].t - instants[low].t))
        at = driven.across(instants[low], t, side)
        if at is not None:
            found.append(Singularity(t, "branch point", driven.path.names, at.q))
    return found


def _crossing(driven: Driven, a: Instant, b: Instant) -> float | None:
    """The time between a and b at which the share is zero, by golden section, then by a
    polynomial through shares on both sides, which change their sign at a crossing."""

    def share(t: float) -> float:
        here = driven.step(a, t)
        return np.inf if here is None else here.share

    low, high = a.t, b.t
    for _ in range(45):
        one, two = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        low, high = (low, two) if share(one) < share(two) else (one, high)
        if high - low < 1e-7 * (b.t - a.t):
            break
    t = (low + high) / 2
    if not share(t) < 1e-4:
        return None
    side = 0.01 * (b.t - a.t)
    offsets = side * np.array([-4, -3, -2, -1, 1, 2, 3, 4])
    inside = offsets[(t + offsets >= a.t) & (t + offsets <= b.t)]
    values = np.array([np.sign(x) * share(t + x) for x in inside])
    if len(inside) < 3 or not np.isfinite(values).all():
        return t
    roots = np.roots(np.polyfit(inside / side, values, len(inside) - 1))
    near = roots[np.argmin(np.abs(roots))]
    return float(t + side * near.real) if abs(near) < 1 else t
