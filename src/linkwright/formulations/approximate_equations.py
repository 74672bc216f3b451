"""The equations of approximate dynamics, M z̈ = Q + Jᵀλ, as expressions; see `approximate`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial

import casadi as ca

from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..equations import FormulationState
from ..kinematics.constraint_equations import constraint_body_forces
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.rotor_inertias import rotor_inertia_matrix
from ..kinematics.tree_coordinates import gather_columns, gather_forces, spread_velocities
from ..kinematics.world_kinematics import WorldKinematics
from ..types import SX
from ..written_equations import WrittenAccelerations
from .approximate_energies import approximate_energies
from .formulation import Formulation
from .free_body_states import formulation_axis_letter, formulation_state_symbols
from .newton_euler import newton_euler_directions
from .recursive.recursive_newton_euler import newton_euler_joint_reactions
from .reduced_dynamics import loop_joint_reactions


class ApproximateFormulation(Formulation):
    """M z̈ = Q + Jᵀλ in joint variables and centres of mass, z = (q, x), with penalty forces λ."""

    def __init__(
        self,
        tree: KinematicTree,
        bodies: Sequence[str],
        beta: float | SX,
        gamma: float | SX,
        iterations: int,
    ) -> None:
        super().__init__(tree)
        self.beta, self.gamma, self.iterations = beta, gamma, iterations
        self.world = WorldKinematics(tree, self.q)
        self.point_bodies = [body for body in self.world.bodies if body.name in bodies]
        P = newton_euler_directions(tree)
        self.D = P[~P[:, :3].any(axis=1), 3:]  # the plane's two directions, or space's three
        letters = [formulation_axis_letter(row, k) for k, row in enumerate(self.D)]
        names = [f"{c}_{body.name}" for body in self.point_bodies for c in letters]
        self.point_names = names
        self.x = formulation_state_symbols(names)
        self.xd = formulation_state_symbols([f"d{name}" for name in names])
        self.z, self.zd = ca.vertcat(self.q, self.x), ca.vertcat(self.qd, self.xd)

    @property
    def numbered_point_names(self) -> list[str]:
        """The names of the points' coordinates by the numbers of their bodies: x2 for x_link2."""
        numbers = {name: k + 1 for k, name in enumerate(self.tree.names.bodies)}
        split = (name.split("_", 1) for name in self.point_names)
        return [f"{letter}{numbers[body]}" for letter, body in split]

    @cached_property
    def r(self) -> Array:
        """The positions of the chosen centres of mass as functions of the joint variables."""
        places = [ca.SX(self.D) @ body.r for body in self.point_bodies]
        return ca.vertcat(*places) if places else ca.SX(0, 1)

    @cached_property
    def r_rate(self) -> Array:
        """ṙ, the velocities of these centres of mass by the joint variables."""
        if not self.point_bodies:
            return ca.SX(0, 1)
        rate = ca.jtimes(self.r, self.q, self.qd)
        return rate + ca.jacobian(self.r, self.tree.motion.t)

    @cached_property
    def f(self) -> Array:
        """The residuals f = x − r(q) (67), then those of loops and constraints; zeros in velocity
        rows."""
        errors, own = self.x - self.r, self.constraints
        return errors if own is None else ca.vertcat(errors, own.residual_of_all_rows)

    @cached_property
    def f_rate(self) -> Array:
        """ḟ; in velocity rows, the residuals of the velocity constraints."""
        rate = self.xd - self.r_rate
        return rate if self.constraints is None else ca.vertcat(rate, self.constraints.velocity)

    @cached_property
    def spring_forces(self) -> Array:
        """λ = −β(f + γḟ) (77), before any iteration."""
        return -self.beta * (self.f + self.gamma * self.f_rate)

    @cached_property
    def M_q(self) -> Array:
        """The mass matrix of the joint variables: all inertia except the masses at x."""
        tree = self.tree
        return ca.densify(gather_columns(tree, gather_forces(tree, self.tree_inertia)))

    @cached_property
    def tree_inertia(self) -> Array:
        """The inertia along the tree's velocities: all except the masses at x."""
        D = rotor_inertia_matrix(self.tree)
        for body in self.world.bodies:
            J_v, J_w = self.world.point_jacobians(body.link, body.r)
            D += J_w.T @ body.I @ J_w
            if body not in self.point_bodies:
                D += body.m * (J_v.T @ J_v)
        return D

    @cached_property
    def generalized_forces(self) -> Array:
        """Q of (21): joint forces, losses, springs, weight, and the velocity terms of M."""
        v = spread_velocities(self.tree, self.qd)
        momentum = gather_forces(self.tree, self.tree_inertia @ v)
        slope = ca.jtimes(momentum, self.q, self.qd) + ca.jacobian(momentum, self.tree.motion.t)
        turned = ca.gradient(ca.dot(v, self.tree_inertia @ v) / 2, self.q)
        Q = self.tau + self.element_forces() - slope + turned
        for body in self.world.bodies:
            if body not in self.point_bodies:
                J_v, _ = self.world.point_jacobians(body.link, body.r)
                Q += gather_forces(self.tree, J_v.T @ (body.m * self.tree.gravity))
        points = [body.m * (ca.SX(self.D) @ self.tree.gravity) for body in self.point_bodies]
        return ca.vertcat(Q, *points)

    @cached_property
    def J(self) -> Array:
        """J = ∂ḟ/∂ż, the Jacobian of all constraint equations."""
        return ca.jacobian(self.f_rate, self.zd)

    @property
    def point_masses(self) -> Array:
        """The masses of the superabundant coordinates, the diagonal of their block of M."""
        masses = [ca.repmat(ca.SX(body.m), len(self.D), 1) for body in self.point_bodies]
        return ca.vertcat(*masses) if masses else ca.SX(0, 1)

    def solve_mass_matrix(self, right: Array) -> Array:
        """M⁻¹ times the right-hand sides, by the joints' block and by the points one by one."""
        n = self.tree.nv
        rows = right[n:, :] / ca.repmat(self.point_masses, 1, right.shape[1])
        return ca.vertcat(solve_symmetric_matrix(self.M_q, right[:n, :]), rows)

    def multipliers(self) -> Array:
        """λ of the springs and dampers (77); with iterations, corrected so that f tends to zero."""
        return self.multipliers_and_accelerations[0]

    def accelerations(self) -> Array:
        """z̈ (22); with iterations, of the corrected λ."""
        return self.multipliers_and_accelerations[1]

    @cached_property
    def multipliers_and_accelerations(self) -> tuple[Array, Array]:
        """λ and z̈."""
        lam, count = self.spring_forces, self.f_rate.shape[0]
        if not self.iterations or not count:
            return lam, self.solve_mass_matrix(self.generalized_forces + self.J.T @ lam)
        drift = ca.jtimes(self.f_rate, self.z, self.zd)  # f̈ at z̈ = 0
        drift += ca.jacobian(self.f_rate, self.tree.motion.t)
        stabilized = drift + (2 / self.gamma) * self.f_rate + self.f / self.gamma**2
        zdd = self.solve_mass_matrix(self.generalized_forces)
        # augmented Lagrangian: λ ← λ − β'(J z̈ + …), with J M⁻¹ Jᵀ + 1/β' solved once
        A = self.J @ self.solve_mass_matrix(self.J.T)
        softness = ca.SX.eye(count) / self.beta
        lam = ca.SX.zeros(count)
        for _ in range(self.iterations):
            error = self.J @ zdd + stabilized
            lam = lam - solve_symmetric_matrix(ca.densify(A + softness), error)
            zdd = self.solve_mass_matrix(self.generalized_forces + self.J.T @ lam)
        return lam, zdd

    def joint_wrenches(self) -> dict[str, Array]:
        """The wrench (moment, force) of every joint and loop on its child, about its origin, in
        world axes; where equations are redundant, the stiff constraints share the forces."""
        qdd, loads = self.accelerations()[: self.tree.nv], []
        if self.constraints is not None:
            of_rows = self.multipliers()[self.x.shape[0] :]
            loads = constraint_body_forces(self.tree, self.constraints, of_rows)
        rows = newton_euler_joint_reactions(self.tree, self.q, self.qd, qdd, others=loads)
        wrenches = [*ca.vertsplit(rows), *loop_joint_reactions(self.tree, loads)]
        names = (*self.tree.names.joints, *self.tree.mechanism.loops)
        return {name: row.T for name, row in zip(names, wrenches, strict=True)}

    def state(self) -> FormulationState:
        """The states (q, x, q̇, ẋ) of the formulation and their rates."""
        names = (*self.tree.names.q, *self.point_names)
        return FormulationState(
            names=(*names, *(f"d{name}" for name in names)),
            x=ca.vertcat(self.z, self.zd),
            rates=lambda: ca.vertcat(self.zd, self.accelerations()),
            from_motion=lambda: ca.vertcat(self.q, self.r, self.qd, self.r_rate),
            to_motion=lambda: (self.q, self.qd),
            energies=partial(approximate_energies, self),
            written_accelerations=None if self.iterations else self.written_accelerations,
        )

    def written_accelerations(self) -> WrittenAccelerations:
        """The accelerations with symbols in place of the values of β and γ."""
        taken = {*self.tree.symbols, *self.tree.names.q}
        names = [name if name not in taken else f"{name}_s" for name in ("beta", "gamma")]
        beta, gamma = map(ca.SX.sym, names)
        bodies = [body.name for body in self.point_bodies]
        own = ApproximateFormulation(self.tree, bodies, beta, gamma, 0)
        forces, n = own.generalized_forces + own.J.T @ own.spring_forces, self.tree.nv
        made = [own.M_q, forces[:n], forces[n:] / own.point_masses]
        states = [ca.vertcat(one.x, one.xd) for one in (own, self)]
        M, right, others = ca.substitute(made, states[:1], states[1:])
        coordinates = (*self.tree.names.q, *self.numbered_point_names)
        return WrittenAccelerations(coordinates, M, right, others, frozenset(names))

    def forward_dynamics(self) -> Array:
        """q̈ in a consistent state (x = r, ẋ = ṙ), by iterated multipliers."""
        zdd = self.accelerations()
        return ca.substitute([zdd[: self.tree.nv]], [self.x, self.xd], [self.r, self.r_rate])[0]
