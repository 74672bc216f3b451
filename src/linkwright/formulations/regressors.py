"""Regressors: inverse dynamics as a matrix times the bodies' inertial parameters.

π has (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each body, about its frame's origin. The
wrench that a body needs is linear in them; each column is the wrench for one parameter being 1,
projected onto the joints below.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import ZERO3, Array, column_vector, cross
from ..algebra.spatial import ZERO_MOTION, SpatialForce, SpatialInertia, SpatialMotion
from ..kinematics.kinematic_tree import KinematicTree, LinkFrame, TreeLink
from ..kinematics.recursions import (
    LinkDisplacement,
    LinkKinematics,
    link_accelerations,
    link_displacements,
    link_joint_motion,
    link_twists,
    project_wrench_on_link_motion,
    recurse_tree_outward,
)
from ..kinematics.tree_coordinates import (
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from .recursive_coriolis import body_coriolis_block

_TENSOR_ENTRIES = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
"""Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""


def recursive_dynamics_regressor(
    tree: KinematicTree, q: Array, qd: Array, qdd: Array, bodies: Sequence[LinkFrame]
) -> Array:
    """Y with Y π = M q̈ + C q̇ + g, nv × 10·bodies, columns in the bodies' own frames."""
    moved = link_displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_velocities(tree, qd), spread_accelerations(tree, qd, qdd)
    states = link_accelerations(tree, moved, v, vd, -tree.gravity)
    columns = []
    for place in bodies:
        d = LinkDisplacement(place.p, place.R)
        state = states[place.link]
        own = LinkKinematics(
            d.to_link_axes(state.omega),
            d.to_link_axes(state.alpha),
            d.to_link_axes(state.point_acceleration(place.p)),
        )
        columns.append([d.wrench_to_parent(w) for w in _newton_euler_unit_wrenches(own)])
    return _recursive_regressor_columns(tree, moved, bodies, columns)


def _newton_euler_unit_wrenches(state: LinkKinematics) -> list[SpatialForce]:
    """The wrench of a body for each inertial parameter being 1: F = m a + U h, N = h × a + I ω̇ + ω
    × I ω."""
    (x, y, z), (ax, ay, az) = ([u[i] for i in range(3)] for u in (state.omega, state.alpha))
    a, U = state.a, state.angular_acceleration_tensor
    unit = np.eye(3)
    first = [SpatialForce(cross(unit[k], a), U[:, k]) for k in range(3)]
    tensor = [
        column_vector(ax, x * z, -(x * y)),  # Ixx
        column_vector(-U[2, 0], U[2, 1], x * x - y * y),  # Ixy
        column_vector(-(y * z), ay, x * y),  # Iyy
        column_vector(U[1, 0], z * z - x * x, -U[1, 2]),  # Ixz
        column_vector(y * y - z * z, -U[0, 1], U[0, 2]),  # Iyz
        column_vector(y * z, -(x * z), az),  # Izz
    ]
    return [SpatialForce(ZERO3, a), *first, *(SpatialForce(n, ZERO3) for n in tensor)]


def _recursive_regressor_columns(
    tree: KinematicTree,
    moved: Sequence[LinkDisplacement],
    bodies: Sequence[LinkFrame],
    columns: Sequence[Sequence[SpatialForce]],
) -> Array:
    """The regressor: forces at the joints, from the wrenches of unit parameters on the links."""
    Y = ca.SX.zeros(tree.tree_nv, 10 * len(bodies))
    for number, place in enumerate(bodies):
        for k, wrench in enumerate(columns[number]):
            for index in tree.path_to_ground(place.link):
                link = tree.links[index]
                for row, force in enumerate(project_wrench_on_link_motion(link, wrench)):
                    Y[link.v + row, 10 * number + k] = force
                wrench = moved[index].wrench_to_parent(wrench)
    return gather_forces(tree, Y)


def recursive_slotine_li_regressor(
    tree: KinematicTree, q: Array, qd: Array, v: Array, vd: Array, bodies: Sequence[LinkFrame]
) -> Array:
    """Φ with Φ π = M v̇ + C v + g, nv × 10·bodies, columns in the bodies' own frames.

    A body's share is I(J v̇ + J̇ v − g) + B(I, J q̇) J v, which is linear in I.
    """
    moved = link_displacements(tree, spread_coordinates(tree, q))
    speeds = spread_velocities(tree, qd)
    reference, rate = spread_velocities(tree, v), spread_accelerations(tree, v, vd)
    real = link_twists(tree, moved, speeds)
    wanted = link_twists(tree, moved, reference)
    accelerated = _slotine_li_accelerations(tree, moved, real, reference, rate)
    columns = []
    for place in bodies:
        i, d = place.link, LinkDisplacement(place.p, place.R)
        motions = [d.motion_to_link(m) for m in (real[i], wanted[i], accelerated[i])]
        columns.append([d.wrench_to_parent(w) for w in _slotine_li_wrenches(*motions)])
    return _recursive_regressor_columns(tree, moved, bodies, columns)


def _slotine_li_accelerations(
    tree: KinematicTree,
    moved: list[LinkDisplacement],
    real: list[SpatialMotion],
    v: Array,
    vd: Array,
) -> list[SpatialMotion]:
    """The spatial accelerations J v̇ + J̇ v of all links, with ground accelerating by −g."""

    def slotine_li_acceleration(index: int, link: TreeLink, parent: SpatialMotion) -> SpatialMotion:
        own = link_joint_motion(link, v[link.velocity_range])
        inherited = moved[index].motion_to_link(parent)
        return inherited + link_joint_motion(link, vd[link.velocity_range]) + real[index].cross(own)

    ground = SpatialMotion(ZERO_MOTION.angular, -tree.gravity)
    return recurse_tree_outward(tree, ground, slotine_li_acceleration)


def _slotine_li_wrenches(
    real: SpatialMotion, wanted: SpatialMotion, a: SpatialMotion
) -> list[SpatialForce]:
    """The wrench of a body for each inertial parameter (m, mx … Izz) being 1, the others 0."""
    columns = []
    for k in range(10):
        unit = _slotine_li_unit_inertia(k)
        columns.append(unit @ a + body_coriolis_block(unit, real) @ wanted)
    return columns


def _slotine_li_unit_inertia(k: int) -> SpatialInertia:
    """The inertia whose k-th parameter is 1 and all others 0."""
    h, tensor = np.zeros(3), np.zeros((3, 3))
    if 1 <= k <= 3:
        h[k - 1] = 1.0
    elif k >= 4:
        i, j = _TENSOR_ENTRIES[k - 4]
        tensor[i, j] = tensor[j, i] = 1.0
    return SpatialInertia(1.0 if k == 0 else 0.0, h, tensor)
