"""Relations between columns that the rule of regrouping does not find, in some mechanisms.

Links near ground have restricted motion: some parameters have no effect, others act only in
combination; mimicking joints act together with their leaders. Elimination modulo a prime finds
which columns depend on which; coefficients that are plain numbers follow from their residues, the
others are solved for in closed form at a few simple states.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

from ...algebra.exact.elimination import eliminate_pivot_column
from ...algebra.exact.modular_arithmetic import rational_from_residue
from ...algebra.exact.residues import FIELD_PRIME
from ...algebra.exact.tape_algebra import evaluate_tape_in_algebra
from ...equations import Equations
from ...errors import UnsupportedError
from ...mechanism import quaternion_coordinate_offsets
from ...tape import Tape, remove_dead_tape_instructions
from .base_parameter_factors import BaseParameterAlgebra, BaseParameterFactor
from .regressor_samples import BaseParameterSample
from .regrouping import BaseParameterRelation

_MAX_RATIONAL_PART = 1 << 20
_MAX_STATES = 400


def leftover_grouping_relations(
    tracer: BaseParameterAlgebra,
    tape: Tape,
    eqs: Equations,
    samples: tuple[BaseParameterSample, BaseParameterSample],
    columns: Sequence[int],
) -> list[BaseParameterRelation]:
    """One relation for each of the columns that depends on those before it."""
    one, other = (sample.dependent_columns(columns) for sample in samples)
    rows = []
    for column, factors in one.items():
        plain = {
            c: _base_parameter_coefficient(x, other.get(column, {}).get(c, 0))
            for c, x in factors.items()
        }
        row: BaseParameterRelation = {column: tracer.number(Fraction(1))}
        if all(x is not None for x in plain.values()):
            row |= {c: tracer.number(-x) for c, x in plain.items() if x is not None}
        else:
            row |= _solve_base_parameter_relation(tracer, tape, eqs, column, list(factors))
        rows.append(row)
    return rows


def _base_parameter_coefficient(one: int, other: int) -> Fraction | None:
    """The small rational number that two residues, at different parameters, both represent; None if
    they differ."""
    return rational_from_residue(one, _MAX_RATIONAL_PART, FIELD_PRIME) if one == other else None


def _solve_base_parameter_relation(
    tracer: BaseParameterAlgebra, tape: Tape, eqs: Equations, column: int, others: list[int]
) -> BaseParameterRelation:
    """−k with column = Σ k·others, by elimination on rows of the regressor at simple states."""
    part, last = _select_base_parameter_columns(tape, [*others, column]), len(others)
    found: dict[int, BaseParameterRelation] = {}
    for row in _base_parameter_rows(tracer, part, eqs, last + 1):
        for place, done in found.items():
            if place in row:
                eliminate_pivot_column(tracer, [row], done, place)
        lead = next((c for c in range(last) if c in row), None)
        if lead is None:
            continue
        eliminate_pivot_column(tracer, found.values(), row, lead)
        found[lead] = row
        if len(found) == last:
            solution = {others[c]: r[last] for c, r in found.items() if last in r}
            return {c: tracer.negate(x) for c, x in solution.items()}
    raise UnsupportedError("a grouping was found modulo a prime, but not in closed form")


def _select_base_parameter_columns(tape: Tape, columns: Sequence[int]) -> Tape:
    """The regressor's tape with some of its columns only."""
    height, width = tape.outputs[0].shape
    chosen = tape.results[0].reshape(height, width)[:, list(columns)]
    port = replace(tape.outputs[0], shape=(height, len(columns)))
    return remove_dead_tape_instructions(replace(tape, outputs=(port,), results=(chosen.ravel(),)))


def _base_parameter_rows(
    tracer: BaseParameterAlgebra, tape: Tape, eqs: Equations, width: int
) -> Iterator[BaseParameterRelation]:
    """Nonzero rows of the regressor at simple states, entry by column."""
    for state in range(_MAX_STATES):
        (entries,) = evaluate_tape_in_algebra(
            tape, tracer, _base_parameter_state(tracer, tape, eqs, random.Random(state))
        )
        for start in range(0, len(entries), width):
            row = {c: x for c, x in enumerate(entries[start : start + width]) if not x.is_zero}
            if row:
                yield row


def _base_parameter_state(
    tracer: BaseParameterAlgebra, tape: Tape, eqs: Equations, chance: random.Random
) -> list[list[BaseParameterFactor]]:
    """A state with coordinates at right angles or small integers, and most velocities and
    accelerations 0."""

    def small_number() -> BaseParameterFactor:
        return tracer.number(Fraction(chance.choice([0, 0, 1, -1, 2])))

    inputs: dict[str, list[BaseParameterFactor]] = {}
    for port in tape.inputs:
        inputs[port.name] = [small_number() for _ in range(port.size)]
    inputs["q"] = [tracer.quarter_turn_coordinate(chance.randrange(4), x) for x in inputs["q"]]
    for place in quaternion_coordinate_offsets(eqs.mechanism):
        unit = base_parameter_quaternion(
            [Fraction(1), *(Fraction(chance.randrange(-1, 2)) for _ in range(3))]
        )
        inputs["q"][place : place + 4] = [tracer.number(x) for x in unit]
    inputs["p"] = [tracer.symbol(name) for name in eqs.parameters]
    return [inputs[port.name] for port in tape.inputs]


def base_parameter_quaternion(a: Sequence[Fraction]) -> list[Fraction]:
    """a²/|a|², a quaternion of length 1 with rational entries."""
    w, x, y, z = a
    size = w * w + x * x + y * y + z * z
    return [(2 * w * w - size) / size, *(2 * w * u / size for u in (x, y, z))]
