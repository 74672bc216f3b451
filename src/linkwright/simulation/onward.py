"""Inputs of a mechanism that has lost a member; inputs that do not need it stay as they were."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import LinkwrightError
from ..mechanism import Mechanism, MechanismNames, mechanism_names
from ..types import SX, Floats, ForceLike
from .feedback import Feedback
from .run import Run


def remaining_inputs(
    torque: ForceLike | Feedback | None, before: Run, after: Mechanism
) -> ForceLike | Feedback | None:
    """Return the inputs of the mechanism that is left.

    Forces given by name or as numbers continue if their velocity or actuator still exists. A
    controller continues from its present state if it needs nothing that was lost. A function of the
    whole state cannot continue if the coordinates have changed.
    """
    if isinstance(torque, Feedback):
        return _remaining_law(torque, before, after)
    old, new = mechanism_names(before.mechanism), mechanism_names(after)
    if torque is None or _moves_alike(old, new):
        return torque
    if callable(torque):
        raise LinkwrightError(
            "the input is a function of coordinates that no longer exist",
            remedy="give inputs by name",
        )
    if isinstance(torque, Mapping):
        known = list(new.actuators) or list(new.qd)
        return {name: value for name, value in torque.items() if name in known}
    left: list[float] = remaining_forces(torque, before, after).tolist()
    return left


def _moves_alike(old: MechanismNames, new: MechanismNames) -> bool:
    """Whether two mechanisms have the same coordinates and actuators."""
    return (old.q, old.qd, old.actuators) == (new.q, new.qd, new.actuators)


def remaining_forces(forces: ArrayLike, before: Run, after: Mechanism) -> Floats:
    """Return forces along the velocities that still exist, and zeros along new ones."""
    old, values = mechanism_names(before.mechanism).qd, np.asarray(forces, dtype=float)
    return np.array([values[old.index(n)] if n in old else 0.0 for n in mechanism_names(after).qd])


def remaining_held_forces(
    drive: ForceLike | Feedback | None, before: Run, after: Mechanism
) -> Floats | None:
    """Return the forces that a sampled controller holds until it acts again; else None."""
    if not isinstance(drive, Feedback) or drive.period is None:
        return None
    return remaining_forces(before.tau[-1], before, after)


def _remaining_law(law: Feedback, before: Run, after: Mechanism) -> Feedback:
    """Return a controller that starts from its present states, without coordinates that no longer
    exist."""
    start = tuple(float(before.control[name][-1]) for name in law.names)
    old, new = mechanism_names(before.mechanism), mechanism_names(after)
    if (old.q, old.qd) == (new.q, new.qd):
        return replace(law, start=start)
    t, r = ca.SX.sym("t"), ca.SX.sym("r", law.law.size1_in(4))
    z, q, qd = (ca.SX.sym("x", n) for n in (len(law.names), new.nq, new.nv))
    lost = [ca.SX.sym("lost") for _ in range(len(old.q) + len(old.qd))]
    known = dict(
        zip([*new.q, *(f"d{n}" for n in new.qd)], ca.vertsplit(ca.vertcat(q, qd)), strict=True)
    )
    wanted = [*old.q, *(f"d{n}" for n in old.qd)]
    state = ca.vertcat(*(known.get(name, lost[k]) for k, name in enumerate(wanted)))
    tau, rate = law.law(t, state[: old.nq], state[old.nq :], z, r)
    kept = [tau[old.qd.index(n)] if n in old.qd else ca.SX(0) for n in new.qd]
    found, rate = _without(ca.vertcat(*kept), rate, z, ca.vertcat(*lost))
    return replace(law, law=ca.Function("law", [t, q, qd, z, r], [found, rate]), start=start)


def _without(tau: SX, rate: SX, z: SX, lost: SX) -> tuple[SX, SX]:
    """Return forces and rates of a controller that needs nothing `lost`; states that no force needs
    keep their values."""
    needed: set[int] = set()
    new = _uses(tau, z)
    while new - needed:
        needed |= new
        new = set().union(*(_uses(rate[k], z) for k in needed))
    rates = [rate[k] if k in needed else ca.SX(0) for k in range(z.numel())]
    found = ca.vertcat(ca.SX(0, 1), *rates)
    if _uses(ca.vertcat(tau, found), lost):
        raise LinkwrightError(
            "the controller needs coordinates that no longer exist",
            remedy="control each joint separately",
        )
    return tau, found


def _uses(expression: SX, symbols: SX) -> set[int]:
    """Return the places of the symbols on which an expression depends."""
    if not symbols.numel():
        return set()
    pattern = ca.jacobian_sparsity(ca.densify(ca.SX(expression)), symbols)
    return set(pattern.get_col())
