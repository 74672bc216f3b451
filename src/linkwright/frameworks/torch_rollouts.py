"""Differentiable rollouts in PyTorch: a loop over compiled steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import ArgumentError
from ..number_checks import check_number, check_whole_number
from ..simulation.fixed_steps.step_methods import check_method
from .derivative_functions import step_function
from .torch_operators import TorchCall

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
    check_method(method, model.equations)
    steps, dt, t = check_whole_number(steps, "steps"), check_number(dt, "dt"), check_number(t, "t")
    forces = q0.new_zeros(model.nv) if tau is None else tau
    in_time = forces.ndim == max(q0.ndim, qd0.ndim) + 1
    if in_time and forces.shape[-2] != steps:
        raise ArgumentError(
            f"tau has {forces.shape[-2]} rows for {steps} steps", remedy="give one for each step"
        )
    values = p if p is not None else torch.as_tensor(model.nominal_parameters).to(q0)
    parameters = [values] if model.parameters else []
    call = _step_call(functions, method)
    q, qd, kept = q0, qd0, []
    for number in range(steps):
        if history:
            kept.append((q, qd))
        own = forces[..., number, :] if in_time else forces
        time, length = q0.new_tensor(t + dt * number), q0.new_tensor(dt)
        q, qd = call(q, qd, own, time, length, *parameters)
    if not history:
        return q, qd
    rows = [torch.stack(torch.broadcast_tensors(*x), -2) for x in zip(*kept, (q, qd), strict=True)]
    return rows[0], rows[1]


def _step_call(functions: TorchFunctions, method: str) -> TorchCall:
    """Return the compiled step of a method, made when it is first used."""
    steps: dict[str, TorchCall] = functions.__dict__.setdefault("_steps", {})
    if method not in steps:
        steps[method] = TorchCall(step_function(functions.model, method), functions.model.threads)
    return steps[method]
