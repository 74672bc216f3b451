"""Compiled loops as NumPy generalized ufuncs, made by functions of NumPy's C API.

A ufunc has a loop for float64 and one for float32. The latter is compiled during its first call,
and an error of the compiler is an exception of that call (see `lazy_loop`).

A ufunc owns the memory that it refers to, its code included: whatever keeps the ufunc alive keeps
the code.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ...ports import Port
from ...tape import Tape
from .code_loader import LoadedCode
from .direct_call import make_direct_call_record
from .lazy_loop import LazyLoop, lazy_loop_code
from .step_loop import CompiledStepLoop

_FLOAT32, _FLOAT64 = 11, 12  # NPY_FLOAT, NPY_DOUBLE
_NEW_UFUNC, _ADD_LOOP = 31, 43  # indices in NumPy's table of ufunc functions
_STRIDED_LOOP_SLOT = 5  # NPY_METH_strided_loop


class _MethodSpec(ctypes.Structure):
    """NumPy's `PyArrayMethod_Spec`: a loop that returns −1 after it has set a Python error."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("inputs", ctypes.c_int),
        ("outputs", ctypes.c_int),
        ("casting", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("dtypes", ctypes.c_void_p),
        ("slots", ctypes.c_void_p),
    ]


class _MethodSlot(ctypes.Structure):
    """A row of the slots of a `PyArrayMethod_Spec`; a row of zeros is the last."""

    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


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


def _numpy_ufunc_function(index: int, result: Any, *arguments: Any) -> Any:
    """A function of NumPy's table of ufunc functions; it is called with the interpreter's lock."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(_multiarray_umath._UFUNC_API, None), ctypes.POINTER(ctypes.c_void_p))
    return ctypes.PYFUNCTYPE(result, *arguments)(table[index])


@cache
def _ufunc_constructor() -> Any:
    """NumPy's `PyUFunc_FromFuncAndDataAndSignature`."""
    return _numpy_ufunc_function(
        _NEW_UFUNC,
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


@cache
def _loop_adder() -> Any:
    """NumPy's `PyUFunc_AddLoopFromSpec`."""
    return _numpy_ufunc_function(
        _ADD_LOOP, ctypes.c_int, ctypes.py_object, ctypes.POINTER(_MethodSpec)
    )


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
    texts = (name, documentation, gufunc_signature(inputs, outputs))
    counts = (len(inputs), len(outputs))
    ufunc, owned = _construct_ufunc(texts, counts, double_loop, threads)
    _add_single_loop(ufunc, counts, LazyLoop(compile_single, threads), owned)
    return ufunc


def direct_call_record(function: object) -> bytes | None:
    """Return the record for direct calls of a gufunc that `make_gufunc` has made; None for other
    functions."""
    if not isinstance(function, np.ufunc) or function.types[-1:] != _float64_types(function):
        return None
    fields = _UfuncFields.from_address(id(function) + object.__basicsize__)
    loops, data = (
        (ctypes.c_void_p * fields.n_types).from_address(x) for x in (fields.loops, fields.data)
    )
    if not fields.obj or function.signature is None or loops[-1] is None:
        return None
    return make_direct_call_record(function.signature, loops[-1], data[-1] or 0)


def _float64_types(ufunc: np.ufunc) -> list[str]:
    """Return the types of a loop of a ufunc in which all numbers are float64."""
    return ["d" * ufunc.nin + "->" + "d" * ufunc.nout]


def make_step_gufunc(tape: Tape, course: CompiledStepLoop, loop: LoadedCode) -> np.ufunc:
    """A generalized ufunc around the code of a float64 loop over steps, on one thread."""
    sides = [f"({','.join(names)})" for names in course.operand_axes(tape.inputs, tape.outputs)]
    n_in, n_out = len(tape.inputs), len(tape.outputs)
    signature = f"{','.join(sides[:n_in])}->{','.join(sides[n_in:])}"
    return _construct_ufunc((tape.name, "", signature), (n_in, n_out), loop, 1)[0]


def _construct_ufunc(
    texts: tuple[str, str, str], counts: tuple[int, int], double_loop: LoadedCode, threads: int
) -> tuple[np.ufunc, list[object]]:
    """A ufunc with a float64 loop, and the list of what it owns.

    `texts` are name, documentation and signature; `counts` are those of inputs and outputs.
    """
    allowed = ctypes.c_int64(threads)
    loops = (ctypes.c_void_p * 1)(double_loop.address)
    data = (ctypes.c_void_p * 1)(ctypes.addressof(allowed))
    types = ctypes.create_string_buffer(bytes([_FLOAT64] * sum(counts)))
    name, documentation, signature = (ctypes.create_string_buffer(x.encode()) for x in texts)
    ufunc: np.ufunc = _ufunc_constructor()(
        ctypes.addressof(loops),
        ctypes.addressof(data),
        ctypes.addressof(types),
        len(loops),
        *counts,
        -1,
        ctypes.addressof(name),
        ctypes.addressof(documentation),
        0,
        ctypes.addressof(signature),
    )
    owned = [double_loop, allowed, loops, data, types, name, documentation, signature]
    _give_ownership(ufunc, owned, ctypes.addressof(name))
    return ufunc, owned


def _add_single_loop(
    ufunc: np.ufunc, counts: tuple[int, int], loop: LazyLoop, owned: list[object]
) -> None:
    """Adds a float32 loop, in front of that for float64 in the list of types: NumPy takes the first
    loop to which it can cast an input safely."""
    total = sum(counts)
    dtypes = (ctypes.c_void_p * total)(*[id(type(np.dtype(np.float32)))] * total)
    slots = (_MethodSlot * 2)(_MethodSlot(_STRIDED_LOOP_SLOT, lazy_loop_code().address))
    spec = _MethodSpec(b"float32", *counts, 0, 0, ctypes.addressof(dtypes), ctypes.addressof(slots))
    _loop_adder()(ufunc, spec)
    fields = _UfuncFields.from_address(id(ufunc) + object.__basicsize__)
    double_loop, double_data = (
        ctypes.c_void_p.from_address(x).value for x in (fields.loops, fields.data)
    )
    loops = (ctypes.c_void_p * 2)(None, double_loop)
    data = (ctypes.c_void_p * 2)(loop.address, double_data)
    types = ctypes.create_string_buffer(bytes([_FLOAT32] * total + [_FLOAT64] * total))
    fields.loops, fields.data = ctypes.addressof(loops), ctypes.addressof(data)
    fields.types = ctypes.addressof(types)
    fields.n_types = 2
    owned += [loop, loops, data, types]
