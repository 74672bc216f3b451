"""Recording of CasADi functions as straight-line tapes, and passes over them."""

from .count import count_operations, operations_by_kind, operations_of_state
from .normalise import normalised
from .record import record
from .schedule import scheduled
from .tape import ARITY, COMMUTATIVE, Op, Port, Tape
from .writer import renumbered, without_dead

__all__ = [
    "ARITY", "COMMUTATIVE", "Op", "Port", "Tape", "count_operations", "normalised",
    "operations_by_kind", "operations_of_state", "record", "renumbered", "scheduled",
    "without_dead",
]  # fmt: skip
