"""Forces along named lengths: springs, dampers, friction, own laws, and declared loads."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import factorial

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar
from ...expressions import ZERO
from ...mechanism import Length, LengthLoad
from ...mechanism.lengths import LENGTH_RATE_SYMBOL, LENGTH_SYMBOL
from ..body_forces import BodyForce
from ..joint_friction import FrictionLaw
from ..kinematic_tree import ForceElement, KinematicTree
from ..parameter_values import KinematicParameters
from ..sketches import RodSketch, SpringSketch
from ..tree_lengths import JointForces, TreeLength
from ..world_kinematics import WorldKinematics
from .spring import PointSpring

MAX_LAW_DEGREE = 12
"""Degree in L up to which a law of force is integrated to its potential."""


@dataclass(frozen=True)
class LengthLaw:
    """A tension and a potential as expressions of the symbols L and L̇ of a length."""

    L: Array
    L_rate: Array
    tension: Array
    energy: Array

    def tension_at(self, length: Scalar, rate: Scalar) -> Array:
        """Return the tension at a length and its rate."""
        return self._substitute(self.tension, length, rate)

    def energy_at(self, length: Scalar) -> Array:
        """Return the potential energy at a length, J."""
        return self._substitute(self.energy, length, 0.0)

    def _substitute(self, expression: Array, length: Scalar, rate: Scalar) -> Array:
        """Return an expression at a length and its rate."""
        here = ca.vertcat(ca.SX(length), ca.SX(rate))
        return ca.substitute(expression, ca.vertcat(self.L, self.L_rate), here)


@dataclass(frozen=True)
class LengthForce(ForceElement):
    """What acts along a named length beside its limits; a positive tension shortens it."""

    length: TreeLength
    stiffness: Scalar
    slack: tuple[Scalar, Scalar]
    damping: Scalar
    friction: FrictionLaw
    law: LengthLaw | None

    label = "spring"

    def _tension(self, world: WorldKinematics, v: Array) -> Array:
        """Return the tension of spring, damper, friction and law."""
        L, rate = self.length.value(world), self.length.rate(world, v)
        total = self.stiffness * sum(self._stretches(L)) + self.damping * rate
        total -= self.friction.force(rate)
        return total if self.law is None else total + self.law.tension_at(L, rate)

    def _stretches(self, L: Array) -> tuple[Array, ...]:
        """Return the extension, or extension and compression beyond a range that is slack."""
        lower, upper = self.slack
        if lower is upper:
            return (L - lower,)
        return ca.fmax(0, L - upper), ca.fmin(0, L - lower)

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the pull on the bodies at the points of its paths."""
        return self.length.body_forces(world, self._tension(world, v)) if self.length.spans else []

    def joint_forces(self, world: WorldKinematics, v: Array) -> JointForces:
        """Return the forces along the coordinates that it combines."""
        return self.length.joint_forces(self._tension(world, v)) if self.length.shares else ()

    def potential_energy(self, world: WorldKinematics) -> Scalar | None:
        """Return the elastic energy of the spring and of the law, J."""
        L = self.length.value(world)
        total = ca.SX(self.stiffness * sum(x**2 for x in self._stretches(L)) / 2)
        return total if self.law is None else total + self.law.energy_at(L)

    @property
    def sketches(self) -> tuple[SpringSketch, ...]:
        """Its spans as springs, or as dampers if it has no elastic force."""
        is_elastic = not _is_zero(self.stiffness) or self.law is not None
        return tuple(
            SpringSketch((span.start, span.end), is_damper=not is_elastic)
            for span in self.length.spans
        )


@dataclass(frozen=True)
class AppliedTension(ForceElement):
    """A tension along a named length that the mechanism declares as an expression."""

    length: TreeLength
    tension: Scalar

    is_declared = True

    @property
    def sketches(self) -> tuple[RodSketch, ...]:
        """Its spans as straight lines."""
        return tuple(RodSketch((span.start, span.end)) for span in self.length.spans)

    def body_forces(self, world: WorldKinematics, v: Array) -> list[BodyForce]:
        """Return the pull on the bodies at the points of its paths."""
        return self.length.body_forces(world, self.tension)

    def joint_forces(self, world: WorldKinematics, v: Array) -> JointForces:
        """Return the forces along the coordinates that it combines."""
        return self.length.joint_forces(self.tension)


def read_length_force(
    name: str, given: Length, values: KinematicParameters, length: TreeLength
) -> ForceElement:
    """Return what acts along a named length, with its numbers; a linear spring between two points
    is the same as a force element, whose equations are short."""
    values.enter_place(f"lengths.{name}")
    low, high = given.rest_range
    stiffness = values.read_scalar(given.stiffness, f"k_{name}")
    damping = values.read_scalar(given.damping, f"d_{name}")
    lower = values.read_scalar(low, f"l_{name}")
    is_plain = given.friction == ZERO and given.force is None and given.energy is None
    if len(given.path) == 2 and high is low and is_plain:
        return PointSpring(name, (given.path[0], given.path[1]), stiffness, damping, lower)
    upper = lower if high is low else values.read_scalar(high, f"l2_{name}")
    return LengthForce(
        name,
        length,
        stiffness,
        (lower, upper),
        damping,
        FrictionLaw(
            values.read_scalar(given.friction, f"F_{name}"),
            smoothing=values.read_scalar(given.smoothing, f"vs_{name}"),
        ),
        _read_length_law(given, values),
    )


def read_length_load(
    name: str,
    given: LengthLoad,
    values: KinematicParameters,
    scope: dict[str, Scalar],
    tree: KinematicTree,
) -> AppliedTension:
    """Return the declared tension along a length as an expression."""
    tension = values.read_motion_expression(given.force, scope)
    return AppliedTension(name, tree.lengths[given.along], tension)


def _read_length_law(given: Length, values: KinematicParameters) -> LengthLaw | None:
    """Return the law that a length gives as force or energy; None if it gives none."""
    if given.force is None and given.energy is None:
        return None
    L, rate = ca.SX.sym(LENGTH_SYMBOL), ca.SX.sym(LENGTH_RATE_SYMBOL)
    scope: dict[str, Scalar] = {LENGTH_SYMBOL: L, LENGTH_RATE_SYMBOL: rate}
    tension, energy = ca.SX(0), ca.SX(0)
    if given.energy is not None:
        energy = ca.SX(values.read_motion_expression(given.energy, scope))
        tension = ca.jacobian(energy, L)
    if given.force is not None:
        force = ca.SX(values.read_motion_expression(given.force, scope))
        tension += force
        if given.energy is None:
            energy = _polynomial_potential(ca.substitute(force, rate, 0), L, values)
    return LengthLaw(L, rate, tension, energy)


def _polynomial_potential(force: Array, L: Array, values: KinematicParameters) -> Array:
    """Return ∫ F dL from L = 0 of a polynomial F(L); 0 for other laws, which count as losses."""
    total, derivative = ca.SX(0), force
    for k in range(MAX_LAW_DEGREE + 1):
        start = ca.substitute(derivative, L, 0)
        share = values.lift_literal(Fraction(1, factorial(k + 1)))
        total += share * start * L ** (k + 1)
        derivative = ca.sparsify(ca.jacobian(derivative, L))
        if derivative.nnz() == 0:
            return total
    return ca.SX(0)


def _is_zero(number: Scalar) -> bool:
    """Return whether a number is 0 for all values of parameters."""
    return isinstance(number, float) and number == 0.0
