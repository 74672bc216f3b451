"""Rollouts wholly on the GPU: one thread integrates one trajectory, states stay in registers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentError, UnsupportedError
from ..number_checks import check_number, check_positive, check_whole_number
from ..simulation.effort_limits import effort_bounds
from ..simulation.feedback import Feedback
from ..simulation.fixed_steps.compiled_steps import CompiledStep
from ..simulation.fixed_steps.rollouts import cached_step, refuse_events
from ..simulation.fixed_steps.step_methods import check_method
from ..simulation.fixed_steps.trajectory_batch import controller_acts
from ..simulation.varied_inputs import check_inputs_without
from .adaptive_rollouts import ADAPTIVE_METHODS, roll_out_adaptively_on_device
from .kernel_records import KERNEL_ENTRY, STEP_BLOCK, write_step_kernel_source
from .runtime.device_arrays import (
    LAYOUTS,
    PRECISION_NAMES,
    DeviceArray,
    current_stream,
    give_array,
    take_array,
)
from .runtime.device_trajectories import (
    DeviceTrajectories,
    count_trajectories,
    drop_trajectory_axis,
)

if TYPE_CHECKING:
    from .cuda_model import CudaModel


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
            rtol=check_positive(rtol, "rtol"),
            atol=check_positive(atol, "atol"),
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
        count, is_single = count_trajectories((q, qd), layout)
        batch = DeviceTrajectories(cp, kind, layout, count)
        operands = [batch.own(q, (model.nq,), "q0"), batch.own(qd, (model.nv,), "qd0")]
        operands += [batch.repeat(x) for x in _control_starts(step)]
        tau: Any = np.zeros(model.nv)
        bounds = None
        if law is None and inputs is not None:
            tau, bounds = take_array(cp, inputs), effort_bounds(model.mechanism)
        operands.append(batch.forces(tau, steps, (model.nv,), "inputs", bounds))
        times = t + dt * np.arange(steps)
        operands += [batch.shared(x) for x in _timed_inputs(step, times, dt)]
        operands.append(batch.repeat(np.array(dt)))
        if step.kept:
            values = model.nominal_parameters if parameters is None else parameters
            kept = take_array(cp, values)
            operands.append(batch.own(kept, (len(step.kept),), "parameters"))
        sizes = [port.size for port in step.tape.outputs]
        kernel = _step_entry(functions, step, PRECISION_NAMES[kind]), STEP_BLOCK
        results = batch.integrate(kernel, operands, sizes, steps, history)
        if is_single:
            results = [drop_trajectory_axis(x, layout) for x in results]
    found = [give_array(x, given) for x in results]
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
        source = write_step_kernel_source(step, replace(functions.options, precision=precision))
        module = cp.cuda.function.Module()
        module.load(functions.compile_source(source))
        cache[key] = (module, module.get_function(f"{KERNEL_ENTRY}_steps"))
    return cache[key][1]
