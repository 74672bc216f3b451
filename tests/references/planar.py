"""Planar mechanisms in minimal coordinates, from first principles: nothing of the library.

Points and directions of the plane are complex numbers, and motions Taylor jets in time. A mechanism
says where its bodies are for given minimal coordinates, in closed form; d'Alembert's principle gives
its equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Jet:
    """z(t) to second order: z + z' t + z'' t²/2, a complex number."""

    z: complex
    d: complex = 0.0
    dd: complex = 0.0

    def __add__(self, other: Jet | complex) -> Jet:
        o = jet(other)
        return Jet(self.z + o.z, self.d + o.d, self.dd + o.dd)

    def __neg__(self) -> Jet:
        return Jet(-self.z, -self.d, -self.dd)

    def __sub__(self, other: Jet | complex) -> Jet:
        return self + -jet(other)

    def __rsub__(self, other: complex) -> Jet:
        return -self + other

    def __mul__(self, other: Jet | complex) -> Jet:
        o = jet(other)
        rates = self.dd * o.z + 2 * self.d * o.d + self.z * o.dd
        return Jet(self.z * o.z, self.d * o.z + self.z * o.d, rates)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: Jet | complex) -> Jet:
        o = jet(other)
        z = self.z / o.z
        d = (self.d - z * o.d) / o.z
        return Jet(z, d, (self.dd - 2 * d * o.d - z * o.dd) / o.z)

    @property
    def conjugate(self) -> Jet:
        return Jet(*(np.conj(x) for x in (self.z, self.d, self.dd)))

    @property
    def square(self) -> Jet:
        """|z|²."""
        return self * self.conjugate

    @property
    def root(self) -> Jet:
        z = np.sqrt(self.z)
        d = self.d / (2 * z)
        return Jet(z, d, (self.dd / 2 - d * d) / z)

    @property
    def angle(self) -> Jet:
        """arg z: the imaginary part of log z."""
        d = self.d / self.z
        return Jet(float(np.angle(self.z)), d.imag, (self.dd / self.z - d * d).imag)


def jet(value: Jet | complex) -> Jet:
    return value if isinstance(value, Jet) else Jet(value)


def direction(angle: Jet | float) -> Jet:
    """exp(i angle)."""
    a = jet(angle)
    e = np.exp(1j * a.z)
    return Jet(e, 1j * a.d * e, (1j * a.dd - a.d**2) * e)


def meeting(a: Jet, b: Jet, from_a: float, from_b: float, side: int) -> Jet:
    """Where circles about a and b meet; side +1 is left of the way from a to b."""
    apart = b - a
    square = apart.square
    along = (square + (from_a**2 - from_b**2)) / square * 0.5
    across = jet(from_a**2) / square - along * along
    return a + apart * (along + across.root * (1j * side))


@dataclass(frozen=True)
class Moving:
    """A body: mass, inertia about its mass centre, the centre, and a direction fixed in it."""

    mass: float
    inertia: float
    center: Jet
    direction: Jet


@dataclass(frozen=True)
class Pose:
    """The bodies of a mechanism, and the coordinates in which others describe it."""

    bodies: Sequence[Moving]
    coordinates: Sequence[Jet]


@dataclass(frozen=True)
class Planar:
    """A mechanism in minimal coordinates; gravity pulls along −y."""

    pose: Callable[[Sequence[Jet]], Pose]
    freedom: int
    g: float = 9.81

    def along(self, a: np.ndarray, ad: np.ndarray) -> Pose:
        """The motion with constant rates ad."""
        return self.pose([Jet(x, v) for x, v in zip(a, ad, strict=True)])

    def coordinates(self, a: np.ndarray, ad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Dependent coordinates and their rates."""
        found = self.along(a, ad).coordinates
        return np.array([c.z for c in found]).real, np.array([c.d for c in found]).real

    def influence(self, a: np.ndarray) -> np.ndarray:
        """∂(dependent coordinates)/∂a."""
        columns = [self.along(a, e).coordinates for e in np.eye(self.freedom)]
        return np.array([[c.d for c in column] for column in columns]).real.T

    def equations(self, a: np.ndarray, ad: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """I* and h of I* ä + h = Q: d'Alembert, with weight in h."""
        columns = [self.along(a, e).bodies for e in np.eye(self.freedom)]
        mass = np.zeros((self.freedom, self.freedom))
        rest = np.zeros(self.freedom)
        for k, body in enumerate(self.along(a, ad).bodies):
            J = np.array([column[k].center.d for column in columns])
            W = np.array([column[k].direction.angle.d for column in columns])
            mass += body.mass * np.outer(J, J.conj()).real + body.inertia * np.outer(W, W)
            force = body.mass * (body.center.dd + 1j * self.g)
            rest += (J.conj() * force).real + body.inertia * body.direction.angle.dd * W
        return mass, rest

    def accelerations(self, a: np.ndarray, ad: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """q̈ of the dependent coordinates, with forces tau along them."""
        mass, rest = self.equations(a, ad)
        G = self.influence(a)
        add = np.linalg.solve(mass, G.T @ tau - rest)
        bias = np.array([c.dd for c in self.along(a, ad).coordinates]).real
        return G @ add + bias

    def kinetic_energy(self, a: np.ndarray, ad: np.ndarray) -> float:
        return float(ad @ self.equations(a, ad)[0] @ ad) / 2
