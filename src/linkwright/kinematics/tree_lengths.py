"""Named lengths on the kinematic tree: value, rate, and the forces of a tension along them.

    L = Σ w |x_b − x_a| + Σ c q + offset,      f = −T ∂L/∂q

The straight spans between points pull on bodies; the share of coordinates acts along them.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from ..algebra.linear_algebra import Array, Scalar, dot
from ..expressions import Expression
from ..mechanism import joint_coordinate_name
from .body_forces import BodyForce, generalized_forces_in_world
from .kinematic_tree import KinematicTree
from .parameter_values import KinematicParameters
from .tree_coordinates import gather_forces, spread_velocities
from .world_kinematics import WorldKinematics

JointForces = tuple[tuple[int, Scalar], ...]


@dataclass(frozen=True)
class LengthSpan:
    """A straight span between the origins of two frames or bodies, counted `weight` times."""

    weight: Scalar
    start: str
    end: str


@dataclass(frozen=True)
class CoordinateShare:
    """A coordinate of the tree times a factor; both indices are among those of the tree."""

    factor: Scalar
    coordinate: int
    velocity: int


@dataclass(frozen=True)
class TreeLength:
    """A named length: the sum of its spans, of its shares of coordinates and of an `offset`, the
    share of locked joints; `armature` is an inertia that moves with it."""

    name: str
    spans: tuple[LengthSpan, ...] = ()
    shares: tuple[CoordinateShare, ...] = ()
    offset: Scalar = 0.0
    armature: Scalar = 0.0

    @property
    def has_armature(self) -> bool:
        """Whether an inertia moves with it."""
        return not (isinstance(self.armature, float) and self.armature == 0.0)

    @property
    def points(self) -> tuple[str, ...]:
        """The frames or bodies between which it runs, each once."""
        return tuple(dict.fromkeys(p for span in self.spans for p in (span.start, span.end)))

    def value(self, world: WorldKinematics) -> Array:
        """Return the length of bodies placed as in `world`."""
        total = ca.SX(self.offset)
        for span in self.spans:
            total += span.weight * _span_length(world, span)
        for share in self.shares:
            total += share.factor * world.coordinates[share.coordinate]
        return total

    def rate(self, world: WorldKinematics, v: Array) -> Array:
        """Return the rate of the length at the tree's velocities v."""
        total = ca.SX(0)
        for span in self.spans:
            (a, x_a), (b, x_b) = (world.frame_origin(name) for name in (span.start, span.end))
            apart = world.point_velocity(b, x_b, v) - world.point_velocity(a, x_a, v)
            total += span.weight * dot(x_b - x_a, apart) / _span_length(world, span)
        for share in self.shares:
            total += share.factor * v[share.velocity]
        return total

    def body_forces(self, world: WorldKinematics, tension: Scalar) -> list[BodyForce]:
        """Return the pull of a tension on the bodies at the ends of all spans."""
        found = []
        for span in self.spans:
            (a, x_a), (b, x_b) = (world.frame_origin(name) for name in (span.start, span.end))
            pull = span.weight * tension / _span_length(world, span) * (x_b - x_a)
            for name, link, at, sign in ((span.start, a, x_a, 1), (span.end, b, x_b, -1)):
                body = world.body_name(name)
                found.append(BodyForce(body, link, at, sign * pull, ca.SX.zeros(3)))
        return found

    def joint_forces(self, tension: Scalar) -> JointForces:
        """Return the forces of a tension along the coordinates that it combines."""
        return tuple((share.velocity, -share.factor * tension) for share in self.shares)

    def jacobian(self, world: WorldKinematics) -> Array:
        """Return ∂L/∂q along the model's velocities, nv."""
        along = ca.SX.zeros(world.tree.tree_nv)
        for index, force in self.joint_forces(-1.0):
            along[index] += force
        pulls = self.body_forces(world, -1.0)
        return generalized_forces_in_world(world, pulls) + gather_forces(world.tree, along)


def _span_length(world: WorldKinematics, span: LengthSpan) -> Array:
    """Return the distance between the ends of a span."""
    apart = world.frame_origin(span.end)[1] - world.frame_origin(span.start)[1]
    return ca.sqrt(dot(apart, apart))


def read_tree_lengths(tree: KinematicTree, values: KinematicParameters) -> dict[str, TreeLength]:
    """Return the lengths of the tree's mechanism, in the order of the file."""
    found: dict[str, TreeLength] = {}
    places = _coordinate_places(tree) if tree.mechanism.lengths else {}
    held = _locked_positions(tree)
    for name, given in tree.mechanism.lengths.items():
        values.enter_place(f"lengths.{name}")
        ends = zip(given.path, given.path[1:], strict=False)
        spans = [LengthSpan(1.0, one, other) for one, other in ends]
        shares, offset = [], 0.0
        for part, number in given.factors.items():
            factor = values.read_ratio(number, f"n_{part}_{name}")
            if part in places:
                shares.append(CoordinateShare(factor, *places[part]))
                continue
            if part in held:
                offset = offset + factor * values.read_scalar(held[part], f"q_{part}_{name}")
                continue
            other = found[part]
            offset = offset + factor * other.offset
            spans += [LengthSpan(factor * s.weight, s.start, s.end) for s in other.spans]
            shares += [
                CoordinateShare(factor * s.factor, s.coordinate, s.velocity) for s in other.shares
            ]
        armature = values.read_scalar(given.armature, f"J_{name}")
        found[name] = TreeLength(name, tuple(spans), tuple(shares), offset, armature)
    return found


def _coordinate_places(tree: KinematicTree) -> dict[str, tuple[int, int]]:
    """Return the indices of each coordinate whose velocity is its rate, among the coordinates and
    velocities of the tree, by name; those of mimicking joints too."""
    return {
        joint_coordinate_name(span.name, freedom.ending): (tree.links[k].q, tree.links[k].v)
        for span in tree.joints
        for freedom, k in zip(tree.mechanism.joints[span.name].dofs, span.links, strict=False)
        if not tree.links[k].kind.has_quaternion
    }


def _locked_positions(tree: KinematicTree) -> dict[str, Expression]:
    """Return the positions of locked joints without quaternions by coordinate."""
    joints = tree.mechanism.joints.items()
    return {
        joint_coordinate_name(name, ending): position
        for name, joint in joints
        if joint.locked is not None and not joint.by_quaternion
        for ending, position in zip(joint.coordinates, joint.each(joint.locked), strict=True)
    }


def length_symbol_scope(tree: KinematicTree) -> dict[str, Scalar]:
    """Return the meaning of the names of lengths and of their rates in expressions."""
    if not tree.lengths:
        return {}
    world, v = WorldKinematics(tree, tree.motion.q), spread_velocities(tree, tree.motion.qd)
    scope: dict[str, Scalar] = {}
    for name, length in tree.lengths.items():
        scope[name] = length.value(world)
        scope[f"d{name}"] = length.rate(world, v)
    return scope
