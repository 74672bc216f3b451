"""Programs as machine code: compiled with the tapes that they call, and called on NumPy arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...program.syntax import Program
from .code_loader import LoadedCode
from .interruptible import call_interruptibly

Buffers = Sequence[NDArray[np.float64] | NDArray[np.int64]]


class CompiledProgram:
    """A program in machine code; its parameters are contiguous arrays of float64 or int64."""

    def __init__(self, code: LoadedCode) -> None:
        self.code = code
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)

    def __call__(self, *buffers: NDArray[np.float64] | NDArray[np.int64]) -> None:
        """Run the program; the interpreter's lock is released meanwhile."""
        addresses = (ctypes.c_void_p * len(buffers))(*(array.ctypes.data for array in buffers))
        self._call(ctypes.addressof(addresses))


def assemble_program(program: Program) -> bytes:
    """The object file of a program with its tapes."""
    from .program_ir import emit_program_module
    from .tape_ir import emit_tape_procedure
    from .target import host_target

    target = host_target()
    module = emit_program_module(program, target)
    tapes = [
        emit_tape_procedure(call.procedure.tape, target, name)
        for name, call in module.tapes.items()
    ]
    return call_interruptibly(lambda: _translate(module.text, tapes))


def _translate(program: str, tapes: Sequence[str]) -> bytes:
    """The passes run on the program alone: tapes are straight-line code in single assignment."""
    import llvmlite.binding as llvm

    from .target import host_target

    machine = host_target().target_machine()
    module = llvm.parse_assembly(program)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    options.loop_unrolling = True
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    for text in tapes:
        module.link_in(llvm.parse_assembly(text))
    return bytes(machine.emit_object(module))
