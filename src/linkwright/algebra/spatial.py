"""Motions and wrenches of rigid bodies, and their inertias, as pairs of 3-vectors.

A `Motion` (angular ω, linear v of the frame's origin) and a `Wrench` (moment about the
origin, force) are resolved in one frame; the angular part always comes first.
"""

from __future__ import annotations

from dataclasses import dataclass

from .linear import IDENTITY, ZERO3, Array, Scalar, cross, dot, outer, skew, symmetric


@dataclass(frozen=True, slots=True)
class Motion:
    """A twist, or a spatial acceleration."""

    angular: Array
    linear: Array

    def __add__(self, other: Motion) -> Motion:
        return Motion(self.angular + other.angular, self.linear + other.linear)

    def times(self, factor: Scalar) -> Motion:
        return Motion(self.angular * factor, self.linear * factor)

    def cross(self, other: Motion) -> Motion:
        """The rate of `other` when it moves along with this motion: v ×."""
        return Motion(
            cross(self.angular, other.angular),
            cross(self.angular, other.linear) + cross(self.linear, other.angular),
        )

    def cross_force(self, wrench: Wrench) -> Wrench:
        """The rate of a wrench that moves along with this motion: v ×*."""
        return Wrench(
            cross(self.angular, wrench.moment) + cross(self.linear, wrench.force),
            cross(self.angular, wrench.force),
        )


@dataclass(frozen=True, slots=True)
class Wrench:
    moment: Array
    force: Array

    def __add__(self, other: Wrench) -> Wrench:
        return Wrench(self.moment + other.moment, self.force + other.force)

    def __sub__(self, other: Wrench) -> Wrench:
        return Wrench(self.moment - other.moment, self.force - other.force)

    def times(self, factor: Scalar) -> Wrench:
        return Wrench(self.moment * factor, self.force * factor)

    def power(self, motion: Motion) -> Scalar:
        return dot(self.moment, motion.angular) + dot(self.force, motion.linear)


REST = Motion(ZERO3, ZERO3)
NO_WRENCH = Wrench(ZERO3, ZERO3)


@dataclass(frozen=True, slots=True)
class Inertia:
    """Mass m, first moment h = m·c, and inertia tensor I, all about the frame's origin."""

    m: Scalar
    h: Array
    I: Array  # noqa: E741

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.m + other.m, self.h + other.h, self.I + other.I)

    def __matmul__(self, motion: Motion) -> Wrench:
        """Momentum of a twist."""
        moment = self.I @ motion.angular + cross(self.h, motion.linear)
        return Wrench(moment, self.m * motion.linear + cross(motion.angular, self.h))

    def moved(self, R: Array, p: Array) -> Inertia:
        """The same body seen from a frame in which its own frame stands at (R, p)."""
        h = R @ self.h
        # parallel axes for a first moment: −[p]×[h]× − [h]×[p]× − m[p]×²
        ph = outer(p, h)
        shift = (dot(p, h) * 2 + self.m * dot(p, p)) * IDENTITY - ph - ph.T - self.m * outer(p, p)
        return Inertia(self.m, h + self.m * p, symmetric(R @ self.I @ R.T + shift))


NO_INERTIA = Inertia(0.0, ZERO3, IDENTITY * 0.0)


def inertia_about_origin(m: Scalar, c: Array, I_c: Array) -> Inertia:
    """From mass, mass centre, and the tensor about the mass centre (Steiner)."""
    return Inertia(m, m * c, I_c + m * (dot(c, c) * IDENTITY - outer(c, c)))


@dataclass(frozen=True, slots=True)
class ArticulatedInertia:
    """A symmetric 6×6 inertia [[I, H], [Hᵀ, M]] that is no rigid body's."""

    I: Array  # noqa: E741
    H: Array
    M: Array

    def __add__(self, other: ArticulatedInertia) -> ArticulatedInertia:
        return ArticulatedInertia(self.I + other.I, self.H + other.H, self.M + other.M)

    def __matmul__(self, motion: Motion) -> Wrench:
        return Wrench(
            self.I @ motion.angular + self.H @ motion.linear,
            self.H.T @ motion.angular + self.M @ motion.linear,
        )

    def moved(self, R: Array, p: Array) -> ArticulatedInertia:
        """The same inertia seen from a frame in which its own frame stands at (R, p)."""
        P = skew(p)
        M = symmetric(R @ self.M @ R.T)
        H = R @ self.H @ R.T
        PM = P @ M
        HP = H @ P
        I = symmetric(R @ self.I @ R.T - HP - HP.T - PM @ P)  # noqa: E741
        return ArticulatedInertia(I, H + PM, M)


def articulated(inertia: Inertia) -> ArticulatedInertia:
    return ArticulatedInertia(inertia.I, skew(inertia.h), inertia.m * IDENTITY)
