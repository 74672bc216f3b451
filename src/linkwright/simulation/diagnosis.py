"""Why a run cannot go on: the reason, where it is, which part it is about, and what to try."""

from __future__ import annotations

import numpy as np

from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_null_space
from ..types import Floats
from .right_hand_side import RightHandSide

LOST_CLOSURE = CLOSURE_TOLERANCES.lost_residual
"""A closure that is further open than this (m, rad) is lost."""

MASSLESS_SHARE = 1e-10
"""A direction whose inertia is below this share of the largest counts as moving no mass: digits of
the accelerations would be lost."""

RUNAWAY_VELOCITY = 1e6
"""A velocity, m/s or rad/s, that no mechanism reaches unless an input feeds it ever more."""


def largest_gap(system: RightHandSide) -> float:
    """Return the largest residual (m, rad) that position constraints may have in a run."""
    return max(LOST_CLOSURE, system.equations.closure_leeway)


def describe_stop(system: RightHandSide, t: float, y: Floats, reason: str) -> str:
    """Return the status of a run that stopped at (t, y)."""
    q, qd = system.space.motion(y)
    if not np.isfinite(q).all():
        return _sentence(
            t, reason, "", _softer_springs(system) or "check the forces: some are not finite there"
        )
    place = _place(system, q)
    away = _runaway(system, qd)
    if away is not None:
        return _sentence(t, away[0], place, away[1])
    for cause in (_open, _massless, _unbound, _singular):
        found = cause(system, t, q)
        if found is not None:
            what, remedy = found
            return _sentence(t, what, place, remedy)
    fast = system.names.qd[int(np.argmax(np.abs(qd)))]
    hint = f"{reason}; '{fast}' moves fastest"
    remedy = "try integrator='radau' for a stiff system, a larger rtol, or smooth forces that jump"
    return _sentence(t, hint, place, _softer_springs(system) or remedy)


def _softer_springs(system: RightHandSide) -> str:
    """Return the remedy where springs in place of constraints may be too stiff; otherwise ""."""
    if system.equations.by != "approximate":
        return ""
    beta = system.equations.extra("beta")
    return (
        f"springs with beta = {beta:.3g} N/m may be too stiff for these steps: give a smaller beta "
        "or step, or try integrator='rodas'"
    )


def _runaway(system: RightHandSide, qd: Floats) -> tuple[str, str] | None:
    """Return the reason and remedy if a controller feeds a motion ever more energy."""
    fastest = int(np.argmax(np.abs(qd)))
    if system.force_law.feedback is None or not abs(qd[fastest]) > RUNAWAY_VELOCITY:
        return None
    name = system.names.qd[fastest]
    return (
        f"'{name}' runs away, at {qd[fastest]:.2g} (m or rad)/s",
        "the controller is unstable: give it smaller gains or rates, or a shorter period",
    )


def _sentence(t: float, what: str, place: str, remedy: str) -> str:
    """Return the status of a run that stopped."""
    return f"stopped at t = {t:.10g} s{place}: {what}; {remedy}"


def _place(system: RightHandSide, q: Floats) -> str:
    """Return the configuration as text."""
    names = system.names.q
    shown = [f"{name} = {x:.6g}" for name, x in zip(names[:6], q, strict=False)]
    more = ", …" if len(names) > 6 else ""
    return f" ({', '.join(shown)}{more})"


def _clock(system: RightHandSide, t: float) -> list[float]:
    """Return the time as an argument of functions that depend on it."""
    return [t] if system.names.is_time_dependent else []


def _open(system: RightHandSide, t: float, q: Floats) -> tuple[str, str] | None:
    """Return the reason and remedy if a loop or constraint cannot be closed."""
    if not system.names.position_row_count or system.equations.by == "approximate":
        return None
    phi = np.abs(system.model.constraint_residual(q, *_clock(system, t)))
    worst = int(np.argmax(phi))
    if phi[worst] <= largest_gap(system):
        return None
    owner = system.names.constraints[system.names.position_rows[worst]]
    return (
        f"closure is lost: '{owner}' is {phi[worst]:.2g} (m or rad) open and cannot be closed",
        "a driven coordinate may be out of reach: use solve_kinematics, or drive it less far",
    )


def _massless(system: RightHandSide, t: float, q: Floats) -> tuple[str, str] | None:
    """Return the reason and remedy if a degree of freedom moves no mass here."""
    model = system.whole_model
    M = model.mass_matrix(q, *model.names.position_time_arguments(t))
    Z = np.eye(model.nv)
    if system.names.constraints:
        J = model.constraint_jacobian(q, *_clock(system, t))
        Z = jacobian_null_space(J, CLOSURE_TOLERANCES.rank_share)
    if not Z.shape[1] or not np.isfinite(M).all():
        return None
    sizes, vectors = np.linalg.eigh(Z.T @ M @ Z)
    if sizes[0] > MASSLESS_SHARE * max(sizes[-1], 1e-300):
        return None
    name = system.names.qd[int(np.argmax(np.abs(Z @ vectors[:, 0])))]
    return (
        f"the mass matrix is singular: '{name}' moves no mass here",
        "start away from this configuration, choose other coordinates, or give the bodies inertia",
    )


def _unbound(system: RightHandSide, t: float, q: Floats) -> tuple[str, str] | None:
    """Return the reason and remedy if forces are not finite, though masses are fine."""
    model, rest = system.whole_model, np.zeros(system.names.nv)
    clock = _clock(system, t)
    bias = model.bias(q, rest, *clock)
    if np.isfinite(bias).all():
        return None
    name = system.names.qd[int(np.argmin(np.isfinite(bias)))]
    return f"the force along '{name}' is not finite", "check forces that divide or take roots"


def _singular(system: RightHandSide, t: float, q: Floats) -> tuple[str, str] | None:
    """Return the reason and remedy if constraints lose rank here."""
    if not system.names.constraints:
        return None
    model = system.model
    J = model.constraint_jacobian(q, *_clock(system, t))
    if np.linalg.matrix_rank(J, 1e-4) >= model.nv - model.dof:
        return None
    left = np.linalg.svd(J)[0][:, -1]
    owner = system.names.constraints[int(np.argmax(np.abs(left)))]
    return (
        f"the constraints lose rank: '{owner}' no longer holds its direction",
        "a dead centre or branch point: start away from it, or drive another coordinate",
    )
