"""The tape as machine code: NumPy generalized ufuncs, one state a SIMD lane."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ...tape import Tape
from .emit import DOUBLE, SINGLE, Precision, emit
from .target import Target, host
from .ufunc import make_ufunc

_engines: list[Any] = []
"""Engines own their code, which lives as long as the process."""


def load(ir: str, target: Target) -> int:
    """Compiles a module; the address of its function `loop`."""
    import llvmlite.binding as llvm

    machine = target.machine()
    module = llvm.parse_assembly(ir)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    _engines.append(engine)
    return int(engine.get_function_address("loop"))


def compile_tape(
    tape: Tape, documentation: str = "", target: Target | None = None, threads: int | None = None
) -> np.ufunc:
    """The tape as a generalized ufunc over (…, shape) arrays of float64 or float32.

    Large batches are split between `threads` threads (None: one for each core).
    """
    chosen = target or host()

    def loop(precision: Precision) -> int:
        return load(emit(tape, chosen, precision), chosen)

    return make_ufunc(
        tape.name,
        documentation,
        tape.inputs,
        tape.outputs,
        loop(DOUBLE),
        lambda: loop(SINGLE),
        threads or os.cpu_count() or 1,
    )
