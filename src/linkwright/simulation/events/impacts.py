"""Impacts: velocities that jump where stops and contacts close.

Newton's rule for all of them at once, with A = R P Rᵀ and impulses Λ:

    v⁺ = A Λ + v⁻,   Λ ≥ 0,   v⁺ + e v⁻ ≥ 0,   Λᵢ (v⁺ + e v⁻)ᵢ = 0

so that T⁺ − T⁻ = ½ Σ Λᵢ (1 − eᵢ) vᵢ⁻, which is never above zero for e ≤ 1, since only contacts with
v⁻ ≤ 0 take part.

With friction there are two phases. Compression ends at v⁺ ≥ 0, Λ ⟂ v⁺, and slip impulses π within
μ Λ oppose the slip at its end, so that T⁺ − T⁻ = Σ π·slip⁺ − ½ |Δq̇|²_M ≤ 0. Restitution then gives
the normal speeds e v⁻ back, without friction, or as much of them as there is energy for. Where that
closes a contact again, there is another impact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...errors import LinkwrightError
from ...types import Floats
from .boxes import solve_box_complementarity
from .dynamics import InstantDynamics
from .event_tolerances import EVENT_TOLERANCES, FORCE_SOLVER
from .friction_problem import compress_contacts


@dataclass(frozen=True)
class Impact:
    """The velocities after impacts, and by contact the velocities of approach and the impulses.

    `pushes` are impulses along the slips, and normal.
    """

    qd: Floats
    speeds: dict[int, float]
    pushes: dict[int, Floats]

    @property
    def impulses(self) -> dict[int, float]:
        """The normal impulses."""
        return {i: float(push[2]) for i, push in self.pushes.items() if push[2] > 0}


def solve_impact(
    instant: InstantDynamics, closed: list[int], slow: dict[int, float], *, one_by_one: bool = False
) -> Impact:
    """Return the velocities after impacts, with which no closed contact approaches any further.

    Contacts below the velocity `slow` do not rebound; in late rounds nothing does.
    """
    unilaterals = instant.of.rows.unilaterals
    qd = instant.qd.copy()
    speeds: dict[int, float] = {}
    pushes = {i: np.zeros(3) for i in closed}
    for turn in range(FORCE_SOLVER.max_impact_rounds):
        v = {i: float(instant.R[i] @ qd) for i in closed}
        hit = [i for i in closed if v[i] < -EVENT_TOLERANCES.still_velocity]
        if not hit:
            break
        taking = [i for i in closed if v[i] <= EVENT_TOLERANCES.still_velocity]
        if one_by_one and turn < FORCE_SOLVER.max_impact_rounds // 2:
            taking = [min(hit, key=v.__getitem__)]
        late = turn >= FORCE_SOLVER.max_impact_rounds // 2
        e = np.array(
            [0.0 if late or -v[i] <= slow[i] else unilaterals[i].restitution or 0.0 for i in taking]
        )
        before = np.array([v[i] for i in taking])
        rough = any(unilaterals[i].slip for i in taking)
        qd, found = (_with_friction if rough else _newton)(instant, qd, taking, e)
        for i, speed, push in zip(taking, before, found, strict=True):
            pushes[i] += push
            if i in hit:
                speeds[i] = max(speeds.get(i, 0.0), -float(speed))
    return Impact(qd, speeds, pushes)


def check_impact_is_possible(instant: InstantDynamics, found: Impact) -> None:
    """Raise an error if the constraints push into a stop or contact."""
    for i, speed in found.speeds.items():
        if instant.R[i] @ found.qd <= -0.999 * speed:
            raise _blocked(instant, i)


def _blocked(instant: InstantDynamics, i: int) -> LinkwrightError:
    """Return the error that the constraints push into a stop or contact."""
    rows, mechanism = instant.of.rows, instant.of.mechanism
    name = rows.unilaterals[i].name
    if i >= rows.stop_count:
        what = f"the constraints push into the contact '{name}'"
        return LinkwrightError(what, remedy="drive it less far, or move the contact")
    coordinate = name.rpartition(" ")[0]
    driven = any(c.type == "drive" and c.on == coordinate for c in mechanism.constraints.values())
    what = f"the drive of '{coordinate}' pushes" if driven else f"constraints push '{coordinate}'"
    remedy = f"drive it less far, or move the limit '{name}'"
    return LinkwrightError(f"{what} against its stop", remedy=remedy)


def _newton(
    instant: InstantDynamics, qd: Floats, taking: list[int], e: Floats
) -> tuple[Floats, Floats]:
    """Return velocities and impulses by Newton's rule, without friction."""
    R = instant.R[taking]
    found = _pushed(R @ instant.admittance @ R.T, (1 + e) * (R @ qd))
    pushes = np.zeros((len(taking), 3))
    pushes[:, 2] = found
    return qd + instant.admittance @ (R.T @ found), pushes


def _pushed(A: Floats, b: Floats) -> Floats:
    """Return Λ ≥ 0 with A Λ + b ≥ 0, one of them zero."""
    return solve_box_complementarity(A, b, np.zeros(len(b)), np.full(len(b), np.inf))


def _with_friction(
    instant: InstantDynamics, qd: Floats, taking: list[int], e: Floats
) -> tuple[Floats, Floats]:
    """Return velocities and impulses with friction: compression, then restitution."""
    R, P, M = instant.R[taking], instant.admittance, instant.M
    wanted = np.maximum(-e * (R @ qd), 0.0)
    squeezed, pushes = compress_contacts(instant, qd, taking)
    target = np.where(pushes[:, 2] > 0, wanted, 0.0)
    back = _pushed(R @ P @ R.T, R @ squeezed - target)
    change = P @ (R.T @ back)
    a, b = float(change @ M @ change) / 2, float(squeezed @ M @ change)
    spare = float(qd @ M @ qd - squeezed @ M @ squeezed) / 2
    share = 1.0
    if a + b > spare and a > 0:
        share = max(0.0, (-b + np.sqrt(max(b * b + 4 * a * spare, 0.0))) / (2 * a))
    pushes[:, 2] += share * back
    return squeezed + share * change, pushes
