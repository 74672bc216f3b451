"""Printed sets of equations as linear systems: lines are evaluated as they stand in the text."""

from __future__ import annotations

import numpy as np

from linkwright.equations import Equations
from linkwright.expressions import expression_to_float, names_in_expression
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
    """The unknowns of all printed lines by least squares, and the largest residual.

    Steps are known in their own section. A line whose right side is known defines its left side,
    and L_… if that is its square.
    """
    known, pending = dict(known), []
    for section in eqs.equation_set().sections:
        steps: dict[str, float] = {}
        waiting: list[TypesetLine] = []
        for line in (*section.steps, *section.lines):
            names, scope = {*names_in_expression(line.right)}, {**known, **steps}
            name = _defined_name(line)
            if not (name and names <= scope.keys()):
                waiting.append(line)
                continue
            value = expression_to_float(line.right, scope)
            (steps if line in section.steps else known)[name] = (
                value if isinstance(line.left, str) else np.sqrt(value)
            )
        pending.append((steps, waiting, {line.left for line in section.steps}))
    unknown = {
        name
        for steps, lines, own in pending
        for line in lines
        for name in (*names_in_expression(line.right), *_left_names(line))
        if name not in known and name not in own
    }
    order = sorted(unknown)

    def residuals(x: np.ndarray) -> np.ndarray:
        values, found = known | dict(zip(order, x.tolist(), strict=True)), []
        for steps, lines, own in pending:
            at = values | steps
            for line in lines:
                right = expression_to_float(line.right, at)
                if isinstance(line.left, str) and line.left in own:
                    at[line.left] = right
                elif isinstance(line.left, str):
                    found.append(at[line.left] - right)
                else:
                    found.append(expression_to_float(line.left, at) - right)
        return np.array(found)

    start = residuals(np.zeros(len(order)))
    A = np.array([residuals(e) - start for e in np.eye(len(order))]).T
    scaled = A / np.maximum(np.abs(A).max(axis=0), 1e-300)
    assert np.linalg.matrix_rank(scaled, tol=1e-10) == len(order), order
    x = np.linalg.lstsq(A, -start, rcond=None)[0]
    return dict(zip(order, x, strict=True)), float(np.abs(A @ x + start).max())


def _left_names(line: TypesetLine) -> tuple[str, ...]:
    """The names on the left side of a line."""
    return (line.left,) if isinstance(line.left, str) else tuple(names_in_expression(line.left))


def _defined_name(line: TypesetLine) -> str:
    """The name that a line defines: its left side, or L_… where that is the square of it."""
    if isinstance(line.left, str):
        return line.left
    names = _left_names(line)
    return names[0] if len(names) == 1 and names[0].startswith("L_") else ""
