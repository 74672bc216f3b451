"""Mechanisms from first principles, as trigonometric polynomials of their names. Nothing of the library.

Bodies are placed by rotations and points that are written as functions of the coordinates; energies,
momenta, and the equations of motion follow by differentiation (Lagrange; by Kane's partial
velocities where speeds are no rates). Every symbol that papers use has its polynomial here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property

from .polynomial_vectors import (
    ZERO,
    Entry,
    Matrix,
    Vector,
    apply,
    compose,
    cross,
    dot,
    entry,
    matrix,
    plus,
    transposed,
    vector,
)
from .trig_polynomials import Poly, inverse, root, var


@dataclass(frozen=True)
class Lump:
    """A rigid part of a body: mass, centre and inertia about it, in the body's axes."""

    mass: Poly
    center: Vector = ZERO
    inertia: Matrix = (ZERO, ZERO, ZERO)


def lump(
    mass: Entry, center: Sequence[Entry] = (0, 0, 0), inertia: Sequence[Entry] = (0, 0, 0)
) -> Lump:
    """With the principal moments about the body's axes."""
    I = [entry(x) for x in inertia]
    rows = [[I[i] if i == j else 0 for j in range(3)] for i in range(3)]
    return Lump(entry(mass), vector(center), matrix(rows))


@dataclass(frozen=True)
class RefBody:
    """A body with the place of its frame in the world."""

    name: str
    R: Matrix
    p: Vector
    lumps: tuple[Lump, ...]
    omega: Vector | None = None  # in its own axes, where it is known without Ṙ

    def at(self, point: Sequence[Entry]) -> Vector:
        """The place in the world of a point of the body."""
        return plus(self.p, apply(self.R, vector(point)))

    @property
    def mass(self) -> Poly:
        return sum((part.mass for part in self.lumps), Poly())


@dataclass(eq=False)
class Reference:
    """A mechanism as polynomials; `parameters` have numbers or text of other parameters."""

    coordinates: Sequence[str]
    bodies: Sequence[RefBody]
    parameters: Mapping[str, Fraction | str]
    gravity: Vector = ZERO
    springs: Poly = field(default_factory=Poly)
    forces: Mapping[str, Poly] = field(default_factory=dict)  # f by speed
    speeds: Sequence[str] = ()  # none: the coordinates' rates
    rates: Mapping[str, Poly] = field(default_factory=dict)  # of the coordinates, by speeds
    actuators: Mapping[str, Poly] = field(default_factory=dict)  # what they move
    positions: Sequence[Poly] = ()  # that are zero
    velocities: Sequence[Poly] = ()  # linear in the speeds, that are zero
    start: Mapping[str, float] = field(default_factory=dict)
    rotors: Mapping[str, Poly] = field(default_factory=dict)  # inertia reflected on a speed
    units: Sequence[Sequence[str]] = ()  # quaternions

    def __post_init__(self) -> None:
        self.has_rates = not self.speeds
        self.u = list(self.speeds) or [f"d{name}" for name in self.coordinates]
        self.a = [f"d{name}" for name in self.u]
        if self.has_rates:
            self.rates = {name: var(f"d{name}") for name in self.coordinates}
        self.drives = list(self.actuators) or [f"tau#{i + 1}" for i in range(len(self.u))]

    # -- time ---------------------------------------------------------------------------------

    def rate(self, x: Poly) -> Poly:
        """dx/dt."""
        total = x.derivative("t")
        for name, speed in self.rates.items():
            slope = x.derivative(name)
            total = total + slope * speed if slope else total
        for speed, acceleration in zip(self.u, self.a, strict=True):
            slope = x.derivative(speed)
            total = total + slope * var(acceleration) if slope else total
        return total

    def rates_of(self, v: Vector) -> Vector:
        return self.rate(v[0]), self.rate(v[1]), self.rate(v[2])

    # -- bodies -------------------------------------------------------------------------------

    @cache  # noqa: B019
    def center(self, k: int) -> Vector:
        """The centre of mass of the k-th body."""
        body = self.bodies[k]
        if len(body.lumps) == 1:
            return body.at(body.lumps[0].center)
        share = inverse(body.mass)
        total = ZERO
        for part in body.lumps:
            x, y, z = body.at(part.center)
            m = part.mass * share
            total = plus(total, (x * m, y * m, z * m))
        return total

    @cache  # noqa: B019
    def velocity(self, k: int) -> Vector:
        return self.rates_of(self.center(k))

    @cache  # noqa: B019
    def turning(self, k: int) -> Vector:
        """ω in world axes, of Ṙ Rᵀ."""
        R = self.bodies[k].R
        if self.bodies[k].omega is not None:
            return apply(R, self.bodies[k].omega)
        dR: Matrix = tuple(self.rates_of(row) for row in R)  # type: ignore[assignment]
        W = compose(dR, transposed(R))
        return W[2][1], W[0][2], W[1][0]

    def turning_in_body(self, k: int) -> Vector:
        body = self.bodies[k]
        return body.omega or apply(transposed(body.R), self.turning(k))

    @cache  # noqa: B019
    def kinetic(self, k: int) -> Poly:
        body = self.bodies[k]
        w = self.turning_in_body(k)
        total = Poly()
        for part in body.lumps:
            v = self.rates_of(body.at(part.center))
            total = total + (part.mass * dot(v, v) + dot(w, apply(part.inertia, w))) * Fraction(
                1, 2
            )
        return total

    @cache  # noqa: B019
    def weight(self, k: int) -> Poly:
        body = self.bodies[k]
        return sum(
            (-part.mass * dot(self.gravity, body.at(part.center)) for part in body.lumps), Poly()
        )

    # -- the whole ----------------------------------------------------------------------------

    @cached_property
    def T(self) -> Poly:
        rotors = (inertia * var(u) ** 2 * Fraction(1, 2) for u, inertia in self.rotors.items())
        return sum((self.kinetic(k) for k in range(len(self.bodies))), Poly()) + sum(rotors, Poly())

    @cached_property
    def weights(self) -> Poly:
        return sum((self.weight(k) for k in range(len(self.bodies))), Poly())

    @cached_property
    def V(self) -> Poly:
        return self.weights + self.springs

    @cache  # noqa: B019
    def momentum(self, i: int) -> Poly:
        return self.T.derivative(self.u[i])

    @cache  # noqa: B019
    def mass_entry(self, i: int, j: int) -> Poly:
        return self.momentum(i).derivative(self.u[j])

    def slope(self, x: Poly, i: int) -> Poly:
        """∂x/∂q of the i-th speed: along its direction."""
        return sum(
            (x.derivative(name) * rate.derivative(self.u[i]) for name, rate in self.rates.items()),
            Poly(),
        )

    @cache  # noqa: B019
    def christoffel(self, i: int, j: int, k: int) -> Poly:
        parts = ((k, j, i, 1), (k, i, j, 1), (i, j, k, -1))
        return sum(
            (self.slope(self.mass_entry(a, b), c) * Fraction(s, 2) for a, b, c, s in parts), Poly()
        )

    def coriolis(self, i: int, j: int) -> Poly:
        return sum((self.christoffel(k, j, i) * var(u) for k, u in enumerate(self.u)), Poly())

    @cache  # noqa: B019
    def row(self, i: int) -> Poly:
        """M q̈ + C q̇ + g − f of the i-th speed."""
        own = self.forces.get(self.u[i], Poly())
        if self.has_rates:
            q = self.coordinates[i]
            return self.rate(self.momentum(i)) - self.T.derivative(q) + self.V.derivative(q) - own
        return self.kane_row(i) - own

    def kane_row(self, i: int) -> Poly:
        """Σ ∂v/∂u · m a + ∂ω/∂u · (Iω)' + ∂V/∂q, by partial velocities."""
        u, total = self.u[i], self.slope(self.V, i)
        for k, body in enumerate(self.bodies):
            w = self.turning_in_body(k)
            part_w = tuple(x.derivative(u) for x in w)
            for part in body.lumps:
                v = self.rates_of(body.at(part.center))
                a = self.rates_of(v)
                Iw = apply(part.inertia, w)
                moment = plus(apply(part.inertia, self.rates_of(w)), cross(w, Iw))
                total = total + part.mass * dot(a, tuple(x.derivative(u) for x in v))
                total = total + dot(moment, part_w)
        if u in self.rotors:
            total = total + self.rotors[u] * var(self.a[i])
        return total

    @cached_property
    def constraint_rows(self) -> list[Poly]:
        """Constraints as velocities, linear in the speeds: J q̇ − b."""
        return [self.rate(x) for x in self.positions] + list(self.velocities)

    def applied(self, i: int) -> Poly:
        """The generalized force of the drives on the i-th speed: B u."""
        if not self.actuators:
            return var(self.drives[i])
        return sum(
            (
                self.rate(moves).derivative(self.u[i]) * var(u)
                for u, moves in self.actuators.items()
            ),
            Poly(),
        )

    # -- names --------------------------------------------------------------------------------

    @cached_property
    def own(self) -> dict[str, str]:
        """The mechanism's own names and their symbols here."""
        found = {name: name for name in (*self.parameters, *self.coordinates, *self.u, *self.a)}
        found |= {name: name for name in self.actuators}
        for i, drive in enumerate(self.drives, 1):
            found.setdefault(f"tau{i}", drive)
        if not self.actuators:
            for u, drive in zip(self.u, self.drives, strict=True):
                found.setdefault(f"tau_{u[1:] if self.has_rates else u}", drive)
        for i in range(len(self.constraint_rows)):
            found.setdefault(f"lambda{i + 1}", f"lambda#{i + 1}")
        found.setdefault("t", "t")
        return found

    @cache  # noqa: B019
    def quantity(self, name: str) -> Poly:
        """The polynomial of a name; KeyError where it has none."""
        if name in self.own:
            return var(self.own[name])
        energies = {
            "K": 1, "T": 1, "V": 2, "P": 2, "U": 2, "L": 3, "E": 4,
        }  # fmt: skip
        if name in energies:
            return (self.T, self.V, self.T - self.V, self.T + self.V)[energies[name] - 1]
        if name == "H":
            p = (self.momentum(i) * var(u) for i, u in enumerate(self.u))
            return sum(p, Poly()) - self.T + self.V
        if match := re.fullmatch(r"(d?)([A-Z]\d*)_(d?)(\w+)", name):
            return self._derivative(*match.groups())
        if match := re.fullmatch(r"Jv(\d)_?([123])(\d)", name):
            k, row, i = (int(x) - 1 for x in match.groups())
            if not (0 <= k < len(self.bodies) and 0 <= i < len(self.u)):
                raise KeyError(name)
            return self.velocity(k)[row].derivative(self.u[i])
        if match := re.fullmatch(r"([A-Za-z]+?)_?(\d+)", name):
            return self._indexed(match[1], [int(x) - 1 for x in match[2]])
        raise KeyError(name)

    def _derivative(self, rate: str, stem: str, dotted: str, by: str) -> Poly:
        inner = self.quantity(stem)
        if dotted:
            slope = inner.derivative(f"d{by}") if f"d{by}" in self.u else None
        else:
            slope = inner.derivative(by) if by in self.coordinates else None
        if slope is None:
            raise KeyError(by)
        return self.rate(slope) if rate else slope

    def _indexed(self, stem: str, at: Sequence[int]) -> Poly:
        n = len(self.u)
        if min(at) < 0:
            raise KeyError(stem)
        if stem in ("M", "D", "d", "H", "m") and len(at) == 2 and max(at) < n:
            return self.mass_entry(*at)
        if stem == "C" and len(at) == 2 and max(at) < n:
            return self.coriolis(*at)
        if stem == "c" and len(at) == 3 and max(at) < n:
            return self.christoffel(*at)
        if stem == "J" and len(at) == 2 and at[0] < len(self.constraint_rows) and at[1] < n:
            return self.constraint_rows[at[0]].derivative(self.u[at[1]])
        n_bodies = len(self.bodies)
        if stem in ("Jx", "Jy", "Jz", "Jw") and len(at) == 2 and at[1] < n and at[0] < n_bodies:
            whole = self.turning(at[0])[2] if stem == "Jw" else self._of_body("d" + stem[1], at[0])
            return whole.derivative(self.u[at[1]])
        if len(at) != 1:
            raise KeyError(stem)
        return self._single(stem, at[0])

    def _single(self, stem: str, i: int) -> Poly:
        if i < len(self.u):
            if stem in ("g", "G", "phi"):
                return self.slope(self.weights, i)
            if stem == "p":
                return self.momentum(i)
            if stem == "dp":
                return self.rate(self.momentum(i))
            if stem == "Q":
                return self.applied(i)
        if stem == "f" and i < len(self.positions):
            return self.positions[i]
        if i < len(self.bodies):
            return self._of_body(stem, i)
        raise KeyError(stem)

    def _of_body(self, stem: str, k: int) -> Poly:
        if stem == "K":
            return self.kinetic(k)
        if stem in ("V", "P"):
            return self.weight(k)
        if stem == "v":
            return root(dot(self.velocity(k), self.velocity(k)))
        if stem in ("w", "omega"):
            return self.turning(k)[2]
        if stem in ("wx", "wy", "wz"):
            return self.turning(k)["xyz".index(stem[1])]
        if stem[-1] not in "xyz" or stem[:-1] not in ("", "d", "dd"):
            raise KeyError(stem)
        found = self.center(k)["xyz".index(stem[-1])]
        for _ in stem[:-1]:
            found = self.rate(found)
        return found
