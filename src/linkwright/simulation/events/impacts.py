"""Impacts: speeds that jump where barriers close.

Newton's rule for all of them at once, with A = R P Rᵀ and impulses Λ:

    v⁺ = A Λ + v⁻,   Λ ≥ 0,   v⁺ + e v⁻ ≥ 0,   Λᵢ (v⁺ + e v⁻)ᵢ = 0

so that T⁺ − T⁻ = ½ Σ Λᵢ (1 − eᵢ) vᵢ⁻, which is never above zero for e ≤ 1, since only barriers with
v⁻ ≤ 0 take part. Friction then takes the impulse, within μ Λ, that leaves the least kinetic
energy. Where that closes a barrier again, there is another impact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .boxes import boxed
from .dynamics import Instant
from .modes import STILL

Floats = NDArray[np.float64]

TINY = 1e-6
"""An impact slower than this share of the fastest one of its barrier does not throw back: so
bounces that follow each other ever faster come to rest."""

_ROUNDS, _SLIPS = 100, 200


@dataclass(frozen=True)
class Impact:
    """Speeds behind, and by barrier the speeds of approach and the impulses."""

    qd: Floats
    speeds: dict[int, float]
    impulses: dict[int, float]


def impact(
    instant: Instant, closed: list[int], restitution: dict[int, float], *, one_by_one: bool = False
) -> Impact:
    """Until nothing that is closed comes nearer; later rounds do not throw back without end."""
    qd = instant.qd.copy()
    speeds: dict[int, float] = {}
    impulses = dict.fromkeys(closed, 0.0)
    for turn in range(_ROUNDS):
        v = {i: float(instant.R[i] @ qd) for i in closed}
        hit = [i for i in closed if v[i] < -STILL]
        if not hit:
            break
        taking = (
            [min(hit, key=lambda i: v[i])] if one_by_one else [i for i in closed if v[i] <= STILL]
        )
        e = np.array([restitution[i] if turn < _ROUNDS // 2 else 0.0 for i in taking])
        before = np.array([v[i] for i in taking])
        R = instant.R[taking]
        A = R @ instant.admittance @ R.T
        found = boxed(A, (1 + e) * before, np.zeros(len(e)), np.full(len(e), np.inf))
        qd = qd + instant.admittance @ (R.T @ found)
        qd = _rubbed(instant, qd, taking, found)
        for i, speed, impulse in zip(taking, before, found, strict=True):
            impulses[i] += float(impulse)
            if i in hit:
                speeds[i] = max(speeds.get(i, 0.0), -float(speed))
        one_by_one = one_by_one and turn < _ROUNDS // 2
    return Impact(qd, speeds, {i: x for i, x in impulses.items() if x > 0})


def _rubbed(instant: Instant, qd: Floats, taking: list[int], normal: Floats) -> Floats:
    """Slip impulses within μ Λ that leave the least kinetic energy, contact by contact."""
    barriers, P = instant.of.rows.barriers, instant.admittance
    contacts = [
        (list(barriers[i].slip), barriers[i].friction * force)
        for i, force in zip(taking, normal, strict=True) if barriers[i].slip and force > 0
    ]  # fmt: skip
    spent = [np.zeros(2) for _ in contacts]
    for _ in range(_SLIPS):
        moved = 0.0
        for k, (slip, limit) in enumerate(contacts):
            R = instant.R[slip]
            A = R @ P @ R.T
            bound = float(np.linalg.eigvalsh(A)[-1])
            if bound <= 0:
                continue
            wanted = spent[k] - R @ qd / bound
            size = float(np.linalg.norm(wanted))
            wanted = wanted * min(1.0, limit / max(size, 1e-300))
            change = wanted - spent[k]
            qd = qd + P @ (R.T @ change)
            spent[k] = wanted
            moved = max(moved, float(np.abs(R.T @ change).max()))
        if moved <= 1e-15 * max(np.abs(instant.M @ qd).max(initial=0.0), 1e-300):
            break
    return qd
