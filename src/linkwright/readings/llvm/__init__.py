"""The tape as machine code: NumPy generalized ufuncs, one state a SIMD lane."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache as once
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ports import Port
from ...tape import NamedExpression, Tape, record_expressions
from . import cache
from .code_table import CODES
from .interruptible import call_interruptibly
from .loader import LoadedCode, load
from .march import Course
from .ufunc import make_march, make_ufunc

if TYPE_CHECKING:
    from .target import Target

__all__ = [
    "Course",
    "assemble",
    "compile_expressions",
    "compile_function",
    "compile_march",
    "compile_tape",
    "support_code",
]


def assemble(
    tape: Tape, item_bytes: int, target: Target | None = None, course: Course | None = None
) -> bytes:
    """The object file of a tape, for numbers of 8 or 4 bytes; it is loaded with `support_code`."""
    from .emit import DOUBLE, SINGLE, emit
    from .target import host

    chosen = target or host()
    machine = chosen.machine()
    precision = DOUBLE if item_bytes == 8 else SINGLE
    return _object_file(emit(tape, chosen, precision, course), machine)


def support_code(item_bytes: int, target: Target | None = None) -> bytes:
    """The object file of what all functions of a precision share, from the cache or compiled."""
    name = cache.key("support", item_bytes, target or cache.this_cpu())
    content = cache.get(name)
    if content is None:
        content = _assemble_support(item_bytes, target)
        cache.put(name, content)
    return content


@once
def _assemble_support(item_bytes: int, target: Target | None) -> bytes:
    from .emit import DOUBLE, SINGLE
    from .support import support_ir
    from .target import host

    chosen, precision = target or host(), DOUBLE if item_bytes == 8 else SINGLE
    return _object_file(support_ir(chosen, precision.scalar, item_bytes), chosen.machine())


def _object_file(text: str, machine: Any) -> bytes:
    import llvmlite.binding as llvm

    def translate() -> bytes:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(machine.emit_object(module))

    return call_interruptibly(translate)


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_tape(
    tape: Tape, documentation: str = "", target: Target | None = None, threads: int | None = None
) -> np.ufunc:
    """The tape as a generalized ufunc over (…, shape) arrays of float64 or float32.

    Large batches are split between `threads` threads (None: one for each core).
    """
    return compile_function(
        tape.name, documentation, tape.inputs, tape.outputs, lambda: tape, (tape.digest,), target,
        threads,
    )  # fmt: skip


def compile_expressions(
    name: str,
    inputs: Sequence[NamedExpression],
    outputs: Sequence[NamedExpression],
    *,
    threads: int | None = None,
) -> np.ufunc:
    """CasADi expressions as a generalized ufunc of their inputs, which are symbols."""
    return compile_tape(record_expressions(name, inputs, outputs), threads=threads)


def compile_function(
    name: str,
    documentation: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    tape: Callable[[], Tape],
    identity: Sequence[object],
    target: Target | None = None,
    threads: int | None = None,
) -> np.ufunc:
    """The same for a tape that is made only if no code is stored for its `identity`."""
    made = once(tape)

    def loop(item_bytes: int) -> LoadedCode:
        key = cache.key(identity, item_bytes, target or cache.this_cpu())
        return _code_of(key, lambda: assemble(made(), item_bytes, target), item_bytes, target)

    return make_ufunc(
        name,
        documentation,
        tuple(inputs),
        tuple(outputs),
        loop(8),
        lambda: loop(4),
        threads or _cores(),
    )


def compile_march(tape: Tape, course: Course, target: Target | None = None) -> np.ufunc:
    """A tape of one step, walked as often as its inputs say, on the caller's thread: a generalized
    ufunc of float64 like `(3),(steps,3),()->(kept,3)`. Outputs are to be given as `out=`."""
    key = cache.key((tape.digest, course), 8, target or cache.this_cpu())
    code = _code_of(key, lambda: assemble(tape, 8, target, course), 8, target)
    return make_march(tape, course, code)


def _code_of(
    key: str, make: Callable[[], bytes], item_bytes: int, target: Target | None
) -> LoadedCode:
    """The code of a key: from this process, else from the cache on disk, else made now."""

    def load_code() -> LoadedCode:
        content = cache.get(key)
        if content is None:
            content = make()
            cache.put(key, content)
        return load(content, support_code(item_bytes, target))

    return CODES.get_or_load(key, load_code)
