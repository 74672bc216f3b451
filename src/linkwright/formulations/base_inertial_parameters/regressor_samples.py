"""The regressor modulo a prime at random states: its rank and its dependent columns.

The parameters are the same in all states: random for the rank of the structure, or at their exact
values for the rank of this mechanism. The rank found at a point can only be too small, with a
probability below degree/p.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from ...algebra.exact.elimination import dependent_columns_modulo, rank_modulo
from ...algebra.exact.modular_arithmetic import (
    BadPointError,
    draw_residue,
    rational_sphere_point_modulo,
)
from ...algebra.exact.prime_field import AngleSubdivisionError, PrimeField
from ...algebra.exact.residues import FIELD_PRIME, Residue
from ...algebra.exact.tape_algebra import evaluate_tape_in_algebra
from ...equations import Equations
from ...errors import UnsupportedError
from ...expressions import ExactNumber, PiMultiple
from ...mechanism import quaternion_coordinate_offsets
from ...ports import Port
from ...quantities import quantity_entry_names
from ...tape import Op, Tape, remove_dead_tape_instructions

_MAX_POINT_TRIES = 60
_RADIAN_ATOM, _HALF_TURN_ATOM = -1, -2
"""Labels of the small angles of which known angles are multiples."""


@dataclass(frozen=True)
class BaseParameterSample:
    """Rows of a regressor at several states modulo a prime, with the field and the parameters."""

    rows: list[list[int]]
    field: PrimeField
    numbers: Mapping[str, Residue]

    def rank(self) -> int:
        """The rank of the regressor modulo the prime."""
        return rank_modulo(self.rows, FIELD_PRIME)

    def dependent_columns(self, order: Sequence[int]) -> dict[int, dict[int, int]]:
        """Columns that depend on others before them in `order`, with the coefficients of these."""
        return dependent_columns_modulo(self.rows, order, FIELD_PRIME)


def sample_base_parameters(
    tape: Tape,
    eqs: Equations,
    constants: Tape,
    values: Mapping[str, ExactNumber] | None = None,
    seed: int = 1,
) -> BaseParameterSample:
    """Rows of the regressor's tape at enough states; `values` fixes rational parameters, the others
    are random. The square roots in `constants` must exist in the field."""
    finest: dict[int, int] = {}
    for attempt in range(_MAX_POINT_TRIES):
        field = PrimeField(1000 * seed + attempt, finest)
        try:
            numbers = _draw_base_parameter_numbers(constants, field, eqs.parameters, values or {})
            rows = _sample_base_parameter_rows(tape, eqs, field, numbers)
        except AngleSubdivisionError:
            finest = field.angle_parts
        except BadPointError:
            pass
        else:
            return BaseParameterSample(rows, field, numbers)
    raise UnsupportedError("no point was found at which the regressor can be evaluated")


def _sample_base_parameter_rows(
    tape: Tape, eqs: Equations, field: PrimeField, numbers: Mapping[str, Residue]
) -> list[list[int]]:
    """Rows at random states, until a further state does not raise the rank."""
    height, width = tape.outputs[0].shape
    rows: list[list[int]] = []
    if height * width == 0:
        return rows
    rank, state = -1, 0
    while rows == [] or rank_modulo(rows, FIELD_PRIME) > rank:
        rank = rank_modulo(rows, FIELD_PRIME) if rows else -1
        for _ in range(1 if rows else width // height + 1):
            rows += _base_parameter_rows_at_state(tape, eqs, field, numbers, state)
            state += 1
    return rows


def _draw_base_parameter_numbers(
    tape: Tape, field: PrimeField, names: Iterable[str], values: Mapping[str, ExactNumber]
) -> dict[str, Residue]:
    """Residues of the parameters for which all square roots exist; parameters under a root that
    does not exist are drawn again."""
    numbers = {name: field.symbol(name) for name in names}
    numbers |= _known_base_parameter_residues(tape, field, list(numbers), values)
    roots = _base_parameter_radicands(tape)
    for attempt in range(_MAX_POINT_TRIES):
        missing = _base_parameters_without_roots(roots, field, list(numbers.values()))
        if not missing:
            break
        for k in missing:
            name = list(numbers)[k]
            numbers[name] = field.symbol(f"{name} drawn again {attempt}")
    return numbers


def _known_base_parameter_residues(
    tape: Tape, field: PrimeField, names: list[str], values: Mapping[str, ExactNumber]
) -> dict[str, Residue]:
    """Residues of known rational parameters. As angles they are multiples of one small angle (those
    with π of another), so that 0.3 and −0.3 are opposite."""
    angles = _base_parameter_angles(tape, names)
    found = {}
    for name in names:
        value = values.get(name)
        if isinstance(value, Fraction) and name not in angles:
            found[name] = field.constant(value)
        elif name in angles and isinstance(value, Fraction | PiMultiple):
            share = value if isinstance(value, Fraction) else value.coefficient
            kind = type(value)
            others = [values[other] for other in angles if isinstance(values.get(other), kind)]
            finest = lcm(*(_base_parameter_fraction(other).denominator for other in others))
            atom = (_RADIAN_ATOM if kind is Fraction else _HALF_TURN_ATOM, share * finest)
            found[name] = replace(field.symbol(name), angle_atoms=(atom,) if share else ())
    return found


def _base_parameter_fraction(value: ExactNumber) -> Fraction:
    """The number, or its multiple of π."""
    return value.coefficient if isinstance(value, PiMultiple) else Fraction(value)


def _base_parameter_angles(tape: Tape, names: list[str]) -> list[str]:
    """Names of the parameters whose sine or cosine is taken."""
    found = set()
    for k, code in enumerate(tape.ops.tolist()):
        inside = int(tape.args[k, 0])
        if code in (Op.SIN, Op.COS) and tape.ops[inside] == Op.INPUT:
            found.add(names[int(tape.args[inside, 1])])
    return sorted(found)


def _base_parameter_radicands(tape: Tape) -> list[tuple[Tape, list[int]]]:
    """The tape of each radicand that depends on parameters only, with the indices of these."""
    ports = [port.name for port in tape.inputs]
    found = []
    for k, code in enumerate(tape.ops.tolist()):
        if code == Op.SQRT:
            under = replace(
                tape, outputs=(Port("under", (1,)),), results=(tape.args[k, :1].astype(np.int32),)
            )
            part = remove_dead_tape_instructions(under)
            used = [part.args[i, :2].tolist() for i, op in enumerate(part.ops) if op == Op.INPUT]
            if all(ports[port] == "p" for port, _ in used):
                found.append((part, [entry for _, entry in used]))
    return found


def _base_parameters_without_roots(
    roots: Sequence[tuple[Tape, list[int]]], field: PrimeField, numbers: list[Residue]
) -> set[int]:
    """Indices of the parameters under square roots that do not exist in the field."""
    missing: set[int] = set()
    for part, used in roots:
        try:
            inputs = [numbers if port.name == "p" else [] for port in part.inputs]
            ((under,),) = evaluate_tape_in_algebra(part, field, inputs)
            field.square_root(under)
        except BadPointError:
            missing |= set(used)
    return missing


def _base_parameter_rows_at_state(
    tape: Tape, eqs: Equations, field: PrimeField, numbers: Mapping[str, Residue], k: int
) -> list[list[int]]:
    """The rows of the regressor at the k-th random state."""
    names = quantity_entry_names(eqs.names, list(eqs.parameters))
    inputs = []
    for port in tape.inputs:
        if port.name == "p":
            inputs.append(list(numbers.values()))
            continue
        entries = [field.symbol(f"{name} in state {k}") for name in names[port.name]]
        if port.name == "q":
            entries = _put_base_parameter_quaternions(eqs, entries, f"{field.seed} {k}")
        inputs.append(entries)
    (found,) = evaluate_tape_in_algebra(tape, field, inputs)
    height, width = (*tape.outputs[0].shape, 1)[:2]
    return [[x.number for x in found[i * width : (i + 1) * width]] for i in range(height)]


def _put_base_parameter_quaternions(
    eqs: Equations, entries: list[Residue], seed: str
) -> list[Residue]:
    """The coordinates with random unit quaternions in the places of quaternions."""
    for place in quaternion_coordinate_offsets(eqs.mechanism):
        t = [draw_residue(FIELD_PRIME, "quaternion", seed, place, k) for k in range(3)]
        entries[place : place + 4] = [
            Residue(x) for x in rational_sphere_point_modulo(t, FIELD_PRIME)
        ]
    return entries
