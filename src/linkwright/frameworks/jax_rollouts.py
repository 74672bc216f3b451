"""Differentiable rollouts in JAX: a scan over steps.

The classical Runge–Kutta step of a tree is written with forward dynamics, whose derivatives come
from the recursion. All other steps (other methods, quaternions, constraints) are tapes of a whole
step, as in `lw.rollout`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..number_checks import check_number, check_whole_number
from ..simulation.effort_limits import effort_bounds
from ..simulation.fixed_steps.step_methods import check_method
from .derivative_functions import step_function
from .function_table import check_rollout_shapes
from .jax_calls import JaxCall

if TYPE_CHECKING:
    import jax
    from jax.typing import ArrayLike

    from .jax_functions import JaxFunctions

    Step = Callable[[jax.Array, jax.Array, jax.Array, jax.Array], tuple[jax.Array, jax.Array]]


def roll_out_in_jax(
    functions: JaxFunctions,
    q0: ArrayLike,
    qd0: ArrayLike,
    tau: ArrayLike | None,
    *,
    dt: float,
    steps: int,
    method: str,
    history: bool,
    t: float,
    p: ArrayLike | None,
) -> tuple[jax.Array, jax.Array]:
    """Return the states at the end, or at all steps."""
    import jax
    import jax.numpy as jnp

    model = functions.model
    check_method(method, model.equations)
    steps, dt, t = check_whole_number(steps, "steps"), check_number(dt, "dt"), check_number(t, "t")
    q, qd = jnp.asarray(q0), jnp.asarray(qd0)
    kind = jnp.result_type(q, qd, 1.0)
    forces = jnp.zeros(model.nv, kind) if tau is None else jnp.asarray(tau, kind)
    bounds = effort_bounds(model.mechanism)
    if bounds is not None:
        forces = jnp.clip(forces, *(jnp.asarray(x, kind) for x in bounds))
    parameters = () if not model.parameters else (_parameter_values(functions, p),)
    arrays = dict(zip(("q0", "qd0", "tau", "p"), (q, qd, forces, *parameters), strict=False))
    shapes = {name: x.shape for name, x in arrays.items()}
    in_time, batch = check_rollout_shapes(model, steps, shapes)
    start = (
        jnp.broadcast_to(q.astype(kind), (*batch, model.nq)),
        jnp.broadcast_to(qd.astype(kind), (*batch, model.nv)),
    )
    make = _make_runge_kutta_step if _is_plain(functions, method) else _make_compiled_step
    step = make(functions, method, dt, parameters)

    def advance(
        state: tuple[jax.Array, jax.Array], given: tuple[jax.Array, jax.Array | None]
    ) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array] | None]:
        time, own = given
        after = step(*state, forces if own is None else own, time)
        return after, after if history else None

    times = t + dt * jnp.arange(steps, dtype=kind)
    rows = jnp.moveaxis(forces, -2, 0) if in_time else None
    end, kept = jax.lax.scan(advance, start, (times, rows))
    if kept is None:
        return end[0], end[1]
    whole = [
        jnp.moveaxis(jnp.concatenate([first[None], later]), 0, -2)
        for first, later in zip(start, kept, strict=True)
    ]
    return whole[0], whole[1]


def _is_plain(functions: JaxFunctions, method: str) -> bool:
    """Whether a step can be written with forward dynamics alone."""
    model = functions.model
    return method == "rk4" and model.nq == model.nv and not model.names.constraints


def _parameter_values(functions: JaxFunctions, p: ArrayLike | None) -> jax.Array:
    """Return the values of the parameters that the model keeps."""
    import jax.numpy as jnp

    found: jax.Array = jnp.asarray(functions.model.nominal_parameters if p is None else p)
    return found


def _make_runge_kutta_step(
    functions: JaxFunctions, method: str, dt: float, parameters: tuple[jax.Array, ...]
) -> Step:
    """Return the classical Runge–Kutta step."""
    dynamics = functions.function("forward_dynamics")
    is_timed = functions.model.names.is_time_dependent

    def acceleration(q: jax.Array, qd: jax.Array, tau: jax.Array, t: jax.Array) -> jax.Array:
        found: jax.Array = dynamics(q, qd, tau, *([t] if is_timed else []), *parameters)
        return found

    def step(
        q: jax.Array, qd: jax.Array, tau: jax.Array, t: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
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


def _make_compiled_step(
    functions: JaxFunctions, method: str, dt: float, parameters: tuple[jax.Array, ...]
) -> Step:
    """Return the step of a method as one compiled function."""
    import jax.numpy as jnp

    if method not in functions.step_calls:
        function = step_function(functions.model, method)
        functions.step_calls[method] = JaxCall(function, functions.model.threads)
    call = functions.step_calls[method]

    def step(
        q: jax.Array, qd: jax.Array, tau: jax.Array, t: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        found = call(q, qd, tau, t, jnp.asarray(dt, q.dtype), *parameters)
        return found[0], found[1]

    return step
