"""Runs prepared kernels on a GPU. This module imports only NumPy and CuPy.

`prepare_kernels` copies it beside the kernels, so that a machine without Linkwright can run them.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

LAYOUTS = ("rows", "columns")
PRECISION_NAMES = {"float32": "float", "float64": "double"}

FunctionRecord = Mapping[str, Any]
"""A function in the manifest: its inputs and outputs as [name, shape], and its kernels."""

DeviceArray = Any
"""An array on the GPU: of CuPy, PyTorch or JAX."""


def load_prepared_kernels(folder: str | Path) -> PreparedKernels:
    """Return the functions of a folder that `prepare_kernels` has written."""
    return PreparedKernels(Path(folder))


class PreparedKernels:
    """The functions of a prepared folder, by name: `kernels.inverse_dynamics(q, qd, qdd)`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.manifest: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
        self._made: dict[str, DeviceFunction] = {}

    def function(self, name: str) -> DeviceFunction:
        """Return a function by its name in the manifest."""
        records = self.manifest["functions"]
        if name not in records:
            raise AttributeError(f"no function '{name}' was prepared; there are {list(records)}")
        if name not in self._made:
            record = records[name]
            self._made[name] = DeviceFunction(
                record, lambda kernel: (self.folder / kernel["cubin"]).read_bytes()
            )
        return self._made[name]

    def __getattr__(self, name: str) -> DeviceFunction:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.function(name)

    def check(self) -> dict[str, float]:
        """Return the largest error of each kernel against its reference values.

        Errors are shares of the largest entry of an output. Arrays have tails, and outputs are
        NaN before.
        """
        import cupy as cp

        references = np.load(self.folder / "reference.npz")
        found = {}
        for name, record in self.manifest["functions"].items():
            for kind in PRECISION_NAMES.items():
                if kind[1] in record["kernels"]:
                    for layout in LAYOUTS:
                        error = _check_kernel(
                            cp, self.function(name), references, name, kind[0], layout
                        )
                        found[f"{name} {kind[0]} {layout}"] = error
        return found


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

    def __call__(self, *given: DeviceArray, layout: str = "rows") -> DeviceArray:
        """Compute all states; the results are arrays of the framework of the first array.

        In rows, inputs are (…, n) and their leading axes broadcast; in columns they are (n, B).
        """
        if layout not in LAYOUTS:
            raise ValueError(f"layout cannot be {layout!r}; use {' or '.join(LAYOUTS)}")
        if len(given) != len(self.inputs):
            names = ", ".join(name for name, _ in self.inputs)
            raise TypeError(f"{self.record['name']} takes {names}; {len(given)} are given")
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
        batch = np.broadcast_shapes(*leading)
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


def whole_shape(shape: Sequence[int], batch: Sequence[int], layout: str) -> tuple[int, ...]:
    """Return the shape of an array of all states."""
    return (*batch, *shape) if layout == "rows" else (*shape, *batch)


def take_array(cp: Any, given: Any) -> Any:
    """Return the array as CuPy's, without a copy where it is on the GPU."""
    if isinstance(given, cp.ndarray):
        return given
    if hasattr(given, "__dlpack__") and not isinstance(given, np.ndarray):
        if getattr(given, "requires_grad", False):
            raise ValueError(
                "a tensor requires gradients, which kernels do not compute; "
                "call the functions of lw.torch(model), or give tensor.detach()"
            )
        return cp.from_dlpack(given)
    return cp.asarray(given)


def give_array(found: Any, given: Sequence[Any]) -> Any:
    """Return the array as one of the framework of the inputs, without a copy."""
    homes = {type(x).__module__.partition(".")[0] for x in given}
    if "torch" in homes:
        return sys.modules["torch"].from_dlpack(found)
    if homes & {"jax", "jaxlib"}:
        return sys.modules["jax"].dlpack.from_dlpack(found)
    return found


def current_stream(cp: Any, given: Sequence[Any]) -> Any:
    """Return the stream of PyTorch where its tensors are given; else CuPy's stays current."""
    if any(type(x).__module__.partition(".")[0] == "torch" for x in given):
        stream = sys.modules["torch"].cuda.current_stream().cuda_stream
        return cp.cuda.ExternalStream(stream)
    return nullcontext()


def _check_kernel(
    cp: Any, function: DeviceFunction, references: Any, name: str, kind: str, layout: str
) -> float:
    """Return the error of one kernel at the reference states, which are spread over a batch."""
    count, states = 1003, len(references[f"{name} {function.outputs[0][0]}"])
    place = np.linspace(0, count - 1, states).astype(int)
    arrays = []
    for key, shape in function.inputs:
        known = references[f"{name} {key}"]
        rows = known[np.arange(count) % states].astype(kind)
        rows[place] = known
        arrays.append(cp.asarray(_lay_out(rows, shape, layout)))
    outputs = [
        cp.full(whole_shape(shape, (count,), layout), np.nan, dtype=kind)
        for _, shape in function.outputs
    ]
    function.launch(layout, PRECISION_NAMES[kind], count, [*arrays, *outputs])
    worst = 0.0
    for (key, shape), x in zip(function.outputs, outputs, strict=True):
        found = np.asarray(x.get() if hasattr(x, "get") else x, dtype=float)
        found = found if layout == "rows" else np.moveaxis(found, -1, 0)
        wanted = references[f"{name} {key}"].reshape(states, *shape)
        axes = tuple(range(1, wanted.ndim))
        size = np.abs(wanted).max(axis=axes, initial=1e-30)
        error = np.abs(found[place] - wanted).max(axis=axes, initial=0.0) / size
        worst = max(worst, float(error.max())) if np.isfinite(found).all() else math.inf
    return worst


def _lay_out(rows: Any, shape: Sequence[int], layout: str) -> Any:
    """Return rows of states in a layout."""
    whole = rows.reshape(len(rows), *shape)
    return np.ascontiguousarray(whole if layout == "rows" else np.moveaxis(whole, 0, -1))
