"""From states along a motion to everything that a run holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mechanism import Mechanism
from ..model import Model
from ..model import compile as compiled
from .run import Happened, Run
from .system import System

Floats = NDArray[np.float64]


def recorded(
    mechanism: Mechanism,
    system: System,
    times: Floats,
    y: Floats,
    *,
    status: str,
    statistics: Mapping[str, float],
    settings: Mapping[str, Any],
    singular: tuple[float, ...],
    events: tuple[Happened, ...] = (),
    pushes: Floats | None = None,
) -> Run:
    """The run of states y, one column a time."""
    q, qd = system.motion(y)
    names, model = system.names, _complete(system)
    tau = np.array([system.drive(t, a, b) for t, a, b in zip(times, q, qd, strict=True)])
    clock = [times] if names.in_time else []
    closure = np.zeros(len(times))
    if names.constraints and names.positions:
        closure = np.abs(model.constraint_residual(q, *clock)).max(axis=-1)
    return Run(
        mechanism=mechanism, t=times, q=q, qd=qd,
        qdd=model.forward_dynamics(q, qd, tau if pushes is None else tau + pushes, *clock), tau=tau,
        kinetic=model.kinetic_energy(q, qd), potential=model.potential_energy(q),
        work=y[-1], closure=closure, status=status, statistics=statistics, settings=settings,
        singular=singular, events=events, pushes=pushes,
    )  # fmt: skip


def _complete(system: System) -> Model:
    """A model with all quantities: by recursion, where the formulation lacks some."""
    if "mass_matrix" in system.equations.function_names():
        return system.model
    return compiled(system.equations.mechanism, threads=1)
