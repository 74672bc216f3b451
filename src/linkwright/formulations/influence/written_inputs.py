"""The model of a closed loop in its inputs a, as it is printed.

The coefficients G and H of the joints by the inputs, φ̇ = G ȧ + k and φ̈ = G ä + ȧᵀHȧ + e, keep names
of their own in the equations, since they have denominators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca

from ...algebra.linear_algebra import Array
from ...written_equations import (
    EquationLine,
    EquationSection,
    linear_coefficient_section,
    without_zero_entries,
)
from ..formulation import Formulation
from .loop_influence import LoopInfluence

if TYPE_CHECKING:
    from . import InfluenceFormulation


class NamedLoopInfluence(LoopInfluence):
    """The model of a loop whose coefficients G and k have names."""

    def __init__(self, loops: LoopInfluence, shared: Formulation, G: Array, k: Array) -> None:
        super().__init__(shared, loops.I, loops.P, loops.reduction)
        self.named_G, self.named_k = G, k

    @property
    def G(self) -> Array:
        """G of φ̇ = G ȧ + k, by names."""
        return self.named_G

    @property
    def k(self) -> Array:
        """k of φ̇ = G ȧ + k, by names."""
        return self.named_k


class NamedArrays:
    """I*, P* and the loads of the cut chain by the names of the entries that `sections` list;
    entries that are not listed are zero."""

    def __init__(
        self, influence: InfluenceFormulation, sections: Sequence[EquationSection]
    ) -> None:
        lines = (line for section in sections for line in section.lines)
        self.listed = {line.left for line in lines if isinstance(line.left, str)}
        n = influence.tree.nv
        self.inertia, damping = self.symmetric_matrix("I", n), self.symmetric_matrix("C", n)
        self.power = [self.symmetric_matrix("P", n, k) for k in range(n)]
        loads = [self.entry(f"Tu{k + 1}") - self.entry(f"Tk{k + 1}") for k in range(n)]
        self.loads = ca.vertcat(*loads) - damping @ influence.qd

    @property
    def coefficient_names(self) -> frozenset[str]:
        """The names of the entries of I* and P*, which depend on coordinates only."""
        return frozenset(name for name in self.listed if name[:2] in ("I[", "P["))

    def entry(self, name: str) -> Array:
        """The symbol of an entry, or zero."""
        return ca.SX.sym(name) if name in self.listed else ca.SX(0)

    def symmetric_matrix(self, name: str, n: int, *before: int) -> Array:
        """A symmetric matrix by the names of its entries on and above the diagonal."""
        made = ca.SX.zeros(n, n)
        for i in range(n):
            for j in range(i, n):
                index = ",".join(str(k + 1) for k in (*before, i, j))
                made[i, j] = made[j, i] = self.entry(f"{name}[{index}]")
        return made


class WrittenInputs:
    """Writes the sections of a loop's equations in its inputs."""

    def __init__(self, influence: InfluenceFormulation, loops: LoopInfluence) -> None:
        self.influence, self.loops = influence, loops
        taken = {*influence.tree.symbols, *influence.tree.names.q}
        self.letters = {
            x: x if not any(name.startswith(x) for name in taken) else f"{x}_" for x in "GHke"
        }
        self.definitions: dict[str, list[EquationLine]] = {x: [] for x in "GHke"}
        f, n = len(loops.names), influence.tree.nv
        self.G = self.name_entries("G", loops.G)
        self.k = self.name_entries("k", loops.k)
        loops = NamedLoopInfluence(loops, influence, self.G, self.k)
        self.H = [self.name_entries("H", loops.H[s], s) for s in range(n)]
        carried = loops.H_t @ loops.rate + loops.h_tt if f else loops.h_tt
        self.e = self.name_entries("e", carried)

    @property
    def coefficient_names(self) -> frozenset[str]:
        """The names of the entries of G and H, which depend on coordinates only."""
        lines = (*self.definitions["G"], *self.definitions["H"])
        return frozenset(line.left for line in lines if isinstance(line.left, str))

    def name_entries(self, letter: str, array: Array, *before: int) -> Array:
        """An array with symbols in place of entries that are not numbers; those of a plane are
        symmetric."""
        made = without_zero_entries(ca.SX(array), scale=1.0)  # that of G
        rows, columns = made.shape
        for m in range(rows):
            for n in range(columns):
                if before and n < m:
                    made[m, n] = made[n, m]
                elif not made[m, n].is_constant():
                    places = [*before, m, n] if before or letter == "G" else [m]
                    name = f"{self.letters[letter]}{''.join(str(i + 1) for i in places)}"
                    self.definitions[letter].append(EquationLine(name, made[m, n]))
                    made[m, n] = ca.SX.sym(name)
        return made

    def first_order_systems(self) -> list[tuple[Array, Array, Array]]:
        """A_p G_p = −A_a, column by column, and A_p k_p = −w."""
        own = self.loops.reduction
        A, p = own.constraints.J[list(own.rows), :], sorted(own.p)
        columns = [(A[:, p], self.G[p, r], -A[:, k]) for r, k in enumerate(own.a)]
        return [*columns, (A[:, p], self.k[p], -self.loops.w)]

    def second_order_systems(self) -> list[tuple[Array, Array, Array]]:
        """A_p H_p = −Gᵀ H^f G, for each pair of inputs."""
        own = self.loops.reduction
        A, p, inputs = own.constraints.J[list(own.rows), :], sorted(own.p), range(len(own.a))
        return [
            (
                A[:, p],
                ca.vertcat(*(self.H[s][i, j] for s in p)),
                -ca.vertcat(*((self.G[:, i].T @ H @ self.G[:, j]) for H in self.loops.H_f)),
            )
            for i in inputs
            for j in inputs
            if i <= j
        ]

    def sections(self, others: Array, named: NamedArrays) -> Iterator[EquationSection]:
        """Coefficients of the loop, and the equations of motion under joint forces and `others`,
        the loads of springs, dampers and all that is external; long ones by `named` arrays."""
        own = self.definitions
        first = EquationSection(
            "First-order coefficients of the joints with respect to the inputs",
            (*own["G"], *own["k"]),
            "φ̇ = G ȧ + k",
            r"\dot{\varphi} = G \dot{a} + k",
        )
        second = EquationSection(
            "Second-order coefficients of the joints with respect to the inputs",
            (*own["H"], *own["e"]),
            "φ̈ = G ä + ȧᵀ H ȧ + e",
            r"\ddot{\varphi} = G \ddot{a} + \dot{a}^T H \dot{a} + e",
        )
        yield linear_coefficient_section(first, self.first_order_systems())
        is_still = not own["k"] and not own["e"]
        yield (
            linear_coefficient_section(second, self.second_order_systems()) if is_still else second
        )
        influence = self.influence
        velocities = self.G @ self.loops.rate + self.k
        moving = [velocities.T @ P @ velocities for P in influence.inertia_power()]
        loads = ca.substitute(others, influence.qd, velocities)
        note = "Here φ̇ stands for G ȧ + k."
        whole = self.equation_section(influence.effective_inertia(), moving, loads, note)
        turned = [influence.qd.T @ P @ influence.qd for P in named.power]
        note += " I*, P*, C*, T_k and T_u stand by name: written out, these equations are longer"
        note += " than a page."
        shorter = self.equation_section(named.inertia, turned, named.loads, note)
        yield replace(whole, shorter=shorter)

    def equation_section(
        self, inertia: Array, moving: Sequence[Array], loads: Array, note: str
    ) -> EquationSection:
        """The equations of motion with I*, φ̇ᵀ P* φ̇ and all loads but joint forces."""
        inputs, rate = self.loops.reduction.a, self.loops.rate
        turned = ca.vertcat(*(rate.T @ plane @ rate for plane in self.H))
        whole = self.influence.tau + loads - inertia @ (turned + self.e) - ca.vertcat(*moving)
        right = self.G.T @ whole
        left = self.G.T @ inertia @ self.G @ self.influence.qdd[inputs]
        return EquationSection(
            "Equations of motion",
            tuple(EquationLine(left[r], right[r]) for r in range(len(inputs))),
            "Gᵀ I* G ä = Gᵀ (T − I* (ȧᵀ H ȧ + e) − φ̇ᵀ P* φ̇ − C* φ̇ − T_k + T_u)",
            r"G^T I^* G\, \ddot{a} = G^T \bigl(T - I^* (\dot{a}^T H \dot{a} + e)"
            r" - \dot{\varphi}^T P^* \dot{\varphi} - C^* \dot{\varphi} - T_k + T_u\bigr)",
            "(17)",
            note,
        )
