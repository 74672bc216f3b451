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
    """Choices of a kernel. The defaults were the best on an H200 (docs/how-to/gpu.md).

    Attributes
    ----------
    precision : str
        "float" or "double".
    block : int
        Number of threads of a block.
    resident_blocks : int
        Number of blocks that a multiprocessor shall hold at a time, which bounds registers (0: the
        compiler decides).
    sines : str
        "polynomial"; "special": the special function unit, in single precision only; or "library":
        CUDA's own functions.
    """

    precision: str = "float"
    block: int = 128
    resident_blocks: int = 0
    sines: str = "polynomial"

    @property
    def item_bytes(self) -> int:
        """Bytes of a number."""
        return 4 if self.precision == "float" else 8
