"""Kernels of tapes: their sources, and the records by which the runtime calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..readings.cuda.cuda_options import CudaOptions
from ..readings.cuda.state_function import CudaFunction
from ..readings.cuda.step_kernels import write_step_source
from ..readings.cuda.tape_kernels import plan_row_staging, write_cuda_source
from ..simulation.fixed_steps.compiled_steps import CompiledStep
from ..tape import Tape

KERNEL_ENTRY = "kernel"
"""The name of the functions of a source."""

STEP_BLOCK = 256
"""Threads of a block of step kernels: with blocks of 128, the compiler holds a thread to 128
registers, and the steps of a Panda arm are a quarter slower (H200)."""


@dataclass(frozen=True)
class KernelSource:
    """The source of a kernel in one precision, and what the runtime must know of it."""

    text: str
    record: Mapping[str, object]


def write_kernel_source(tape: Tape, options: CudaOptions) -> KernelSource:
    """Return the source of the kernels of a tape, for rows and for columns."""
    function = CudaFunction(KERNEL_ENTRY, tape)
    record = {
        "entry": KERNEL_ENTRY,
        "precision": options.precision,
        "columns_block": function.block(options),
        "rows_block": plan_row_staging(function, options).block,
    }
    return KernelSource(write_cuda_source([function], options), record)


def write_step_kernel_source(step: CompiledStep, options: CudaOptions) -> str:
    """Return the source of the kernel that repeats a step, in blocks of `STEP_BLOCK` threads."""
    function = CudaFunction(KERNEL_ENTRY, step.tape)
    return write_step_source(function, step.ports[2], replace(options, block=STEP_BLOCK))


def make_function_record(
    name: str, tape: Tape, precisions: Sequence[str], options: CudaOptions
) -> tuple[dict[str, object], dict[str, str]]:
    """Return the record of a function, and its sources by precision."""
    sources = {
        precision: write_kernel_source(tape, replace(options, precision=precision))
        for precision in precisions
    }
    record: dict[str, object] = {
        "name": name,
        "inputs": [[port.name, list(port.shape)] for port in tape.inputs],
        "outputs": [[port.name, list(port.shape)] for port in tape.outputs],
        "kernels": {precision: dict(source.record) for precision, source in sources.items()},
    }
    return record, {precision: source.text for precision, source in sources.items()}


def read_compiled_cubin(
    sources: Mapping[str, str], compile_source: Callable[[str], bytes]
) -> Callable[[Mapping[str, object]], bytes]:
    """Return the function by which the runtime asks for a cubin: compiled when it is needed."""

    def read_cubin(kernel: Mapping[str, object]) -> bytes:
        return compile_source(sources[str(kernel["precision"])])

    return read_cubin
