"""CasADi's +, −, × and ÷ of expressions, without its search for the right overload.

`a * b` tries to read both operands as numbers, as NumPy arrays and as sparse matrices of SciPy
before it takes them for the expressions that they are: 25 µs, most of the time of a derivation.
`SX.binary` takes expressions and what can become one, and does the same in 3 µs. Operands of other
types go the old way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

_CASADI_OPERATIONS = {
    "add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV,
}  # fmt: skip
_UFUNC_OPERATIONS = {
    np.add: ca.OP_ADD, np.subtract: ca.OP_SUB, np.multiply: ca.OP_MUL, np.divide: ca.OP_DIV,
}  # fmt: skip
_DIRECT_TYPES = (ca.SX, float, int)

Operator = Callable[[Any, Any], Any]


def use_direct_operators() -> None:
    """Gives CasADi's SX the direct operators; a second call changes nothing."""
    if hasattr(ca.SX.__add__, "general"):
        return
    for name, operation in _CASADI_OPERATIONS.items():
        for method, swap in ((f"__{name}__", False), (f"__r{name}__", True)):
            setattr(ca.SX, method, _direct_operator(getattr(ca.SX, method), operation, swap))
    ca.SX.__array_ufunc__ = _direct_ufunc(ca.SX.__array_ufunc__)  # type: ignore[method-assign]


def _direct_operator(general: Operator, operation: int, swap: bool) -> Operator:
    binary, types = ca.SX.binary, _DIRECT_TYPES

    def operator(x: Any, y: Any) -> Any:
        if type(y) in types or _is_numpy_matrix(y):
            return binary(operation, y, x) if swap else binary(operation, x, y)
        return general(x, y)

    operator.general = general  # type: ignore[attr-defined]
    return operator


def _direct_ufunc(general: Callable[..., Any]) -> Callable[..., Any]:
    """The function that NumPy calls where its array or number stands on the left."""

    def ufunc_of(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        operation = _UFUNC_OPERATIONS.get(ufunc)
        if operation is None or method != "__call__" or options or not _is_numpy_matrix(inputs[0]):
            return general(self, ufunc, method, *inputs, **options)
        return ca.SX.binary(operation, inputs[0], self)

    return ufunc_of


def _is_numpy_matrix(x: Any) -> bool:
    """An array or a number of NumPy that CasADi reads as a matrix of its shape, or as a column."""
    if type(x) is np.float64:
        return True
    return type(x) is np.ndarray and x.dtype == np.float64 and 0 < x.ndim < 3
