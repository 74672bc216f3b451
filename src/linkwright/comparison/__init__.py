"""The comparison of formulations, and how their costs grow with the number of links."""

from .cost_measurement import FormulationRow
from .equation_comparison import EquationComparison, EquationCountRow, compare_equations
from .formulation_comparison import Comparison, compare
from .size_scaling import CostScaling, measure_scaling

__all__ = [
    "Comparison",
    "CostScaling",
    "EquationComparison",
    "EquationCountRow",
    "FormulationRow",
    "compare",
    "compare_equations",
    "measure_scaling",
]
