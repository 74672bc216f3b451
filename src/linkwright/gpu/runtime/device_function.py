"""A function over arrays of states on the GPU, and its check against reference values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .device_arrays import (
    LAYOUTS,
    PRECISION_NAMES,
    DeviceArray,
    current_stream,
    give_array,
    take_array,
    whole_shape,
)

FunctionRecord = Mapping[str, Any]
"""A function in the manifest: its inputs and outputs as [name, shape], and its kernels."""


class DeviceFunction:
    """A function over arrays of states on the GPU.

    `read_cubin` returns the machine code of a kernel; `repair` may change results, and is called
    with the inputs, the results and the layout.
    """

    def __init__(
        self,
        record: FunctionRecord,
        read_cubin: Callable[[Any], bytes],
        repair: Callable[..., list[Any]] | None = None,
    ) -> None:
        self.record, self.read_cubin, self.repair = record, read_cubin, repair
        self.inputs = [(name, tuple(shape)) for name, shape in record["inputs"]]
        self.outputs = [(name, tuple(shape)) for name, shape in record["outputs"]]
        self._modules: dict[str, Any] = {}

    def __call__(
        self, *given: DeviceArray, layout: str = "rows", **named: DeviceArray
    ) -> DeviceArray:
        """Compute all states; the results are arrays of the framework of the first array.

        In rows, inputs are (…, n) and their leading axes broadcast; in columns they are (n, B).
        They are given by position or by name.
        """
        if layout not in LAYOUTS:
            raise ValueError(f"layout cannot be {layout!r}; use {' or '.join(LAYOUTS)}")
        names = [name for name, _ in self.inputs]
        rest = names[len(given) :]
        if len(given) > len(names) or set(named) != set(rest):
            raise TypeError(
                f"{self.record['name']} takes {', '.join(names)}; {len(given)} are given"
                + (f" by position and {', '.join(named)} by name" if named else "")
            )
        given = (*given, *(named[name] for name in rest))
        import cupy as cp

        with current_stream(cp, given):
            arrays = [take_array(cp, x) for x in given]
            kind = "float32" if all(str(x.dtype) == "float32" for x in arrays) else "float64"
            batch, count = self.read_batch(arrays, layout)
            full = [
                cp.ascontiguousarray(
                    cp.broadcast_to(x.astype(kind, copy=False), whole_shape(shape, batch, layout))
                )
                for x, (_, shape) in zip(arrays, self.inputs, strict=True)
            ]
            results = [
                cp.empty(whole_shape(shape, batch, layout), dtype=kind) for _, shape in self.outputs
            ]
            self.launch(layout, PRECISION_NAMES[kind], count, [*full, *results])
            if self.repair is not None:
                results = self.repair(full, results, layout)
        found = [give_array(x, given) for x in results]
        return found[0] if len(found) == 1 else tuple(found)

    def read_batch(self, arrays: Sequence[DeviceArray], layout: str) -> tuple[tuple[int, ...], int]:
        """Return the axes over the states and the number of states."""
        leading = []
        for x, (name, shape) in zip(arrays, self.inputs, strict=True):
            split = len(x.shape) - len(shape)
            own = x.shape[split:] if layout == "rows" else x.shape[: len(shape)]
            rest = x.shape[:split] if layout == "rows" else x.shape[len(shape) :]
            if split < 0 or tuple(own) != shape or (layout == "columns" and len(rest) > 1):
                wanted = ["…", *map(str, shape)] if layout == "rows" else [*map(str, shape), "B"]
                raise ValueError(
                    f"{name} of {self.record['name']} has shape {tuple(x.shape)}; "
                    f"give ({', '.join(wanted)})"
                )
            leading.append(tuple(rest))
        try:
            batch = np.broadcast_shapes(*leading)
        except ValueError:
            names = [name for name, _ in self.inputs]
            pairs = zip(leading, names, strict=True)
            texts = ", ".join(f"{axes} of {name}" for axes, name in pairs if axes)
            raise ValueError(
                f"the leading axes of {self.record['name']} do not agree: {texts}; "
                "give equal axes, or axes of length 1"
            ) from None
        if layout == "columns" and not batch:
            batch = (1,)
        return batch, math.prod(batch)

    def launch(self, layout: str, precision: str, count: int, arrays: Sequence[Any]) -> None:
        """Launch the kernel on the current stream."""
        if count == 0:
            return
        kernel = self.record["kernels"][precision]
        block = kernel[f"{layout}_block"]
        entry = self.entry(precision, f"{kernel['entry']}_{layout}")
        entry(((count + block - 1) // block,), (block,), (np.int64(count), *arrays))

    def entry(self, precision: str, name: str) -> Any:
        """Return a kernel by its name, loaded once on each device."""
        import cupy as cp

        key = f"{precision} {cp.cuda.Device().id}"
        if key not in self._modules:
            if precision not in self.record["kernels"]:
                raise ValueError(f"{self.record['name']} was not prepared for {precision}")
            module = cp.cuda.function.Module()
            module.load(self.read_cubin(self.record["kernels"][precision]))
            self._modules[key] = module
        return self._modules[key].get_function(name)


def check_kernel(
    cp: Any, function: DeviceFunction, references: Any, name: str, kind: str, layout: str
) -> float:
    """Return the error of one kernel in a batch whose states are the reference states in turn."""
    count, states = 1003, len(references[f"{name} {function.outputs[0][0]}"])
    turn = np.arange(count) % states
    arrays = [
        cp.asarray(_lay_out(references[f"{name} {key}"][turn].astype(kind), shape, layout))
        for key, shape in function.inputs
    ]
    outputs = [
        cp.full(whole_shape(shape, (count,), layout), np.nan, dtype=kind)
        for _, shape in function.outputs
    ]
    function.launch(layout, PRECISION_NAMES[kind], count, [*arrays, *outputs])
    worst = 0.0
    for (key, shape), x in zip(function.outputs, outputs, strict=True):
        found = np.asarray(x.get() if hasattr(x, "get") else x, dtype=float)
        found = found if layout == "rows" else np.moveaxis(found, -1, 0)
        wanted = references[f"{name} {key}"].reshape(states, *shape)[turn]
        axes = tuple(range(1, wanted.ndim))
        size = np.abs(wanted).max(axis=axes, initial=1e-30) * references[f"{name} condition"][turn]
        error = np.abs(found - wanted).max(axis=axes, initial=0.0) / size
        worst = max(worst, float(error.max())) if np.isfinite(found).all() else math.inf
    return worst


def _lay_out(rows: Any, shape: Sequence[int], layout: str) -> Any:
    """Return rows of states in a layout."""
    whole = rows.reshape(len(rows), *shape)
    return np.ascontiguousarray(whole if layout == "rows" else np.moveaxis(whole, 0, -1))
