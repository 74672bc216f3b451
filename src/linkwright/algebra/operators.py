"""CasADi's +, −, ×, ÷ and @ of expressions, without its search for the right overload.

`a * b` tries to read both operands as numbers, as NumPy arrays and as sparse matrices of SciPy
before it uses them as the expressions that they are. That takes 25 µs, most of the time of a
derivation. `SX.binary` takes expressions and values that can become expressions, and does the same
in 3 µs. `a @ b` has no such shortcut, but NumPy arrays are converted to expressions once, not in
each product. For operands of other types, CasADi's own operators are used.

All functions of CasADi ask whether an operand is a list of numbers or expressions. An operand with
a method `__SX__` is one expression and not a list: with this method, `sin(a)` and `a @ b` take half
the time.

CasADi has these operators only while Linkwright builds expressions, and its own at all other times.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, TypeGuard

import casadi as ca
import numpy as np

from ..types import SX, Floats

_BINDING = vars(ca.casadi)["_casadi"]  # CasADi's functions of C++, which have no types
_CASADI_OPERATIONS = {
    "add": ca.OP_ADD,
    "sub": ca.OP_SUB,
    "mul": ca.OP_MUL,
    "truediv": ca.OP_DIV,
}
_UFUNC_OPERATIONS: dict[np.ufunc, int] = {
    np.add: ca.OP_ADD,
    np.subtract: ca.OP_SUB,
    np.multiply: ca.OP_MUL,
    np.divide: ca.OP_DIV,
}
_OPERATORS = {
    f"__{side}{name}__": (operation, side == "r")
    for name, operation in _CASADI_OPERATIONS.items()
    for side in ("", "r")
}
_UFUNC_METHOD, _PRODUCT_METHOD, _EXPRESSION_METHOD = "__array_ufunc__", "__matmul__", "__SX__"
_METHODS = (*_OPERATORS, _UFUNC_METHOD, _PRODUCT_METHOD, _EXPRESSION_METHOD, "shape")
_DIRECT_TYPES = frozenset({ca.SX, float, int})

Operand = Any  # what CasADi takes besides an expression: numbers, arrays, expressions
Operator = Callable[[SX, Operand], SX]
UfuncOperator = Callable[..., SX]


@contextmanager
def direct_casadi_operators() -> Iterator[None]:
    """Gives CasADi's SX the direct operators in a block, or in a function as its decorator.

    Threads share them: CasADi has its own again when the last block has ended.
    """
    _SWITCH.enter_block()
    try:
        yield
    finally:
        _SWITCH.leave_block()


class _CasadiOperatorSwitch:
    """Installs the direct operators in SX while blocks are open."""

    def __init__(self) -> None:
        self._open_blocks = 0
        self._own: dict[str, object] = {}  # what SX itself had by these names; the rest it inherits
        self.renew_lock()

    def renew_lock(self) -> None:
        """Makes a new lock for a child process, where no thread can release the old one."""
        self._lock = threading.RLock()  # a finalizer may run anywhere, and derive

    def enter_block(self) -> None:
        """Opens a block; the first one installs the direct operators."""
        with self._lock:
            self._open_blocks += 1
            if self._open_blocks == 1:
                direct = _make_direct_casadi_operators()
                self._own = {name: vars(ca.SX)[name] for name in direct if name in vars(ca.SX)}
                for name, method in direct.items():
                    setattr(ca.SX, name, method)

    def leave_block(self) -> None:
        """Closes a block; the last one restores the operators of CasADi."""
        with self._lock:
            self._open_blocks -= 1
            if self._open_blocks == 0:
                for name in _METHODS:
                    if name in self._own:
                        setattr(ca.SX, name, self._own[name])
                    else:
                        delattr(ca.SX, name)


def _make_direct_casadi_operators() -> dict[str, UfuncOperator | property]:
    """The direct methods of SX by name, each of which falls back to the current method of SX; and
    its shape, for which CasADi itself asks twice with each operand of a function."""
    made: dict[str, UfuncOperator | property] = {
        method: _direct_casadi_operator(getattr(ca.SX, method), *how)
        for method, how in _OPERATORS.items()
    }
    return made | {
        _UFUNC_METHOD: _direct_casadi_ufunc(ca.SX.__array_ufunc__),
        _PRODUCT_METHOD: _direct_casadi_product(ca.SX.__matmul__),
        _EXPRESSION_METHOD: _same_casadi_expression,
        "shape": property(_direct_casadi_shape),
    }


def _direct_casadi_operator(general: Operator, operation: int, swap: bool) -> Operator:
    """A method of SX that calls `SX.binary`, or `general` for operands of other types."""
    binary, types = ca.SX.binary, _DIRECT_TYPES

    def apply_casadi_operator(x: SX, y: Operand) -> SX:
        if is_numpy_matrix_operand(y):
            y = constant_casadi_expression(y)
        elif type(y) not in types:
            return general(x, y)
        return binary(operation, y, x) if swap else binary(operation, x, y)

    return apply_casadi_operator


def _direct_casadi_product(general: Operator) -> Operator:
    """A method of SX that multiplies matrices, or calls `general` for operands of other types."""

    def multiply_casadi_matrices(x: SX, y: Operand) -> SX:
        if is_numpy_matrix_operand(y):
            return ca.mtimes(x, constant_casadi_expression(y))
        return ca.mtimes(x, y) if type(y) is ca.SX else general(x, y)

    return multiply_casadi_matrices


def _same_casadi_expression(x: SX) -> SX:
    """The expression that an expression is read as: itself."""
    return x


def _direct_casadi_shape(
    x: SX,
    row_count: Callable[[SX], int] = _BINDING.GenSX_size1,
    column_count: Callable[[SX], int] = _BINDING.GenSX_size2,
) -> tuple[int, int]:
    """The numbers of rows and columns of an expression."""
    return row_count(x), column_count(x)


def _direct_casadi_ufunc(general: UfuncOperator) -> UfuncOperator:
    """The `__array_ufunc__` of SX, which NumPy calls if its array or number is on the left."""

    def apply_ufunc_to_casadi(
        self: SX, ufunc: np.ufunc, method: str, *inputs: object, **options: object
    ) -> SX:
        left = inputs[0]
        if method != "__call__" or options or not is_numpy_matrix_operand(left):
            return general(self, ufunc, method, *inputs, **options)
        if ufunc is np.matmul:
            return ca.mtimes(constant_casadi_expression(left), self)
        operation = _UFUNC_OPERATIONS.get(ufunc)
        if operation is None:
            return general(self, ufunc, method, *inputs, **options)
        return ca.SX.binary(operation, constant_casadi_expression(left), self)

    return apply_ufunc_to_casadi


def is_numpy_matrix_operand(x: object) -> TypeGuard[Floats]:
    """Whether x is a NumPy number or array that CasADi reads as a matrix or column."""
    if type(x) is np.ndarray:
        return bool(x.dtype == np.float64 and 0 < x.ndim < 3)
    return type(x) is np.float64


def constant_casadi_expression(x: Floats) -> SX:
    """The expression of a NumPy number or array of floats, made once: nobody may change it."""
    return _constant_casadi_matrix(x.tobytes(), x.shape)


@lru_cache(maxsize=4096)
def _constant_casadi_matrix(content: bytes, shape: tuple[int, ...]) -> SX:
    """The expression of a matrix of floats, given by its bytes."""
    return ca.SX(np.frombuffer(content).reshape(shape))


_SWITCH = _CasadiOperatorSwitch()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_SWITCH.renew_lock)
