"""Differentiable rollouts in JAX: a scan over steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ArgumentError
from ..number_checks import check_number, check_whole_number
from ..simulation.effort_limits import effort_bounds
from ..simulation.fixed_steps.step_methods import check_method
from .derivative_functions import step_function
from .function_table import (
    check_rollout_inputs,
    check_rollout_shapes,
    read_numbers,
    refuse_complex_numbers,
)
from .jax_calls import JaxCall, number_type
from .rollout_steps import Step, has_plain_step, make_runge_kutta_step

if TYPE_CHECKING:
    import jax
    from jax.typing import ArrayLike

    from .jax_functions import JaxFunctions


def roll_out_in_jax(
    functions: JaxFunctions,
    q0: ArrayLike,
    qd0: ArrayLike,
    tau: ArrayLike | None,
    *,
    dt: float | jax.Array,
    steps: int,
    method: str,
    history: bool,
    t: float | jax.Array,
    p: ArrayLike | None,
) -> tuple[jax.Array, jax.Array]:
    """Return the states at the end, or at all steps."""
    import jax
    import jax.numpy as jnp

    model = functions.model
    check_method(method, model.equations)
    steps = _read_step_count(steps)
    check_rollout_inputs(model, tau, p)
    given = {"q0": q0, "qd0": qd0, "tau": np.zeros(model.nv) if tau is None else tau}
    if model.parameters:
        given["p"] = model.nominal_parameters if p is None else p
    read = {k: read_numbers(jnp.asarray, x, f"{k} of rollout") for k, x in given.items()}
    refuse_complex_numbers("rollout", (x.dtype for x in read.values()))
    kind = number_type([read["q0"], read["qd0"]])
    q, qd, forces, *parameters = (x.astype(kind) for x in read.values())
    length, first = _read_number(dt, "dt").astype(kind), _read_number(t, "t").astype(kind)
    bounds = effort_bounds(model.mechanism)
    if bounds is not None:
        forces = jnp.clip(forces, *(jnp.asarray(x, kind) for x in bounds))
    shapes = {name: x.shape for name, x in read.items()}
    in_time, batch = check_rollout_shapes(model, steps, shapes, jnp.broadcast_shapes)
    start = jnp.broadcast_to(q, (*batch, model.nq)), jnp.broadcast_to(qd, (*batch, model.nv))
    if has_plain_step(functions, method):
        step = make_runge_kutta_step(functions, length, parameters)
    else:
        step = _make_compiled_step(functions, method, length, parameters)

    def advance(
        state: tuple[jax.Array, jax.Array], given: tuple[jax.Array, jax.Array | None]
    ) -> tuple[tuple[jax.Array, jax.Array], tuple[jax.Array, jax.Array] | None]:
        time, own = given
        after = step(*state, forces if own is None else own, time)
        return after, after if history else None

    times = first + length * jnp.arange(steps, dtype=kind)
    rows = jnp.moveaxis(forces, -2, 0) if in_time else None
    end, kept = jax.lax.scan(advance, start, (times, rows))
    if kept is None:
        return end[0], end[1]
    whole = [
        jnp.moveaxis(jnp.concatenate([first[None], later]), 0, -2)
        for first, later in zip(start, kept, strict=True)
    ]
    return whole[0], whole[1]


def _read_step_count(steps: int) -> int:
    """Return the number of steps, which JAX must know while it traces."""
    import jax

    if isinstance(steps, jax.core.Tracer):
        raise ArgumentError(
            "steps is traced by JAX, and a rollout needs its value",
            remedy="make it static: jax.jit(…, static_argnames='steps')",
        )
    return check_whole_number(steps, "steps")


def _read_number(given: float | jax.Array, name: str) -> jax.Array:
    """Return a number as an array; an array without axes may be traced."""
    import jax
    import jax.numpy as jnp

    is_array = isinstance(given, jax.Array) and given.shape == ()
    found: jax.Array = jnp.asarray(given if is_array else check_number(given, name))
    return found


def _make_compiled_step(
    functions: JaxFunctions, method: str, dt: jax.Array, parameters: Sequence[jax.Array]
) -> Step:
    """Return the step of a method as one compiled function."""
    if method not in functions.step_calls:
        function = step_function(functions.model, method)
        functions.step_calls[method] = JaxCall(function, functions.model.threads)
    call = functions.step_calls[method]

    def step(
        q: jax.Array, qd: jax.Array, tau: jax.Array, t: jax.Array
    ) -> tuple[jax.Array, jax.Array]:
        found = call(q, qd, tau, t, dt, *parameters)
        return found[0], found[1]

    return step
