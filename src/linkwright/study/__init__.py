"""Studies of mechanisms: the comparison of formulations."""

from .compare import Comparison, Row, compare

__all__ = ["Comparison", "Row", "compare"]
