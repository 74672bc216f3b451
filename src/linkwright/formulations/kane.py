"""d'Alembert's principle with dual vectors, Agrawal (1988): the dual form of Kane's method.

    V̂ = ω + εv = Σ v̂_r u_r             dual velocity, and its partials                       (6)
    V̂_i = V̂_{i−1} + dθ̂/dt ẑ_i           along a chain of dual angles θ̂ = θ + εl               (3)
    Ĥ = m v* + ε I·ω                    dual momentum of a body for its centre of mass          (8)
    F̂* = dĤ/dt + V̂ × Ĥ                  dual inertia force                                   (9)
    dual(Σ v̂_r · F̂) = 0                 for every independent generalized speed u_r         (10)

Components are in the bodies' own axes. At a cylindrical joint the partial of the slide is ε times
that of the rotation: one product v̂ · F̂ gives both equations, as its dual and its real part.
Generalized speeds u = Y q̇ + Z (4) may be chosen; by default they are the rates of the coordinates.
Constraints make some of them depend on the others (5), q̇ = G u + k; (10) is then formed with the
nonholonomic partials of the independent speeds, ṽ_r = Σ v̂_s G_sr (7), and no multipliers appear.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property, partial

import casadi as ca
import numpy as np

from ..algebra.dual import DualDisplacement, DualVector
from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..equations import Equations, FormulationState
from ..errors import ExpressionError
from ..kinematics.kinematic_tree import GROUND, BodyMass, KinematicTree
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.rotor_inertias import rotor_inertia_forces, rotor_inertia_matrix
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import (
    coordinate_rate_matrix,
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_accelerations,
)
from ..mechanism import Mechanism
from ..mechanism.parts import replace_part_fields
from .formulation import Formulation
from .kane_form import kane_equation_set
from .kane_kinematics import DualKinematics, KaneDualVelocity
from .kane_speeds import GeneralizedSpeeds, read_given_speeds
from .named_springs import equation_set_with_named_springs


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(
    mechanism: Mechanism,
    parameters: ParameterSelection = "symbolic",
    speeds: Mapping[str, str] | str | None = None,
    shortcut: bool = True,
) -> Equations:
    """Kane's equations; `speeds` are generalized speeds in place of the mechanism's own, a table or
    a text "u1 = dq1 + dq2; …"; `shortcut` uses the dual product of cylindrical joints."""
    if speeds is not None:
        table = parse_speeds_text(speeds) if isinstance(speeds, str) else speeds
        mechanism = replace_part_fields(mechanism, speeds=table)
    kane = KaneFormulation(build_kinematic_tree(mechanism, parameters), shortcut)
    builders = {
        "inverse_dynamics": kane.inverse_dynamics,
        "mass_matrix": kane.mass_matrix,
        "gravity": kane.gravity,
    }
    return kane.assemble_equations(
        "kane",
        builders,
        {"partial_velocities": kane.partial_velocities},
        kane.state(kane.speeds) if kane.speeds is not None else None,
        accelerations=kane.constrained_accelerations,
        equation_set=partial(equation_set_with_named_springs, kane, kane_equation_set),
    )


def parse_speeds_text(text: str) -> dict[str, str]:
    """Generalized speeds by name, from a text "u1 = dq1 + dq2; u2 = dq2"."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.split(";"))):
        name, sign, expression = (part.strip() for part in line.partition("="))
        if not (name and sign and expression) or name in found:
            raise ExpressionError(
                f"'{line}' does not define a generalized speed, or defines it again",
                remedy="write u1 = dq1 + dq2; u2 = dq2",
            )
        found[name] = expression
    return found


class KaneFormulation(Formulation):
    """Kane's equations by dual velocities and their partials."""

    def __init__(self, tree: KinematicTree, shortcut: bool = True) -> None:
        super().__init__(tree)
        self.kinematics = DualKinematics(tree, shortcut)
        self.vd = spread_accelerations(tree, self.qd, self.qdd)

    @cached_property
    def speeds(self) -> GeneralizedSpeeds | None:
        """The generalized speeds that the mechanism gives; None where they are velocities q̇."""
        return read_given_speeds(self) if self.tree.speeds else None

    @cached_property
    def dual_velocities(self) -> list[KaneDualVelocity]:
        """V̂ and its rate of every link (3)."""
        return self.kinematics.link_dual_velocities(self.vd)

    def partial_velocities(self) -> dict[str, dict[str, DualVector]]:
        """v̂_r of every body at its centre of mass, in its link's axes, by generalized speed; under
        constraints, the nonholonomic partials of the independent speeds."""
        names, G = self.tree.names.qd, ca.SX.eye(self.tree.nv)
        if self.speeds is not None:
            names, G = self.speeds.names, self.speeds.G
        elif self.constraints is not None:
            names, G = tuple(names[k] for k in self.reduction.a), self.reduction.G
        found = {}
        for name, mass in self.moving_masses():
            own = self.kinematics.point_partial_velocities(mass.link, mass.c, G)
            found[name] = {
                speed: DualVector(own[:3, r], own[3:, r])
                for r, speed in enumerate(names)
                if not own[:, r].is_zero()
            }
        return found

    def moving_masses(self) -> Iterator[tuple[str, BodyMass]]:
        """The bodies that are not fixed to ground, by name."""
        return ((name, mass) for name, mass in self.tree.masses.items() if mass.link != GROUND)

    def inertia_force(self, mass: BodyMass, link: KaneDualVelocity) -> DualVector:
        """F̂* = dĤ/dt + V̂ × Ĥ of a body at its centre of mass (9), in its link's axes."""
        at = DualDisplacement(np.eye(3), mass.c)
        V, rate = at.to_displaced_axes(link.V), at.to_displaced_axes(link.rate)
        H = DualVector(mass.m * V.dual, mass.I @ V.real)
        return DualVector(mass.m * rate.dual, mass.I @ rate.real) + V.cross(H)

    @cached_property
    def weights(self) -> dict[str, Array]:
        """m g of every moving body, in its link's axes."""
        rotations = self.kinematics.link_rotations()
        return {
            name: mass.m * (rotations[mass.link].T @ self.tree.gravity)
            for name, mass in self.moving_masses()
        }

    def kane_forces(self) -> Array:
        """dual(Σ v̂_r · (F̂* − weight)) (10): the generalized forces without losses and springs."""
        tau = [ca.SX(0)] * self.tree.tree_nv
        for name, mass in self.moving_masses():
            at = DualDisplacement(np.eye(3), mass.c)
            F = self.inertia_force(mass, self.dual_velocities[mass.link])
            F = F - DualVector(self.weights[name], np.zeros(3))
            for r, v in self.kinematics.origin_partial_velocities[mass.link].items():
                product = at.to_displaced_axes(v).dot(F)
                tau[r] += product.dual
                for slide, turn in self.kinematics.cylindrical_slides.items():
                    if turn == r and self.kinematics.moves_link(slide, mass.link):
                        tau[slide] += product.real
        rotors = rotor_inertia_forces(self.tree, self.vd)
        return gather_forces(self.tree, ca.vertcat(*tau) + rotors)

    def speed_equations(self, G: Array, bias: Array) -> tuple[Array, Array]:
        """M and f of M u̇ = f, which is dual(Σ ṽ_r · F̂) = 0 (10) for independent speeds u with
        q̇ = G u + k; `bias` is q̈ at u̇ = 0."""
        tree, carried = self.tree, spread_accelerations(self.tree, self.qd, bias)
        at_rest = self.kinematics.link_dual_velocities(carried)
        inertia, f = ca.SX.zeros(G.shape[1], G.shape[1]), G.T @ (self.tau + self.element_forces())
        for name, mass in self.moving_masses():
            partials = self.kinematics.point_partial_velocities(mass.link, mass.c, G)
            turning, moving = partials[:3, :], partials[3:, :]
            F = self.inertia_force(mass, at_rest[mass.link])
            inertia += mass.m * (moving.T @ moving) + turning.T @ mass.I @ turning
            f -= moving.T @ (F.real - self.weights[name]) + turning.T @ F.dual
        rotors = rotor_inertia_matrix(tree)
        spread = gather_columns(tree, ca.SX.eye(tree.tree_nv)) @ G
        return ca.densify(inertia + spread.T @ rotors @ spread), f - spread.T @ (rotors @ carried)

    def constrained_accelerations(self) -> Array:
        """q̈ = G u̇ + c, with the nonholonomic partials of the independent velocities u."""
        own = self.reduction
        if not own.a:
            return own.bias_accelerations
        rates = solve_symmetric_matrix(*self.speed_equations(own.G, own.bias_accelerations))
        return own.G @ rates + own.bias_accelerations

    def inverse_dynamics(self) -> Array:
        """τ for the motion (q, q̇, q̈)."""
        return self.kane_forces() - self.element_forces()

    def mass_matrix(self) -> Array:
        """M, as the derivative of Kane's forces by q̈."""
        return ca.densify(ca.jacobian(self.kane_forces(), self.qdd))

    def gravity(self) -> Array:
        """Kane's forces at rest."""
        rest = ca.SX.zeros(self.tree.nv)
        forces = KaneFormulation(
            freeze_coordinates(self.tree), self.kinematics.shortcut
        ).kane_forces()
        return ca.substitute([forces], [self.qd, self.qdd], [rest, rest])[0]

    def state(self, speeds: GeneralizedSpeeds) -> FormulationState:
        """The states (q, u) and their rates; dependent speeds follow from the constraints."""
        return FormulationState(
            names=(*self.tree.names.q, *speeds.names),
            x=ca.SX(ca.vertcat(self.q, speeds.u)),
            rates=lambda: self.state_rates(speeds),
            from_motion=lambda: ca.vertcat(self.q, speeds.definitions),
            to_motion=lambda: (self.q, speeds.velocities),
        )

    def state_rates(self, speeds: GeneralizedSpeeds) -> Array:
        """(q̇, u̇) under the forces τ, as functions of q and u."""
        u_rate = solve_symmetric_matrix(*self.speed_equations(speeds.G, speeds.bias_accelerations))
        rates = ca.vertcat(coordinate_rate_matrix(self.tree, self.q) @ self.qd, u_rate)
        return ca.substitute(rates, self.qd, speeds.velocities)
