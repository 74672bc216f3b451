"""Forces by d'Alembert's principle from positions alone: the independent kineto-static solution.

Virtual displacements, velocities and centripetal accelerations are finite differences of positions;
no formulation is used.

    τ·δq = Σ m (c̈ − g)·δc + (d(Iω)/dt)·δφ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.array_functions import ArrayFunction
from ..expressions import Expression, expression_to_float
from ..mechanism import Body, Mechanism
from ..types import Floats
from .verified_equations import VerifiedEquations

DIFFERENCE_STEP = 0.02
"""The largest change of a coordinate from one position to the next: seventh differences are then
below 1e-9, and rounding errors of second ones below 1e-11."""
REST_DISPLACEMENT = 1e-10
"""Displacements of a body per unit of a coordinate up to this are rounding errors: the coordinate
does not move the body, and its velocity must not shorten the step."""
MOVING_STEP_SHARE = 0.25
"""The share of that step in coordinates that depend on time, which may change faster than q."""
_STENCIL_OFFSETS = np.array([-3, -2, -1, 0, 1, 2, 3])
_FIRST_DERIVATIVE_WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
_SECOND_DERIVATIVE_WEIGHTS = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


@dataclass(frozen=True)
class KinetostaticBody:
    """A body in numbers: mass, centre of mass, and inertia about it, in its own axes."""

    name: str
    mass: float
    center: Floats
    inertia: Floats


def kinetostatic_bodies(mechanism: Mechanism) -> list[KinetostaticBody]:
    """All bodies of a mechanism in numbers."""
    return [
        _make_kinetostatic_body(name, body, mechanism) for name, body in mechanism.bodies.items()
    ]


def _make_kinetostatic_body(name: str, body: Body, mechanism: Mechanism) -> KinetostaticBody:
    """A body of the mechanism in numbers."""

    def kinetostatic_number(expression: Expression) -> float:
        return expression_to_float(expression, mechanism.values)

    own = body.inertia
    moments, products = (own.xx, own.yy, own.zz), (own.xy, own.xz, own.yz)
    xx, yy, zz, xy, xz, yz = (kinetostatic_number(entry) for entry in (*moments, *products))
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    R = _kinetostatic_inertia_rotation(
        [kinetostatic_number(x) for x in own.rpy], [kinetostatic_number(x) for x in own.quaternion]
    )
    center = np.array([kinetostatic_number(x) for x in body.center])
    return KinetostaticBody(name, kinetostatic_number(body.mass), center, R @ tensor @ R.T)


def _kinetostatic_inertia_rotation(rpy: Sequence[float], quaternion: Sequence[float]) -> Floats:
    """The rotation of the inertia's axes in the body, from roll–pitch–yaw angles and a
    quaternion."""
    from scipy.spatial.transform import Rotation

    w, *xyz = quaternion
    turned = Rotation.from_euler("xyz", rpy) * Rotation.from_quat([*xyz, w])
    return np.asarray(turned.as_matrix(), dtype=float)


def kinetostatic_forces(
    subject: VerifiedEquations, state: dict[str, Floats]
) -> tuple[Floats, float]:
    """The generalized forces for a motion by bodies alone, without rotors, springs or losses, and
    the size of their largest part: they vanish in free motion."""
    mechanism = subject.mechanism
    g = np.array([expression_to_float(x, mechanism.values) for x in mechanism.gravity])
    q, qd, now, n = state["q"], state["qd"], float(state["t"][0]), subject.eqs.nv
    total, largest = np.zeros(n), 0.0
    virtual = [
        [(x, now) for x, _ in _kinetostatic_path(subject, q, e, DIFFERENCE_STEP)] for e in np.eye(n)
    ]
    for solid in kinetostatic_bodies(mechanism):
        pose = _kinetostatic_placement(subject, solid.name)
        shifts, twists = np.swapaxes(
            [_virtual_displacement(solid, [pose(*x) for x in path]) for path in virtual], 0, 1
        )
        moving = (np.abs(np.hstack([shifts, twists])) > REST_DISPLACEMENT).any(axis=1)
        step = DIFFERENCE_STEP / max(1.0, np.abs(qd[moving]).max(initial=0))
        step *= MOVING_STEP_SHARE if subject.names.has_moving_coordinates else 1.0
        motion = [pose(x, now + t) for x, t in _kinetostatic_path(subject, q, qd, step)]
        acceleration, alpha, omega, inertia = _kinetostatic_motion(solid, motion, step)
        acceleration += state["qdd"] @ shifts
        turn = inertia @ (alpha + state["qdd"] @ twists) + np.cross(omega, inertia @ omega)
        parts = solid.mass * shifts @ acceleration, -solid.mass * shifts @ g, twists @ turn
        total += sum(parts)
        largest = max(largest, float(np.abs(parts).max()))
    return total, largest


def _kinetostatic_path(
    subject: VerifiedEquations, q: Floats, qd: Floats, step: float
) -> list[tuple[Floats, float]]:
    """Coordinates around q along constant velocities, and the times of the difference formulas."""
    times = step * _STENCIL_OFFSETS
    return [(_kinetostatic_displacement(subject, q, qd * t), float(t)) for t in times]


def _kinetostatic_displacement(subject: VerifiedEquations, q: Floats, step: Floats) -> Floats:
    """The coordinates after a step along the tangent space."""
    return subject.function_value("integrate", {"q": q, "step": step})


def _kinetostatic_placement(
    subject: VerifiedEquations, body: str
) -> Callable[[Floats, float], Floats]:
    """A function from q and t to a body's placement, 4 × 4."""
    placement = ArrayFunction(subject.eqs.function_at_values("placement", body))
    return lambda q, t: placement(q, *subject.names.position_time_arguments(t))[0]


def _kinetostatic_motion(
    solid: KinetostaticBody, motion: list[Floats], step: float
) -> tuple[Floats, Floats, Floats, Floats]:
    """c̈, α, ω, and the inertia about the centre of mass in world axes."""
    R = np.array([T[:3, :3] for T in motion])
    c = np.array([T[:3, 3] + T[:3, :3] @ solid.center for T in motion])
    acceleration = np.tensordot(_SECOND_DERIVATIVE_WEIGHTS, c, 1) / step**2
    R1, R2 = (
        np.tensordot(w, R, 1) / step**k
        for k, w in ((1, _FIRST_DERIVATIVE_WEIGHTS), (2, _SECOND_DERIVATIVE_WEIGHTS))
    )
    omega = _kinetostatic_axial_vector(R1 @ R[3].T)
    alpha = _kinetostatic_axial_vector(R2 @ R[3].T + R1 @ R1.T)
    return acceleration, alpha, omega, R[3] @ solid.inertia @ R[3].T


def _virtual_displacement(solid: KinetostaticBody, motion: list[Floats]) -> tuple[Floats, Floats]:
    """δc and δφ per unit of a virtual displacement."""
    rate = np.tensordot(_FIRST_DERIVATIVE_WEIGHTS, np.array(motion), 1) / DIFFERENCE_STEP
    R = motion[3][:3, :3]
    return rate[:3, 3] + rate[:3, :3] @ solid.center, _kinetostatic_axial_vector(rate[:3, :3] @ R.T)


def _kinetostatic_axial_vector(W: Floats) -> Floats:
    """The vector of the skew part of a matrix."""
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
