"""Lagrange's equations with multipliers, Bayseç and Kapucu (1996), (9): dependent coordinates.

    d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Jᵀλ                                      (9)
    J q̈ + γ = 0                            the constraints, differentiated until q̈ appears
    λ = −(J M⁻¹ Jᵀ)⁻¹ (J M⁻¹ (τ − b) + γ)    with M q̈ + b for the left side less Q's own part

Constraints may be holonomic or not, and depend on time. λ and the forces Jᵀλ are results. If some
coordinate moves no mass, M has no inverse, and the independent accelerations are found first.
"""

from __future__ import annotations

from functools import cached_property, partial

import casadi as ca

from ..algebra.linear_algebra import Array
from ..equations import Equations
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.mobility_analysis import reference_configuration
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_totals import tree_kinetic_energy, tree_weight_energy
from ..mechanism import Mechanism, mechanism_names
from .constraint_multipliers import FormulationMultipliers
from .formulation import QUATERNION_FORMULATIONS, Formulation, reject_quaternions
from .multipliers_form import multipliers_equation_set
from .named_springs import equation_set_with_named_springs


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    if not (mechanism.loops or mechanism.constraints):
        advice = "'lagrange'" if reject_quaternions(mechanism) is None else QUATERNION_FORMULATIONS
        return f"it has no loops and no constraints (use {advice})"
    return reject_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Lagrange's equations of the first kind in all coordinates of the tree."""
    own = FirstKindLagrangeFormulation(build_kinematic_tree(mechanism, parameters))
    builders = {
        "mass_matrix": lambda: own.M,
        "gravity": own.gravity,
        "bias": lambda: own.bias,
        "inverse_dynamics": own.inverse_dynamics,
    }
    extras = {
        "multipliers": lambda: own.multipliers.all_multipliers,
        "constraint_forces": lambda: own.multipliers.constraint_forces,
    }
    accelerations = lambda: own.multipliers.accelerations  # noqa: E731
    return own.assemble_equations(
        "multipliers",
        builders,
        extras,
        accelerations=accelerations,
        equation_set=partial(equation_set_with_named_springs, own, multipliers_equation_set),
    )


def size(mechanism: Mechanism) -> tuple[int, int]:
    """The number of equations of motion and constraint, and the number of states."""
    n = mechanism_names(mechanism).nv
    return n + len(reference_configuration(mechanism)[1].rows), 2 * n


class FirstKindLagrangeFormulation(Formulation):
    """Lagrange's equations of the first kind, with all coordinates of the tree."""

    def __init__(self, tree: KinematicTree) -> None:
        super().__init__(tree)
        self.T = tree_kinetic_energy(tree, self.q, self.qd)

    @cached_property
    def momenta(self) -> Array:
        """p = ∂T/∂q̇."""
        return ca.gradient(self.T, self.qd)

    @cached_property
    def M(self) -> Array:
        """M = ∂p/∂q̇."""
        return ca.cse(ca.densify(ca.jacobian(self.momenta, self.qd)))

    def gravity(self) -> Array:
        """g = ∂V/∂q of the weight alone."""
        return ca.gradient(tree_weight_energy(self.tree, self.q), self.q)

    @cached_property
    def bias(self) -> Array:
        """The left side of (9) at q̈ = 0, minus the forces of the mechanism's own elements."""
        convected = ca.jtimes(self.momenta, self.q, self.qd)
        convected += ca.jacobian(self.momenta, self.tree.motion.t)
        return convected - ca.gradient(self.T, self.q) + self.gravity() - self.element_forces()

    def inverse_dynamics(self) -> Array:
        """τ = M q̈ + bias, without constraint forces."""
        return self.M @ self.qdd + self.bias

    @cached_property
    def multipliers(self) -> FormulationMultipliers:
        """λ from the accelerations of the constraints."""
        assert self.constraints is not None
        return FormulationMultipliers(self.reduction, self.M, self.tau - self.bias)
