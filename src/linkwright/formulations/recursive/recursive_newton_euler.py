"""Recursive Newton–Euler: forces from accelerations, O(n). Luh, Walker and Paul (1980),
in link frames, moments about link origins, with U = [ω̇] + [ω][ω].

    outward   ω_i, ω̇_i, a_i                   motion of link i (ground accelerates by −g)
    bodies    F_i = m a + U h                  h = m c, first moment
              N_i = I ω̇ + ω × I ω + h × a      about the link's origin
    inward    f_i = F_i + Σ_children f,        n_i likewise, with lever arms
    joints    τ_i = Sᵀ(n_i, f_i)
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from ...algebra.linear_algebra import (
    Array,
    column_vector,
    cross,
    matrix_entries,
    vector_entries,
)
from ...algebra.spatial import SpatialForce, SpatialInertia
from ...kinematics.body_forces import BodyForce, declared_body_forces, spring_body_forces
from ...kinematics.kinematic_tree import GROUND, KinematicTree
from ...kinematics.recursions import (
    LinkKinematics,
    LinkPose,
    link_accelerations,
    link_displacements,
    link_poses,
    project_wrench_on_link_motion,
    recurse_tree_inward,
)
from ...kinematics.rotor_inertias import rotor_inertia_forces
from ...kinematics.tree_coordinates import (
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)


def newton_euler_wrench(inertia: SpatialInertia, state: LinkKinematics) -> SpatialForce:
    """The wrench (N, F) about the link's origin that a body needs for its motion.

    I ω̇ + ω × I ω is written entry by entry, with the products that U contains already.
    """
    (wx, wy, wz), (ax, ay, az) = vector_entries(state.omega), vector_entries(state.alpha)
    U = state.angular_acceleration_tensor
    (Uxx, Uxy, Uxz), (Uyx, Uyy, Uyz), (Uzx, Uzy, Uzz) = matrix_entries(U)
    (Ixx, Ixy, Ixz), (_, Iyy, Iyz), (_, _, Izz) = matrix_entries(inertia.I)
    Nx = Ixx * ax + (Izz - Iyy) * (wy * wz) - Ixy * Uzx + Ixz * Uyx + Iyz * (Uyy - Uzz)
    Ny = Iyy * ay + (Ixx - Izz) * (wx * wz) + Ixy * Uzy - Iyz * Uxy + Ixz * (Uzz - Uxx)
    Nz = Izz * az + (Iyy - Ixx) * (wx * wy) - Ixz * Uyz + Iyz * Uxz + Ixy * (Uxx - Uyy)
    h, a = inertia.h, state.a
    return SpatialForce(column_vector(Nx, Ny, Nz) + cross(h, a), inertia.m * a + U @ h)


def newton_euler_forces(
    tree: KinematicTree, q: Array, qd: Array, qdd: Array | None, wrenches: Array | None = None
) -> Array:
    """M q̈ + C q̇ + g along the model's velocities, minus the forces of external wrenches.

    `wrenches` has a row (moment, force) for each of `tree.names.bodies`, in world axes, at the
    body's origin. Dampers, friction and springs are not included.
    """
    moved = link_displacements(tree, spread_coordinates(tree, q))
    rate = spread_accelerations(tree, qd, qdd)
    states = link_accelerations(tree, moved, spread_velocities(tree, qd), rate, -tree.gravity)
    needed = [
        newton_euler_wrench(link.inertia, s) for link, s in zip(tree.links, states, strict=True)
    ]
    if wrenches is not None:
        needed = _newton_euler_minus_external(tree, needed, link_poses(tree, moved), wrenches)
    totals = recurse_tree_inward(
        tree, needed, lambda i, _, wrench: moved[i].wrench_to_parent(wrench)
    )
    tau = [
        f
        for link, w in zip(tree.links, totals, strict=True)
        for f in project_wrench_on_link_motion(link, w)
    ]
    if rate is not None:
        rotors = rotor_inertia_forces(tree, rate)
        tau = [t + rotors[k] for k, t in enumerate(tau)]
    return gather_forces(tree, ca.vertcat(*tau))


def _newton_euler_minus_external(
    tree: KinematicTree, needed: list[SpatialForce], placed: list[LinkPose], wrenches: Array
) -> list[SpatialForce]:
    """The wrenches that the links need, minus the external ones."""
    rest = list(needed)
    for row, name in enumerate(tree.names.bodies):
        place = tree.bodies[name]
        R = placed[place.link].R
        moment, force = R.T @ wrenches[row, :3].T, R.T @ wrenches[row, 3:].T
        rest[place.link] = rest[place.link] - SpatialForce(moment + cross(place.p, force), force)
    return rest


def newton_euler_joint_reactions(
    tree: KinematicTree,
    q: Array,
    qd: Array,
    qdd: Array,
    *,
    in_bodies: bool = False,
    others: Sequence[BodyForce] = (),
) -> Array:
    """The wrench of every joint's parent on its child, as rows (moment, force).

    Moments are about the joint's origin in the parent, in world axes or in those of the child;
    joint forces and passive forces are included. `others` are forces on bodies that the mechanism
    does not declare.
    """
    moved = link_displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_velocities(tree, qd), spread_accelerations(tree, qd, qdd)
    states = link_accelerations(tree, moved, v, vd, -tree.gravity)
    placed = link_poses(tree, moved)
    applied: dict[str, SpatialForce] = {}
    for load in (*spring_body_forces(tree, q, qd), *declared_body_forces(tree, q), *others):
        moment = load.moment + cross(load.point, load.force)
        one = SpatialForce(moment, load.force)
        applied[load.body] = applied[load.body] + one if load.body in applied else one
    beyond: dict[str, SpatialForce] = {}  # about the world's origin, world axes
    for name, joint in reversed(list(tree.mechanism.joints_depth_first())):
        total = _newton_euler_world_wrench(tree, joint.child, states, placed)
        if joint.child in applied:
            total = total - applied[joint.child]
        for other, outer in tree.mechanism.joints.items():
            if outer.parent == joint.child:
                total = total + beyond[other]
        beyond[name] = total
    rows = []
    for span in tree.joints:
        origin = _reaction_origin_in_world(span.frame.link, span.frame.p, placed)
        wrench = beyond[span.name]
        moment, force = wrench.moment - cross(origin, wrench.force), wrench.force
        if in_bodies:
            child = tree.bodies[tree.mechanism.joints[span.name].child]
            R = child.R if child.link == GROUND else placed[child.link].R @ child.R
            moment, force = R.T @ moment, R.T @ force
        rows.append(ca.vertcat(moment, force).T)
    return ca.vertcat(*rows)


def _newton_euler_world_wrench(
    tree: KinematicTree, body: str, states: list[LinkKinematics], placed: list[LinkPose]
) -> SpatialForce:
    """The wrench that one body needs, about the world's origin in world axes; minus its weight if
    the body is fixed."""
    link = tree.bodies[body].link
    if link == GROUND:
        weight = -(tree.inertias[body].m * tree.gravity)
        return SpatialForce(cross(tree.inertias[body].h, -tree.gravity), ca.SX(weight))
    own, pose = newton_euler_wrench(tree.inertias[body], states[link]), placed[link]
    force = pose.R @ own.force
    return SpatialForce(pose.R @ own.moment + cross(pose.p, force), force)


def _reaction_origin_in_world(link: int, p: Array, placed: list[LinkPose]) -> Array:
    """The position in the world of the point p of a link."""
    return p if link == GROUND else placed[link].p + placed[link].R @ p
