"""`linkwright base`: the base parameters, or the regressor for named parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ...errors import LinkwrightError
from ..command import register_command
from ..command_output import CommandOutcome
from ..options import NAME_LIST_CONVERSION, MechanismFile

if TYPE_CHECKING:
    from ...equations import Equations
    from ...expressions import Expression
    from ...identify import NamedRegressor
    from ...types import SX


@register_command("Equations")
def base(
    mechanism: MechanismFile,
    *,
    parameters: Annotated[
        list[str] | None, typer.Option(metavar="EXPRESSION,…"), NAME_LIST_CONVERSION
    ],
) -> CommandOutcome:
    """Find the base parameters: the fewest inertial numbers that the joint forces depend on.

    With --parameters, find the regressor for others, its rank, and which columns are redundant.

    Parameters
    ----------
    parameters
        Find the regressor Y for these instead, forces = Y*theta: expressions of the mechanism's
        parameters.

    Examples
    --------
    linkwright base puma560
    linkwright base elbow --parameters "m1*lc1^2 + m2*l1^2 + I1, m2*lc2^2 + I2, m2*l1*lc2"
    """
    from ... import identify

    if parameters is None:
        found = identify.base_parameters(mechanism)
        return CommandOutcome(found.to_dict(), lambda: print(found))
    regressor = identify.regressor_of(mechanism, parameters)
    return CommandOutcome(regressor.to_dict(), lambda: print_regressor_table(regressor))


def print_regressor_table(found: NamedRegressor) -> None:
    """Print the rank, the entries of each column that are not zero, and redundant columns."""
    from ...expressions import ZERO, expression_text

    count = len(found.parameters)
    print(f"{found.mechanism.name}: tau = Y theta, {count} columns, rank {found.rank}")
    entries = _printed_regressor_entries(found)
    for j, (theta, value) in enumerate(zip(found.parameters, found.values, strict=True), 1):
        print(f"theta{j} = {theta} = {float(value):.10g}")
        for i in range(1, len(found.Y) + 1):
            entry = entries[f"Y[{i},{j}]"]
            if entry != ZERO:
                print(f"  Y[{i},{j}] = {expression_text(entry)}")
    for theta, others in found.redundant.items():
        column = found.parameters.index(theta) + 1
        print(f"redundant: column {column} is {found.column_sum_text(others)}")
    if found.known:
        print(f"taken as known: {', '.join(found.known)}")


def _printed_regressor_entries(found: NamedRegressor) -> dict[str, Expression]:
    """Return the entries in closed form, or as they are if that takes too long."""
    import casadi as ca

    from ...algebra.casadi_algebra import CasadiAlgebra
    from ...algebra.exact.polynomial_budget import ExactPolynomialBudget
    from ...checking.difference import StatementNumberSymbols
    from ...expressions import fold_expression
    from ...forms import FormSource, make_closed_form
    from ...formulations import derive
    from ...ports import Port

    eqs = derive(found.mechanism)
    numbers = StatementNumberSymbols(eqs)
    scope = _printed_regressor_symbols(eqs)
    algebra = CasadiAlgebra(numbers)

    def read(entry: Expression) -> SX:
        value = fold_expression(entry, algebra, scope.__getitem__)
        return value if isinstance(value, ca.SX) else numbers(value)

    Y = ca.vertcat(*(ca.horzcat(*(read(entry) for entry in row)) for row in found.Y))
    made = FormSource("regressor", "Y", ((Port("Y", Y.shape), Y),))
    try:
        form = make_closed_form(eqs, made, numbers.exact_values, ExactPolynomialBudget(20_000, 5.0))
        return form.collect_terms(groups=False).entries_by_name()
    except LinkwrightError:
        return {
            f"Y[{i},{j}]": entry
            for i, row in enumerate(found.Y, 1)
            for j, entry in enumerate(row, 1)
        }


def _printed_regressor_symbols(eqs: Equations) -> dict[str, SX]:
    """Return the symbols of coordinates, their rates and parameters by name."""
    import casadi as ca

    from ...quantities import quantity_entry_names

    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    return {
        name: symbol
        for key in ("q", "qd", "qdd", "p")
        for name, symbol in zip(names[key], ca.vertsplit(eqs.symbols[key]), strict=True)
    }
