"""Equations as a paper prints them: sections of numbered lines in a formulation's own symbols.

A formulation says what its equations look like by an `EquationSet`; `forms` typesets it. Lines hold
CasADi expressions in the symbols of the equations and in symbols that the set introduces.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

import casadi as ca
import numpy as np
import numpy.typing as npt

from .mechanism import MechanismNames
from .types import SX, Floats

DUAL_UNIT = "eps"
"""The dual unit in printed equations, as the checker reads it."""


@dataclass(frozen=True)
class WrittenDualVector:
    """A dual vector Σ (a_i + ε b_i) e_i: its `real` parts a and `dual` parts b, and the names of
    the unit vectors e along the `axes`; one axis "" is that of a dual number."""

    real: SX
    dual: SX
    axes: tuple[str, ...]


@dataclass(frozen=True)
class WrittenAccelerations:
    """Accelerations of coordinates z as they are printed: `matrix` · z̈ = `right` for the first
    ones, `others` for the rest; `names` are those of all coordinates z, and `constants` the symbols
    of the set that do not change in a motion."""

    names: tuple[str, ...]
    matrix: SX
    right: SX
    others: SX
    constants: frozenset[str] = frozenset()


@dataclass(frozen=True)
class EquationLine:
    """One equation, left = right, with its number in the paper.

    `left` is the name of what the line defines (`p1`, `M[1,2]`), or an expression where the
    equation is implicit, such as a balance of forces.
    """

    left: str | SX
    right: SX | WrittenDualVector
    number: str = ""

    def whole_right(self) -> SX:
        """The right side as one expression, a dual vector with symbols for ε and unit vectors."""
        if not isinstance(self.right, WrittenDualVector):
            return self.right
        parts = self.right.real + ca.SX.sym(DUAL_UNIT) * self.right.dual
        units = [ca.SX.sym(axis) if axis else ca.SX(1) for axis in self.right.axes]
        return ca.SX(ca.dot(parts, ca.vertcat(*units)))


def numbered_lines(name: str, column: SX) -> tuple[EquationLine, ...]:
    """A line for each entry of a column: p1 = …, p2 = …"""
    return tuple(EquationLine(f"{name}{k + 1}", column[k]) for k in range(column.numel()))


@dataclass(frozen=True)
class EquationTable:
    """The layout of a section's lines as a table: cells row by row under the names of `columns`,
    after those of `rows`; `corner` heads the names of the rows."""

    corner: str
    columns: tuple[str, ...]
    rows: tuple[str, ...]


@dataclass(frozen=True)
class EquationSection:
    """Equations that belong together.

    `law` is the general equation as text, such as "p = ∂L/∂q̇", and `law_latex` the same for LaTeX;
    `reference` has the paper's equation numbers, and `note` a sentence for the reader.
    `quantities` are quantities of the equations, by name, that are printed after the lines; `table`
    arranges the right sides of the lines as a table where it is not too wide. `shorter` says the
    same in fewer words, for print where the lines are longer than a page.
    """

    title: str
    lines: tuple[EquationLine, ...] = ()
    law: str = ""
    law_latex: str = ""
    reference: str = ""
    note: str = ""
    quantities: tuple[str, ...] = ()
    table: EquationTable | None = None
    shorter: EquationSection | None = None


def linear_coefficient_section(
    section: EquationSection, systems: Sequence[tuple[SX, SX, SX]]
) -> EquationSection:
    """The section, and a shorter one with the linear equations A x = b, given as (A, x, b), whose
    solutions x its lines define; equations 0 = 0 are left out."""
    sides = [(A[row, :] @ x, b[row]) for A, x, b in systems for row in range(A.shape[0])]
    sizes = magnitudes_at_samples([ca.vertcat(*pair) for pair in sides])
    kept = tuple(EquationLine(*pair) for pair, size in zip(sides, sizes, strict=True) if size)
    note = "Solved for the coefficients, these linear equations are longer than a page."
    return replace(section, shorter=replace(section, lines=kept, note=note))


def without_zero_lines(section: EquationSection) -> EquationSection:
    """The section without lines whose right side is zero."""
    sides = [
        ca.vertcat(line.right.real, line.right.dual)
        if isinstance(line.right, WrittenDualVector)
        else line.right
        for line in section.lines
    ]
    lines = zip(section.lines, magnitudes_at_samples(sides), strict=True)
    return replace(section, lines=tuple(line for line, size in lines if size))


def without_zero_entries(array: SX, scale: float = 0.0) -> SX:
    """The array with entries that are zero for all values of their symbols as plain zeros; `scale`
    is the size of other arrays, whose rounding counts as zero too."""
    array = ca.sparsify(array)
    rows, columns = array.sparsity().get_triplet()
    entries = [array[m, n] for m, n in zip(rows, columns, strict=True)]
    sizes = magnitudes_at_samples(entries, scale)
    kept = [x if size else ca.SX(0) for x, size in zip(entries, sizes, strict=True)]
    return ca.SX(ca.densify(ca.SX(array.sparsity(), ca.vertcat(ca.SX(0, 1), *kept))))


def magnitudes_at_samples(expressions: Sequence[SX], scale: float = 0.0) -> Floats:
    """The largest magnitude of each expression at three random values of all symbols; 0 if it is
    rounding only, relative to the largest or to `scale`."""
    whole = [ca.densify(ca.SX(x)) for x in expressions]
    symbols = ca.symvar(ca.vertcat(*map(ca.vec, whole))) if whole else []
    evaluate = ca.Function("sides", [ca.vertcat(ca.SX(0, 1), *symbols)], whole)
    rng, largest = np.random.default_rng(0), np.zeros(len(whole))
    for _ in range(3):
        found = evaluate.call([rng.uniform(0.2, 1.2, len(symbols))])
        largest = np.maximum(largest, [np.abs(np.asarray(x)).max(initial=0.0) for x in found])
    return np.where(largest > 1e-13 * largest.max(initial=scale), largest, 0.0)


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
        named = zip(("equation", "unknown", "state"), self._numbers(), strict=True)
        counts = ", ".join(f"{n} {word}{'' if n == 1 else 's'}" for word, n in named)
        return "; ".join([counts, *sizes])

    def _numbers(self) -> tuple[int, int, int]:
        """Equations, unknowns and states."""
        return self.equations, self.unknowns, self.states


@dataclass(frozen=True)
class EquationSet:
    """The equations of motion in the form of one formulation.

    `symbols` has the meaning of each symbol that the set introduces, by its name. `rates` maps the
    names of time derivatives, `dp1`, to the symbol and the number of its dots, (p1, 1), beside
    those of the coordinates. `constants` are those of its symbols that do not change in a motion,
    and are collected like parameters; `functions` are those that depend on coordinates only.
    `definitions` has explicit expressions of symbols that the lines define implicitly.
    """

    title: str
    sections: tuple[EquationSection, ...]
    counts: EquationCounts
    symbols: Mapping[str, str] = field(default_factory=dict)
    rates: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    constants: frozenset[str] = frozenset()
    functions: frozenset[str] = frozenset()
    definitions: tuple[tuple[SX, SX], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "symbols", MappingProxyType(dict(self.symbols)))
        object.__setattr__(self, "rates", MappingProxyType(dict(self.rates)))

    def insert_definitions(self, expression: SX) -> SX:
        """An expression with the explicit definitions of symbols in place of these."""
        if not self.definitions:
            return expression
        old, new = (ca.vertcat(*column) for column in zip(*self.definitions, strict=True))
        return ca.SX(ca.substitute(ca.SX(expression), old, new))

    def lines(self) -> Iterator[EquationLine]:
        """All lines, section by section."""
        for section in self.sections:
            yield from section.lines


def vanishing_entries(matrix: SX) -> npt.NDArray[np.bool_]:
    """Whether the entries of a matrix are zero, at some random values of all symbols."""
    symbols = ca.vertcat(ca.SX(0, 1), *ca.symvar(matrix))
    at = ca.Function("at", [symbols], [ca.densify(matrix)])
    rng = np.random.default_rng(0)
    values = [np.asarray(at(rng.uniform(0.3, 1.2, symbols.numel()))) for _ in range(3)]
    found: npt.NDArray[np.bool_] = np.abs(values).max(axis=0, initial=0.0) < 1e-12
    return found


def equation_of_motion_text(names: MechanismNames) -> str:
    """The equation of motion as text, with t if the mechanism depends on time."""
    t = ", t" if names.is_time_dependent else ""
    equation = f"M(q) q̈ + C(q, q̇) q̇ + g(q) = τ + f(q, q̇{t})"
    if names.has_moving_coordinates:
        equation = "M(q, t) q̈ + C(q, q̇, t) q̇ + d(q, q̇, t) + g(q, t) = τ + f(q, q̇, t)"
    efforts = f",  τ = B(q{t}) u" if names.actuators else ""
    if names.constraints:
        equation = f"{equation} + J(q{t})ᵀ λ,  J(q{t}) q̈ + γ(q, q̇{t}) = 0"
    return law_in_velocities(names, f"{equation}{efforts}")


def law_in_velocities(names: MechanismNames, law: str) -> str:
    """A law in text or LaTeX with v for q̇ and v̇ for q̈ where velocities are not the rates of
    coordinates, as those of quaternions; otherwise the same."""
    if not names.has_own_velocities:
        return law
    for rate, velocity in _OWN_VELOCITIES.items():
        law = law.replace(rate, velocity)
    return law


_OWN_VELOCITIES = {
    "∂V/∂q": "N(q)ᵀ ∂V/∂q",
    "q̈": "v̇",
    "q̇": "v",
    r"\ddot{q}": r"\dot{v}",
    r"\dot{q}": "v",
}
"""The symbols of velocities v that are not rates, with q̇ = N(q) v, in place of those of rates."""


def kinematic_section(names: MechanismNames, rates: SX) -> EquationSection:
    """The kinematic equations q̇ = N(q) v of coordinates whose `rates` are not velocities."""
    own = [k for k, name in enumerate(names.q) if name not in names.qd]
    return EquationSection(
        "Kinematic equations",
        tuple(EquationLine(f"d{names.q[k]}", rates[k]) for k in own),
        law="q̇ = N(q) v",
        law_latex=r"\dot{q} = N(q) \, v",
        note="The velocities v of these joints are not rates of coordinates. Quaternions have "
        "length 1.",
    )


def equation_of_motion_functions(names: MechanismNames, known: Collection[str]) -> tuple[str, ...]:
    """The functions that make up the equation of motion, as far as they are `known`."""
    wanted = ["mass_matrix", "coriolis_matrix", "transport", "gravity", "forces"]
    wanted += ["constraint_residual"] if names.position_row_count else []
    wanted += ["constraint_jacobian", "constraint_bias"]
    wanted += ["input_matrix"] if names.actuators else []
    wanted += [] if "mass_matrix" in known else ["state_rates"]
    return tuple(name for name in wanted if name in known)


def general_equation_set(names: MechanismNames, known: Collection[str]) -> EquationSet:
    """The equations M q̈ + C q̇ + g = τ + f, for formulations whose form this is."""
    functions = equation_of_motion_functions(names, known)
    section = EquationSection("", law=equation_of_motion_text(names), quantities=functions)
    n = names.nv
    rows = n - len(names.independent) if names.constraints else 0
    counts = EquationCounts(n + rows, n + rows, names.nq + n, {"M": (n, n)})
    return EquationSet("Equations of motion", (section,), counts)
