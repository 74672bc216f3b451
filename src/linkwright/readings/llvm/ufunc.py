"""Compiled loops as real NumPy generalized ufuncs, through NumPy's own C function.

The ufunc has a loop for float32 and one for float64; that for float32 is compiled when it
is first called, and then takes the place of the stub that did so.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...tape import Port, Tape
from .march import Course

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
        try:
            address = compile_single()
        except BaseException as error:  # NumPy's loops have no way to fail
            _fill_with_nan(inputs, outputs, args, dimensions, steps)
            _raise_after_the_call(error)
            return
        loops[0] = address
        _LOOP(address)(args, dimensions, steps, data)

    callback = _LOOP(stub)
    loops[0] = ctypes.cast(callback, ctypes.c_void_p).value
    loops[1] = double_loop
    _immortal.append(callback)
    texts = (name, documentation, signature_text(inputs, outputs))
    return _constructed(texts, len(inputs), len(outputs), loops, (_FLOAT32, _FLOAT64), threads)


def make_march(tape: Tape, course: Course, loop: int) -> np.ufunc:
    """A generalized ufunc around the address of a float64 loop over steps, on one thread."""
    sides = [f"({','.join(names)})" for names in course.axes(tape.inputs, tape.outputs)]
    n_in, n_out = len(tape.inputs), len(tape.outputs)
    signature = f"{','.join(sides[:n_in])}->{','.join(sides[n_in:])}"
    loops = (ctypes.c_void_p * 1)(loop)
    return _constructed((tape.name, "", signature), n_in, n_out, loops, (_FLOAT64,), 1)


def _constructed(
    texts: tuple[str, str, str],
    n_in: int,
    n_out: int,
    loops: ctypes.Array[ctypes.c_void_p],
    types: tuple[int, ...],
    threads: int,
) -> np.ufunc:
    """By NumPy, with a loop for each type of number; texts are name, documentation, signature."""
    allowed = ctypes.c_int64(threads)
    data = (ctypes.c_void_p * len(types))(*[ctypes.addressof(allowed)] * len(types))
    kinds = ctypes.create_string_buffer(bytes(kind for kind in types for _ in range(n_in + n_out)))
    name, documentation, signature = (ctypes.create_string_buffer(x.encode()) for x in texts)
    _immortal.extend([loops, allowed, data, kinds, name, documentation, signature])
    ufunc: np.ufunc = _constructor()(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.addressof(kinds),
        len(types),
        n_in,
        n_out,
        -1,
        ctypes.addressof(name),
        ctypes.addressof(documentation),
        0,
        ctypes.addressof(signature),
    )
    return ufunc


def _fill_with_nan(
    inputs: tuple[Port, ...], outputs: tuple[Port, ...], args: int, dimensions: int, steps: int
) -> None:
    """Float32 results that could not be computed must not look like results."""
    ports = [*inputs, *outputs]
    count = ctypes.c_ssize_t.from_address(dimensions).value
    sizes = len(ports) + sum(len(port.shape) for port in ports)
    strides = (ctypes.c_ssize_t * sizes).from_address(steps)
    pointers = (ctypes.c_void_p * len(ports)).from_address(args)
    inner = len(ports)
    for k, port in enumerate(ports):
        core = strides[inner : inner + len(port.shape)]
        inner += len(port.shape)
        if k < len(inputs):
            continue
        for state in range(count):
            start = (pointers[k] or 0) + state * strides[k]
            for index in np.ndindex(*port.shape):
                place = start + sum(i * stride for i, stride in zip(index, core, strict=True))
                ctypes.c_float.from_address(place).value = np.nan


def _raise_after_the_call(error: BaseException) -> None:
    """Raises in this thread a moment later: what is raised inside of a loop gets lost."""

    def again(self: BaseException) -> None:
        BaseException.__init__(self, *error.args)
        self.__dict__.update(error.__dict__)

    kind = type(type(error).__name__, (type(error),), {"__init__": again})
    thread = ctypes.c_ulong(threading.get_ident())
    raising = ctypes.pythonapi.PyThreadState_SetAsyncExc
    timer = threading.Timer(0.01, raising, [thread, ctypes.py_object(kind)])
    timer.daemon = True
    timer.start()
