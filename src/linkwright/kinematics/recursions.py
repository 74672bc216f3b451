"""The program loops over links: displacements, velocities, accelerations, and sums toward
ground."""

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
    rotate_vector_by_matrix,
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
from .kinematic_tree import GROUND, KinematicTree, TreeLink

T = TypeVar("T")


class Addable(Protocol):
    def __add__(self, other: Self, /) -> Self: ...


A = TypeVar("A", bound=Addable)
AnyInertia = TypeVar("AnyInertia", SpatialInertia, ArticulatedInertia)


def recurse_tree_outward(
    tree: KinematicTree, ground: T, step: Callable[[int, TreeLink, T], T]
) -> list[T]:
    """Return a value for every link, each computed from its parent's by `step(index, link,
    value)`."""
    values: list[T] = []
    for index, link in enumerate(tree.links):
        values.append(step(index, link, ground if link.parent == GROUND else values[link.parent]))
    return values


def recurse_tree_inward(
    tree: KinematicTree, values: Sequence[A], carry: Callable[[int, TreeLink, A], A]
) -> list[A]:
    """Return totals over everything that each link carries; `carry` transforms a total to the
    parent."""
    totals = list(values)
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        if link.parent != GROUND:
            totals[link.parent] = totals[link.parent] + carry(index, link, totals[index])
    return totals


@dataclass(frozen=True)
class LinkDisplacement:
    """The displacement of a link in its parent: at p, turned by the constant rotation, then by its
    own motion, then shifted along its own z.

    The parts are applied one after the other, because most of their entries are 0 and 1.
    `cosine_sine` are those of a turn about z; a ball's turn is a matrix R instead.
    """

    p: Array
    constant_rotation: Array
    cosine_sine: tuple[Scalar, Scalar] | None = None
    R: Array | None = None
    shift: Scalar = 0.0

    @property
    def rotation(self) -> Array:
        """The rotation (3, 3) of the link in its parent."""
        if self.cosine_sine is not None:
            return self.constant_rotation @ rotation_z(self.cosine_sine)
        return self.constant_rotation if self.R is None else self.constant_rotation @ self.R

    @property
    def position(self) -> Array:
        """The link's origin in the parent, m."""
        return self.p + self.constant_rotation[:, 2] * self.shift

    def to_link_axes(self, a: Array) -> Array:
        """Return the components in the link's axes of a vector given in the parent's."""
        a = rotate_vector_by_matrix(self.constant_rotation.T, a)
        if self.cosine_sine is not None:
            c, s = self.cosine_sine
            return rotate_vector_about_z(a, c, -s)
        return a if self.R is None else self.R.T @ a

    def to_parent_axes(self, a: Array) -> Array:
        """Return the components in the parent's axes of a vector given in the link's."""
        if self.cosine_sine is not None:
            a = rotate_vector_about_z(a, *self.cosine_sine)
        elif self.R is not None:
            a = self.R @ a
        return rotate_vector_by_matrix(self.constant_rotation, a)

    def motion_to_link(self, motion: SpatialMotion) -> SpatialMotion:
        """Return the parent's spatial motion at the link's origin, in the link's axes."""
        w = self.to_link_axes(motion.angular)
        v = self.to_link_axes(motion.linear + cross(motion.angular, self.p))
        x, y, _ = vector_entries(w)
        return SpatialMotion(w, v + column_vector(y * self.shift, -x * self.shift, 0.0))

    def wrench_to_parent(self, wrench: SpatialForce) -> SpatialForce:
        """Return a wrench on the link about the parent's origin, in the parent's axes."""
        n, f = wrench.moment, wrench.force
        x, y, _ = vector_entries(f)
        lever = column_vector(-y * self.shift, x * self.shift, 0.0)
        force = self.to_parent_axes(f)
        return SpatialForce(self.to_parent_axes(n + lever) + cross(self.p, force), force)

    def inertia_to_parent(self, inertia: AnyInertia) -> AnyInertia:
        """Return a rigid or articulated inertia about the parent's origin, in the parent's axes."""
        inertia = inertia.shift_origin(column_vector(0.0, 0.0, self.shift))
        if self.cosine_sine is not None:
            inertia = inertia.rotate_about_z(*self.cosine_sine)
        elif self.R is not None:
            inertia = inertia.rotate(self.R)
        return inertia.rotate(self.constant_rotation).shift_origin(self.p)


def link_displacements(tree: KinematicTree, q: Array) -> list[LinkDisplacement]:
    """Return every link's placement in its parent, at the tree's coordinates q."""
    return [_link_displacement(link, q[link.coordinate_range]) for link in tree.links]


def _link_displacement(link: TreeLink, q: Array) -> LinkDisplacement:
    """Return a link's placement in its parent, at its own coordinates q."""
    R0, p, kind = link.R, link.p, link.kind
    if kind.has_quaternion:
        turned = quaternion_rotation(
            [q[i] for i in range(kind.coordinate_count - 4, kind.coordinate_count)]
        )
        return LinkDisplacement(p + R0 @ q[:3] if kind.has_position else p, R0, R=turned)
    cs = _link_angle_cosine_sine(link, q) if kind.turns_about_axis else None
    slide = link_slide_along_axis(link, q)
    return LinkDisplacement(
        p, R0, cosine_sine=cs, shift=link.shift if slide is None else link.shift + slide
    )


def link_slide_along_axis(link: TreeLink, q: Array) -> Scalar | None:
    """Return the shift along the joint's axis at coordinate q; None if the joint does not slide."""
    if not link.kind.slides_along_axis:
        return None
    return link.pitch * q if link.kind.turns_about_axis else q


def _link_angle_cosine_sine(link: TreeLink, q: Array) -> tuple[Scalar, Scalar]:
    """Return cosine and sine of the joint angle q + offset."""
    angle = q if link.offset == 0.0 else q + link.offset
    return ca.cos(angle), ca.sin(angle)


def link_joint_motion(link: TreeLink, v: Array) -> SpatialMotion:
    """Return S v: the joint's own velocities (or their rates) as a spatial motion in the link's
    axes."""
    kind = link.kind
    if kind.has_quaternion:
        return SpatialMotion(v[:3], v[3:] if kind.has_position else ZERO3)
    slide = link_slide_along_axis(link, v)
    return SpatialMotion(
        column_vector(0.0, 0.0, v) if kind.turns_about_axis else ZERO3,
        ZERO3 if slide is None else column_vector(0.0, 0.0, slide),
    )


def link_motion_subspace(link: TreeLink) -> list[SpatialMotion]:
    """Return the columns of S, constant in the link's own frame."""
    size = link.kind.velocity_count
    return [link_joint_motion(link, ca.SX.eye(size)[:, k]) for k in range(size)]


def project_wrench_on_link_motion(link: TreeLink, wrench: SpatialForce) -> list[Scalar]:
    """Return Sᵀ times a wrench on the link: the forces along its velocities."""
    n, f = wrench.moment, wrench.force
    if link.kind.has_quaternion:
        return [n[0], n[1], n[2], *((f[0], f[1], f[2]) if link.kind.has_position else ())]
    along = link_slide_along_axis(link, f[2])
    if along is None:
        return [n[2]]
    return [n[2] + along if link.kind.turns_about_axis else along]


def link_twists(
    tree: KinematicTree, moved: Sequence[LinkDisplacement], v: Array
) -> list[SpatialMotion]:
    """Return every link's twist in its own axes."""

    def link_twist_from_parent(index: int, link: TreeLink, parent: SpatialMotion) -> SpatialMotion:
        return moved[index].motion_to_link(parent) + link_joint_motion(link, v[link.velocity_range])

    return recurse_tree_outward(tree, ZERO_MOTION, link_twist_from_parent)


@dataclass(frozen=True)
class LinkKinematics:
    """ω, ω̇ and the acceleration a of a link's origin (not the spatial one), link's axes."""

    omega: Array
    alpha: Array
    a: Array

    @cached_property
    def angular_acceleration_tensor(self) -> Array:
        """The matrix [ω̇] + [ω][ω]: U p is the acceleration of a point p relative to the
        origin's."""
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
        """Return the acceleration of the point p of the link, m/s², link's axes."""
        return self.a + self.angular_acceleration_tensor @ p


def advance_link_motion(
    link: TreeLink, d: LinkDisplacement, v: Array, vd: Array | None, parent: LinkKinematics
) -> LinkKinematics:
    """Return a link's rates and accelerations from its parent's, at the tree's velocities v and
    their rates."""
    own = link_joint_motion(link, v[link.velocity_range])
    omega_p = d.to_link_axes(parent.omega)
    alpha = d.to_link_axes(parent.alpha) + cross(omega_p, own.angular)
    a = d.to_link_axes(parent.point_acceleration(d.p)) + cross(
        2 * omega_p + own.angular, own.linear
    )
    if vd is not None:
        rate = link_joint_motion(link, vd[link.velocity_range])
        alpha, a = alpha + rate.angular, a + rate.linear
    axis_point = LinkKinematics(omega_p + own.angular, alpha, a)
    return LinkKinematics(
        axis_point.omega, alpha, axis_point.point_acceleration(column_vector(0.0, 0.0, d.shift))
    )


def link_accelerations(
    tree: KinematicTree,
    moved: Sequence[LinkDisplacement],
    v: Array,
    vd: Array | None,
    ground: Array,
) -> list[LinkKinematics]:
    """Return every link's rates and accelerations; ground accelerates by `ground` (−g for weight).

    With `vd` None the velocities are constant: what remains is J̇ v.
    """

    def link_motion_from_parent(
        index: int, link: TreeLink, parent: LinkKinematics
    ) -> LinkKinematics:
        return advance_link_motion(link, moved[index], v, vd, parent)

    return recurse_tree_outward(tree, LinkKinematics(ZERO3, ZERO3, ground), link_motion_from_parent)


@dataclass(frozen=True)
class LinkPose:
    """Rotation and position of a link in the world."""

    R: Array
    p: Array


def link_poses(tree: KinematicTree, moved: Sequence[LinkDisplacement]) -> list[LinkPose]:
    """Return every link's rotation and position in the world."""

    def link_pose_from_parent(index: int, link: TreeLink, parent: LinkPose) -> LinkPose:
        d = moved[index]
        return LinkPose(parent.R @ d.rotation, parent.p + parent.R @ d.position)

    return recurse_tree_outward(tree, LinkPose(IDENTITY, ZERO3), link_pose_from_parent)
