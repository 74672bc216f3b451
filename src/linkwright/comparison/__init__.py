"""Studies of mechanisms: the comparison of formulations, and its growth with the links."""

from .comparison import Comparison, compare
from .measure import Row
from .size_scaling import Scaling, scaling

__all__ = ["Comparison", "Row", "Scaling", "compare", "scaling"]
