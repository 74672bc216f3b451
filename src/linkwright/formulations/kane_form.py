"""Kane's equations as Agrawal prints them, in dual vectors: (4)–(10), tables 1 and 2."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca

from ..algebra.dual import DualDisplacement, DualVector
from ..algebra.linear_algebra import Array, dot, outer
from ..kinematics.kinematic_tree import GROUND, BodyMass
from ..written_equations import (
    EquationCounts,
    EquationLine,
    EquationSection,
    EquationSet,
    EquationTable,
    WrittenDualVector,
    linear_coefficient_section,
    without_zero_lines,
)
from .kane_written_speeds import written_speeds

if TYPE_CHECKING:
    from .kane import KaneFormulation


def kane_equation_set(kane: KaneFormulation) -> EquationSet:
    """Speeds, dual velocities, their partials as a table, momenta, inertia forces, equations."""
    form = KaneForm(kane)
    sections = [form.speed_section(), *form.coefficient_sections()]
    sections += [form.velocity_section(), form.partial_section()]
    sections += map(without_zero_lines, [form.momentum_section(), form.inertia_force_section()])
    sections.append(form.equation_section())
    p = form.speeds.u.numel()
    return EquationSet(
        "d'Alembert's principle with dual vectors, numbered as in Agrawal (1988)",
        tuple(sections),
        EquationCounts(p, p, kane.tree.nq + p, {"M": (p, p)}),
        symbols={"eps": "the dual unit, eps^2 = 0"}
        | {point.name: point.meaning for point in form.points}
        | form.speeds.symbol_meanings,
        rates={f"d{name}": (name, 1) for name in form.speeds.names}
        if kane.speeds is not None
        else {},
        functions=frozenset(name for name, _ in form.speeds.coefficients if name[0] == "A"),
    )


@dataclass(frozen=True)
class WrittenPoint:
    """A centre of mass or frame whose dual velocity is written: its place p in the frame of its
    link, and its axes R there."""

    name: str
    meaning: str
    link: int
    R: Array
    p: Array
    taken: frozenset[str]

    @property
    def axes(self) -> tuple[str, str, str]:
        """The names of the bound unit vectors at the point; ex_hook where x_hook or another of them
        is a length."""
        x, y, z = (f"{axis}_{self.name}" for axis in "xyz")
        return (x, y, z) if self.taken.isdisjoint((x, y, z)) else (f"e{x}", f"e{y}", f"e{z}")

    def components(self, vector: DualVector) -> DualVector:
        """A dual vector at the link's origin, along its axes, as components at this point."""
        return DualDisplacement(self.R, self.p).to_displaced_axes(vector)


def printed_center_letter(taken: Collection[str]) -> str:
    """What numbers of centres of mass stand behind: c1, or G1 where c1 is taken."""
    return next(x for x in ("c", "G", "mc", "center") if f"{x}1" not in taken)


class KaneForm:
    """Writes the sections of Kane's equations of one mechanism."""

    def __init__(self, kane: KaneFormulation) -> None:
        self.kane, self.tree = kane, kane.tree
        self.speeds = written_speeds(kane)

    @cached_property
    def bodies(self) -> list[tuple[str, BodyMass]]:
        """The numbered bodies with their masses, what is fixed together being one."""
        return [(name, self.whole_mass(name)) for name in self.tree.names.bodies]

    def whole_mass(self, name: str) -> BodyMass:
        """The mass of a body with all that is fixed to it."""
        own = self.tree.masses[name]
        if sum(other.link == own.link for other in self.tree.masses.values()) == 1:
            return own
        whole = self.tree.links[own.link].inertia
        c = whole.h / whole.m
        about = whole.I - whole.m * (dot(c, c) * ca.SX.eye(3) - outer(c, c))
        return BodyMass(own.link, whole.m, c, about)

    @cached_property
    def points(self) -> list[WrittenPoint]:
        """The centres of mass of all bodies, c1, c2, …, and the frames that move."""
        own = self.tree
        taken = {*own.frames, *own.names.q, *own.symbols, *own.mechanism.parameters}
        letter = printed_center_letter(taken)
        along = "with unit vectors x, y, z along its axes"
        found = [
            WrittenPoint(
                f"{letter}{k}",
                f"centre of mass of {name}, {along}",
                mass.link,
                self.tree.bodies[name].R,
                mass.c,
                frozenset(taken),
            )
            for k, (name, mass) in enumerate(self.bodies, 1)
        ]
        moving = [(name, at) for name, at in self.tree.frames.items() if at.link != GROUND]
        return found + [
            WrittenPoint(name, f"frame, {along}", at.link, at.R, at.p, frozenset(taken))
            for name, at in moving
        ]

    # -- sections --------------------------------------------------------------------------

    def speed_section(self) -> EquationSection:
        """u = Y q̇ + Z, and what depends on them."""
        return EquationSection(
            "Generalized speeds",
            tuple(self.speeds.lines()),
            law="u = Y q̇ + Z",
            law_latex=r"u_r = \sum_s Y_{rs}\,\dot{q}_s + Z_r",
            reference="(4), (5)" if self.kane.constraints is not None else "(4)",
        )

    def coefficient_sections(self) -> Iterator[EquationSection]:
        """The named coefficients of dependent velocities, and their accelerations at u̇ = 0."""
        for title, law, letters in (
            ("Coefficients of dependent velocities", "q̇_s = Σ A_sr u_r + B_s", "AB"),
            ("Accelerations at u̇ = 0", "q̈_s = Σ A_sr u̇_r + b_s", "b"),
        ):
            own = [(name, value) for name, value in self.speeds.coefficients if name[0] in letters]
            if own:
                lines = tuple(EquationLine(name, value) for name, value in own)
                section, speeds = EquationSection(title, lines, law, reference="(5)"), self.speeds
                yield (
                    section
                    if speeds.reduction is None
                    else linear_coefficient_section(section, speeds.coefficient_systems(letters))
                )

    def velocity_section(self) -> EquationSection:
        """V̂ of centres of mass and frames."""
        lines = []
        for point in self.points:
            V = point.components(self.kane.dual_velocities[point.link].V)
            real, dual = (self.speeds.insert(part) for part in (V.real, V.dual))
            lines.append(EquationLine(f"V_{point.name}", WrittenDualVector(real, dual, point.axes)))
        return EquationSection(
            "Dual velocities",
            tuple(lines),
            law="V = ω + ε v",
            law_latex=r"\hat{V} = \omega + \varepsilon v",
            reference="(2), (3)",
        )

    def partial_section(self) -> EquationSection:
        """The partial velocities as a table, a row for each speed and a column for each point."""
        rows = self.speeds.row_names
        lines = []
        columns = [self.partial_columns(point) for point in self.points]
        for r in range(len(rows)):
            for point, column in zip(self.points, columns, strict=True):
                value = WrittenDualVector(column[:3, r], column[3:, r], point.axes)
                lines.append(EquationLine(f"v{r + 1}_{point.name}", value))
        is_held = self.kane.constraints is not None
        return EquationSection(
            "Nonholonomic partial velocities" if is_held else "Partial velocities",
            tuple(lines),
            law="V = Σ v_r u_r + v_t",
            law_latex=r"\hat{V} = \sum_r \hat{v}_r u_r + \hat{v}_t",
            reference="(7)" if is_held else "(6)",
            table=EquationTable("speed", tuple(f"V_{p.name}" for p in self.points), rows),
        )

    def partial_columns(self, point: WrittenPoint) -> Array:
        """ṽ_r at a point as columns of components (ω, v) along its axes."""
        own = self.kane.kinematics.point_partial_velocities(point.link, point.p, self.speeds.G)
        return ca.densify(ca.vertcat(point.R.T @ own[:3, :], point.R.T @ own[3:, :]))

    def momentum_section(self) -> EquationSection:
        """Ĥ of the bodies along their axes."""

        def momentum(mass: BodyMass, point: WrittenPoint) -> DualVector:
            V = point.components(self.kane.dual_velocities[mass.link].V)
            return DualVector(mass.m * V.dual, point.R.T @ mass.I @ point.R @ V.real)

        return EquationSection(
            "Dual momenta",
            tuple(
                line
                for k, (mass, point) in enumerate(self.heavy_bodies(), 1)
                for line in self.component_lines(f"H{k}", momentum(mass, point))
            ),
            law="H = m v + ε I·ω",
            law_latex=r"\hat{H} = m v + \varepsilon\, I \cdot \omega",
            reference="(8)",
            note="Components along the axes of each body; those that are zero are left out.",
        )

    def inertia_force_section(self) -> EquationSection:
        """F̂* of the bodies along their axes."""
        lines: list[EquationLine] = []
        for k, (mass, point) in enumerate(self.heavy_bodies(), 1):
            F = self.kane.inertia_force(mass, self.kane.dual_velocities[mass.link])
            own = DualVector(point.R.T @ F.real, point.R.T @ F.dual)
            lines += self.component_lines(f"F{k}", own)
        return EquationSection(
            "Dual inertia forces",
            tuple(lines),
            law="F* = dH/dt + V × H, differentiated in the body",
            law_latex=r"\hat{F}^* = \frac{{}^B d}{dt}\hat{H} + \hat{V} \times \hat{H}",
            reference="(9)",
        )

    def heavy_bodies(self) -> Iterator[tuple[BodyMass, WrittenPoint]]:
        """The numbered bodies with their centres of mass."""
        return ((mass, point) for (_, mass), point in zip(self.bodies, self.points, strict=False))

    def component_lines(self, name: str, vector: DualVector) -> Iterator[EquationLine]:
        """A line a + ε b for each component."""
        real, dual = (self.speeds.insert(part) for part in (vector.real, vector.dual))
        for i, axis in enumerate("xyz"):
            yield EquationLine(f"{name}{axis}", WrittenDualVector(real[i], dual[i], ("",)))

    def equation_section(self) -> EquationSection:
        """The equations of motion (10): torques, or the rates of the generalized speeds."""
        law, latex = (
            "dual(Σ v_r · F) = 0",
            r"\mathrm{dual}\Bigl(\sum_P \hat{v}_r \cdot \hat{F}_P\Bigr) = 0",
        )
        if not self.speeds.are_chosen:
            tau = self.kane.inverse_dynamics()
            names = self.tree.names.qd
            lines = [EquationLine(f"tau_{name}", tau[k]) for k, name in enumerate(names)]
        else:
            lines = list(self.rate_lines())
        return EquationSection("Equations of motion", tuple(lines), law, latex, "(10)")

    def rate_lines(self) -> Iterator[EquationLine]:
        """u̇ of each speed where M is diagonal, and M u̇ = f otherwise."""
        speeds = self.speeds
        M, f = self.kane.speed_equations(speeds.G, speeds.bias_accelerations)
        f = speeds.insert(f)
        is_diagonal = speeds.is_polynomial and speeds.is_diagonal(M)
        for r in range(M.shape[0]):
            if is_diagonal:
                yield EquationLine(f"d{speeds.names[r]}", f[r] / M[r, r])
            else:
                yield EquationLine(M[r, :] @ speeds.rates, f[r])
