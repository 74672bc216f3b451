"""The columns of a regressor by exact elimination, and which of them depend on others."""

from __future__ import annotations

from fractions import Fraction

from ..algebra.exact.elimination import eliminate_pivot_column
from ..algebra.exact.quotient_expressions import QuotientPrinter
from ..algebra.exact.quotients import Quotient
from ..algebra.exact.trig_polynomials import QuotientRingOutputs
from ..errors import UnsupportedError
from ..expressions import expression_text

THETA_OUTPUT = "theta"
"""The output of a tape that holds the named parameters θ; the other one holds the forces."""

RegressorRow = dict[int, Quotient]


def solve_regressor_columns(
    printer: QuotientPrinter, reading: QuotientRingOutputs, unknown: list[int]
) -> tuple[list[list[Quotient]], list[int]]:
    """The columns of Y, from one equation for every product of unknown parameters, and the indices
    of θ that depend on others and get none."""
    ring, given = reading.ring, reading.outputs[THETA_OUTPUT]
    forces = next(values for name, values in reading.outputs.items() if name != THETA_OUTPUT)
    count, zero = len(given), ring.constant(Fraction(0))
    equations: dict[tuple[int, ...], RegressorRow] = {}
    for k, value in enumerate([*given, *forces]):
        if value.denominator is not None:
            shown = expression_text(printer.print_quotient(value))
            raise UnsupportedError(f"a quotient is not linear: {shown}")
        for product, factor in printer.polynomial_coefficients(value.numerator, unknown).items():
            equations.setdefault(product, {})[k] = Quotient(factor, value.reducible_generators)
    rows, solved = equations, dict[int, RegressorRow]()
    for j in range(count):
        row = next(
            (r for r in rows.values() if j in r and not any(r is s for s in solved.values())), None
        )
        if row is not None:
            eliminate_pivot_column(ring, rows.values(), row, j)
            solved[j] = row
    for product, row in rows.items():
        if row and not any(row is s for s in solved.values()):
            raise _nonlinear_regressor_error(printer, product, unknown)
    columns = [
        [solved[j].get(count + k, zero) if j in solved else zero for k in range(len(forces))]
        for j in range(count)
    ]
    return columns, [j for j in range(count) if j not in solved]


def _nonlinear_regressor_error(
    printer: QuotientPrinter, product: tuple[int, ...], unknown: list[int]
) -> UnsupportedError:
    """The error for a product of parameters that is not a combination of θ."""
    ring = printer.ring
    exponents = [0] * len(ring.generators)
    for place, exponent in zip(sorted(unknown), product, strict=True):
        exponents[place] = int(exponent)
    term = ring.context.from_dict({tuple(exponents): 1})
    shown = expression_text(printer.print_quotient(Quotient(term)))
    what = "a part without any of them" if shown == "1" else f"'{shown}'"
    return UnsupportedError(
        f"the forces are not linear in the named parameters: {what} cannot be made up of them",
        remedy="name one more",
    )


def redundant_regressor_columns(
    printer: QuotientPrinter, columns: list[list[Quotient]], state: list[int]
) -> dict[int, RegressorRow]:
    """Columns that are combinations of columns before them, with numbers or known parameters as
    factors."""
    ring = printer.ring
    equations: dict[tuple[int, tuple[int, ...]], RegressorRow] = {}
    for j, column in enumerate(columns):
        for k, entry in enumerate(column):
            for product, factor in printer.polynomial_coefficients(entry.numerator, state).items():
                place = equations.setdefault((k, product), {})
                below = Quotient(
                    entry.denominator or ring.one_polynomial, entry.reducible_generators
                )
                place[j] = ring.divide_quotients(
                    Quotient(factor, entry.reducible_generators), below
                )
    rows, pivots = list(equations.values()), dict[int, RegressorRow]()
    for j in range(len(columns)):
        row = next((r for r in rows if j in r and not any(r is p for p in pivots.values())), None)
        if row is not None:
            eliminate_pivot_column(ring, rows, row, j)
            pivots[j] = row
    return {
        j: {i: row[j] for i, row in pivots.items() if j in row}
        for j in range(len(columns))
        if j not in pivots
    }
