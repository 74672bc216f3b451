"""Rollouts with adaptive steps on the GPU: one thread runs the integrator's program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkwrightError, UnsupportedError
from ..exports.motion_code import write_buffer_structure, write_motion_code
from ..exports.motion_programs import MotionProgram, make_simulation_program
from ..integrators import Clock, Progress
from ..integrators.stop_events import MotionEnd
from ..readings.cuda.program_kernels import PROGRAM_BLOCK, write_program_source
from ..simulation.exported_motion import ExportedMotion
from ..simulation.feedback import Feedback
from .runtime.device_arrays import DeviceArray, current_stream, give_array, take_array
from .runtime.device_trajectories import count_trajectories, drop_trajectory_axis

if TYPE_CHECKING:
    from .cuda_model import CudaModel

_STRUCTURE = "lw_motion"

ADAPTIVE_METHODS = ("dop853", "rk45")
"""Methods that choose their own steps, in each trajectory."""


@dataclass(frozen=True)
class AdaptiveProgram:
    """The program of a mechanism's motion, and where its buffers lie in a trajectory's memory."""

    motion: ExportedMotion
    method: str

    @cached_property
    def program(self) -> MotionProgram:
        """The program."""
        return make_simulation_program(self.motion, self.method)

    @cached_property
    def source(self) -> str:
        """The CUDA source of its kernel."""
        one = self.program
        return write_program_source(
            write_buffer_structure(_STRUCTURE, one.buffers),
            _STRUCTURE,
            write_motion_code({"simulation": one}, {}, {"simulation": _STRUCTURE}),
            "run_simulation",
        )

    @cached_property
    def places(self) -> dict[str, int]:
        """The first word of each buffer; words have 8 bytes."""
        found, start = {}, 0
        for name, buffer in self.program.buffers.items():
            found[name] = start
            start += max(1, buffer.size)
        return found | {"": start}

    @cached_property
    def start_words(self) -> Any:
        """The memory of a trajectory at the start, as floats of the same bits."""
        words = np.zeros(self.places[""])
        for name, buffer in self.program.buffers.items():
            part = slice(self.places[name], self.places[name] + buffer.size)
            words[part] = np.ascontiguousarray(buffer).reshape(-1).view(np.float64)
        words[self.places["buffers.sample_times"]] = np.inf
        return words


def roll_out_adaptively_on_device(
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
    """Return states at the end, or at all multiples of `dt`, in double precision."""
    import cupy as cp

    model = functions.model
    if callable(inputs) or isinstance(inputs, Mapping | Feedback):
        raise UnsupportedError(
            f"'{method}' on a GPU takes constant forces only",
            remedy="give an array of forces, or use steps of fixed length",
        )
    program = _cached_program(functions, method)
    given = [x for x in (q0, qd0, inputs) if x is not None]
    with current_stream(cp, given):
        starts = [_as_rows(take_array(cp, x).astype("float64"), layout) for x in (q0, qd0)]
        count, is_single = count_trajectories(starts, "rows")
        words = cp.ascontiguousarray(
            cp.broadcast_to(cp.asarray(program.start_words), (count, program.places[""]))
        ).copy()
        state = program.places["buffers.states"]
        _fill(words, state, starts[0], model.nq, "q0")
        _fill(words, state + model.nq, starts[1], model.nv, "qd0")
        efforts, place = len(program.motion.input_names), program.places["buffers.parameters"]
        if inputs is not None:
            _fill(words, place, _as_rows(take_array(cp, inputs), layout), efforts, "inputs")
        if parameters is not None:
            kept = len(model.parameters)
            values = _as_rows(take_array(cp, parameters), layout)
            _fill(words, place + efforts, values, kept, "parameters")
        clock = program.places["buffers.clock"]
        words[:, clock + Clock.TIME] = t
        words[:, clock + Clock.RTOL], words[:, clock + Clock.ATOL] = rtol, atol
        kept_states = [words[:, state : state + model.nq + model.nv].copy()]
        goals = [t + dt * (k + 1) for k in range(steps)] if history else [t + dt * steps]
        for goal in goals if steps else ():
            _advance(functions, program, words, goal)
            kept_states.append(words[:, state : state + model.nq + model.nv].copy())
        whole = cp.stack(kept_states, axis=1) if history else kept_states[-1]
        whole = whole if layout == "rows" else cp.moveaxis(whole, 0, -1)
        parts = (slice(model.nq), slice(model.nq, None))
        found = [whole[..., part] if layout == "rows" else whole[..., part, :] for part in parts]
        if is_single:
            found = [drop_trajectory_axis(x, layout) for x in found]
    return give_array(found[0], given), give_array(found[1], given)


def _advance(functions: CudaModel, program: AdaptiveProgram, words: Any, goal: float) -> None:
    """Integrate all trajectories up to a time; one that cannot get there is NaN from then on."""
    import cupy as cp

    count, clock = len(words), program.places["buffers.clock"]
    words[:, clock + Clock.STOP] = goal
    whole = words.view("int64")
    whole[:, program.places["buffers.progress"] + Progress.QUIET] = 0
    grid = (count + PROGRAM_BLOCK - 1) // PROGRAM_BLOCK
    _program_entry(functions, program)((grid,), (PROGRAM_BLOCK,), (np.int64(count), words))
    ends = whole[:, program.places["stop_buffers.end"]]
    state = program.places["buffers.states"]
    is_lost = ends != int(MotionEnd.REACHED)
    words[:, state : state + program.motion.state_count][is_lost] = cp.nan


def _as_rows(x: Any, layout: str) -> Any:
    """Return an array with a trajectory in each row."""
    return x if layout == "rows" else x.T


def _fill(words: Any, place: int, values: Any, size: int, name: str) -> None:
    """Write an input into the memory of all trajectories."""
    if values.shape not in ((size,), (len(words), size)):
        raise LinkwrightError(
            f"{name} has shape {tuple(values.shape)}", remedy=f"give {(len(words), size)}"
        )
    words[:, place : place + size] = values


def _cached_program(functions: CudaModel, method: str) -> AdaptiveProgram:
    """Return the program of a method, made when it is first used."""
    cache: dict[str, AdaptiveProgram] = functions.__dict__.setdefault("_programs", {})
    if method not in cache:
        kept = functions.model.parameters
        motion = ExportedMotion(functions.mechanism, kept, stops="ignore")  # limits of efforts act
        cache[method] = AdaptiveProgram(motion, method)
    return cache[method]


def _program_entry(functions: CudaModel, program: AdaptiveProgram) -> Any:
    """Return the kernel of a program, loaded once on each device."""
    import cupy as cp

    key = (program.method, cp.cuda.Device().id)
    cache: dict[object, Any] = functions.__dict__.setdefault("_program_entries", {})
    if key not in cache:
        module = cp.cuda.function.Module()
        module.load(functions.compile_source(program.source))
        cache[key] = (module, module.get_function("kernel_advance"))
    return cache[key][1]
