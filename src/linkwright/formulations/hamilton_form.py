"""Hamilton's equations as Bayseç and Kapucu print them, (59)–(65)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear_algebra import Array
from ..kinematics.tree_totals import kinetic_energy_gradient
from ..mechanism import MechanismNames
from ..written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
)
from .named_springs import named_spring_energy

if TYPE_CHECKING:
    from .hamilton import HamiltonFormulation


def hamilton_equation_set(hamilton: HamiltonFormulation) -> EquationSet:
    """Momenta, the Hamiltonian, and the rates of coordinates and momenta.

    As in (63)–(65), the rates of the momenta are written in velocities, which follow from the
    momenta by the mass matrix.
    """
    n, constraints = hamilton.tree.nv, hamilton.constraints
    q = hamilton.q
    slopes = kinetic_energy_gradient(hamilton.tree, q, hamilton.qd, q)
    slopes -= ca.gradient(hamilton.potential_energy(), q)
    rates = slopes + hamilton.tau + hamilton.nonpotential_forces()
    reactions = ca.SX.zeros(n)
    if constraints is not None:
        reactions = constraints.J.T @ hamilton.symbols["lambda"]
    moving = hamilton.tree.names.has_moving_coordinates
    velocities = "M(q, t)⁻¹ (p − a(q, t))" if moving else "M(q)⁻¹ p"
    velocities_latex = "M(q, t)^{-1} (p - a(q, t))" if moving else "M(q)^{-1} p"
    momenta = momentum_names(hamilton)
    law = "ṗ = −∂H/∂q + Q" + (" + Jᵀλ" if constraints is not None else "")
    sections = [
        EquationSection(
            "Generalized momenta",
            _named_lines(momenta, hamilton.momenta()),
            law="p = ∂L/∂q̇",
            law_latex=r"p = \frac{\partial L}{\partial \dot{q}}",
            reference="(13), (60)–(62)",
        ),
        _hamiltonian_section(hamilton),
        EquationSection(
            "Rates of the coordinates",
            law=f"q̇ = ∂H/∂p = {velocities}",
            law_latex=r"\dot{q} = \frac{\partial H}{\partial p} = " + velocities_latex,
            reference="(10)",
        ),
        EquationSection(
            "Rates of the momenta",
            _named_lines([f"d{name}" for name in momenta], rates + reactions),
            law=law,
            law_latex=r"\dot{p} = -\frac{\partial H}{\partial q} + Q"
            + (r" + J^T \lambda" if constraints is not None else ""),
            reference="(11), (63)–(65)",
            note="Here q̇ stands for M⁻¹ (p − a)." if moving else "Here q̇ stands for M⁻¹ p.",
        ),
    ]
    sections += [_time_section(hamilton)] if moving else []
    names, rows = hamilton.tree.names, 0
    if constraints is not None:
        rows = len(hamilton.reduction.choice.rows)
        sections.append(_constraint_section(names))
    return EquationSet(
        "Hamilton's canonical equations, numbered as in Bayseç and Kapucu (1996)",
        tuple(sections),
        EquationCounts(2 * n + rows, 2 * n + rows, 2 * n, {"M": (n, n)}),
        symbols={p: f"momentum of {q}" for p, q in zip(momenta, names.qd, strict=True)}
        | ({"T0": "kinetic energy at q̇ = 0", "H_t": "∂H/∂t"} if moving else {}),
        rates={f"d{name}": (name, 1) for name in momenta},
    )


def _time_section(hamilton: HamiltonFormulation) -> EquationSection:
    """∂H/∂t, which is not zero where coordinates move with time."""
    return EquationSection(
        "Explicit time dependence of the Hamiltonian",
        (EquationLine("H_t", -ca.jacobian(hamilton.L, hamilton.tree.motion.t)),),
        law="∂H/∂t = −∂L/∂t",
        law_latex=r"\frac{\partial H}{\partial t} = -\frac{\partial L}{\partial t}",
        reference="(12)",
        note="H is constant where this is zero and no other force does work.",
    )


def _constraint_section(names: MechanismNames) -> EquationSection:
    """The constraints, and their Jacobian."""
    known = ("constraint_residual",) if names.position_row_count else ()
    return EquationSection(
        "Constraints",
        law="J(q) q̇ + ∂Φ/∂t = 0",
        law_latex=r"J(q)\,\dot{q} + \partial\Phi/\partial t = 0",
        quantities=(*known, "constraint_jacobian"),
    )


def momentum_names(hamilton: HamiltonFormulation) -> list[str]:
    """p1, p2, …; p_q1, p_q2, … where the mechanism has such names, underscores aside, like the
    angles p1 and p2 of the remotely driven elbow; momentum_q1, … where it has those too."""
    names = hamilton.tree.names
    own = {*names.q, *(f"d{name}" for name in names.qd), *hamilton.tree.symbols, *names.actuators}
    numbered = [f"p{k + 1}" for k in range(hamilton.tree.nv)]
    if not {name.replace("_", "") for name in own} & {*numbered, *(f"d{x}" for x in numbered)}:
        return numbered
    named = [f"p_{name}" for name in names.qd]
    is_free = not own & {*named, *(f"d{name}" for name in named)}
    return named if is_free else [f"momentum_{name}" for name in names.qd]


def _named_lines(names: Sequence[str], column: Array) -> tuple[EquationLine, ...]:
    """A line for each entry of a column."""
    return tuple(EquationLine(name, column[k]) for k, name in enumerate(names))


def _hamiltonian_section(hamilton: HamiltonFormulation) -> EquationSection:
    """H by the mass matrix; in moving coordinates also by a = ∂T₁/∂q̇ and T₀."""
    L, at_rest = hamilton.L, 0 * hamilton.qd
    V = hamilton.potential_energy() + named_spring_energy(hamilton)
    if not hamilton.tree.names.has_moving_coordinates:
        return EquationSection(
            "Hamiltonian",
            (EquationLine("V", V),),
            law="H(q, p) = Σ p q̇ − L = ½ pᵀ M(q)⁻¹ p + V(q)",
            law_latex=r"H(q, p) = \sum p\,\dot{q} - L = \tfrac12 p^T M(q)^{-1} p + V(q)",
            reference="(14), (59)",
            quantities=("mass_matrix",),
        )
    return EquationSection(
        "Hamiltonian",
        (EquationLine("T0", ca.substitute(L, hamilton.qd, at_rest) + V), EquationLine("V", V)),
        law="H(q, p, t) = Σ p q̇ − L = ½ (p − a)ᵀ M⁻¹ (p − a) − T₀ + V",
        law_latex=r"H(q, p, t) = \sum p\,\dot{q} - L = "
        r"\tfrac12 (p - a)^T M^{-1} (p - a) - T_0 + V",
        reference="(14), (59)",
        quantities=("mass_matrix", "transport_momentum"),
    )
