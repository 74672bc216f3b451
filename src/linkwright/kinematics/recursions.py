"""The loops over links: displacements, velocities, accelerations, and sums back to ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeVar

import casadi as ca
import numpy as np

from ..algebra.linear import IDENTITY, ZERO3, Array, Scalar, cross, matrix, turn, vector
from ..algebra.rotations import quaternion_rotation, rotation_z
from ..algebra.spatial import REST, ArticulatedInertia, Inertia, Motion, Wrench, turned_vector
from .tree import GROUND, Link, Tree

T = TypeVar("T")


class Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


A = TypeVar("A", bound=Addable)
AnyInertia = TypeVar("AnyInertia", Inertia, ArticulatedInertia)


def outward(tree: Tree, ground: T, step: Callable[[int, Link, T], T]) -> list[T]:
    """A value for every link, each made from its parent's by `step(index, link, value)`."""
    values: list[T] = []
    for index, link in enumerate(tree.links):
        values.append(step(index, link, ground if link.parent == GROUND else values[link.parent]))
    return values


def inward(tree: Tree, values: Sequence[A], carry: Callable[[int, Link, A], A]) -> list[A]:
    """Totals over everything that each link carries; `carry` brings a total to its parent."""
    totals = list(values)
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        if link.parent != GROUND:
            totals[link.parent] = totals[link.parent] + carry(index, link, totals[index])
    return totals


@dataclass(frozen=True)
class Displacement:
    """Where a link stands in its parent: at p, turned by the constant R0, then by its own
    motion, then shifted along its own z.

    The parts are applied one after the other, because most of their entries are 0 and 1.
    `cs` are cosine and sine of a turn about z; a ball's turn is a matrix R instead.
    """

    p: Array
    R0: Array
    cs: tuple[Scalar, Scalar] | None = None
    R: Array | None = None
    shift: Scalar = 0.0

    @property
    def rotation(self) -> Array:
        if self.cs is not None:
            return self.R0 @ rotation_z(self.cs)
        return self.R0 if self.R is None else self.R0 @ self.R

    @property
    def position(self) -> Array:
        """The link's origin in the parent."""
        return self.p + self.R0[:, 2] * self.shift

    def into(self, a: Array) -> Array:
        """Components in the link's axes of a vector given in the parent's."""
        a = turn(self.R0.T, a)
        if self.cs is not None:
            c, s = self.cs
            return turned_vector(a, c, -s)
        return a if self.R is None else self.R.T @ a

    def out(self, a: Array) -> Array:
        """Components in the parent's axes of a vector given in the link's."""
        if self.cs is not None:
            a = turned_vector(a, *self.cs)
        elif self.R is not None:
            a = self.R @ a
        return turn(self.R0, a)

    def motion_into(self, motion: Motion) -> Motion:
        w = self.into(motion.angular)
        v = self.into(motion.linear + cross(motion.angular, self.p))
        return Motion(w, v + vector(w[1] * self.shift, -w[0] * self.shift, 0.0))

    def wrench_out(self, wrench: Wrench) -> Wrench:
        n, f = wrench.moment, wrench.force
        lever = vector(-f[1] * self.shift, f[0] * self.shift, 0.0)
        force = self.out(f)
        return Wrench(self.out(n + lever) + cross(self.p, force), force)

    def inertia_out(self, inertia: AnyInertia) -> AnyInertia:
        """A rigid or articulated inertia, given about the link's origin, about the parent's."""
        inertia = inertia.shifted(vector(0.0, 0.0, self.shift))
        if self.cs is not None:
            inertia = inertia.turned(*self.cs)
        elif self.R is not None:
            inertia = inertia.rotated(self.R)
        return inertia.rotated(self.R0).shifted(self.p)


def displacements(tree: Tree, q: Array) -> list[Displacement]:
    """Every link's placement in its parent, at the tree's coordinates q."""
    return [_displacement(link, q[link.q_range]) for link in tree.links]


def _displacement(link: Link, q: Array) -> Displacement:
    R0, p, kind = link.R, link.p, link.kind
    if kind.has_quaternion:
        turned = quaternion_rotation([q[i] for i in range(kind.coordinates - 4, kind.coordinates)])
        return Displacement(p + R0 @ q[:3] if kind.has_position else p, R0, R=turned)
    cs = _cosine_sine(link, q) if kind.turns_about_axis else None
    slide = axial_slide(link, q)
    return Displacement(p, R0, cs=cs, shift=link.shift if slide is None else link.shift + slide)


def axial_slide(link: Link, q: Array) -> Scalar | None:
    """How far a motion about an axis shifts the link along it; None if it does not."""
    if not link.kind.slides_along_axis:
        return None
    return link.pitch * q if link.kind.turns_about_axis else q


def _cosine_sine(link: Link, q: Array) -> tuple[Scalar, Scalar]:
    angle = q if link.offset == 0.0 else q + link.offset
    return ca.cos(angle), ca.sin(angle)


def joint_motion(link: Link, v: Array) -> Motion:
    """What the joint's own speeds (or their rates) add, in the link's axes: S v."""
    kind = link.kind
    if kind.has_quaternion:
        return Motion(v[:3], v[3:] if kind.has_position else ZERO3)
    slide = axial_slide(link, v)
    return Motion(
        vector(0.0, 0.0, v) if kind.turns_about_axis else ZERO3,
        ZERO3 if slide is None else vector(0.0, 0.0, slide),
    )


def subspace(link: Link) -> list[Motion]:
    """The columns of S, constant in the link's own frame."""
    size = link.kind.speeds
    return [joint_motion(link, ca.SX.eye(size)[:, k]) for k in range(size)]


def joint_force(link: Link, wrench: Wrench) -> list[Scalar]:
    """Sᵀ times a wrench on the link: the forces along its speeds."""
    n, f = wrench.moment, wrench.force
    if link.kind.has_quaternion:
        return [n[0], n[1], n[2], *((f[0], f[1], f[2]) if link.kind.has_position else ())]
    along = axial_slide(link, f[2])
    if along is None:
        return [n[2]]
    return [n[2] + along if link.kind.turns_about_axis else along]


def velocities(tree: Tree, moved: Sequence[Displacement], v: Array) -> list[Motion]:
    """Every link's twist in its own axes."""

    def step(index: int, link: Link, parent: Motion) -> Motion:
        return moved[index].motion_into(parent) + joint_motion(link, v[link.v_range])

    return outward(tree, REST, step)


@dataclass(frozen=True)
class State:
    """ω, ω̇ and the acceleration a of a link's origin (not the spatial one), link's axes."""

    omega: Array
    alpha: Array
    a: Array

    @cached_property
    def U(self) -> Array:
        """[ω̇] + [ω][ω]: U p is the acceleration of a point p beyond that of the origin."""
        x, y, z = (_entry(self.omega, i) for i in range(3))
        ax, ay, az = (_entry(self.alpha, i) for i in range(3))
        return matrix(
            [
                [-(y * y + z * z), x * y - az, x * z + ay],
                [x * y + az, -(x * x + z * z), y * z - ax],
                [x * z - ay, y * z + ax, -(x * x + y * y)],
            ]
        )

    def at(self, p: Array) -> Array:
        """Acceleration of the point p of the link."""
        return self.a + self.U @ p


def _entry(a: Array, i: int) -> Scalar:
    return float(a[i]) if isinstance(a, np.ndarray) else a[i]


def accelerations(
    tree: Tree, moved: Sequence[Displacement], v: Array, vd: Array | None, ground: Array
) -> list[State]:
    """Every link's rates and accelerations, ground accelerating by `ground` (−g for weight).

    With `vd` None the speeds are constant: what remains is J̇ v.
    """

    def step(index: int, link: Link, parent: State) -> State:
        d, own = moved[index], joint_motion(link, v[link.v_range])
        omega_p = d.into(parent.omega)
        alpha = d.into(parent.alpha) + cross(omega_p, own.angular)
        a = d.into(parent.at(d.p)) + cross(2 * omega_p + own.angular, own.linear)
        if vd is not None:
            rate = joint_motion(link, vd[link.v_range])
            alpha, a = alpha + rate.angular, a + rate.linear
        axis_point = State(omega_p + own.angular, alpha, a)
        return State(axis_point.omega, alpha, axis_point.at(vector(0.0, 0.0, d.shift)))

    return outward(tree, State(ZERO3, ZERO3, ground), step)


@dataclass(frozen=True)
class Pose:
    """Rotation and position of a link in the world."""

    R: Array
    p: Array


def poses(tree: Tree, moved: Sequence[Displacement]) -> list[Pose]:
    def step(index: int, link: Link, parent: Pose) -> Pose:
        d = moved[index]
        return Pose(parent.R @ d.rotation, parent.p + parent.R @ d.position)

    return outward(tree, Pose(IDENTITY, ZERO3), step)
