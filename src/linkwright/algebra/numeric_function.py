"""CasADi functions on NumPy arrays, without CasADi's own matrices in between."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..types import SX, Floats


class NumericFunction:
    """A function of numbers: a call takes a seventh of the time of `casadi.Function`.

    Outputs are arrays (rows, columns), or (rows,) where they have one column.
    """

    def __init__(self, name: str, inputs: Sequence[SX], outputs: Sequence[SX | ca.DM]) -> None:
        dense = [ca.densify(ca.SX(output)) for output in outputs]
        self.function = ca.Function(name, list(inputs), dense)
        self._sizes = [int(symbol.numel()) for symbol in inputs]
        self._shapes = [tuple(int(n) for n in output.shape) for output in dense]

    def __call__(self, *inputs: ArrayLike) -> tuple[Floats, ...]:
        """The outputs at the inputs, which are vectors or numbers."""
        buffer, evaluate = self.function.buffer()  # of this call: threads share the function
        given = []
        for k, (value, size) in enumerate(zip(inputs, self._sizes, strict=True)):
            array = np.ascontiguousarray(value, dtype=float).reshape(size)
            given.append(array)  # the buffer keeps only its address
            if size:
                buffer.set_arg(k, memoryview(array))  # type: ignore[call-arg, arg-type]
        results = [np.empty(shape[::-1]) for shape in self._shapes]
        for k, result in enumerate(results):
            if result.size:
                buffer.set_res(k, memoryview(result))  # type: ignore[call-arg, arg-type]
        evaluate()
        return tuple(
            result.reshape(-1) if shape[1] == 1 else result.T
            for result, shape in zip(results, self._shapes, strict=True)
        )
