"""Compiled loops as real NumPy generalized ufuncs, through NumPy's own C function.

The ufunc has a loop for float32 and one for float64; that for float32 is compiled when it
is first called, and then takes the place of the stub that did so.

A ufunc owns what it points to in memory, its code included: whatever keeps the ufunc alive keeps
the code.
"""

from __future__ import annotations

import ctypes
import gc
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ...ports import Port
from ...tape import Tape
from .code_loader import LoadedCode
from .step_loop import StepLoop

_FLOAT32, _FLOAT64 = 11, 12  # NPY_FLOAT, NPY_DOUBLE
_LOOP_FUNCTION = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)
_NUMPY_API_INDEX = 31  # index in NumPy's table of ufunc functions


class _UfuncFields(ctypes.Structure):
    """The first fields of NumPy's `PyUFuncObject`, behind the head that all objects have."""

    _fields_ = [
        ("counts", ctypes.c_int * 4), ("loops", ctypes.c_void_p), ("data", ctypes.c_void_p),
        ("n_types", ctypes.c_int), ("reserved", ctypes.c_int), ("name", ctypes.c_void_p),
        ("types", ctypes.c_void_p), ("doc", ctypes.c_void_p), ("ptr", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
    ]  # fmt: skip


def _give_ownership(ufunc: np.ufunc, owned: list[Any], name: int) -> None:
    """Hands `owned` to the ufunc, which drops it when it dies: NumPy's field `obj` is for that.
    `name` is the address of the ufunc's name, to be found in its place."""
    fields = _UfuncFields.from_address(id(ufunc) + object.__basicsize__)
    if fields.name != name or fields.obj:
        raise AssertionError(f"NumPy {np.__version__} has a different ufunc layout")
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(owned))
    fields.obj = id(owned)
    if not gc.is_tracked(ufunc):  # now it may be in a cycle
        ctypes.pythonapi.PyObject_GC_Track(ctypes.py_object(ufunc))


@lru_cache(maxsize=1)
def _ufunc_constructor() -> Any:
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
    return prototype(table[_NUMPY_API_INDEX])


def gufunc_signature(inputs: tuple[Port, ...], outputs: tuple[Port, ...]) -> str:
    """`(6),(6),(6)->(6)`: sizes are fixed, so that a wrong length is NumPy's own error."""

    def side(ports: tuple[Port, ...]) -> str:
        return ",".join(f"({','.join(map(str, port.shape))})" for port in ports)

    return f"{side(inputs)}->{side(outputs)}"


def make_gufunc(
    name: str,
    documentation: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    double_loop: LoadedCode,
    compile_single: Callable[[], LoadedCode],
    *,
    threads: int,
) -> np.ufunc:
    """A generalized ufunc around the code of a float64 loop.

    `compile_single` makes the code of the float32 loop. A call on a large batch may use up to
    `threads` threads.
    """
    loops = (ctypes.c_void_p * 2)()
    single: list[LoadedCode] = []  # the stub owns it, and the ufunc owns the stub

    def stub(args: int, dimensions: int, steps: int, data: int) -> None:
        try:
            single.append(compile_single())
        except BaseException as error:  # NumPy's loops have no way to fail
            _fill_with_nan(inputs, outputs, args, dimensions, steps)
            _raise_after_call(error)
            return
        loops[0] = single[0].address
        _LOOP_FUNCTION(single[0].address)(args, dimensions, steps, data)

    callback = _LOOP_FUNCTION(stub)
    loops[0] = ctypes.c_void_p.from_buffer(callback).value  # a cast would make a cycle
    loops[1] = double_loop.address
    texts = (name, documentation, gufunc_signature(inputs, outputs))
    counts, types = (len(inputs), len(outputs)), (_FLOAT32, _FLOAT64)
    return _construct_ufunc(texts, counts, loops, types, threads, [double_loop, callback])


def make_step_gufunc(tape: Tape, course: StepLoop, loop: LoadedCode) -> np.ufunc:
    """A generalized ufunc around the code of a float64 loop over steps, on one thread."""
    sides = [f"({','.join(names)})" for names in course.operand_axes(tape.inputs, tape.outputs)]
    n_in, n_out = len(tape.inputs), len(tape.outputs)
    signature = f"{','.join(sides[:n_in])}->{','.join(sides[n_in:])}"
    loops = (ctypes.c_void_p * 1)(loop.address)
    texts = (tape.name, "", signature)
    return _construct_ufunc(texts, (n_in, n_out), loops, (_FLOAT64,), 1, [loop])


def _construct_ufunc(
    texts: tuple[str, str, str],
    counts: tuple[int, int],
    loops: ctypes.Array[ctypes.c_void_p],
    types: tuple[int, ...],
    threads: int,
    owned: list[Any],
) -> np.ufunc:
    """A ufunc with a loop for each type of number, which owns `owned`.

    `texts` are name, documentation and signature; `counts` are those of inputs and outputs.
    """
    allowed = ctypes.c_int64(threads)
    data = (ctypes.c_void_p * len(types))(*[ctypes.addressof(allowed)] * len(types))
    kinds = ctypes.create_string_buffer(bytes(kind for kind in types for _ in range(sum(counts))))
    name, documentation, signature = (ctypes.create_string_buffer(x.encode()) for x in texts)
    ufunc: np.ufunc = _ufunc_constructor()(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.addressof(kinds),
        len(types),
        *counts,
        -1,
        ctypes.addressof(name),
        ctypes.addressof(documentation),
        0,
        ctypes.addressof(signature),
    )
    owned += [loops, allowed, data, kinds, name, documentation, signature]
    _give_ownership(ufunc, owned, ctypes.addressof(name))
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


def _raise_after_call(error: BaseException) -> None:
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
