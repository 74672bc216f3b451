"""The loops over links: displacements, velocities, accelerations, and sums back to ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, Self, TypeVar

import casadi as ca

from ..algebra.linear_algebra import (
    IDENTITY,
    ZERO3,
    Array,
    Scalar,
    column_vector,
    cross,
    matrix_from_rows,
    rotate_vector,
    vector_entries,
)
from ..algebra.rotations import quaternion_rotation, rotation_z
from ..algebra.spatial import (
    ZERO_MOTION,
    ArticulatedInertia,
    SpatialForce,
    SpatialInertia,
    SpatialMotion,
    rotate_vector_about_z,
)
from .kinematic_tree import GROUND, KinematicTree, Link

T = TypeVar("T")


class Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


A = TypeVar("A", bound=Addable)
AnyInertia = TypeVar("AnyInertia", SpatialInertia, ArticulatedInertia)


def recurse_outward(tree: KinematicTree, ground: T, step: Callable[[int, Link, T], T]) -> list[T]:
    """A value for every link, each made from its parent's by `step(index, link, value)`."""
    values: list[T] = []
    for index, link in enumerate(tree.links):
        values.append(step(index, link, ground if link.parent == GROUND else values[link.parent]))
    return values


def recurse_inward(
    tree: KinematicTree, values: Sequence[A], carry: Callable[[int, Link, A], A]
) -> list[A]:
    """Totals over everything that each link carries; `carry` brings a total to its parent."""
    totals = list(values)
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        if link.parent != GROUND:
            totals[link.parent] = totals[link.parent] + carry(index, link, totals[index])
    return totals


@dataclass(frozen=True)
class LinkDisplacement:
    """The displacement of a link in its parent: at p, turned by the constant R0, then by its own
    motion, then shifted along its own z.

    The parts are applied one after the other, because most of their entries are 0 and 1.
    `cs` are cosine and sine of a turn about z; a ball's turn is a matrix R instead.
    """

    p: Array
    constant_rotation: Array
    cosine_sine: tuple[Scalar, Scalar] | None = None
    R: Array | None = None
    shift: Scalar = 0.0

    @property
    def rotation(self) -> Array:
        if self.cosine_sine is not None:
            return self.constant_rotation @ rotation_z(self.cosine_sine)
        return self.constant_rotation if self.R is None else self.constant_rotation @ self.R

    @property
    def position(self) -> Array:
        """The link's origin in the parent."""
        return self.p + self.constant_rotation[:, 2] * self.shift

    def to_link_axes(self, a: Array) -> Array:
        """Components in the link's axes of a vector given in the parent's."""
        a = rotate_vector(self.constant_rotation.T, a)
        if self.cosine_sine is not None:
            c, s = self.cosine_sine
            return rotate_vector_about_z(a, c, -s)
        return a if self.R is None else self.R.T @ a

    def to_parent_axes(self, a: Array) -> Array:
        """Components in the parent's axes of a vector given in the link's."""
        if self.cosine_sine is not None:
            a = rotate_vector_about_z(a, *self.cosine_sine)
        elif self.R is not None:
            a = self.R @ a
        return rotate_vector(self.constant_rotation, a)

    def motion_to_link(self, motion: SpatialMotion) -> SpatialMotion:
        w = self.to_link_axes(motion.angular)
        v = self.to_link_axes(motion.linear + cross(motion.angular, self.p))
        x, y, _ = vector_entries(w)
        return SpatialMotion(w, v + column_vector(y * self.shift, -x * self.shift, 0.0))

    def wrench_to_parent(self, wrench: SpatialForce) -> SpatialForce:
        n, f = wrench.moment, wrench.force
        x, y, _ = vector_entries(f)
        lever = column_vector(-y * self.shift, x * self.shift, 0.0)
        force = self.to_parent_axes(f)
        return SpatialForce(self.to_parent_axes(n + lever) + cross(self.p, force), force)

    def inertia_to_parent(self, inertia: AnyInertia) -> AnyInertia:
        """A rigid or articulated inertia, given about the link's origin, about the parent's."""
        inertia = inertia.shift_origin(column_vector(0.0, 0.0, self.shift))
        if self.cosine_sine is not None:
            inertia = inertia.rotate_about_z(*self.cosine_sine)
        elif self.R is not None:
            inertia = inertia.rotate(self.R)
        return inertia.rotate(self.constant_rotation).shift_origin(self.p)


def link_displacements(tree: KinematicTree, q: Array) -> list[LinkDisplacement]:
    """Every link's placement in its parent, at the tree's coordinates q."""
    return [_link_displacement(link, q[link.q_range]) for link in tree.links]


def _link_displacement(link: Link, q: Array) -> LinkDisplacement:
    R0, p, kind = link.R, link.p, link.kind
    if kind.has_quaternion:
        turned = quaternion_rotation(
            [q[i] for i in range(kind.coordinate_count - 4, kind.coordinate_count)]
        )
        return LinkDisplacement(p + R0 @ q[:3] if kind.has_position else p, R0, R=turned)
    cs = _link_cosine_sine(link, q) if kind.turns_about_axis else None
    slide = joint_axial_slide(link, q)
    return LinkDisplacement(
        p, R0, cosine_sine=cs, shift=link.shift if slide is None else link.shift + slide
    )


def joint_axial_slide(link: Link, q: Array) -> Scalar | None:
    """The shift along the axis by a motion about it; None if there is none."""
    if not link.kind.slides_along_axis:
        return None
    return link.pitch * q if link.kind.turns_about_axis else q


def _link_cosine_sine(link: Link, q: Array) -> tuple[Scalar, Scalar]:
    angle = q if link.offset == 0.0 else q + link.offset
    return ca.cos(angle), ca.sin(angle)


def joint_motion(link: Link, v: Array) -> SpatialMotion:
    """The contribution of the joint's own velocities (or their rates), in the link's axes: S v."""
    kind = link.kind
    if kind.has_quaternion:
        return SpatialMotion(v[:3], v[3:] if kind.has_position else ZERO3)
    slide = joint_axial_slide(link, v)
    return SpatialMotion(
        column_vector(0.0, 0.0, v) if kind.turns_about_axis else ZERO3,
        ZERO3 if slide is None else column_vector(0.0, 0.0, slide),
    )


def motion_subspace(link: Link) -> list[SpatialMotion]:
    """The columns of S, constant in the link's own frame."""
    size = link.kind.velocity_count
    return [joint_motion(link, ca.SX.eye(size)[:, k]) for k in range(size)]


def project_joint_force(link: Link, wrench: SpatialForce) -> list[Scalar]:
    """Sᵀ times a wrench on the link: the forces along its velocities."""
    n, f = wrench.moment, wrench.force
    if link.kind.has_quaternion:
        return [n[0], n[1], n[2], *((f[0], f[1], f[2]) if link.kind.has_position else ())]
    along = joint_axial_slide(link, f[2])
    if along is None:
        return [n[2]]
    return [n[2] + along if link.kind.turns_about_axis else along]


def link_twists(
    tree: KinematicTree, moved: Sequence[LinkDisplacement], v: Array
) -> list[SpatialMotion]:
    """Every link's twist in its own axes."""

    def step(index: int, link: Link, parent: SpatialMotion) -> SpatialMotion:
        return moved[index].motion_to_link(parent) + joint_motion(link, v[link.v_range])

    return recurse_outward(tree, ZERO_MOTION, step)


@dataclass(frozen=True)
class LinkMotion:
    """ω, ω̇ and the acceleration a of a link's origin (not the spatial one), link's axes."""

    omega: Array
    alpha: Array
    a: Array

    @cached_property
    def U(self) -> Array:
        """[ω̇] + [ω][ω]: U p is the acceleration of a point p beyond that of the origin."""
        x, y, z = vector_entries(self.omega)
        ax, ay, az = vector_entries(self.alpha)
        return matrix_from_rows(
            [
                [-(y * y + z * z), x * y - az, x * z + ay],
                [x * y + az, -(x * x + z * z), y * z - ax],
                [x * z - ay, y * z + ax, -(x * x + y * y)],
            ]
        )

    def point_acceleration(self, p: Array) -> Array:
        """Acceleration of the point p of the link."""
        return self.a + self.U @ p


def link_accelerations(
    tree: KinematicTree,
    moved: Sequence[LinkDisplacement],
    v: Array,
    vd: Array | None,
    ground: Array,
) -> list[LinkMotion]:
    """Every link's rates and accelerations, ground accelerating by `ground` (−g for weight).

    With `vd` None the velocities are constant: what remains is J̇ v.
    """

    def step(index: int, link: Link, parent: LinkMotion) -> LinkMotion:
        d, own = moved[index], joint_motion(link, v[link.v_range])
        omega_p = d.to_link_axes(parent.omega)
        alpha = d.to_link_axes(parent.alpha) + cross(omega_p, own.angular)
        a = d.to_link_axes(parent.point_acceleration(d.p)) + cross(
            2 * omega_p + own.angular, own.linear
        )
        if vd is not None:
            rate = joint_motion(link, vd[link.v_range])
            alpha, a = alpha + rate.angular, a + rate.linear
        axis_point = LinkMotion(omega_p + own.angular, alpha, a)
        return LinkMotion(
            axis_point.omega, alpha, axis_point.point_acceleration(column_vector(0.0, 0.0, d.shift))
        )

    return recurse_outward(tree, LinkMotion(ZERO3, ZERO3, ground), step)


@dataclass(frozen=True)
class LinkPose:
    """Rotation and position of a link in the world."""

    R: Array
    p: Array


def link_poses(tree: KinematicTree, moved: Sequence[LinkDisplacement]) -> list[LinkPose]:
    def step(index: int, link: Link, parent: LinkPose) -> LinkPose:
        d = moved[index]
        return LinkPose(parent.R @ d.rotation, parent.p + parent.R @ d.position)

    return recurse_outward(tree, LinkPose(IDENTITY, ZERO3), step)
