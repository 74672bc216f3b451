"""Kernels that run a program, one trajectory in each thread: the text of the program in C.

The program's buffers are a structure in the GPU's memory, one for each trajectory.
"""

from __future__ import annotations

import re

from .cuda_options import CudaOptions
from .device_prelude import write_device_prelude

_PROGRAM_HEAD = """\
#ifdef __CUDACC__
#ifdef __CUDACC_RTC__
typedef long long int64_t;
#endif
#define LW_DEVICE static __device__
struct lw_number {
    double at[1];
    __device__ lw_number(double x) { at[0] = x; }
    __device__ operator double *() { return at; }
};
#define LW_NUMBER(x) lw_number(x)
#else
#include <stdbool.h>
#define LW_DEVICE static
#define LW_NUMBER(x) ((double[]){x})
#endif
"""


def write_program_source(structure: str, kind: str, code: str, run: str) -> str:
    """Return the CUDA source of the kernel `kernel_advance(count, trajectories)`.

    `structure` declares the type `kind` of the buffers, `code` has the functions of the program in
    C, and `run` is the function of one trajectory.
    """
    options = CudaOptions("double", block=PROGRAM_BLOCK)
    return "\n".join(
        [
            write_device_prelude(options.precision, options.sines),
            _PROGRAM_HEAD,
            structure,
            _translate_program(code),
            f"""\
LW_KERNEL({options.block}, 0) kernel_advance(const lw_int count, {kind} *trajectories)
{{
    LW_THREADS({options.block}) {{
        const lw_int i = LW_BLOCK*{options.block} + LW_THREAD;
        if (i < count)
            {run}(trajectories + i);
    }}
}}
""",
        ]
    )


PROGRAM_BLOCK = 64
"""Threads of a block: trajectories of a block take as many steps as the longest of them."""


def _translate_program(code: str) -> str:
    """Return functions in C as functions of the GPU."""
    code = re.sub(r"\(double\[\]\)\{([^{}]*)\}", r"LW_NUMBER(\1)", code)
    code = re.sub(r"(?m)^static (inline )?", "LW_DEVICE ", code)
    return re.sub(r"\brestrict\b", "LW_RESTRICT", code)
