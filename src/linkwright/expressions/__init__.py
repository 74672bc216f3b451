"""The one parser of numbers, units and formulas, and the readings of its syntax trees."""

from .dimensions import InferredDimension, check_expression_dimension, infer_expression_dimension
from .evaluation import (
    ExactNumber,
    ExpressionInterpretation,
    PiMultiple,
    evaluate_expression_exactly,
    expression_to_float,
    expression_without_unit,
    fold_expression,
)
from .parser import (
    INDEX_FUNCTION,
    parse_expression,
    parse_indexed_expression,
    read_expression,
)
from .printing import decimal_literal_text, expression_text
from .tree import (
    ONE,
    PI,
    ZERO,
    Call,
    Expression,
    Name,
    Negation,
    Number,
    NumberWithUnit,
    Power,
    Product,
    Reciprocal,
    Sum,
    names_in_expression,
    negate_expression,
)
from .units import Dimension, Unit, dimension_text, parse_unit
from .variable_names import is_expression_name, is_undotted_expression_name

__all__ = [
    "INDEX_FUNCTION",
    "ONE",
    "PI",
    "ZERO",
    "Call",
    "Dimension",
    "ExactNumber",
    "Expression",
    "ExpressionInterpretation",
    "InferredDimension",
    "Name",
    "Negation",
    "Number",
    "NumberWithUnit",
    "PiMultiple",
    "Power",
    "Product",
    "Reciprocal",
    "Sum",
    "Unit",
    "check_expression_dimension",
    "decimal_literal_text",
    "dimension_text",
    "evaluate_expression_exactly",
    "expression_text",
    "expression_to_float",
    "expression_without_unit",
    "fold_expression",
    "infer_expression_dimension",
    "is_expression_name",
    "is_undotted_expression_name",
    "names_in_expression",
    "negate_expression",
    "parse_expression",
    "parse_indexed_expression",
    "parse_unit",
    "read_expression",
]
