"""Several mechanisms on one task: the choice of a configuration, for which Vukobratović and
Potkonjak (1979) derive models automatically.

The task is a path of the gripper through given points, straight between them, from rest to rest.
Each mechanism performs it with its own joints; energy, power, velocities and efforts are compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..errors import ArgumentError, LinkwrightError
from ..mechanism import Mechanism, mechanism_names
from ..model.model import compile as compiled
from ..motion import (
    InverseKinematics,
    MotionPlan,
    Trajectory,
    line,
    plan_to,
    planned,
    quintic,
)
from ..motion.coordinate_units import trajectory_number_text, trajectory_units
from ..motion.frame_targets import choose_moved_frame
from ..number_checks import check_positive, check_vector
from ..types import Floats
from .comparison_tables import ComparisonTable, SavableComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TASK_SAMPLES = 1001
"""Samples of a motion: the trapezoidal rule has the energy to about 1e-6 of its size."""

TRIED_STARTS = 24
"""Random configurations from which those at the first point are sought: an arm of six joints has
eight, of which these find all but a rare one."""


@dataclass(frozen=True)
class TaskRow:
    """What a task requires of one mechanism.

    `mechanism` is its name, `dof` the number of its velocities, and `mass` its mass with the
    payload, kg. `energy` is the positive work of the joints, J; energy is not recovered when they
    brake. `net_work` is the sum of positive and negative work, J. `peak_power` is the largest sum
    of the positive powers of the joints, W. `peak_velocities` (rad/s, m/s) and `peak_efforts` (N m,
    N) are the largest of each joint. `exceeded` lists the limits of the mechanism that the motion
    exceeds.

    Examples
    --------
    The arm lifts its two centres of mass, 1 kg each, from rest to rest; no energy is lost:

    >>> import linkwright as lw
    >>> points = [[1.2, 0.3], [1.2, 0.8]]
    >>> found = lw.comparison.compare_on_task([lw.gallery("elbow")], points, 1.0)
    >>> row, model = found.rows[0], lw.compile(lw.gallery("elbow"))
    >>> energies = model.potential_energy(found.plans[0].q)
    >>> bool(abs(row.net_work - (energies[-1] - energies[0])) < 1e-4)
    True
    """

    mechanism: str
    dof: int
    mass: float
    energy: float
    net_work: float
    peak_power: float
    peak_velocities: dict[str, float]
    peak_efforts: dict[str, float]
    exceeded: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False)
class TaskComparison(SavableComparison):
    """A comparison of mechanisms on one task, printed as tables.

    The gripper moves through `points` ((n, 3), m) in `duration` (s). `rows` and `plans` have the
    figures and the motion of each mechanism that can perform the task, and `refused` the reason of
    each that cannot.

    Examples
    --------
    >>> import linkwright as lw
    >>> points = [[1.2, 0.3], [1.2, 0.8]]
    >>> found = lw.comparison.compare_on_task([lw.gallery("elbow")], points, 1.0)
    >>> found.summary(), found.refused
    ('1 mechanism on a path of 0.5 m in 1 s', {})
    """

    points: Floats
    duration: float
    rows: tuple[TaskRow, ...]
    plans: tuple[MotionPlan, ...]
    refused: dict[str, str]

    def summary(self) -> str:
        """Return one line: the mechanisms and the task."""
        way = np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum()
        count = f"{len(self.rows)} mechanism{'s' * (len(self.rows) != 1)}"
        return f"{count} on a path of {way:.4g} m in {self.duration:.4g} s"

    def table(self) -> ComparisonTable:
        """Return energy, work and power, a row for each mechanism."""
        heads = ("mechanism", "DOF", "mass, kg", "energy, J", "net work, J", "peak power, W")
        rows = [
            (
                row.mechanism,
                str(row.dof),
                *(f"{x:.4g}" for x in (row.mass, row.energy, row.net_work, row.peak_power)),
            )
            for row in self.rows
        ]
        beyond = [f"{row.mechanism}: {text}" for row in self.rows for text in row.exceeded]
        cannot = [
            f"{name}: cannot perform the task, {reason}" for name, reason in self.refused.items()
        ]
        return ComparisonTable(self.summary(), heads, tuple(rows), (*beyond, *cannot))

    def tables(self) -> list[ComparisonTable]:
        """Return the table of mechanisms, and that of their joints."""
        return [self.table(), self.joint_table()]

    def joint_table(self) -> ComparisonTable:
        """Return the largest velocity and effort of each joint."""
        rows = []
        for row, plan in zip(self.rows, self.plans, strict=True):
            for name, unit in zip(row.peak_efforts, trajectory_units(plan.mechanism), strict=True):
                _, rate, _, effort = unit.of_position_rates_and_effort
                velocity = trajectory_number_text(row.peak_velocities[name], rate)
                force = trajectory_number_text(row.peak_efforts[name], effort)
                rows.append((f"{row.mechanism} {name}", velocity, force))
        return ComparisonTable("Joints", ("", "largest velocity", "largest effort"), tuple(rows))

    def records(self) -> list[TaskRow]:
        """Return the rows of the CSV file: one for each mechanism."""
        return list(self.rows)

    def figure(self) -> Figure:
        """Return a figure of power and energy over time, a line for each mechanism."""
        from ..show import HistoryLine, Panel, over_time

        powers = [joint_powers(plan).clip(min=0.0).sum(axis=1) for plan in self.plans]
        times = self.plans[0].t
        panels = [
            Panel(quantity, unit, tuple(HistoryLine(r.mechanism, r.mechanism, y) for r, y in lines))
            for quantity, unit, lines in (
                ("power", "W", list(zip(self.rows, powers, strict=True))),
                (
                    "energy",
                    "J",
                    [
                        (r, running_integral(times, p))
                        for r, p in zip(self.rows, powers, strict=True)
                    ],
                ),
            )
        ]
        return over_time(times, panels)


def compare_on_task(
    mechanisms: Sequence[Mechanism],
    points: ArrayLike,
    duration: float,
    *,
    frame: str | None = None,
    payload: float = 0.0,
) -> TaskComparison:
    """Compare mechanisms on one task: torques, energy, power and velocities.

    Parameters
    ----------
    mechanisms : sequence of Mechanism
        The mechanisms, placed as in their files. If one can start in several configurations (elbow
        up or down), the configuration that takes the least energy is used.
    points : (n, 3) or (n, 2) array
        The path of the gripper in the world, m: straight between the points, from rest to rest
        on each segment by a quintic. The time of a segment is proportional to its length.
    duration : float
        Duration of the whole path, s.
    frame : str, optional
        The gripper (default: "tool", or the only frame of each mechanism).
    payload : float
        Mass that the gripper carries, kg (default: 0).

    Returns
    -------
    TaskComparison
        A row for each mechanism that can perform the task, printed as a table; `figure()` draws it.

    Examples
    --------
    >>> import linkwright as lw
    >>> arms = [lw.gallery("elbow"), lw.gallery("remote-elbow")]
    >>> found = lw.comparison.compare_on_task(arms, [[1.2, 0.3], [1.2, 0.8]], 1.0)
    >>> [round(row.net_work, 3) for row in found.rows]
    [3.081, 3.081]
    """
    path = _read_task_points(points)
    check_positive(duration, "the duration")
    plans: dict[str, MotionPlan] = {}
    refused: dict[str, str] = {}
    failure: LinkwrightError | None = None
    for mechanism in mechanisms:
        name = _new_task_name(mechanism.name, [*plans, *refused])
        try:
            plans[name] = _plan_task(mechanism, path, duration, frame, payload)
        except LinkwrightError as error:
            refused[name], failure = error.what, error
    if not plans:
        raise failure or ArgumentError("mechanisms is empty", remedy="give at least one")
    rows = tuple(_measure_task(name, plan) for name, plan in plans.items())
    return TaskComparison(path, float(duration), rows, tuple(plans.values()), refused)


def _read_task_points(points: ArrayLike) -> Floats:
    """The points in space as an array (n, 3), each different from the one before."""
    given = [np.asarray(point, dtype=float) for point in points]  # type: ignore[union-attr]
    path = np.array(
        [check_vector([*point, 0.0][:3], 3, "a point of the path", "xyz") for point in given]
    )
    if len(path) < 2 or not np.abs(np.diff(path, axis=0)).max(axis=1).all():
        raise ArgumentError("the path has no length", remedy="give at least two different points")
    return path


def _new_task_name(name: str, known: Sequence[str]) -> str:
    """The name of a mechanism, with a number where another one has it."""
    same = sum(other == name or other.startswith(f"{name} (") for other in known)
    return f"{name} ({same + 1})" if same else name


def _plan_task(
    mechanism: Mechanism, path: Floats, duration: float, frame: str | None, payload: float
) -> MotionPlan:
    """The motion of a mechanism whose gripper moves along the path: of the configurations in which
    it can begin, the one that takes the least energy."""
    moved = choose_moved_frame(mechanism, frame)
    carrying = mechanism.with_payload(moved, payload) if payload else mechanism
    first = plan_to(carrying, moved, [path[0]], 1.0, samples=2).q[-1]
    plans: list[MotionPlan] = []
    failures: list[LinkwrightError] = []
    for begin in _start_configurations(carrying, moved, first):
        try:
            plans.append(_plan_path(carrying, moved, path, duration, begin))
        except LinkwrightError as error:
            failures.append(error)
    if not plans:
        raise failures[0]
    return min(plans, key=lambda plan: _measure_task("", plan).energy)


def _start_configurations(mechanism: Mechanism, frame: str, first: Floats) -> list[Floats]:
    """The configurations in which a frame is where it is in the first one: elbow up, elbow down and
    the like; only the first where joints can move while the frame is held."""
    solver = InverseKinematics(mechanism, {frame: "point"})
    if solver.redundant or solver.model.names.constraints:
        return [first]
    model = solver.model
    found = solver({frame: model.placement(frame)(first)[:3, 3]}, solver.samples[:TRIED_STARTS])
    configurations: dict[bytes, Floats] = {}
    for q in (first, *found.q[found.reached]):
        bodies = np.array([model.placement(body)(q)[:3] for body in mechanism.bodies])
        configurations.setdefault((bodies.round(6) + 0.0).tobytes(), q)
    return list(configurations.values())


def _plan_path(
    mechanism: Mechanism, frame: str, path: Floats, duration: float, begin: Floats
) -> MotionPlan:
    """The motion along the path from a configuration."""
    lengths = np.linalg.norm(np.diff(path, axis=0), axis=1)
    parts: list[Trajectory] = []
    for (a, b), share in zip(pairwise(path), lengths / lengths.sum(), strict=True):

        def law(length: float, time: float = float(duration * share)) -> Trajectory:
            return quintic([0.0], [length], time)

        parts.append(line(mechanism, frame, parts[-1].end if parts else begin, b - a, law))
    return planned(mechanism, frame, reduce(Trajectory.then, parts), TASK_SAMPLES)


def joint_powers(plan: MotionPlan) -> Floats:
    """The power of every joint over time (n, nv), W."""
    found: Floats = plan.tau * plan.qd
    return found


def running_integral(t: Floats, y: Floats) -> Floats:
    """The integral of y from the first time on, by the trapezoidal rule."""
    found: Floats = np.r_[0.0, np.cumsum(np.diff(t) * (y[1:] + y[:-1]) / 2)]
    return found


def _measure_task(name: str, plan: MotionPlan) -> TaskRow:
    """The figures of one motion."""
    power = joint_powers(plan)
    driving = power.clip(min=0.0).sum(axis=1)
    names = mechanism_names(plan.mechanism).qd
    velocities, efforts = (np.abs(rows).max(axis=0).round(12) for rows in (plan.qd, plan.tau))
    masses = compiled(plan.mechanism).inertial_parameters.reshape(-1, 10)[:, 0]
    return TaskRow(
        mechanism=name,
        dof=len(names),
        mass=float(masses.sum()),
        energy=float(running_integral(plan.t, driving)[-1]),
        net_work=float(running_integral(plan.t, power.sum(axis=1))[-1]),
        peak_power=float(driving.max()),
        peak_velocities=dict(zip(names, velocities.tolist(), strict=True)),
        peak_efforts=dict(zip(names, efforts.tolist(), strict=True)),
        exceeded=plan.exceeded,
    )
