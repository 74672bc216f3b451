"""Programs as machine code, which is called with NumPy arrays and tapes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ...program.syntax import Program
from ...tape import Tape
from .code_loader import LoadedCode
from .interruptible import call_llvm_interruptibly


class CompiledProgram:
    """A program in machine code; it takes contiguous float64 and int64 arrays, and tapes."""

    def __init__(self, code: LoadedCode) -> None:
        self.code = code
        self._call = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address)

    def __call__(self, *arguments: NDArray[np.float64] | NDArray[np.int64] | LoadedCode) -> None:
        """Run the program; Python's global interpreter lock is released during the call."""
        self.bind(*arguments)()

    def bind(
        self, *arguments: NDArray[np.float64] | NDArray[np.int64] | LoadedCode
    ) -> Callable[[], None]:
        """Return a function that runs the program with these arguments, as often as it is called.

        Finding the addresses of all arrays takes longer than a few steps of an integrator.
        """
        addresses = (ctypes.c_void_p * len(arguments))(
            *(x.address if isinstance(x, LoadedCode) else x.ctypes.data for x in arguments)
        )
        call, place, kept = self._call, ctypes.addressof(addresses), (addresses, arguments)

        def run() -> None:
            call(place)
            assert kept  # keeps the memory at these addresses alive

        return run


def lane_count(is_single: bool) -> int:
    """Return the number of lanes of programs: one, or as many as a vector of the machine has."""
    from .target import host_target

    return 1 if is_single else host_target().vector_lanes(8)


def assemble_program(program: Program, *, is_single: bool) -> bytes:
    """Return the object file of a program on one lane or on many."""
    from .program_ir import emit_program_module
    from .target import host_target

    text = emit_program_module(program, host_target(), lane_count(is_single))
    return translate_optimized(text)


def assemble_procedure(tape: Tape, *, is_single: bool) -> bytes:
    """Return the object file of a tape that programs on one lane or on many call."""
    from .ir_compiler import compile_ir
    from .tape_procedure import emit_tape_procedure
    from .target import host_target

    target = host_target()
    text, is_small = emit_tape_procedure(tape, target, lane_count(is_single))
    return translate_optimized(text) if is_small else compile_ir(text, target)


def translate_optimized(text: str) -> bytes:
    """Return the object code of an LLVM module after LLVM's passes; Ctrl-C interrupts it.

    Loops over states are short and stay loops.
    """
    import llvmlite.binding as llvm

    from .target import host_target

    machine = host_target().target_machine()

    def translate() -> bytes:
        module = llvm.parse_assembly(text)
        module.verify()
        options = llvm.create_pipeline_tuning_options(speed_level=2)
        options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
        builder = llvm.create_pass_builder(machine, options)
        builder.getModulePassManager().run(module, builder)
        return bytes(machine.emit_object(module))

    return call_llvm_interruptibly(translate)
