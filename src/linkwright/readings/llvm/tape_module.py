"""The LLVM module of a tape: the functions of a block of states, and the loop that calls them."""

from __future__ import annotations

from ...tape import Tape
from .fused_block import FusedBlockIrEmitter, is_fusible
from .fused_loop import FusedLoopIrWriter
from .step_loop import CompiledStepLoop, StepLoopIrWriter
from .tape_ir import DOUBLE_PRECISION, LlvmScalarType, TapeIrEmitter
from .target import MachineTarget
from .ufunc_loop import UfuncLoopIrWriter


def emit_tape_module(
    tape: Tape,
    target: MachineTarget,
    precision: LlvmScalarType = DOUBLE_PRECISION,
    course: CompiledStepLoop | None = None,
) -> str:
    """The LLVM module of a tape, with a loop over states or, for a `course`, over steps.

    It exports `@loop` with the signature of a ufunc's loop.
    """
    emitter = TapeIrEmitter(tape, target, precision)
    if course is None and is_fusible(emitter):
        emitter = FusedBlockIrEmitter(tape, target, precision)
        return "\n".join([emitter.emit_functions(), FusedLoopIrWriter(emitter).write_loop()])
    loop = UfuncLoopIrWriter(emitter) if course is None else StepLoopIrWriter(emitter, course)
    return "\n".join([emitter.emit_functions(), loop.write_loop()])
