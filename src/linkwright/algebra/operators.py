"""CasADi's +, −, ×, ÷ and @ of expressions, without its search for the right overload.

`a * b` tries to read both operands as numbers, as NumPy arrays and as sparse matrices of SciPy
before it takes them for the expressions that they are: 25 µs, most of the time of a derivation.
`SX.binary` takes expressions and what can become one, and does the same in 3 µs. `a @ b` has no
such short way, but arrays of NumPy become expressions once, not in each product. Operands of other
types go the old way.

CasADi has these operators only while Linkwright builds expressions, and its own at all other times.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

_BINDING = vars(ca.casadi)["_casadi"]  # CasADi's functions of C++, which have no types
_CASADI_OPERATIONS = {
    "add": ca.OP_ADD, "sub": ca.OP_SUB, "mul": ca.OP_MUL, "truediv": ca.OP_DIV,
}  # fmt: skip
_UFUNC_OPERATIONS = {
    np.add: ca.OP_ADD, np.subtract: ca.OP_SUB, np.multiply: ca.OP_MUL, np.divide: ca.OP_DIV,
}  # fmt: skip
_OPERATORS = {
    f"__{side}{name}__": (operation, side == "r")
    for name, operation in _CASADI_OPERATIONS.items()
    for side in ("", "r")
}
_UFUNC_METHOD, _PRODUCT_METHOD = "__array_ufunc__", "__matmul__"
_METHODS = (*_OPERATORS, _UFUNC_METHOD, _PRODUCT_METHOD, "shape")
_DIRECT_TYPES = frozenset({ca.SX, float, int})

Operator = Callable[[Any, Any], Any]


@contextmanager
def direct_operators() -> Iterator[None]:
    """Gives CasADi's SX the direct operators, for a block or a function (`@direct_operators()`).

    Threads share them: CasADi has its own again when the last block has ended.
    """
    _SWITCH.enter_block()
    try:
        yield
    finally:
        _SWITCH.leave_block()


class _OperatorSwitch:
    """Puts the direct operators into SX with the first open block, and out with the last."""

    def __init__(self) -> None:
        self._open_blocks = 0
        self._own: dict[str, Any] = {}  # what SX itself had by these names; the rest it inherits
        self.renew_lock()

    def renew_lock(self) -> None:
        """Makes a new lock, for a child process: a thread that held the old one stayed behind."""
        self._lock = threading.RLock()  # a finalizer may run anywhere, and derive

    def enter_block(self) -> None:
        with self._lock:
            self._open_blocks += 1
            if self._open_blocks == 1:
                direct = _make_direct_methods()
                self._own = {name: vars(ca.SX)[name] for name in direct if name in vars(ca.SX)}
                for name, method in direct.items():
                    setattr(ca.SX, name, method)

    def leave_block(self) -> None:
        with self._lock:
            self._open_blocks -= 1
            if self._open_blocks == 0:
                for name in _METHODS:
                    if name in self._own:
                        setattr(ca.SX, name, self._own[name])
                    else:
                        delattr(ca.SX, name)


def _make_direct_methods() -> dict[str, Any]:
    """The direct methods of SX by name, each around the method that SX has now; and its shape, for
    which CasADi itself asks twice with each operand of a function."""
    made: dict[str, Any] = {
        method: _direct_operator(getattr(ca.SX, method), *how) for method, how in _OPERATORS.items()
    }
    return made | {
        _UFUNC_METHOD: _direct_ufunc(ca.SX.__array_ufunc__),
        _PRODUCT_METHOD: _direct_product(ca.SX.__matmul__),
        "shape": property(_direct_shape),
    }


def _direct_operator(general: Operator, operation: int, swap: bool) -> Operator:
    binary, types = ca.SX.binary, _DIRECT_TYPES

    def operator(x: Any, y: Any) -> Any:
        if is_plain_matrix(y):
            y = constant_expression(y)
        elif type(y) not in types:
            return general(x, y)
        return binary(operation, y, x) if swap else binary(operation, x, y)

    return operator


def _direct_product(general: Operator) -> Operator:
    def product(x: Any, y: Any) -> Any:
        if is_plain_matrix(y):
            return ca.mtimes(x, constant_expression(y))
        return ca.mtimes(x, y) if type(y) is ca.SX else general(x, y)

    return product


def _direct_shape(
    x: Any,
    row_count: Callable[[Any], int] = _BINDING.GenSX_size1,
    column_count: Callable[[Any], int] = _BINDING.GenSX_size2,
) -> tuple[int, int]:
    return row_count(x), column_count(x)


def _direct_ufunc(general: Callable[..., Any]) -> Callable[..., Any]:
    """The function that NumPy calls where its array or number stands on the left."""

    def ufunc_of(self: Any, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method != "__call__" or options or not is_plain_matrix(inputs[0]):
            return general(self, ufunc, method, *inputs, **options)
        if ufunc is np.matmul:
            return ca.mtimes(constant_expression(inputs[0]), self)
        operation = _UFUNC_OPERATIONS.get(ufunc)
        if operation is None:
            return general(self, ufunc, method, *inputs, **options)
        return ca.SX.binary(operation, constant_expression(inputs[0]), self)

    return ufunc_of


def is_plain_matrix(x: Any) -> bool:
    """Whether x is an array of NumPy that CasADi reads as a matrix of its shape, or as a column, or
    a number of NumPy."""
    if type(x) is np.ndarray:
        return bool(x.dtype == np.float64 and 0 < x.ndim < 3)
    return type(x) is np.float64


def constant_expression(x: Any) -> Any:
    """The expression of a plain matrix, made once: nobody may change it."""
    return _constant_matrix(x.tobytes(), x.shape)


@lru_cache(maxsize=4096)
def _constant_matrix(content: bytes, shape: tuple[int, ...]) -> Any:
    return ca.SX(np.frombuffer(content).reshape(shape))


_SWITCH = _OperatorSwitch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SWITCH.renew_lock)
