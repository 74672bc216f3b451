"""Forces by d'Alembert's principle from positions alone: the independent kineto-static solution.

Velocities, accelerations and virtual displacements are differences of positions along a motion,
as one would draw them; no dynamics of a formulation is used.

    τ·δq = Σ m (c̈ − g)·δc + (d(Iω)/dt)·δφ
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.array_functions import ArrayFunction
from ..expressions import expression_to_float
from ..mechanism import Body, Mechanism
from ..types import Floats
from .verified_equations import VerifiedEquations

DIFFERENCE_STEP = 0.02
_STENCIL_OFFSETS = np.array([-3, -2, -1, 0, 1, 2, 3])
_FIRST_DERIVATIVE_WEIGHTS = np.array([-1, 9, -45, 0, 45, -9, 1]) / 60
_SECOND_DERIVATIVE_WEIGHTS = np.array([2, -27, 270, -490, 270, -27, 2]) / 180


@dataclass(frozen=True)
class RigidBody:
    """A body in numbers: mass, centre of mass, and inertia about it, in its own axes."""

    name: str
    mass: float
    center: Floats
    inertia: Floats


def rigid_bodies(mechanism: Mechanism) -> list[RigidBody]:
    return [_make_rigid_body(name, body, mechanism) for name, body in mechanism.bodies.items()]


def _make_rigid_body(name: str, body: Body, mechanism: Mechanism) -> RigidBody:
    def number(expression: object) -> float:
        return expression_to_float(expression, mechanism.values)  # type: ignore[arg-type]

    own = body.inertia
    xx, yy, zz, xy, xz, yz = (number(getattr(own, key)) for key in
                              ("xx", "yy", "zz", "xy", "xz", "yz"))  # fmt: skip
    tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    R = _inertia_rotation([number(x) for x in own.rpy], [number(x) for x in own.quaternion])
    center = np.array([number(x) for x in body.center])
    return RigidBody(name, number(body.mass), center, R @ tensor @ R.T)


def _inertia_rotation(rpy: Sequence[float], quaternion: Sequence[float]) -> Floats:
    from scipy.spatial.transform import Rotation

    w, *xyz = quaternion
    turned = Rotation.from_euler("xyz", rpy) * Rotation.from_quat([*xyz, w])
    return np.asarray(turned.as_matrix(), dtype=float)


def kinetostatic_forces(subject: VerifiedEquations, state: dict[str, Floats]) -> Floats:
    """The forces along all velocities, for bodies alone: no rotors, springs or losses."""
    mechanism = subject.mechanism
    g = np.array([expression_to_float(x, mechanism.values) for x in mechanism.gravity])
    n = subject.eqs.nv
    total = np.zeros(n)
    qd, qdd = state["qd"], state["qdd"]
    along = [
        _displace_coordinates(subject, state["q"], qd * t + qdd * t * t / 2)
        for t in DIFFERENCE_STEP * _STENCIL_OFFSETS
    ]
    virtual = [
        [
            _displace_coordinates(subject, state["q"], e * t)
            for t in DIFFERENCE_STEP * _STENCIL_OFFSETS
        ]
        for e in np.eye(n)
    ]
    for solid in rigid_bodies(mechanism):
        pose = _placement_function(subject, solid.name)
        motion = [pose(q) for q in along]
        push, turn = _inertial_force_and_moment(solid, motion, g)
        for k in range(n):
            shift, twist = _virtual_displacement(solid, [pose(q) for q in virtual[k]])
            total[k] += push @ shift + turn @ twist
    return total


def _displace_coordinates(subject: VerifiedEquations, q: Floats, step: Floats) -> Floats:
    return subject.function_value("integrate", {"q": q, "step": step})


def _placement_function(subject: VerifiedEquations, body: str) -> Callable[[Floats], Floats]:
    placement = ArrayFunction(subject.eqs.function_at_values("placement", body))
    return lambda q: placement(q)[0]


def _inertial_force_and_moment(
    solid: RigidBody, motion: list[Floats], g: Floats
) -> tuple[Floats, Floats]:
    """m (c̈ − g), and the rate of the angular momentum about the centre of mass."""
    R = np.array([T[:3, :3] for T in motion])
    c = np.array([T[:3, 3] + T[:3, :3] @ solid.center for T in motion])
    acceleration = np.tensordot(_SECOND_DERIVATIVE_WEIGHTS, c, 1) / DIFFERENCE_STEP**2
    R1, R2 = (
        np.tensordot(w, R, 1) / DIFFERENCE_STEP**k
        for k, w in ((1, _FIRST_DERIVATIVE_WEIGHTS), (2, _SECOND_DERIVATIVE_WEIGHTS))
    )
    omega = _axial_vector(R1 @ R[3].T)
    alpha = _axial_vector(R2 @ R[3].T + R1 @ R1.T)
    inertia = R[3] @ solid.inertia @ R[3].T
    return solid.mass * (acceleration - g), inertia @ alpha + np.cross(omega, inertia @ omega)


def _virtual_displacement(solid: RigidBody, motion: list[Floats]) -> tuple[Floats, Floats]:
    """δc and δφ."""
    rate = np.tensordot(_FIRST_DERIVATIVE_WEIGHTS, np.array(motion), 1) / DIFFERENCE_STEP
    R = motion[3][:3, :3]
    return rate[:3, 3] + rate[:3, :3] @ solid.center, _axial_vector(rate[:3, :3] @ R.T)


def _axial_vector(W: Floats) -> Floats:
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
