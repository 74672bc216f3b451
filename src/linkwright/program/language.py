"""What programs may use: types for their parameters, and a few functions.

A program is a Python function made of assignments, `for … in range(…)`, `while`, `if`, `break` (in
`while`), a final `return`, arithmetic, comparisons and calls. It describes one lane: one
trajectory, point or state. A target runs it on many lanes at once.

============== =====================================================================
annotation     meaning
============== =====================================================================
float int bool a number that belongs to this lane
Vector         an array that belongs to this lane: floats, one or two axes
Buffer         memory shared by all lanes: floats, one axis
IntBuffer      memory shared by all lanes: integers, one axis
Size           an integer that is the same in all lanes
Procedure      a tape, which is called as procedure(inputs …, outputs …)
a record       a class with the decorator `record`: a group of the above by name
anything else  a constant that is known when the program is read
============== =====================================================================

Numbers are passed by value. The numbers of a record are passed by reference, so a program can
change them, as Python does. A program may be a method of a constant; its `self` is that constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

import numpy as np
from numpy.typing import NDArray

from ..tape import Tape

Vector = NDArray[np.float64]
Buffer = NDArray[np.float64]
IntBuffer = NDArray[np.int64]
Size = int

_Class = TypeVar("_Class")


@dataclass_transform()
def record(group: type[_Class]) -> type[_Class]:
    """Make a class a record: numbers, vectors, buffers and tapes that belong together.

    A program makes one with keywords, `point = Point(x=0.0, y=vector(n))`, and reads and assigns
    `point.x`. A record that is a parameter of the whole program may contain buffers and tapes.
    """
    made = dataclass(group)
    made.is_program_record = True  # type: ignore[attr-defined]
    return made


def is_record(value: object) -> bool:
    """Whether a value is a record class."""
    return isinstance(value, type) and getattr(value, "is_program_record", False)


@dataclass(frozen=True, eq=False)
class Procedure:
    """A tape that programs call as a procedure; it fills the vectors of its outputs."""

    tape: Tape
    evaluate: Callable[..., object] | None = field(default=None)
    """Evaluates the tape on NumPy arrays, for a program that runs in Python."""

    def __call__(self, *arguments: float | Vector) -> None:
        """Fill the output vectors; the arguments are the inputs, then the outputs."""
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
    """Return a new vector of zeros for this lane."""
    return np.zeros(size)


def matrix(rows: Size, columns: Size) -> Vector:
    """Return a new matrix of zeros for this lane; procedures can fill a row `m[k]`."""
    return np.zeros((rows, columns))


def scratch(size: Size) -> Vector:
    """Return a vector for this lane whose entries are undefined until they are written."""
    return np.full(size, np.nan)


def scratch_matrix(rows: Size, columns: Size) -> Vector:
    """Return a matrix for this lane whose entries are undefined until they are written."""
    return np.full((rows, columns), np.nan)


def unroll(counts: Iterable[int]) -> Iterator[int]:
    """Iterate over known numbers; the reader unrolls the loop, so its counter is a constant."""
    return iter(counts)


def take_ticket(counter: IntBuffer) -> int:
    """Return the next number of a counter that all lanes share; each lane gets a different one."""
    ticket = int(counter[0])
    counter[0] += 1
    return ticket


def read_buffer_row(buffer: Buffer, start: int, row: Vector) -> None:
    """Copy the numbers of a buffer that begin at index `start` into a vector."""
    row[...] = buffer[start : start + row.size].reshape(row.shape)


def write_buffer_row(buffer: Buffer, start: int, row: Vector) -> None:
    """Copy a vector into a buffer, beginning at index `start`."""
    buffer[start : start + row.size] = row.ravel()
