"""Springs and dampers by influence coefficients, Freeman and Tesar (1988), equations (18)–(25).

An element acts on the deformation u of a joint or of the distance between two points, whose
coefficients are u̇ = G φ̇, ü = G φ̈ + φ̇ᵀ H φ̇:

    C* = Σ c Gᵀ G                       (18)
    T_spring = Σ Gᵀ T_u,   T_u = k u    (23), (24)
    K* = Σ k Gᵀ G + T_uᵀ • H            (25)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ...algebra.linear_algebra import Array, Scalar
from ...kinematics.body_forces import generalized_body_forces
from ...kinematics.force_kinds.spring import PointSpring
from ...kinematics.kinematic_tree import GROUND, KinematicTree
from ...kinematics.tree_coordinates import gather_columns, gather_forces, spread_coordinates
from ...kinematics.world_kinematics import WorldKinematics

if TYPE_CHECKING:
    from . import InfluenceCoefficients, InfluenceFormulation


@dataclass(frozen=True)
class InfluenceSpring:
    """A spring and damper with the deformation u: G, components × n, and a plane H[p], n × n, for
    each of its components, along the tree's velocities. `length` is the free length where u is the
    change of a length."""

    name: str
    stiffness: Scalar
    damping: Scalar
    deformation: Array
    G: Array
    H: list[Array]
    length: Scalar | None = None

    @property
    def load(self) -> Array:
        """T_u = k u (24)."""
        return self.stiffness * self.deformation

    def effective_damping(self) -> Array:
        """c Gᵀ G (18)."""
        return self.damping * (self.G.T @ self.G)

    def effective_load(self) -> Array:
        """Gᵀ T_u (23)."""
        return self.G.T @ self.load

    def effective_stiffness(self) -> Array:
        """k Gᵀ G + T_uᵀ • H (25)."""
        total = self.stiffness * (self.G.T @ self.G)
        for p, plane in enumerate(self.H):
            total += self.load[p] * plane
        return total


def joint_springs(tree: KinematicTree, coordinates: Array) -> Iterator[InfluenceSpring]:
    """Yield the springs and dampers along single degrees of freedom, whose u is the joint's own
    variable: G selects it, and H is zero."""
    for link in tree.links:
        for index in range(link.v, link.v + link.kind.velocity_count):
            effect = tree.joint_effects[index]
            has_spring = link.kind.coordinate_count == 1 and not _is_zero(effect.stiffness)
            if not has_spring and _is_zero(effect.damping):
                continue
            G = ca.SX(1, tree.tree_nv)
            G[0, index] = 1
            turned = coordinates[link.q] - effect.rest_position if has_spring else ca.SX(0)
            stiffness = effect.stiffness if has_spring else 0.0
            yield InfluenceSpring("", stiffness, effect.damping, ca.SX(turned), G, [])


def point_springs(
    world: WorldKinematics, find: Callable[[int, Array], InfluenceCoefficients]
) -> Iterator[InfluenceSpring]:
    """Yield the springs and dampers between two points; `find` gives the coefficients of a point of
    a link. A spring with a free length or damping acts on the length L, with

        L G_L = dᵀ G_d,    L H_L = G_dᵀ G_d + d • H_d − G_Lᵀ G_L,

    and one without on the vector d from point to point."""
    for spring in world.tree.forces.force_elements:
        if not isinstance(spring, PointSpring):
            continue
        (a, x_a), (b, x_b) = (world.frame_origin(name) for name in spring.between)
        d, G, H = x_b - x_a, ca.SX(3, world.tree.tree_nv), [ca.SX(0)] * 3
        for link, x, sign in ((a, x_a, -1), (b, x_b, 1)):
            if link != GROUND:
                own = find(link, x)
                G, H = (
                    G + sign * own.G,
                    [h + sign * plane for h, plane in zip(H, own.H, strict=True)],
                )
        if not spring.is_linear:
            length = ca.sqrt(ca.dot(d, d))
            along = d.T @ G / length
            curved = G.T @ G - along.T @ along
            for p in range(3):
                curved += d[p] * H[p]
            d, G, H = length - spring.length, along, [curved / length]
        free = None if spring.is_linear else spring.length
        yield InfluenceSpring(spring.name, spring.stiffness, spring.damping, d, G, H, free)


class InfluenceSprings:
    """Damping, loads and stiffness of all springs and dampers of a mechanism."""

    def __init__(self, influence: InfluenceFormulation) -> None:
        self.influence, self.tree, self.n = influence, influence.tree, influence.n
        coordinates = spread_coordinates(self.tree, influence.q)
        between = point_springs(influence.world, influence.point_coefficients)
        self.elements = [*joint_springs(self.tree, coordinates), *between]

    @cached_property
    def tree_loads(self) -> Array:
        """T_spring of all springs (23) along the tree's own velocities."""
        loads = (spring.effective_load() for spring in self.elements)
        return sum(loads, ca.SX.zeros(self.n, 1))

    def contact_loads(self) -> Array:
        """The loads of compliant contacts at rest, which follow no linear law."""
        contacts, still = self.tree.forces.compliant_contacts, ca.SX.zeros(self.n)
        forces = [load for one in contacts for load in one.body_forces(self.influence.world, still)]
        return -generalized_body_forces(self.tree, self.influence.q, forces)

    def gather_planes(self, planes: Iterator[Array]) -> Array:
        """A sum of n × n arrays of the tree, along the model's velocities."""
        total = sum(planes, ca.SX.zeros(self.n, self.n))
        return gather_columns(self.tree, gather_forces(self.tree, total))

    def effective_damping(self) -> Array:
        """C* = Σ c GᵀG of all dampers (18), n × n; friction and contacts are loads."""
        return ca.densify(self.gather_planes(one.effective_damping() for one in self.elements))

    def effective_loads(self) -> Array:
        """T_spring = Σ GᵀT_u = ∂V/∂φ of all springs (23), and of contacts at rest."""
        return ca.densify(gather_forces(self.tree, self.tree_loads) + self.contact_loads())

    def effective_stiffness(self) -> Array:
        """K* = ∂T_spring/∂φ = Σ k GᵀG + T_uᵀH of all springs (22), (25), n × n."""
        total = self.gather_planes(one.effective_stiffness() for one in self.elements)
        for load, H in zip(
            ca.vertsplit(self.tree_loads), self.influence.joint_curvatures, strict=True
        ):
            total += load * H
        return ca.densify(total + ca.jacobian(self.contact_loads(), self.influence.q))


def _is_zero(number: Scalar) -> bool:
    """Whether a number is zero for all values of parameters."""
    return isinstance(number, float) and number == 0.0
