"""Tapes, their recording from CasADi functions, and passes over them."""

from ..ports import Port
from .compilable_tapes import (
    TapeExpression,
    record_compilable_tape,
    record_expression_tape,
    vector_tape_expressions,
)
from .normalization import normalize_tape
from .operation_counts import (
    count_tape_operations,
    count_tape_operations_by_kind,
    count_tape_state_operations,
    largest_number_of_live_values,
)
from .reciprocals import share_tape_reciprocals
from .record import record_tape
from .schedule import schedule_tape
from .tape import COMMUTATIVE_OPERATIONS, OPERATION_ARITY, Op, Tape
from .writer import remove_dead_tape_instructions, reorder_tape_instructions

__all__ = [
    "COMMUTATIVE_OPERATIONS",
    "OPERATION_ARITY",
    "Op",
    "Port",
    "Tape",
    "TapeExpression",
    "count_tape_operations",
    "count_tape_operations_by_kind",
    "count_tape_state_operations",
    "largest_number_of_live_values",
    "normalize_tape",
    "record_compilable_tape",
    "record_expression_tape",
    "record_tape",
    "remove_dead_tape_instructions",
    "reorder_tape_instructions",
    "schedule_tape",
    "share_tape_reciprocals",
    "vector_tape_expressions",
]
