"""Forces by d'Alembert's principle from positions alone: the independent kineto-static solution.

Velocities, accelerations and virtual displacements are finite differences of positions along a
motion; no formulation is used.

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


def kinetostatic_forces(subject: VerifiedEquations, state: dict[str, Floats]) -> Floats:
    """The generalized forces for a motion by bodies alone, without rotors, springs or losses."""
    mechanism = subject.mechanism
    g = np.array([expression_to_float(x, mechanism.values) for x in mechanism.gravity])
    n = subject.eqs.nv
    total = np.zeros(n)
    qd, qdd = state["qd"], state["qdd"]
    now, offsets = float(state["t"][0]), DIFFERENCE_STEP * _STENCIL_OFFSETS
    along = [
        (_kinetostatic_displacement(subject, state["q"], qd * t + qdd * t * t / 2), now + t)
        for t in offsets
    ]
    virtual = [
        [(_kinetostatic_displacement(subject, state["q"], e * t), now) for t in offsets]
        for e in np.eye(n)
    ]
    for solid in kinetostatic_bodies(mechanism):
        pose = _kinetostatic_placement(subject, solid.name)
        motion = [pose(*place) for place in along]
        push, turn = _kinetostatic_force_and_moment(solid, motion, g)
        for k in range(n):
            shift, twist = _virtual_displacement(solid, [pose(*place) for place in virtual[k]])
            total[k] += push @ shift + turn @ twist
    return total


def _kinetostatic_displacement(subject: VerifiedEquations, q: Floats, step: Floats) -> Floats:
    """The coordinates after a step along the tangent space."""
    return subject.function_value("integrate", {"q": q, "step": step})


def _kinetostatic_placement(
    subject: VerifiedEquations, body: str
) -> Callable[[Floats, float], Floats]:
    """A function from q and t to a body's placement, 4 × 4."""
    placement = ArrayFunction(subject.eqs.function_at_values("placement", body))
    return lambda q, t: placement(q, *subject.names.position_time_arguments(t))[0]


def _kinetostatic_force_and_moment(
    solid: KinetostaticBody, motion: list[Floats], g: Floats
) -> tuple[Floats, Floats]:
    """m (c̈ − g), and the rate of the angular momentum about the centre of mass."""
    R = np.array([T[:3, :3] for T in motion])
    c = np.array([T[:3, 3] + T[:3, :3] @ solid.center for T in motion])
    acceleration = np.tensordot(_SECOND_DERIVATIVE_WEIGHTS, c, 1) / DIFFERENCE_STEP**2
    R1, R2 = (
        np.tensordot(w, R, 1) / DIFFERENCE_STEP**k
        for k, w in ((1, _FIRST_DERIVATIVE_WEIGHTS), (2, _SECOND_DERIVATIVE_WEIGHTS))
    )
    omega = _kinetostatic_axial_vector(R1 @ R[3].T)
    alpha = _kinetostatic_axial_vector(R2 @ R[3].T + R1 @ R1.T)
    inertia = R[3] @ solid.inertia @ R[3].T
    return solid.mass * (acceleration - g), inertia @ alpha + np.cross(omega, inertia @ omega)


def _virtual_displacement(solid: KinetostaticBody, motion: list[Floats]) -> tuple[Floats, Floats]:
    """δc and δφ per unit of a virtual displacement."""
    rate = np.tensordot(_FIRST_DERIVATIVE_WEIGHTS, np.array(motion), 1) / DIFFERENCE_STEP
    R = motion[3][:3, :3]
    return rate[:3, 3] + rate[:3, :3] @ solid.center, _kinetostatic_axial_vector(rate[:3, :3] @ R.T)


def _kinetostatic_axial_vector(W: Floats) -> Floats:
    """The vector of the skew part of a matrix."""
    return np.array([W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]]) / 2
