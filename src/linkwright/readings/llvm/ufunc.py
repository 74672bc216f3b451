"""Compiled loops as real NumPy generalized ufuncs, through NumPy's own C function.

The ufunc has a loop for float32 and one for float64; that for float32 is compiled when it
is first called, and then takes the place of the stub that did so.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...tape import Port

_FLOAT32, _FLOAT64 = 11, 12  # NPY_FLOAT, NPY_DOUBLE
_LOOP = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_FROM_FUNC_AND_SIGNATURE = 31  # index in NumPy's table of ufunc functions

_immortal: list[Any] = []
"""What ufuncs point to in memory. Compiled code lives as long as the process."""


@lru_cache(maxsize=1)
def _constructor() -> Any:
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object,
        ctypes.c_void_p,  # loops
        ctypes.c_void_p,  # their data
        ctypes.c_void_p,  # types
        ctypes.c_int,  # number of loops
        ctypes.c_int,  # inputs
        ctypes.c_int,  # outputs
        ctypes.c_int,  # identity
        ctypes.c_void_p,  # name
        ctypes.c_void_p,  # docstring
        ctypes.c_int,
        ctypes.c_void_p,  # signature
    )
    return prototype(table[_FROM_FUNC_AND_SIGNATURE])


def signature_text(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> str:
    """`(6),(6),(6)->(6)`: sizes are fixed, so that a wrong length is NumPy's own error."""

    def side(ports: tuple[Port, ...]) -> str:
        return ",".join(f"({','.join(map(str, port.shape))})" for port in ports)

    return f"{side(inputs)}->{side(outputs)}"


def make_ufunc(
    name: str,
    documentation: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    double_loop: int,
    compile_single: Callable[[], int],
    threads: int,
) -> np.ufunc:
    """A generalized ufunc around the address of a float64 loop.

    `compile_single` makes the float32 loop, and returns its address. A call on a large batch
    may use up to `threads` threads.
    """
    loops = (ctypes.c_void_p * 2)()

    def stub(args: int, dimensions: int, steps: int, data: int) -> None:
        address = compile_single()
        loops[0] = address
        _LOOP(address)(args, dimensions, steps, data)

    callback = _LOOP(stub)
    loops[0] = ctypes.cast(callback, ctypes.c_void_p).value
    loops[1] = double_loop
    allowed = ctypes.c_int64(threads)
    data = (ctypes.c_void_p * 2)(*[ctypes.addressof(allowed)] * 2)
    count = len(inputs) + len(outputs)
    types = ctypes.create_string_buffer(bytes([_FLOAT32] * count + [_FLOAT64] * count))
    texts = [
        ctypes.create_string_buffer(text.encode())
        for text in (name, documentation, signature_text(inputs, outputs))
    ]
    _immortal.extend([loops, callback, allowed, data, types, *texts])
    ufunc: np.ufunc = _constructor()(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.addressof(types),
        2,
        len(inputs),
        len(outputs),
        -1,
        ctypes.addressof(texts[0]),
        ctypes.addressof(texts[1]),
        0,
        ctypes.addressof(texts[2]),
    )
    return ufunc
