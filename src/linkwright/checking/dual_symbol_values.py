"""Dual velocities, momenta, inertia forces and bound unit vectors as expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import casadi as ca

from ..expressions import parse_expression
from ..types import SX
from ..written_equations import magnitudes_at_samples

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary

DualSymbolValue: TypeAlias = tuple[SX, SX]
"""The real and the dual part of a vector, three components each."""


def bound_axis_symbol(own: CheckerVocabulary, axis: int, frame: str) -> DualSymbolValue:
    """The unit vector along an axis of a frame, bound to its origin, about the world's origin."""
    place = own.quantity_expression("placement", frame)
    direction = place[:3, axis]
    return direction, ca.cross(place[:3, 3], direction)


def bound_velocity_symbol(own: CheckerVocabulary, frame: str) -> DualSymbolValue:
    """The dual velocity of a frame along the world's axes, about the world's origin."""
    return _bound_motion_symbol(own, frame, own.quantity_expression("frame_velocity", frame))


def bound_partial_velocity_symbol(
    own: CheckerVocabulary, number: str, frame: str
) -> DualSymbolValue | None:
    """The part of a frame's dual velocity by one generalized speed, counted from 1."""
    count = len(own.generalized_speeds) or own.names.nv
    if not 1 <= int(number) <= count:
        return None
    motion = _partial_velocity_symbol(own, frame, int(number) - 1)
    return None if motion is None else _bound_motion_symbol(own, frame, motion)


def _bound_motion_symbol(own: CheckerVocabulary, frame: str, motion: SX) -> DualSymbolValue:
    """A motion (ω, v of the frame's origin) as a dual vector about the world's origin."""
    place = own.quantity_expression("placement", frame)
    return motion[:3], motion[3:] + ca.cross(place[:3, 3], motion[:3])


def _partial_velocity_symbol(own: CheckerVocabulary, frame: str, r: int) -> SX | None:
    """The contribution of the r-th speed to a motion: a generalized one that the text defines, the
    constraints being kept, or a coordinate's rate; None where the speeds are not independent."""
    J = own.quantity_expression("jacobian", frame)
    if not own.generalized_speeds:
        return J[:, r]
    u = ca.vertcat(*own.generalized_speeds)
    G = ca.SX.eye(own.names.nv)
    if own.names.constraints:
        G = ca.SX(own.eqs.expressions("independent_map")[0])
    by_speeds = ca.jacobian(u, own.symbols["qd"]) @ G
    if not magnitudes_at_samples([ca.det(by_speeds)], scale=1.0).any():
        return None
    return J @ (G @ ca.solve(by_speeds, ca.SX.eye(u.shape[0])[:, r]))


def frame_velocity_symbol(own: CheckerVocabulary, frame: str) -> DualSymbolValue:
    """(ω, v) of a frame along its axes, at its origin."""
    R = own.quantity_expression("placement", frame)[:3, :3]
    velocity = own.quantity_expression("frame_velocity", frame)
    return R.T @ velocity[:3], R.T @ velocity[3:]


def particle_momentum_symbol(own: CheckerVocabulary, frame: str) -> DualSymbolValue | None:
    """(m v, 0) of the particle that the text declares at a frame, along the frame's axes."""
    return _particle_symbol(own, frame, "frame_velocity")


def particle_inertia_force_symbol(own: CheckerVocabulary, frame: str) -> DualSymbolValue | None:
    """(m a, 0) of the particle that the text declares at a frame, along the frame's axes."""
    return _particle_symbol(own, frame, "frame_acceleration")


def _particle_symbol(own: CheckerVocabulary, frame: str, function: str) -> DualSymbolValue | None:
    mass = _declared_particle_mass(own, frame)
    if mass is None:
        return None
    R = own.quantity_expression("placement", frame)[:3, :3]
    return mass * (R.T @ own.quantity_expression(function, frame)[3:]), ca.SX.zeros(3)


def _declared_particle_mass(own: CheckerVocabulary, frame: str) -> SX | None:
    """The mass of a particle that the text declares there."""
    masses = own.declarations.particle_masses
    if frame not in masses:
        return None
    return own.translate_expression(
        parse_expression(masses[frame]), lambda name: name if name in own.parameters else None
    )


def body_velocity_symbol(own: CheckerVocabulary, number: str) -> DualSymbolValue | None:
    """(ω, v) of a numbered body along its axes, at its centre of mass."""
    k = _index_of_numbered_body(own, number)
    if k is None:
        return None
    R = own.body_values.center_quantity("placement", k)[:3, :3]
    velocity = own.body_values.center_quantity("frame_velocity", k)
    return R.T @ velocity[:3], R.T @ velocity[3:]


def body_momentum_symbol(own: CheckerVocabulary, number: str) -> DualSymbolValue | None:
    """(m v, I ω) of a numbered body about its centre of mass, along its axes."""
    k, velocity = _index_of_numbered_body(own, number), body_velocity_symbol(own, number)
    if k is None or velocity is None:
        return None
    m, inertia = own.body_values.central_inertia(k)
    w, v = velocity
    return m * v, inertia @ w


def body_inertia_force_symbol(own: CheckerVocabulary, number: str) -> DualSymbolValue | None:
    """(m a, I α + ω × I ω) of a numbered body about its centre of mass, along its axes."""
    k, velocity = _index_of_numbered_body(own, number), body_velocity_symbol(own, number)
    if k is None or velocity is None:
        return None
    m, inertia = own.body_values.central_inertia(k)
    R = own.body_values.center_quantity("placement", k)[:3, :3]
    rate = own.body_values.center_quantity("frame_acceleration", k)
    w, _ = velocity
    return m * (R.T @ rate[3:]), inertia @ (R.T @ rate[:3]) + ca.cross(w, inertia @ w)


def _index_of_numbered_body(own: CheckerVocabulary, number: str) -> int | None:
    """The index of a body that is given by its number from 1; None for an unknown body."""
    k = int(number) - 1
    return k if 0 <= k < len(own.names.bodies) else None
