"""LLVM IR as object code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .interruptible import call_llvm_interruptibly

if TYPE_CHECKING:
    from .target import MachineTarget


LARGE_MODULE = 2_000_000
"""Characters of IR from which on LLVM spends less effort on code: for the Jacobian of a Stewart
platform (7 million) that takes 5.5 s instead of 9.9 s, and the code is as fast."""


def compile_ir(text: str, target: MachineTarget) -> bytes:
    """Compile a module of LLVM IR to an object file; Ctrl-C interrupts it."""
    import llvmlite.binding as llvm

    machine = target.target_machine(1 if len(text) > LARGE_MODULE else 2)

    def translate() -> bytes:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(machine.emit_object(module))

    return call_llvm_interruptibly(translate)
