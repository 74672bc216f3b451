"""Constraints put upon the equations of a tree, whichever formulation gave these.

    M q̈ + C q̇ + g = τ + f + Jᵀλ,      J q̈ + γ = 0

Accelerations come from the formulation itself, or by reduction to independent speeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property

import casadi as ca

from ..algebra.linear import Array
from ..equations import Builder, Equations, driven_by_wrenches
from ..errors import AssemblyError
from ..kinematics.constraint_kinds.setting import Setting
from ..kinematics.constraints import constraint_loads
from ..kinematics.mobility_analysis import leeway
from .recursive.newton_euler import reactions
from .reduction import Reduction, least_rows, loop_wrenches
from .shared import Shared

_OF_TREES = (
    "mass_matrix", "coriolis_matrix", "gravity", "bias", "forces", "passive", "external",
    "input_matrix", "kinetic_energy", "potential_energy", "center_of_mass", "momentum", "regressor",
    "control_regressor", "integrate", "difference",
)  # fmt: skip
_CONSTRAINED = (
    "required_forces", "forward_dynamics", "inverse_dynamics", "actuator_forces", "multipliers",
    "constraint_residual", "constraint_velocity", "constraint_jacobian", "constraint_bias",
    "independent_map", "reactions", "body_reactions", "reactions_of_motion",
    "inverse_dynamics_with_wrenches",
)  # fmt: skip


def constrained(shared: Shared, free: Equations, accelerations: Builder | None) -> Equations:
    """The equations of a tree with its constraints; `free` are those without."""
    under = _Constrained(shared, free, accelerations)
    known = set(free.function_names())
    builders: dict[str, Builder] = {
        name: _of_tree(free, name) for name in _OF_TREES if name in known and free.can_make(name)
    }
    for name in _CONSTRAINED:
        if free.complete or name.startswith("constraint_") or name in known:
            builders[name] = getattr(under, name)
    try:
        speeds = tuple(free.names.qd[k] for k in shared.reduction.a)
    except AssemblyError as error:  # what needs no closure is there all the same
        return replace(free, builders=builders, unclosed=str(error))
    names, home = replace(free.names, independent=speeds), shared.home
    leaving = leeway(free.mechanism)
    return replace(free, names=names, builders=builders, home=home, leeway=leaving)


def _of_tree(free: Equations, name: str) -> Callable[[], tuple[Array, ...]]:
    return lambda: free.expressions(name)


class _Constrained:
    """Builders of the functions of `CONSTRAINED_SIGNATURES`."""

    def __init__(self, shared: Shared, free: Equations, accelerations: Builder | None) -> None:
        assert shared.constraints is not None
        self.shared, self.free, self.own = shared, free, accelerations
        self.constraints = shared.constraints

    @property
    def reduction(self) -> Reduction:
        return self.shared.reduction

    def constraint_residual(self) -> Array:
        return self.constraints.residual

    def constraint_velocity(self) -> Array:
        return self.constraints.velocity

    def constraint_jacobian(self) -> Array:
        return ca.densify(self.constraints.J)

    def constraint_bias(self) -> Array:
        return self.constraints.bias

    def independent_map(self) -> tuple[Array, Array, Array]:
        own = self.reduction
        return ca.densify(own.G), ca.densify(own.carried), own.pivot

    def required_forces(self) -> Array:
        return self.free.expressions("inverse_dynamics")[0]

    @cached_property
    def accelerations(self) -> Array:
        """q̈ under forces and constraints."""
        if self.own is not None:
            return self.own()
        (bias,) = self.free.expressions("bias")
        return self.reduction.accelerations(self.free.M, self.shared.tau - bias)

    def forward_dynamics(self) -> tuple[Array, Array]:
        eliminates = self.free.complete  # springs and dampers in place of constraints do not
        return self.accelerations, self.reduction.pivot if eliminates else ca.SX(1)

    @cached_property
    def needed(self) -> Array:
        """M q̈ + b − τ at the accelerations that τ gives: Jᵀλ."""
        (bias,) = self.free.expressions("bias")
        return self.free.M @ self.accelerations + bias - self.shared.tau

    def multipliers(self) -> tuple[Array, Array]:
        return self.reduction.multipliers(self.needed), self.reduction.pivot

    def actuator_forces(self) -> tuple[Array, Array]:
        B = self.shared.input_matrix()
        return self.reduction.drives(B, self.required_forces(), self.shared.at_home)

    def inverse_dynamics(self) -> tuple[Array, Array]:
        u, pivot = self.actuator_forces()
        return self.shared.input_matrix() @ u, pivot

    def inverse_dynamics_with_wrenches(self) -> tuple[Array, Array]:
        B, needed = self.shared.input_matrix(), self.required_forces()
        needed = needed - driven_by_wrenches(self.free)
        u, pivot = self.reduction.drives(B, needed, self.shared.at_home)
        return B @ u, pivot

    def reactions_of_motion(self) -> Array:
        """Rows of joints, then of loops, for any q̈ and λ."""
        shared = self.shared
        loads = constraint_loads(shared.tree, self.constraints, shared.symbols["lambda"])
        joints = reactions(shared.tree, shared.q, shared.qd, shared.qdd, others=loads)
        return ca.vertcat(joints, *loop_wrenches(shared.tree, loads))

    def reactions(self) -> tuple[Array, Array]:
        """Those that τ brings about; least in the sum of squares where λ is not unique."""
        own = self.reduction
        chosen = own.factors.solve_transposed(self.needed[own.p])
        rows = ca.substitute(self.reactions_of_motion(), self.shared.qdd, self.accelerations)
        lam = self.shared.symbols["lambda"]
        return least_rows(rows, lam, chosen, own.rows, own.spare()), own.pivot

    def body_reactions(self) -> tuple[Array, Array]:
        """The same in the axes of each joint's child."""
        rows: Array
        rows, pivot = self.reactions()
        mechanism, setting = self.shared.tree.mechanism, Setting(self.shared.tree)
        joints = {**{n: mechanism.joints[n] for n in self.free.names.joints}, **mechanism.loops}
        turned = []
        for k, joint in enumerate(joints.values()):
            R = setting.pose(joint.child).R
            turned.append(ca.horzcat(rows[k, :3] @ R, rows[k, 3:] @ R))
        return ca.vertcat(*turned), pivot
