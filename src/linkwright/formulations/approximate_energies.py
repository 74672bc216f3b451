"""Energies of approximate dynamics with its springs and points, and powers of all other forces."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear_algebra import Array
from ..kinematics.tree_coordinates import spread_velocities

if TYPE_CHECKING:
    from .approximate_equations import ApproximateFormulation


def approximate_energies(own: ApproximateFormulation) -> tuple[Array, Array, Array, Array]:
    """The kinetic energy of joint variables and points; the potential energy with the points' own
    weight and that of the springs; and the powers of the other constraint forces: losses, and of
    what moves constraints and coordinates."""
    m, v = own.point_masses, spread_velocities(own.tree, own.qd)
    T = ca.dot(v, own.tree_inertia @ v) / 2
    weight = own.generalized_forces[own.tree.nv :, :]
    V = own.potential_energy() + ca.dot(weight, own.r)
    lam = own.multipliers()
    given = -ca.dot(lam, own.f_rate - own.J @ own.zd)
    if own.tree.names.has_moving_coordinates:
        given += _moving_power(own, T, V)
    T += ca.dot(m * own.xd, own.xd) / 2
    V -= ca.dot(weight, own.x)
    if own.iterations:
        return T, V, ca.dot(lam, own.f_rate), given
    springs = own.beta * ca.dot(own.f, own.f) / 2
    return T, V + springs, ca.dot(lam + own.beta * own.f, own.f_rate), given


def _moving_power(own: ApproximateFormulation, T: Array, V: Array) -> Array:
    """The power of what moves the coordinates of the joints: d(T + V)/dt without the power of
    forces along q̇. The rest h = T₂ − T₀ + V of T + V changes by −∂L/∂t and these."""
    t, rest = own.tree.motion.t, 2 * T - ca.dot(own.qd, ca.gradient(T, own.qd))
    qdd = own.accelerations()[: own.tree.nv]
    rate = ca.jtimes(rest, own.q, own.qd) + ca.jtimes(rest, own.qd, qdd) + ca.jacobian(rest, t)
    return rate - ca.jacobian(T - V, t)
