"""Inertia that no joint's force tells from inertia on the parent, in closed form.

One rule, Gautier and Khalil's for all kinds of joints: what a link's own motion leaves as it is,
and without work, may as well sit on the parent. For a turn about z these are the mass, the first
moment along z, and a disk XX = YY; for a slide the whole tensor; for a ball joint the mass. Each
is a combination of the regressor's columns that vanishes:

    (the part on the link) − (the same part, seen from the parent) = 0,

with the parameters of both in their bodies' own frames.
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca
import numpy as np

from ...algebra.exact.elimination import eliminate_column
from ...algebra.linear import ZERO3, Array
from ...algebra.spatial import Inertia
from ...kinematics.tree import GROUND, Link, Tree
from ...tape import Op, Tape, record
from .signs import without_absolute_values
from .traced import Traced, Tracer

ENTRIES = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
"""XX, XY, YY, XZ, YZ, ZZ: the order of a regressor's columns after mass and first moments."""

LETTERS = ("M", "MX", "MY", "MZ", "XX", "XY", "YY", "XZ", "YZ", "ZZ")
"""Khalil's letters for the parameters about a body's origin."""

_GIVEN_UP_FIRST = tuple(LETTERS.index(x) for x in
    ("M", "MZ", "MY", "MX", "YY", "ZZ", "XX", "XY", "XZ", "YZ"))  # fmt: skip
"""Which of a body's parameters is rather grouped into others than kept."""


Row = dict[int, Traced]
"""A combination of columns, by their places."""


def parameters_of(inertia: Inertia) -> Array:
    """The ten numbers of an inertia, in the order of a regressor's columns."""
    h, tensor = ca.SX(inertia.h), ca.SX(inertia.I)
    return ca.vertcat(inertia.m, h, *(tensor[i, j] for i, j in ENTRIES))


def inertia_of(parameters: Array) -> Inertia:
    """The inertia of ten numbers."""
    tensor = ca.SX.zeros(3, 3)
    for k, (i, j) in enumerate(ENTRIES):
        tensor[i, j] = tensor[j, i] = parameters[4 + k]
    return Inertia(parameters[0], parameters[1:4], tensor)


def unmoved(link: Link) -> list[Inertia]:
    """A basis of the inertia that a link's motion leaves as it is, and without work."""

    def tensor(*places: tuple[int, int]) -> Inertia:
        I = np.zeros((3, 3))  # noqa: E741
        for i, j in places:
            I[i, j] = I[j, i] = 1.0
        return Inertia(0.0, ZERO3, I)

    mass = Inertia(1.0, ZERO3, np.zeros((3, 3)))
    disk = tensor((0, 0), (1, 1))
    along = Inertia(0.0, np.array([0.0, 0.0, 1.0]), np.zeros((3, 3)))
    if not link.kind.turns:
        return [tensor(place) for place in ENTRIES]
    basis = [(link.kind.keeps_mass, mass), (link.kind.keeps_axial_moment, along)]
    return [one for kept, one in (*basis, (link.kind.turns_about_axis, disk)) if kept]


def seen_from_parent(link: Link, part: Inertia) -> Inertia:
    """An unmoved part, about the parent's origin and in its axes."""
    shift = link.shift if link.kind.turns else 0.0
    raised = part.shifted(ca.vertcat(0.0, 0.0, shift)) if shift != 0.0 else part
    return raised.rotated(link.R).shifted(link.p)


def vanishing_rows(tree: Tree, tracer: Tracer) -> list[Row]:
    """The combinations of columns that vanish by the rule, with the parameters of every body in
    its link's frame, solved for one column each."""
    pairs = []
    for link in tree.links:
        for part in unmoved(link):
            seen = ca.SX.zeros(10)
            if link.parent != GROUND:
                seen = parameters_of(seen_from_parent(link, part))
            pairs.append(ca.vertcat(parameters_of(part), seen))
    entries = traced_entries(tree, tracer, pairs)
    rows = []
    for index, link in enumerate(tree.links):
        for _ in unmoved(link):
            own, there = entries[:10], entries[10:20]
            del entries[:20]
            row = _row(own, index)
            row |= {k: tracer.negate(x) for k, x in _row(there, link.parent).items()}
            rows.append(row)
    return _of_bodies(tracer, tree, rows)


def traced_entries(tree: Tree, tracer: Tracer, columns: list[Array]) -> list[Traced]:
    """The entries of columns of constants, one below the other."""
    return tracer.read(constants_tape(tree, columns)) if columns else []


def constants_tape(tree: Tree, columns: list[Array]) -> Tape:
    p = ca.vertcat(*tree.symbols.values()) if tree.symbols else ca.SX.zeros(0)
    whole = ca.densify(ca.cse(ca.vertcat(*columns)))
    tape = record(ca.Function("constants", [p], [whole], ["p"], ["c"]))
    return without_absolute_values(tape, [float(x) for x in tree.symbol_values.values()])


def geometry(tree: Tree) -> Tape:
    """All constant placements, of links and of bodies in them."""
    turns = [link.R for link in tree.links]
    turns += [tree.bodies[name].R for name in tree.names.bodies]
    return constants_tape(tree, [ca.vec(ca.SX(R)) for R in turns])


def in_bodies(tree: Tree, tracer: Tracer, rows: list[Row]) -> list[Row]:
    """The same combinations, with the parameters of every body in its own frame."""
    columns = []
    for place in (tree.bodies[name] for name in tree.names.bodies):
        for k in range(10):
            unit = inertia_of(ca.SX.eye(10)[:, k])
            columns.append(parameters_of(unit.moved(place.R.T, -(place.R.T @ place.p))))
    entries = traced_entries(tree, tracer, columns)
    moved = []
    for row in rows:
        total: Row = {}
        for column, factor in row.items():
            for k, entry in enumerate(entries[10 * column : 10 * column + 10]):
                if not entry.is_zero:
                    there = 10 * (column // 10) + k
                    share = tracer.apply(Op.MUL, [factor, entry])
                    total[there] = tracer.apply(Op.ADD, [total.get(there, tracer.zero), share])
        moved.append({c: x for c, x in total.items() if not x.is_zero})
    return solved(tracer, moved)


def _row(entries: list[Traced], link: int) -> Row:
    return {10 * link + k: entry for k, entry in enumerate(entries) if not entry.is_zero}


def _of_bodies(tracer: Tracer, tree: Tree, rows: list[Row]) -> list[Row]:
    """Links between the motions of one joint have no parameters: rows are combined so that these
    drop out. Then columns are numbered by bodies."""
    bodies = [tree.bodies[name].link for name in tree.names.bodies]
    for link in reversed(range(len(tree.links))):
        if link not in bodies:
            for column in range(10 * link, 10 * link + 10):
                user = next((row for row in rows if column in row), None)
                if user is not None:
                    eliminate_column(tracer, rows, user, column)
                    rows = [row for row in rows if row is not user]
    number = {link: 10 * k for k, link in enumerate(bodies)}
    renamed = [{number[c // 10] + c % 10: x for c, x in row.items()} for row in rows]
    return solved(tracer, renamed)


def solved(tracer: Tracer, rows: list[Row]) -> list[Row]:
    """Rows solved for the parameters to give up, those of the outer bodies first."""
    rows = [row for row in rows if row]
    done: list[Row] = []
    while rows:
        row = max(rows, key=lambda r: max(r) // 10)
        column = _to_give_up(row)
        eliminate_column(tracer, rows + done, row, column)
        rows = [other for other in rows if other and other is not row]
        done.append(row)
    return [_first(row, _own(row, done)) for row in done]


def kept_first(width: int) -> list[int]:
    """All columns: of bodies near ground first, and of each those that are rather kept."""
    order = _GIVEN_UP_FIRST[::-1]
    return [10 * body + k for body in range(width // 10) for k in order]


def _own(row: Row, rows: Iterable[Row]) -> int:
    others = {column for other in rows if other is not row for column in other}
    one = [c for c, x in row.items() if c not in others and x.is_one]
    return max(one, key=lambda c: (c // 10, -_GIVEN_UP_FIRST.index(c % 10)))


def _first(row: Row, column: int) -> Row:
    return {column: row[column]} | {c: x for c, x in sorted(row.items()) if c != column}


def _to_give_up(row: Row) -> int:
    """A column of the outermost body, with a number as its coefficient if there is one."""
    body = max(row) // 10
    own = [c for c in row if c // 10 == body]
    return min(own, key=lambda c: (not row[c].is_constant, _GIVEN_UP_FIRST.index(c % 10)))
