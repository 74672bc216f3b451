"""Sets of equations as linear systems: lines are evaluated as they stand, printed or as CasADi's
expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import casadi as ca
import numpy as np

from linkwright.equations import Equations
from linkwright.expressions import Expression, expression_to_float, names_in_expression
from linkwright.forms.equation_set_typesetting import TypesetEquationSet
from linkwright.quantities import quantity_entry_names
from linkwright.written_equations import EquationSet

Values = dict[str, float]


@dataclass(frozen=True)
class Line:
    """An equation; `defined` is the name on its left, `squared` if that is the name's square."""

    left: Callable[[Values], float]
    right: Callable[[Values], float]
    left_names: frozenset[str]
    right_names: frozenset[str]
    defined: str = ""
    is_squared: bool = False
    is_step: bool = False


def named_values(eqs: Equations, **values: np.ndarray) -> Values:
    """Parameters and the entries of q, qd, tau, t by the names that are printed."""
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    found = {name: float(value) for name, value in eqs.parameters.items()}
    for key, column in values.items():
        found |= dict(zip(names[key], np.ravel(column).tolist(), strict=True))
    return found


def printed_lines(found: TypesetEquationSet) -> list[list[Line]]:
    """The lines of each section as the text has them."""

    def side(x: str | Expression) -> tuple[Callable[[Values], float], frozenset[str]]:
        if isinstance(x, str):
            return (lambda at: at[x]), frozenset([x])
        return (lambda at: expression_to_float(x, at)), frozenset(names_in_expression(x))

    return [
        [
            make_line(side(line.left), side(line.right), line.left, k < len(section.steps))
            for k, line in enumerate((*section.steps, *section.lines))
        ]
        for section in found.sections
    ]


def source_lines(found: EquationSet) -> list[list[Line]]:
    """The lines of each section before they are typeset."""

    def side(x: str | ca.SX) -> tuple[Callable[[Values], float], frozenset[str]]:
        if isinstance(x, str):
            return (lambda at: at[x]), frozenset([x])
        symbols = ca.symvar(ca.SX(x))
        names, function = [s.name() for s in symbols], ca.Function("f", [ca.vertcat(*symbols)], [x])
        return (lambda at: float(function([at[n] for n in names]))), frozenset(names)

    return [
        [make_line(side(line.left), side(line.right), line.left, False) for line in section.lines]
        for section in found.sections
    ]


def make_line(left: tuple, right: tuple, given: object, is_step: bool) -> Line:
    """A line from the functions and names of its sides."""
    names, defined = left[1], given if isinstance(given, str) else ""
    squared = not defined and len(names) == 1 and next(iter(names)).startswith("L_")
    defined = next(iter(names)) if squared else defined
    return Line(left[0], right[0], names, right[1], defined, squared, is_step)


def solve_lines(sections: Iterable[list[Line]], known: Values) -> tuple[Values, float]:
    """The unknowns of all lines by least squares, and the largest residual.

    Steps are known in their own section. A line whose right side is known defines its left side.
    """
    known, pending = dict(known), []
    for lines in sections:
        steps: Values = {}
        waiting = []
        for line in lines:
            scope = known | steps
            if line.defined and line.right_names <= scope.keys():
                value = line.right(scope)
                own = steps if line.is_step else known
                own[line.defined] = float(np.sqrt(value)) if line.is_squared else value
            else:
                waiting.append(line)
        pending.append((steps, waiting, {line.defined for line in lines if line.is_step}))
    order = sorted(
        {
            name
            for _, lines, own in pending
            for line in lines
            for name in line.left_names | line.right_names
            if name not in known and name not in own
        }
    )

    def residuals(x: np.ndarray) -> np.ndarray:
        values, found = known | dict(zip(order, x.tolist(), strict=True)), []
        for steps, lines, _ in pending:
            at = values | steps
            for line in lines:
                if line.is_step:
                    at[line.defined] = line.right(at)
                else:
                    found.append(line.left(at) - line.right(at))
        return np.array(found)

    start = residuals(np.zeros(len(order)))
    A = np.array([residuals(e) - start for e in np.eye(len(order))]).T
    scaled = A / np.maximum(np.abs(A).max(axis=0), 1e-300)
    assert np.linalg.matrix_rank(scaled, tol=1e-10) == len(order), order
    x = np.linalg.lstsq(A, -start, rcond=None)[0]
    return dict(zip(order, x.tolist(), strict=True)), float(np.abs(A @ x + start).max())
