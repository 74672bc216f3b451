"""Small changes of a state that the constraints allow, in independent coordinates and velocities.

With changes δθ of the configuration along the generalized velocities and δv of these,

    δθ = P a,      δv = W a + G b,      dδθ/dt = δv + L δθ

where a and b are the changes of the independent coordinates and velocities. Constraints of
positions J_p δθ = 0 leave P; all constraints V(q, v, t) = 0 leave G and J W = −∂V/∂q P. There are
more a than b under nonholonomic constraints. L is zero where velocities are rates of coordinates;
for angular and linear velocities ω, v in a body's axes it is −ω× and −v×.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from ..kinematics.closing import (
    CLOSURE_TOLERANCES,
    jacobian_pseudoinverse,
    jacobian_rank_of_singular_values,
)
from ..mechanism import Mechanism, MechanismNames
from ..model.model import Model
from ..types import Floats
from .operating_points import OperatingPoint

_TANGENT_LETTERS = {"w": "r", "v": "t"}
"""Letters of the small rotations and translations along the velocities of quaternion joints."""


@dataclass(frozen=True)
class TangentStates:
    """The maps P, W, G and L at a state, and which velocities are independent coordinates and
    independent velocities."""

    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    P: Floats
    W: Floats
    G: Floats
    L: Floats


def tangent_names(mechanism: Mechanism, names: MechanismNames) -> tuple[str, ...]:
    """Return the names of changes of the configuration along the velocities: those of coordinates,
    and ball.rx, free.tx for rotations and translations in a body's axes."""
    found = list(names.qd)
    for start, count in _quaternion_velocities(mechanism, names):
        for k in range(start, start + count):
            joint, _, word = found[k].rpartition(".")
            found[k] = f"{joint}.{_TANGENT_LETTERS[word[0]]}{word[1:]}"
    return tuple(found)


def velocity_state_names(mechanism: Mechanism, names: MechanismNames) -> tuple[str, ...]:
    """Return the names of changes of the velocities: dq1, and ball.wx in a body's axes."""
    bodies = {
        k
        for start, count in _quaternion_velocities(mechanism, names)
        for k in range(start, start + count)
    }
    return tuple(name if k in bodies else f"d{name}" for k, name in enumerate(names.qd))


def _quaternion_velocities(mechanism: Mechanism, names: MechanismNames) -> list[tuple[int, int]]:
    """Return the first velocity of each joint with a quaternion, and how many it has."""
    if names.nq == names.nv:
        return []
    return [
        (names.qd.index(f"{name}.wx"), 6 if f"{name}.vx" in names.qd else 3)
        for name in mechanism.joints
        if f"{name}.wx" in names.qd
    ]


def independent_coordinates(model: Model, q: Floats, t: float) -> tuple[int, ...]:
    """Return the velocities along which changes of the configuration are independent: the
    independent velocities and, under nonholonomic constraints, others."""
    names = model.names
    chosen = [names.qd.index(name) for name in model.independent_names]
    rows = list(names.position_rows)
    if not names.constraints or len(rows) == len(names.constraints):
        return tuple(chosen)
    others = [k for k in range(model.nv) if k not in chosen]
    if not rows:
        return tuple(range(model.nv))
    J = model.constraint_jacobian(q, *names.time_arguments(t))[rows][:, others]
    sizes = np.linalg.svd(J, compute_uv=False)
    rank = jacobian_rank_of_singular_values(sizes, CLOSURE_TOLERANCES.rank_share)
    _, _, order = qr(J, pivoting=True)
    dependent = {others[k] for k in order[:rank]}
    return tuple(k for k in range(model.nv) if k not in dependent)


def tangent_states(
    model: Model,
    point: OperatingPoint,
    coordinates: Sequence[int],
    parameters: Sequence[Floats] = (),
) -> TangentStates:
    """Return the maps at a state, or over the leading axes of q and q̇, for the given independent
    coordinates; `parameters` are the last input of a model that keeps some."""
    names = model.names
    last: list[Any] = [*names.time_arguments(point.t), *parameters]
    velocities = tuple(names.qd.index(name) for name in model.independent_names)
    P = np.zeros((*point.q.shape[:-1], model.nv, len(coordinates)))
    P[..., list(coordinates), range(len(coordinates))] = 1.0
    G, W = independent_velocity_map(model, point.q, last), np.zeros_like(P)
    if names.constraints:
        J = model.constraint_jacobian(point.q, *last)
        if rows := list(names.position_rows):
            P += _dependent_changes(J[..., rows, :], J[..., rows, :] @ P, coordinates)
        by_q = model.constraint_velocity_derivative(point.q, point.qd, *last)
        W = _dependent_changes(J, by_q @ P, velocities)
    L = body_axes_rates(model.mechanism, names, point.qd)
    return TangentStates(tuple(coordinates), velocities, P, W, G, L)


@dataclass(frozen=True)
class StateRates:
    """Derivatives by the states x = (a, b): of configuration, velocity and acceleration, and A, the
    derivative of ẋ."""

    configuration: Floats
    velocity: Floats
    acceleration: Floats
    A: Floats


def state_rates(own: TangentStates, by_q: Floats, by_qd: Floats) -> StateRates:
    """Return the derivatives from those of the accelerations by q and q̇, over leading axes."""
    G = np.broadcast_to(own.G, (*own.P.shape[:-1], own.G.shape[-1]))
    acceleration = np.concatenate([by_q @ own.P + by_qd @ own.W, by_qd @ G], axis=-1)
    velocity = np.concatenate([own.W, G], axis=-1)
    configuration = np.concatenate([own.P, np.zeros_like(G)], axis=-1)
    rates = velocity + own.L @ configuration
    rows, moving = list(own.coordinates), list(own.velocities)
    A = np.concatenate([rates[..., rows, :], acceleration[..., moving, :]], axis=-2)
    return StateRates(configuration, velocity, acceleration, A)


def _dependent_changes(J: Floats, right: Floats, independent: Sequence[int]) -> Floats:
    """Return X with J X = −right that has no rows of the independent velocities."""
    others = [k for k in range(J.shape[-1]) if k not in independent]
    found = np.zeros((*J.shape[:-2], J.shape[-1], right.shape[-1]))
    inverse = jacobian_pseudoinverse(J[..., others], CLOSURE_TOLERANCES.rank_share)
    found[..., others, :] = -inverse @ right
    return found


def independent_velocity_map(model: Model, q: Floats, clock: Sequence[float | Floats]) -> Floats:
    """Return G with q̇ = G b + k; without constraints the identity."""
    if not model.names.constraints:
        return np.eye(model.nv)
    G: Floats = model.independent_map(q, *clock)[0]
    return G


def body_axes_rates(mechanism: Mechanism, names: MechanismNames, qd: Floats) -> Floats:
    """Return L of dδθ/dt = δv + L δθ, over the leading axes of q̇."""
    L = np.zeros((*qd.shape[:-1], names.nv, names.nv))
    for k, count in _quaternion_velocities(mechanism, names):
        turn = _cross_matrix(qd[..., k : k + 3])
        L[..., k : k + 3, k : k + 3] = -turn
        if count == 6:
            L[..., k + 3 : k + 6, k + 3 : k + 6] = -turn
            L[..., k + 3 : k + 6, k : k + 3] = -_cross_matrix(qd[..., k + 3 : k + 6])
    return L


def _cross_matrix(a: Floats) -> Floats:
    """Return the matrix of a ×, over leading axes."""
    x, y, z = np.moveaxis(a, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, -z, y], [z, zero, -x], [-y, x, zero]]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
