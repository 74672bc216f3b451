"""Rollouts wholly on the GPU: one thread integrates one trajectory, states stay in registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, LinkwrightError, UnsupportedError
from ..number_checks import check_number, check_whole_number
from ..readings.cuda.state_function import CudaFunction
from ..readings.cuda.step_kernels import write_step_source
from ..simulation.feedback import Feedback
from ..simulation.fixed_steps.compiled_steps import CompiledStep
from ..simulation.fixed_steps.rollouts import cached_step, refuse_events
from ..simulation.fixed_steps.step_methods import check_method
from ..simulation.fixed_steps.trajectory_batch import controller_acts
from ..simulation.varied_inputs import check_inputs_without
from .adaptive_rollouts import ADAPTIVE_METHODS, roll_out_adaptively_on_device
from .device_runtime import (
    LAYOUTS,
    PRECISION_NAMES,
    DeviceArray,
    current_stream,
    give_array,
    take_array,
)
from .kernel_records import KERNEL_ENTRY

if TYPE_CHECKING:
    from .cuda_model import CudaModel

STEP_BLOCK = 256
"""Threads of a block of step kernels: with blocks of 128, the compiler holds a thread to 128
registers, and the steps of a Panda arm are a quarter slower (H200)."""


def roll_out_on_device(
    functions: CudaModel,
    q0: DeviceArray,
    qd0: DeviceArray,
    inputs: DeviceArray | Mapping[str, object] | Feedback | None,
    *,
    dt: float,
    steps: int,
    method: str,
    history: bool,
    t: float,
    parameters: DeviceArray | None,
    layout: str,
    rtol: float,
    atol: float,
) -> tuple[DeviceArray, DeviceArray]:
    """Return the states at the end, or at all steps."""
    import cupy as cp

    model = functions.model
    if layout not in LAYOUTS:
        raise ArgumentError(f"layout cannot be {layout!r}", remedy="use 'rows' or 'columns'")
    refuse_events(model.mechanism)
    steps, dt, t = check_whole_number(steps, "steps"), check_number(dt, "dt"), check_number(t, "t")
    if method in ADAPTIVE_METHODS:
        return roll_out_adaptively_on_device(
            functions,
            q0,
            qd0,
            inputs,
            dt=dt,
            steps=steps,
            method=method,
            history=history,
            t=t,
            parameters=parameters,
            layout=layout,
            rtol=check_number(rtol, "rtol"),
            atol=check_number(atol, "atol"),
        )
    check_method(method, model.equations)
    law = inputs if isinstance(inputs, Mapping | Feedback) else None
    if callable(inputs) and law is None:
        raise UnsupportedError(
            "rollouts are compiled as a whole and do not accept Python functions as inputs",
            remedy="give expressions, tables, a controller, or forces for every step",
        )
    check_inputs_without(model.mechanism, law, model.parameters)
    step = cached_step(model, method, law)
    given = [x for x in (q0, qd0, None if law is not None else inputs) if x is not None]
    with current_stream(cp, given):
        q, qd = take_array(cp, q0), take_array(cp, qd0)
        kind = "float32" if str(q.dtype) == str(qd.dtype) == "float32" else "float64"
        batch = _Batch(cp, kind, layout, q.shape[0 if layout == "rows" else -1])
        operands = [batch.own(q, (model.nq,), "q0"), batch.own(qd, (model.nv,), "qd0")]
        operands += [batch.repeat(x) for x in _control_starts(step)]
        tau = np.zeros(model.nv) if law is not None or inputs is None else take_array(cp, inputs)
        operands.append(batch.timed(tau, steps, (model.nv,), "inputs"))
        times = t + dt * np.arange(steps)
        operands += [batch.shared(x) for x in _timed_inputs(step, times, dt)]
        operands.append(batch.repeat(np.array(dt)))
        if step.kept:
            values = model.nominal_parameters if parameters is None else parameters
            kept = take_array(cp, values)
            operands.append(batch.own(kept, (len(step.kept),), "parameters"))
        results = [batch.results(port.size, steps, history) for port in step.tape.outputs[:2]]
        for start, (whole, _) in zip(operands, results, strict=False):
            if history:
                batch.first_row(whole)[...] = start.array
            elif steps == 0:
                whole[...] = start.array
        outputs = [kept for _, kept in results]
        outputs += [batch.last(port.size) for port in step.tape.outputs[2:]]
        if steps and batch.count:
            entry = _step_entry(functions, step, PRECISION_NAMES[kind])
            every = 1 if history else steps
            sizes = [np.int64(n) for n in (batch.count, steps, every)]
            arguments = [x for one in (*operands, *outputs) for x in one.arguments]
            grid = (batch.count + STEP_BLOCK - 1) // STEP_BLOCK
            entry((grid,), (STEP_BLOCK,), (*sizes, *arguments))
    found = [give_array(whole, given) for whole, _ in results]
    return found[0], found[1]


def _control_starts(step: CompiledStep) -> list[Any]:
    """Return z and the held forces at the start, the same for all trajectories."""
    return [x[0] for x in step.initial_control_states(1)]


def _timed_inputs(step: CompiledStep, times: Any, dt: float) -> list[Any]:
    """Return the inputs of the steps that all trajectories share: t, outside values, acts."""
    found = [times]
    if len(times):
        found += step.outside_inputs_of_steps(times, dt)
    if step.period is not None:
        found.append(controller_acts(times, dt, step.period))
    return found


def _step_entry(functions: CudaModel, step: CompiledStep, precision: str) -> Any:
    """Return the kernel of a step, loaded once for each step, precision and device."""
    import cupy as cp

    key = (step.tape.digest, precision, cp.cuda.Device().id)
    cache: dict[object, Any] = functions.__dict__.setdefault("_step_entries", {})
    if key not in cache:
        options = replace(functions.options, precision=precision, block=STEP_BLOCK)
        course = step.ports[2]
        source = write_step_source(CudaFunction(KERNEL_ENTRY, step.tape), course, options)
        module = cp.cuda.function.Module()
        module.load(functions.compile_source(source))
        cache[key] = (module, module.get_function(f"{KERNEL_ENTRY}_steps"))
    return cache[key][1]


@dataclass(frozen=True)
class _Operand:
    """An array of a step kernel, with its strides over lanes, steps and entries."""

    array: Any
    lane: int
    step: int
    entry: int

    @property
    def arguments(self) -> list[Any]:
        """The arguments of the kernel."""
        return [self.array, *(np.int64(n) for n in (self.lane, self.step, self.entry))]


@dataclass(frozen=True)
class _Batch:
    """The arrays of trajectories in a layout."""

    cp: Any
    kind: str
    layout: str
    count: int

    def contiguous(self, x: Any) -> Any:
        """Return the array in the precision of the kernel, without gaps."""
        return self.cp.ascontiguousarray(self.cp.asarray(x).astype(self.kind, copy=False))

    def own(self, x: Any, shape: tuple[int, ...], name: str) -> _Operand:
        """An input with a value for each trajectory, or one for all."""
        (size,) = shape
        if tuple(x.shape) == shape:
            return _Operand(self.contiguous(x), 0, 0, 1)
        wanted = (self.count, size) if self.layout == "rows" else (size, self.count)
        if tuple(x.shape) != wanted:
            raise LinkwrightError(
                f"{name} has shape {tuple(x.shape)}", remedy=f"give {wanted} or {shape}"
            )
        is_row = self.layout == "rows"
        lane, entry = (size, 1) if is_row else (1, self.count)
        return _Operand(self.contiguous(x), lane, 0, entry)

    def timed(self, x: Any, steps: int, shape: tuple[int, ...], name: str) -> _Operand:
        """An input with a value for each trajectory, or for each trajectory and step."""
        (size,) = shape
        is_row = self.layout == "rows"
        whole = (self.count, steps, size) if is_row else (steps, size, self.count)
        if tuple(x.shape) != whole:
            return self.own(x, shape, name)
        strides = (steps * size, size, 1) if is_row else (1, size * self.count, self.count)
        return _Operand(self.contiguous(x), *strides)

    def shared(self, x: Any) -> _Operand:
        """An input with a value for each step that all trajectories share."""
        size = int(np.prod(x.shape[1:]))
        return _Operand(self.contiguous(x), 0, size, 1)

    def repeat(self, x: Any) -> _Operand:
        """An input that is the same for all trajectories and steps."""
        return _Operand(self.contiguous(x), 0, 0, 1)

    def last(self, size: int) -> _Operand:
        """An output that is kept for the last step only, or not at all."""
        array = self.cp.empty((self.count, size), dtype=self.kind)
        return _Operand(array, size, 0, 1)

    def first_row(self, whole: Any) -> Any:
        """The states at the start in a history."""
        return whole[:, 0] if self.layout == "rows" else whole[0]

    def results(self, size: int, steps: int, history: bool) -> tuple[Any, _Operand]:
        """The array that is returned, and what the kernel writes of it."""
        is_row, kept = self.layout == "rows", steps + 1
        if not history:
            shape = (self.count, size) if is_row else (size, self.count)
            whole = self.cp.empty(shape, dtype=self.kind)
            return whole, _Operand(whole, *((size, 0, 1) if is_row else (1, 0, self.count)))
        states = (self.count, kept, size) if is_row else (kept, size, self.count)
        whole = self.cp.empty(states, dtype=self.kind)
        later = whole[:, 1:] if is_row else whole[1:]
        strides = (kept * size, size, 1) if is_row else (1, size * self.count, self.count)
        return whole, _Operand(later, *strides)
