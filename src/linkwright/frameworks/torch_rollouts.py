"""Differentiable rollouts in PyTorch: a loop over compiled steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..number_checks import check_number, check_whole_number
from ..simulation.effort_limits import effort_bounds
from .function_table import check_rollout_shapes
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
    dt: float,
    steps: int,
    method: str,
    history: bool,
    t: float,
    p: torch.Tensor | None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the states at the end, or at all steps."""
    import torch

    model = functions.model
    steps, dt, t = check_whole_number(steps, "steps"), check_number(dt, "dt"), check_number(t, "t")
    named = {"q0": q0, "qd0": qd0, "tau": tau, "p": p if model.parameters else None}
    given = {name: x for name, x in named.items() if x is not None}
    tensors = dict(zip(given, take_tensors("rollout", list(given.values())), strict=True))
    like = tensors["q0"]
    tensors.setdefault("tau", like.new_zeros(model.nv))
    if model.parameters:
        tensors.setdefault("p", torch.as_tensor(model.nominal_parameters).to(like))
    q, qd, forces, *parameters = (tensors[name] for name in named if name in tensors)
    shapes = {name: tuple(tensors[name].shape) for name in named if name in tensors}
    in_time, batch = check_rollout_shapes(model, steps, shapes)
    q, qd = q.expand(*batch, model.nq), qd.expand(*batch, model.nv)
    call, kept = getattr(functions, functions.make_step(method)), []
    bounds = effort_bounds(model.mechanism)
    if bounds is not None:
        forces = torch.clamp(forces, *(forces.new_tensor(x.tolist()) for x in bounds))
    for number in range(steps):
        if history:
            kept.append((q, qd))
        own = forces[..., number, :] if in_time else forces
        q, qd = call(q, qd, own, q.new_tensor(t + dt * number), q.new_tensor(dt), *parameters)
    if not history:
        return q, qd
    rows = [torch.stack(x, -2) for x in zip(*kept, (q, qd), strict=True)]
    return rows[0], rows[1]
