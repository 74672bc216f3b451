"""Equations of motion: the one result that every formulation returns."""

from .completed_functions import wrench_generalized_forces
from .equations import Equations
from .formulation_state import ExpressionBuilder, FormulationState, FrameBuilder

__all__ = [
    "Equations",
    "ExpressionBuilder",
    "FormulationState",
    "FrameBuilder",
    "wrench_generalized_forces",
]
