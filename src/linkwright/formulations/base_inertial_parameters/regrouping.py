"""Inertia that joint forces cannot distinguish from inertia on the parent, in closed form.

Gautier and Khalil's rule for all kinds of joints: inertia that a link's own motion neither changes
nor does work on can be moved to the parent. For a rotation about z this is the mass, the first
moment along z and a disk XX = YY; for a slide the whole tensor; for a ball joint the mass. Each
gives a combination of the regressor's columns that vanishes:

    (the part on the link) − (the same part, seen from the parent) = 0,

with the parameters of both in their bodies' own frames.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from ...algebra.exact.elimination import eliminate_pivot_column
from ...algebra.linear_algebra import ZERO3, Array
from ...algebra.spatial import SpatialInertia
from ...kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ...tape import Op, Tape, record_tape
from .absolute_values import resolve_base_parameter_signs
from .base_parameter_factors import BaseParameterAlgebra, BaseParameterFactor

TENSOR_ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""XX, XY, YY, XZ, YZ, ZZ: the order of a regressor's columns after mass and first moments."""

PARAMETER_LETTERS = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")
"""Khalil's letters for the parameters about a body's origin."""

_GROUPED_LETTERS = ("M", "MZ", "MY", "MX", "YY", "ZZ", "XX", "XY", "XZ", "YZ")
_GROUPING_ORDER = tuple(PARAMETER_LETTERS.index(letter) for letter in _GROUPED_LETTERS)
"""The order in which a body's parameters are grouped into others rather than kept."""


BaseParameterRelation = dict[int, BaseParameterFactor]
"""The coefficients of a vanishing combination of the regressor's columns, by column."""


def base_parameters_from_inertia(inertia: SpatialInertia) -> Array:
    """The ten inertial parameters of a spatial inertia, in the order of a regressor's columns."""
    h, tensor = ca.SX(inertia.h), ca.SX(inertia.I)
    return ca.vertcat(inertia.m, h, *(tensor[i, j] for i, j in TENSOR_ENTRIES))


def inertia_from_base_parameters(parameters: Array) -> SpatialInertia:
    """The spatial inertia with the ten given inertial parameters."""
    tensor = ca.SX.zeros(3, 3)
    for k, (i, j) in enumerate(TENSOR_ENTRIES):
        tensor[i, j] = tensor[j, i] = parameters[4 + k]
    return SpatialInertia(parameters[0], parameters[1:4], tensor)


def groupable_base_inertias(link: TreeLink) -> list[SpatialInertia]:
    """A basis of the inertias that a link's joint motion neither changes nor does work on."""

    def unit_tensor(*places: tuple[int, int]) -> SpatialInertia:
        I = np.zeros((3, 3))  # noqa: E741
        for i, j in places:
            I[i, j] = I[j, i] = 1.0
        return SpatialInertia(0.0, ZERO3, I)

    mass = SpatialInertia(1.0, ZERO3, np.zeros((3, 3)))
    disk = unit_tensor((0, 0), (1, 1))
    along = SpatialInertia(0.0, np.array([0.0, 0.0, 1.0]), np.zeros((3, 3)))
    if not link.kind.has_rotation:
        return [unit_tensor(place) for place in TENSOR_ENTRIES]
    basis = [(link.kind.keeps_mass, mass), (link.kind.keeps_axial_moment, along)]
    return [one for kept, one in (*basis, (link.kind.turns_about_axis, disk)) if kept]


def group_base_inertia_on_parent(link: TreeLink, part: SpatialInertia) -> SpatialInertia:
    """An invariant part of a link's inertia, about the parent's origin in the parent's axes."""
    shift = link.shift if link.kind.has_rotation else 0.0
    raised = part.shift_origin(ca.vertcat(0.0, 0.0, shift)) if shift != 0.0 else part
    return raised.rotate(link.R).shift_origin(link.p)


def base_parameter_relations(
    tree: KinematicTree, tracer: BaseParameterAlgebra
) -> list[BaseParameterRelation]:
    """The combinations of columns that vanish by the rule, with the parameters of every body in its
    link's frame, each solved for one column."""
    pairs = []
    for link in tree.links:
        for part in groupable_base_inertias(link):
            seen = ca.SX.zeros(10)
            if link.parent != GROUND:
                seen = base_parameters_from_inertia(group_base_inertia_on_parent(link, part))
            pairs.append(ca.vertcat(base_parameters_from_inertia(part), seen))
    entries = trace_base_parameter_factors(tree, tracer, pairs)
    rows = []
    for index, link in enumerate(tree.links):
        for _ in groupable_base_inertias(link):
            own, there = entries[:10], entries[10:20]
            del entries[:20]
            row = _link_base_relation(own, index)
            row |= {k: tracer.negate(x) for k, x in _link_base_relation(there, link.parent).items()}
            rows.append(row)
    return _number_base_parameters_by_bodies(tracer, tree, rows)


def trace_base_parameter_factors(
    tree: KinematicTree, tracer: BaseParameterAlgebra, columns: list[Array]
) -> list[BaseParameterFactor]:
    """The entries of columns of constants, one column after the other."""
    return tracer.trace_tape(record_base_parameter_constants(tree, columns)) if columns else []


def record_base_parameter_constants(tree: KinematicTree, columns: list[Array]) -> Tape:
    """The tape of columns of expressions that depend only on the parameters."""
    p = ca.vertcat(*tree.symbols.values()) if tree.symbols else ca.SX.zeros(0)
    whole = ca.densify(ca.cse(ca.vertcat(*columns)))
    tape = record_tape(ca.Function("constants", [p], [whole], ["p"], ["c"]))
    return resolve_base_parameter_signs(tape, [float(x) for x in tree.symbol_values.values()])


def record_base_parameter_placements(tree: KinematicTree) -> Tape:
    """The tape of all constant rotations: of links, and of bodies in links."""
    turns = [link.R for link in tree.links]
    turns += [tree.bodies[name].R for name in tree.names.bodies]
    return record_base_parameter_constants(tree, [ca.vec(ca.SX(R)) for R in turns])


def base_relations_in_body_frames(
    tree: KinematicTree, tracer: BaseParameterAlgebra, rows: list[BaseParameterRelation]
) -> list[BaseParameterRelation]:
    """The same combinations, with the parameters of every body in its own frame."""
    columns = []
    for place in (tree.bodies[name] for name in tree.names.bodies):
        for k in range(10):
            unit = inertia_from_base_parameters(ca.SX.eye(10)[:, k])
            columns.append(
                base_parameters_from_inertia(unit.transform(place.R.T, -(place.R.T @ place.p)))
            )
    entries = trace_base_parameter_factors(tree, tracer, columns)
    moved = []
    for row in rows:
        total: BaseParameterRelation = {}
        for column, factor in row.items():
            for k, entry in enumerate(entries[10 * column : 10 * column + 10]):
                if not entry.is_zero:
                    there = 10 * (column // 10) + k
                    share = tracer.apply(Op.MUL, [factor, entry])
                    total[there] = tracer.apply(Op.ADD, [total.get(there, tracer.zero), share])
        moved.append({c: x for c, x in total.items() if not x.is_zero})
    return solve_base_parameter_relations(tracer, moved)


def _link_base_relation(entries: list[BaseParameterFactor], link: int) -> BaseParameterRelation:
    """The nonzero entries of ten parameters of a link, by column."""
    return {10 * link + k: entry for k, entry in enumerate(entries) if not entry.is_zero}


def _number_base_parameters_by_bodies(
    tracer: BaseParameterAlgebra, tree: KinematicTree, rows: list[BaseParameterRelation]
) -> list[BaseParameterRelation]:
    """Relations between columns numbered by bodies, combined so that the links inside joints, which
    have no parameters, drop out."""
    bodies = [tree.bodies[name].link for name in tree.names.bodies]
    for link in reversed(range(len(tree.links))):
        if link not in bodies:
            for column in range(10 * link, 10 * link + 10):
                user = next((row for row in rows if column in row), None)
                if user is not None:
                    eliminate_pivot_column(tracer, rows, user, column)
                    rows = [row for row in rows if row is not user]
    number = {link: 10 * k for k, link in enumerate(bodies)}
    renamed = [{number[c // 10] + c % 10: x for c, x in row.items()} for row in rows]
    return solve_base_parameter_relations(tracer, renamed)


def solve_base_parameter_relations(
    tracer: BaseParameterAlgebra, rows: list[BaseParameterRelation]
) -> list[BaseParameterRelation]:
    """The relations, each solved for the parameter that it gives up, those of outer bodies
    first."""
    rows = [row for row in rows if row]
    done: list[BaseParameterRelation] = []
    while rows:
        row = max(rows, key=lambda r: max(r) // 10)
        column = _choose_base_parameter_to_group(row)
        eliminate_pivot_column(tracer, rows + done, row, column)
        rows = [other for other in rows if other and other is not row]
        done.append(row)
    return [_put_base_parameter_first(row, _base_parameter_given_up(row, done)) for row in done]


def base_parameters_by_preference(width: int) -> list[int]:
    """All columns, bodies near ground first, and for each body the columns that are kept rather
    than grouped first."""
    order = _GROUPING_ORDER[::-1]
    return [10 * body + k for body in range(width // 10) for k in order]


def _base_parameter_given_up(
    row: BaseParameterRelation, rows: Iterable[BaseParameterRelation]
) -> int:
    """The column with coefficient 1 that occurs in this relation only."""
    others = {column for other in rows if other is not row for column in other}
    one = [c for c, x in row.items() if c not in others and x.is_one]
    return max(one, key=lambda c: (c // 10, -_GROUPING_ORDER.index(c % 10)))


def _put_base_parameter_first(row: BaseParameterRelation, column: int) -> BaseParameterRelation:
    """The relation with one column first, the others in order."""
    return {column: row[column]} | {c: x for c, x in sorted(row.items()) if c != column}


def _choose_base_parameter_to_group(row: BaseParameterRelation) -> int:
    """The column to eliminate: of the outermost body, with a number as its coefficient if there is
    one."""
    body = max(row) // 10
    own = [c for c in row if c // 10 == body]
    return min(own, key=lambda c: (not row[c].is_constant, _GROUPING_ORDER.index(c % 10)))
