"""Kernels for frameworks: handlers of XLA, on whose stream they run, and operators on tensors."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from ..errors import MissingExtraError
from ..readings.cuda.cuda_options import PRECISIONS, CudaOptions
from ..readings.llvm.xla_handler import load_device_handler
from ..tape import Tape
from .cubin_compiler import compile_cubin
from .kernel_records import (
    KERNEL_ENTRY,
    make_function_record,
    read_compiled_cubin,
    write_kernel_source,
)
from .runtime import DeviceFunction

if TYPE_CHECKING:
    import torch


def register_kernel_handler(name: str, tape: Tape, item_bytes: int) -> tuple[object, ...]:
    """Register the row kernel of a tape with XLA; return the memory that it needs."""
    import jax

    try:
        import cupy as cp
    except ImportError:
        raise MissingExtraError(
            "functions for JAX on a GPU need the package cupy, which is not installed",
            remedy="pip install 'linkwright[cuda]'",
        ) from None
    options = CudaOptions("double" if item_bytes == 8 else "float")
    source = write_kernel_source(tape, options)
    module = cp.cuda.function.Module()
    module.load(compile_cubin(source.text, f"sm_{cp.cuda.Device().compute_capability}"))
    kernel = module.get_function(f"{KERNEL_ENTRY}_rows")
    driver = ctypes.CDLL("libcuda.so.1")
    launch = ctypes.cast(driver.cuLaunchKernel, ctypes.c_void_p).value or 0
    block = source.record["rows_block"]
    assert isinstance(block, int)
    code = load_device_handler(tape, block, int(kernel.ptr), launch)
    function = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(code.address)
    jax.ffi.register_ffi_target(name, jax.ffi.pycapsule(function), platform="CUDA")
    return module, kernel, driver, code, function


def run_kernel_on_tensors(tape: Tape, tensors: Sequence[torch.Tensor]) -> list[torch.Tensor]:
    """Compute a tape on tensors of a GPU, on the current stream; autograd has its own rule."""
    found = _tensor_function(tape)(*(tensor.detach() for tensor in tensors))
    return list(found) if isinstance(found, tuple) else [found]


@cache
def _tensor_function(tape: Tape) -> DeviceFunction:
    """Return the function of a tape on the GPU."""
    import cupy as cp

    architecture = f"sm_{cp.cuda.Device().compute_capability}"
    record, sources = make_function_record(tape.name, tape, PRECISIONS, CudaOptions())
    return DeviceFunction(
        record, read_compiled_cubin(sources, lambda source: compile_cubin(source, architecture))
    )
