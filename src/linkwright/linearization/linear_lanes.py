"""Linear models of many states at once, each with parameters of its own, by one compiled model."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UnsupportedError
from ..model.model import Model
from ..types import Floats
from .linear_model import Linear
from .operating_points import OperatingPoint
from .tangent_states import (
    independent_coordinates,
    state_rates,
    tangent_names,
    tangent_states,
    velocity_state_names,
)


def linearize_lanes(
    model: Model, q: Floats, qd: Floats, tau: Floats, parameters: Floats | None = None
) -> list[Linear]:
    """Return the linear models, without inputs and outputs, about states at t = 0.

    q, q̇ and τ have one row for each state, as have the `parameters` that the model keeps. Raises
    under nonholonomic constraints, whose independent coordinates differ from state to state.
    """
    names, lanes = model.names, len(q)
    if len(names.position_rows) != len(names.constraints):
        raise UnsupportedError(
            "nonholonomic constraints have independent coordinates of their own in each state",
            where=model.mechanism.name,
            remedy="linearize one state at a time",
        )
    kept: list[Floats] = [] if parameters is None else [parameters]
    last: list[Any] = [*names.time_arguments(0.0), *kept]
    coordinates = independent_coordinates(model, q[0], 0.0)
    own = tangent_states(model, OperatingPoint(0.0, q, qd, tau), coordinates, kept)
    by_q, by_qd, _ = model.forward_dynamics_derivatives(q, qd, tau, *last)
    A = state_rates(own, by_q, by_qd).A
    qdd = model.forward_dynamics(q, qd, tau, *last)
    rates = np.concatenate([qd[:, list(coordinates)], qdd[:, list(own.velocities)]], axis=1)
    positions = tangent_names(model.mechanism, names)
    velocities = velocity_state_names(model.mechanism, names)
    states = (*(positions[k] for k in coordinates), *(velocities[k] for k in own.velocities))
    n, time = len(states), np.zeros(1)
    none = np.zeros((n, 0)), np.zeros((0, n)), np.zeros((0, 0))
    return [Linear(states, (), (), A[k], *none, time, rates[k]) for k in range(lanes)]
