"""CasADi's functions called with arrays, without its search for the right overload.

`function(q, v)` tries numbers, arrays and matrices of all kinds for each input, and returns
matrices of its own: 40 µs, where the function itself may take one. Its buffers read and write
arrays.
"""

from __future__ import annotations

import threading
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..types import Floats


class ArrayFunction:
    """A `casadi.Function` whose inputs and outputs are arrays; all outputs are matrices.

    Inputs that do not have the size of the function's own, such as one number for all entries of a
    vector, go CasADi's way, and so do calls of several threads at once: they share the buffers.
    """

    def __init__(self, function: ca.Function) -> None:
        self._call: Any = function.call
        self._buffer: Any  # CasADi's stubs know its methods of C++
        self._buffer, self._evaluate = function.buffer()
        inputs = [function.sparsity_in(i) for i in range(function.n_in())]
        self._input_sizes = [x.numel() if x.is_dense() else None for x in inputs]
        self._outputs = [_OutputLayout(function.sparsity_out(i)) for i in range(function.n_out())]
        self._lock = threading.Lock()

    def __call__(self, *inputs: ArrayLike) -> list[Floats]:
        """All outputs, two-dimensional and in the order of C."""
        arrays = [np.asarray(x, dtype=float).ravel(order="F") for x in inputs]
        sizes = [array.size for array in arrays]
        if sizes != self._input_sizes or not self._lock.acquire(blocking=False):
            return [np.array(found, dtype=float) for found in self._call(inputs)]
        try:
            entries = [np.empty(layout.entry_count) for layout in self._outputs]
            for k, array in enumerate(arrays):
                self._buffer.set_arg(k, array.data)
            for k, array in enumerate(entries):
                self._buffer.set_res(k, array.data)
            self._evaluate()
        finally:
            self._lock.release()
        return [
            layout.fill_matrix(stored)
            for layout, stored in zip(self._outputs, entries, strict=True)
        ]


class _OutputLayout:
    """Where the stored entries of an output stand in its matrix."""

    def __init__(self, sparsity: ca.Sparsity) -> None:
        self.shape, self.entry_count = sparsity.shape, sparsity.nnz()
        self._places = None if sparsity.is_dense() else sparsity.get_triplet()

    def fill_matrix(self, stored: Floats) -> Floats:
        """The matrix of an output whose stored entries are given."""
        if self._places is None:
            return np.ascontiguousarray(stored.reshape(self.shape, order="F"))
        matrix = np.zeros(self.shape)
        matrix[self._places[0], self._places[1]] = stored
        return matrix
