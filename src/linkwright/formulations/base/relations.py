"""What the rule of regrouping leaves over: relations between columns of some mechanisms only.

Links near ground cannot move in all ways: some parameters have no effect, others act through a
combination only; followers of mimicry act together with their leaders. The field finds which
columns depend on which; coefficients that are plain numbers are read off it, others are solved for
in closed form at a few simple states.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ...algebra.exact.algebra import read
from ...algebra.exact.elimination import eliminate_column
from ...algebra.exact.modular import small_rational
from ...algebra.exact.residue_values import PRIME
from ...equations import Equations
from ...errors import UnsupportedError
from ...mechanism import quaternion_starts
from ...tape import Tape, without_dead
from .rank import Sample
from .regrouping import Row
from .traced import Traced, Tracer

_SMALL = 1 << 20
_STATES = 400


def leftover_rows(
    tracer: Tracer,
    tape: Tape,
    eqs: Equations,
    samples: tuple[Sample, Sample],
    columns: Sequence[int],
) -> list[Row]:
    """A row for every one of the columns that depends on those before it."""
    one, other = (sample.dependent(columns) for sample in samples)
    rows = []
    for column, factors in one.items():
        plain = {c: _plain(x, other.get(column, {}).get(c, 0)) for c, x in factors.items()}
        row: Row = {column: tracer.number(Fraction(1))}
        if all(x is not None for x in plain.values()):
            row |= {c: tracer.number(-x) for c, x in plain.items() if x is not None}
        else:
            row |= _solved_for(tracer, tape, eqs, column, list(factors))
        rows.append(row)
    return rows


def _plain(one: int, other: int) -> Fraction | None:
    """The small rational number that both are, with different numbers of the mechanism."""
    return small_rational(one, _SMALL, PRIME) if one == other else None


def _solved_for(tracer: Tracer, tape: Tape, eqs: Equations, column: int, others: list[int]) -> Row:
    """−k with column = Σ k·others, by elimination on rows of the regressor at simple states."""
    part, last = _columns(tape, [*others, column]), len(others)
    found: dict[int, Row] = {}
    for row in _regressor_rows(tracer, part, eqs, last + 1):
        for place, done in found.items():
            if place in row:
                eliminate_column(tracer, [row], done, place)
        lead = next((c for c in range(last) if c in row), None)
        if lead is None:
            continue
        eliminate_column(tracer, found.values(), row, lead)
        found[lead] = row
        if len(found) == last:
            solution = {others[c]: r[last] for c, r in found.items() if last in r}
            return {c: tracer.negate(x) for c, x in solution.items()}
    raise UnsupportedError("a grouping was found modulo a prime, but not in closed form")


def _columns(tape: Tape, columns: Sequence[int]) -> Tape:
    """The regressor's tape with some of its columns only."""
    height, width = tape.outputs[0].shape
    chosen = tape.results[0].reshape(height, width)[:, list(columns)]
    port = replace(tape.outputs[0], shape=(height, len(columns)))
    return without_dead(replace(tape, outputs=(port,), results=(chosen.ravel(),)))


def _regressor_rows(tracer: Tracer, tape: Tape, eqs: Equations, width: int) -> Iterator[Row]:
    for state in range(_STATES):
        (entries,) = read(tape, tracer, _state(tracer, tape, eqs, random.Random(state)))
        for start in range(0, len(entries), width):
            row = {c: x for c, x in enumerate(entries[start : start + width]) if not x.is_zero}
            if row:
                yield row


def _state(tracer: Tracer, tape: Tape, eqs: Equations, chance: random.Random) -> list[list[Traced]]:
    """Coordinates at right angles or small whole numbers, most speeds and their rates 0."""

    def small() -> Traced:
        return tracer.number(Fraction(chance.choice([0, 0, 1, -1, 2])))

    inputs: dict[str, list[Traced]] = {}
    for port in tape.inputs:
        inputs[port.name] = [small() for _ in range(port.size)]
    inputs["q"] = [tracer.quarter_turns(chance.randrange(4), x) for x in inputs["q"]]
    for place in quaternion_starts(eqs.mechanism):
        unit = unit_quaternion(
            [Fraction(1), *(Fraction(chance.randrange(-1, 2)) for _ in range(3))]
        )
        inputs["q"][place : place + 4] = [tracer.number(x) for x in unit]
    inputs["p"] = [tracer.symbol(name) for name in eqs.parameters]
    return [inputs[port.name] for port in tape.inputs]


def unit_quaternion(a: Sequence[Fraction]) -> list[Fraction]:
    """a²/|a|², which has length 1 and rational entries."""
    w, x, y, z = a
    size = w * w + x * x + y * y + z * z
    return [(2 * w * w - size) / size, *(2 * w * u / size for u in (x, y, z))]
