"""Equations of free bodies with joint wrenches as unknowns, and the elimination of both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import (
    Array,
    cross,
    outer,
    skew,
    solve_symmetric_matrix,
    symmetric_from_upper,
)
from ..kinematics.body_forces import declared_body_forces, declared_joint_forces, spring_body_forces
from ..kinematics.constraint_equations import constraint_body_forces
from ..kinematics.kinematic_tree import GROUND, BodyMass, KinematicTree
from ..kinematics.recursions import LinkKinematics, link_accelerations, link_displacements
from ..kinematics.rotor_inertias import rotor_inertia_forces, rotor_inertia_matrix
from ..kinematics.tree_coordinates import (
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from ..kinematics.tree_totals import joint_passive_forces
from ..kinematics.world_kinematics import WorldKinematics
from ..types import Floats
from .constraint_multipliers import FormulationMultipliers
from .formulation import Formulation
from .reduced_dynamics import least_norm_joint_reactions, loop_joint_reactions

IDENTITY_TENSOR = np.eye(3)


def newton_euler_body_mass(tree: KinematicTree, link: int) -> BodyMass:
    """The mass properties of all bodies that are fixed to a link, as one body."""
    own = [mass for mass in tree.masses.values() if mass.link == link]
    if len(own) == 1:
        return own[0]
    m = sum(mass.m for mass in own)
    c = sum((mass.m * mass.c for mass in own), np.zeros(3))
    c = c / m if not isinstance(m, float | int) or m else c
    I = np.zeros((3, 3))  # noqa: E741
    for mass in own:
        d = mass.c - c
        I = I + mass.I + mass.m * (ca.dot(d, d) * IDENTITY_TENSOR - outer(d, d))  # noqa: E741
    return BodyMass(link, m, c, np.array(ca.DM(I)) if not isinstance(I, ca.SX) else I)


@dataclass(frozen=True)
class NewtonEulerBody:
    """A free body in the world: rotation R, centre of mass r, inertia I about it, and the wrench F
    of weight, gyroscopic moment and loads."""

    name: str
    link: int
    parent: int  # among the bodies; −1 for ground
    R: Array
    c: Array
    r: Array
    m: Array
    I: Array  # noqa: E741
    F: Array


class NewtonEulerFormulation(Formulation):
    """Newton's and Euler's equations of all bodies, in the components that the rows of `directions`
    span."""

    def __init__(
        self,
        tree: KinematicTree,
        directions: Floats,
        *,
        loaded: bool = True,
        tied: bool = False,
    ) -> None:
        super().__init__(tree)
        self.P = directions
        self.k = len(directions)
        self.link_displacements = link_displacements(tree, spread_coordinates(tree, self.q))
        self.v = spread_velocities(tree, self.qd)
        self.world = WorldKinematics(tree, self.q)
        self.bias_accelerations = spread_accelerations(tree, self.qd, None)
        self.bias_motions = link_accelerations(
            tree, self.link_displacements, self.v, self.bias_accelerations, np.zeros(3)
        )
        self.loads = [
            load
            for loads in (
                spring_body_forces(tree, self.q, self.qd),
                declared_body_forces(tree, self.q),
            )
            for load in loads
            if loaded
        ]
        self.lam = ca.SX.sym("lambda", len(self.constraints) if self.constraints and tied else 0)
        if self.constraints is not None and tied:
            self.constraint_body_forces = constraint_body_forces(tree, self.constraints, self.lam)
            self.loads += self.constraint_body_forces
        self.names = list(tree.names.bodies)
        self.links = [tree.bodies[name].link for name in self.names]

    @cached_property
    def bodies(self) -> list[NewtonEulerBody]:
        """All free bodies at (q, q̇), in world axes."""
        found = []
        for name, link in zip(self.names, self.links, strict=True):
            mass, pose = newton_euler_body_mass(self.tree, link), self.world.link_poses[link]
            I = pose.R @ mass.I @ pose.R.T  # noqa: E741
            omega = pose.R @ self.bias_motions[link].omega
            r = pose.p + pose.R @ mass.c
            F = ca.vertcat(-cross(omega, I @ omega), mass.m * ca.SX(self.tree.gravity))
            for load in self.loads:
                if load.link == link:
                    moment = load.moment + cross(load.point - r, load.force)
                    F += ca.vertcat(moment, load.force)
            above = [i for i in self.tree.path_to_ground(link) if i != link and i in self.links]
            parent = self.links.index(above[0]) if above else -1
            found.append(NewtonEulerBody(name, link, parent, pose.R, mass.c, r, mass.m, I, F))
        return found

    def body_acceleration(self, body: NewtonEulerBody, states: list[LinkKinematics]) -> Array:
        """(α, a) of a body's centre of mass in world axes, from the motions of the links."""
        state = states[body.link]
        return ca.vertcat(body.R @ state.alpha, body.R @ state.point_acceleration(body.c))

    def parent_transport(self, body: NewtonEulerBody) -> Array:
        """The 6 × 6 matrix that carries the parent's (α, a) to this body's centre of mass."""
        d = body.r - self.bodies[body.parent].r
        lower = ca.horzcat(-skew(d), ca.SX.eye(3))
        return ca.vertcat(ca.horzcat(ca.SX.eye(3), ca.SX.zeros(3, 3)), lower)

    def joint_motion_matrix(self, body: NewtonEulerBody) -> Array:
        """S of the joint before the body: 6 × the tree's velocities, in world axes."""
        S = ca.SX(6, self.tree.tree_nv)
        stop = self.bodies[body.parent].link if body.parent >= 0 else GROUND
        here = body.link
        while here != stop:
            for f in self.world.joint_axes:
                if f.link == here:
                    S[:, f.velocity_index] = ca.vertcat(
                        f.unit_angular_velocity, f.unit_point_velocity(body.r)
                    )
            here = self.tree.links[here].parent
        return S

    # -- forces from accelerations: one body after the other, from the tips -----------------

    @cached_property
    def body_wrenches(self) -> list[Array]:
        """The joint wrench w on every body for the motion (q, q̇, q̈), about its centre of mass."""
        rate = spread_accelerations(self.tree, self.qd, self.qdd)
        states = link_accelerations(self.tree, self.link_displacements, self.v, rate, np.zeros(3))
        found: list[Array] = [ca.SX.zeros(6)] * len(self.bodies)
        for b in reversed(range(len(self.bodies))):
            body = self.bodies[b]
            y = self.body_acceleration(body, states)
            inertia = ca.vertcat(body.I @ y[:3], body.m * y[3:])
            found[b] = found[b] + inertia - body.F
            if body.parent >= 0:
                passed = self.parent_transport(body).T @ found[b]
                found[body.parent] = found[body.parent] + passed
        return found

    def required_joint_forces(self) -> Array:
        """Sᵀ w and the inertia forces of the rotors, nv."""
        tau = ca.SX.zeros(self.tree.tree_nv)
        for body, w in zip(self.bodies, self.body_wrenches, strict=True):
            tau += self.joint_motion_matrix(body).T @ w
        tau += rotor_inertia_forces(self.tree, spread_accelerations(self.tree, self.qd, self.qdd))
        return gather_forces(self.tree, tau)

    def joint_element_forces(self) -> Array:
        """Generalized forces of the joints' own dampers, friction, springs and declared forces."""
        own = gather_forces(self.tree, joint_passive_forces(self.tree, self.q, self.qd))
        return own + declared_joint_forces(self.tree)

    def inverse_dynamics(self) -> Array:
        """τ for the motion (q, q̇, q̈)."""
        return self.required_joint_forces() - self.joint_element_forces()

    def mass_matrix(self) -> Array:
        """M, as the derivative of the required forces by q̈."""
        return ca.densify(ca.jacobian(self.required_joint_forces(), self.qdd))

    def gravity(self) -> Array:
        """The joint forces at rest without loads."""
        rest = ca.SX.zeros(self.tree.nv)
        tree = freeze_coordinates(self.tree)
        holding = NewtonEulerFormulation(tree, self.P, loaded=False).required_joint_forces()
        return ca.substitute([holding], [self.qd, self.qdd], [rest, rest])[0]

    def joint_wrenches(self, *, in_bodies: bool = False) -> dict[str, Array]:
        """The wrench (moment, force) of every moving joint on its child, about the joint's
        origin."""
        found = {}
        for span in self.tree.joints:
            if not span.links:
                continue
            body = self.bodies[self.links.index(span.links[-1])]
            w = self.body_wrenches[self.links.index(span.links[-1])]
            frame = span.frame
            pose = None if frame.link == GROUND else self.world.link_poses[frame.link]
            origin = frame.p if pose is None else pose.p + pose.R @ frame.p
            moment, force = w[:3] + cross(body.r - origin, w[3:]), w[3:]
            if in_bodies:
                child = self.tree.bodies[self.tree.mechanism.joints[span.name].child]
                R = body.R @ child.R
                moment, force = R.T @ moment, R.T @ force
            found[span.name] = ca.vertcat(moment, force)
        return found

    def reactions(self, *, in_bodies: bool = False) -> dict[str, Array]:
        """The wrenches of every joint and loop under τ; of least norm where they are not unique."""
        joints = self.joint_wrenches()
        rows = ca.vertcat(
            *(w.T for w in joints.values()),
            *loop_joint_reactions(self.tree, self.constraint_body_forces),
        )
        rows = ca.substitute(rows, self.qdd, self.multipliers.accelerations)
        spare = self.reduction.multiplier_null_space()
        rows = least_norm_joint_reactions(
            rows, self.lam, self.multipliers.independent_multipliers, self.reduction.rows, spare
        )
        found = {}
        loops = self.tree.mechanism.loops
        for name, row in zip((*joints, *loops), ca.vertsplit(rows), strict=True):
            R = np.eye(3)
            if in_bodies:
                joint = loops[name] if name in loops else self.tree.mechanism.joints[name]
                R = self.world.frame_rotation(joint.child)
            found[name] = ca.vertcat(R.T @ row[:3].T, R.T @ row[3:].T)
        return found

    # -- accelerations from forces: all equations at once -----------------------------------

    def forward_dynamics(self) -> Array:
        """q̈ of the unconstrained bodies, all equations solved at once."""
        M, drives, _ = self.reduced_system
        return solve_symmetric_matrix(M, drives)

    @cached_property
    def multipliers(self) -> FormulationMultipliers:
        """λ of loops and constraints; those between coordinates act along these."""
        assert self.constraints is not None
        M, drives, K = self.reduced_system
        J = self.constraints.J
        along = [tie.name for tie in self.tree.restraints.entries if not tie.attached_names]
        for row, owner in enumerate(self.constraints.owners):
            if owner in along:
                K[:, row] = J[row, :].T
        return FormulationMultipliers(self.reduction, M, drives, K.T)

    @cached_property
    def reduced_system(self) -> tuple[Array, Array, Array]:
        """M, the forces F and the matrix K of M q̈ = F + K λ, with w and y eliminated.

        y = X⁻¹(S q̈ + c) from ground outward, where X is unit triangular, and w = X⁻ᵀ(N y − F) from
        the tips inward. No body's inertia is inverted, so bodies without inertia are allowed.
        """
        tree, k, P = self.tree, self.k, ca.SX(self.P)
        S = [P @ self.joint_motion_matrix(body) for body in self.bodies]
        drifts = [P @ self.body_acceleration(body, self.bias_motions) for body in self.bodies]
        F_all = ca.vertcat(*(P @ body.F for body in self.bodies))
        E = ca.jacobian(F_all, self.lam)
        F = ca.substitute(F_all, self.lam, ca.SX.zeros(self.lam.shape[0]))
        motions, N = self.carry_motions(S), [self.body_inertia(body) for body in self.bodies]
        wrenches = self._carry_wrenches([
            ca.horzcat(n @ motion, n @ drift - F[k * b : k * (b + 1)])
            for b, (n, motion, drift) in enumerate(zip(N, motions, drifts, strict=True))
        ])  # fmt: skip
        whole = sum((own.T @ w for own, w in zip(S, wrenches, strict=True)), ca.SX(0))
        rotors = rotor_inertia_matrix(tree)
        M = symmetric_from_upper(whole[:, :-1].T) + rotors
        drives = self.tau + self.joint_element_forces() - gather_forces(tree, whole[:, -1])
        if self.bias_accelerations is not None:
            drives -= gather_forces(tree, rotors @ self.bias_accelerations)
        K = gather_columns(tree, ca.vertcat(*motions)).T @ E
        return ca.densify(gather_columns(tree, gather_forces(tree, M))), drives, ca.densify(K)

    def carry_motions(self, own: list[Array]) -> list[Array]:
        """X⁻¹ S: what the tree's accelerations add to each body's (α, a)."""
        found: list[Array] = []
        for body, motion in zip(self.bodies, own, strict=True):
            if body.parent >= 0:
                motion = motion + self._reduced_transport(body) @ found[body.parent]
            found.append(motion)
        return found

    def _carry_wrenches(self, needed: list[Array]) -> list[Array]:
        """X⁻ᵀ (N y − F): the wrenches of the joints, from what each body needs."""
        found = list(needed)
        for b in reversed(range(len(found))):
            body = self.bodies[b]
            if body.parent >= 0:
                passed = self._reduced_transport(body).T @ found[b]
                found[body.parent] = found[body.parent] + passed
        return found

    def _reduced_transport(self, body: NewtonEulerBody) -> Array:
        """The block of −X that carries the parent's (α, a) to a body, in the chosen components."""
        P = ca.SX(self.P)
        return P @ self.parent_transport(body) @ P.T

    def body_inertia(self, body: NewtonEulerBody) -> Array:
        """N = diag(I, m) of a body in the chosen components."""
        N, P = ca.SX(6, 6), ca.SX(self.P)
        N[:3, :3], N[3:, 3:] = body.I, body.m * ca.SX.eye(3)
        return P @ N @ P.T
