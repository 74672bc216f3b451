"""Printed sets of equations as statements: mutated lines, and their truth in floating point.

The truth does not come from the checker: names have their values at a motion of the mechanism that
is computed with numeric functions, or by the printed lines themselves.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import linkwright as lw
from linkwright.checking.printed_sets import rewrite_printed_sets
from linkwright.checking.statement_reader import Statement, read_statements
from linkwright.expressions import (
    Expression,
    Name,
    Negation,
    Number,
    Power,
    Sum,
    expression_text,
    expression_to_float,
    names_in_expression,
    negate_expression,
)
from linkwright.expressions.tree import child_expressions, rebuild_expression
from linkwright.forms.equation_set_typesetting import typeset_equation_set
from linkwright.quantities import quantity_entry_names

Values = dict[str, float]
Sides = tuple[Expression, Expression]
_SOLVED_NAME = re.compile(r"dd\w+|[FM][xyz123]_\w+|T\d+|S_\w+")
"""Accelerations, reactions of joints, and tensions of springs over their lengths."""


def printed_text(mechanism: lw.Mechanism, by: str) -> str:
    """What `linkwright derive` prints."""
    eqs = lw.derive(mechanism, by=by)
    names = eqs.names
    free = len(names.independent) if names.constraints else names.nv
    count = f"{free} degree{'s' if free != 1 else ''} of freedom"
    return f"{mechanism.name}, {count}, by {by}\n{typeset_equation_set(eqs).text()}"


def printed_latex(mechanism: lw.Mechanism, by: str) -> str:
    """What `linkwright derive --as latex` prints."""
    return (
        f"% {mechanism.name}, by {by}\n{typeset_equation_set(lw.derive(mechanism, by=by)).latex()}"
    )


def printed_statements(mechanism: lw.Mechanism, text: str) -> tuple[str, list[Statement]]:
    """The heading and the equations of a printed set."""
    found = read_statements(rewrite_printed_sets(text), mechanism)
    assert all(isinstance(x, Statement) for x in found), found
    return found[0].section, [x for x in found if isinstance(x, Statement)]


# -- mutations ------------------------------------------------------------------------------------


def _places(expression: Expression) -> Iterator[Expression]:
    """All nodes of an expression."""
    yield expression
    for child in child_expressions(expression):
        yield from _places(child)


def _replace_once(root: Expression, old: Expression, new: Expression) -> Expression:
    """The expression with one node replaced, found by identity."""
    if root is old:
        return new
    return rebuild_expression(root, lambda child: _replace_once(child, old, new))


def _changed_signs(root: Expression) -> Iterator[Expression]:
    yield negate_expression(root)
    for node in _places(root):
        for term in node.terms if isinstance(node, Sum) else ():
            yield _replace_once(root, term, negate_expression(term))


def _dropped_terms(root: Expression) -> Iterator[Expression]:
    for node in _places(root):
        for k in range(len(node.terms)) if isinstance(node, Sum) else ():
            kept = node.terms[:k] + node.terms[k + 1 :]
            yield _replace_once(root, node, kept[0] if len(kept) == 1 else Sum(kept))


def _changed_indices(root: Expression, families: Sequence[Sequence[str]]) -> Iterator[Expression]:
    for node in _places(root):
        if isinstance(node, Name):
            for family in families:
                for other in family if node.name in family else ():
                    if other != node.name:
                        yield _replace_once(root, node, Name(other))


def name_families(names: Sequence[str]) -> list[list[str]]:
    """The names that differ by the number at their end: l1, l2."""
    found: dict[str, list[str]] = {}
    for name in names:
        stem = name.rstrip("0123456789")
        if stem != name:
            found.setdefault(stem, []).append(name)
    return [family for family in found.values() if len(family) > 1]


def mutated_sides(
    statement: Statement, families: Sequence[Sequence[str]], rng: random.Random
) -> Sides | None:
    """The equation with one sign, term or index changed on its right; None if nothing can be."""
    right = statement.right
    kinds = [
        list(_changed_signs(right)),
        list(_dropped_terms(right)),
        list(_changed_indices(right, families)),
    ]
    kinds = [kind for kind in kinds if kind]
    if expression_text(right) == "0" or not kinds:
        return None
    return statement.left, rng.choice(rng.choice(kinds))


# -- truth in floating point ----------------------------------------------------------------------


@dataclass(frozen=True)
class PrintedTruth:
    """Values of all names of a printed set at some motions."""

    states: tuple[Values, ...]

    def holds(self, sides: Sides) -> bool:
        """Whether an equation holds at all of the states."""
        return all(self._holds_at(sides, state) for state in self.states)

    def differs_by_constant(self, sides: Sides) -> bool:
        """Whether left − right is the same at all of the states, which have the same parameters."""
        apart = [expression_to_float(Sum((a, Negation(b))), x) for x in self.states for a, b in [sides]]  # fmt: skip
        return max(apart) - min(apart) < 1e-8 * max(1.0, *map(abs, apart))

    def residual(self, sides: Sides) -> float:
        """The largest residual, relative to the size of the sides."""
        return max(self._residual_at(sides, state) for state in self.states)

    def _holds_at(self, sides: Sides, state: Values) -> bool:
        # Newton's closing and elimination leave about 1e-12; a false line differs by far more.
        return self._residual_at(sides, state) < 1e-8

    @staticmethod
    def _residual_at(sides: Sides, state: Values) -> float:
        left, right = (expression_to_float(side, state) for side in sides)
        terms = [
            abs(expression_to_float(term, state))
            for side in sides
            for node in (side.operand if isinstance(side, Negation) else side,)
            for term in (node.terms if isinstance(node, Sum) else (node,))
        ]
        return abs(left - right) / max(1e-3, *terms)


def _closed_coordinates(eqs: lw.Equations, rng: np.random.Generator) -> np.ndarray:
    """Random coordinates; near home and closed by Newton's method where there are constraints."""
    names, at = eqs.names, eqs.names.time_arguments(0.0)
    if not names.constraints:
        return rng.uniform(0.3, 1.1, eqs.nq)

    def jacobian(q: np.ndarray) -> np.ndarray:
        return np.array(eqs.function("constraint_jacobian")(q, *at))[list(names.position_rows)]

    q = np.array(eqs.home) + rng.uniform(-0.15, 0.15, eqs.nq)
    if not names.position_row_count:
        return q
    rank = np.linalg.matrix_rank(jacobian(np.array(eqs.home)), tol=1e-6)
    for _ in range(50):
        residual = np.array(eqs.function("constraint_residual")(q, *at)).ravel()
        # Open redundant loops have a larger rank, by which they would close in a singular position.
        U, sizes, Vt = np.linalg.svd(jacobian(q), full_matrices=False)
        q = q - Vt[:rank].T @ (U[:, :rank].T @ residual / sizes[:rank])
    return q


def motion_values(mechanism: lw.Mechanism, seed: int) -> Values:
    """A motion of the mechanism by the names of its symbols."""
    eqs = lw.derive(mechanism, parameters="numeric")
    rng, names = np.random.default_rng(seed), eqs.names
    at = names.time_arguments(0.0 if names.constraints else 0.37)
    q, qd = _closed_coordinates(eqs, rng), rng.uniform(0.3, 1.0, eqs.nv)
    if names.constraints:
        G, k, _ = (np.array(x) for x in eqs.function("independent_map")(q, *at))
        qd = (G @ rng.uniform(0.3, 1, (G.shape[1], 1)) + k).ravel()
    found = {name: float(value) for name, value in lw.derive(mechanism).parameters.items()}
    found |= {"t": at[0] if at else 0.0}
    efforts = rng.uniform(-1, 1, len(names.actuators) or eqs.nv)
    tau = efforts
    if names.actuators:
        tau = np.array(eqs.function("input_matrix")(q, *at)) @ efforts
        found |= dict(zip(names.actuators, efforts.tolist(), strict=True))
    found |= {f"tau{k + 1}": float(x) for k, x in enumerate(efforts)}
    made = eqs.function("forward_dynamics")(q, qd, tau, *at)
    qdd = np.array(made[0] if isinstance(made, tuple) else made).ravel()
    columns = {"q": q, "qd": qd, "qdd": qdd, "tau": tau}
    if names.constraints:
        columns["lambda"] = np.array(eqs.function("multipliers")(q, qd, tau, *at)[0]).ravel()
        found |= {f"lambda{k + 1}": float(x) for k, x in enumerate(columns["lambda"])}
    entries = quantity_entry_names(names)
    for key, column in columns.items():
        found |= dict(zip(entries[key], np.ravel(column).tolist(), strict=True))
    return found


def free_values(mechanism: lw.Mechanism, seed: int) -> Values:
    """Parameters of their own size; coordinates, as all else, are free in approximate equations."""
    eqs, rng = lw.derive(mechanism), np.random.default_rng(seed)
    found = {name: float(value) for name, value in eqs.parameters.items()}
    return found | {name: float(rng.uniform(0.3, 1.1)) for name in eqs.names.q}


def printed_truth(
    mechanism: lw.Mechanism, by: str, statements: Sequence[Statement], states: int = 2
) -> PrintedTruth:
    """The values of all names of a printed set at random motions."""
    start = free_values if by == "approximate" else motion_values
    found = []
    for seed in range(1, states + 1):
        known = _values_by_lines(start(mechanism, seed), statements, seed)
        found.append(known)
    return PrintedTruth(tuple(found))


def _values_by_lines(known: Values, statements: Sequence[Statement], seed: int) -> Values:
    """The values of names that lines define, then of accelerations and reactions, in which all
    lines are linear; other names, such as unit vectors, are free."""
    rng = np.random.default_rng(100 + seed)
    lines = [(x.left, x.right) for x in statements]
    known = _defined_values(known, lines)
    every = set().union(*(names_in_expression(side) for pair in lines for side in pair))
    defined = {left.name for left, _ in lines if isinstance(left, Name)}
    solved = [x for x in sorted(every - known.keys()) if _SOLVED_NAME.fullmatch(x)]
    for name in sorted(every - known.keys() - defined - {*solved}):
        known[name] = float(rng.uniform(0.3, 1.1))
    known = _defined_values(known, lines)
    solved = [x for x in solved if x not in known]
    return _defined_values(known | _solved_values(known, lines, solved), lines)


def _defined_values(known: Values, lines: Sequence[Sides]) -> Values:
    """`known` with the names that are one side of a line, where the other is known."""
    known = dict(known)
    pairs = [pair for one in lines for pair in (one, one[::-1]) if isinstance(pair[0], Name)]
    pairs += [
        (one.base, Power(other, Number(Fraction(1, 2))))
        for one, other in lines
        if isinstance(one, Power) and isinstance(one.base, Name)  # L_rope^2 = …
    ]
    is_changed = True
    while is_changed:
        is_changed = False
        for side, other in pairs:
            assert isinstance(side, Name)
            if side.name not in known and names_in_expression(other) <= known.keys():
                known[side.name] = expression_to_float(other, known)
                is_changed = True
    return known


def _solved_values(known: Values, lines: Sequence[Sides], unknown: Sequence[str]) -> Values:
    """Unknowns in which the lines are linear, by least squares."""
    if not unknown:
        return {}
    wanted = known.keys() | {*unknown}
    own = [x for x in lines if names_in_expression(x[0]) | names_in_expression(x[1]) <= wanted]

    def residuals(x: Sequence[float]) -> np.ndarray:
        at = known | dict(zip(unknown, x, strict=True))
        return np.array([expression_to_float(a, at) - expression_to_float(b, at) for a, b in own])

    first = residuals([0.0] * len(unknown))
    A = np.array([residuals(row) - first for row in np.eye(len(unknown)).tolist()]).T
    x = np.linalg.lstsq(A, -first, rcond=None)[0]
    return dict(zip(unknown, x.tolist(), strict=True))


def numbered_text(heading: str, lines: Sequence[tuple[Statement, Sides]]) -> str:
    """The equations with their place as number; definitions as they are."""
    made = [f"[{heading}]"]
    for k, (statement, (left, right)) in enumerate(lines):
        sign = ":=" if statement.is_definition else "="
        made.append(f"({k + 1}) {expression_text(left)} {sign} {expression_text(right)}")
    return "\n".join(made)
