"""Kernels that were compiled beforehand, and their check against reference values."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from .device_arrays import (
    LAYOUTS,
    PRECISION_NAMES,
    DeviceArray,
    current_stream,
    give_array,
    take_array,
)
from .device_function import DeviceFunction, FunctionRecord, check_kernel
from .device_trajectories import (
    DeviceTrajectories,
    count_trajectories,
    drop_trajectory_axis,
)


def load_prepared_kernels(folder: str | Path) -> PreparedKernels:
    """Return the functions of a folder that `prepare_kernels` has written."""
    return PreparedKernels(Path(folder))


class PreparedKernels:
    """The functions of a prepared folder, by name: `kernels.inverse_dynamics(q, qd, qdd)`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        manifest = folder / "manifest.json"
        if not manifest.is_file():
            raise FileNotFoundError(
                f"{folder} has no manifest.json; give a folder that prepare_kernels has written"
            )
        self.manifest: dict[str, Any] = json.loads(manifest.read_text("utf-8"))
        self._made: dict[str, DeviceFunction] = {}
        self._modules: dict[str, Any] = {}

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

    def rollout(
        self,
        q0: DeviceArray,
        qd0: DeviceArray,
        tau: DeviceArray | None = None,
        dt: float = 1e-3,
        steps: int = 1000,
        *,
        method: str = "rk4",
        history: bool = False,
        t: float = 0.0,
        parameters: DeviceArray | None = None,
        layout: str = "rows",
    ) -> tuple[DeviceArray, DeviceArray]:
        """Integrate many trajectories with fixed steps, each in one thread.

        `tau` has forces of each trajectory, (B, nv), or of each step, (B, steps, nv); `history`
        returns all steps, the start included. Shapes are those of `CudaModel.rollout`.
        """
        import cupy as cp

        record = self._rollout_record(method)
        if not isinstance(steps, int | np.integer) or steps < 0:
            raise ValueError(f"steps cannot be {steps!r}; give a whole number from 0")
        if layout not in LAYOUTS:
            raise ValueError(f"layout cannot be {layout!r}; use {' or '.join(LAYOUTS)}")
        given = [x for x in (q0, qd0, tau) if x is not None]
        nq, nv = record["sizes"][:2]
        with current_stream(cp, given):
            q, qd = take_array(cp, q0), take_array(cp, qd0)
            kind = "float32" if str(q.dtype) == str(qd.dtype) == "float32" else "float64"
            count, is_single = count_trajectories((q, qd), layout)
            batch = DeviceTrajectories(cp, kind, layout, count)
            force = np.zeros(nv) if tau is None else take_array(cp, tau)
            bounds = None if tau is None else record["limits"]
            operands = [
                batch.own(q, (nq,), "q0"),
                batch.own(qd, (nv,), "qd0"),
                batch.forces(force, steps, (nv,), "tau", bounds),
                batch.shared(t + dt * np.arange(steps)),
                batch.repeat(np.array(dt)),
            ]
            if record["parameters"]:
                kept = take_array(cp, record["nominal"] if parameters is None else parameters)
                operands.append(batch.own(kept, (len(record["parameters"]),), "parameters"))
            kernel = self._step_entry(record, PRECISION_NAMES[kind]), record["block"]
            found = batch.integrate(kernel, operands, record["sizes"], steps, history)
            if is_single:
                found = [drop_trajectory_axis(x, layout) for x in found]
        q, qd = (give_array(x, given) for x in found)
        return q, qd

    def _rollout_record(self, method: str) -> FunctionRecord:
        records = self.manifest["rollouts"]
        if method not in records:
            raise ValueError(f"no rollout by '{method}' was prepared; there are {list(records)}")
        record: FunctionRecord = records[method]
        return record

    def _step_entry(self, record: FunctionRecord, precision: str) -> Any:
        """Return the kernel of a step, loaded once on each device."""
        import cupy as cp

        if precision not in record["cubins"]:
            raise ValueError(f"rollouts were not prepared for {precision}")
        key = f"{record['cubins'][precision]} {cp.cuda.Device().id}"
        if key not in self._modules:
            module = cp.cuda.function.Module()
            module.load((self.folder / record["cubins"][precision]).read_bytes())
            self._modules[key] = module
        return self._modules[key].get_function(record["entry"])

    def check(self) -> dict[str, float]:
        """Return the largest error of each kernel against its reference values.

        Errors are shares of the largest entry of an output, divided by the condition number of the
        mass matrix where a function solves with it. The batch has a tail, and outputs are NaN
        before.
        """
        import cupy as cp

        references = np.load(self.folder / "reference.npz")
        found = {}
        for name, record in self.manifest["functions"].items():
            for kind in PRECISION_NAMES.items():
                if kind[1] in record["kernels"]:
                    for layout in LAYOUTS:
                        error = check_kernel(
                            cp, self.function(name), references, name, kind[0], layout
                        )
                        found[f"{name} {kind[0]} {layout}"] = error
        return found
