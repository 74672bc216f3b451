"""The direct call of a compiled loop for one state, past the machinery of generalized ufuncs.

NumPy takes half a microsecond to prepare a call of a gufunc, longer than a robot arm needs for its
dynamics. Where all inputs are plain float64 arrays of one state, machine code calls the loop itself.
In all other cases it calls the gufunc: for batches, lists, other types of numbers, `out=`, and where
a floating-point exception was raised, which NumPy reports as its settings say.
"""

from __future__ import annotations

import ctypes
import platform
import re
from functools import cache

import numpy as np

from .lazy_loop import OBJECT_HEAD_BYTES

MAX_INPUTS = 6
"""Functions with more inputs are called through their gufunc."""

_MAX_AXES = 2
_PORT_FIELDS = 1 + _MAX_AXES  # the number of axes, and their lengths
_ARRAY_TYPE, _FLOAT64_TYPE, _NEW_ARRAY, _LOOP, _LOOP_DATA, _INPUTS = range(6)  # fields of a record
_OUTPUT = 6
_FIRST_INPUT = _OUTPUT + _PORT_FIELDS
_COUNT = _FIRST_INPUT + MAX_INPUTS * _PORT_FIELDS  # the number of states, for the loop: 1
_STRIDES = _COUNT + 1
_RECORD_SIZE = _STRIDES + (MAX_INPUTS + 1) * (1 + _MAX_AXES)

_EMPTY_ARRAY_FUNCTION = 184  # PyArray_Empty in NumPy's table of array functions
_BYTES_HEAD = OBJECT_HEAD_BYTES + 16  # of a bytes object: size, hash
_TUPLE_HEAD = OBJECT_HEAD_BYTES + 8
_DATA, _AXES, _LENGTHS, _DTYPE, _FLAGS = (OBJECT_HEAD_BYTES + k for k in (0, 8, 16, 40, 48))
_CONTIGUOUS_AND_ALIGNED = 0x101
_ERROR_FLAGS = 0b11101  # of the register MXCSR: invalid, division by zero, overflow, underflow
_ALL_FLAGS = 0b111111

DIRECT_CALL_IR = f"""
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)
declare void @llvm.x86.sse.ldmxcsr(ptr)

define internal ptr @call_directly(ptr %bytes, ptr %args) {{
entry:
  %record = getelementptr i8, ptr %bytes, i64 {_BYTES_HEAD}
  %arrays = alloca [{MAX_INPUTS + 1} x ptr]
  %status = alloca i32
  %size.field = getelementptr i8, ptr %args, i64 {OBJECT_HEAD_BYTES}
  %size = load i64, ptr %size.field
  %inputs.field = getelementptr i64, ptr %record, i64 {_INPUTS}
  %inputs = load i64, ptr %inputs.field
  %array.type = load ptr, ptr %record
  %float64.field = getelementptr i64, ptr %record, i64 {_FLOAT64_TYPE}
  %float64 = load ptr, ptr %float64.field
  %items = getelementptr i8, ptr %args, i64 {_TUPLE_HEAD}
  %is.complete = icmp eq i64 %size, %inputs
  br i1 %is.complete, label %input, label %refused
input:
  %k = phi i64 [0, %entry], [%k.next, %accepted]
  %item.field = getelementptr ptr, ptr %items, i64 %k
  %item = load ptr, ptr %item.field
  %type.field = getelementptr i8, ptr %item, i64 {OBJECT_HEAD_BYTES - 8}
  %type = load ptr, ptr %type.field
  %is.array = icmp eq ptr %type, %array.type
  br i1 %is.array, label %array, label %refused
array:
  %dtype.field = getelementptr i8, ptr %item, i64 {_DTYPE}
  %dtype = load ptr, ptr %dtype.field
  %flags.field = getelementptr i8, ptr %item, i64 {_FLAGS}
  %flags = load i32, ptr %flags.field
  %axes.field = getelementptr i8, ptr %item, i64 {_AXES}
  %axes = load i32, ptr %axes.field
  %axes.long = zext i32 %axes to i64
  %place = mul i64 %k, {_PORT_FIELDS}
  %place.in = add i64 %place, {_FIRST_INPUT}
  %port = getelementptr i64, ptr %record, i64 %place.in
  %axes.expected = load i64, ptr %port
  %is.float64 = icmp eq ptr %dtype, %float64
  %plain = and i32 %flags, {_CONTIGUOUS_AND_ALIGNED}
  %is.plain = icmp eq i32 %plain, {_CONTIGUOUS_AND_ALIGNED}
  %has.axes = icmp eq i64 %axes.long, %axes.expected
  %is.good = and i1 %is.float64, %is.plain
  %is.state = and i1 %is.good, %has.axes
  br i1 %is.state, label %lengths, label %refused
lengths:
  %lengths.field = getelementptr i8, ptr %item, i64 {_LENGTHS}
  %array.lengths = load ptr, ptr %lengths.field
  br label %axis
axis:
  %a = phi i64 [0, %lengths], [%a.next, %same.length]
  %a.next = add i64 %a, 1
  %is.end = icmp eq i64 %a, %axes.long
  br i1 %is.end, label %accepted, label %length
length:
  %length.field = getelementptr i64, ptr %array.lengths, i64 %a
  %length.found = load i64, ptr %length.field
  %expected.field = getelementptr i64, ptr %port, i64 %a.next
  %length.expected = load i64, ptr %expected.field
  %is.same = icmp eq i64 %length.found, %length.expected
  br i1 %is.same, label %same.length, label %refused
same.length:
  br label %axis
accepted:
  %data.field = getelementptr i8, ptr %item, i64 {_DATA}
  %data = load ptr, ptr %data.field
  %slot = getelementptr ptr, ptr %arrays, i64 %k
  store ptr %data, ptr %slot
  %k.next = add i64 %k, 1
  %has.more = icmp ult i64 %k.next, %inputs
  br i1 %has.more, label %input, label %create
create:
  call void @Py_IncRef(ptr %float64)
  %new.field = getelementptr i64, ptr %record, i64 {_NEW_ARRAY}
  %new = load ptr, ptr %new.field
  %output = getelementptr i64, ptr %record, i64 {_OUTPUT}
  %output.axes = load i64, ptr %output
  %output.count = trunc i64 %output.axes to i32
  %output.lengths = getelementptr i64, ptr %output, i64 1
  %found = call ptr %new(i32 %output.count, ptr %output.lengths, ptr %float64, i32 0)
  %is.missing = icmp eq ptr %found, null
  br i1 %is.missing, label %no.memory, label %compute
no.memory:
  call void @PyErr_Clear()
  br label %refused
compute:
  %found.field = getelementptr i8, ptr %found, i64 {_DATA}
  %found.data = load ptr, ptr %found.field
  %found.slot = getelementptr ptr, ptr %arrays, i64 %inputs
  store ptr %found.data, ptr %found.slot
  call void @llvm.x86.sse.stmxcsr(ptr %status)
  %before = load i32, ptr %status
  %clear = and i32 %before, {~_ALL_FLAGS}
  store i32 %clear, ptr %status
  call void @llvm.x86.sse.ldmxcsr(ptr %status)
  %loop.field = getelementptr i64, ptr %record, i64 {_LOOP}
  %loop = load ptr, ptr %loop.field
  %loop.data.field = getelementptr i64, ptr %record, i64 {_LOOP_DATA}
  %loop.data = load ptr, ptr %loop.data.field
  %count = getelementptr i64, ptr %record, i64 {_COUNT}
  %strides = getelementptr i64, ptr %record, i64 {_STRIDES}
  call void %loop(ptr %arrays, ptr %count, ptr %strides, ptr %loop.data)
  call void @llvm.x86.sse.stmxcsr(ptr %status)
  %after = load i32, ptr %status
  %raised = and i32 %after, {_ERROR_FLAGS}
  %is.sound = icmp eq i32 %raised, 0
  br i1 %is.sound, label %done, label %report
done:
  ret ptr %found
report:
  call void @Py_DecRef(ptr %found)
  br label %refused
refused:
  ret ptr null
}}
"""
"""`call_directly(record, arguments)`: the result, or null where the gufunc must be called; no error
is set then."""


def make_direct_call_record(signature: str, loop: int, data: int) -> bytes | None:
    """Return what machine code must know of a gufunc to call its float64 loop for one state.

    `loop` and `data` are the addresses of the loop and of its data, which the gufunc owns. None if
    the gufunc has several outputs or a scalar one, if it has many inputs, or on machines other than
    x86-64.
    """
    sides = [_read_shapes(side) for side in signature.split("->")]
    inputs, outputs = sides
    is_simple = len(inputs) <= MAX_INPUTS and len(outputs) == 1 and outputs[0]
    if not is_simple or not has_known_array_layout():
        return None
    record = np.zeros(_RECORD_SIZE, np.int64)
    record[_ARRAY_TYPE], record[_FLOAT64_TYPE] = id(np.ndarray), id(np.dtype(np.float64))
    record[_NEW_ARRAY], record[_LOOP], record[_LOOP_DATA] = _empty_array_function(), loop, data
    record[_INPUTS], record[_COUNT] = len(inputs), 1
    ports = [*inputs, *outputs]
    places = [_FIRST_INPUT + _PORT_FIELDS * k for k in range(len(inputs))] + [_OUTPUT]
    for place, shape in zip(places, ports, strict=True):
        record[place] = len(shape)
        record[place + 1 : place + 1 + len(shape)] = shape
    strides = [0] * len(ports)  # from state to state: there is one
    for shape in ports:
        strides += [8 * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
    record[_STRIDES : _STRIDES + len(strides)] = strides
    return record.tobytes()


def _read_shapes(side: str) -> list[tuple[int, ...]]:
    """Return the shapes of one side of a signature: "(6),()" is [(6,), ()]."""
    return [
        tuple(int(size) for size in part.split(",") if size)
        for part in re.findall(r"\(([^()]*)\)", side)
    ]


@cache
def has_known_array_layout() -> bool:
    """Whether arrays of this NumPy have their fields where the machine code reads them."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    array = np.arange(12.0).reshape(3, 4)
    place = id(array)
    lengths = ctypes.c_void_p.from_address(place + _LENGTHS).value
    flags = ctypes.c_int.from_address(place + _FLAGS).value
    return (
        ctypes.c_void_p.from_address(place + _DATA).value == array.ctypes.data
        and ctypes.c_int.from_address(place + _AXES).value == array.ndim
        and lengths is not None
        and tuple((ctypes.c_ssize_t * array.ndim).from_address(lengths)) == array.shape
        and ctypes.c_void_p.from_address(place + _DTYPE).value == id(np.dtype(np.float64))
        and flags & _CONTIGUOUS_AND_ALIGNED == _CONTIGUOUS_AND_ALIGNED
        and ctypes.c_ssize_t.from_address(id((1, 2)) + OBJECT_HEAD_BYTES).value == 2
    )


@cache
def _empty_array_function() -> int:
    """Return the address of NumPy's `PyArray_Empty`."""
    from numpy._core import _multiarray_umath  # type: ignore[attr-defined]

    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(get(_multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    return int(table[_EMPTY_ARRAY_FUNCTION] or 0)
