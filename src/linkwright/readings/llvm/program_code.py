"""Programs as machine code, which is called with NumPy arrays and tapes."""

from __future__ import annotations

import ctypes

import numpy as np
from numpy.typing import NDArray

from ...program.syntax import Program
from .code_loader import LoadedCode
from .interruptible import call_llvm_interruptibly


class CompiledProgram:
    """A program in machine code; it takes contiguous float64 and int64 arrays, and tapes."""

    def __init__(self, code: LoadedCode) -> None:
        self.code = code
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)

    def __call__(self, *arguments: NDArray[np.float64] | NDArray[np.int64] | LoadedCode) -> None:
        """Run the program; Python's global interpreter lock is released during the call."""
        addresses = (ctypes.c_void_p * len(arguments))(
            *(x.address if isinstance(x, LoadedCode) else x.ctypes.data for x in arguments)
        )
        self._call(ctypes.addressof(addresses))


def assemble_program(program: Program) -> bytes:
    """Return the object file of a program."""
    from .program_ir import emit_program_module
    from .target import host_target

    text = emit_program_module(program, host_target())
    return call_llvm_interruptibly(lambda: _translate(text))


def _translate(text: str) -> bytes:
    """Return the object code of an LLVM module; loops over states are short and stay loops."""
    import llvmlite.binding as llvm

    from .target import host_target

    machine = host_target().target_machine()
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return bytes(machine.emit_object(module))
