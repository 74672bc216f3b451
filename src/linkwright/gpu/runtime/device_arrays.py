"""Arrays on the GPU: their layouts, and how they pass between frameworks."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

LAYOUTS = ("rows", "columns")
PRECISION_NAMES = {"float32": "float", "float64": "double"}

DeviceArray = Any
"""An array on the GPU: of CuPy, PyTorch or JAX."""


def whole_shape(shape: Sequence[int], batch: Sequence[int], layout: str) -> tuple[int, ...]:
    """Return the shape of an array of all states."""
    return (*batch, *shape) if layout == "rows" else (*shape, *batch)


def take_array(cp: Any, given: Any) -> Any:
    """Return the array as CuPy's, without a copy where it is on the GPU."""
    if "complex" in str(getattr(given, "dtype", "")):
        raise ValueError("complex numbers are given; give real numbers")
    if isinstance(given, cp.ndarray):
        return given
    if hasattr(given, "__dlpack__") and not isinstance(given, np.ndarray):
        if getattr(given, "requires_grad", False):
            raise ValueError(
                "a tensor requires gradients, which kernels do not compute; "
                "call the functions of lw.torch(model), or give tensor.detach()"
            )
        return cp.from_dlpack(given)
    return cp.asarray(given)


def give_array(found: Any, given: Sequence[Any]) -> Any:
    """Return the array as one of the framework of the inputs, without a copy."""
    homes = {type(x).__module__.partition(".")[0] for x in given}
    if "torch" in homes:
        return sys.modules["torch"].from_dlpack(found)
    if homes & {"jax", "jaxlib"}:
        return sys.modules["jax"].dlpack.from_dlpack(found)
    return found


def current_stream(cp: Any, given: Sequence[Any]) -> Any:
    """Return the stream of PyTorch where its tensors are given; else CuPy's stays current."""
    if any(type(x).__module__.partition(".")[0] == "torch" for x in given):
        stream = sys.modules["torch"].cuda.current_stream().cuda_stream
        if hasattr(cp.cuda.Stream, "from_external"):  # since CuPy 14
            return cp.cuda.Stream.from_external(_ForeignStream(stream))
        return cp.cuda.ExternalStream(stream)
    return nullcontext()


@dataclass(frozen=True)
class _ForeignStream:
    """A stream of another library, by the protocol of CUDA's Python packages."""

    handle: int

    def __cuda_stream__(self) -> tuple[int, int]:
        """Return the version of the protocol and the stream."""
        return 0, self.handle
