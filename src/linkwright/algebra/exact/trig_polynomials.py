"""Tapes as trigonometric polynomials: the canonical form of every output.

`QuotientRing` (quotient_ring.py) defines the polynomials, and `angle_lattice` (angle_forms.py) the
angles in them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from ...tape import OPERATION_ARITY, Op, Tape
from .angle_forms import AngleForm, angle_lattice, count_opaque_generators, trig_argument_forms
from .polynomial_budget import PolynomialBudget
from .quotient_ring import QuotientRing
from .quotients import Quotient
from .tape_algebra import read_tape


@dataclass(frozen=True)
class PolynomialReading:
    """The outputs of a tape as elements of a ring, entries row by row."""

    ring: QuotientRing
    outputs: Mapping[str, list[Quotient]]


def read_trig_polynomials(
    tape: Tape,
    entries: Mapping[str, Sequence[str]],
    angles: Sequence[AngleForm] = (),
    exact: Mapping[str, Fraction] | None = None,
    units: Sequence[Sequence[str]] = (),
    budget: PolynomialBudget | None = None,
) -> PolynomialReading:
    """The outputs of a tape as trigonometric polynomials.

    `entries` has the names of the entries of each input, `angles` the preferred angles, `exact` the
    inputs with a value, and `units` the groups of inputs of unit length. Inputs on which no result
    depends are not generators.
    """
    exact = exact or {}
    names = _used_input_names(tape, entries)
    groups = [g for g in units if any(name in g for row in names for name in row)]
    extra = [name for group in groups for name in group]
    every = [*(name for row in names for name in row if name is not None), *extra]
    symbols = dict.fromkeys(name for name in every if name not in exact)
    asked = trig_argument_forms(tape, names, exact)
    chosen, table = angle_lattice(angles, [form for form in asked if form is not None])
    spare = count_opaque_generators(tape, asked)
    ring = QuotientRing(list(symbols), chosen, table, spare, groups, budget)
    return PolynomialReading(ring, _read_ring_outputs(tape, ring, names, exact))


def read_field_quotients(
    tape: Tape,
    entries: Mapping[str, Sequence[str]],
    exact: Mapping[str, Fraction] | None = None,
    budget: PolynomialBudget | None = None,
    first: Sequence[str] = (),
) -> PolynomialReading:
    """The outputs of a tape in a ring that is a field.

    All named inputs are generators, those in `first` before the others.
    """
    exact = exact or {}
    names: list[list[str | None]] = [list(entries[port.name]) for port in tape.inputs]
    every = [*first, *(name for row in names for name in row)]
    symbols = dict.fromkeys(name for name in every if name not in exact)
    asked = trig_argument_forms(tape, names, exact)
    chosen, table = angle_lattice((), [form for form in asked if form is not None])
    spare = count_opaque_generators(tape, asked)
    ring = QuotientRing([*filter(None, symbols)], chosen, table, spare, (), budget, is_field=True)
    return PolynomialReading(ring, _read_ring_outputs(tape, ring, names, exact))


def _read_ring_outputs(
    tape: Tape,
    ring: QuotientRing,
    names: Sequence[Sequence[str | None]],
    exact: Mapping[str, Fraction],
) -> dict[str, list[Quotient]]:
    """The outputs of a tape in the ring, by port."""
    inputs = [[_ring_input(ring, name, exact) for name in row] for row in names]
    found = read_tape(tape, ring, inputs)
    return {port.name: values for port, values in zip(tape.outputs, found, strict=True)}


def _ring_input(ring: QuotientRing, name: str | None, exact: Mapping[str, Fraction]) -> Quotient:
    """The element of an input: its symbol, its `exact` value, or zero if it has no name."""
    if name is None:
        return ring.constant(Fraction(0))
    return ring.constant(exact[name]) if name in exact else ring.symbol(name)


def _used_input_names(tape: Tape, entries: Mapping[str, Sequence[str]]) -> list[list[str | None]]:
    """The names of the inputs' entries; None where no result depends on the entry."""
    used = _used_inputs(tape)
    return [
        [name if (port, k) in used else None for k, name in enumerate(entries[one.name])]
        for port, one in enumerate(tape.inputs)
    ]


def _used_inputs(tape: Tape) -> set[tuple[int, int]]:
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
