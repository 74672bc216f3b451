"""The one safe parser: tokens, tree, units, and the tree's readings."""

from .dimensions import Dimensioned, check_dimension, dimension_of
from .evaluate import Exact, Interpretation, PiMultiple, evaluate, fold, to_float, without_unit
from .naming import is_name, is_variable
from .parser import parse, read_number
from .printing import decimal_text, to_text
from .tree import (
    ONE,
    PI,
    ZERO,
    Call,
    Expression,
    Measured,
    Name,
    Negation,
    Number,
    Power,
    Product,
    Reciprocal,
    Sum,
    names,
    negate,
)
from .units import Dimension, Unit, describe, parse_unit

__all__ = [
    "ONE", "PI", "ZERO", "Call", "Dimension", "Dimensioned", "Exact", "Expression",
    "Interpretation", "Measured", "Name", "Negation", "Number", "PiMultiple", "Power", "Product",
    "Reciprocal", "Sum", "Unit", "check_dimension", "decimal_text", "describe", "dimension_of",
    "evaluate", "fold", "is_name", "is_variable", "names", "negate", "parse", "parse_unit",
    "read_number", "to_float", "to_text", "without_unit",
]  # fmt: skip
