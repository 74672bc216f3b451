"""Calls in machine code: a function and, where this refuses its arguments, another one.

A method `__call__` in Python would take longer than a small compiled function needs for its work.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from .code_loader import LoadedCode
from .direct_call import DIRECT_CALL_IR, has_known_array_layout
from .lazy_loop import OBJECT_HEAD_BYTES, load_helper_code

_CALL_SLOT = 50  # Py_tp_call
_BASE_TYPE_FLAG = 1 << 10  # Py_TPFLAGS_BASETYPE

_NO_DIRECT_CALL_IR = """
define internal ptr @call_directly(ptr %bytes, ptr %args) {
  ret ptr null
}
"""

_CALL_IR = f"""
@_Py_NoneStruct = external global i8
declare ptr @PyObject_Call(ptr, ptr, ptr)
declare i32 @PyErr_ExceptionMatches(ptr)
declare void @PyErr_Clear()

define ptr @loop(ptr %self, ptr %args, ptr %options) {{
entry:
  %direct.field = getelementptr i8, ptr %self, i64 {OBJECT_HEAD_BYTES}
  %direct = load ptr, ptr %direct.field
  %has.record = icmp ne ptr %direct, @_Py_NoneStruct
  %has.no.options = icmp eq ptr %options, null
  %may.be.direct = and i1 %has.record, %has.no.options
  br i1 %may.be.direct, label %directly, label %usual
directly:
  %result = call ptr @call_directly(ptr %direct, ptr %args)
  %is.computed = icmp ne ptr %result, null
  br i1 %is.computed, label %computed, label %usual
computed:
  ret ptr %result
usual:
  %function.field = getelementptr i8, ptr %self, i64 {OBJECT_HEAD_BYTES + 16}
  %function = load ptr, ptr %function.field
  %found = call ptr @PyObject_Call(ptr %function, ptr %args, ptr %options)
  %is.refused = icmp eq ptr %found, null
  br i1 %is.refused, label %refused, label %done
done:
  ret ptr %found
refused:
  %refusals.field = getelementptr i8, ptr %self, i64 {OBJECT_HEAD_BYTES + 24}
  %refusals = load ptr, ptr %refusals.field
  %matches = call i32 @PyErr_ExceptionMatches(ptr %refusals)
  %is.other = icmp eq i32 %matches, 0
  br i1 %is.other, label %raise, label %fall.back
raise:
  ret ptr null
fall.back:
  call void @PyErr_Clear()
  %fallback.field = getelementptr i8, ptr %self, i64 {OBJECT_HEAD_BYTES + 8}
  %fallback = load ptr, ptr %fallback.field
  %other = call ptr @PyObject_Call(ptr %fallback, ptr %args, ptr %options)
  ret ptr %other
}}
"""
"""`FallbackCall.__call__` in machine code; the slots of an object are in alphabetical order."""


class FallbackCall:
    """An object that calls `function` and, where this raises one of `refusals`, `fallback`.

    `direct` is the record by which machine code calls the loop of a gufunc past the gufunc, if there
    is one (`direct_call`).
    """

    __slots__ = ("direct", "fallback", "function", "refusals")

    def __init__(
        self,
        function: Callable[..., object],
        fallback: Callable[..., object],
        refusals: tuple[type[Exception], ...],
        direct: bytes | None = None,
    ) -> None:
        self.function, self.fallback, self.refusals = function, fallback, refusals
        self.direct = direct

    def __call__(self, *arguments: object, **options: object) -> object:
        """Call the function or its fallback; `call_in_machine_code` replaces this method."""
        try:
            return self.function(*arguments, **options)
        except self.refusals:
            pass
        return self.fallback(*arguments, **options)


SomeFallbackCall = TypeVar("SomeFallbackCall", bound=FallbackCall)


@cache
def call_in_machine_code(kind: type[SomeFallbackCall]) -> type[SomeFallbackCall]:
    """A subclass of `kind` whose objects are called by machine code, with the same results."""
    made: type[SomeFallbackCall] = type(
        kind.__name__, (_machine_call_type(), kind), {"__module__": kind.__module__}
    )
    _check_slot_places(made)
    return made


class _TypeSlot(ctypes.Structure):
    """CPython's `PyType_Slot`; a row of zeros is the last."""

    _fields_ = [("slot", ctypes.c_int), ("function", ctypes.c_void_p)]


class _TypeSpec(ctypes.Structure):
    """CPython's `PyType_Spec`; a size of 0 is that of the base."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("size", ctypes.c_int),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_uint),
        ("slots", ctypes.c_void_p),
    ]


@cache
def _machine_call_code() -> LoadedCode:
    """The machine code of all such calls, which stays loaded."""
    direct = DIRECT_CALL_IR if has_known_array_layout() else _NO_DIRECT_CALL_IR
    return load_helper_code(f"call with a fallback, {direct}", _CALL_IR + direct)


@cache
def _machine_call_type() -> type[FallbackCall]:
    """A subclass of `FallbackCall` whose slot `tp_call` is machine code."""
    slots = (_TypeSlot * 2)(_TypeSlot(_CALL_SLOT, _machine_call_code().address))
    name = f"{__name__}.MachineCall".encode()
    spec = _TypeSpec(name, 0, 0, _BASE_TYPE_FLAG, ctypes.addressof(slots))
    create = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.POINTER(_TypeSpec), ctypes.py_object)(
        ("PyType_FromSpecWithBases", ctypes.pythonapi)
    )
    made: type[FallbackCall] = create(spec, (FallbackCall,))
    return made


def _check_slot_places(kind: type[FallbackCall]) -> None:
    """Raises unless the slots of an object are where the machine code reads them."""
    one = kind.__new__(kind)
    FallbackCall.__init__(one, print, repr, (ValueError,))
    found = (ctypes.c_void_p * 4).from_address(id(one) + OBJECT_HEAD_BYTES)
    if list(found) != [id(x) for x in (one.direct, one.fallback, one.function, one.refusals)]:
        raise AssertionError("this Python lays out the slots of objects differently")
