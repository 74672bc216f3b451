"""Motions, wrenches and inertias of rigid bodies, as pairs of 3-vectors.

A `SpatialMotion` (angular ω, linear v of the frame's origin) and a `SpatialForce` (moment about the
origin, force) are resolved in one frame; the angular part always comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

from .linear_algebra import (
    IDENTITY,
    ZERO3,
    Array,
    Scalar,
    column_vector,
    cross,
    dot,
    matrix_entries,
    matrix_from_rows,
    outer,
    skew,
    symmetric_from_upper,
    vector_entries,
)


@dataclass(frozen=True, slots=True)
class SpatialMotion:
    """A twist, or a spatial acceleration."""

    angular: Array
    linear: Array

    def __add__(self, other: SpatialMotion) -> SpatialMotion:
        return SpatialMotion(self.angular + other.angular, self.linear + other.linear)

    def scale(self, factor: Scalar) -> SpatialMotion:
        """The motion times a scalar."""
        return SpatialMotion(self.angular * factor, self.linear * factor)

    def cross(self, other: SpatialMotion) -> SpatialMotion:
        """The rate of `other` if it moves with this motion: v ×."""
        return SpatialMotion(
            cross(self.angular, other.angular),
            cross(self.angular, other.linear) + cross(self.linear, other.angular),
        )

    def cross_force(self, wrench: SpatialForce) -> SpatialForce:
        """The rate of a wrench that moves with this motion: v ×*."""
        return SpatialForce(
            cross(self.angular, wrench.moment) + cross(self.linear, wrench.force),
            cross(self.angular, wrench.force),
        )


@dataclass(frozen=True, slots=True)
class SpatialForce:
    """A wrench: moment about the frame's origin, and force."""

    moment: Array
    force: Array

    def __add__(self, other: SpatialForce) -> SpatialForce:
        return SpatialForce(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: SpatialForce) -> SpatialForce:
        return SpatialForce(self.moment - other.moment, self.force - other.force)

    def scale(self, factor: Scalar) -> SpatialForce:
        """The wrench times a scalar."""
        return SpatialForce(self.moment * factor, self.force * factor)

    def power(self, motion: SpatialMotion) -> Scalar:
        """The power of the wrench in a motion (W)."""
        return dot(self.moment, motion.angular) + dot(self.force, motion.linear)


ZERO_MOTION = SpatialMotion(ZERO3, ZERO3)
ZERO_FORCE = SpatialForce(ZERO3, ZERO3)


@dataclass(frozen=True, slots=True)
class SpatialInertia:
    """Mass m, first moment h = m·c, and inertia tensor I, all about the frame's origin."""

    m: Scalar
    h: Array
    I: Array  # noqa: E741

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        return SpatialInertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, motion: SpatialMotion) -> SpatialForce:
        """The momentum of the body for a twist."""
        moment = self.I @ motion.angular + cross(self.h, motion.linear)
        return SpatialForce(moment, self.m * motion.linear + cross(motion.angular, self.h))

    def rotate(self, R: Array) -> SpatialInertia:
        """The same body, resolved in axes in which its own axes are rotated by R."""
        return SpatialInertia(self.m, R @ self.h, symmetric_from_upper(R @ self.I @ R.T))

    def rotate_about_z(self, c: Scalar, s: Scalar) -> SpatialInertia:
        """`rotate` about z by the angle with cosine c and sine s."""
        return SpatialInertia(
            self.m, rotate_vector_about_z(self.h, c, s), rotate_tensor_about_z(self.I, c, s)
        )

    def shift_origin(self, p: Array) -> SpatialInertia:
        """The same body about a point from which its own origin is at p."""
        m, h = self.m, self.h
        # parallel axes for a first moment: −[p]×[h]× − [h]×[p]× − m[p]×²
        ph = outer(p, h)
        shift = (dot(p, h) * 2 + m * dot(p, p)) * IDENTITY - ph - ph.T - m * outer(p, p)
        return SpatialInertia(m, h + m * p, symmetric_from_upper(self.I + shift))

    def transform(self, R: Array, p: Array) -> SpatialInertia:
        """The same body in a frame in which its own frame is placed at (R, p)."""
        return self.rotate(R).shift_origin(p)


ZERO_INERTIA = SpatialInertia(0.0, ZERO3, IDENTITY * 0.0)


def inertia_about_origin(m: Scalar, c: Array, I_c: Array) -> SpatialInertia:
    """The spatial inertia from mass, centre of mass and the tensor about it (Steiner)."""
    return SpatialInertia(m, m * c, I_c + m * (dot(c, c) * IDENTITY - outer(c, c)))


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric 6 × 6 inertia [[I, H], [Hᵀ, M]] that need not be that of a rigid body."""

    I: Array  # noqa: E741
    H: Array
    M: Array

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __matmul__(self, motion: SpatialMotion) -> SpatialForce:
        return SpatialForce(
            self.I @ motion.angular + self.H @ motion.linear,
            self.H.T @ motion.angular + self.M @ motion.linear,
        )

    def rotate(self, R: Array) -> ArticulatedInertia:
        """The same inertia, resolved in axes in which its own axes are rotated by R."""
        return ArticulatedInertia(
            symmetric_from_upper(R @ self.I @ R.T),
            R @ self.H @ R.T,
            symmetric_from_upper(R @ self.M @ R.T),
        )

    def rotate_about_z(self, c: Scalar, s: Scalar) -> ArticulatedInertia:
        """`rotate` about z by the angle with cosine c and sine s."""
        return ArticulatedInertia(
            rotate_tensor_about_z(self.I, c, s),
            rotate_matrix_about_z(self.H, c, s),
            rotate_tensor_about_z(self.M, c, s),
        )

    def shift_origin(self, p: Array) -> ArticulatedInertia:
        """The same inertia about a point from which its own origin is at p."""
        P = skew(p)
        PM, HP = P @ self.M, self.H @ P
        return ArticulatedInertia(
            symmetric_from_upper(self.I - HP - HP.T - PM @ P), self.H + PM, self.M
        )


def articulated_from_rigid(inertia: SpatialInertia) -> ArticulatedInertia:
    """The articulated inertia that equals the spatial inertia of a rigid body."""
    return ArticulatedInertia(inertia.I, skew(inertia.h), inertia.m * IDENTITY)


# -- turns about z, in fewer operations than by matrices ------------------------------------


def rotate_vector_about_z(a: Array, c: Scalar, s: Scalar) -> Array:
    """The rotated vector Rz a."""
    x, y, z = vector_entries(a)
    return column_vector(c * x - s * y, s * x + c * y, z)


def rotate_tensor_about_z(A: Array, c: Scalar, s: Scalar) -> Array:
    """The rotated tensor Rz A Rzᵀ of a symmetric A."""
    (Axx, Axy, Axz), (_, Ayy, Ayz), (_, _, Azz) = matrix_entries(A)
    xx, xy, yy = _rotate_planar_block(Axx, Axy, Ayy, c, s)
    xz, yz = c * Axz - s * Ayz, s * Axz + c * Ayz
    return matrix_from_rows([[xx, xy, xz], [xy, yy, yz], [xz, yz, Azz]])


def rotate_matrix_about_z(A: Array, c: Scalar, s: Scalar) -> Array:
    """The rotated matrix Rz A Rzᵀ of any A; the skew part in the plane does not change."""
    (Axx, Axy, Axz), (Ayx, Ayy, Ayz), (Azx, Azy, Azz) = matrix_entries(A)
    mean, skew_part = (Axy + Ayx) / 2, (Axy - Ayx) / 2
    xx, xy, yy = _rotate_planar_block(Axx, mean, Ayy, c, s)
    xz, yz = c * Axz - s * Ayz, s * Axz + c * Ayz
    zx, zy = c * Azx - s * Azy, s * Azx + c * Azy
    return matrix_from_rows([[xx, xy + skew_part, xz], [xy - skew_part, yy, yz], [zx, zy, Azz]])


def _rotate_planar_block(
    a: Scalar, b: Scalar, d: Scalar, c: Scalar, s: Scalar
) -> tuple[Scalar, Scalar, Scalar]:
    """The rotated block [[a, b], [b, d]]; one diagonal entry gains what the other loses."""
    difference = d - a
    gain = s * (s * difference - 2 * (c * b))
    return a + gain, (1 - 2 * (s * s)) * b - (c * s) * difference, d - gain
