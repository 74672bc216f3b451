"""Programs: algorithms with loops and branches around tapes, written once for all targets.

A program is a plain Python function in a small subset of Python (`language`). Python itself runs it
with NumPy arrays, which is the reference. `reader` turns its source into a typed syntax tree
(`syntax`); readings print that tree: `readings/llvm/program_ir` for SIMD lanes.
"""

from .language import (
    Buffer,
    IntBuffer,
    Procedure,
    Size,
    Vector,
    matrix,
    read_buffer_row,
    scratch,
    scratch_matrix,
    take_ticket,
    unroll,
    vector,
    write_buffer_row,
)
from .reader import read_program
from .syntax import Program

__all__ = [
    "Buffer",
    "IntBuffer",
    "Procedure",
    "Program",
    "Size",
    "Vector",
    "matrix",
    "read_buffer_row",
    "read_program",
    "scratch",
    "scratch_matrix",
    "take_ticket",
    "unroll",
    "vector",
    "write_buffer_row",
]
