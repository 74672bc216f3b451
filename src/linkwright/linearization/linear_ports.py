"""Inputs and outputs of linear models by name, as weights of changes of the motion.

An output y has weights of the changes δθ of the configuration, δv of the velocities and δv̇ of the
accelerations. An input u adds generalized forces, one weight for each velocity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import NameNotFoundError, suggest_remedy
from ..model.model import Model
from ..types import Floats
from .operating_points import OperatingPoint
from .tangent_states import tangent_names, velocity_state_names

OutputWeights = tuple[Floats, Floats, Floats]
"""Weights of δθ, δv and δv̇, (nv,) each."""


@dataclass(frozen=True)
class LinearOutput:
    """An output by name, and its weights at a state with accelerations q̈."""

    name: str
    weights: Callable[[OperatingPoint, Floats], OutputWeights]


@dataclass(frozen=True)
class LinearInput:
    """An input by name, and the generalized forces of its unit at a state."""

    name: str
    forces: Callable[[OperatingPoint], Floats]


def find_linear_output(model: Model, name: str) -> LinearOutput:
    """Return an output: a coordinate, a velocity, its rate, or the motion of a frame."""
    rest, unit = np.zeros(model.nv), np.eye(model.nv)
    positions = tangent_names(model.mechanism, model.names)
    velocities = velocity_state_names(model.mechanism, model.names)
    accelerations = tuple(f"d{word}" for word in velocities)
    for order, words in enumerate((positions, velocities, accelerations)):
        if name in words:
            row = unit[words.index(name)]
            fixed = tuple(row if k == order else rest for k in range(3))
            return LinearOutput(name, _constant_weights(fixed))
    frame, _, word = name.rpartition(".")
    places = _frame_names(model)
    if frame in places and word in _FRAME_OUTPUTS:
        read, row_index = _FRAME_OUTPUTS[word]
        return LinearOutput(name, lambda point, qdd: read(model, frame, row_index, point, qdd))
    known = [*positions, *velocities, *(f"{place}.x" for place in places)]
    raise NameNotFoundError(f"unknown output '{name}'", remedy=suggest_remedy(name, known))


def _constant_weights(
    weights: tuple[Floats, ...],
) -> Callable[[OperatingPoint, Floats], OutputWeights]:
    """Return a function that always returns the same weights."""
    by_q, by_qd, by_qdd = weights
    return lambda point, qdd: (by_q, by_qd, by_qdd)


def _frame_names(model: Model) -> list[str]:
    """Return the names of all frames and bodies."""
    return [*model.mechanism.frames, *model.mechanism.bodies]


def _frame_position(
    model: Model, frame: str, row: int, point: OperatingPoint, qdd: Floats
) -> OutputWeights:
    """Return the weights of a coordinate of a frame's origin in the world."""
    clock = model.names.position_time_arguments(point.t)
    rest = np.zeros(model.nv)
    return model.jacobian(frame)(point.q, *clock)[row], rest, rest


def _frame_velocity(
    model: Model, frame: str, row: int, point: OperatingPoint, qdd: Floats
) -> OutputWeights:
    """Return the weights of a component of a frame's velocity, world axes."""
    clock = model.names.position_time_arguments(point.t)
    by_q, by_qd = model.frame_velocity_derivatives(frame)(point.q, point.qd, *clock)
    return by_q[row], by_qd[row], np.zeros(model.nv)


def _frame_acceleration(
    model: Model, frame: str, row: int, point: OperatingPoint, qdd: Floats
) -> OutputWeights:
    """Return the weights of a component of a frame's acceleration, world axes."""
    clock = model.names.position_time_arguments(point.t)
    found = model.frame_acceleration_derivatives(frame)(point.q, point.qd, qdd, *clock)
    by_q, by_qd, by_qdd = (part[row] for part in found)
    return by_q, by_qd, by_qdd


_FRAME_OUTPUTS = {
    f"{prefix}{axis}": (read, first + k)
    for prefix, read, first in (
        ("", _frame_position, 3),
        ("v", _frame_velocity, 3),
        ("w", _frame_velocity, 0),
        ("a", _frame_acceleration, 3),
        ("alpha", _frame_acceleration, 0),
    )
    for k, axis in enumerate("xyz")
}
"""Words of a frame's outputs: how they are read, and their row of the frame's motion."""

_FRAME_FORCES = {
    f"{prefix}{axis}": first + k
    for prefix, first in (("m", 0), ("f", 3))
    for k, axis in enumerate("xyz")
}
"""Words of moments and forces on a frame, world axes, and their row of the wrench."""


def default_linear_inputs(model: Model) -> tuple[str, ...]:
    """Return the actuators, or all velocities where there are none."""
    return tuple(model.names.actuators or model.names.qd)


def find_linear_input(model: Model, name: str) -> LinearInput:
    """Return an input: an actuator, a generalized force by its velocity, or a force on a frame."""
    names = model.names
    clock = names.position_time_arguments
    if name in names.actuators:
        column = names.actuators.index(name)
        return LinearInput(
            name, lambda point: model.input_matrix(point.q, *clock(point.t))[:, column]
        )
    if name in names.qd:
        unit = np.eye(model.nv)[names.qd.index(name)]
        return LinearInput(name, lambda point: unit)
    frame, _, word = name.rpartition(".")
    places = _frame_names(model)
    if frame in places and word in _FRAME_FORCES:
        row = _FRAME_FORCES[word]
        return LinearInput(name, lambda point: model.jacobian(frame)(point.q, *clock(point.t))[row])
    known = [*names.actuators, *names.qd, *(f"{place}.fx" for place in places)]
    raise NameNotFoundError(f"unknown input '{name}'", remedy=suggest_remedy(name, known))


def output_matrix_rows(
    outputs: Sequence[LinearOutput],
    point: OperatingPoint,
    qdd: Floats,
    changes: tuple[Floats, Floats, Floats],
    qdd_by_u: Floats,
) -> tuple[Floats, Floats]:
    """Return C and D from the changes of δθ, δv and δv̇ by the states, and of δv̇ by the inputs."""
    C = np.zeros((len(outputs), changes[0].shape[1]))
    D = np.zeros((len(outputs), qdd_by_u.shape[1]))
    for k, output in enumerate(outputs):
        weights = output.weights(point, qdd)
        C[k] = sum(row @ change for row, change in zip(weights, changes, strict=True))
        D[k] = weights[2] @ qdd_by_u
    return C, D
