"""Linear systems whose unknowns occur in a closed form: solved by determinants if they are small,
otherwise stated as A x = b."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import casadi as ca

from ..algebra.exact.polynomial_budget import BudgetError
from ..algebra.exact.quotient_ring import QuotientRing
from ..algebra.exact.quotients import Quotient
from ..algebra.exact.trig_polynomials import QuotientRingOutputs
from ..expressions.typeset import ExpressionTypesetter, LatexNotation, MathmlNotation
from ..ports import Port
from ..types import SX
from .determinant_solutions import solve_by_determinants

MAX_SOLVED_UNKNOWNS = 3
"""Systems of up to this many unknowns are solved by determinants."""
MAX_SOLUTION_TERMS = 600
"""Solutions with more terms are harder to read than the system."""


@dataclass(frozen=True)
class FormSystem:
    """Unknowns with their names, `symbols` in the expressions that contain them, and A x = b.

    The right side may have several columns; names and symbols are then row by row. Without a
    `matrix`, x = b. With a `jacobian` J, the system is A x = b + Jᵀλ, J x = c: the unknowns are x
    and λ, in this order, and `jacobian_right` is c; it is always stated, never solved. `letters`
    name the matrix and the right side, or also J and c, where the system is stated. `lowest`:
    solutions are in lowest terms, not over a common denominator.
    """

    names: tuple[str, ...]
    symbols: SX
    matrix: SX | None
    right: SX
    letters: tuple[str, ...] = ("M", "b")
    jacobian: SX | None = None
    jacobian_right: SX | None = None
    lowest: bool = False

    def parts(self) -> tuple[tuple[str, SX], ...]:
        """The matrices of the system by their letters."""
        found = (self.matrix, self.right, self.jacobian, self.jacobian_right)
        made = zip(self.letters, found, strict=False) if self.matrix is not None else ()
        named = tuple((letter, ca.SX(part)) for letter, part in made if part is not None)
        return named or (("b", self.right),)

    def at(self, old: SX, new: SX) -> FormSystem:
        """The system with other expressions in place of some symbols."""

        def substituted(part: SX | None) -> SX | None:
            return None if part is None else ca.substitute(ca.SX(part), old, new)

        return replace(
            self,
            matrix=substituted(self.matrix),
            right=ca.substitute(ca.SX(self.right), old, new),
            jacobian=substituted(self.jacobian),
            jacobian_right=substituted(self.jacobian_right),
        )


@dataclass(frozen=True)
class StatedSystem:
    """A system that is printed as such: `matrix` * (unknowns) = `right`, by the names of its parts,
    or with multipliers: `matrix` * (unknowns) = `right` + `jacobian`ᵀ * (multipliers)."""

    unknowns: tuple[str, ...]
    matrix: str
    right: str
    multipliers: tuple[str, ...] = ()
    jacobian: str = ""
    jacobian_right: str = ""

    def text(self) -> list[str]:
        """The equations as text."""
        x = f"({', '.join(self.unknowns)})"
        if not self.jacobian:
            return [f"{self.matrix}*{x} = {self.right}"]
        forces = f"{self.jacobian}^T*({', '.join(self.multipliers)})"
        return [
            f"{self.matrix}*{x} = {self.right} + {forces}",
            f"{self.jacobian}*{x} = {self.jacobian_right}",
        ]

    def latex(self, dotted: Mapping[str, tuple[str, int]]) -> list[str]:
        """The equations as lines of an `aligned` environment."""
        setter = ExpressionTypesetter(LatexNotation(), dotted)

        def column(names: Sequence[str]) -> str:
            rows = " \\\\ ".join(setter.entry(name) for name in names)
            return f"\\begin{{bmatrix}} {rows} \\end{{bmatrix}}"

        A, b, x = setter.name(self.matrix), setter.name(self.right), column(self.unknowns)
        if not self.jacobian:
            return [f"{A} {x} &= {b}"]
        J, c = setter.name(self.jacobian), setter.name(self.jacobian_right)
        return [f"{A} {x} &= {b} + {J}^T {column(self.multipliers)}", f"{J} {x} &= {c}"]

    def mathml_rows(self, dotted: Mapping[str, tuple[str, int]]) -> list[str]:
        """The equations as rows of a MathML table."""
        setter = ExpressionTypesetter(MathmlNotation(), dotted)

        def column(names: Sequence[str]) -> str:
            rows = "".join(f"<mtr><mtd>{setter.entry(name)}</mtd></mtr>" for name in names)
            return f"<mrow><mo>[</mo><mtable>{rows}</mtable><mo>]</mo></mrow>"

        def row(left: str, right: str) -> str:
            cells = (f"<mrow>{left}</mrow>", "<mo>=</mo>", f"<mrow>{right}</mrow>")
            return "<mtr>" + "".join(f"<mtd>{cell}</mtd>" for cell in cells) + "</mtr>"

        A, b, x = setter.name(self.matrix), setter.name(self.right), column(self.unknowns)
        if not self.jacobian:
            return [row(A + x, b)]
        J, c = setter.name(self.jacobian), setter.name(self.jacobian_right)
        transpose = f"<msup>{J}<mi>T</mi></msup>"
        return [row(A + x, f"{b}<mo>+</mo>{transpose}{column(self.multipliers)}"), row(J + x, c)]


def needed_systems(
    systems: Sequence[FormSystem], outputs: Sequence[SX]
) -> tuple[list[FormSystem], set[str]]:
    """The systems with unknowns on which the outputs depend, directly or by other systems, and the
    names of these unknowns."""
    wanted = _symbol_hashes(outputs)
    found, names = list[FormSystem](), set[str]()
    for system in reversed(systems):
        symbols = ca.vertsplit(ca.vec(system.symbols.T))
        own = [k for k, symbol in enumerate(symbols) if symbol.element_hash() in wanted]
        if own:
            found.append(system)
            names |= {system.names[k] for k in own}
            parts = [part for _, part in system.parts()]
            wanted |= _symbol_hashes([parts[0][own, :]] if system.matrix is None else parts)
    return found[::-1], names


def _symbol_hashes(expressions: Sequence[SX]) -> set[int]:
    """The element hashes of all symbols in the expressions."""
    whole = ca.vertcat(*(ca.vec(ca.densify(ca.SX(x))) for x in expressions))
    return {symbol.element_hash() for symbol in ca.symvar(whole)}


def system_outputs(systems: Sequence[FormSystem]) -> Iterator[tuple[Port, SX]]:
    """The matrices of all systems, as outputs of a form's source."""
    for k, system in enumerate(systems):
        for letter, part in system.parts():
            yield Port(f"{letter}@{k}", part.shape), part


@dataclass(frozen=True)
class SolvedSystems:
    """The ports of solutions and of stated systems with their entries, and the statements."""

    outputs: tuple[tuple[Port, list[Quotient]], ...]
    stated: tuple[StatedSystem, ...]


def solve_form_systems(
    systems: Sequence[FormSystem], reading: QuotientRingOutputs, shown: set[str], taken: set[str]
) -> SolvedSystems:
    """Solve the small systems by determinants, and state the others; of the solutions, those in
    `shown` are kept. Names of matrices are never among those `taken`."""
    outputs: list[tuple[Port, list[Quotient]]] = []
    stated: list[StatedSystem] = []
    for k, system in enumerate(systems):
        x = _solve_system(k, system, reading)
        if x is not None:
            named = zip(system.names, x, strict=True)
            outputs += [(Port(name, ()), [value]) for name, value in named if name in shown]
            continue
        letters = {}
        for letter, part in system.parts():
            letters[letter] = name = _free_letter(letter, taken)
            shape = part.shape if part.shape[1] > 1 else (part.shape[0],)
            outputs.append((Port(name, shape), reading.outputs[f"{letter}@{k}"]))
        n = dict(system.parts())[system.letters[0]].shape[1]
        matrix, right, *others = letters.values()
        jacobian, jacobian_right = others or ("", "")
        stated.append(
            StatedSystem(
                system.names[:n], matrix, right, system.names[n:], jacobian, jacobian_right
            )
        )
    return SolvedSystems(tuple(outputs), tuple(stated))


def _solve_system(
    k: int, system: FormSystem, reading: QuotientRingOutputs
) -> list[Quotient] | None:
    """The solution of a system; None if it is large or has a long solution."""
    letter = system.letters[0]
    if system.matrix is None:
        return list(reading.outputs[f"b@{k}"])
    if system.jacobian is not None or system.matrix.shape[0] > MAX_SOLVED_UNKNOWNS:
        return None
    ring, remaining = reading.ring, reading.ring.budget.remaining_terms
    right = reading.outputs[f"{system.letters[1]}@{k}"]
    try:
        x, det = solve_by_determinants(ring, reading.outputs[f"{letter}@{k}"], right)
    except BudgetError:
        ring.budget.remaining_terms = remaining
        return None
    if system.lowest:
        x = [
            ring.cancel_ratio(value, Quotient(value.denominator))
            if value.denominator is not None
            else value
            for value in x
        ]
    terms = sum(len(value.numerator) for value in x) + len(det.numerator)
    return x if terms <= MAX_SOLUTION_TERMS else None


def _in_lowest_terms(ring: QuotientRing, value: Quotient) -> Quotient:
    """The quotient without common factors of numerator and denominator."""
    if value.denominator is None:
        return value
    return ring.cancel_ratio(value, Quotient(value.denominator, value.reducible_generators))


def _free_letter(letter: str, taken: set[str]) -> str:
    """A letter for a matrix that names nothing else; it is taken from now on."""
    name, k = letter, 1
    while name in taken:
        k += 1
        name = f"{letter}_{k}"
    taken.add(name)
    return name
