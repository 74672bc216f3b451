"""Constraints added to the equations of a tree, for all formulations.

    M q̈ + C q̇ + g = τ + f + Jᵀλ,      J q̈ + γ = 0

The formulation itself gives the accelerations, or the reduction to independent velocities does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import casadi as ca

from ..algebra.linear_algebra import Array
from ..equations import Equations, ExpressionBuilder, wrench_generalized_forces
from ..errors import AssemblyError
from ..kinematics.constraint_equations import constraint_body_forces
from ..kinematics.constraint_kinds.body_states import ConstrainedBodyStates
from ..kinematics.mobility_analysis import redundant_row_leeway
from ..quantities import ACTUATED_SIGNATURES, MOVING_SIGNATURES
from .formulation import Formulation
from .recursive.recursive_newton_euler import newton_euler_joint_reactions
from .reduced_dynamics import ReducedDynamics, least_norm_joint_reactions, loop_joint_reactions
from .shared_functions import SHARED_FUNCTIONS

_TREE_FUNCTIONS = (
    "mass_matrix",
    "coriolis_matrix",
    "gravity",
    "bias",
    "forces",
    "passive",
    "external",
    "input_matrix",
    "kinetic_energy",
    "potential_energy",
    "center_of_mass",
    "momentum",
    "integrate",
    "difference",
    *SHARED_FUNCTIONS,
    *MOVING_SIGNATURES,
    *ACTUATED_SIGNATURES,
)
_CONSTRAINED_FUNCTIONS = (
    "required_forces",
    "forward_dynamics",
    "inverse_dynamics",
    "actuator_forces",
    "multipliers",
    "constraint_residual",
    "constraint_velocity",
    "constraint_jacobian",
    "constraint_bias",
    "constraint_velocity_derivative",
    "independent_map",
    "reactions",
    "body_reactions",
    "reactions_of_motion",
    "inverse_dynamics_with_wrenches",
)


def add_constraints_to_equations(
    shared: Formulation, free: Equations, accelerations: ExpressionBuilder | None
) -> Equations:
    """The equations of a tree with its constraints, from the equations `free` without them."""
    under = _ConstrainedFormulation(shared, free, accelerations)
    known = set(free.function_names())
    builders: dict[str, ExpressionBuilder] = {
        name: _unconstrained_equation_builder(free, name)
        for name in _TREE_FUNCTIONS
        if name in known and free.can_build(name)
    }
    for name in _CONSTRAINED_FUNCTIONS:
        if free.is_complete or name.startswith("constraint_") or name in known:
            builders[name] = getattr(under, name)
    try:
        speeds = tuple(free.names.qd[k] for k in shared.reduction.a)
    except AssemblyError as error:  # functions that need no closure still exist
        return replace(free, builders=builders, assembly_failure=str(error))
    names, home = replace(free.names, independent=speeds), shared.home
    leaving = redundant_row_leeway(free.mechanism)
    return replace(free, names=names, builders=builders, home=home, closure_leeway=leaving)


def _unconstrained_equation_builder(free: Equations, name: str) -> Callable[[], tuple[Array, ...]]:
    """A builder that returns a function's expressions in the unconstrained equations."""
    return lambda: free.expressions(name)


class _ConstrainedFormulation:
    """Builders of the functions of `CONSTRAINED_SIGNATURES`, each named as its function."""

    def __init__(
        self, shared: Formulation, free: Equations, accelerations: ExpressionBuilder | None
    ) -> None:
        assert shared.constraints is not None
        self.shared, self.free, self.own_accelerations = shared, free, accelerations
        self.constraints = shared.constraints

    @property
    def reduction(self) -> ReducedDynamics:
        """The reduction to independent velocities."""
        return self.shared.reduction

    def constraint_residual(self) -> Array:
        """φ(q, t), the residuals of the position constraints."""
        return self.constraints.residual

    def constraint_velocity(self) -> Array:
        """J q̇ + ∂φ/∂t, and the residuals of the velocity constraints."""
        return self.constraints.velocity

    def constraint_jacobian(self) -> Array:
        """J, constraints × nv."""
        return ca.densify(self.constraints.J)

    def constraint_bias(self) -> Array:
        """γ of the acceleration constraints J q̈ + γ = 0."""
        return self.constraints.bias

    def constraint_velocity_derivative(self) -> Array:
        """∂V/∂q of `constraint_velocity` along the tangent, constraints × nv."""
        return ca.densify(self.free.tangent_jacobian(self.constraints.velocity))

    def independent_map(self) -> tuple[Array, Array, Array]:
        """G and k of q̇ = G a + k, and the smallest pivot."""
        own = self.reduction
        return ca.densify(own.G), ca.densify(own.imposed_velocities), own.smallest_pivot

    def required_forces(self) -> Array:
        """M q̈ + C q̇ + g − f of the tree, without constraint forces."""
        return self.free.expressions("inverse_dynamics")[0]

    @cached_property
    def accelerations(self) -> Array:
        """q̈ under forces and constraints."""
        if self.own_accelerations is not None:
            return self.own_accelerations()
        (bias,) = self.free.expressions("bias")
        return self.reduction.reduced_accelerations(self.free.M, self.shared.tau - bias)

    def forward_dynamics(self) -> tuple[Array, Array]:
        """q̈ under forces and constraints, and the smallest pivot."""
        eliminates = self.free.is_complete  # springs and dampers in place of constraints do not
        return self.accelerations, self.reduction.smallest_pivot if eliminates else ca.SX(1)

    @cached_property
    def constraint_forces(self) -> Array:
        """Jᵀλ = M q̈ + b − τ at the accelerations that τ gives."""
        (bias,) = self.free.expressions("bias")
        return self.free.M @ self.accelerations + bias - self.shared.tau

    def multipliers(self) -> tuple[Array, Array]:
        """λ of all rows, of least norm where rows are redundant, and the smallest pivot."""
        return self.reduction.least_norm_multipliers(
            self.constraint_forces
        ), self.reduction.smallest_pivot

    def actuator_forces(self) -> tuple[Array, Array]:
        """The actuator forces of least norm for a motion, and the smallest pivot."""
        B = self.shared.input_matrix()
        return self.reduction.solve_actuator_forces(
            B, self.required_forces(), self.shared.evaluate_at_home
        )

    def inverse_dynamics(self) -> tuple[Array, Array]:
        """The generalized forces of the actuators for a motion, and the smallest pivot."""
        u, pivot = self.actuator_forces()
        return self.shared.input_matrix() @ u, pivot

    def inverse_dynamics_with_wrenches(self) -> tuple[Array, Array]:
        """`inverse_dynamics` while given wrenches act on the bodies."""
        B, needed = self.shared.input_matrix(), self.required_forces()
        needed = needed - wrench_generalized_forces(self.free)
        u, pivot = self.reduction.solve_actuator_forces(B, needed, self.shared.evaluate_at_home)
        return B @ u, pivot

    def reactions_of_motion(self) -> Array:
        """Wrenches of joints, then of loops, for given q̈ and λ, one row each."""
        shared = self.shared
        loads = constraint_body_forces(shared.tree, self.constraints, shared.symbols["lambda"])
        joints = newton_euler_joint_reactions(
            shared.tree, shared.q, shared.qd, shared.qdd, others=loads
        )
        return ca.vertcat(joints, *loop_joint_reactions(shared.tree, loads))

    def reactions(self) -> tuple[Array, Array]:
        """Wrenches of joints and loops under τ; where λ is not unique, those of least sum of
        squares."""
        own = self.reduction
        chosen = own.dependent_factors.solve_transposed(self.constraint_forces[own.p])
        rows = ca.substitute(self.reactions_of_motion(), self.shared.qdd, self.accelerations)
        lam = self.shared.symbols["lambda"]
        return least_norm_joint_reactions(
            rows, lam, chosen, own.rows, own.multiplier_null_space()
        ), own.smallest_pivot

    def body_reactions(self) -> tuple[Array, Array]:
        """`reactions` in the axes of each joint's child."""
        rows: Array
        rows, pivot = self.reactions()
        mechanism, setting = self.shared.tree.mechanism, ConstrainedBodyStates(self.shared.tree)
        joints = {**{n: mechanism.joints[n] for n in self.free.names.joints}, **mechanism.loops}
        turned = []
        for k, joint in enumerate(joints.values()):
            R = setting.frame_pose(joint.child).R
            turned.append(ca.horzcat(rows[k, :3] @ R, rows[k, 3:] @ R))
        return ca.vertcat(*turned), pivot
