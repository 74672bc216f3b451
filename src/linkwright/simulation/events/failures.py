"""Members that break in an impact: the impulse of their reaction exceeds their strength.

Impulses of reactions follow as reactions do, with the jump of the velocities in place of the
accelerations: M Δq̇ = Rᵀπ + Jᵀλ. A member breaks before the impact, which then happens in the
mechanism without it: the impulse that the member would bear until it breaks is neglected.
"""

from __future__ import annotations

import numpy as np

from ...errors import LinkwrightError
from ...expressions import Expression, expression_to_float
from ...types import Floats
from .coding import least_squares
from .dynamics import InstantDynamics
from .event_tolerances import FORCE_SOLVER
from .impacts import Impact


class FailureError(LinkwrightError):
    """The impulse of a member's reaction is more than it bears."""

    member: str = ""
    impulse: float = 0.0


def check_strengths(instant: InstantDynamics, found: Impact) -> None:
    """Raise an error for the member whose strength is exceeded most."""
    borne = _borne(instant, found)
    values = instant.of.mechanism.values
    shares = {
        name: (impulse / max(expression_to_float(limit, values), 1e-300), impulse)
        for name, (impulse, limit) in borne.items()
    }
    name = max(shares, key=lambda name: shares[name][0], default="")
    if name and shares[name][0] > 1:
        failure = FailureError("the impact breaks it", where=name)
        failure.member, failure.impulse = name, shares[name][1]
        raise failure


def _borne(instant: InstantDynamics, found: Impact) -> dict[str, tuple[float, Expression]]:
    """Return the impulse of the force and the strength, by member."""
    of = instant.of
    members = [(name, s.impulse) for name, s in of.members if s.impulse is not None]
    ties = [(name, s.impulse) for name, s in of.ties if s.impulse is not None]
    if not (members or ties) or not found.speeds:
        return {}
    lam = _multipliers(instant, found)
    borne: dict[str, tuple[float, Expression]] = {}
    if members:
        every = _wrenches(instant, found, lam)
        names = [*(span.name for span in of.rows.tree.joints), *of.mechanism.loops]
        for name, limit in members:
            borne[name] = float(np.linalg.norm(every[names.index(name), 3:])), limit
    for name, limit in ties:
        own = [x for x, owner in zip(lam, of.model.names.constraints, strict=True) if owner == name]
        borne[name] = float(np.linalg.norm(own)), limit
    return borne


def _multipliers(instant: InstantDynamics, found: Impact) -> Floats:
    """Return the impulses λ of the mechanism's constraints, of least norm."""
    if not len(instant.J):
        return np.zeros(0)
    rest = instant.M @ (found.qd - instant.qd)
    for i, push in found.pushes.items():
        slip = list(instant.of.rows.unilaterals[i].slip)
        rest = rest - push[2] * instant.R[i] - push[: len(slip)] @ instant.R[slip]
    return least_squares(instant.J.T, rest, FORCE_SOLVER.rank_share)[0]


def _wrenches(instant: InstantDynamics, found: Impact, lam: Floats) -> Floats:
    """Return the impulses of the reactions.

    Reactions are linear in accelerations, λ and forces of contacts; their constant part has no
    impulse.
    """
    of, still = instant.of, np.zeros(len(instant.qd))
    pushes = np.zeros((3, len(of.rows.contacts)))
    for i, push in found.pushes.items():
        if i >= of.rows.stop_count:
            pushes[:, i - of.rows.stop_count] = push
    jump = found.qd - instant.qd
    moved = of.wrenches(instant.q, still, jump, instant.t, lam, pushes)[2]
    rest = of.wrenches(instant.q, still, still, instant.t, 0 * lam, 0 * pushes)[2]
    found_impulses: Floats = moved - rest
    return found_impulses
