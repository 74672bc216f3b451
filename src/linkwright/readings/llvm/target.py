"""The machine for which code is compiled: its name, features and vector width."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import llvmlite.binding as llvm

CHUNK_LENGTH = 1000
"""Instructions in a piece, about: outputs leave between pieces, while arithmetic goes on."""

CHUNK_LENGTH_OF_WHOLE_VECTORS = 700
"""The same where vectors of 64 bytes are executed whole, as measured on Zen 5."""


@dataclass(frozen=True)
class MachineTarget:
    """An LLVM target; `vector_bytes` is the width of its vectors in bytes."""

    triple: str
    cpu: str
    features: str
    vector_bytes: int
    has_fma: bool

    def vector_lanes(self, item_bytes: int) -> int:
        """The number of scalars of a size in one vector."""
        return self.vector_bytes // item_bytes

    @property
    def is_executed_in_halves(self) -> bool:
        """Whether the machine executes 64 bytes in two halves or more, and so fetches code fast enough for one block."""
        return self.vector_bytes < 64 or self.cpu == "znver4"

    @property
    def code_chunk_length(self) -> int:
        """The length of functions into which long tapes are cut, as measured on Zen 4 and Zen 5."""
        return CHUNK_LENGTH if self.is_executed_in_halves else CHUNK_LENGTH_OF_WHOLE_VECTORS

    def target_machine(self, optimization: int = 2) -> llvm.TargetMachine:
        """The LLVM target machine with these features."""
        import llvmlite.binding as llvm

        _initialize_llvm()
        target = llvm.Target.from_triple(self.triple)
        return target.create_target_machine(
            cpu=self.cpu,
            features=self.features,
            opt=optimization,
            reloc="pic",
            codemodel="small",
            jit=True,
        )


@lru_cache(maxsize=1)
def _initialize_llvm() -> None:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


@lru_cache(maxsize=1)
def host_target() -> MachineTarget:
    """This machine with its full vector width."""
    import llvmlite.binding as llvm

    triple = llvm.get_process_triple()
    features = llvm.get_host_cpu_features()
    flags = features.flatten()
    if "x86_64" in triple or "amd64" in triple.lower():
        return x86_target(llvm.get_host_cpu_name(), triple, flags, dict(features))
    return MachineTarget(triple, llvm.get_host_cpu_name(), flags, 16, True)


def x86_target(cpu: str, triple: str, flags: str, features: dict[str, bool]) -> MachineTarget:
    """The target of an x86-64 machine: AVX-512 if complete, else AVX2 with FMA, else SSE2."""
    fma = features.get("fma", False)
    if features.get("avx512f") and features.get("avx512dq") and features.get("avx512vl") and fma:
        # LLVM prefers 256-bit vectors on some CPUs; we have counted and want 512.
        return MachineTarget(triple, cpu, flags + ",-prefer-256-bit", 64, True)
    if features.get("avx2") and fma:
        return MachineTarget(triple, cpu, flags, 32, True)
    return MachineTarget(triple, "x86-64", "+sse2", 16, False)


X86_LEVELS = {
    "sse2": ("x86-64", "+sse2", 16, False),
    "avx2": ("haswell", "+avx2,+fma", 32, True),
    "avx512": ("skylake-avx512", "+avx512f,+avx512dq,+avx512vl,+fma,-prefer-256-bit", 64, True),
}


def generic_x86_target(level: str) -> MachineTarget:
    """A generic x86-64 machine with one vector width, for tests and for portable code."""
    import llvmlite.binding as llvm

    cpu, flags, width, fma = X86_LEVELS[level]
    return MachineTarget(llvm.get_process_triple(), cpu, flags, width, fma)
