"""Kinematic influence coefficients, Freeman and Tesar (1988).

First and second order coefficients of a point or a body u in the joints' variables φ,

    u̇ = G φ̇,   ü = G φ̈ + φ̇ᵀ H φ̇                                              (1), (5)

give the effective inertia I*, the inertia power array P*, and all loads:

    I* = Σ M Gᶜᵀ Gᶜ + Gᵀ Π G                                                     (15)
    P* = Σ M (Gᶜᵀ • Hᶜ) + (Gᵀ Π) • H + Gᵀ(Gᵀ • P)G                               (16)
    T = I* φ̈ + φ̇ᵀ P* φ̇ + C* φ̇ + T_spring − Σ Gᵀ T_u                             (17)
    C* = Σ c Gᵀ G,   T_spring = Σ k Gᵀ u,   K* = ∂T_spring/∂φ = Σ k Gᵀ G + k uᵀ • H   (18)–(25)

The planes P*_l of an array are matrices in m, n. ½(P*_lmn + P*_lnm) are the Christoffel symbols.
`transfer` takes a model to other generalized coordinates, `loops` a cut chain to its inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import casadi as ca

from ...algebra.linear_algebra import Array, cross, dot
from ...equations import Equations
from ...kinematics.kinematic_tree import GROUND, KinematicTree
from ...kinematics.parameter_values import ParameterSelection
from ...kinematics.rotor_inertias import rotor_inertia_matrix
from ...kinematics.tree_builder import build_kinematic_tree
from ...kinematics.tree_coordinates import (
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from ...kinematics.world_kinematics import JointAxis, WorldKinematics
from ...mechanism import Mechanism
from ..formulation import Formulation, reject_quaternions
from .influence_form import influence_equation_set
from .loop_influence import LoopInfluence
from .spring_influence import InfluenceSprings


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Equations from the influence coefficients of all bodies."""
    influence = InfluenceFormulation(build_kinematic_tree(mechanism, parameters))
    builders = {
        "mass_matrix": influence.effective_inertia,
        "coriolis_matrix": influence.coriolis_matrix,
        "gravity": influence.gravity,
    }
    extras = {
        "effective_inertia": influence.effective_inertia,
        "inertia_power": influence.inertia_power,
        "effective_damping": influence.springs.effective_damping,
        "effective_stiffness": influence.springs.effective_stiffness,
        "effective_spring_loads": influence.springs.effective_loads,
        "coefficients": influence.frame_coefficients,
    }
    if influence.constraints is None:
        own = partial(influence_equation_set, influence)
        return influence.assemble_equations("influence", builders, extras, equation_set=own)
    loops = LoopInfluence(influence, influence.effective_inertia(), influence.inertia_power())
    extras |= {
        "inputs": lambda: loops.names,
        "input_G": lambda: loops.G,
        "input_H": lambda: loops.H,
        "input_inertia": lambda: loops.inertia,
        "input_power": lambda: loops.power,
        "input_damping": lambda: loops.effective_damping(influence.springs.effective_damping()),
        "input_stiffness": lambda: loops.effective_stiffness(
            influence.springs.effective_stiffness(), influence.springs.effective_loads()
        ),
        "input_spring_loads": lambda: loops.G.T @ influence.springs.effective_loads(),
    }
    return influence.assemble_equations(
        "influence",
        builders,
        extras,
        accelerations=lambda: loops.accelerations(influence.loads()),
        equation_set=partial(influence_equation_set, influence),
    )


@dataclass(frozen=True)
class InfluenceCoefficients:
    """G, 3 × n, and the planes H[p], n × n, of three components of motion."""

    G: Array
    H: list[Array]


class InfluenceFormulation(Formulation):
    """Equations from influence coefficients of all bodies."""

    def __init__(self, tree: KinematicTree) -> None:
        super().__init__(tree)
        self.world = WorldKinematics(tree, self.q)
        self.n = tree.tree_nv
        self._power: list[Array] | None = None

    # -- kinematics (appendix B) ---------------------------------------------------------

    def point_coefficients(self, link: int, x: Array) -> InfluenceCoefficients:
        """The coefficients of the point x of a link: g_n = s_n × (x − r_n) or s_n, H_mn = s_m × g_n
        for m below n."""
        path = self.world.path_axes(link)
        g = {f.velocity_index: f.unit_point_velocity(x) for f in path}
        return self.assemble_coefficients(
            path, g, lambda a, b: cross(a.s, g[b.velocity_index]), symmetric=True
        )

    def rotation_coefficients(self, link: int) -> InfluenceCoefficients:
        """The coefficients of a link's rotation: g_n = s_n of turning joints, H_mn = s_m × s_n for
        m below n."""
        path = [f for f in self.world.path_axes(link) if f.has_rotation]
        g = {f.velocity_index: f.s for f in path}

        def second_rotation_coefficient(a: JointAxis, b: JointAxis) -> Array:
            return ca.SX.zeros(3) if a is b else cross(a.s, b.s)

        return self.assemble_coefficients(path, g, second_rotation_coefficient, symmetric=False)

    def assemble_coefficients(
        self,
        path: list[JointAxis],
        g: dict[int, Array],
        second: Callable[[JointAxis, JointAxis], Array],
        symmetric: bool,
    ) -> InfluenceCoefficients:
        """G and H from the first-order columns g and the second-order entries of pairs of axes."""
        G = ca.SX(3, self.n)
        H = [ca.SX(self.n, self.n) for _ in range(3)]
        for k, b in enumerate(path):
            G[:, b.velocity_index] = g[b.velocity_index]
            for a in path[: k + 1]:
                if not a.has_rotation:
                    continue
                h = second(a, b)
                for p in range(3):
                    H[p][a.velocity_index, b.velocity_index] = h[p]
                    if symmetric:
                        H[p][b.velocity_index, a.velocity_index] = h[p]
        return InfluenceCoefficients(G, H)

    def model_coefficients(self, G: Array, H: list[Array]) -> tuple[Array, list[Array]]:
        """G and H along the model's velocities from those along the tree's."""
        tree, planes = self.tree, []
        for p, plane in enumerate(H):
            whole = gather_columns(tree, gather_forces(tree, plane))
            for j, curved in enumerate(self.joint_curvatures):
                whole += G[p, j] * curved
            planes.append(whole)
        return gather_columns(tree, G), planes

    def frame_coefficients(self) -> dict[str, tuple[InfluenceCoefficients, InfluenceCoefficients]]:
        """(rotation, origin) of every moving frame and body, along the tree's velocities."""
        found = {}
        for name, place in (self.tree.bodies | self.tree.frames).items():
            if place.link != GROUND:
                pose = self.world.link_poses[place.link]
                origin = pose.p + pose.R @ place.p
                found[name] = (
                    self.rotation_coefficients(place.link),
                    self.point_coefficients(place.link, origin),
                )
        return found

    # -- dynamics ------------------------------------------------------------------------

    def effective_inertia(self) -> Array:
        """I*, n × n (15); rotors on its diagonal."""
        total = self.tree_inertia()
        return ca.densify(gather_columns(self.tree, gather_forces(self.tree, total)))

    def tree_inertia(self) -> Array:
        """I* along the tree's own velocities."""
        total = rotor_inertia_matrix(self.tree)
        for body in self.world.bodies:
            G_c, G = self.world.point_jacobians(body.link, body.r)
            total += body.m * (G_c.T @ G_c) + G.T @ body.I @ G
        return total

    def inertia_power(self) -> list[Array]:
        """P*, an n × n plane for each coordinate (16)."""
        if self._power is None:
            self._power = self.gather_power_planes(self.tree_power_planes)
        return self._power

    @cached_property
    def tree_power_planes(self) -> list[Array]:
        """The planes of P* along the tree's own velocities."""
        planes = [ca.SX.zeros(self.n, self.n) for _ in range(self.n)]
        for body in self.world.bodies:
            c, turn = (
                self.point_coefficients(body.link, body.r),
                self.rotation_coefficients(body.link),
            )
            spin = self.spin_power(body.I, turn.G)
            momenta = body.I @ turn.G
            for f in self.world.path_axes(body.link):
                k = f.velocity_index
                planes[k] += sum(body.m * c.G[p, k] * c.H[p] for p in range(3))
                if f.has_rotation:
                    planes[k] += sum(
                        momenta[p, k] * turn.H[p] + turn.G[p, k] * spin[p] for p in range(3)
                    )
        return planes

    def transport(self) -> Array:
        """d: the load of I* φ̈ + φ̇ᵀP*φ̇ of joints that follow moving coordinates, at ψ̈ = 0, without
        that of the same coordinates at rest."""
        found = []
        for tree in (self.tree, freeze_coordinates(self.tree)):
            v, rate = spread_velocities(tree, self.qd), spread_accelerations(tree, self.qd, None)
            load = ca.vertcat(*(v.T @ P @ v for P in self.tree_power_planes))
            found.append(load if rate is None else load + self.tree_inertia() @ rate)
        return gather_forces(self.tree, found[0] - found[1])

    def loads(self) -> Array:
        """All generalized forces but those of inertia in coordinates at rest."""
        loads = self.tau - self.gravity() + self.element_forces()
        return loads - self.transport() if self.tree.names.has_moving_coordinates else loads

    def spin_power(self, Pi: Array, G: Array) -> list[Array]:
        """Gᵀ P G with ωᵀ P ω = ω × Π ω (12): planes g_m × Π g_n."""
        L = Pi @ G
        pairs = ((1, 2), (2, 0), (0, 1))
        return [G[a, :].T @ L[b, :] - G[b, :].T @ L[a, :] for a, b in pairs]

    def gather_power_planes(self, planes: list[Array]) -> list[Array]:
        """The planes along the model's velocities from those along the tree's, mimicry included."""
        tree = self.tree
        inner = [gather_columns(tree, gather_forces(tree, plane)) for plane in planes]
        stacked = ca.vertcat(*(ca.vec(plane).T for plane in inner))
        n = tree.nv
        found = [ca.reshape(row.T, n, n) for row in ca.vertsplit(gather_forces(tree, stacked))]
        if tree.transfer is not None and not tree.transfer.is_affine:
            return [P + more for P, more in zip(found, self.curvature_planes(), strict=True)]
        return found

    def curvature_planes(self) -> list[Array]:
        """(Gᵀ I*) • H of a change of coordinates φ(ψ), with H = ∂²φ/∂ψ²."""
        weights, H = gather_forces(self.tree, self.tree_inertia()), self.joint_curvatures
        rows = range(self.tree.nv)
        return [sum(weights[i, p] * H[p] for p in range(self.n)) for i in rows]

    @cached_property
    def joint_curvatures(self) -> list[Array]:
        """H = ∂²φ/∂ψ² of the joints' variables φ by the model's coordinates ψ, n × n for each."""
        if self.tree.transfer is None or self.tree.transfer.is_affine:
            return [ca.SX(self.tree.nv, self.tree.nv)] * self.n
        full = spread_coordinates(self.tree, self.q)
        return [ca.hessian(full[k], self.q)[0] for k in range(self.n)]

    def coriolis_matrix(self) -> Array:
        """C_lm = Σ ½(P*_lmn + P*_lnm) φ̇_n."""
        return ca.vertcat(*(((P + P.T) @ self.qd).T / 2 for P in self.inertia_power()))

    def gravity(self) -> Array:
        """−Σ Gᶜᵀ M g: minus the load of the weight."""
        load = ca.SX.zeros(self.n)
        for body in self.world.bodies:
            for f in self.world.path_axes(body.link):
                load[f.velocity_index] -= dot(
                    body.m * self.tree.gravity, f.unit_point_velocity(body.r)
                )
        return gather_forces(self.tree, load)

    @cached_property
    def springs(self) -> InfluenceSprings:
        """The springs and dampers of joints and between points, and compliant contacts."""
        return InfluenceSprings(self)
