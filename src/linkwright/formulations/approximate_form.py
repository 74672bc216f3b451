"""Approximate equations as Bayseç and Kapucu print them, (66)–(77), with the symbols β and γ."""

from __future__ import annotations

import re
from functools import cached_property

import casadi as ca
import numpy as np

from ..expressions.typeset import ExpressionTypesetter, LatexNotation
from ..types import SX
from ..written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
    vanishing_entries,
)
from .approximate_equations import ApproximateFormulation
from .free_body_states import formulation_state_symbols


def approximate_equation_set(own: ApproximateFormulation, note: str = "") -> EquationSet:
    """Coordinates with a note, constraints, their Jacobian, forces, and accelerations."""
    return _ApproximateForm(own).equation_set(note)


class _ApproximateForm:
    """The lines of approximate equations in the symbols that are printed: numbered centres of
    mass, efforts of actuators, and e = f + γḟ."""

    def __init__(self, own: ApproximateFormulation) -> None:
        tree = own.tree
        taken = {*tree.symbols, *tree.names.q, *tree.names.actuators}
        self.taken_names = taken
        self.beta, self.gamma = (
            ca.SX.sym(name if name not in taken else f"{name}_s") for name in ("beta", "gamma")
        )
        self.own = ApproximateFormulation(
            tree, [body.name for body in own.point_bodies], self.beta, self.gamma, 0
        )
        self.iterations = own.iterations
        self.points = self.own.numbered_point_names
        count = self.own.f.shape[0]
        name = "lambda" if own.iterations else "e"
        self.e = formulation_state_symbols([self.numbered_name(name, k) for k in range(count)])
        self.chosen = own.beta, own.gamma

    def numbered_name(self, letter: str, place: int) -> str:
        """f1; f[1] where the mechanism has names such as f1 itself, as of actuators."""
        plain = letter.removeprefix("d")
        is_taken = any(re.fullmatch(rf"{plain}\d+", name) for name in self.taken_names)
        return f"{letter}[{place + 1}]" if is_taken else f"{letter}{place + 1}"

    @cached_property
    def _printed_symbols(self) -> tuple[list[SX], list[SX]]:
        """Symbols of the states and generalized forces, and what is printed in their place."""
        rates = [f"d{name}" for name in self.points]
        old = [self.own.x, self.own.xd]
        new = [formulation_state_symbols(self.points), formulation_state_symbols(rates)]
        actuators = self.own.tree.names.actuators
        if actuators:
            old.append(self.own.tau)
            efforts = formulation_state_symbols(list(actuators))
            new.append(ca.densify(self.own.input_matrix() @ efforts))
        return old, new

    def printed(self, expression: SX) -> SX:
        """An expression in printed symbols."""
        return ca.densify(ca.substitute([ca.SX(expression)], *self._printed_symbols)[0])

    # -- sections ------------------------------------------------------------------------------

    @cached_property
    def position_rows(self) -> list[int]:
        """The rows of f that are positions; the others have rates only."""
        constraints, first = self.own.constraints, self.own.x.shape[0]
        rows = list(range(first))
        if constraints is not None:
            rows += [first + k for k in self.own.tree.names.position_rows]
        return rows

    def constraint_lines(self) -> tuple[EquationLine, ...]:
        """f of positions, and ḟ of velocity constraints."""
        f, rate = self.printed(self.own.f), self.printed(self.own.f_rate)
        return tuple(
            EquationLine(self.numbered_name("f", k), f[k])
            if k in self.position_rows
            else EquationLine(self.numbered_name("df", k), rate[k])
            for k in self.effective_rows
        )

    @cached_property
    def effective_rows(self) -> list[int]:
        """The rows that some coordinate can violate."""
        found = np.flatnonzero(~vanishing_entries(self.own.J).all(axis=1))
        return [int(k) for k in found]

    def force_lines(self) -> tuple[EquationLine, ...]:
        """The external forces on all coordinates."""
        forces = self.printed(self.own.generalized_forces)
        return tuple(
            EquationLine(self.numbered_name("Q", k), forces[k]) for k in range(forces.numel())
        )

    def jacobian_lines(self) -> tuple[EquationLine, ...]:
        """The entries of Jᵀ that are not zero."""
        transposed = self.printed(self.own.J.T)
        label = "JT{}{}" if max(transposed.shape) < 10 else "JT[{},{}]"
        return tuple(
            EquationLine(label.format(j + 1, i + 1), transposed[j, i])
            for j, i in np.argwhere(~vanishing_entries(transposed))
        )

    def acceleration_lines(self) -> tuple[EquationLine, ...]:
        """q̈, or M q̈ = Q + P with the names of Q where joint variables are coupled."""
        own, n = self.own, self.own.tree.nv
        M, Q = self.printed(own.M_q), self.printed(own.generalized_forces)
        forces = self.printed(own.J.T) @ (self.e if self.iterations else -self.beta * self.e)
        masses = ca.vertcat(ca.diag(M), own.point_masses)
        names = [f"dd{name}" for name in (*own.tree.names.qd, *self.points)]
        lines = [EquationLine(name, (Q[k] + forces[k]) / masses[k]) for k, name in enumerate(names)]
        if not self.is_diagonal:
            left = M @ own.qdd
            for k in range(n):
                lines[k] = EquationLine(left[k], ca.SX.sym(self.numbered_name("Q", k)) + forces[k])
        return tuple(lines)

    @cached_property
    def is_diagonal(self) -> bool:
        """Whether each joint variable has an inertia of its own."""
        is_zero = vanishing_entries(self.printed(self.own.M_q))
        return bool((is_zero | np.eye(len(is_zero), dtype=bool)).all())

    def equation_set(self, note: str) -> EquationSet:
        """All sections, with the counts of the paper: m coordinates, 2m states."""
        own, names = self.own, self.own.tree.names
        z = [*names.q, *self.points]
        latex_name = ExpressionTypesetter(LatexNotation(), {}).name
        sections = (
            EquationSection(
                "Coordinates",
                law=f"q = [{', '.join(z)}]ᵀ",
                law_latex=f"q = [{', '.join(map(latex_name, z))}]^T",
                reference="(66)",
                note=note,
            ),
            EquationSection(
                "Constraints",
                self.constraint_lines(),
                law="f(q) = 0",
                reference="(17), (67)",
                note="Rows that always hold are left out."
                if len(self.effective_rows) < own.f.shape[0]
                else "",
            ),
            EquationSection(
                "Transposed Jacobian",
                self.jacobian_lines(),
                law="JT = (∂f/∂q)ᵀ",
                law_latex=r"J^T = \left(\frac{\partial f}{\partial q}\right)^T",
                reference="(68)",
                note="All other entries are zero.",
            ),
            EquationSection(
                "External forces",
                self.force_lines(),
                reference="(69)",
            ),
            self.constraint_force_section(),
            EquationSection(
                "Accelerations",
                self.acceleration_lines(),
                law="q̈ = m⁻¹(Q + P)" if self.is_diagonal else "m q̈ = Q + P",
                law_latex=r"m\,\ddot{q} = Q + P",
                reference="(21), (22), (70)–(76)",
            ),
        )
        m, n = len(z), names.nv
        return EquationSet(
            "Approximate dynamics of Rooney, Rai and Jones, numbered as in Bayseç and Kapucu "
            "(1996)",
            sections if self.e.numel() else (sections[0], sections[3], sections[5]),
            EquationCounts(m, m, 2 * m, {} if self.is_diagonal else {"M": (n, n)}),
            symbols=self.meanings(),
            rates={f"{'d' * dots}{name}": (name, dots) for name in self.points for dots in (1, 2)}
            | {
                self.numbered_name("df", k): (self.numbered_name("f", k), 1)
                for k in range(self.e.numel())
            },
            constants=frozenset({self.beta.name(), self.gamma.name()}),
        )

    def constraint_force_section(self) -> EquationSection:
        """The law of the constraint forces P: springs and dampers, or iterated multipliers."""
        notes = []
        if self.iterations:
            times = "once" if self.iterations == 1 else f"{self.iterations} times"
            notes.append(f"λ starts at zero and is corrected {times}; f̈ follows from q̈.")
        if len(self.position_rows) < self.own.f.shape[0]:
            notes.append("In rows of velocity constraints, f is zero.")
        law, law_latex = (
            "P = −β Jᵀe, e = f + γḟ",
            (r"P = -\beta J^T e, \quad e = f + \gamma \dot{f}"),
        )
        if self.iterations:
            law = "P = Jᵀλ, λ ← λ − (J m⁻¹ Jᵀ + 1/β)⁻¹ (f̈ + 2ḟ/γ + f/γ²)"
            law_latex = (
                r"P = J^T \lambda, \quad \lambda \leftarrow \lambda - (J m^{-1} J^T + 1/\beta)^{-1}"
                r" (\ddot{f} + 2\dot{f}/\gamma + f/\gamma^2)"
            )
        reference = "" if self.iterations else "(20), (77)"
        return EquationSection(
            "Constraint forces",
            law=law,
            law_latex=law_latex,
            reference=reference,
            note=" ".join(notes),
        )

    def meanings(self) -> dict[str, str]:
        """The meanings of the symbols that are introduced."""
        found = {
            name: f"centre of mass of {full.split('_', 1)[1]}"
            for name, full in zip(self.points, self.own.point_names, strict=True)
        }
        if self.e.numel():
            beta, gamma = (f"{float(value):g}" for value in self.chosen)
            found |= {
                self.beta.name(): f"stiffness of the constraints, {beta} N/m",
                self.gamma.name(): f"time constant of their damping, {gamma} s",
            }
        return found
