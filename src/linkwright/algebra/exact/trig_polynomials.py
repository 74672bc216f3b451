"""Tapes as trigonometric polynomials: the canonical form of every output.

`QuotientRing` (quotient_ring.py) defines the polynomials, and `exact_angle_lattice`
(exact_angles.py) the angles in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...tape import OPERATION_ARITY, Op, Tape
from .exact_angles import (
    ExactAngle,
    count_opaque_generators,
    exact_angle_lattice,
    exact_trig_arguments,
)
from .polynomial_budget import ExactPolynomialBudget
from .quotient_ring import QuotientRing
from .quotients import Quotient
from .tape_algebra import evaluate_tape_in_algebra


@dataclass(frozen=True)
class QuotientRingOutputs:
    """The outputs of a tape as elements of a ring, entries row by row."""

    ring: QuotientRing
    outputs: Mapping[str, list[Quotient]]


def evaluate_tape_in_quotient_ring(
    tape: Tape,
    entries: Mapping[str, Sequence[str]],
    angles: Sequence[ExactAngle] = (),
    exact: Mapping[str, Fraction] | None = None,
    units: Sequence[Sequence[str]] = (),
    budget: ExactPolynomialBudget | None = None,
) -> QuotientRingOutputs:
    """The outputs of a tape as trigonometric polynomials.

    `entries` has the names of the entries of each input, `angles` the preferred angles, `exact` the
    inputs with a value, and `units` the groups of inputs of unit length. Inputs on which no result
    depends are not generators.
    """
    exact = exact or {}
    names = _quotient_ring_input_names(tape, entries)
    groups = [g for g in units if any(name in g for row in names for name in row)]
    extra = [name for group in groups for name in group]
    every = [*(name for row in names for name in row if name is not None), *extra]
    symbols = dict.fromkeys(name for name in every if name not in exact)
    asked = exact_trig_arguments(tape, names, exact)
    chosen, table = exact_angle_lattice(angles, [form for form in asked if form is not None])
    spare = count_opaque_generators(tape, asked)
    ring = QuotientRing(list(symbols), chosen, table, spare, groups, budget)
    return QuotientRingOutputs(ring, _evaluate_ring_outputs(tape, ring, names, exact))


def evaluate_tape_in_quotient_field(
    tape: Tape,
    entries: Mapping[str, Sequence[str]],
    exact: Mapping[str, Fraction] | None = None,
    budget: ExactPolynomialBudget | None = None,
    first: Sequence[str] = (),
) -> QuotientRingOutputs:
    """The outputs of a tape in a ring that is a field.

    All named inputs are generators, those in `first` before the others.
    """
    exact = exact or {}
    names: list[list[str | None]] = [list(entries[port.name]) for port in tape.inputs]
    every = [*first, *(name for row in names for name in row)]
    symbols = dict.fromkeys(name for name in every if name not in exact)
    asked = exact_trig_arguments(tape, names, exact)
    chosen, table = exact_angle_lattice((), [form for form in asked if form is not None])
    spare = count_opaque_generators(tape, asked)
    ring = QuotientRing([*filter(None, symbols)], chosen, table, spare, (), budget, is_field=True)
    return QuotientRingOutputs(ring, _evaluate_ring_outputs(tape, ring, names, exact))


def _evaluate_ring_outputs(
    tape: Tape,
    ring: QuotientRing,
    names: Sequence[Sequence[str | None]],
    exact: Mapping[str, Fraction],
) -> dict[str, list[Quotient]]:
    """The outputs of a tape in the ring, by port."""
    inputs = [[_quotient_ring_input(ring, name, exact) for name in row] for row in names]
    found = evaluate_tape_in_algebra(tape, ring, inputs)
    return {port.name: values for port, values in zip(tape.outputs, found, strict=True)}


def _quotient_ring_input(
    ring: QuotientRing, name: str | None, exact: Mapping[str, Fraction]
) -> Quotient:
    """The element of an input: its symbol, its `exact` value, or zero if it has no name."""
    if name is None:
        return ring.constant(Fraction(0))
    return ring.constant(exact[name]) if name in exact else ring.symbol(name)


def _quotient_ring_input_names(
    tape: Tape, entries: Mapping[str, Sequence[str]]
) -> list[list[str | None]]:
    """The names of the inputs' entries; None where no result depends on the entry."""
    used = _inputs_needed_in_quotient_ring(tape)
    return [
        [name if (port, k) in used else None for k, name in enumerate(entries[one.name])]
        for port, one in enumerate(tape.inputs)
    ]


def _inputs_needed_in_quotient_ring(tape: Tape) -> set[tuple[int, int]]:
    """The (port, entry) pairs of the inputs on which results depend."""
    needed = {int(i) for result in tape.results for i in result}
    ops, args = tape.ops.tolist(), tape.args.tolist()
    found = set()
    for k in range(len(ops) - 1, -1, -1):
        if k not in needed:
            continue
        if ops[k] == Op.INPUT:
            found.add((args[k][0], args[k][1]))
        elif ops[k] != Op.CONSTANT:
            needed.update(args[k][: OPERATION_ARITY[Op(ops[k])]])
    return found
