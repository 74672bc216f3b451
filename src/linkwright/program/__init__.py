"""Programs: algorithms with loops and branches around tapes, written once for all targets.

A program is a plain Python function in a small subset of Python (`language`). Python can run it on
NumPy arrays; this is the reference in the tests. `reader` turns its source into a typed syntax tree
(`syntax`), and readings print that tree for a target (`readings/llvm/program_ir`: SIMD lanes).
"""

from .language import (
    Buffer,
    IntBuffer,
    Procedure,
    Size,
    Vector,
    matrix,
    read_buffer_row,
    record,
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
    "record",
    "scratch",
    "scratch_matrix",
    "take_ticket",
    "unroll",
    "vector",
    "write_buffer_row",
]
