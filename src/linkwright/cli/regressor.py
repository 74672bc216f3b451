"""`linkwright base --parameters`: the regressor for named parameters, in closed form."""

from __future__ import annotations

from typing import Any

import casadi as ca

from ..algebra.exact.quotient_ring import Budget
from ..checking.difference import Numbers
from ..equations import Equations
from ..errors import LinkwrightError
from ..expressions import ZERO, Expression, fold, to_text
from ..forms import Source, form_of
from ..formulations import derive
from ..identify import NamedRegressor
from ..kinematics.values import CasadiAlgebra
from ..quantities import entry_names
from ..tape import Port


def print_regressor(found: NamedRegressor) -> None:
    """Rank, then column by column what is not zero in it, then what is redundant."""
    count = len(found.parameters)
    print(f"{found.mechanism.name}: tau = Y theta, {count} columns, rank {found.rank}")
    entries = _shorter(found)
    for j, (theta, value) in enumerate(zip(found.parameters, found.values, strict=True), 1):
        print(f"theta{j} = {theta} = {float(value):.10g}")
        for i in range(1, len(found.Y) + 1):
            entry = entries[f"Y[{i},{j}]"]
            if entry != ZERO:
                print(f"  Y[{i},{j}] = {to_text(entry)}")
    for theta, others in found.redundant.items():
        print(f"redundant: column {found.parameters.index(theta) + 1} is {found.sum_of(others)}")
    if found.known:
        print(f"taken as known: {', '.join(found.known)}")


def _shorter(found: NamedRegressor) -> dict[str, Expression]:
    """The entries as a book would have them, or as they are where that takes too long."""
    eqs = derive(found.mechanism)
    numbers = Numbers(eqs)
    scope = _symbols(eqs)
    algebra = CasadiAlgebra(numbers)

    def read(entry: Expression) -> Any:
        value = fold(entry, algebra, scope.__getitem__)
        return value if isinstance(value, ca.SX) else numbers(value)

    Y = ca.vertcat(*(ca.horzcat(*(read(entry) for entry in row)) for row in found.Y))
    made = Source("regressor", "Y", ((Port("Y", Y.shape), Y),))
    try:
        form = form_of(eqs, made, numbers.exact, Budget(20_000, 5.0))
        return form.written(groups=False).entries()
    except LinkwrightError:
        return {
            f"Y[{i},{j}]": entry
            for i, row in enumerate(found.Y, 1)
            for j, entry in enumerate(row, 1)
        }


def _symbols(eqs: Equations) -> dict[str, Any]:
    names = entry_names(eqs.names, list(eqs.parameters))
    return {
        name: symbol
        for key in ("q", "qd", "qdd", "p")
        for name, symbol in zip(names[key], ca.vertsplit(eqs.symbols[key]), strict=True)
    }
