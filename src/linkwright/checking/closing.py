"""Points at which loops close: angles are random, and lengths follow.

Closures are linear in lengths, slides and time, one by one. As many of these as there are
independent equations are reckoned from the rest, so that all closed positions of all such
mechanisms are reached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, islice

from ..errors import UnsupportedError
from ..readings.residues import PRIME, PrimeField, Value
from ..tape import Op
from .elimination import independent_rows, solved

MOST_CHOICES = 40
Residual = Callable[[Mapping[str, Value]], list[Value]]


def closed(field: PrimeField, free: Mapping[str, Value], residual: Residual) -> dict[str, Value]:
    """Some of the free quantities changed so that the residual vanishes."""
    start = residual({})
    if not any(value.number for value in start):
        return {}
    slopes = {
        name: column for name in free if (column := _slope(field, name, free, residual, start))
    }
    rank = len(independent_rows(list(zip(*slopes.values(), strict=True)))) if slopes else 0
    for chosen in islice(combinations(slopes, rank), MOST_CHOICES):
        found = _solved(field, chosen, free, residual, start)
        if found is not None:
            return found
    raise UnsupportedError(
        "no lengths were found that close the loops",
        remedy="give the lengths names in the mechanism",
    )


def _shifted(field: PrimeField, value: Value, by: int) -> Value:
    return field.apply(Op.ADD, (value, field.constant(Fraction(by))))


def _slope(
    field: PrimeField,
    name: str,
    free: Mapping[str, Value],
    residual: Residual,
    start: Sequence[Value],
) -> list[int] | None:
    """∂φ/∂name, if φ is linear in it and changes with it."""
    one, two = (residual({name: _shifted(field, free[name], k)}) for k in (1, 2))
    first = [(b.number - a.number) % PRIME for a, b in zip(start, one, strict=True)]
    second = [(b.number - a.number) % PRIME for a, b in zip(one, two, strict=True)]
    return first if first == second and any(first) else None


def _solved(
    field: PrimeField,
    chosen: Sequence[str],
    free: Mapping[str, Value],
    residual: Residual,
    start: Sequence[Value],
) -> dict[str, Value] | None:
    """The chosen quantities by elimination; None where that does not close the loops."""
    columns = []
    for name in chosen:
        moved = residual({name: _shifted(field, free[name], 1)})
        columns.append([field.apply(Op.SUB, pair) for pair in zip(moved, start, strict=True)])
    rows = list(zip(*columns, strict=True))
    kept = independent_rows([[x.number for x in row] for row in rows])
    if len(kept) < len(chosen):
        return None
    matrix = [x for i in kept for x in rows[i]]
    steps = solved(field, matrix, [field.apply(Op.NEG, (start[i],)) for i in kept])
    found = {
        name: field.apply(Op.ADD, (free[name], step))
        for name, step in zip(chosen, steps, strict=True)
    }
    return None if any(value.number for value in residual(found)) else found
