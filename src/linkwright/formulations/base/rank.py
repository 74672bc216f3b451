"""The regressor modulo a prime, at random states: its rank, and what its columns depend on.

Numbers of the mechanism are the same in all states, random (the structure's rank) or their exact
values (this mechanism's). The rank found at a point can only be too small, and is so with a
probability below degree/p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from ...algebra.exact.algebra import read
from ...algebra.exact.elimination import dependent_columns, rank_modulo
from ...algebra.exact.modular import UnluckyError, drawn, on_sphere
from ...algebra.exact.prime_field import FinerError, PrimeField
from ...algebra.exact.residue_values import PRIME, Value
from ...equations import Equations
from ...errors import UnsupportedError
from ...expressions import Exact, PiMultiple
from ...mechanism import quaternion_starts
from ...ports import Port
from ...quantities import entry_names, ports
from ...tape import Op, Tape, record, without_dead

_TRIES = 60
_RADIANS, _HALF_TURNS = -1, -2
"""Small angles, of which known angles are multiples."""


@dataclass(frozen=True)
class Sample:
    """Columns of a regressor, at several states below each other, and the field of its numbers."""

    rows: list[list[int]]
    field: PrimeField
    numbers: Mapping[str, Value]

    def rank(self) -> int:
        return rank_modulo(self.rows, PRIME)

    def dependent(self, order: Sequence[int]) -> dict[int, dict[int, int]]:
        """Columns that depend on others before them in `order`, with their coefficients there."""
        return dependent_columns(self.rows, order, PRIME)


def sample(
    tape: Tape,
    eqs: Equations,
    constants: Tape,
    values: Mapping[str, Exact] | None = None,
    seed: int = 1,
) -> Sample:
    """Enough states of the regressor's tape; `values` fixes numbers that are known and rational,
    all others are random. The roots in `constants` are to exist."""
    finest: dict[int, int] = {}
    for attempt in range(_TRIES):
        field = PrimeField(1000 * seed + attempt, finest)
        try:
            numbers = _with_roots(constants, field, eqs.parameters, values or {})
            rows = _until_nothing_is_new(tape, eqs, field, numbers)
        except FinerError:
            finest = field.finest
        except UnluckyError:
            pass
        else:
            return Sample(rows, field, numbers)
    raise UnsupportedError("no point was found at which the regressor can be evaluated")


def _until_nothing_is_new(
    tape: Tape, eqs: Equations, field: PrimeField, numbers: Mapping[str, Value]
) -> list[list[int]]:
    """Rows of random states, until one lies in the span of those before: then all states do."""
    height, width = tape.outputs[0].shape
    rows: list[list[int]] = []
    if height * width == 0:
        return rows
    rank, state = -1, 0
    while rows == [] or rank_modulo(rows, PRIME) > rank:
        rank = rank_modulo(rows, PRIME) if rows else -1
        for _ in range(1 if rows else width // height + 1):
            rows += _state(tape, eqs, field, numbers, state)
            state += 1
    return rows


def _with_roots(
    tape: Tape, field: PrimeField, names: Iterable[str], values: Mapping[str, Exact]
) -> dict[str, Value]:
    """Numbers of the mechanism such that all roots of theirs exist: those under a root that does
    not are drawn again."""
    numbers = {name: field.symbol(name) for name in names}
    numbers |= _at_values(tape, field, list(numbers), values)
    roots = _roots_of_numbers(tape)
    for attempt in range(_TRIES):
        missing = _missing_roots(roots, field, list(numbers.values()))
        if not missing:
            break
        for k in missing:
            name = list(numbers)[k]
            numbers[name] = field.symbol(f"{name} drawn again {attempt}")
    return numbers


def _at_values(
    tape: Tape, field: PrimeField, names: list[str], values: Mapping[str, Exact]
) -> dict[str, Value]:
    """Known rational numbers. As angles they are multiples of one small angle (those with π of
    another), so that 0.3 and −0.3 are opposite."""
    angles = _names_of_angles(tape, names)
    found = {}
    for name in names:
        value = values.get(name)
        if isinstance(value, Fraction) and name not in angles:
            found[name] = field.constant(value)
        elif name in angles and isinstance(value, Fraction | PiMultiple):
            share = value if isinstance(value, Fraction) else value.coefficient
            kind = type(value)
            others = [values[other] for other in angles if isinstance(values.get(other), kind)]
            finest = lcm(*(_share(other).denominator for other in others))
            atom = (_RADIANS if kind is Fraction else _HALF_TURNS, share * finest)
            found[name] = replace(field.symbol(name), atoms=(atom,) if share else ())
    return found


def _share(value: Exact) -> Fraction:
    return value.coefficient if isinstance(value, PiMultiple) else Fraction(value)


def _names_of_angles(tape: Tape, names: list[str]) -> list[str]:
    """Numbers whose sine or cosine is taken."""
    found = set()
    for k, code in enumerate(tape.ops.tolist()):
        inside = int(tape.args[k, 0])
        if code in (Op.SIN, Op.COS) and tape.ops[inside] == Op.INPUT:
            found.add(names[int(tape.args[inside, 1])])
    return sorted(found)


def _roots_of_numbers(tape: Tape) -> list[tuple[Tape, list[int]]]:
    """For every root of the mechanism's numbers the tape of what is under it, and which numbers
    these are."""
    ports = [port.name for port in tape.inputs]
    found = []
    for k, code in enumerate(tape.ops.tolist()):
        if code == Op.SQRT:
            under = replace(
                tape, outputs=(Port("under", (1,)),), results=(tape.args[k, :1].astype(np.int32),)
            )
            part = without_dead(under)
            used = [part.args[i, :2].tolist() for i, op in enumerate(part.ops) if op == Op.INPUT]
            if all(ports[port] == "p" for port, _ in used):
                found.append((part, [entry for _, entry in used]))
    return found


def _missing_roots(
    roots: Sequence[tuple[Tape, list[int]]], field: PrimeField, numbers: list[Value]
) -> set[int]:
    missing: set[int] = set()
    for part, used in roots:
        try:
            inputs = [numbers if port.name == "p" else [] for port in part.inputs]
            ((under,),) = read(part, field, inputs)
            field.root(under)
        except UnluckyError:
            missing |= set(used)
    return missing


def _state(
    tape: Tape, eqs: Equations, field: PrimeField, numbers: Mapping[str, Value], k: int
) -> list[list[int]]:
    names = entry_names(eqs.names, list(eqs.parameters))
    inputs = []
    for port in tape.inputs:
        if port.name == "p":
            inputs.append(list(numbers.values()))
            continue
        entries = [field.symbol(f"{name} in state {k}") for name in names[port.name]]
        if port.name == "q":
            entries = _with_unit_quaternions(eqs, entries, f"{field.seed} {k}")
        inputs.append(entries)
    (found,) = read(tape, field, inputs)
    height, width = (*tape.outputs[0].shape, 1)[:2]
    return [[x.number for x in found[i * width : (i + 1) * width]] for i in range(height)]


def _with_unit_quaternions(eqs: Equations, entries: list[Value], seed: str) -> list[Value]:
    for place in quaternion_starts(eqs.mechanism):
        t = [drawn(PRIME, "quaternion", seed, place, k) for k in range(3)]
        entries[place : place + 4] = [Value(x) for x in on_sphere(t, PRIME)]
    return entries


def tape_of(eqs: Equations, function: str) -> Tape:
    return record(eqs.function(function), *ports(eqs.names, function, list(eqs.parameters)))
