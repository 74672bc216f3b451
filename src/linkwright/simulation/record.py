"""From the trajectory of a motion to the run that users get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..mechanism import Mechanism
from ..model.model import Model
from ..types import Floats
from .effort_limits import limits_not_imposed
from .provenance import software_versions
from .right_hand_side import RightHandSide
from .run import Happened, Run
from .run_context import RunContext
from .run_energies import RunStatistics
from .spring_states import energies_with_springs, superabundant_histories
from .state_space import WORK_COUNT


def prepare_recording(system: RightHandSide) -> None:
    """Compile what `record_run` needs, so that a run that is interrupted is recorded at once."""
    needed = ["forward_dynamics", "kinetic_energy", "potential_energy"]
    needed += ["constraint_residual"] * bool(system.names.position_row_count)
    needed += ["input_matrix"] * bool(system.names.actuators)
    for name in needed:
        getattr(system.whole_model, name)


@dataclass(frozen=True)
class RunTrajectory:
    """The states of a run, and data about them that only the integration provides.

    Parameters
    ----------
    times : (n,) array
        The times of the samples, s.
    states : (states, n) array
        y at these times, one column each.
    fastest : (states,) array
        The state with the largest velocities, which may lie between samples.
    status : str
        "finished", or why the run ended.
    statistics : mapping
        Counts of steps and evaluations, and the time that the run took.
    reached : tuple, optional
        The time and the state that were reached, if they may lie after the last sample.
    singular : tuple of float
        Times at which the constraints came near to losing rank.
    events : tuple of Happened
        What happened during the run.
    pushes : (n, nv) array, optional
        Generalized forces of friction, stops and contacts.
    reactions : (n, joints and loops, 6) array, optional
        Reactions where contacts press on bodies.
    forces : sequence of (nv,) arrays
        Forces of an input that is a Python function.
    """

    times: Floats
    states: Floats
    fastest: Floats
    status: str
    statistics: RunStatistics
    reached: tuple[float, Floats] | None = None
    singular: tuple[float, ...] = ()
    events: tuple[Happened, ...] = ()
    pushes: Floats | None = None
    reactions: Floats | None = None
    forces: Sequence[Floats] = ()


def record_run(
    mechanism: Mechanism, context: RunContext, found: RunTrajectory, settings: Mapping[str, object]
) -> Run:
    """Return the run of a trajectory, with accelerations, forces and energies."""
    y, times, pushes = found.states, found.times, found.pushes
    q, qd = context.space.motion(y)
    names, model = context.names, context.rhs.whole_model
    tau = context.inputs.histories(times, y, found.forces)
    clock = [times] if names.is_time_dependent else []
    closure = context.space.joint_gap(y)
    if names.constraints and names.position_row_count:
        residual = np.abs(model.constraint_residual(q, *clock)).max(axis=-1)
        closure = np.maximum(closure, residual)
    with np.errstate(all="ignore"):  # where a run stops, accelerations may not be finite
        qdd = model.forward_dynamics(q, qd, tau if pushes is None else tau + pushes, *clock)
    placed = names.position_time_arguments(times)
    own_energies = energies_with_springs(context.space, times, y)
    kinetic, potential = own_energies or (
        model.kinetic_energy(q, qd, *placed),
        model.potential_energy(q, *placed),
    )
    fastest = 0.0
    if not placed:  # else its time is not known
        fastest = float(model.kinetic_energy(*context.space.motion(found.fastest)))
    largest = float(np.fmax.reduce(kinetic, initial=fastest))
    return Run(
        mechanism=mechanism,
        t=times,
        q=q,
        qd=qd,
        qdd=qdd,
        tau=tau,
        kinetic=kinetic,
        potential=potential,
        work=y[-1],
        work_inputs=y[-3],
        work_given=y[-2],
        closure=closure,
        status=found.status,
        statistics={**found.statistics, "largest_kinetic_energy": largest},
        settings=settings,
        versions=software_versions(),
        singular=found.singular,
        u=_actuator_histories(context, times, y, tau),
        effort_notes=_effort_notes(context, found, q, tau),
        events=found.events,
        pushes=pushes,
        borne=found.reactions,
        superabundant=superabundant_histories(context.space, y),
        control=dict(
            zip(context.force_law.state_names, y[context.space.size : -WORK_COUNT], strict=True)
        ),
    )


def _effort_notes(
    context: RunContext, found: RunTrajectory, q: Floats, tau: Floats
) -> tuple[str, ...]:
    """Return what was clipped to limits of efforts, and which limits were not imposed."""
    law, names = context.force_law, context.names
    clipped = context.inputs.clipped_demands(found.times, found.states, found.forces)
    if law.u is not None or not tau.any():
        return clipped
    B = None
    if names.actuators:
        times = names.position_time_arguments(found.times)
        B = context.rhs.whole_model.input_matrix(q, *times)
    return (*clipped, *limits_not_imposed(context.equations.mechanism, B))


def _actuator_histories(
    context: RunContext, times: Floats, y: Floats, tau: Floats
) -> Floats | None:
    """Return u as given, or the solution of B u = τ; None if there is none."""
    if not context.names.actuators:
        return None
    q, qd = context.space.motion(y)
    if context.force_law.u is not None:
        z = context.space.controller_states(y).T
        return context.force_law.histories(times, q, qd, z)[1]
    return actuator_forces(context.rhs.whole_model, times, q, tau)


def actuator_forces(model: Model, times: Floats, q: Floats, tau: Floats) -> Floats | None:
    """Return u of least norm with B u = τ at all times; None if no u exists for some τ."""
    if not tau.any():
        return np.zeros((*tau.shape[:-1], len(model.names.actuators)))
    B = model.input_matrix(q, *model.names.position_time_arguments(times))
    u: Floats = (np.linalg.pinv(B) @ tau[..., None])[..., 0]
    left = np.abs((B @ u[..., None])[..., 0] - tau).max(initial=0.0)
    return u if left <= 1e-9 * max(1.0, np.abs(tau).max(initial=0.0)) else None
