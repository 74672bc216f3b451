"""Kernels that repeat the tape of one step: one thread integrates one trajectory.

States stay in registers from step to step. Values have no homes: the steps of Talos in float32 are
1.8 times as fast where the compiler spills what registers cannot hold (H200).

Every array is addressed by three strides, in numbers: from trajectory to trajectory, from step to
step, and from entry to entry; a stride of 0 repeats.
"""

from __future__ import annotations

from ..llvm.step_loop import CompiledStepLoop
from .cuda_options import CudaOptions
from .device_prelude import write_device_prelude
from .state_function import CudaFunction, write_helper_functions

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
            function.state_code(options.precision, with_homes=False).text,
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
    own = [f"real {name}_own[{port.size}];" for name, port in pairs]
    start, timed, stores, after = [], [], [], []
    for k, (name, port) in enumerate(pairs):
        if k >= inputs:
            is_last = k - inputs in course.last_step_outputs
            row = f"{name} + i*{name}_lane" + ("" if is_last else f" + kept*{name}_step")
            stores.append(_copy(f"({row})[k*{name}_entry]", f"{name}_own[k]", port.size))
        elif course.is_timed(k):
            row = f"{name} + i*{name}_lane + s*{name}_step"
            timed.append(_copy(f"{name}_own[k]", f"({row})[k*{name}_entry]", port.size))
        else:
            row = f"{name} + i*{name}_lane"
            start.append(_copy(f"{name}_own[k]", f"({row})[k*{name}_entry]", port.size))
    for doubt in (name for name, port in pairs[inputs:] if port.name == "doubt"):
        after.append(f"const int is_lost = !({doubt}_own[0] < (real)1);")
        for k in range(course.state_ports):
            entry = f"{names[inputs + k]}_own[k]"
            after.append(_copy(entry, f"is_lost ? (real)NAN : {entry}", sizes[k]))
    for k in range(course.state_ports):
        after.append(_copy(f"{names[k]}_own[k]", f"{names[inputs + k]}_own[k]", sizes[k]))
    given = ", ".join([*(f"{name}_own" for name in names), "1"])

    def indent(lines: list[str], depth: int) -> str:
        return "\n".join(" " * depth + line for line in lines)

    return f"""\
LW_KERNEL({options.block}, {options.resident_blocks}) {function.name}_steps(
    const lw_int count, const lw_int steps, const lw_int every,
    {_write_parameters(function)})
{{
    LW_THREADS({options.block}) {{
        const lw_int i = LW_BLOCK*{options.block} + LW_THREAD;
        if (i < count) {{
{indent(own, 12)}
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
