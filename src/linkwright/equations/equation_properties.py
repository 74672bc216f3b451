"""Sizes and terms of equations, by the symbols of the conventions."""

from __future__ import annotations

from ..mechanism import MechanismNames
from ..types import SX


class EquationProperties:
    """What equations have as attributes: their sizes, and M, C, g, J and f as expressions."""

    names: MechanismNames

    def expressions(self, name: str, *frame: str) -> tuple[SX, ...]:
        """Return the expressions of a function; `Equations` has them."""
        raise NotImplementedError

    @property
    def nq(self) -> int:
        """Number of generalized coordinates."""
        return self.names.nq

    @property
    def nv(self) -> int:
        """Number of generalized velocities."""
        return self.names.nv

    @property
    def M(self) -> SX:
        """Mass matrix, nv × nv."""
        return self.expressions("mass_matrix")[0]

    @property
    def C(self) -> SX:
        """Coriolis matrix of the Christoffel symbols, nv × nv."""
        return self.expressions("coriolis_matrix")[0]

    @property
    def g(self) -> SX:
        """Gravity vector ∂V/∂q, nv."""
        return self.expressions("gravity")[0]

    @property
    def J(self) -> SX:
        """Constraint Jacobian, constraints × nv: rows in the order of `names.constraints`."""
        return self.expressions("constraint_jacobian")[0]

    @property
    def f(self) -> SX:
        """All forces but τ, weight and constraint forces: springs, dampers, friction, loads."""
        return self.expressions("forces")[0]
