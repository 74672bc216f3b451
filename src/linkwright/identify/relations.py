"""What the rule of regrouping leaves over: relations between columns that only some mechanisms have.

Links near ground cannot move in all ways: some parameters have no effect, others act through a
combination only; followers of mimicry act together with their leaders. The field finds which
columns depend on which; coefficients that are plain numbers are read off it, others are solved for
in closed form at a few rational states.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ..equations import Equations
from ..errors import UnsupportedError
from ..readings.field import PRIME
from ..tape import Tape, without_dead
from .rank import Sample, quaternions_of, unit_quaternion
from .regrouping import Row, eliminate
from .ring import Quotient, Ring, spare_generators

_SMALL = 1 << 20
_STATES = 40


def leftover_rows(
    ring: Ring, tape: Tape, eqs: Equations, samples: tuple[Sample, Sample], columns: Sequence[int]
) -> list[Row]:
    """A row for every one of the columns that depends on those before it."""
    one, other = (sample.dependent(columns) for sample in samples)
    rows = []
    for column, factors in one.items():
        plain = {c: _plain(x, other.get(column, {}).get(c, 0)) for c, x in factors.items()}
        row: Row = {column: ring.number(Fraction(1))}
        if all(x is not None for x in plain.values()):
            row |= {c: ring.number(-x) for c, x in plain.items() if x is not None}
        else:
            row |= _solved_for(ring, tape, eqs, column, list(factors))
        rows.append(row)
    return rows


def _plain(one: int, other: int) -> Fraction | None:
    """The small rational number that both are, with different numbers of the mechanism."""
    if one != other:
        return None
    a, b, s, t = PRIME, one, 0, 1  # by the Euclidean algorithm, as in rational reconstruction
    while b > _SMALL:
        a, b, s, t = b, a % b, t, s - (a // b) * t
    return Fraction(b, t) if 0 < abs(t) <= _SMALL else None


def _solved_for(ring: Ring, tape: Tape, eqs: Equations, column: int, others: list[int]) -> Row:
    """−k with column = Σ k·others, by elimination on rows of the regressor at rational states."""
    part = _columns(tape, [*others, column])
    roomy = _with_room(ring, spare_generators(part) * _STATES)
    found: list[Row] = []
    for row in _regressor_rows(roomy, part, eqs, len(others) + 1):
        for done in found:
            place = next(iter(done))
            if place in row:
                eliminate(roomy, [row], dict(done), place)
        lead = next((c for c in range(len(others)) if c in row), None)
        if lead is None:
            continue
        eliminate(roomy, found, row, lead)
        found.append({lead: row[lead]} | row)
        if len(found) == len(others):
            solution = {others[next(iter(r))]: r.get(len(others)) for r in found}
            return {c: _into(ring, roomy, roomy.negate(x)) for c, x in solution.items() if x}
    raise UnsupportedError("a grouping was found modulo a prime, but not in closed form")


def _columns(tape: Tape, columns: Sequence[int]) -> Tape:
    """The regressor's tape with some of its columns only."""
    from dataclasses import replace

    height, width = tape.outputs[0].shape
    chosen = tape.results[0].reshape(height, width)[:, list(columns)]
    port = replace(tape.outputs[0], shape=(height, len(columns)))
    return without_dead(replace(tape, outputs=(port,), results=(chosen.ravel(),)))


def _with_room(ring: Ring, spare: int) -> Ring:
    names = list(ring.places)
    return Ring(names, spare + len(ring.generators) - len(names))


def _into(ring: Ring, other: Ring, value: Quotient) -> Quotient:
    """A value of another ring with the same names."""
    from ..expressions import fold

    return fold(other.expression(value), ring, ring.symbol)


def _regressor_rows(ring: Ring, tape: Tape, eqs: Equations, width: int) -> Iterator[Row]:
    numbers = [ring.symbol(name) for name in eqs.parameters]
    for state in range(_STATES):
        inputs = _state(ring, tape, eqs, random.Random(state), numbers)
        (entries,) = ring.read(tape, inputs)
        for start in range(0, len(entries), width):
            row = {c: x for c, x in enumerate(entries[start : start + width]) if not x.is_zero}
            if row:
                yield row


def _state(
    ring: Ring, tape: Tape, eqs: Equations, chance: random.Random, numbers: list[Quotient]
) -> list[list[Quotient]]:
    def small() -> Fraction:
        return Fraction(chance.choice([-1, 1]) * chance.randrange(1, 7))

    def angle() -> Quotient:
        t = small() / 3
        return ring.at((1 - t * t) / (1 + t * t), 2 * t / (1 + t * t), small())

    inputs: Mapping[str, list[Quotient]] = {
        port.name: [angle() for _ in range(port.size)] for port in tape.inputs
    }
    for place in quaternions_of(eqs):
        unit = unit_quaternion([small() for _ in range(4)])
        inputs["q"][place : place + 4] = [ring.number(x) for x in unit]
    return [numbers if port.name == "p" else inputs[port.name] for port in tape.inputs]
