"""Steps of differentiable rollouts, written with the arithmetic of any framework's arrays.

The classical Runge–Kutta step of a tree is written with forward dynamics, whose derivatives come
from the recursion. All other steps (other methods, quaternions, constraints) are tapes of a whole
step, as in `lw.rollout`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .function_table import FrameworkFunctions

Step = Callable[[Any, Any, Any, Any], tuple[Any, Any]]
"""A step (q, q̇, τ, t) → (q, q̇)."""


def has_plain_step(functions: FrameworkFunctions, method: str) -> bool:
    """Whether a step can be written with forward dynamics alone."""
    model = functions.model
    return method == "rk4" and model.nq == model.nv and not model.names.constraints


def make_runge_kutta_step(
    functions: FrameworkFunctions, dt: Any, parameters: Sequence[Any]
) -> Step:
    """Return the classical Runge–Kutta step."""
    dynamics = functions.function("forward_dynamics")
    is_timed = functions.model.names.is_time_dependent

    def acceleration(q: Any, qd: Any, tau: Any, t: Any) -> Any:
        return dynamics(q, qd, tau, *([t] if is_timed else []), *parameters)

    def step(q: Any, qd: Any, tau: Any, t: Any) -> tuple[Any, Any]:
        half = dt / 2
        a1 = acceleration(q, qd, tau, t)
        v2 = qd + half * a1
        a2 = acceleration(q + half * qd, v2, tau, t + half)
        v3 = qd + half * a2
        a3 = acceleration(q + half * v2, v3, tau, t + half)
        v4 = qd + dt * a3
        a4 = acceleration(q + dt * v3, v4, tau, t + dt)
        return q + dt / 6 * (qd + 2 * (v2 + v3) + v4), qd + dt / 6 * (a1 + 2 * (a2 + a3) + a4)

    return step
