"""Closed forms of quantities that follow from the accelerations: accelerations and joint reactions
under given forces."""

from __future__ import annotations

import re
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..equations import Equations
from ..errors import UnsupportedError
from ..formulations import derive
from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_pseudoinverse
from ..quantities import quantity_entry_names, quantity_signatures
from ..types import SX
from .form_sources import (
    FormSource,
    full_quantity_name,
    linear_solution_source,
    own_line_source,
)
from .linear_systems import MAX_SOLVED_UNKNOWNS
from .motion_systems import ReducedMotion, bias_forces, motion_systems
from .state_rate_forms import state_rates_source

_REACTION_COMPONENTS = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")
_SPEED_RATE = re.compile(r"du(\d+)|u(\d+)'")


def find_motion_source(eqs: Equations, name: str) -> tuple[Equations, FormSource] | None:
    """The source of a quantity that follows from the accelerations, and the equations that have its
    symbols: accelerations, rates of states, reactions. None for all others.

    Formulations without reactions leave them to `recursive`.
    """
    name = full_quantity_name(eqs, name)
    if name == "reactions":
        if not eqs.is_complete:
            raise UnsupportedError(
                f"'{eqs.by}' has springs in place of joint reactions",
                remedy="ask for multipliers or joint_wrenches",
            )
        has_reactions = "reactions_of_motion" in eqs.function_names()
        own = eqs if has_reactions else derive(eqs.mechanism, by="recursive")
        return own, reactions_source(own, name)
    if name == "forward_dynamics":
        return eqs, accelerations_source(eqs)
    place = find_acceleration(eqs, name)
    if place is not None:
        return eqs, acceleration_source(eqs, name, place)
    if rows := find_multipliers(eqs, name):
        return eqs, multipliers_source(eqs, name, rows)
    found = state_rates_source(eqs, _speed_rate_name(eqs, name))
    return None if found is None else (eqs, found)


def _speed_rate_name(eqs: Equations, name: str) -> str:
    """u1' for du1, where u1 is a generalized speed of the user's choice whose rate has no line of
    its own; the same name for all others."""
    speeds = eqs.state.names[eqs.nq :] if eqs.by == "kane" and eqs.state is not None else ()
    is_rate = name[:1] == "d" and name[1:] in speeds
    return f"{name[1:]}'" if is_rate and own_line_source(eqs, name) is None else name


def acceleration_source(eqs: Equations, name: str, place: int) -> FormSource:
    """The source of one acceleration under the forces τ."""
    labels = quantity_entry_names(eqs.names)["qdd"]
    labels[place] = name
    what = "acceleration under given forces"
    return motion_systems(eqs, labels).source(name, what, [(name, eqs.symbols["qdd"][place])])


def find_symbol_in_column(expression: SX, column: SX) -> int | None:
    """The place of an expression that is one of the symbols of a column; None for all others."""
    whole = ca.SX(expression)
    if not whole.is_scalar() or not whole.is_symbolic():
        return None
    hashes = [symbol.element_hash() for symbol in ca.vertsplit(column)]
    return hashes.index(whole.element_hash()) if whole.element_hash() in hashes else None


def accelerations_source(eqs: Equations) -> FormSource:
    """The source of all accelerations under the forces τ."""
    if not eqs.is_complete:
        raise UnsupportedError(
            f"'{eqs.by}' has no accelerations of joint variables alone",
            remedy="ask for ddq1, … or state_rates, which contain all of its coordinates",
        )
    if eqs.nv <= MAX_SOLVED_UNKNOWNS and not eqs.names.constraints:
        rest, what = eqs.symbols["tau"] - bias_forces(eqs), "accelerations that the forces give"
        return linear_solution_source(eqs, "forward_dynamics", what, "qdd", rest)
    labels = quantity_entry_names(eqs.names)["qdd"]
    outputs = list(zip(labels, ca.vertsplit(eqs.symbols["qdd"]), strict=True))
    what = quantity_signatures(eqs.names)["forward_dynamics"].description
    return motion_systems(eqs).source("forward_dynamics", what, outputs)


def find_acceleration(eqs: Equations, name: str) -> int | None:
    """The place of an acceleration in q̈: ddq1, or u1' and du1 of `kane` without speeds of the
    user's choice, where u are the independent velocities. None under `approximate`, whose
    coordinates have accelerations of their own."""
    if not eqs.is_complete or name in eqs.parameters:
        return None
    names = quantity_entry_names(eqs.names)
    rates = [f"{velocity}'" for velocity in names["qd"]] if eqs.state is None else []
    for labels in (names["qdd"], rates):
        if name in labels:
            return labels.index(name)
    match = _SPEED_RATE.fullmatch(name) if eqs.by == "kane" and eqs.state is None else None
    if match is None:
        return None
    number = int(match.group(1) or match.group(2)) - 1
    places: Sequence[int] = range(eqs.nv)
    if eqs.names.constraints:
        places = [eqs.names.qd.index(one) for one in eqs.names.independent]
    return places[number] if 0 <= number < len(places) else None


def find_multipliers(eqs: Equations, name: str) -> list[int]:
    """The rows of multipliers by the name of all, by that of one, lambda_pin_1, or by its number,
    lambda1; none for other names, and under `approximate`, which has springs in their place."""
    labels = quantity_entry_names(eqs.names)["lambda"] if eqs.names.constraints else []
    if not eqs.is_complete or name in eqs.parameters:
        return []
    if name in ("multipliers", "lambda"):
        return list(range(len(labels)))
    return [k for k, label in enumerate(labels) if name in (label, f"lambda{k + 1}")]


def multipliers_source(eqs: Equations, name: str, rows: Sequence[int]) -> FormSource:
    """The source of multipliers under the forces τ; those of equations that always hold are
    zero."""
    _check_reactions_are_unique(eqs)
    labels = quantity_entry_names(eqs.names)["lambda"]
    outputs = [(labels[k], eqs.symbols["lambda"][k]) for k in rows]
    what = quantity_signatures(eqs.names)["multipliers"].description
    return motion_systems(eqs).source(name, what, outputs)


def reactions_source(eqs: Equations, name: str) -> FormSource:
    """The source of all joint reactions under the forces τ, with q̈ from the equations of motion;
    `reactions_of_motion` are functions of q̈ and λ."""
    (rows,) = eqs.expressions("reactions_of_motion")
    if eqs.names.constraints:
        _check_reactions_are_unique(eqs)
    joints = [*eqs.names.joints, *(eqs.names.loops if eqs.names.constraints else ())]
    outputs = [
        (f"{component}_{joint}", rows[i, k])
        for i, joint in enumerate(joints)
        for k, component in enumerate(_REACTION_COMPONENTS)
    ]
    what = quantity_signatures(eqs.names)[name].description
    return motion_systems(eqs).source(name, what, outputs)


def _check_reactions_are_unique(eqs: Equations) -> None:
    """Raise an error if more than one set of reactions balances the bodies where the mechanism is
    assembled: those of least norm then have no closed form."""
    rng, at = np.random.default_rng(0), eqs.names.time_arguments(0.0)
    q, tau = np.array(eqs.home), rng.uniform(-1, 1, eqs.nv)
    G, k, _ = (np.array(x) for x in eqs.function_at_values("independent_map")(q, *at))
    qd = (G @ rng.uniform(-1, 1, (G.shape[1], 1)) + k).ravel()
    qdd = np.array(eqs.function_at_values("forward_dynamics")(q, qd, tau, *at)[0]).ravel()
    own = ReducedMotion(eqs, ())
    forces = eqs.function_at_values("required_forces")(q, qd, qdd, *at)
    J = np.array(eqs.function_at_values("constraint_jacobian")(q, *at))[own.rows]
    lam = np.zeros(len(eqs.names.constraints))
    lam[own.rows] = jacobian_pseudoinverse(J.T, CLOSURE_TOLERANCES.rank_share) @ (
        np.array(forces).ravel() - tau
    )
    of_motion = np.array(eqs.function_at_values("reactions_of_motion")(q, qd, qdd, lam, *at))
    least = np.array(eqs.function_at_values("reactions")(q, qd, tau, *at)[0])
    if not np.allclose(of_motion, least, rtol=1e-7, atol=1e-7 * np.abs(least).max(initial=1.0)):
        raise UnsupportedError(
            f"reactions of {eqs.mechanism.name} are not unique: some constraints are redundant",
            remedy="lw.compile(mechanism).reactions(q, qd, tau) gives those of least norm",
        )
