"""Studies of mechanisms: the comparison of formulations, and its growth with the links."""

from .comparison import Comparison, compare
from .measure import FormulationRow
from .size_scaling import CostScaling, measure_scaling

__all__ = ["Comparison", "CostScaling", "FormulationRow", "compare", "measure_scaling"]
