"""The tape as machine code: NumPy generalized ufuncs that compute one state in each SIMD lane."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache as once
from typing import TYPE_CHECKING

import numpy as np

from ...ports import Port
from ...tape import Tape, TapeExpression, record_expression_tape
from . import code_cache
from .code_loader import LoadedCode, load_object_code
from .code_table import LOADED_CODES
from .ir_compiler import compile_ir
from .program_code import CompiledProgram, assemble_procedure, assemble_program
from .step_loop import CompiledStepLoop
from .ufunc import make_gufunc, make_step_gufunc

if TYPE_CHECKING:
    from ...program.syntax import Program
    from .target import MachineTarget

__all__ = [
    "CompiledProgram",
    "CompiledStepLoop",
    "LoadedCode",
    "assemble_tape_object_code",
    "compile_cached_tape",
    "compile_expressions",
    "compile_procedure",
    "compile_program",
    "compile_step_loop",
    "compile_tape",
    "default_thread_count",
    "load_tape_loop",
    "shared_object_code",
]


def assemble_tape_object_code(
    tape: Tape,
    item_bytes: int,
    target: MachineTarget | None = None,
    course: CompiledStepLoop | None = None,
) -> bytes:
    """The object file of a tape for numbers of 8 or 4 bytes; it needs `shared_object_code` when loaded."""
    from .tape_ir import DOUBLE_PRECISION, SINGLE_PRECISION
    from .tape_module import emit_tape_module
    from .target import host_target

    chosen = target or host_target()
    precision = DOUBLE_PRECISION if item_bytes == 8 else SINGLE_PRECISION
    return compile_ir(emit_tape_module(tape, chosen, precision, course), chosen)


def shared_object_code(item_bytes: int, target: MachineTarget | None = None) -> bytes:
    """The object file of the functions that all code of a precision shares, cached or compiled."""
    name = code_cache.code_cache_key("support", item_bytes, target or code_cache.cpu_identity())
    content = code_cache.read_code_cache_entry(name)
    if content is None:
        content = _assemble_shared_code(item_bytes, target)
        code_cache.write_code_cache_entry(name, content)
    return content


@once
def _assemble_shared_code(item_bytes: int, target: MachineTarget | None) -> bytes:
    """The object file of the shared functions, compiled now."""
    from .shared_ir import shared_functions_ir
    from .tape_ir import DOUBLE_PRECISION, SINGLE_PRECISION
    from .target import host_target

    chosen = target or host_target()
    precision = DOUBLE_PRECISION if item_bytes == 8 else SINGLE_PRECISION
    return compile_ir(shared_functions_ir(chosen, precision.scalar, item_bytes), chosen)


def default_thread_count() -> int:
    """The number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def compile_tape(
    tape: Tape,
    documentation: str = "",
    target: MachineTarget | None = None,
    threads: int | None = None,
) -> np.ufunc:
    """The tape as a generalized ufunc over (…, shape) arrays of float64 or float32.

    Large batches are split between `threads` threads (None: one for each core).
    """
    return compile_cached_tape(
        tape.name,
        documentation,
        tape.inputs,
        tape.outputs,
        lambda: tape,
        (tape.digest,),
        target=target,
        threads=threads,
    )


def load_tape_loop(tape: Tape, item_bytes: int) -> LoadedCode:
    """The loop of a tape over states, for numbers of 8 or 4 bytes, with the signature of a ufunc's loop."""
    key = code_cache.code_cache_key((tape.digest,), item_bytes, code_cache.cpu_identity())
    return _load_cached_machine_code(
        key, lambda: assemble_tape_object_code(tape, item_bytes, None), item_bytes, None
    )


def compile_expressions(
    name: str,
    inputs: Sequence[TapeExpression],
    outputs: Sequence[TapeExpression],
    *,
    threads: int | None = None,
) -> np.ufunc:
    """CasADi expressions as a generalized ufunc of their inputs, which are symbols."""
    return compile_tape(record_expression_tape(name, inputs, outputs), threads=threads)


def compile_cached_tape(
    name: str,
    documentation: str,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    tape: Callable[[], Tape],
    identity: Sequence[object],
    *,
    target: MachineTarget | None = None,
    threads: int | None = None,
) -> np.ufunc:
    """The generalized ufunc of a tape that is made only if no code is stored for its `identity`."""
    made = once(tape)

    def load_loop_code(item_bytes: int) -> LoadedCode:
        key = code_cache.code_cache_key(identity, item_bytes, target or code_cache.cpu_identity())
        return _load_cached_machine_code(
            key, lambda: assemble_tape_object_code(made(), item_bytes, target), item_bytes, target
        )

    return make_gufunc(
        name,
        documentation,
        tuple(inputs),
        tuple(outputs),
        load_loop_code(8),
        lambda: load_loop_code(4),
        threads=threads or default_thread_count(),
    )


def compile_step_loop(
    tape: Tape, course: CompiledStepLoop, target: MachineTarget | None = None
) -> np.ufunc:
    """The generalized ufunc that repeats a tape of one step, as often as its inputs say.

    It has float64 arguments such as `(3),(steps,3),()->(kept,3)`, runs on the caller's thread, and needs its outputs as
    `out=`.
    """
    key = code_cache.code_cache_key((tape.digest, course), 8, target or code_cache.cpu_identity())
    code = _load_cached_machine_code(
        key, lambda: assemble_tape_object_code(tape, 8, target, course), 8, target
    )
    return make_step_gufunc(tape, course, code)


def compile_program(
    read: Callable[[], Program], identity: Sequence[object], *, is_single: bool = False
) -> CompiledProgram:
    """Compile a program whose parameters are buffers and tapes into a function of arrays and of the code of tapes. The
    program is read only if no code is stored for its `identity`. With `is_single`, it has one lane."""
    key = code_cache.code_cache_key("program", identity, is_single, code_cache.cpu_identity())
    return CompiledProgram(
        _load_cached_machine_code(
            key, lambda: assemble_program(read(), is_single=is_single), 8, None
        )
    )


def compile_procedure(tape: Tape, *, is_single: bool = False) -> LoadedCode:
    """The code of a tape that programs call, on one lane or on many."""
    key = code_cache.code_cache_key("procedure", tape.digest, is_single, code_cache.cpu_identity())
    return _load_cached_machine_code(
        key, lambda: assemble_procedure(tape, is_single=is_single), 8, None
    )


def _load_cached_machine_code(
    key: str, make: Callable[[], bytes], item_bytes: int, target: MachineTarget | None
) -> LoadedCode:
    """The code of a key: from this process, else from the cache on disk, else compiled now."""

    def load_machine_code() -> LoadedCode:
        content = code_cache.read_code_cache_entry(key)
        if content is None:
            content = make()
            code_cache.write_code_cache_entry(key, content)
        return load_object_code(content, shared_object_code(item_bytes, target))

    return LOADED_CODES.get_or_load(key, load_machine_code)
