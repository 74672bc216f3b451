"""Choices of CUDA kernels that measurements decide."""

from __future__ import annotations

from dataclasses import dataclass

SHARED_BYTES = 48 * 1024
"""Shared memory that a block may declare without asking the driver for more."""

SINES = ("polynomial", "special", "library")
"""How sines and cosines are computed: by polynomials, by the special function unit (float only), or
by CUDA's library."""

PRECISIONS = ("float", "double")


@dataclass(frozen=True)
class CudaOptions:
    """Choices of a kernel.

    `block` is the number of threads of a block; `resident_blocks` is the number of blocks that a
    multiprocessor shall hold at a time, which bounds registers (0: the compiler decides); `sines`
    is a name in `SINES`. The defaults were the best on an H200 (docs/how-to/gpu.md).
    """

    precision: str = "float"
    block: int = 128
    resident_blocks: int = 0
    sines: str = "polynomial"

    @property
    def item_bytes(self) -> int:
        """Bytes of a number."""
        return 4 if self.precision == "float" else 8
