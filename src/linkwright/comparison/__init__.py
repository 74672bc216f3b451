"""The comparison of formulations, how their costs grow with the number of links, and that of
mechanisms on a task."""

from .derivation_times import DerivationTimes, measure_derivation
from .equation_comparison import EquationComparison, EquationCountRow, compare_equations
from .formulation_comparison import Comparison, compare
from .formulation_row import FormulationRow
from .size_scaling import CostScaling, measure_scaling
from .task_comparison import TaskComparison, TaskRow, compare_on_task

__all__ = [
    "Comparison",
    "CostScaling",
    "DerivationTimes",
    "EquationComparison",
    "EquationCountRow",
    "FormulationRow",
    "TaskComparison",
    "TaskRow",
    "compare",
    "compare_equations",
    "compare_on_task",
    "measure_derivation",
    "measure_scaling",
]
