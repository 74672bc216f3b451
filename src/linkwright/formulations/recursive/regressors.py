"""Regressors: inverse dynamics as a matrix times the bodies' inertial parameters.

π has (m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz) of each body, about its frame's origin. What a
body needs is linear in them; each column is that wrench for one parameter being 1, brought to
the joints below.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np

from ...algebra.linear import ZERO3, Array, cross, vector
from ...algebra.spatial import REST, Inertia, Motion, Wrench
from ...kinematics.coordinates import (
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_speeds,
)
from ...kinematics.recursions import (
    Displacement,
    State,
    accelerations,
    displacements,
    joint_force,
    joint_motion,
    outward,
    velocities,
)
from ...kinematics.tree import Link, Placed, Tree
from .coriolis import body_coriolis

_ENTRIES = [(0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)]
"""Ixx, Ixy, Iyy, Ixz, Iyz, Izz."""


def regressor(tree: Tree, q: Array, qd: Array, qdd: Array, bodies: Sequence[Placed]) -> Array:
    """Y with Y π = M q̈ + C q̇ + g, nv × 10·bodies, columns in the bodies' own frames."""
    moved = displacements(tree, spread_coordinates(tree, q))
    v, vd = spread_speeds(tree, qd), spread_accelerations(tree, qd, qdd)
    states = accelerations(tree, moved, v, vd, -tree.gravity)
    columns = []
    for place in bodies:
        d = Displacement(place.p, place.R)
        state = states[place.link]
        own = State(d.into(state.omega), d.into(state.alpha), d.into(state.at(place.p)))
        columns.append([d.wrench_out(w) for w in _wrenches(own)])
    return _projected(tree, moved, bodies, columns)


def _wrenches(state: State) -> list[Wrench]:
    """F = m a + U h, N = h × a + I ω̇ + ω × I ω, parameter by parameter."""
    (x, y, z), (ax, ay, az) = ([u[i] for i in range(3)] for u in (state.omega, state.alpha))
    a, U = state.a, state.U
    unit = np.eye(3)
    first = [Wrench(cross(unit[k], a), U[:, k]) for k in range(3)]
    tensor = [
        vector(ax, x * z, -(x * y)),  # Ixx
        vector(-U[2, 0], U[2, 1], x * x - y * y),  # Ixy
        vector(-(y * z), ay, x * y),  # Iyy
        vector(U[1, 0], z * z - x * x, -U[1, 2]),  # Ixz
        vector(y * y - z * z, -U[0, 1], U[0, 2]),  # Iyz
        vector(y * z, -(x * z), az),  # Izz
    ]
    return [Wrench(ZERO3, a), *first, *(Wrench(n, ZERO3) for n in tensor)]


def _projected(
    tree: Tree,
    moved: Sequence[Displacement],
    bodies: Sequence[Placed],
    columns: Sequence[Sequence[Wrench]],
) -> Array:
    """Forces at the joints for unit parameters, from the wrenches on the links."""
    Y = ca.SX.zeros(tree.tree_nv, 10 * len(bodies))
    for number, place in enumerate(bodies):
        for k, wrench in enumerate(columns[number]):
            for index in tree.path(place.link):
                link = tree.links[index]
                for row, force in enumerate(joint_force(link, wrench)):
                    Y[link.v + row, 10 * number + k] = force
                wrench = moved[index].wrench_out(wrench)
    return gather_forces(tree, Y)


def control_regressor(
    tree: Tree, q: Array, qd: Array, v: Array, vd: Array, bodies: Sequence[Placed]
) -> Array:
    """Φ with Φ π = M v̇ + C v + g, nv × 10·bodies, columns in the bodies' own frames.

    A body's share is I(J v̇ + J̇ v − g) + B(I, J q̇) J v, which is linear in I.
    """
    moved = displacements(tree, spread_coordinates(tree, q))
    speeds = spread_speeds(tree, qd)
    reference, rate = spread_speeds(tree, v), spread_accelerations(tree, v, vd)
    real = velocities(tree, moved, speeds)
    wanted = velocities(tree, moved, reference)
    accelerated = _reference_accelerations(tree, moved, real, reference, rate)
    columns = []
    for place in bodies:
        i, d = place.link, Displacement(place.p, place.R)
        motions = [d.motion_into(m) for m in (real[i], wanted[i], accelerated[i])]
        columns.append([d.wrench_out(w) for w in _general_wrenches(*motions)])
    return _projected(tree, moved, bodies, columns)


def _reference_accelerations(
    tree: Tree, moved: list[Displacement], real: list[Motion], v: Array, vd: Array
) -> list[Motion]:
    """Spatial J v̇ + J̇ v, with ground accelerating by −g."""

    def step(index: int, link: Link, parent: Motion) -> Motion:
        own = joint_motion(link, v[link.v_range])
        inherited = moved[index].motion_into(parent)
        return inherited + joint_motion(link, vd[link.v_range]) + real[index].cross(own)

    return outward(tree, Motion(REST.angular, -tree.gravity), step)


def _general_wrenches(real: Motion, wanted: Motion, a: Motion) -> list[Wrench]:
    """The body's wrench for each inertial parameter (m, mx … Izz) being 1, the others 0."""
    columns = []
    for k in range(10):
        unit = _unit_inertia(k)
        columns.append(unit @ a + body_coriolis(unit, real) @ wanted)
    return columns


def _unit_inertia(k: int) -> Inertia:
    """The inertia whose k-th parameter is 1, the others 0."""
    h, tensor = np.zeros(3), np.zeros((3, 3))
    if 1 <= k <= 3:
        h[k - 1] = 1.0
    elif k >= 4:
        i, j = _ENTRIES[k - 4]
        tensor[i, j] = tensor[j, i] = 1.0
    return Inertia(1.0 if k == 0 else 0.0, h, tensor)
