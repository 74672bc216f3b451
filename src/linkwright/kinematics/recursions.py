"""The loops over links: displacements, velocities, accelerations, and sums back to ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, Self, TypeVar

import casadi as ca

from ..algebra.linear import IDENTITY, ZERO3, Array, Scalar, cross, vector
from ..algebra.rotations import quaternion_rotation, rotation_z
from ..algebra.spatial import REST, Motion, Wrench
from .joints import Kind
from .tree import GROUND, Link, Tree

T = TypeVar("T")


class Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


A = TypeVar("A", bound=Addable)


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
    """Where a link stands in its parent: turned by R0·R, origin at p (parent's axes).

    The constant turn R0 and the joint's turn R are applied one after the other, because
    the first is mostly a permutation.
    """

    R0: Array
    R: Array
    p: Array

    @property
    def rotation(self) -> Array:
        return self.R0 @ self.R

    def into(self, a: Array) -> Array:
        """Components in the link's axes of a vector given in the parent's."""
        return self.R.T @ (self.R0.T @ a)

    def out(self, a: Array) -> Array:
        """Components in the parent's axes of a vector given in the link's."""
        return self.R0 @ (self.R @ a)

    def motion_into(self, motion: Motion) -> Motion:
        linear = motion.linear + cross(motion.angular, self.p)
        return Motion(self.into(motion.angular), self.into(linear))

    def motion_out(self, motion: Motion) -> Motion:
        angular = self.out(motion.angular)
        return Motion(angular, self.out(motion.linear) + cross(self.p, angular))

    def wrench_out(self, wrench: Wrench) -> Wrench:
        force = self.out(wrench.force)
        return Wrench(self.out(wrench.moment) + cross(self.p, force), force)

    def wrench_into(self, wrench: Wrench) -> Wrench:
        moment = wrench.moment - cross(self.p, wrench.force)
        return Wrench(self.into(moment), self.into(wrench.force))


def displacements(tree: Tree, q: Array) -> list[Displacement]:
    """Every link's placement in its parent, at the tree's coordinates q."""
    return [_displacement(link, q[link.q_range]) for link in tree.links]


def _displacement(link: Link, q: Array) -> Displacement:
    match link.kind:
        case Kind.TURN:
            return Displacement(link.R, rotation_z((ca.cos(q), ca.sin(q))), link.p)
        case Kind.SLIDE:
            return Displacement(link.R, IDENTITY, link.p + link.R[:, 2] * q)
        case Kind.SCREW:
            turned = rotation_z((ca.cos(q), ca.sin(q)))
            return Displacement(link.R, turned, link.p + link.R[:, 2] * (link.pitch * q))
        case Kind.BALL:
            return Displacement(link.R, quaternion_rotation([q[i] for i in range(4)]), link.p)
        case Kind.FREE:
            turned = quaternion_rotation([q[i] for i in range(3, 7)])
            return Displacement(link.R, turned, link.p + link.R @ q[:3])


def joint_motion(link: Link, v: Array) -> Motion:
    """What the joint's own speeds (or their rates) add, in the link's axes: S v."""
    match link.kind:
        case Kind.TURN:
            return Motion(vector(0.0, 0.0, v), ZERO3)
        case Kind.SLIDE:
            return Motion(ZERO3, vector(0.0, 0.0, v))
        case Kind.SCREW:
            return Motion(vector(0.0, 0.0, v), vector(0.0, 0.0, link.pitch * v))
        case Kind.BALL:
            return Motion(v, ZERO3)
        case Kind.FREE:
            return Motion(v[:3], v[3:])


def subspace(link: Link) -> list[Motion]:
    """The columns of S, constant in the link's own frame."""
    size = link.kind.speeds
    return [joint_motion(link, ca.SX.eye(size)[:, k]) for k in range(size)]


def joint_force(link: Link, wrench: Wrench) -> list[Scalar]:
    """Sᵀ times a wrench on the link: the forces along its speeds."""
    n, f = wrench.moment, wrench.force
    match link.kind:
        case Kind.TURN:
            return [n[2]]
        case Kind.SLIDE:
            return [f[2]]
        case Kind.SCREW:
            return [n[2] + link.pitch * f[2]]
        case Kind.BALL:
            return [n[0], n[1], n[2]]
        case Kind.FREE:
            return [n[0], n[1], n[2], f[0], f[1], f[2]]


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


def accelerations(
    tree: Tree, moved: Sequence[Displacement], v: Array, vd: Array | None, ground: Array
) -> list[State]:
    """Every link's rates and accelerations, ground accelerating by `ground` (−g for weight).

    With `vd` None the speeds are constant: what remains is J̇ v.
    """

    def step(index: int, link: Link, parent: State) -> State:
        d, own = moved[index], joint_motion(link, v[link.v_range])
        omega_p = d.into(parent.omega)
        pull = cross(parent.alpha, d.p) + cross(parent.omega, cross(parent.omega, d.p))
        alpha = d.into(parent.alpha) + cross(omega_p, own.angular)
        a = d.into(parent.a + pull) + cross(2 * omega_p + own.angular, own.linear)
        if vd is not None:
            rate = joint_motion(link, vd[link.v_range])
            alpha, a = alpha + rate.angular, a + rate.linear
        return State(omega_p + own.angular, alpha, a)

    return outward(tree, State(ZERO3, ZERO3, ground), step)


@dataclass(frozen=True)
class Pose:
    """Rotation and position of a link in the world."""

    R: Array
    p: Array


def poses(tree: Tree, moved: Sequence[Displacement]) -> list[Pose]:
    def step(index: int, link: Link, parent: Pose) -> Pose:
        d = moved[index]
        return Pose(parent.R @ d.rotation, parent.p + parent.R @ d.p)

    return outward(tree, Pose(IDENTITY, ZERO3), step)
