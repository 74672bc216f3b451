"""Expressions of dual velocities, momenta, inertia forces and bound unit vectors, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..types import SX

if TYPE_CHECKING:
    from .vocabulary import Vocabulary


def dual_symbol_part(vocabulary: Vocabulary, name: str) -> SX | None:
    """`V2x@r`, `VPx@d`, `z_tool@xd`: the real or dual part of a component."""
    word, _, place = name.partition("@")
    if len(place) == 2:
        kind, owner = word.split("_", 1)
        speeds = len(vocabulary.generalized_speeds) or vocabulary.names.nv
        if kind[0] == "v" and not 1 <= int(kind[1:]) <= speeds:
            return None
        pair = _bound_dual_vector(vocabulary, kind, owner)
        return pair[place[1] == "d"]["xyz".index(place[0])]
    owner, axis = word[1:-1], "xyz".index(word[-1])
    if not owner.isdigit():
        found = _frame_dual_vector(vocabulary, word[0], owner)
        return None if found is None else found[place == "d"][axis]
    k = int(owner) - 1
    if not 0 <= k < len(vocabulary.names.bodies):
        return None
    return _body_dual_vector(vocabulary, word[0], k)[place == "d"][axis]


def _bound_dual_vector(vocabulary: Vocabulary, kind: str, owner: str) -> tuple[SX, SX]:
    """A dual vector along the world's axes, about its origin."""
    place = vocabulary.quantity_expression("placement", owner)
    if kind in ("x", "y", "z"):
        direction = place[:3, "xyz".index(kind)]
        return direction, ca.cross(place[:3, 3], direction)
    if kind == "V":
        motion = vocabulary.quantity_expression("frame_velocity", owner)
    else:
        motion = _partial_velocity(vocabulary, owner, int(kind[1:]) - 1)
    return motion[:3], motion[3:] + ca.cross(place[:3, 3], motion[:3])


def _partial_velocity(vocabulary: Vocabulary, owner: str, r: int) -> SX:
    """The contribution of the r-th speed to a motion: a generalized one that the text defines, the
    constraints being kept, or a coordinate's rate."""
    J = vocabulary.quantity_expression("jacobian", owner)
    if not vocabulary.generalized_speeds:
        return J[:, r]
    u = ca.vertcat(*vocabulary.generalized_speeds)
    G = ca.SX.eye(vocabulary.names.nv)
    if vocabulary.names.constraints:
        G = ca.SX(vocabulary.eqs.expressions("independent_map")[0])
    by_speeds = ca.jacobian(u, vocabulary.symbols["qd"]) @ G
    return J @ (G @ ca.solve(by_speeds, ca.SX.eye(u.shape[0])[:, r]))


def _frame_dual_vector(vocabulary: Vocabulary, kind: str, frame: str) -> tuple[SX, SX] | None:
    """A dual vector along a frame's axes at its origin: its velocity; a particle's momentum,
    inertia force."""
    R = vocabulary.quantity_expression("placement", frame)[:3, :3]
    if kind == "V":
        velocity = vocabulary.quantity_expression("frame_velocity", frame)
        return R.T @ velocity[:3], R.T @ velocity[3:]
    mass = vocabulary.particle_mass(frame)
    if mass is None:
        return None
    function = "frame_velocity" if kind == "H" else "frame_acceleration"
    return mass * (R.T @ vocabulary.quantity_expression(function, frame)[3:]), ca.SX.zeros(3)


def _body_dual_vector(vocabulary: Vocabulary, kind: str, k: int) -> tuple[SX, SX]:
    """A dual vector along the body's axes, about its centre of mass."""
    bodies = vocabulary.body_symbols
    R = bodies.center_quantity("placement", k)[:3, :3]
    m, h, about_origin = bodies.inertial_parameters(k)
    inertia = about_origin - (ca.sumsqr(h) * ca.SX.eye(3) - h @ h.T) / m
    velocity = bodies.center_quantity("frame_velocity", k)
    w, v = R.T @ velocity[:3], R.T @ velocity[3:]
    if kind == "V":
        return w, v
    if kind == "H":
        return m * v, inertia @ w
    rate = bodies.center_quantity("frame_acceleration", k)
    turned = inertia @ (R.T @ rate[:3]) + ca.cross(w, inertia @ w)
    return m * (R.T @ rate[3:]), turned
