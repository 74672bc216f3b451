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

from ...algebra.linear import Array, cross, vector
from ...algebra.spatial import Inertia, Wrench
from ...kinematics.coordinates import (
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_speeds,
)
from ...kinematics.loads import Load, spring_loads, wrench_loads
from ...kinematics.recursions import (
    Pose,
    State,
    accelerations,
    displacements,
    inward,
    joint_force,
    poses,
)
from ...kinematics.tree import GROUND, Tree


def inertia_wrench(inertia: Inertia, state: State) -> Wrench:
    """What it takes to move a body so: F and N about the link's origin.

    I ω̇ + ω × I ω, entry by entry, in what U has already.
    """
    w, wd, a, U = state.omega, state.alpha, state.a, state.U
    h, I = inertia.h, inertia.I  # noqa: E741
    Nx = (
        I[0, 0] * wd[0] + (I[2, 2] - I[1, 1]) * (w[1] * w[2])
        - I[0, 1] * U[2, 0] + I[0, 2] * U[1, 0] + I[1, 2] * (U[1, 1] - U[2, 2])
    )  # fmt: skip
    Ny = (
        I[1, 1] * wd[1] + (I[0, 0] - I[2, 2]) * (w[0] * w[2])
        + I[0, 1] * U[2, 1] - I[1, 2] * U[0, 1] + I[0, 2] * (U[2, 2] - U[0, 0])
    )  # fmt: skip
    Nz = (
        I[2, 2] * wd[2] + (I[1, 1] - I[0, 0]) * (w[0] * w[1])
        - I[0, 2] * U[1, 2] + I[1, 2] * U[0, 2] + I[0, 1] * (U[0, 0] - U[1, 1])
    )  # fmt: skip
    return Wrench(vector(Nx, Ny, Nz) + cross(h, a), inertia.m * a + U @ h)


def inverse_dynamics(
    tree: Tree, q: Array, qd: Array, qdd: Array | None, wrenches: Array | None = None
) -> Array:
    """M q̈ + C q̇ + g for the model's speeds, minus what external wrenches do.

    `wrenches` has a row (moment, force) for each of `tree.names.bodies`, in world axes, acting at
    the body's origin. Dampers, friction and springs are not in here.
    """
    moved = displacements(tree, spread_coordinates(tree, q))
    rate = spread_accelerations(tree, qd, qdd)
    states = accelerations(tree, moved, spread_speeds(tree, qd), rate, -tree.gravity)
    needed = [inertia_wrench(link.inertia, s) for link, s in zip(tree.links, states, strict=True)]
    if wrenches is not None:
        needed = _less_external(tree, needed, poses(tree, moved), wrenches)
    totals = inward(tree, needed, lambda i, _, wrench: moved[i].wrench_out(wrench))
    tau = [f for link, w in zip(tree.links, totals, strict=True) for f in joint_force(link, w)]
    if rate is not None:
        tau = [
            t + effect.rotor * rate[k]
            for k, (t, effect) in enumerate(zip(tau, tree.effects, strict=True))
        ]
    return gather_forces(tree, ca.vertcat(*tau))


def _less_external(
    tree: Tree, needed: list[Wrench], placed: list[Pose], wrenches: Array
) -> list[Wrench]:
    rest = list(needed)
    for row, name in enumerate(tree.names.bodies):
        place = tree.bodies[name]
        R = placed[place.link].R
        moment, force = R.T @ wrenches[row, :3].T, R.T @ wrenches[row, 3:].T
        rest[place.link] = rest[place.link] - Wrench(moment + cross(place.p, force), force)
    return rest


def reactions(
    tree: Tree,
    q: Array,
    qd: Array,
    qdd: Array,
    *,
    in_bodies: bool = False,
    others: Sequence[Load] = (),
) -> Array:
    """Rows (moment, force), one a joint of the mechanism, of what its parent does to its child,
    about the joint's origin in the parent, in world axes or in those of the child; drives and
    passive forces included. `others` act on bodies beside what the mechanism has.
    """
    moved = displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_speeds(tree, qd), spread_accelerations(tree, qd, qdd)
    states = accelerations(tree, moved, v, vd, -tree.gravity)
    placed = poses(tree, moved)
    applied: dict[str, Wrench] = {}
    for load in (*spring_loads(tree, q, qd), *wrench_loads(tree, q), *others):
        moment = load.moment + cross(load.point, load.force)
        one = Wrench(moment, load.force)
        applied[load.body] = applied[load.body] + one if load.body in applied else one
    beyond: dict[str, Wrench] = {}  # about the world's origin, world axes
    for name, joint in reversed(list(tree.mechanism.joints_depth_first())):
        total = _body_wrench(tree, joint.child, states, placed)
        if joint.child in applied:
            total = total - applied[joint.child]
        for other, outer in tree.mechanism.joints.items():
            if outer.parent == joint.child:
                total = total + beyond[other]
        beyond[name] = total
    rows = []
    for span in tree.joints:
        origin = _origin(span.frame.link, span.frame.p, placed)
        wrench = beyond[span.name]
        moment, force = wrench.moment - cross(origin, wrench.force), wrench.force
        if in_bodies:
            child = tree.bodies[tree.mechanism.joints[span.name].child]
            R = child.R if child.link == GROUND else placed[child.link].R @ child.R
            moment, force = R.T @ moment, R.T @ force
        rows.append(ca.vertcat(moment, force).T)
    return ca.vertcat(*rows)


def _body_wrench(tree: Tree, body: str, states: list[State], placed: list[Pose]) -> Wrench:
    """What moves one body, about the world's origin in world axes; nothing if it is fixed."""
    link = tree.bodies[body].link
    if link == GROUND:
        weight = -(tree.inertias[body].m * tree.gravity)
        return Wrench(cross(tree.inertias[body].h, -tree.gravity), ca.SX(weight))
    own, pose = inertia_wrench(tree.inertias[body], states[link]), placed[link]
    force = pose.R @ own.force
    return Wrench(pose.R @ own.moment + cross(pose.p, force), force)


def _origin(link: int, p: Array, placed: list[Pose]) -> Array:
    return p if link == GROUND else placed[link].p + placed[link].R @ p
