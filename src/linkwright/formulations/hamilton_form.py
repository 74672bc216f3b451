"""Hamilton's equations as Bayseç and Kapucu print them, (59)–(65)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca

from ..written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
    numbered_lines,
)

if TYPE_CHECKING:
    from .hamilton import HamiltonFormulation


def hamilton_equation_set(hamilton: HamiltonFormulation) -> EquationSet:
    """Momenta, the Hamiltonian, and the rates of coordinates and momenta.

    As in (63)–(65), the rates of the momenta are written in velocities, which follow from the
    momenta by the mass matrix.
    """
    n, constraints = hamilton.tree.nv, hamilton.constraints
    L, q, qd = hamilton.L, hamilton.q, hamilton.qd
    rates = ca.gradient(L, q) + hamilton.tau + hamilton.nonpotential_forces()
    reactions = ca.SX.zeros(n)
    if constraints is not None:
        reactions = constraints.J.T @ hamilton.symbols["lambda"]
    law = "ṗ = −∂H/∂q + Q" + (" + Jᵀλ" if constraints is not None else "")
    sections = [
        EquationSection(
            "Generalized momenta",
            numbered_lines("p", hamilton.momenta()),
            law="p = ∂L/∂q̇",
            law_latex=r"p = \frac{\partial L}{\partial \dot{q}}",
            reference="(10)",
        ),
        EquationSection(
            "Hamiltonian",
            (EquationLine("V", -ca.substitute(L, qd, 0 * qd)),),
            law="H(q, p) = Σ p q̇ − L = ½ pᵀ M(q)⁻¹ p + V(q)",
            law_latex=r"H(q, p) = \sum p\,\dot{q} - L = \tfrac12 p^T M(q)^{-1} p + V(q)",
            reference="(14)",
            quantities=("mass_matrix",),
        ),
        EquationSection(
            "Rates of the coordinates",
            law="q̇ = ∂H/∂p = M(q)⁻¹ p",
            law_latex=r"\dot{q} = \frac{\partial H}{\partial p} = M(q)^{-1} p",
            reference="(12)",
        ),
        EquationSection(
            "Rates of the momenta",
            numbered_lines("dp", rates + reactions),
            law=law,
            law_latex=r"\dot{p} = -\frac{\partial H}{\partial q} + Q"
            + (r" + J^T \lambda" if constraints is not None else ""),
            reference="(13)",
            note="Here q̇ stands for M⁻¹ p.",
        ),
    ]
    names, rows = hamilton.tree.names, 0
    if constraints is not None:
        rows = len(hamilton.reduction.choice.rows)
        known = ("constraint_residual",) if names.position_row_count else ()
        sections.append(
            EquationSection(
                "Constraints",
                law="J(q) q̇ + ∂φ/∂t = 0",
                law_latex=r"J(q)\,\dot{q} + \partial\varphi/\partial t = 0",
                quantities=(*known, "constraint_jacobian"),
            )
        )
    return EquationSet(
        "Hamilton's canonical equations, numbered as in Bayseç and Kapucu (1996)",
        tuple(sections),
        EquationCounts(2 * n + rows, 2 * n + rows, 2 * n, {"M": (n, n)}),
        symbols={f"p{k + 1}": f"momentum of {name}" for k, name in enumerate(names.qd)},
        rates={f"dp{k + 1}": (f"p{k + 1}", 1) for k in range(n)},
    )
