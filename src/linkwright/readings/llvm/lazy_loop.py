"""A loop of a ufunc that is compiled during its first call, and may fail to be.

NumPy takes an error from a loop that sets a Python exception and returns −1. A function of Python
that is called from C cannot leave an exception set, so a few lines of machine code do that: they
call the compiled loop, or first a function of Python that compiles it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

from . import code_cache
from .code_loader import LoadedCode, load_object_code
from .ir_compiler import compile_ir
from .target import host_target

OBJECT_HEAD_BYTES = object.__basicsize__
"""Bytes in front of the fields of a Python object; the last pointer of them is its type."""

_LOOP_IR = f"""
declare i32 @PyGILState_Ensure()
declare void @PyGILState_Release(i32)
declare void @PyErr_SetObject(ptr, ptr)
declare void @Py_DecRef(ptr)

define i32 @loop(ptr %context, ptr %args, ptr %dimensions, ptr %steps, ptr %unused) {{
entry:
  %ufunc = load ptr, ptr %context
  %data.field = getelementptr i8, ptr %ufunc, i64 {OBJECT_HEAD_BYTES + 24}
  %data = load ptr, ptr %data.field
  %lazy = load ptr, ptr %data
  %code.field = getelementptr i8, ptr %lazy, i64 8
  %known = load ptr, ptr %code.field
  %is.compiled = icmp ne ptr %known, null
  br i1 %is.compiled, label %run, label %compile
compile:
  %compiler.field = getelementptr i8, ptr %lazy, i64 16
  %compiler = load ptr, ptr %compiler.field
  %error = call ptr %compiler()
  %new = load ptr, ptr %code.field
  %has.failed = icmp ne ptr %error, null
  br i1 %has.failed, label %fail, label %run
run:
  %code = phi ptr [%known, %entry], [%new, %compile]
  call void %code(ptr %args, ptr %dimensions, ptr %steps, ptr %lazy)
  ret i32 0
fail:
  %lock = call i32 @PyGILState_Ensure()
  %type.field = getelementptr i8, ptr %error, i64 {OBJECT_HEAD_BYTES - 8}
  %type = load ptr, ptr %type.field
  call void @PyErr_SetObject(ptr %type, ptr %error)
  call void @Py_DecRef(ptr %error)
  call void @PyGILState_Release(i32 %lock)
  ret i32 -1
}}
"""
"""NumPy's strided loop: the ufunc's first data pointer is that to a `_LazyLoopFields`."""

_COMPILER_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_void_p)


class _LazyLoopFields(ctypes.Structure):
    """What the machine code reads: threads that the loop may use, its code or null, its compiler."""

    _fields_ = [
        ("threads", ctypes.c_int64),
        ("code", ctypes.c_void_p),
        ("compiler", ctypes.c_void_p),
    ]


class LazyLoop:
    """The memory of a loop that `compile_loop` compiles when it is called for the first time."""

    def __init__(self, compile_loop: Callable[[], LoadedCode], threads: int) -> None:
        fields = _LazyLoopFields(threads, None, None)
        code: list[LoadedCode] = []  # the callback owns it, and this object the callback

        def compiler() -> int | None:
            """Compile the loop; after an error, return a new reference to the exception."""
            try:
                code.append(compile_loop())
            except BaseException as error:
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(error))
                return id(error)
            fields.code = code[0].address
            return None

        self._callback = _COMPILER_FUNCTION(compiler)
        fields.compiler = ctypes.c_void_p.from_buffer(self._callback).value  # a cast makes a cycle
        self._fields = fields

    @property
    def address(self) -> int:
        """The address of the fields that the machine code reads."""
        return ctypes.addressof(self._fields)


@cache
def lazy_loop_code() -> LoadedCode:
    """The machine code that all lazy loops share, which stays loaded."""
    return load_helper_code("lazy loop", _LOOP_IR)


def load_helper_code(name: str, text: str) -> LoadedCode:
    """Load the function `loop` of a module of LLVM IR, from the cache or compiled now."""
    key = code_cache.code_cache_key(name, code_cache.cpu_identity())
    content = code_cache.read_code_cache_entry(key)
    if content is None:
        content = compile_ir(text, host_target())
        code_cache.write_code_cache_entry(key, content)
    return load_object_code(content)
