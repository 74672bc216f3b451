"""Differentiable rollouts in PyTorch: a loop over compiled steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..number_checks import check_number, check_whole_number
from ..simulation.effort_limits import effort_bounds
from .function_table import check_rollout_inputs, check_rollout_shapes
from .rollout_steps import Step, has_plain_step, make_runge_kutta_step
from .torch_operators import take_tensors

if TYPE_CHECKING:
    import torch

    from .torch_functions import TorchFunctions


def roll_out_in_torch(
    functions: TorchFunctions,
    q0: torch.Tensor,
    qd0: torch.Tensor,
    tau: torch.Tensor | None,
    *,
    dt: float | torch.Tensor,
    steps: int,
    method: str,
    history: bool,
    t: float | torch.Tensor,
    p: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states at the end, or at all steps."""
    import torch

    model = functions.model
    steps = check_whole_number(steps, "steps")
    check_rollout_inputs(model, tau, p)
    named = {"q0": q0, "qd0": qd0, "tau": tau, "p": p if model.parameters else None}
    given = {name: x for name, x in named.items() if x is not None}
    tensors = dict(
        zip(given, take_tensors("rollout", list(given), list(given.values())), strict=True)
    )
    like = tensors["q0"]
    length, start = _take_number(dt, "dt", like), _take_number(t, "t", like)
    tensors.setdefault("tau", like.new_zeros(model.nv))
    if model.parameters:
        tensors.setdefault("p", torch.as_tensor(model.nominal_parameters).to(like))
    q, qd, forces, *parameters = (tensors[name] for name in named if name in tensors)
    shapes = {name: tuple(tensors[name].shape) for name in named if name in tensors}
    in_time, batch = check_rollout_shapes(model, steps, shapes, torch.broadcast_shapes)
    q, qd = q.expand(*batch, model.nq), qd.expand(*batch, model.nv)
    step, kept = _make_step(functions, method, length, parameters), []
    bounds = effort_bounds(model.mechanism)
    if bounds is not None:
        forces = torch.clamp(forces, *(forces.new_tensor(x.tolist()) for x in bounds))
    for number in range(steps):
        if history:
            kept.append((q, qd))
        own = forces[..., number, :] if in_time else forces
        q, qd = step(q, qd, own, start + length * number)
    if not history:
        return q, qd
    rows = [torch.stack(x, -2) for x in zip(*kept, (q, qd), strict=True)]
    return rows[0], rows[1]


def _make_step(
    functions: TorchFunctions, method: str, dt: torch.Tensor, parameters: Sequence[torch.Tensor]
) -> Step:
    """Return the step of a method."""
    if has_plain_step(functions, method):
        return make_runge_kutta_step(functions, dt, parameters)
    call = getattr(functions, functions.make_step(method))
    return lambda q, qd, tau, t: call(q, qd, tau, t, dt, *parameters)


def _take_number(given: float | torch.Tensor, name: str, like: torch.Tensor) -> torch.Tensor:
    """Return a number as a tensor like another; a tensor without axes keeps its gradient."""
    import torch

    if isinstance(given, torch.Tensor) and given.ndim == 0:
        return given.to(like)
    return like.new_tensor(check_number(given, name))
