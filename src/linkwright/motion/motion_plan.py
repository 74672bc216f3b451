"""Planning from a target to torques: inverse kinematics, trajectory, inverse dynamics (paper 003),
or from the path of a tool to torques (paper 000)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..conveniences import find_convenience
from ..displays import NotebookDisplayed
from ..errors import FileError, LinkwrightError
from ..mechanism import Mechanism, mechanism_names
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_vector
from ..types import Floats
from .coordinate_bounds import bounds_of, check_within_bounds, range_violations
from .frame_targets import read_targets
from .inverse_solver import NEAREST_FOUND, InverseKinematics
from .loop_follower import LoopFollower, check_plannable_loops
from .timing import at_limits, limit_violations, refuse_quaternions
from .trajectory import Trajectory, check_trajectory_duration, through

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PICTURE_ENDINGS = (".png", ".pdf", ".svg")
_MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, repr=False)
class MotionPlan(NotebookDisplayed):
    """A motion of a frame and what it takes: t, and rows of q, q̇, q̈, τ and the frame's point.

    `exceeded` says what of it is beyond the mechanism's ranges, velocities and drives, if anything.
    """

    mechanism: Mechanism
    frame: str
    trajectory: Trajectory
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    tau: Floats
    point: Floats
    exceeded: tuple[str, ...] = ()

    def summary(self) -> str:
        """The frame that moves, and for how long."""
        end = f"{self.t[-1]:.4g} s in {len(self.t)} samples"
        beyond = f", {len(self.exceeded)} limits exceeded" if self.exceeded else ""
        return f"Plan of {self.frame} of {self.mechanism.name}: {end}{beyond}"

    def __str__(self) -> str:
        return "\n".join([self.summary(), *self.exceeded])

    @cached_property
    def columns(self) -> dict[str, Floats]:
        """All histories by name: t, q1, …, dq1, …, ddq1, …, tau_q1, …, x, y, z."""
        names = mechanism_names(self.mechanism)
        table = {"t": self.t}
        for prefix, rows, words in (
            ("", self.q, names.q), ("d", self.qd, names.qd), ("dd", self.qdd, names.qd),
            ("tau_", self.tau, names.qd),
        ):  # fmt: skip
            table |= {f"{prefix}{word}": rows[:, k] for k, word in enumerate(words)}
        return table | {f"{self.frame}.{c}": self.point[:, k] for k, c in enumerate("xyz")}

    def bytes_as(self, ending: str) -> bytes:
        """A .csv of all columns, an .npz of the arrays t, q, qd, qdd, tau, point, or a picture."""
        if ending in PICTURE_ENDINGS:
            return self._picture_content(ending[1:])
        if ending == ".npz":
            buffer = io.BytesIO()
            arrays = {k: getattr(self, k) for k in ("t", "q", "qd", "qdd", "tau", "point")}
            np.savez(buffer, **arrays)
            return buffer.getvalue()
        if ending != ".csv":
            remedy = f"use .csv, .npz, {', '.join(PICTURE_ENDINGS)}"
            raise FileError(f"'{ending}' cannot be written", remedy=remedy)
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        rows = np.column_stack(list(self.columns.values()))
        writer.writerows([[repr(float(x)) for x in row] for row in rows])
        return text.getvalue().encode()

    def _picture_content(self, kind: str) -> bytes:
        picture: bytes = find_convenience("Plan.save")(self, kind)
        return picture

    def plot(self, *names: str, **options: Any) -> Figure:
        """Histories over time: "q", "qd", "qdd", "tau"; see `show.plan_courses`."""
        figure: Figure = find_convenience("Plan.plot")(self, *names, **options)
        return figure

    def draw(self, **options: Any) -> Figure:
        """The mechanism at both ends, and the way between; see `show.plan_ends`."""
        figure: Figure = find_convenience("Plan.draw")(self, **options)
        return figure

    def save(self, path: str | File) -> None:
        """A table (.csv), arrays (.npz) or a picture (.png, .pdf, .svg); whole or not at all."""
        target = File(path)
        content = self.bytes_as(target.suffix.lower())
        half = target.with_name(f".{target.name}.part")
        try:
            half.write_bytes(content)
            half.replace(target)
        except OSError as error:
            raise FileError(f"cannot be written: {error.strerror}", where=str(target)) from None
        finally:
            half.unlink(missing_ok=True)


def planned(
    mechanism: Mechanism, frame: str, trajectory: Trajectory, samples: int = 301
) -> MotionPlan:  # fmt: skip
    """The plan of a trajectory: its samples, and the torques by inverse dynamics."""
    if not 2 <= samples <= _MAX_SAMPLES:
        raise LinkwrightError(f"samples must be from 2 to {_MAX_SAMPLES} (got {samples})")
    model = compiled(mechanism)
    check_plannable(mechanism, model)
    t, q, qd, qdd = trajectory.sampled(samples)
    time = model.names.time_arguments(t)
    tau = model.inverse_dynamics(q, qd, qdd, *time)
    point = model.placement(frame)(q)[..., :3, 3]
    exceeded = limit_violations(mechanism, trajectory)
    return MotionPlan(mechanism, frame, trajectory, t, q, qd, qdd, tau, point, exceeded)


def check_plannable(mechanism: Mechanism, model: Model) -> None:
    refuse_quaternions(mechanism, model)
    check_plannable_loops(mechanism, model)


def plan_to(
    mechanism: Mechanism,
    frame: str,
    targets: Sequence[object],
    duration: float | None = None,
    *,
    start: ArrayLike | None = None,
    posture: ArrayLike | None = None,
    limits: bool = True,
    samples: int = 301,
) -> MotionPlan:
    """A frame goes to a target, or through several, from rest to rest.

    Targets are points or poses, as `inverse_kinematics` takes them. One target is approached by
    quintics, several by a spline with equal times between, which stops at both ends of a piece
    that would leave the joints' ranges. Without a duration the motion is as fast as velocities and
    drives allow; with one, `exceeded` says what that asks too much.
    """
    model = compiled(mechanism)
    check_plannable(mechanism, model)
    if duration is not None:
        check_trajectory_duration(duration)
    elif not has_rate_limits(mechanism):
        raise LinkwrightError(
            "the mechanism has no velocity or effort limits that set the duration",
            where=mechanism.name,
            remedy="give a duration (--time)",
        )  # fmt: skip
    begin = _read_start(mechanism, model, start)
    if limits:
        check_within_bounds(mechanism, begin, "start")
    loops = LoopFollower(mechanism, model, begin) if model.names.constraints else None
    points = [begin]
    for target in targets:
        points.append(
            _joints_at_target(mechanism, frame, target, points[-1], posture, limits, loops)
        )
    times = np.linspace(0.0, duration or 1.0, len(points))
    trajectory = _trajectory_within_ranges(
        mechanism if limits else mechanism.without("limits"), points, times, loops
    )
    if duration is None:
        trajectory = at_limits(mechanism, trajectory)
    return planned(mechanism, frame, trajectory, samples)


def _read_start(mechanism: Mechanism, model: Model, start: Any) -> Floats:
    """The start, or home; its loops must be closed."""
    closed = not model.names.constraints
    given = (model.neutral() if closed else model.home()) if start is None else start
    q = check_vector(given, model.nq, "the start", model.q_names)
    if closed:
        return q
    left = float(np.abs(model.constraint_residual(q)).max())
    if left > 1e-8:
        raise LinkwrightError(
            f"the loops are open at the start by {left:.3g}", where=mechanism.name,
            remedy="start where they are closed (linkwright assemble)",
        )  # fmt: skip
    return q


def _trajectory_within_ranges(
    mechanism: Mechanism, points: list[Floats], times: Floats, loops: LoopFollower | None
) -> Trajectory:
    """A spline through all points that stops only where it would leave the ranges otherwise.

    With loops it is one of the leading coordinates, which the others follow. A piece between two
    stops goes straight from one to the other, on trees within the ranges as its ends.
    """
    stops = {0, len(points) - 1}
    while True:
        found = _trajectory_with_loops(points, times, sorted(stops), loops)
        if found is None:
            strays = set(range(len(points)))
        else:
            strays = {
                end
                for k, (a, b) in enumerate(pairwise(times))
                if range_violations(mechanism, found.part(a, b))
                for end in (k, k + 1)
            }
        if found is not None and strays <= stops:
            return found
        stops |= strays


def _trajectory_with_loops(
    points: list[Floats], times: Floats, stops: list[int], loops: LoopFollower | None
) -> Trajectory | None:
    """The motion with these stops; None where loops bar a way with fewer than all."""
    if loops is None:
        return _spline_with_stops(points, times, stops)
    led = [point[loops.leading_coordinates] for point in points]
    try:
        found = loops.follow_trajectory(_spline_with_stops(led, times, stops), points[0])
    except LinkwrightError:
        if len(stops) == len(points):
            raise
        return None
    off = np.abs(found(times)[0] - np.array(points)).max()
    return found if off < 1e-6 or len(stops) == len(points) else None


def _spline_with_stops(points: list[Floats], times: Floats, stops: list[int]) -> Trajectory:
    parts = [
        through(points[a : b + 1], times[a : b + 1] - times[a], accelerations=(0.0, 0.0))
        for a, b in pairwise(stops)
    ]
    return reduce(Trajectory.then, parts)


def has_rate_limits(mechanism: Mechanism) -> bool:
    bounds = bounds_of(mechanism)
    return bool(np.isfinite(np.concatenate([bounds.velocity, bounds.effort])).any())


def _joints_at_target(
    mechanism: Mechanism, frame: str, target: Any, near: Floats, posture: Any, limits: bool,
    loops: LoopFollower | None,
) -> Floats:  # fmt: skip
    """Joints for one target; a clear refusal where it is out of reach."""
    (read,) = read_targets({frame: target})
    solver = InverseKinematics(mechanism, {frame: read.kind}, limits=limits)
    found = solver({frame: target}, near, posture)
    if found.reached:
        return (
            found.q
            if loops is None
            else _reachable_assembly(solver, frame, target, near, loops, found.q)
        )
    place = solver.model.placement(frame)(found.q)[:3, 3]
    turned = f" and {float(found.angle):.4g} rad" if read.kind == "pose" else ""
    raise LinkwrightError(
        f"'{frame}' cannot reach {_point_text(read.numbers[:3])}: the nearest point "
        f"{'is' if found.status == NEAREST_FOUND else 'found is'} {_point_text(place)}, "
        f"{float(found.distance):.4g} m{turned} off",
        where=mechanism.name, remedy="give a target within reach and the joints' ranges",
    )  # fmt: skip


_MAX_ASSEMBLIES_TRIED = 24


def _reachable_assembly(
    solver: InverseKinematics,
    frame: str,
    target: Any,
    near: Floats,
    loops: LoopFollower,
    first: Floats,
) -> Floats:
    """The assembly, of those that hold a frame at a target, that loops lead to: the first, or the
    nearest of those that are found from elsewhere."""
    if (end := loops.find_arrival(near, first)) is not None:
        return end
    one = np.asarray(target, dtype=float)
    many = np.broadcast_to(one, (_MAX_ASSEMBLIES_TRIED, *one.shape))
    others = solver({frame: many}, solver.samples[:_MAX_ASSEMBLIES_TRIED])
    turns, found = bounds_of(solver.mechanism).full_turns, others.q[others.reached]
    found[:, turns] -= 2 * np.pi * np.round((found - near)[:, turns] / (2 * np.pi))
    for q in sorted(found, key=lambda q: float(np.abs(q - near)[loops.leading_coordinates].max())):
        if (end := loops.find_arrival(near, q)) is not None:
            return end
    raise LinkwrightError(
        f"the loops do not lead '{frame}' to the target: dead centres bar the way, or it takes "
        "another assembly", where=solver.mechanism.name,
        remedy="go there by way of another target, or start elsewhere",
    )  # fmt: skip


def _point_text(point: Floats) -> str:
    return f"({', '.join(f'{x:.4g}' for x in point + 0.0)})"
