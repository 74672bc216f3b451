"""From states along a motion to everything that a run holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats
from .provenance import software_versions
from .run import Happened, Run
from .system import WORKS, System


def prepare_recording(system: System) -> None:
    """Compiles what `recorded` needs, so that a run that is interrupted is recorded at once."""
    needed = ["forward_dynamics", "kinetic_energy", "potential_energy"]
    needed += ["constraint_residual"] * bool(system.names.position_row_count)
    needed += ["input_matrix"] * bool(system.names.actuators)
    for name in needed:
        getattr(system.whole_model, name)


def recorded(
    mechanism: Mechanism,
    system: System,
    times: Floats,
    y: Floats,
    *,
    status: str,
    fastest: Floats,
    statistics: Mapping[str, float],
    settings: Mapping[str, Any],
    singular: tuple[float, ...],
    events: tuple[Happened, ...] = (),
    pushes: Floats | None = None,
    borne: Floats | None = None,
    driven: Sequence[Floats] = (),
) -> Run:
    """The run of states y, one column a time; `fastest` is a state on the way, `driven` the forces
    of a drive that is a function."""
    q, qd = system.motion(y)
    names, model = system.names, system.whole_model
    tau = system.torques(times, y, driven)
    clock = [times] if names.is_time_dependent else []
    closure = system.apart(y)
    if names.constraints and names.position_row_count:
        left = np.abs(model.constraint_residual(q, *clock)).max(axis=-1)
        closure = np.maximum(closure, left)
    with np.errstate(all="ignore"):  # where a run stops, accelerations may not be finite
        qdd = model.forward_dynamics(q, qd, tau if pushes is None else tau + pushes, *clock)
    kinetic = model.kinetic_energy(q, qd)
    largest = np.fmax.reduce(kinetic, initial=float(model.kinetic_energy(*system.motion(fastest))))
    statistics = {**statistics, "largest_kinetic_energy": float(largest)}
    return Run(
        mechanism=mechanism, t=times, q=q, qd=qd, qdd=qdd, tau=tau,
        kinetic=kinetic, potential=model.potential_energy(q),
        work=y[-1], work_inputs=y[-3], work_given=y[-2], closure=closure, status=status,
        statistics=statistics, settings=settings, versions=software_versions(), singular=singular,
        u=_actuators(system, model, times, q, qd, tau), events=events, pushes=pushes, borne=borne,
        control=dict(zip(system.drive.state_names, y[system.size : -WORKS], strict=True)),
    )  # fmt: skip


def _actuators(
    system: System, model: Model, times: Floats, q: Floats, qd: Floats, tau: Floats
) -> Floats | None:
    """u as given, or with B u = τ; None where there is none such."""
    if not system.names.actuators:
        return None
    if system.drive.u is not None:
        return system.drive.histories(times, q, qd, np.zeros((len(times), 0)))[1]
    return actuator_forces(model, q, tau)


def actuator_forces(model: Model, q: Floats, tau: Floats) -> Floats | None:
    """u of least norm with B u = τ at all times; None where some τ has none."""
    if not tau.any():
        return np.zeros((*tau.shape[:-1], len(model.names.actuators)))
    B = model.input_matrix(q)
    u: Floats = (np.linalg.pinv(B) @ tau[..., None])[..., 0]
    left = np.abs((B @ u[..., None])[..., 0] - tau).max(initial=0.0)
    return u if left <= 1e-9 * max(1.0, np.abs(tau).max(initial=0.0)) else None
