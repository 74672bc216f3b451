"""CasADi's +, −, × and ÷ of expressions, without its search for the right overload.

`a * b` tries to read both operands as numbers, as NumPy arrays and as sparse matrices of SciPy
before it takes them for the expressions that they are: 25 µs, most of the time of a derivation.
`SX.binary` takes expressions and numbers only, and does the same in 3 µs. Operands of other types
go the old way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca

_OPERATIONS = {
    "add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV,
}  # fmt: skip
_DIRECT = (ca.SX, float, int)

Operator = Callable[[Any, Any], Any]


def use_direct_operators() -> None:
    """Gives CasADi's SX the direct operators; a second call changes nothing."""
    for name, operation in _OPERATIONS.items():
        for method, swap in ((f"__{name}__", False), (f"__r{name}__", True)):
            general = getattr(ca.SX, method)
            if not hasattr(general, "general"):
                setattr(ca.SX, method, _direct(general, operation, swap))


def _direct(general: Operator, operation: int, swap: bool) -> Operator:
    binary, types = ca.SX.binary, _DIRECT

    def operator(x: Any, y: Any) -> Any:
        if type(y) in types:
            return binary(operation, y, x) if swap else binary(operation, x, y)
        return general(x, y)

    operator.general = general  # type: ignore[attr-defined]
    return operator
