"""Hamilton's canonical equations, as in Bayseç and Kapucu (1996).

    p = ∂L/∂q̇                             (13)    momenta, L = T − V
    H(q, p, t) = Σ p q̇ − L                 (14)    q̇ as a function of p; T + V (15) only where
                                                   coordinates do not depend on time
    q̇ = ∂H/∂p,   ṗ = −∂H/∂q + Q + Jᵀλ      (10), (11); λ where there are constraints
    ∂H/∂t = −∂L/∂t                         (12)

The states are (q, p). In terms of accelerations, ṗ = M q̈ + Ṁ q̇ with M = ∂p/∂q̇. Where coordinates
depend on time, T = T₂ + T₁ + T₀ has parts of second, first and no degree in q̇, T₁ = aᵀq̇; then
p = M q̇ + a, and H = T₂ − T₀ + V changes by ∂H/∂t and the power of Q alone.
"""

from __future__ import annotations

from functools import cached_property, partial

import casadi as ca

from ..algebra.linear_algebra import Array, solve_symmetric_matrix
from ..equations import Equations, FormulationState
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_totals import (
    kinetic_energy_gradient,
    tree_kinetic_energy,
    tree_potential_energy,
    tree_weight_energy,
)
from ..mechanism import Mechanism
from .constraint_multipliers import FormulationMultipliers, has_regular_mass_matrix
from .formulation import Formulation, reject_quaternions
from .hamilton_form import hamilton_equation_set
from .named_springs import equation_set_with_named_springs


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Canonical equations in the joint variables and their momenta."""
    hamilton = HamiltonFormulation(build_kinematic_tree(mechanism, parameters))
    builders = {
        "mass_matrix": hamilton.mass_matrix,
        "gravity": hamilton.gravity,
        "bias": hamilton.bias,
        "inverse_dynamics": hamilton.inverse_dynamics,
        "forward_dynamics": hamilton.forward_dynamics,
    }
    extras = {
        "momenta": hamilton.momenta,
        "hamiltonian": lambda: hamilton.H,
        "hamiltonian_rate": hamilton.hamiltonian_rate,
    }
    own = partial(equation_set_with_named_springs, hamilton, hamilton_equation_set)
    if hamilton.constraints is None:
        return hamilton.assemble_equations(
            "hamilton", builders, extras, hamilton.state(), equation_set=own
        )
    extras["multipliers"] = lambda: hamilton.multipliers.all_multipliers
    return hamilton.assemble_equations(
        "hamilton",
        builders,
        extras,
        hamilton.state(),
        accelerations=lambda: hamilton.multipliers.accelerations,
        equation_set=own,
    )


class HamiltonFormulation(Formulation):
    """Hamilton's equations in coordinates q and momenta p."""

    def __init__(self, tree: KinematicTree) -> None:
        super().__init__(tree)
        names = [f"p_{name}" for name in tree.names.qd]
        self.p = ca.vertcat(*(ca.SX.sym(name) for name in names))
        self.L = tree_kinetic_energy(tree, self.q, self.qd) - tree_potential_energy(tree, self.q)

    def momenta(self) -> Array:
        """p = ∂L/∂q̇ (13)."""
        return kinetic_energy_gradient(self.tree, self.q, self.qd, self.qd)

    @cached_property
    def M(self) -> Array:
        """M = ∂p/∂q̇."""
        return ca.cse(ca.densify(ca.jacobian(self.momenta(), self.qd)))

    @cached_property
    def velocities_from_momenta(self) -> Array:
        """q̇ as a function of q and p: the solution of (13), which is linear. If some coordinate
        moves no mass, the constraints give its velocity."""
        if self.constraints is None or has_regular_mass_matrix(self.tree.mechanism):
            return solve_symmetric_matrix(self.M, self.p - self.transport_momentum())
        return self.reduction.velocities_from_momenta(self.M, self.p - self.transport_momentum())

    @cached_property
    def H(self) -> Array:
        """H(q, p) = Σ p q̇ − L (14)."""
        return ca.dot(self.p, self.velocities_from_momenta) - ca.substitute(
            self.L, self.qd, self.velocities_from_momenta
        )

    def hamiltonian_rate(self) -> Array:
        """∂H/∂t (12) at q and p: 0 where coordinates do not depend on time."""
        return ca.densify(ca.jacobian(self.H, self.tree.motion.t))

    def momentum_rates(self, tau: Array) -> Array:
        """ṗ = −∂H/∂q + Q (11) at q and p, without constraint forces."""
        Q = tau + ca.substitute(self.nonpotential_forces(), self.qd, self.velocities_from_momenta)
        return -ca.gradient(self.H, self.q) + Q

    @cached_property
    def multipliers(self) -> FormulationMultipliers:
        """λ from J q̈ + γ = 0, with M q̈ = ṗ − Ṁ q̇."""
        forces = self.substitute_momenta(self.momentum_rates(self.tau)) - self.mass_rate_momentum()
        return FormulationMultipliers(self.reduction, self.M, forces)

    def constrained_momentum_rates(self) -> Array:
        """ṗ with constraint forces, at q and p."""
        rates = self.momentum_rates(self.tau)
        if self.constraints is None:
            return rates
        return rates + ca.substitute(
            self.multipliers.constraint_forces, self.qd, self.velocities_from_momenta
        )

    def nonpotential_forces(self) -> Array:
        """Generalized forces that V does not contain: all except weight and springs."""
        springs = ca.gradient(
            tree_potential_energy(self.tree, self.q) - tree_weight_energy(self.tree, self.q), self.q
        )
        return self.element_forces() + springs

    def state(self) -> FormulationState:
        """The states (q, p) and their rates."""
        names = (*self.tree.names.q, *(f"p_{name}" for name in self.tree.names.qd))
        return FormulationState(
            names=names,
            x=ca.vertcat(self.q, self.p),
            rates=lambda: ca.vertcat(
                ca.gradient(self.H, self.p), self.constrained_momentum_rates()
            ),
            from_motion=lambda: ca.vertcat(self.q, self.momenta()),
            to_motion=lambda: (self.q, self.velocities_from_momenta),
        )

    # -- in coordinates, velocities and accelerations ----------------------------------------

    def substitute_momenta(self, expression: Array) -> Array:
        """An expression of q and p at p = ∂L/∂q̇."""
        return ca.substitute(expression, self.p, self.momenta())

    def mass_rate_momentum(self) -> Array:
        """ṗ − M q̈ = ∂p/∂q q̇ + ∂p/∂t, which is Ṁ q̇ where coordinates do not depend on time."""
        p = self.momenta()
        return ca.jtimes(p, self.q, self.qd) + ca.jacobian(p, self.tree.motion.t)

    def forward_dynamics(self) -> Array:
        """q̈ = M⁻¹(ṗ − Ṁ q̇) without constraint forces."""
        rates = self.substitute_momenta(self.momentum_rates(self.tau))
        return solve_symmetric_matrix(self.M, rates - self.mass_rate_momentum())

    def bias(self) -> Array:
        """Ṁ q̇ − ṗ at τ = 0: the generalized forces needed at q̈ = 0."""
        rest = ca.SX.zeros(self.tree.nv)
        return self.mass_rate_momentum() - self.substitute_momenta(self.momentum_rates(rest))

    def inverse_dynamics(self) -> Array:
        """τ = M q̈ + bias."""
        return self.M @ self.qdd + self.bias()

    def mass_matrix(self) -> Array:
        """M, nv × nv."""
        return self.M

    def gravity(self) -> Array:
        """g = ∂V/∂q of the weight alone."""
        return ca.gradient(tree_weight_energy(self.tree, self.q), self.q)
