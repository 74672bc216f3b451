"""Regressors for parameters that a user names: τ = Y θ, and the redundant columns of Y.

θ are expressions of the mechanism's parameters, such as m2*lc2^2 + I2. The forces are expanded in
products of those parameters; each product must be a combination of θ. Parameters that do not occur
in θ count as known and may occur in Y. All computations are exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf

import casadi as ca

from ..algebra.casadi_algebra import CasadiAlgebra
from ..algebra.exact.polynomial_budget import BudgetError, ExactPolynomialBudget
from ..algebra.exact.quotient_expressions import QuotientPrinter
from ..algebra.exact.tape_algebra import append_exact_formula_output
from ..algebra.exact.trig_polynomials import QuotientRingOutputs, evaluate_tape_in_quotient_field
from ..algebra.linear_algebra import Scalar
from ..displays import NotebookDisplayed
from ..equations import Equations
from ..errors import ExpressionError, NameNotFoundError, UnsupportedError, suggest_remedy
from ..expressions import (
    ONE,
    ExactNumber,
    Expression,
    Name,
    evaluate_expression_exactly,
    expression_text,
    fold_expression,
    names_in_expression,
    parse_expression,
)
from ..forms import FormSource, make_closed_form
from ..formulations import derive
from ..mechanism import Mechanism
from ..ports import Port
from ..quantities import quantity_entry_names, quantity_ports
from ..tape import record_tape
from ..types import SX
from .regressor_columns import (
    THETA_OUTPUT,
    redundant_regressor_columns,
    solve_regressor_columns,
)

_MAX_FORMULA_LENGTH = 5000


@dataclass(frozen=True, repr=False)
class NamedRegressor(NotebookDisplayed):
    """The regressor Y with inverse dynamics τ = Y θ.

    Attributes
    ----------
    mechanism : Mechanism
        The mechanism.
    parameters : tuple of str
        θ, as text.
    Y : tuple of rows
        Formulas, nv rows and one column for each of θ.
    rank : int
        Number of independent columns.
    redundant : mapping
        Dependent columns, each as factors of other columns.
    known : tuple of str
        Other parameters that occur in Y.
    values : tuple of numbers
        Values of θ in the mechanism, SI units.

    Examples
    --------
    >>> import linkwright as lw
    >>> found = lw.identify.regressor_of(lw.gallery("elbow"), ["m1", "m2", "I1", "I2"])
    >>> found.parameters, [float(value) for value in found.values[:2]]
    (('m1', 'm2', 'I1', 'I2'), [1.0, 1.0])
    """

    mechanism: Mechanism
    parameters: tuple[str, ...]
    Y: tuple[tuple[Expression, ...], ...]
    rank: int
    redundant: Mapping[str, Mapping[str, Expression]]
    known: tuple[str, ...]
    values: tuple[ExactNumber, ...]

    def summary(self) -> str:
        """Return one line: the number of columns and their rank."""
        sizes = f"{len(self.parameters)} columns of rank {self.rank}"
        return f"NamedRegressor of {self.mechanism.name}: {sizes}"

    def function(self) -> ca.Function:
        """Return Y as a function of the motion, with known parameters at their values.

        Returns
        -------
        casadi.Function
            (q, qd, qdd), and t where the coordinates depend on it, → Y, (nv, len(parameters)).
        """
        eqs = derive(self.mechanism)
        Y = _regressor_matrix(
            eqs, self.Y, {name: float(eqs.parameters[name]) for name in self.known}
        )
        inputs = ["q", "qd", "qdd", *eqs.names.position_time_arguments("t")]
        return ca.Function("regressor", [eqs.symbols[k] for k in inputs], [Y], inputs, ["Y"])

    def __str__(self) -> str:
        count = len(self.parameters)
        lines = [f"{self.mechanism.name}: rank {self.rank} of {count} columns"]
        for j, theta in enumerate(self.parameters):
            column = ", ".join(expression_text(row[j]) for row in self.Y)
            lines.append(f"  {theta}: ({column})")
        for theta, others in self.redundant.items():
            lines.append(f"redundant: [{theta}] is {self.column_sum_text(others)}")
        return "\n".join(lines)

    def column_sum_text(self, others: Mapping[str, Expression]) -> str:
        """Return a sum of columns in words.

        Parameters
        ----------
        others : mapping of parameters to factors
            An entry of `redundant`.

        Returns
        -------
        str
            The combination, such as "column 1 plus (l1) times column 2".
        """
        parts = []
        for other, factor in others.items():
            column = f"column {self.parameters.index(other) + 1}"
            parts.append(column if factor == ONE else f"({expression_text(factor)}) times {column}")
        return " plus ".join(parts) or "zero"

    def to_dict(self) -> dict[str, object]:
        """Return all of it as plain data.

        Returns
        -------
        dict
            Formulas are text.
        """
        return {
            "mechanism": self.mechanism.name,
            "rank": self.rank,
            "parameters": {
                theta: float(value)
                for theta, value in zip(self.parameters, self.values, strict=True)
            },
            "Y": [[expression_text(entry) for entry in row] for row in self.Y],
            "redundant": {
                theta: {other: expression_text(factor) for other, factor in others.items()}
                for theta, others in self.redundant.items()
            },
            "known": list(self.known),
        }


def _numeric_regressor_entry(entry: Scalar | Fraction) -> Scalar:
    """The entry as a float if it is a fraction, otherwise unchanged."""
    return float(entry) if isinstance(entry, Fraction) else entry


def regressor_of(mechanism: Mechanism, parameters: Sequence[str]) -> NamedRegressor:
    """Return the regressor Y of inverse dynamics, τ = Y θ, for named parameters θ.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism without loops and constraints.
    parameters : sequence of str
        θ: names of parameters or expressions of them, in which τ is linear.

    Returns
    -------
    NamedRegressor
        Formulas of Y, (nv, len(parameters)), its rank and its redundant columns.

    Raises
    ------
    UnsupportedError
        If the mechanism has loops or constraints.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.identify.regressor_of(lw.gallery("elbow"), ["m1", "m2", "I1", "I2"]).rank
    4
    """
    if mechanism.loops or mechanism.constraints:
        raise UnsupportedError(
            f"{mechanism.name} has loops or constraints; regressors are those of trees",
            remedy="leave them out",
        )
    eqs = derive(mechanism, parameters="symbolic")
    parameters = [parameters] if isinstance(parameters, str) else parameters
    thetas = _read_identified_parameters(eqs, parameters)
    used = frozenset[str]().union(*(names_in_expression(theta) for theta in thetas))
    try:
        reading = _read_regressor_forces(eqs, thetas)
        printer = QuotientPrinter(reading.ring)
        _refuse_unidentifiable_parameters(printer, used)
        unknown = [reading.ring.symbol_places[name] for name in eqs.parameters if name in used]
        columns, free = solve_regressor_columns(printer, reading, unknown)
        relations = redundant_regressor_columns(
            printer, columns, _regressor_state_generators(printer, eqs)
        )
    except BudgetError:
        raise _long_regressor_error(eqs) from None
    texts = tuple(parameters)
    return NamedRegressor(
        mechanism,
        texts,
        _collect_regressor_terms(
            eqs, [[printer.print_quotient(c[k]) for c in columns] for k in range(eqs.nv)]
        ),
        len(columns) - len(relations),
        {
            texts[j]: {texts[i]: printer.print_quotient(x) for i, x in others.items()}
            for j, others in (relations | {j: {} for j in free}).items()
        },
        tuple(name for name in eqs.parameters if name not in {*used, *eqs.constants}),
        tuple(evaluate_expression_exactly(theta, eqs.parameters) for theta in thetas),
    )


def _regressor_matrix(
    eqs: Equations, Y: Sequence[Sequence[Expression]], known: Mapping[str, Scalar]
) -> SX:
    """The formulas of Y as a CasADi matrix of the motion, with values of the known parameters."""
    entries, scope = quantity_entry_names(eqs.names), dict(known)
    for key in ("q", "qd", "qdd", "t"):
        scope |= zip(entries[key], ca.vertsplit(eqs.symbols[key]), strict=True)
    algebra = CasadiAlgebra(float)
    rows = [[fold_expression(entry, algebra, scope.__getitem__) for entry in row] for row in Y]
    return ca.SX(
        ca.vertcat(*(ca.horzcat(*(_numeric_regressor_entry(x) for x in row)) for row in rows))
    )


def _collect_regressor_terms(
    eqs: Equations, Y: Sequence[Sequence[Expression]]
) -> tuple[tuple[Expression, ...], ...]:
    """Y with sums of angles and collected terms, as closed forms have them, where that is short."""
    symbols = dict(zip(eqs.parameters, ca.vertsplit(eqs.symbols["p"]), strict=True))
    matrix = _regressor_matrix(eqs, Y, symbols)
    source = FormSource("regressor", "τ = Y θ", ((Port("Y", matrix.shape), matrix),))
    try:
        form = make_closed_form(eqs, source, {}, ExactPolynomialBudget(_MAX_FORMULA_LENGTH, inf))
    except BudgetError:
        return tuple(map(tuple, Y))
    entries = form.collect_terms(groups=False).entries_by_name()
    flat = [entries[label] for label in form.labels]
    return tuple(tuple(flat[k : k + len(Y[0])]) for k in range(0, len(flat), len(Y[0])))


def _read_identified_parameters(eqs: Equations, parameters: Sequence[str]) -> list[Expression]:
    """The named parameters as expressions; an unknown name is an error."""
    if not parameters:
        raise ExpressionError("no parameters are named", remedy="name some, as 'm2*lc2^2 + I2'")
    thetas = [parse_expression(text) for text in parameters]
    for text, theta in zip(parameters, thetas, strict=True):
        for name in names_in_expression(theta):
            if name not in eqs.parameters:
                raise NameNotFoundError(
                    f"'{name}' is not a parameter",
                    where=f"{eqs.mechanism.name}: {text}",
                    remedy=suggest_remedy(name, list(eqs.parameters)),
                )
    return thetas


def _read_regressor_forces(eqs: Equations, thetas: Sequence[Expression]) -> QuotientRingOutputs:
    """τ and θ as quotients of polynomials in parameters, velocities, cosines and sines."""
    entries = quantity_entry_names(eqs.names, list(eqs.parameters))
    ports = quantity_ports(eqs.names, "inverse_dynamics", list(eqs.parameters))
    forces = record_tape(eqs.function("inverse_dynamics"), *ports)
    tape = append_exact_formula_output(forces, thetas, entries, THETA_OUTPUT)
    used = frozenset[str]().union(*(names_in_expression(theta) for theta in thetas))
    literals = {name: value for name, value in eqs.literals.items() if name not in used}
    try:
        return evaluate_tape_in_quotient_field(
            tape,
            entries,
            literals,
            ExactPolynomialBudget(_MAX_FORMULA_LENGTH, inf),
            list(eqs.parameters),
        )
    except UnsupportedError as error:
        raise UnsupportedError(
            error.what,
            where=eqs.mechanism.name,
            remedy="leave out what is not linear: mechanism.without('friction')",
        ) from None


def _regressor_state_generators(printer: QuotientPrinter, eqs: Equations) -> list[int]:
    """The ring's generators that change with the state, unlike cosines and roots of parameters."""
    fixed = set(eqs.parameters)
    return [
        place
        for place, meaning in printer.generator_expressions.items()
        if not names_in_expression(meaning) <= fixed
    ]


def _long_regressor_error(eqs: Equations) -> UnsupportedError:
    """The error for forces with too many terms."""
    return UnsupportedError(
        f"the forces of {eqs.mechanism.name}, or the parameters, have more than "
        f"{_MAX_FORMULA_LENGTH} terms",
        remedy="use its base parameters, whose regressor needs no expansion",
    )


def _refuse_unidentifiable_parameters(printer: QuotientPrinter, used: frozenset[str]) -> None:
    """Raise an error if a named parameter occurs inside a function such as a root."""
    for meaning in printer.generator_expressions.values():
        if not isinstance(meaning, Name) and names_in_expression(meaning) & used:
            raise UnsupportedError(
                "the forces are not polynomials in the named parameters: "
                f"{expression_text(meaning)}",
                remedy="leave it out of them, so that it counts as known",
            )
