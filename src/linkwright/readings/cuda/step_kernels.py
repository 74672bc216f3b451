"""Kernels that repeat the tape of one step: one thread integrates one trajectory.

States stay in registers from step to step. Every array is addressed by three strides, in numbers:
from trajectory to trajectory, from step to step, and from entry to entry; a stride of 0 repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..llvm.step_loop import CompiledStepLoop
from .cuda_options import SHARED_BYTES, CudaOptions
from .device_prelude import write_device_prelude
from .state_function import HOME_BLOCK, CudaFunction, write_helper_functions

STRIDES = ("lane", "step", "entry")
"""The strides of an array, in the order of the kernel's arguments."""


def write_step_source(
    function: CudaFunction, course: CompiledStepLoop, options: CudaOptions
) -> str:
    """Return the CUDA source of the kernel `NAME_steps`.

    Its arguments are the numbers of trajectories, of steps, and of steps from one kept state to the
    next; then for each input and output its pointer and its strides. Where a step has an output
    `doubt` that is not below 1, its trajectory is NaN from there on.
    """
    return "\n".join(
        [
            write_device_prelude(options.precision, options.sines),
            write_helper_functions([function.tape]),
            function.state_code(options.precision, keeps_inputs=True).text,
            _write_step_kernel(function, course, options),
        ]
    )


def _write_step_kernel(
    function: CudaFunction, course: CompiledStepLoop, options: CudaOptions
) -> str:
    """Return the kernel."""
    inputs, names = len(function.tape.inputs), function.port_names
    pairs = list(zip(names, function.ports, strict=True))
    sizes = [port.size for port in function.ports]
    own = _plan_own_arrays(function, options)
    start, timed, stores, after = [], [], [], []
    at = f"k*{own.stride}" if own.stride > 1 else "k"
    for k, (name, port) in enumerate(pairs):
        if k >= inputs:
            is_last = k - inputs in course.last_step_outputs
            row = f"{name} + i*{name}_lane" + ("" if is_last else f" + kept*{name}_step")
            stores.append(_copy(f"({row})[k*{name}_entry]", f"{name}_own[{at}]", port.size))
        elif course.is_timed(k):
            row = f"{name} + i*{name}_lane + s*{name}_step"
            timed.append(_copy(f"{name}_own[{at}]", f"({row})[k*{name}_entry]", port.size))
        else:
            row = f"{name} + i*{name}_lane"
            start.append(_copy(f"{name}_own[{at}]", f"({row})[k*{name}_entry]", port.size))
    for doubt in (name for name, port in pairs[inputs:] if port.name == "doubt"):
        after.append(f"const int is_lost = !({doubt}_own[0] < (real)1);")
        for k in range(course.state_ports):
            entry = f"{names[inputs + k]}_own[{at}]"
            after.append(_copy(entry, f"is_lost ? (real)NAN : {entry}", sizes[k]))
    for k in range(course.state_ports):
        after.append(_copy(f"{names[k]}_own[{at}]", f"{names[inputs + k]}_own[{at}]", sizes[k]))
    code = function.state_code(options.precision, keeps_inputs=True)
    given = ", ".join([*(f"{name}_own" for name in names), str(own.stride), *code.arguments])
    block = function.block(options)

    def indent(lines: list[str], depth: int) -> str:
        return "\n".join(" " * depth + line for line in lines)

    return f"""\
LW_KERNEL({block}, {options.resident_blocks}) {function.name}_steps(
    const lw_int count, const lw_int steps, const lw_int every,
    {_write_parameters(function)})
{{
{code.near_line}{own.shared_lines}    LW_THREADS({block}) {{
        const lw_int i = LW_BLOCK*{block} + LW_THREAD;
{code.far_line(own.local)}        if (i < count) {{
{indent(own.lines, 12)}
{indent(start, 12)}
            lw_int kept = 0, left = every;
            for (lw_int s = 0; s < steps; ++s) {{
{indent(timed, 16)}
                {function.name}_state({given});
{indent(after, 16)}
                if (--left == 0) {{
{indent(stores, 20)}
                    left = every;
                    ++kept;
                }}
            }}
        }}
    }}
}}
"""


@dataclass(frozen=True)
class _OwnArrays:
    """Arrays of a thread in a step kernel: their declarations, and the distance of entries.

    `local` is the number of entries that they need in local memory.
    """

    lines: list[str]
    shared_lines: str = ""
    stride: int = 1
    local: int = 0


def _plan_own_arrays(function: CudaFunction, options: CudaOptions) -> _OwnArrays:
    """Return the arrays of a thread.

    Compilers keep them in registers; where values have homes, they are in shared memory, or, if
    this has no place for all, in local memory.
    """
    pairs = list(zip(function.port_names, function.ports, strict=True))
    if not function.needs_homes(options.precision):
        return _OwnArrays([f"real {name}_own[{port.size}];" for name, port in pairs])
    code, size = function.state_code(options.precision, keeps_inputs=True), 0
    whole = code.near + sum(port.size for port in function.ports)
    if whole * HOME_BLOCK * options.item_bytes > SHARED_BYTES:
        lines = []
        for name, port in pairs:
            lines.append(f"volatile real *const {name}_own = lw_far + {code.far + size};")
            size += port.size
        return _OwnArrays(lines, local=size)
    shared = [f"    LW_SHARED real {n}_all[{port.size * HOME_BLOCK}];\n" for n, port in pairs]
    lines = [f"volatile real *const {name}_own = {name}_all + LW_THREAD;" for name, _ in pairs]
    return _OwnArrays(lines, "".join(shared), HOME_BLOCK)


def _copy(to: str, source: str, size: int) -> str:
    """Return a loop that copies entries, which compilers unroll."""
    return f"LW_UNROLL for (int k = 0; k < {size}; ++k) {to} = {source};"


def _write_parameters(function: CudaFunction) -> str:
    """Return pointers with their strides."""
    parts = []
    for name, pointer in zip(function.port_names, function.parameters, strict=True):
        strides = [f"const lw_int {name}_{stride}" for stride in STRIDES]
        parts.append(", ".join([pointer, *strides]))
    return ",\n    ".join(parts)
