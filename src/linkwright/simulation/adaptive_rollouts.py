"""Rollouts with adaptive steps: the final states, or states at equal distances of time."""

from __future__ import annotations

from ..errors import LinkwrightError, UnsupportedError
from ..model.model import Model
from ..types import Floats, ForceLike
from .ensembles import simulate_runs
from .feedback import Feedback
from .run import FINISHED
from .settings import Settings


def adaptive_settings(
    method: str,
    dt: float,
    steps: int,
    t: float,
    *,
    history: bool,
    rtol: float,
    atol: float,
) -> Settings:
    """Return the settings of trajectories over `steps` times dt; limits have no effect, as in
    rollouts with fixed steps."""
    if dt < 0 or t != 0:
        raise UnsupportedError(
            f"rollouts with adaptive steps begin at t = 0 and go forward (t = {t:g} s, "
            f"dt = {dt:g} s)",
            remedy='use a fixed step such as method="rk4"',
        )
    samples = steps + 1 if history else 2
    return Settings(
        t=dt * steps, integrator=method, samples=samples, rtol=rtol, atol=atol, stops="ignore"
    )


def roll_out_adaptively(
    model: Model,
    settings: Settings,
    inputs: ForceLike | Feedback | None,
    parameters: Floats,
    *,
    threads: int,
    history: bool,
) -> tuple[Floats, Floats]:
    """Return q and q̇ of trajectories at their ends, (rows, n), or at all samples, (rows, samples,
    n).

    The starts are those of the settings, and `parameters` has one row for each of them.
    """
    columns = dict(zip(model.parameters, parameters.T, strict=True))
    found = simulate_runs(
        model.mechanism, settings, inputs, columns, threads=threads, progress=False
    )
    for row, status in enumerate(found["status"].to_numpy()):
        if status != FINISHED:
            raise LinkwrightError(
                f"trajectory {row}: {status}",
                where=model.mechanism.name,
                remedy="use simulate, which keeps the other runs",
            )
    q, qd = found["q"].to_numpy(), found["qd"].to_numpy()
    return (q, qd) if history else (q[:, -1], qd[:, -1])


def held_forces(forces: Floats) -> Floats:
    """Return the forces of each trajectory, (rows, nv) or (nv,), from those of each step, (rows,
    steps, nv), which must be constant."""
    if forces.shape[1] > 1:
        raise UnsupportedError(
            "forces that are constant over each step need fixed steps",
            remedy='give a table (times, values), or use method="rk4"',
        )
    return forces[:, 0] if len(forces) > 1 else forces[0, 0]
