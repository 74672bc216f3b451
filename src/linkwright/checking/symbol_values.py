"""Values of the symbols of papers, as expressions of the mechanism's own equations."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ..expressions import expression_to_float
from ..types import SX
from .derivative_variables import find_derivative_variable

if TYPE_CHECKING:
    from .vocabulary import CheckerVocabulary


class CheckerSymbolValues:
    """Energies, momenta, entries of matrices, derivatives and reactions of one mechanism."""

    def __init__(self, vocabulary: CheckerVocabulary) -> None:
        self.vocabulary = vocabulary
        self.eqs, self.names = vocabulary.eqs, vocabulary.names
        self.symbols = vocabulary.symbols
        self.quantity_expression = vocabulary.quantity_expression

    def coordinate_rate(self, name: str) -> SX | None:
        """The rate N(q) v of a coordinate that is not a generalized velocity."""
        if name not in self.names.q or name in self.names.qd:
            return None
        return (self.eqs.rate_matrix @ self.symbols["qd"])[self.names.q.index(name)]

    # -- energies and momenta ---------------------------------------------------------------

    @cached_property
    def kinetic_energy(self) -> SX:
        """Kinetic energy of all bodies and rotors, in J."""
        return self.quantity_expression("kinetic_energy")

    @cached_property
    def potential_energy(self) -> SX:
        """Potential energy of weight and springs, in J."""
        return self.quantity_expression("potential_energy")

    @property
    def lagrangian(self) -> SX:
        """Kinetic minus potential energy."""
        return self.kinetic_energy - self.potential_energy

    @property
    def total_energy(self) -> SX:
        """Kinetic plus potential energy."""
        return self.kinetic_energy + self.potential_energy

    @property
    def hamiltonian(self) -> SX:
        """p·q̇ − L, with the velocities in place of the momenta."""
        work = ca.dot(self.generalized_momenta, self.symbols["qd"])
        return work - self.kinetic_energy + self.potential_energy

    @cached_property
    def generalized_momenta(self) -> SX:
        """p = ∂K/∂q̇."""
        return ca.gradient(self.kinetic_energy, self.symbols["qd"])

    @cached_property
    def momentum_rates(self) -> SX:
        """ṗ = M q̈ + Ṁ q̇, and ȧ where coordinates depend on time."""
        p, s = self.generalized_momenta, self.symbols
        along = ca.jtimes(p, s["q"], self.eqs.rate_matrix @ s["qd"]) + ca.jacobian(p, s["t"])
        return self.quantity_expression("mass_matrix") @ s["qdd"] + along

    def lagrange_left_side(self, k: int) -> SX:
        """d/dt ∂L/∂q̇_k − ∂L/∂q_k."""
        return self.momentum_rates[k] - ca.jacobian(self.lagrangian, self.symbols["q"][k])

    def derived_symbol(self, name: str) -> SX:
        """Names that the checker makes itself: `rate@M11`, `partial@q@0@M11`, and `lagrange@0`, the
        left side of Lagrange's first equation."""
        kind, _, rest = name.partition("@")
        q, qd, qdd, t = (self.symbols[key] for key in ("q", "qd", "qdd", "t"))
        if kind == "lagrange":
            return self.lagrange_left_side(int(rest))
        if kind == "partial":
            column, index, inner = rest.split("@", 2)
            return ca.jacobian(
                self.vocabulary.require_expression(inner), self.symbols[column][int(index)]
            )
        whole = ca.SX(self.vocabulary.require_expression(rest))
        along = ca.jtimes(whole, q, self.eqs.rate_matrix @ qd) + ca.jtimes(whole, qd, qdd)
        return along + ca.jacobian(whole, t)

    # -- matrices, vectors, constraints -----------------------------------------------------

    def christoffel_symbol(self, i: int, j: int, k: int) -> SX:
        """½(∂M_kj/∂q_i + ∂M_ki/∂q_j − ∂M_ij/∂q_k), where velocities are rates of coordinates."""
        M, q = self.quantity_expression("mass_matrix"), self.symbols["q"]
        parts = (M[k, j], q[i]), (M[k, i], q[j]), (M[i, j], q[k])
        by_i, by_j, by_k = (ca.jacobian(entry, x) for entry, x in parts)
        return (by_i + by_j - by_k) / 2

    def constraint_residual(self, row: int) -> SX:
        """φ of a holonomic constraint."""
        return ca.densify(self.quantity_expression("constraint_residual"))[row]

    def constraint_jacobian_entry(self, row: int, i: int) -> SX:
        """The derivative of a constraint by a generalized velocity."""
        return ca.densify(self.quantity_expression("constraint_jacobian"))[row, i]

    def gravity_magnitude(self) -> SX | None:
        """g where the mechanism gives gravity by its components, one of them not zero."""
        gravity = ca.SX(self.vocabulary.body_values.gravity_acceleration)
        acting = [i for i in range(3) if not gravity[i].is_zero()]
        if len(acting) != 1:
            return None
        (i,) = acting
        mechanism = self.vocabulary.mechanism
        down = expression_to_float(mechanism.gravity[i], mechanism.values) < 0
        return -gravity[i] if down else gravity[i]

    # -- derivatives ------------------------------------------------------------------------

    def partial_derivative(self, whole: SX | None, variable: str) -> SX | None:
        """The derivative of a quantity by a coordinate or velocity that is given by name."""
        place = find_derivative_variable(self.vocabulary, variable)
        if whole is None or place is None:
            return None
        column, i = place
        return ca.jacobian(whole, self.symbols[column][i])

    def rate_of_momentum(self, variable: str) -> SX | None:
        """d/dt ∂L/∂q̇ for a velocity that is given by name."""
        column, i = find_derivative_variable(self.vocabulary, variable) or ("", 0)
        return self.momentum_rates[i] if column == "qd" else None


def momentum_of_velocity(own: CheckerVocabulary, name: str) -> SX | None:
    """The momentum that belongs to a generalized velocity; None if there is none of that name."""
    known = own.names.qd
    return own.values.generalized_momenta[known.index(name)] if name in known else None


def momentum_rate_of_velocity(own: CheckerVocabulary, name: str) -> SX | None:
    """The rate of the momentum that belongs to a generalized velocity."""
    known = own.names.qd
    return own.values.momentum_rates[known.index(name)] if name in known else None
