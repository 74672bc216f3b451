"""Regressors for parameters that somebody names: τ = Y θ, and which columns of Y are redundant.

θ are expressions of the mechanism's parameters, such as m2*lc2^2 + I2. The forces are expanded in
products of those parameters; each product must be made up by θ. Parameters that occur in no θ are
taken as known and may stand in Y. Everything is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any

import casadi as ca

from ..algebra.exact.algebra import append_expressions
from ..algebra.exact.elimination import eliminate_column
from ..algebra.exact.quotient_expressions import RingPrinter
from ..algebra.exact.quotient_ring import Budget, BudgetError
from ..algebra.exact.quotients import Quotient
from ..algebra.exact.trig import Reading, read_field
from ..displays import Displayed
from ..equations import Equations
from ..errors import ExpressionError, NameNotFoundError, UnsupportedError, suggest
from ..expressions import ONE, Exact, Expression, Name, evaluate, fold, names, parse, to_text
from ..formulations import derive
from ..formulations.base.rank import tape_of
from ..kinematics.values import CasadiAlgebra
from ..mechanism import Mechanism
from ..quantities import entry_names

_LONGEST = 5000
_THETA = "theta"
Row = dict[int, Quotient]


@dataclass(frozen=True, repr=False)
class NamedRegressor(Displayed):
    """Y, rows of formulas, with τ = Y θ; θ by their texts, `values` what they are.

    Columns have the given `rank`; each `redundant` one is the sum of others times numbers.
    """

    mechanism: Mechanism
    parameters: tuple[str, ...]
    Y: tuple[tuple[Expression, ...], ...]
    rank: int
    redundant: Mapping[str, Mapping[str, Expression]]
    known: tuple[str, ...]
    values: tuple[Exact, ...]

    def summary(self) -> str:
        """Its columns and their rank."""
        sizes = f"{len(self.parameters)} columns of rank {self.rank}"
        return f"NamedRegressor of {self.mechanism.name}: {sizes}"

    def function(self) -> ca.Function:
        """Y as a `casadi.Function` of (q, qd, qdd), known parameters at their values."""
        eqs = derive(self.mechanism)
        entries = entry_names(eqs.names)
        scope: dict[str, Any] = {name: float(eqs.parameters[name]) for name in self.known}
        for key in ("q", "qd", "qdd"):
            scope |= zip(entries[key], ca.vertsplit(eqs.symbols[key]), strict=True)
        algebra = CasadiAlgebra(float)
        rows = [[fold(entry, algebra, scope.__getitem__) for entry in row] for row in self.Y]
        Y = ca.vertcat(*(ca.horzcat(*(_plain(x) for x in row)) for row in rows))
        inputs = ["q", "qd", "qdd"]
        return ca.Function("regressor", [eqs.symbols[k] for k in inputs], [Y], inputs, ["Y"])

    def __str__(self) -> str:
        count = len(self.parameters)
        lines = [f"{self.mechanism.name}: rank {self.rank} of {count} columns"]
        for j, theta in enumerate(self.parameters):
            column = ", ".join(to_text(row[j]) for row in self.Y)
            lines.append(f"  {theta}: ({column})")
        for theta, others in self.redundant.items():
            lines.append(f"redundant: [{theta}] is {self.sum_of(others)}")
        return "\n".join(lines)

    def sum_of(self, others: Mapping[str, Expression]) -> str:
        """A sum of columns in words."""
        parts = []
        for other, factor in others.items():
            column = f"column {self.parameters.index(other) + 1}"
            parts.append(column if factor == ONE else f"({to_text(factor)}) times {column}")
        return " plus ".join(parts) or "zero"

    def to_dict(self) -> dict[str, object]:
        """All of it as plain data, formulas as text."""
        return {
            "mechanism": self.mechanism.name,
            "rank": self.rank,
            "parameters": {
                theta: float(value)
                for theta, value in zip(self.parameters, self.values, strict=True)
            },
            "Y": [[to_text(entry) for entry in row] for row in self.Y],
            "redundant": {
                theta: {other: to_text(factor) for other, factor in others.items()}
                for theta, others in self.redundant.items()
            },
            "known": list(self.known),
        }


def _plain(entry: Any) -> Any:
    return float(entry) if isinstance(entry, Fraction) else entry


def regressor_of(mechanism: Mechanism, parameters: Sequence[str]) -> NamedRegressor:
    """The regressor Y with inverse dynamics τ = Y θ for named parameters θ."""
    if mechanism.loops or mechanism.constraints:
        raise UnsupportedError(
            f"{mechanism.name} has loops or constraints; regressors are those of trees",
            remedy="leave them out",
        )
    eqs = derive(mechanism, parameters="symbolic")
    parameters = [parameters] if isinstance(parameters, str) else parameters
    thetas = _read(eqs, parameters)
    used = frozenset[str]().union(*(names(theta) for theta in thetas))
    try:
        reading = _forces(eqs, thetas)
        printer = RingPrinter(reading.ring)
        _refuse_hidden(printer, used)
        unknown = [reading.ring.places[name] for name in eqs.parameters if name in used]
        columns, free = _solved(printer, reading, unknown)
        relations = _redundant(printer, columns, _moving(printer, eqs))
    except BudgetError:
        raise _too_long(eqs) from None
    texts = tuple(parameters)
    return NamedRegressor(
        mechanism,
        texts,
        tuple(tuple(printer.expression(c[k]) for c in columns) for k in range(eqs.nv)),
        len(columns) - len(relations),
        {
            texts[j]: {texts[i]: printer.expression(x) for i, x in others.items()}
            for j, others in (relations | {j: {} for j in free}).items()
        },
        tuple(name for name in eqs.parameters if name not in {*used, *eqs.constants}),
        tuple(evaluate(theta, eqs.parameters) for theta in thetas),
    )


def _read(eqs: Equations, parameters: Sequence[str]) -> list[Expression]:
    if not parameters:
        raise ExpressionError("no parameters are named", remedy="name some, as 'm2*lc2^2 + I2'")
    thetas = [parse(text) for text in parameters]
    for text, theta in zip(parameters, thetas, strict=True):
        for name in names(theta):
            if name not in eqs.parameters:
                raise NameNotFoundError(
                    f"'{name}' is no parameter",
                    where=f"{eqs.mechanism.name}: {text}",
                    remedy=suggest(name, list(eqs.parameters)),
                )
    return thetas


def _forces(eqs: Equations, thetas: Sequence[Expression]) -> Reading:
    """τ and θ as quotients of polynomials in parameters, speeds, cosines and sines."""
    entries = entry_names(eqs.names, list(eqs.parameters))
    tape = append_expressions(tape_of(eqs, "inverse_dynamics"), thetas, entries, _THETA)
    used = frozenset[str]().union(*(names(theta) for theta in thetas))
    literals = {name: value for name, value in eqs.literals.items() if name not in used}
    try:
        return read_field(tape, entries, literals, Budget(_LONGEST, inf), list(eqs.parameters))
    except UnsupportedError as error:
        raise UnsupportedError(
            error.what,
            where=eqs.mechanism.name,
            remedy="leave out what is not linear: mechanism.without('friction')",
        ) from None


def _moving(printer: RingPrinter, eqs: Equations) -> list[int]:
    """Generators that change with the state; cosines and roots of parameters do not."""
    fixed = set(eqs.parameters)
    return [place for place, meaning in printer.meanings.items() if not names(meaning) <= fixed]


def _too_long(eqs: Equations) -> UnsupportedError:
    return UnsupportedError(
        f"the forces of {eqs.mechanism.name}, or the parameters, have more than {_LONGEST} terms",
        remedy="use its base parameters, whose regressor needs no expansion",
    )


def _refuse_hidden(printer: RingPrinter, used: frozenset[str]) -> None:
    for meaning in printer.meanings.values():
        if not isinstance(meaning, Name) and names(meaning) & used:
            raise UnsupportedError(
                f"the forces are not polynomials in the named parameters: {to_text(meaning)}",
                remedy="leave it out of them, so that it counts as known",
            )


def _solved(
    printer: RingPrinter, reading: Reading, unknown: list[int]
) -> tuple[list[list[Quotient]], list[int]]:
    """The columns of Y from one equation for every product of unknown parameters; θ that are made
    of others get none."""
    ring, given = reading.ring, reading.outputs[_THETA]
    forces = next(values for name, values in reading.outputs.items() if name != _THETA)
    count, zero = len(given), ring.constant(Fraction(0))
    equations: dict[tuple[int, ...], Row] = {}
    for k, value in enumerate([*given, *forces]):
        if value.denominator is not None:
            shown = to_text(printer.expression(value))
            raise UnsupportedError(f"a quotient is not linear: {shown}")
        for product, factor in printer.coefficients(value.numerator, unknown).items():
            equations.setdefault(product, {})[k] = Quotient(factor, value.reduced)
    rows, solved = equations, dict[int, Row]()
    for j in range(count):
        row = next(
            (r for r in rows.values() if j in r and not any(r is s for s in solved.values())), None
        )
        if row is not None:
            eliminate_column(ring, rows.values(), row, j)
            solved[j] = row
    for product, row in rows.items():
        if row and not any(row is s for s in solved.values()):
            raise _not_linear(printer, product, unknown)
    columns = [
        [solved[j].get(count + k, zero) if j in solved else zero for k in range(len(forces))]
        for j in range(count)
    ]
    return columns, [j for j in range(count) if j not in solved]


def _not_linear(
    printer: RingPrinter, product: tuple[int, ...], unknown: list[int]
) -> UnsupportedError:
    ring = printer.ring
    exponents = [0] * len(ring.generators)
    for place, exponent in zip(sorted(unknown), product, strict=True):
        exponents[place] = int(exponent)
    term = ring.context.from_dict({tuple(exponents): 1})
    shown = to_text(printer.expression(Quotient(term)))
    what = "a part without any of them" if shown == "1" else f"'{shown}'"
    return UnsupportedError(
        f"the forces are not linear in the named parameters: {what} cannot be made up of them",
        remedy="name one more",
    )


def _redundant(
    printer: RingPrinter, columns: list[list[Quotient]], state: list[int]
) -> dict[int, Row]:
    """Columns that are sums of others before them, with numbers (or known ones) as factors."""
    ring = printer.ring
    equations: dict[tuple[int, tuple[int, ...]], Row] = {}
    for j, column in enumerate(columns):
        for k, entry in enumerate(column):
            for product, factor in printer.coefficients(entry.numerator, state).items():
                place = equations.setdefault((k, product), {})
                below = Quotient(entry.denominator or ring.one, entry.reduced)
                place[j] = ring.quotient(Quotient(factor, entry.reduced), below)
    rows, pivots = list(equations.values()), dict[int, Row]()
    for j in range(len(columns)):
        row = next((r for r in rows if j in r and not any(r is p for p in pivots.values())), None)
        if row is not None:
            eliminate_column(ring, rows, row, j)
            pivots[j] = row
    return {
        j: {i: row[j] for i, row in pivots.items() if j in row}
        for j in range(len(columns))
        if j not in pivots
    }
