"""Functions that follow from placements, velocities and inertias alone, for all formulations.

Each takes the formulation, whose symbols q, q̇ and q̈ it uses, and functions of frames also the name
of a frame or body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar, cross, dot, solve_symmetric_matrix
from ..errors import UnsupportedError
from ..kinematics.kinematic_tree import KinematicTree, LinkFrame
from ..kinematics.recursions import LinkDisplacement, link_displacements, link_poses, link_twists
from ..kinematics.tree_coordinates import (
    coordinate_rate_matrix,
    spread_coordinates,
    spread_velocities,
)
from .composite_mass_matrix import composite_mass_matrix, factor_mass_matrix
from .regressors import recursive_dynamics_regressor, recursive_slotine_li_regressor

if TYPE_CHECKING:
    from .formulation import Formulation

_TWIST_SIZE = 6
"""Rows of a frame's Jacobian: three of ω, three of v."""


def _configuration_rate(own: Formulation, expression: Array) -> Array:
    """The rate of an expression of q (and of t, in moving coordinates) along q̇."""
    entries = ca.vec(ca.densify(expression))
    rate = ca.jtimes(entries, own.q, coordinate_rate_matrix(own.tree, own.q) @ own.qd)
    if own.tree.names.has_moving_coordinates:
        rate += ca.jacobian(entries, own.tree.motion.t)
    return ca.reshape(rate, *expression.shape)


def _derivative_by_configuration(own: Formulation, expression: Array) -> Array:
    """The derivative of an expression by q along the tangent, nv columns."""
    return ca.jacobian(expression, own.q) @ coordinate_rate_matrix(own.tree, own.q)


# -- functions of the mechanism ------------------------------------------------------------


def mass_matrix_inverse(own: Formulation) -> Array:
    """M⁻¹ by the sparse factors of M."""
    return _solve_mass_matrix(own, ca.SX.eye(own.tree.nv))


def _solve_mass_matrix(own: Formulation, right: Array) -> Array:
    """M⁻¹ times a matrix."""
    tree = own.regrouped_tree
    factors = factor_mass_matrix(tree, composite_mass_matrix(tree, own.q))
    columns = (ca.vertcat(*factors.solve(ca.vertsplit(x))) for x in ca.horzsplit(ca.densify(right)))
    return ca.horzcat(*columns)


def center_of_mass_jacobian(own: Formulation) -> Array:
    """∂ċ/∂q̇ of the centre of mass of all bodies."""
    return _derivative_by_configuration(own, own.center_of_mass())


def subtree_centers_of_mass(own: Formulation) -> Array:
    """The centre of mass of each body and all bodies beyond it, one row each."""
    tree, q = own.tree, own.q
    placed = link_poses(tree, link_displacements(tree, spread_coordinates(tree, q)))
    masses: list[Scalar] = [link.inertia.m for link in tree.links]
    moments: list[Array] = [
        link.inertia.m * pose.p + pose.R @ link.inertia.h
        for link, pose in zip(tree.links, placed, strict=True)
    ]
    for k in range(len(tree.links) - 1, -1, -1):
        if (parent := tree.links[k].parent) >= 0:
            masses[parent] = masses[parent] + masses[k]
            moments[parent] = moments[parent] + moments[k]
    rows = []
    for place in _moving_bodies(tree):
        mass, pose = masses[place.link], placed[place.link]
        is_massless = isinstance(mass, float) and mass == 0.0
        center = pose.p + pose.R @ place.p if is_massless else moments[place.link] / mass
        rows.append(ca.SX(center).T)
    return ca.vertcat(*rows)


def centroidal_momentum_matrix(own: Formulation) -> Array:
    """A = ∂h/∂q̇ of the momentum h about the centre of mass."""
    return ca.jacobian(own.momentum(), own.qd)


def centroidal_momentum_matrix_rate(own: Formulation) -> Array:
    """Ȧ of the centroidal momentum matrix."""
    return _configuration_rate(own, centroidal_momentum_matrix(own))


def regressor(own: Formulation) -> Array:
    """Y with Y π = M q̈ + C q̇ + g, nv × 10·bodies."""
    return recursive_dynamics_regressor(own.tree, own.q, own.qd, own.qdd, _moving_bodies(own.tree))


def control_regressor(own: Formulation) -> Array:
    """Slotine and Li's regressor Φ with Φ π = M v̇ + C v + g, nv × 10·bodies."""
    v, vd = own.symbols["v"], own.symbols["vd"]
    bodies = _moving_bodies(own.tree)
    return recursive_slotine_li_regressor(own.tree, own.q, own.qd, v, vd, bodies)


def _moving_bodies(tree: KinematicTree) -> list[LinkFrame]:
    """The bodies whose inertial parameters the columns of regressors belong to."""
    return [tree.bodies[name] for name in tree.names.bodies]


def kinetic_energy_regressor(own: Formulation) -> Array:
    """Y with Y π = T: ½ m v², h · (v × ω) and ½ ωᵀI ω of each body, in its own frame."""
    tree = own.tree
    moved = link_displacements(tree, spread_coordinates(tree, own.q))
    twists = link_twists(tree, moved, spread_velocities(tree, own.qd))
    entries: list[Scalar] = []
    for place in _moving_bodies(tree):
        twist = LinkDisplacement(place.p, place.R).motion_to_link(twists[place.link])
        v, (x, y, z) = twist.linear, (twist.angular[k] for k in range(3))
        first = cross(v, twist.angular)
        entries += [dot(v, v) / 2, *(first[k] for k in range(3))]
        entries += [x * x / 2, x * y, y * y / 2, x * z, y * z, z * z / 2]
    return ca.vertcat(*entries)


def potential_energy_regressor(own: Formulation) -> Array:
    """Y with Y π = −gᵀ(m p + R h) of all bodies, the potential energy of weight."""
    tree = own.tree
    placed = link_poses(tree, link_displacements(tree, spread_coordinates(tree, own.q)))
    entries: list[Scalar] = []
    for place in _moving_bodies(tree):
        pose = placed[place.link]
        along = (pose.R @ place.R).T @ tree.gravity
        entries += [-dot(tree.gravity, pose.p + pose.R @ place.p)]
        entries += [*(-along[k] for k in range(3)), *[ca.SX(0)] * 6]
    return ca.vertcat(*entries)


# -- functions of a frame -------------------------------------------------------------------


def jacobian_rate(own: Formulation, frame: str) -> Array:
    """J̇ of the frame's Jacobian."""
    return _configuration_rate(own, own.jacobian(frame))


def frame_velocity_derivatives(own: Formulation, frame: str) -> tuple[Array, Array]:
    """∂V/∂q along the tangent, and ∂V/∂q̇ = J, of the frame's twist V."""
    V = own.frame_velocity(frame)
    return _derivative_by_configuration(own, V), own.jacobian(frame)


def frame_acceleration_derivatives(own: Formulation, frame: str) -> tuple[Array, Array, Array]:
    """∂A/∂q along the tangent, ∂A/∂q̇ and ∂A/∂q̈ = J, of the frame's acceleration A."""
    A = own.frame_acceleration(frame)
    return _derivative_by_configuration(own, A), ca.jacobian(A, own.qd), own.jacobian(frame)


def inverse_operational_inertia(own: Formulation, frame: str) -> Array:
    """Λ⁻¹ = J M⁻¹ Jᵀ."""
    J = own.jacobian(frame)
    return J @ _solve_mass_matrix(own, J.T)


def operational_inertia(own: Formulation, frame: str) -> Array:
    """Λ = (J M⁻¹ Jᵀ)⁻¹; an error where the frame cannot move in all six directions."""
    count = _moving_columns(own.jacobian(frame)).shape[1]
    if count < _TWIST_SIZE:
        raise UnsupportedError(
            f"'{frame}' has {count} of the 6 degrees of freedom that operational_inertia needs",
            where=own.tree.mechanism.name,
            remedy="invert the rows that you need of inverse_operational_inertia",
        )
    inverse = ca.densify(inverse_operational_inertia(own, frame))
    return solve_symmetric_matrix(inverse, ca.SX.eye(_TWIST_SIZE))


def _moving_columns(J: Array) -> Array:
    """The columns of a Jacobian of the velocities that move its frame."""
    return J[:, [k for k in range(J.shape[1]) if not J[:, k].is_zero()]]


def manipulability(own: Formulation, frame: str) -> tuple[Scalar, Scalar, Scalar]:
    """Yoshikawa's √det(J Jᵀ) of the whole Jacobian, of its rotation and of its translation."""
    J = _moving_columns(own.jacobian(frame))
    return tuple(_jacobian_volume(rows) for rows in (J, J[:3, :], J[3:, :]))


def _jacobian_volume(J: Array) -> Scalar:
    """The product of the singular values, without divisions: |det J|, √det(J Jᵀ), or √det(JᵀJ)
    where there are fewer columns than rows."""
    rows, columns = J.shape
    if rows == columns:
        return ca.fabs(_determinant(J))
    return ca.sqrt(ca.fmax(0, _determinant(J @ J.T if rows < columns else J.T @ J)))


def _determinant(A: Array) -> Scalar:
    """The determinant by expansion along the rows; each minor is computed once."""
    size = A.shape[0]

    @cache
    def minor(columns: tuple[int, ...]) -> Scalar:
        """The minor of the last rows in these columns."""
        if not columns:
            return ca.SX(1)
        row = size - len(columns)
        terms = (
            (-1) ** k * A[row, column] * minor((*columns[:k], *columns[k + 1 :]))
            for k, column in enumerate(columns)
        )
        return sum(terms, ca.SX(0))

    return minor(tuple(range(size)))


SHARED_FUNCTIONS: dict[str, Callable[[Formulation], Array]] = {
    build.__name__: build
    for build in (
        mass_matrix_inverse,
        center_of_mass_jacobian,
        subtree_centers_of_mass,
        centroidal_momentum_matrix,
        centroidal_momentum_matrix_rate,
        regressor,
        control_regressor,
        kinetic_energy_regressor,
        potential_energy_regressor,
    )
}
"""Functions of the mechanism, by name."""

SHARED_FRAME_FUNCTIONS: dict[str, Callable[[Formulation, str], Array | tuple[Array, ...]]] = {
    build.__name__: build
    for build in (
        jacobian_rate,
        frame_velocity_derivatives,
        frame_acceleration_derivatives,
        operational_inertia,
        inverse_operational_inertia,
        manipulability,
    )
}
"""Functions of a frame, by name."""
