"""Lagrange's equations with multipliers as Bayseç and Kapucu write them, (9)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..kinematics.tree_totals import tree_potential_energy
from ..quantities import quantity_entry_names
from ..written_equations import EquationCounts, EquationLine, EquationSection, EquationSet
from .named_springs import has_named_springs

if TYPE_CHECKING:
    from .multipliers import FirstKindLagrangeFormulation


_FORCES_IN_Q = (
    "Springs between points are forces in Q. V_Q is V without their energies; it is the V of (9)."
)
"""The note on energies where springs stand by their tensions."""


def multipliers_equation_set(own: FirstKindLagrangeFormulation) -> EquationSet:
    """The energies, the equations with the forces of the constraints, and the constraints."""
    constraints, names = own.constraints, own.tree.names
    assert constraints is not None
    n, independent = names.nv, list(own.reduction.choice.rows)
    V = tree_potential_energy(own.tree, own.q)
    springs = ca.gradient(V, own.q) - own.gravity()
    left = own.M @ own.qdd + own.bias + own.element_forces() + springs
    right = own.tau + own.element_forces() + springs + constraints.J.T @ own.symbols["lambda"]
    accelerations = (constraints.J @ own.qdd + constraints.bias)[independent]
    residual = ("constraint_residual",) if names.position_row_count else ()
    count = len(independent)
    has_forces = has_named_springs(own)
    sections = (
        EquationSection(
            "Energies",
            (EquationLine("T", own.T), EquationLine("V_Q" if has_forces else "V", V)),
            note=_FORCES_IN_Q if has_forces else "",
        ),
        EquationSection(
            "Equations of motion",
            tuple(EquationLine(left[k], right[k]) for k in range(n)),
            law="d/dt ∂T/∂q̇ − ∂T/∂q + ∂V/∂q = Q + Jᵀλ",
            law_latex=r"\frac{d}{dt}\frac{\partial T}{\partial \dot{q}} - "
            r"\frac{\partial T}{\partial q} + \frac{\partial V}{\partial q} = Q + J^T \lambda",
            reference="(9)",
        ),
        EquationSection("Constraints", quantities=(*residual, "constraint_jacobian")),
        EquationSection(
            "Accelerations of the constraints",
            tuple(EquationLine(accelerations[k], 0 * own.q[0]) for k in range(count)),
            law="J q̈ + γ = 0",
            law_latex=r"J \ddot{q} + \gamma = 0",
            note="" if count == len(constraints) else "Rows that follow from others are left out.",
        ),
    )
    size = n + count
    return EquationSet(
        "Lagrange's equations with multipliers, numbered as in Bayseç and Kapucu (1996)",
        sections,
        EquationCounts(size, size, 2 * n, {"[M, −Jᵀ; J, 0]": (size, size)}),
        symbols={
            quantity_entry_names(names)["lambda"][k]: f"multiplier of row {k + 1} of J"
            for k in independent
        },
    )
