"""Kernels over arrays of states: one thread computes one state.

Arrays have a state in each row, (B, n), or in each column, (n, B). Threads read columns from memory
side by side; rows go through shared memory, so that all accesses to memory are side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .cuda_options import SHARED_BYTES, CudaOptions
from .device_prelude import TILE_FUNCTIONS, write_device_prelude
from .state_function import (
    CudaFunction,
    StateCode,
    write_helper_functions,
)

LAYOUTS = ("columns", "rows")
"""How arrays hold states: the last words of the names of kernels."""

_SMALLEST_BLOCK = 32
"""Threads of a warp."""


def write_cuda_source(functions: Sequence[CudaFunction], options: CudaOptions) -> str:
    """Return the CUDA source of kernels `NAME_columns` and `NAME_rows` of each function.

    Their arguments are the number of states and the pointers to inputs and outputs.
    """
    parts = [
        write_device_prelude(options.precision, options.sines),
        TILE_FUNCTIONS,
        write_helper_functions([function.tape for function in functions]),
    ]
    for function in functions:
        code = function.state_code(options.precision)
        parts += [
            code.text,
            _write_column_kernel(function, code, options),
            _write_row_kernel(function, code, options),
        ]
    return "\n".join(parts)


def _write_column_kernel(function: CudaFunction, code: StateCode, options: CudaOptions) -> str:
    """Return the kernel of arrays with a state in each column."""
    given = ", ".join([*(f"{name} + i" for name in function.port_names), "count", *code.arguments])
    parameters = ", ".join(["const lw_int count", *function.parameters])
    block = function.block(options)
    return f"""\
LW_KERNEL({block}, {options.resident_blocks}) {function.name}_columns({parameters})
{{
{code.homes_line}    LW_THREADS({block}) {{
        const lw_int i = LW_BLOCK*{block} + LW_THREAD;
        if (i < count)
            {function.name}_state({given});
    }}
}}
"""


@dataclass(frozen=True)
class RowStaging:
    """How rows pass through shared memory: the threads of a block, and which ports are staged."""

    block: int
    is_staged: tuple[bool, ...]


def plan_row_staging(function: CudaFunction, options: CudaOptions) -> RowStaging:
    """Return the largest block for which the rows of all ports fit into shared memory.

    Where not even those of a warp do, or homes of values leave no place, the largest ports are not
    staged.
    """
    strides = [tile_stride(port.size) for port in function.ports]
    block = function.block(options)
    while block > _SMALLEST_BLOCK and sum(strides) * block * options.item_bytes > SHARED_BYTES:
        block //= 2
    homes = function.state_code(options.precision).homes
    left = SHARED_BYTES // (block * options.item_bytes) - homes
    chosen = [False] * len(strides)
    for k in sorted(range(len(strides)), key=lambda k: strides[k]):
        if function.ports[k].size > 1 and strides[k] <= left:
            chosen[k], left = True, left - strides[k]
    return RowStaging(block, tuple(chosen))


def tile_stride(size: int) -> int:
    """Return the distance of rows in shared memory: four or more threads must not share a bank."""
    return size + 1 if size % 4 == 0 else size


def _write_row_kernel(function: CudaFunction, code: StateCode, options: CudaOptions) -> str:
    """Return the kernel of arrays with a state in each row."""
    staging = plan_row_staging(function, options)
    block, newline = staging.block, "\n"
    tiles, loads, stores, given = [], [], [], []
    for k, (port, name) in enumerate(zip(function.ports, function.port_names, strict=True)):
        size, stride = port.size, tile_stride(port.size)
        if not staging.is_staged[k]:
            given.append(f"{name} + (first + LW_THREAD)*{size}")
            continue
        tiles.append(f"    LW_SHARED real {name}_tile[{stride * block}];")
        given.append(f"{name}_tile + LW_THREAD*{stride}")
        copy = f"({name}_tile, {name} + first*{size}, states*{size}, {size}, {stride}, {block});"
        if k < len(function.tape.inputs):
            loads.append(f"        lw_load_tile{copy}")
        else:
            stores.append(f"        lw_store_tile{copy}")
    parameters = ", ".join(["const lw_int count", *function.parameters])
    arguments = f",{newline}{' ' * 16}".join([*given, "1", *code.arguments])
    return f"""\
LW_KERNEL({block}, 0) {function.name}_rows({parameters})
{{
{newline.join(tiles)}
{code.homes_line}    const lw_int first = LW_BLOCK*{block};
    const int states = count - first < {block} ? (int)(count - first) : {block};
    LW_THREADS({block}) {{
{newline.join(loads)}
    }}
    LW_SYNC();
    LW_THREADS({block}) {{
        if (LW_THREAD < states)
            {function.name}_state({arguments});
    }}
    LW_SYNC();
    LW_THREADS({block}) {{
{newline.join(stores)}
    }}
}}
"""
