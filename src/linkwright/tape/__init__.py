"""Recording of CasADi functions as straight-line tapes, and passes over them."""

from ..ports import Port
from .count import count_operations, operations_by_kind, operations_of_state
from .functions import NamedExpression, named_vectors, record_expressions, record_scheduled
from .normalise import normalised
from .record import record
from .schedule import scheduled
from .tape import ARITY, COMMUTATIVE, Op, Tape
from .writer import renumbered, without_dead

__all__ = [
    "ARITY", "COMMUTATIVE", "NamedExpression", "Op", "Port", "Tape", "count_operations",
    "named_vectors", "normalised", "operations_by_kind", "operations_of_state", "record",
    "record_expressions", "record_scheduled", "renumbered", "scheduled", "without_dead",
]  # fmt: skip
