"""LLVM IR as object code."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .interruptible import call_llvm_interruptibly

if TYPE_CHECKING:
    from .target import MachineTarget


def compile_ir(text: str, target: MachineTarget) -> bytes:
    """Compile a module of LLVM IR to an object file; Ctrl-C interrupts it."""
    import llvmlite.binding as llvm

    machine = target.target_machine()

    def translate() -> bytes:
        module = llvm.parse_assembly(text)
        module.verify()
        return bytes(machine.emit_object(module))

    return call_llvm_interruptibly(translate)
