"""The recurrent method's equations as Vukobratović and Potkonjak (1979) build them: the quantities
of each iteration, then W q̈ = P + V."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.linear_algebra import Array
from ..kinematics.rotor_inertias import rotor_inertia_matrix
from ..written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
    numbered_lines,
    vanishing_entries,
)
from .recurrent_chain import RecurrentIteration

if TYPE_CHECKING:
    from .recurrent import RecurrentFormulation

_RECURRENCES = EquationSection(
    "Each iteration",
    law="α_jⁱ = α_jⁱ⁻¹ − β_j × δ_i + β_j × γ_i x_i,  Z_i = m M⁽ⁱ⁾ᵀ M⁽ⁱ⁾ + Ñ⁽ⁱ⁾ᵀ J Ñ⁽ⁱ⁾",
    law_latex=r"\alpha_j^i = \alpha_j^{i-1} - \beta_j \times \delta_i"
    r" + \beta_j \times \gamma_i x_i,"
    r" \quad Z_i = m M^{(i)T} M^{(i)} + \tilde{N}^{(i)T} J \tilde{N}^{(i)}",
    reference="(16), (17), (25)",
    note="The columns of M⁽ⁱ⁾ are α_jⁱ of turns and γ_j of slides, those of Ñ⁽ⁱ⁾ are A_i⁻¹ β_j. "
    "Vectors are in fixed axes, Z_i and W are symmetric; components that are not listed are zero.",
)


def recurrent_equation_set(recurrent: RecurrentFormulation) -> EquationSet:
    """A section for each iteration, then W, Y, V and the equations of motion."""
    tree, W = recurrent.tree, recurrent.W()
    moving = tree.names.has_moving_coordinates
    notes = ["Here ∂T/∂q̇ = W q̇ + a, as coordinates depend on time."] if moving else []
    if ca.sparsify(recurrent.element_forces()).nnz():
        notes.append("V also contains the forces f of springs, dampers and loads.")
    sections = [_RECURRENCES]
    sections += [
        _iteration_section(recurrent, number, one)
        for number, one in enumerate(recurrent.chain.iterations, start=1)
    ]
    sections += [
        EquationSection(
            "Inertia matrix",
            tuple(_inertia_lines(W)),
            law=_inertia_law(recurrent),
            reference="(26)",
        ),
        EquationSection(
            "Generalized forces of the weights",
            numbered_lines("Y", recurrent.Y()),
            law="Y_j = Σ [m g, e_j, r]",
            reference="(52)–(54)",
        ),
        EquationSection(
            "Forces that depend on positions and velocities",
            numbered_lines("V", recurrent.V()),
            law=f"V = Y + ∂T/∂q − Ẇ q̇{' − ȧ' if moving else ''}",
            law_latex=r"V = Y + \frac{\partial T}{\partial q} - \dot{W} \dot{q}"
            + (r" - \dot{a}" if moving else ""),
            reference="(29)",
            note=" ".join(notes),
        ),
        _motion_section(recurrent, W),
    ]
    n, names, rows = tree.nv, tree.names, 0
    if recurrent.constraints is not None:
        rows = len(recurrent.reduction.choice.rows)
        known = ("constraint_residual",) if names.position_row_count else ()
        sections.append(
            EquationSection(
                "Constraints",
                law="J(q) q̈ + γ = 0",
                law_latex=r"J(q)\,\ddot{q} + \gamma = 0",
                quantities=(*known, "constraint_jacobian", "constraint_bias"),
            )
        )
    return EquationSet(
        "The recurrent method, numbered as in Vukobratović and Potkonjak (1979)",
        tuple(sections),
        EquationCounts(n + rows, n + rows, 2 * n, {"W": (n, n)}),
        symbols={
            "A_i": "transition matrix from the axes of member i to the fixed axes",
            "beta_j": "axis of the turn j in fixed axes",
            "gamma_j": "direction of the slide j in fixed axes",
            "alpha_j^i": "velocity of the centre of mass i for a unit rate of the turn j",
            "Z_i": "inertia matrix of member i",
        },
    )


def _iteration_section(
    recurrent: RecurrentFormulation, number: int, one: RecurrentIteration
) -> EquationSection:
    """What iteration `number` adds: A_i, β_i or γ_i, α_jⁱ of all turns before it, Z_i."""
    member, n, tree = one.member, one.n, recurrent.tree
    A = one.transition_matrix
    if member.body is not None:
        A = A @ tree.bodies[member.name].R
    lines = [
        EquationLine(f"A{number}[{i + 1},{j + 1}]", A[i, j])
        for i in range(3)
        for j in range(3)
        if not A[i, j].is_zero()
    ]
    link = member.joint
    if link is not None:
        name, stack = ("beta", one.beta) if link.kind.has_rotation else ("gamma", one.alpha)
        lines += _vector_lines(f"{name}{link.v + 1}", stack[link.v, :])
    for j in range(n):
        if one.beta[j, :].nnz():
            lines += _vector_lines(f"alpha{j + 1}^{number}", one.alpha[j, :])
    if member.body is not None:
        Z = one.inertia_form()
        is_zero = vanishing_entries(Z)
        lines += [
            EquationLine(f"Z{number}[{j + 1},{k + 1}]", Z[j, k])
            for j in range(n)
            for k in range(j, n)
            if not is_zero[j, k]
        ]
    what = "" if member.body is not None else ", without mass"
    return EquationSection(f"Iteration {number}, {member.name}{what}", tuple(lines))


def _vector_lines(name: str, row: Array) -> list[EquationLine]:
    """A line for each component of a vector that is not zero."""
    return [
        EquationLine(f"{name}[{axis}]", row[k])
        for k, axis in enumerate("xyz")
        if not row[k].is_zero()
    ]


def _inertia_law(recurrent: RecurrentFormulation) -> str:
    """W as the sum of what it contains, in the coordinates of the mechanism."""
    tree = recurrent.tree
    rotors = ca.sparsify(rotor_inertia_matrix(tree)).nnz()
    total = "Σ Z_i + rotors" if rotors else "Σ Z_i"
    if tree.transfer is None and not tree.followers:
        return f"W = {total}"
    return f"W = Gᵀ({total})G with the velocities G q̇ of the joints"


def _inertia_lines(W: Array) -> Iterator[EquationLine]:
    """A line for each entry of the symmetric W that is not zero, by rows."""
    is_zero = vanishing_entries(W)
    for j in range(W.shape[0]):
        for k in range(j, W.shape[0]):
            if not is_zero[j, k]:
                yield EquationLine(_inertia_symbol(W, j, k), W[j, k])


def _inertia_symbol(W: Array, j: int, k: int) -> str:
    """The symbol of an entry of the symmetric W: W12; W1_12 where there are two digits."""
    j, k = sorted((j, k))
    return f"W{j + 1}{'_' if W.shape[0] > 9 else ''}{k + 1}"


def _motion_section(recurrent: RecurrentFormulation, W: Array) -> EquationSection:
    """W q̈ = P + V row by row, in symbols for the entries of W and V."""
    lines = []
    entries = {(name := str(line.left)): ca.SX.sym(name) for line in _inertia_lines(W)}
    forces = recurrent.tau
    if recurrent.constraints is not None:
        forces = forces + recurrent.constraints.J.T @ recurrent.symbols["lambda"]
    for j in range(W.shape[0]):
        left = sum(
            entries[name] * recurrent.qdd[k]
            for k in range(W.shape[0])
            if (name := _inertia_symbol(W, j, k)) in entries
        )
        lines.append(EquationLine(left, forces[j] + ca.SX.sym(f"V{j + 1}")))
    law = "W q̈ = P + V" if recurrent.constraints is None else "W q̈ = P + V + Jᵀλ"
    return EquationSection("Equations of motion", tuple(lines), law=law, reference="(30)")
