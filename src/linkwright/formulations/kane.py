"""d'Alembert's principle with dual vectors, Agrawal (1988): the dual form of Kane's method.

    V̂ = ω + εv = Σ v̂_r u_r             dual velocity, and its partials                       (6)
    V̂_i = V̂_{i−1} + dθ̂/dt ẑ_i           along a chain of dual angles θ̂ = θ + εl               (3)
    Ĥ = m v* + ε I·ω                    dual momentum of a body for its centre of mass          (8)
    F̂* = dĤ/dt + V̂ × Ĥ                  dual inertia force                                   (9)
    dual(Σ v̂_r · F̂) = 0                 for every independent generalized speed u_r         (10)

Components are in the bodies' own axes. At a cylindrical joint the partial of the slide is ε times
that of the rotation: one product v̂ · F̂ gives both equations, as its dual and its real part.
Generalized speeds u = Y q̇ + Z (4) may be chosen; by default they are the rates of the coordinates.
Constraints make some of them depend on the others, q̇ = G u + k; the partials of the independent
speeds are v̂_r = Σ v̂_s G_sr, and no multipliers appear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.dual import DualDisplacement, DualNumber, DualVector, dual_rotation
from ..algebra.linear_algebra import Array, LUFactorization, solve_symmetric_matrix
from ..equations import Equations, FormulationState
from ..errors import UnsupportedError
from ..expressions import parse_expression
from ..kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ..kinematics.parameter_values import ParameterSelection, read_kinematic_expression
from ..kinematics.pivots import find_constraint_pivots, jacobian_rank, scale_constraint_jacobian
from ..kinematics.recursions import (
    link_displacements,
    link_joint_motion,
    link_motion_subspace,
    link_slide_along_axis,
)
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import (
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from ..mechanism import Mechanism
from ..types import Floats
from .formulation import Formulation


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(
    mechanism: Mechanism,
    parameters: ParameterSelection = "symbolic",
    speeds: Mapping[str, str] | None = None,
    shortcut: bool = True,
) -> Equations:
    """Kane's equations; `speeds` are generalized speeds by name, as expressions of the coordinates
    (q1) and their rates (dq1); `shortcut` uses the dual product of cylindrical joints."""
    kane = KaneFormulation(build_kinematic_tree(mechanism, parameters), shortcut)
    builders = {
        "inverse_dynamics": kane.inverse_dynamics,
        "mass_matrix": kane.mass_matrix,
        "gravity": kane.gravity,
    }
    extras = {"partial_velocities": lambda: kane.partial_velocities(speeds)}
    state = kane.state(speeds) if speeds else None
    return kane.assemble_equations("kane", builders, extras, state)


@dataclass(frozen=True)
class KaneDualVelocity:
    """The dual velocity of a link at its origin, in its own axes, and the rate of its
    components."""

    V: DualVector
    rate: DualVector


ZERO_DUAL_VELOCITY = DualVector(np.zeros(3), np.zeros(3))


class KaneFormulation(Formulation):
    """Kane's equations by dual velocities and their partials."""

    def __init__(self, tree: KinematicTree, shortcut: bool = True) -> None:
        super().__init__(tree)
        self.shortcut = shortcut
        self.tree_coordinates = spread_coordinates(tree, self.q)
        self.v = spread_velocities(tree, self.qd)
        self.vd = spread_accelerations(tree, self.qd, self.qdd)
        self.displacements_in_parents = [self.dual_displacement(i) for i in range(len(tree.links))]

    def dual_displacement(self, i: int) -> DualDisplacement:
        """The displacement of a link in its parent: a constant one, then a rotation by a dual angle
        about z."""
        link = self.tree.links[i]
        fixed = DualDisplacement(link.R, link.p)
        q = self.tree_coordinates[link.coordinate_range]
        if link.kind.has_quaternion:
            moved = link_displacements(self.tree, self.tree_coordinates)[i]
            return DualDisplacement(moved.rotation, moved.position)
        turn, slide = q if link.kind.turns_about_axis else 0.0, link_slide_along_axis(link, q)
        return fixed @ dual_rotation(2, DualNumber(turn, 0.0 if slide is None else slide))

    def joint_dual_velocity(self, link: TreeLink, v: Array) -> DualVector:
        """The dual velocity of a joint's motion, with velocities v, in the link's axes."""
        motion = link_joint_motion(link, v[link.velocity_range])
        return DualVector(motion.angular, motion.linear)

    @cached_property
    def dual_velocities(self) -> list[KaneDualVelocity]:
        """V̂ and its rate of every link (3)."""
        found: list[KaneDualVelocity] = []
        for i, link in enumerate(self.tree.links):
            below = (
                KaneDualVelocity(ZERO_DUAL_VELOCITY, ZERO_DUAL_VELOCITY)
                if link.parent == GROUND
                else found[link.parent]
            )
            own = self.joint_dual_velocity(link, self.v)
            carried = self.displacements_in_parents[i].to_displaced_axes(below.V)
            rate = self.displacements_in_parents[i].to_displaced_axes(below.rate) + carried.cross(
                own
            )
            found.append(
                KaneDualVelocity(carried + own, rate + self.joint_dual_velocity(link, self.vd))
            )
        return found

    @cached_property
    def origin_partial_velocities(self) -> list[dict[int, DualVector]]:
        """v̂_r of every link at its origin, by velocity index.

        With the shortcut, the slide of a cylindrical joint has no partial of its own.
        """
        found: list[dict[int, DualVector]] = []
        for i, link in enumerate(self.tree.links):
            below = {} if link.parent == GROUND else found[link.parent]
            own = {
                r: self.displacements_in_parents[i].to_displaced_axes(v) for r, v in below.items()
            }
            for k, s in enumerate(link_motion_subspace(link)):
                if link.v + k not in self.cylindrical_slides:
                    own[link.v + k] = DualVector(s.angular, s.linear)
            found.append(own)
        return found

    @cached_property
    def cylindrical_slides(self) -> dict[int, int]:
        """The velocity index of each cylindrical joint's slide, with that of its rotation."""
        if not self.shortcut:
            return {}
        joints = self.tree.mechanism.joints
        spans = [span for span in self.tree.joints if joints[span.name].kind.is_cylindrical]
        pairs = (span.links for span in spans if len(span.links) == 2)
        return {self.tree.links[b].v: self.tree.links[a].v for a, b in pairs}

    def partial_velocities(
        self, speeds: Mapping[str, str] | None = None
    ) -> dict[str, dict[str, DualVector]]:
        """v̂_r of every body at its centre of mass, in its link's axes, by generalized speed; under
        constraints, the nonholonomic partials of the independent speeds."""
        found = {}
        names, G = self.tree.names.qd, ca.SX.eye(self.tree.nv)
        if speeds:
            u = ca.SX.sym("u", len(speeds))
            names, G = (
                tuple(speeds),
                ca.jacobian(
                    self.velocities_from_speeds(self.read_generalized_speeds(speeds), u), u
                ),
            )
        elif self.constraints is not None:
            names, G = tuple(names[k] for k in self.reduction.a), self.reduction.G
        for name, mass in self.tree.masses.items():
            if mass.link == GROUND:
                continue
            at = DualDisplacement(np.eye(3), mass.c)
            columns = ca.SX(6, self.tree.tree_nv)
            for r, v in self.origin_partial_velocities[mass.link].items():
                moved = at.to_displaced_axes(v)
                columns[:, r] = ca.vertcat(moved.real, moved.dual)
            for slide, turn in self.cylindrical_slides.items():
                if self.moves_link(slide, mass.link):
                    columns[3:, slide] = columns[:3, turn]  # ε times the turn's
            own = ca.horzsplit(ca.densify(gather_columns(self.tree, columns) @ G))
            found[name] = {
                speed: DualVector(column[:3], column[3:])
                for speed, column in zip(names, own, strict=True)
                if not column.is_zero()
            }
        return found

    def kane_forces(self) -> Array:
        """dual(Σ v̂_r · (F̂* − weight)) (10): the generalized forces without losses and springs."""
        tau = [ca.SX(0)] * self.tree.tree_nv
        rotations = self.link_rotations()
        for mass in self.tree.masses.values():
            if mass.link == GROUND:
                continue
            at = DualDisplacement(np.eye(3), mass.c)
            link = self.dual_velocities[mass.link]
            V, rate = at.to_displaced_axes(link.V), at.to_displaced_axes(link.rate)
            H = DualVector(mass.m * V.dual, mass.I @ V.real)
            F = DualVector(mass.m * rate.dual, mass.I @ rate.real) + V.cross(H)
            weight = mass.m * (rotations[mass.link].T @ self.tree.gravity)
            F = F - DualVector(weight, np.zeros(3))
            for r, v in self.origin_partial_velocities[mass.link].items():
                product = at.to_displaced_axes(v).dot(F)
                tau[r] += product.dual
                for slide, turn in self.cylindrical_slides.items():
                    if turn == r and self.moves_link(slide, mass.link):
                        tau[slide] += product.real
        rotors = [
            effect.rotor_inertia * self.vd[k] for k, effect in enumerate(self.tree.joint_effects)
        ]
        return gather_forces(self.tree, ca.vertcat(*tau) + ca.vertcat(*rotors))

    def moves_link(self, speed: int, link: int) -> bool:
        """Whether a generalized speed moves a link."""
        return any(self.tree.links[i].v == speed for i in self.tree.path_to_ground(link))

    def link_rotations(self) -> list[Array]:
        """The rotation matrices of all links in the world."""
        found: list[Array] = []
        for i, link in enumerate(self.tree.links):
            R = self.displacements_in_parents[i].R
            found.append(R if link.parent == GROUND else found[link.parent] @ R)
        return found

    def inverse_dynamics(self) -> Array:
        """τ for the motion (q, q̇, q̈)."""
        return self.kane_forces() - self.element_forces()

    def mass_matrix(self) -> Array:
        """M, as the derivative of Kane's forces by q̈."""
        return ca.densify(ca.jacobian(self.kane_forces(), self.qdd))

    def gravity(self) -> Array:
        """Kane's forces at rest."""
        rest = ca.SX.zeros(self.tree.nv)
        forces = KaneFormulation(freeze_coordinates(self.tree), self.shortcut).kane_forces()
        return ca.substitute([forces], [self.qd, self.qdd], [rest, rest])[0]

    # -- generalized speeds ------------------------------------------------------------------

    def read_generalized_speeds(self, speeds: Mapping[str, str]) -> Array:
        """u = Y q̇ + Z (4) as expressions, one for each degree of freedom."""
        tree = self.tree
        freedom = tree.nv if self.constraints is None else len(self.reduction.a)
        if tree.nq != tree.nv or len(speeds) != freedom:
            raise UnsupportedError(
                f"{len(speeds)} generalized speeds for {freedom} degrees of freedom",
                where=tree.mechanism.name,
                remedy="give one for each degree of freedom, of joints without quaternions",
            )
        scope = dict(zip(tree.names.q, ca.vertsplit(self.q), strict=True))
        scope |= {f"d{n}": x for n, x in zip(tree.names.qd, ca.vertsplit(self.qd), strict=True)}
        if tree.names.is_time_dependent:
            scope["t"] = tree.motion.t
        kept = tree.symbols
        given = ca.vertcat(
            *(
                read_kinematic_expression(tree.mechanism, parse_expression(text), scope, kept)
                for text in speeds.values()
            )
        )
        if ca.depends_on(ca.jacobian(given, self.qd), self.qd):
            raise UnsupportedError(
                "generalized speeds must be linear in the rates",
                where=tree.mechanism.name,
                remedy="write u = Y q̇ + Z",
            )
        return given

    def velocities_from_speeds(self, given: Array, u: Array) -> Array:
        """q̇ as a function of the generalized speeds u: Y q̇ + Z = u, with J q̇ + V₀ = 0."""
        rows, right = given, u
        if self.constraints is not None:
            chosen = list(self.reduction.rows)
            rows = ca.vertcat(given, self.constraints.velocity[chosen])
            right = ca.vertcat(u, ca.SX.zeros(len(chosen)))
        S = ca.jacobian(rows, self.qd)
        at, order = self.evaluate_at_sample(S), list(range(self.tree.nv))
        if jacobian_rank(at) < len(order):
            raise UnsupportedError(
                "generalized speeds depend on each other, or on what constraints hold",
                where=self.tree.mechanism.name,
                remedy="give independent ones",
            )
        lines, columns = find_constraint_pivots(scale_constraint_jacobian(at), order, len(order))
        known = right - ca.substitute(rows, self.qd, ca.SX.zeros(self.tree.nv))
        solved = LUFactorization(S[lines, columns]).solve(known[lines])
        return ca.vertcat(*(solved[columns.index(k)] for k in order))

    def evaluate_at_sample(self, matrix: Array) -> Floats:
        """A matrix of q as numbers, in the assembled or in a random configuration."""
        tree = self.tree
        q = np.random.default_rng(0).uniform(0.2, 1.2, tree.nq)
        if self.constraints is not None:
            q = np.array(self.home)
        symbols = ca.vertcat(*tree.symbols.values())
        values = [float(value) for value in tree.symbol_values.values()]
        at = ca.Function("at", [self.q, tree.motion.t, symbols], [matrix])
        return np.asarray(at(q, 0.0, values), dtype=float)

    def state(self, speeds: Mapping[str, str]) -> FormulationState:
        """The states (q, u) and their rates; dependent speeds follow from the constraints."""
        given = self.read_generalized_speeds(speeds)
        u = ca.vertcat(*(ca.SX.sym(name) for name in speeds))
        rates = self.velocities_from_speeds(given, u)
        return FormulationState(
            names=(*self.tree.names.q, *speeds),
            x=ca.vertcat(self.q, u),
            rates=lambda: self.state_rates(given, rates),
            from_motion=lambda: ca.vertcat(self.q, given),
            to_motion=lambda: (self.q, rates),
        )

    def state_rates(self, given: Array, rates: Array) -> Array:
        """(q̇, u̇) under the forces τ, as functions of q and u."""
        bias = ca.substitute(self.inverse_dynamics(), self.qdd, ca.SX.zeros(self.tree.nv))
        forces = self.tau - bias
        if self.constraints is None:
            qdd = solve_symmetric_matrix(self.mass_matrix(), forces)
        else:
            qdd = self.reduction.reduced_accelerations(self.mass_matrix(), forces)
        u_rate = ca.jacobian(given, self.qd) @ qdd + ca.jtimes(given, self.q, self.qd)
        u_rate += ca.jacobian(given, self.tree.motion.t)
        return ca.substitute(ca.vertcat(self.qd, u_rate), self.qd, rates)
