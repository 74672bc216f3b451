"""Approximate dynamics of Rooney, Rai and Jones, Bayseç and Kapucu (1996), (16)–(22), (66)–(77).

There are more coordinates than degrees of freedom: the joint variables, and the centres of mass x
of chosen bodies. These move as free points; strong springs and dampers enforce the constraints:

    f = x − r(q) = 0,  φ(q, t) = 0               centres of mass; loops, constraints (17), (67)
    λ = −β(f + γ ḟ)                              constraint forces                   (20), (77)
    M z̈ = Q + Jᵀ λ,   z = (q, x),  J = ∂f/∂z                                         (21), (22)

In M the masses of the chosen bodies act at x only, so that M is simpler than the exact one. As β
grows, f goes to zero and −β(f + γḟ) to Lagrange's multipliers; f oscillates at √(β·J M⁻¹Jᵀ), and γ
damps this. Velocity constraints ψ = 0 have the damping only, λ = −βγψ. With `iterations`,
multipliers are corrected as in DAMN until the accelerations satisfy the constraints too, for any β.
In a consistent state (f = ḟ = 0) the constraint force is still zero: without iterations, motions
are meaningful, but not the accelerations of one instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..equations import Equations, FormulationState
from ..errors import UnsupportedError
from ..kinematics.constraint_equations import constraint_body_forces
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import gather_columns, gather_forces, spread_velocities
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism
from ..types import SX
from .formulation import Formulation, formulation_rotor_inertias, reject_quaternions
from .free_body_states import formulation_axis_letter, formulation_state_symbols
from .newton_euler import newton_euler_directions
from .recursive.recursive_newton_euler import newton_euler_joint_reactions
from .reduced_dynamics import loop_joint_reactions

DEFAULT_TIME_STEP = 1e-3
"""The time step in seconds for which β and γ are chosen by default."""


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism)


def derive(
    mechanism: Mechanism,
    parameters: ParameterSelection = "symbolic",
    bodies: Sequence[str] | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int = 0,
) -> Equations:
    """Approximate equations. The centres of mass of `bodies` become coordinates (default: all
    bodies that do not hang on ground directly); `beta` (N/m) and `gamma` (s) default to
    `suggest_penalty_factors`."""
    if iterations and gamma is not None and gamma <= 0:
        raise UnsupportedError(
            f"gamma = {gamma:g} cannot damp iterated multipliers", remedy="give seconds above 0"
        )
    chosen = _choose_penalty_bodies(mechanism, bodies)
    stiff, damped = suggest_penalty_factors(mechanism, chosen)
    approximate = ApproximateFormulation(
        build_kinematic_tree(mechanism, parameters),
        chosen,
        stiff if beta is None else beta,
        damped if gamma is None else gamma,
        iterations,
    )
    extras = {
        "constraints": lambda: approximate.f,
        "multipliers": approximate.multipliers,
        "joint_wrenches": approximate.joint_wrenches,
        "beta": lambda: approximate.beta,
        "gamma": lambda: approximate.gamma,
    }
    return approximate.assemble_equations(
        "approximate",
        {"forward_dynamics": approximate.forward_dynamics} if iterations else {},
        extras,
        approximate.state(),
        complete=False,
        accelerations=approximate.forward_dynamics,
    )


def suggest_penalty_factors(
    mechanism: Mechanism, bodies: Sequence[str] | None = None, step: float = DEFAULT_TIME_STEP
) -> tuple[float, float]:
    """β and γ for a time step in seconds: the fastest oscillation of a constraint takes about
    twenty steps and is damped critically."""
    tree = build_kinematic_tree(mechanism, "numeric")
    own = ApproximateFormulation(tree, _choose_penalty_bodies(mechanism, bodies), 1.0, 0.0, 0)
    at = ca.Function("at", [own.q, tree.motion.t], [own.M_q, ca.densify(own.J)])
    rng = np.random.default_rng(0)
    masses = np.repeat([float(body.m) for body in own.point_bodies], len(own.D))
    stiffest = 0.0
    places = rng.uniform(-1, 1, (5, tree.nq)) if own.constraints is None else [own.home]
    for q in places:
        M_q, J = (np.asarray(x) for x in at(q, 0.0))
        sizes = np.linalg.eigvalsh(M_q)
        singular = len(sizes) == 0 or sizes[0] <= 1e-12 * max(1.0, sizes[-1])
        if singular or (len(masses) and masses.min() <= 0):
            raise UnsupportedError(
                "without the masses at the chosen points, a coordinate has no inertia",
                where=mechanism.name,
                remedy="give the bodies moments of inertia, or choose fewer bodies",
            )
        if len(J):
            of_q, of_x = J[:, : tree.nv], J[:, tree.nv :]
            A = of_q @ np.linalg.solve(M_q, of_q.T) + (of_x / masses) @ of_x.T
            stiffest = max(stiffest, float(np.linalg.eigvalsh(A)[-1]))
    frequency = 2 * np.pi / (20 * step)
    return (frequency**2 / stiffest if stiffest else 0.0), 2 / frequency


def _choose_penalty_bodies(mechanism: Mechanism, bodies: Sequence[str] | None) -> list[str]:
    """The bodies named; default: all that do not hang on ground and leave the joints some
    inertia."""
    if bodies is not None:
        given = [bodies] if isinstance(bodies, str) else list(bodies)
        for name in given:
            if name not in mechanism.bodies:
                raise UnsupportedError(f"unknown body '{name}'", where=mechanism.name)
        return given
    tree = build_kinematic_tree(mechanism, "numeric")
    roots = {joint.child for joint in mechanism.joints.values() if joint.parent == "ground"}
    found: list[str] = []
    for name, mass in tree.masses.items():
        if mass.link == GROUND or name in roots or float(mass.m) <= 0:
            continue
        if _is_penalty_mass_regular(ApproximateFormulation(tree, [*found, name], 1.0, 0.0, 0)):
            found.append(name)
    return found


def _is_penalty_mass_regular(own: ApproximateFormulation) -> bool:
    """Whether the joints' block of M is regular at a random configuration."""
    at = ca.Function("M", [own.q, own.tree.motion.t], [own.M_q])
    q = np.random.default_rng(0).uniform(-1, 1, own.tree.nq)
    sizes = np.linalg.eigvalsh(np.asarray(at(q, 0.0)))
    return bool(sizes[0] > 1e-12 * max(1.0, sizes[-1]))


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

    def multipliers(self) -> Array:
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
        D = formulation_rotor_inertias(self.tree)
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

    def solve_mass_matrix(self, right: Array) -> Array:
        """M⁻¹ times the right-hand sides, by the joints' block and by the points one by one."""
        n = self.tree.nv
        masses = ca.vertcat(
            *(ca.repmat(ca.SX(body.m), len(self.D), 1) for body in self.point_bodies)
        )
        rows = (
            right[n:, :] / ca.repmat(masses, 1, right.shape[1])
            if self.point_bodies
            else right[n:, :]
        )
        return ca.vertcat(solve_symmetric_matrix(self.M_q, right[:n, :]), rows)

    def accelerations(self) -> Array:
        """z̈ (22); with iterations, corrected until f̈ = 0."""
        zdd = self.solve_mass_matrix(self.generalized_forces + self.J.T @ self.multipliers())
        count = self.f_rate.shape[0]
        if not self.iterations or not count:
            return zdd
        drift = ca.jtimes(self.f_rate, self.z, self.zd)  # f̈ at z̈ = 0
        drift += ca.jacobian(self.f_rate, self.tree.motion.t)
        stabilised = drift + (2 / self.gamma) * self.f_rate + self.f / self.gamma**2
        zdd = self.solve_mass_matrix(self.generalized_forces)
        # augmented Lagrangian: λ ← λ − β'(J z̈ + …), with J M⁻¹ Jᵀ + 1/β' solved once
        A = self.J @ self.solve_mass_matrix(self.J.T)
        softness = ca.SX.eye(count) / self.beta
        lam = ca.SX.zeros(count)
        for _ in range(self.iterations):
            error = self.J @ zdd + stabilised
            lam = lam - solve_symmetric_matrix(ca.densify(A + softness), error)
            zdd = self.solve_mass_matrix(self.generalized_forces + self.J.T @ lam)
        return zdd

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
        )

    def forward_dynamics(self) -> Array:
        """q̈ in a consistent state (x = r, ẋ = ṙ), by iterated multipliers."""
        zdd = self.accelerations()
        return ca.substitute([zdd[: self.tree.nv]], [self.x, self.xd], [self.r, self.r_rate])[0]
