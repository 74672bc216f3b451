"""Compilable tapes from CasADi expressions: recorded, normalized and scheduled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..ports import Port
from ..types import SX
from .normalization import normalize_tape
from .record import record_tape
from .schedule import schedule_tape
from .tape import Tape

if TYPE_CHECKING:
    import casadi as ca

TapeExpression = tuple[str, SX, tuple[int, ...]]
"""An input or output of a function: its name, its expression, and the shape of its numbers."""


def record_compilable_tape(
    function: ca.Function,
    inputs: Sequence[Port] | None = None,
    outputs: Sequence[Port] | None = None,
) -> Tape:
    """The tape of a `casadi.Function`, ready to be compiled; for the ports see `record_tape`."""
    return schedule_tape(normalize_tape(record_tape(function, inputs, outputs)))


def record_expression_tape(
    name: str, inputs: Sequence[TapeExpression], outputs: Sequence[TapeExpression]
) -> Tape:
    """The tape of named expressions, ready to be compiled; the inputs must be symbols."""
    import casadi as ca

    function = ca.Function(
        name,
        [symbol for _, symbol, _ in inputs],
        ca.cse([ca.densify(ca.SX(expression)) for _, expression, _ in outputs]),
        [key for key, *_ in inputs],
        [key for key, *_ in outputs],
    )
    sides = [[Port(key, shape) for key, _, shape in side] for side in (inputs, outputs)]
    return record_compilable_tape(function, *sides)


def vector_tape_expressions(expressions: Mapping[str, SX]) -> list[TapeExpression]:
    """Column vectors by name, as inputs or outputs of a function."""
    return [(name, column, (int(column.shape[0]),)) for name, column in expressions.items()]
