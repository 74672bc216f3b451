"""Closed loops at random points by computed angles, for legs that share their lengths.

The angles must follow from the others on the mechanism's own branch: the columns of the constraint
Jacobian that belong to them have its full rank where the mechanism is assembled. Then the others
and the lengths are free on that branch, and random ones reach all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..algebra.exact.closing_angles import (
    STEP_DEGREE,
    ClosingStep,
    close_with_angles,
    plan_closing_steps,
    residual_is_bilinear,
)
from ..algebra.exact.modular_arithmetic import BadPointError, ModularCirclePoint
from ..algebra.exact.prime_field import PrimeField
from ..algebra.exact.residues import Residue, combine_residue_marks
from ..algebra.exact.tape_algebra import evaluate_tape_in_algebra
from ..errors import UnsupportedError
from .vocabulary import CheckerVocabulary

RANK_SHARE = 1e-8


class AngleClosing:
    """The order in which angles of one mechanism are computed from its loops."""

    def __init__(self, vocabulary: CheckerVocabulary) -> None:
        self.vocabulary = vocabulary
        self.places = {name: i for i, name in enumerate(vocabulary.names.q)}
        self.steps: list[ClosingStep] = []

    def find_steps(self, field: PrimeField, found: dict[str, list[Residue]]) -> bool:
        """Find steps with one or two angles each; False if there are none."""
        eqs, own = self.vocabulary.eqs, self.vocabulary.names
        if not eqs.rate_matrix.is_eye() or not eqs.home:
            return False
        function = eqs.function("constraint_jacobian")
        given = {"q": eqs.home, "t": 0.0, "p": [float(x) for x in eqs.parameters.values()]}
        J = np.array(function(*(given[key] for key in function.name_in())), dtype=float)
        J = J[list(own.position_rows)]

        def rank(columns: Sequence[int]) -> int:
            return int(np.linalg.matrix_rank(J[:, columns], tol=RANK_SHARE * np.abs(J).max()))

        count = rank(range(own.nv))
        rows_of = {
            name: rows for name in own.q if (rows := self._rows_with_angle(field, found, name))
        }
        steps = plan_closing_steps(
            list(rows_of),
            rows_of,
            count,
            lambda chosen: rank([self.places[x] for x in chosen]) == count,
        )
        self.steps = steps or []
        return bool(steps) and all(
            residual_is_bilinear(step, lambda points: self._residual(field, found, points))
            for step in self.steps
        )

    def close(self, field: PrimeField, found: dict[str, list[Residue]]) -> None:
        """Give the angles the points that close the loops."""
        names = [name for step in self.steps for name in step.angles]
        atoms = {name: found["q"][self.places[name]].number for name in names}
        if any(field.angle_parts.get(atom, 1) != 1 for atom in atoms.values()):
            raise UnsupportedError("shares of angles that are computed from loops")
        start = self._evaluate_residual(field, found)
        points, roots = close_with_angles(
            field, self.steps, lambda points: self._residual(field, found, points)
        )
        degree = max(x.numerator_degree + x.denominator_degree for x in start)
        field.symbol_degree *= (STEP_DEGREE * degree) ** len(self.steps)
        marks = combine_residue_marks(*start, *roots)
        found["q"] = list(found["q"])
        for name, point in points.items():
            field.random_point.circle_points[atoms[name]] = point
            found["q"][self.places[name]] = replace(found["q"][self.places[name]], marks=marks)

    def _rows_with_angle(
        self, field: PrimeField, found: dict[str, list[Residue]], name: str
    ) -> frozenset[int]:
        """The rows of the residual that contain an angle; none if it also occurs as a number."""
        i = self.places[name]
        q = found["q"][i]
        changed = [*found["q"][:i], replace(q, number=q.number + 1), *found["q"][i + 1 :]]
        before = self._residual(field, found, {})
        if q.angle_atoms is None or before != self._residual(field, {**found, "q": changed}, {}):
            return frozenset()
        after = self._residual(field, found, {name: (2, 3)})
        return frozenset(k for k, (x, y) in enumerate(zip(before, after, strict=True)) if x != y)

    def _residual(
        self,
        field: PrimeField,
        found: dict[str, list[Residue]],
        points: dict[str, ModularCirclePoint],
    ) -> list[int]:
        """The residual with points in the place of those of angles."""
        own = field.random_point.circle_points
        before = dict(own)
        own |= {found["q"][self.places[name]].number: point for name, point in points.items()}
        try:
            values = self._evaluate_residual(field, found)
        finally:
            field.random_point.circle_points = before
        if any(x.marks is not None and x.marks.failure_reason for x in values):
            raise BadPointError("loops without a value")
        return [x.number for x in values]

    def _evaluate_residual(
        self, field: PrimeField, found: dict[str, list[Residue]]
    ) -> list[Residue]:
        tape = self.vocabulary.quantity_tape("constraint_residual")
        return evaluate_tape_in_algebra(tape, field, [found[port.name] for port in tape.inputs])[0]
