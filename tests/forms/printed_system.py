"""Printed sets of equations as linear systems: lines are evaluated as they stand in the text."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from linkwright.equations import Equations
from linkwright.expressions import Expression, expression_to_float, names_in_expression
from linkwright.forms.equation_set_typesetting import TypesetLine
from linkwright.quantities import quantity_entry_names


def named_values(eqs: Equations, **values: np.ndarray) -> dict[str, float]:
    """Parameters and the entries of q, qd, tau, t by the names that are printed."""
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    found = {name: float(value) for name, value in eqs.parameters.items()}
    for key, column in values.items():
        found |= dict(zip(names[key], np.ravel(column).tolist(), strict=True))
    return found


def solve_printed_system(eqs: Equations, known: dict[str, float]) -> tuple[dict[str, float], float]:
    """The unknowns of all printed lines by least squares, and the largest residual; lines whose
    right side is known define their left side."""
    known, pending = dict(known), []
    for section in eqs.equation_set().sections:
        steps = {line.left for line in section.steps}
        for line in (*section.steps, *section.lines):
            if {*names_in_expression(line.right)} <= known.keys() and _defined_name(line, known):
                power = 1 if isinstance(line.left, str) else 2  # L^2 = … defines a length
                value = expression_to_float(line.right, known)
                known[_defined_name(line, known)] = value ** (1 / power)
            else:
                pending.append((line, isinstance(line.left, str) and line.left in steps))
    unknown = sorted(
        {
            name
            for line, _ in pending
            for name in (*names_in_expression(line.right), *_left_names(line))
        }
        - known.keys()
        - {line.left for line, is_step in pending if is_step}
    )

    def residuals(x: np.ndarray) -> np.ndarray:
        at, found = known | dict(zip(unknown, x.tolist(), strict=True)), []
        for line, is_step in pending:
            right = expression_to_float(line.right, at)
            if is_step:
                at[line.left] = right
            else:
                left = at[line.left] if isinstance(line.left, str) else _value(line.left, at)
                found.append(left - right)
        return np.array(found)

    start = residuals(np.zeros(len(unknown)))
    A = np.array([residuals(e) - start for e in np.eye(len(unknown))]).T
    assert np.linalg.matrix_rank(A, tol=1e-10 * np.abs(A).max()) == len(unknown), unknown
    x = np.linalg.lstsq(A, -start, rcond=None)[0]
    return dict(zip(unknown, x, strict=True)), float(np.abs(A @ x + start).max())


def _value(expression: Expression, at: dict[str, float]) -> float:
    return expression_to_float(expression, at)


def _left_names(line: TypesetLine) -> tuple[str, ...]:
    return (line.left,) if isinstance(line.left, str) else tuple(names_in_expression(line.left))


def _defined_name(line: TypesetLine, known: dict[str, float]) -> str:
    """The name that a line defines: its left side, or L where that is L^2."""
    left = _left_names(line)
    if isinstance(line.left, str):
        return line.left
    return left[0] if len(left) == 1 and left[0].startswith("L_") else ""


__all__ = ["lw", "named_values", "solve_printed_system"]
