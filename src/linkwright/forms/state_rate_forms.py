"""Closed forms of the rates of a formulation's own states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

from ..equations import Equations
from ..quantities import quantity_entry_names
from ..types import SX
from .form_sources import FormSource
from .linear_systems import FormSystem
from .motion_systems import MotionSystems, bias_forces, motion_systems


def state_rates_source(eqs: Equations, name: str) -> FormSource | None:
    """The source of the rates of all states, or of one of them, such as p_q1'; None if the name is
    not such a rate."""
    names = state_names(eqs)
    wanted = [k for k, one in enumerate(names) if name in ("state_rates", f"{one}'")]
    if not wanted:
        return None
    made, rates = _state_rates(eqs, [f"{one}'" for one in names])
    what = f"rates of the states of the formulation '{eqs.by}'"
    return made.source(name, what, [(f"{names[k]}'", rates[k]) for k in wanted])


def state_names(eqs: Equations) -> tuple[str, ...]:
    """The names of the formulation's own states as they are printed, or of coordinates and
    velocities."""
    if eqs.state is not None and eqs.state.written_accelerations is not None:
        names = eqs.state.written_accelerations().names
        return (*names, *(f"d{name}" for name in names))
    if eqs.state is not None:
        return eqs.state.names
    return (*eqs.names.q, *quantity_entry_names(eqs.names)["qd"])


def _state_rates(eqs: Equations, labels: Sequence[str]) -> tuple[MotionSystems, SX]:
    """The rates of all states and the systems for the unknowns in them."""
    state, qd, qdd = eqs.state, eqs.symbols["qd"], eqs.symbols["qdd"]
    if not eqs.is_complete:
        return _spring_rates(eqs)
    if state is None:
        made = motion_systems(eqs, labels[eqs.nq :])
        return made, ca.vertcat(eqs.rate_matrix @ qd, qdd)
    if state.rates_from_motion is not None:
        return _free_body_rates(eqs)
    if eqs.by == "hamilton":
        return _momentum_rates(eqs, labels)
    return _speed_rates(eqs, labels)


def _spring_rates(eqs: Equations) -> tuple[MotionSystems, SX]:
    """The rates where springs hold superabundant coordinates: M q̈ = Q + P of the joints, and the
    accelerations of the centres of mass."""
    state = eqs.state
    assert state is not None
    if state.written_accelerations is None:
        return MotionSystems(()), ca.SX(state.rates())
    own, labels = state.written_accelerations(), state_names(eqs)
    rates = [f"{label}'" for label in labels[len(own.names) :][: eqs.nv]]
    unknown = ca.vertcat(*(ca.SX.sym(rate) for rate in rates))
    system = FormSystem(tuple(rates), unknown, ca.SX(own.matrix), ca.SX(own.right), lowest=True)
    names = {s.element_hash(): x for s, x in zip(ca.vertsplit(state.x), labels, strict=True)}
    whole = ca.vertcat(state.x[len(own.names) :], unknown, own.others)
    return MotionSystems((system,), names, constants=own.constants), whole


def _free_body_rates(eqs: Equations) -> tuple[MotionSystems, SX]:
    """The rates of free bodies: their accelerations by those of the joints. In a plane q and q̇ are
    written as functions of the states."""
    state, made = eqs.state, motion_systems(eqs)
    assert state is not None
    assert state.rates_from_motion is not None
    rates = ca.SX(state.rates_from_motion())
    if state.ambiguous_coordinates:
        return made, rates
    old, new = ca.vertcat(eqs.symbols["q"], eqs.symbols["qd"]), ca.vertcat(*state.to_motion())
    systems = tuple(system.at(old, new) for system in made.systems)
    return replace(made, systems=systems), ca.substitute(rates, old, new)


def _momentum_rates(eqs: Equations, labels: Sequence[str]) -> tuple[MotionSystems, SX]:
    """(q̇, ṗ): M q̇ = p − a and ṗ = τ − bias + Ṁ q̇ + ȧ + Jᵀλ, which is −∂H/∂q + Q + Jᵀλ."""
    state, q, qd = eqs.state, eqs.symbols["q"], eqs.symbols["qd"]
    assert state is not None
    n, p = eqs.nv, state.x[eqs.nq :]
    a = ca.SX.zeros(n)
    if eqs.names.has_moving_coordinates:
        (a,) = eqs.expressions("transport_momentum")
    momenta = eqs.M @ qd + a
    along = ca.jtimes(momenta, q, qd) + ca.jacobian(momenta, eqs.symbols["t"])
    rates = eqs.symbols["tau"] - bias_forces(eqs) + along
    velocities = FormSystem(tuple(labels[:n]), qd, eqs.M, p - a)
    made = MotionSystems((velocities,))
    if eqs.names.constraints:
        made = motion_systems(eqs)
        rates = rates + eqs.J.T @ eqs.symbols["lambda"]
        made = replace(made, systems=(velocities, *made.systems))
    named = {s.element_hash(): x for s, x in zip(ca.vertsplit(qd), labels, strict=False)}
    return replace(made, names={**made.names, **named}), ca.vertcat(qd, rates)


def _speed_rates(eqs: Equations, labels: Sequence[str]) -> tuple[MotionSystems, SX]:
    """(q̇, u̇) of generalized speeds: GᵀMG u̇ = Gᵀ(τ − bias − M c) with q̇ = G u + k, q̈ = G u̇ + c."""
    state, q, qd = eqs.state, eqs.symbols["q"], eqs.symbols["qd"]
    assert state is not None
    u, velocities = state.x[eqs.nq :], state.to_motion()[1]
    rates = ca.substitute(eqs.rate_matrix @ qd, qd, velocities)
    G, t = ca.jacobian(velocities, u), eqs.symbols["t"]
    carried = ca.jtimes(velocities, q, rates) + ca.jacobian(velocities, t)
    right = ca.substitute(eqs.symbols["tau"] - eqs.expressions("bias")[0], qd, velocities)
    unknown = ca.vertcat(*(ca.SX.sym(label) for label in labels[eqs.nq :]))
    system = FormSystem(
        tuple(labels[eqs.nq :]), unknown, G.T @ eqs.M @ G, G.T @ (right - eqs.M @ carried)
    )
    return MotionSystems((system,)), ca.vertcat(rates, unknown)
