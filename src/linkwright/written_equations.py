"""Equations as a paper prints them: sections of numbered lines in a formulation's own symbols.

A formulation says what its equations look like by an `EquationSet`; `forms` typesets it. Lines hold
CasADi expressions in the symbols of the equations and in symbols that the set introduces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from .mechanism import MechanismNames
from .types import SX


@dataclass(frozen=True)
class EquationLine:
    """One equation, left = right, with its number in the paper.

    `left` is the name of what the line defines (`p1`, `M[1,2]`), or an expression where the
    equation is implicit, such as a balance of forces.
    """

    left: str | SX
    right: SX
    number: str = ""


def numbered_lines(name: str, column: SX) -> tuple[EquationLine, ...]:
    """A line for each entry of a column: p1 = …, p2 = …"""
    return tuple(EquationLine(f"{name}{k + 1}", column[k]) for k in range(column.numel()))


@dataclass(frozen=True)
class EquationSection:
    """Equations that belong together.

    `law` is the general equation as text, such as "p = ∂L/∂q̇", and `law_latex` the same for LaTeX;
    `reference` has the paper's equation numbers, and `note` a sentence for the reader.
    `quantities` are quantities of the equations, by name, that are printed after the lines.
    """

    title: str
    lines: tuple[EquationLine, ...] = ()
    law: str = ""
    law_latex: str = ""
    reference: str = ""
    note: str = ""
    quantities: tuple[str, ...] = ()


@dataclass(frozen=True)
class EquationCounts:
    """How large a set of equations is: equations, unknowns, first-order states, and the matrices
    that are solved, by name with their rows and columns."""

    equations: int
    unknowns: int
    states: int
    matrices: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def text(self) -> str:
        """The counts as one sentence."""
        sizes = [f"{name} is {m} × {n}" for name, (m, n) in self.matrices.items()]
        counts = f"{self.equations} equations, {self.unknowns} unknowns, {self.states} states"
        return "; ".join([counts, *sizes])


@dataclass(frozen=True)
class EquationSet:
    """The equations of motion in the form of one formulation.

    `symbols` has the meaning of each symbol that the set introduces, by its name. `rates` maps the
    names of time derivatives, `dp1`, to the symbol and the number of its dots, (p1, 1), beside
    those of the coordinates.
    """

    title: str
    sections: tuple[EquationSection, ...]
    counts: EquationCounts
    symbols: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", MappingProxyType(dict(self.symbols)))
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))

    def lines(self) -> Iterator[EquationLine]:
        """All lines, section by section."""
        for section in self.sections:
            yield from section.lines


def equation_of_motion_text(names: MechanismNames) -> str:
    """The equation of motion as text, with t if the mechanism depends on time."""
    t = ", t" if names.is_time_dependent else ""
    equation = f"M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇{t})"
    if not names.constraints:
        return equation
    return f"{equation} + J(q{t})ᵀ λ,  J(q{t}) q̈ + γ(q, q̇{t}) = 0"


def equation_of_motion_functions(names: MechanismNames, known: Collection[str]) -> tuple[str, ...]:
    """The functions that make up the equation of motion, as far as they are `known`."""
    wanted = ["mass_matrix", "coriolis_matrix", "gravity", "forces"]
    wanted += ["constraint_residual"] if names.position_row_count else []
    wanted += ["constraint_jacobian", "constraint_bias"]
    wanted += [] if "mass_matrix" in known else ["state_rates"]
    return tuple(name for name in wanted if name in known)


def general_equation_set(names: MechanismNames, known: Collection[str]) -> EquationSet:
    """The equations M q̈ + C q̇ + g = τ + f, for formulations whose form this is."""
    functions = equation_of_motion_functions(names, known)
    section = EquationSection("", law=equation_of_motion_text(names), quantities=functions)
    n, rows = names.nv, len(names.constraints)
    counts = EquationCounts(n + rows, n + rows, names.nq + n, {"M": (n, n)})
    return EquationSet("Equations of motion", (section,), counts)
