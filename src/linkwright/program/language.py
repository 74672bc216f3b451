"""What programs may use: the types of their parameters, and a few functions.

A program is a Python function made of assignments, `for … in range(…)`, `while`, `if`, `break` (in
`while`), a final `return`, arithmetic, comparisons and calls. It describes one lane, that is one
trajectory, point or state; a target runs it on many lanes at once.

============== =====================================================================
annotation     meaning
============== =====================================================================
float int bool a number of this lane
Vector         an array of this lane: floats, one or two axes
Buffer         memory shared by all lanes: floats, one axis
IntBuffer      the same of integers
Size           an integer that is the same in all lanes
Procedure      a tape, called as procedure(inputs …, outputs …)
anything else  a constant that is known when the program is read
============== =====================================================================
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape

Vector = NDArray[np.float64]
Buffer = NDArray[np.float64]
IntBuffer = NDArray[np.int64]
Size = int


@dataclass(frozen=True, eq=False)
class Procedure:
    """A tape as a procedure of programs: outputs are vectors that it fills."""

    tape: Tape
    evaluate: Callable[..., object] | None = field(default=None)
    """The tape on NumPy arrays, for running a program in Python."""

    def __call__(self, *arguments: float | Vector) -> None:
        """Fill the output vectors, which follow the inputs among the arguments."""
        assert self.evaluate is not None, f"'{self.tape.name}' can only be compiled"
        split = len(self.tape.inputs)
        given, outputs = arguments[:split], arguments[split:]
        inputs = [
            np.reshape(value, port.shape)
            for value, port in zip(given, self.tape.inputs, strict=True)
        ]
        values = self.evaluate(*inputs)
        found = values if isinstance(values, tuple) else (values,)
        for output, value in zip(outputs, found, strict=True):
            assert isinstance(output, np.ndarray)
            output[...] = np.reshape(value, output.shape)


def vector(size: Size) -> Vector:
    """A new vector of this lane, with zeros."""
    return np.zeros(size)


def matrix(rows: Size, columns: Size) -> Vector:
    """A new matrix of this lane, with zeros; `m[k]` is a row, which procedures may fill."""
    return np.zeros((rows, columns))


def scratch(size: Size) -> Vector:
    """A vector of this lane whose numbers mean nothing until they are written."""
    return np.full(size, np.nan)


def scratch_matrix(rows: Size, columns: Size) -> Vector:
    """A matrix of this lane whose numbers mean nothing until they are written."""
    return np.full((rows, columns), np.nan)


def unroll(counts: Iterable[int]) -> Iterator[int]:
    """A `for` loop over known numbers that is written out: the counter is a constant."""
    return iter(counts)


def take_ticket(counter: IntBuffer) -> int:
    """The next number of a counter that all lanes share; no two lanes get the same one."""
    ticket = int(counter[0])
    counter[0] += 1
    return ticket


def read_buffer_row(buffer: Buffer, start: int, row: Vector) -> None:
    """Copy numbers of a buffer, from index `start` on, into a vector."""
    row[...] = buffer[start : start + row.size].reshape(row.shape)


def write_buffer_row(buffer: Buffer, start: int, row: Vector) -> None:
    """Copy a vector into a buffer, from index `start` on."""
    buffer[start : start + row.size] = row.ravel()
