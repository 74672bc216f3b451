"""The motion on the page: one in which something can be seen, with sentences about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from ..errors import LinkwrightError
from ..kinematics.assembly import nearest_constrained_velocities
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import coordinate_units
from ..processes.timed_worker import TimedWorkerProcess
from ..show.mechanism_scene import mechanism_scene
from ..show.traced_points import drawn_placements_at_times
from ..show.view_direction import view_upward_direction
from ..simulation import Run, simulate
from .motion_starts import PageMotionStart, page_number_text

Made = TypeVar("Made")


MIN_VISIBLE_CHANGE = 0.02
"""The least change of a coordinate that makes the motion visible."""
MAX_FALL_SIZES = 2.5
"""The greatest fall, in sizes of the mechanism: beyond it nothing else would be seen."""
_START_VELOCITY = 0.5


@dataclass(frozen=True)
class PageMotion:
    """A run, sentences about it, and the arguments with which `linkwright simulate` repeats it."""

    run: Run
    notes: tuple[str, ...]
    command_arguments: str = ""


@dataclass(frozen=True)
class LeftOutPagePart:
    """The reason why a part was left out."""

    reason: str


def page_part_or_reason(make: Callable[[], Made]) -> Made | LeftOutPagePart:
    """The part of a page, or the reason why it could not be made."""
    try:
        return make()
    except LinkwrightError as error:
        return LeftOutPagePart(str(error))


def compute_page_motion(
    worker: TimedWorkerProcess, mechanism: Mechanism, start: PageMotionStart, budget: float
) -> PageMotion | LeftOutPagePart:
    """Computes the motion from a start; one that takes too long is computed without dry friction,
    or for a shorter time, with a note."""
    smooth = mechanism.without("friction")
    attempts: list[tuple[Mechanism, PageMotionStart, str, tuple[str, ...]]] = [
        (mechanism, start, "", ())
    ]
    patience = budget / 2
    if smooth.digest != mechanism.digest:
        patience = budget / 5
        said = "Dry friction is left out: with it, this motion takes too long to compute."
        attempts.append((smooth, start, " --without friction", (said,)))
    short = replace(start, seconds=start.seconds / 5)
    said = f"More than {short.seconds:g} s takes too long to compute."
    attempts.append((mechanism, short, "", (said,)))
    found: PageMotion | LeftOutPagePart = LeftOutPagePart("")
    for source, begin, changed, why in attempts:
        found = page_part_or_reason(
            partial(worker.call_within, simulate_page_motion, source, begin, seconds=patience)
        )
        patience = budget / 2
        if isinstance(found, PageMotion):
            told = why if changed or found.run.t[-1] > 0.99 * begin.seconds else ()
            return PageMotion(found.run, (*found.notes, *told), found.command_arguments + changed)
    return found


def simulate_page_motion(mechanism: Mechanism, start: PageMotionStart) -> PageMotion:
    """Simulates from a start; a mechanism that would rest gets velocities, and one that falls is
    followed only for a short time."""
    found = _simulate_page_run(
        mechanism, start, f"from {start.place_text()}{_page_start_description(mechanism, start)}"
    )
    if (
        not start.qd0
        and np.abs(found.run.q - found.run.q[0]).max(initial=0.0) <= MIN_VISIBLE_CHANGE
    ):
        start = replace(start, qd0=_page_start_velocities(mechanism, found.run))
        description = _page_start_description(mechanism, start)
        begin = f"from {start.place_text()}, where it would rest{description}"
        found = _simulate_page_run(mechanism, start, begin)
    last = _page_time_until_fallen(found.run)
    if last is None:
        return found
    cut = replace(start, seconds=last)
    found = _simulate_page_run(
        mechanism, cut, f"from {start.place_text()}{_page_start_description(mechanism, start)}"
    )
    said = "No longer, since nothing stops its slide: it would only fall out of the picture."
    return replace(found, notes=(*found.notes, said))


def _page_start_description(mechanism: Mechanism, start: PageMotionStart) -> str:
    """The initial velocities and efforts in words."""
    if not start.qd0:
        moving = any(c.type == "drive" for c in mechanism.constraints.values())
        rest = ", with the velocities that its constraints demand" if moving else ", at rest"
    else:
        speeds = ", ".join(f"{name} = {value:.3g}" for name, value in start.qd0.items())
        others = " (the others as its constraints demand)" if mechanism.constraints else ""
        rest = f", at speeds {speeds}{others}"
    driven = f"driven as {', '.join(start.efforts)} say in the command under “Make it again”"
    return f"{rest}, {driven if start.efforts else 'with no force at its joints (τ = 0)'}"


def _page_start_velocities(mechanism: Mechanism, run: Run) -> dict[str, float]:
    """Initial velocities that satisfy the constraints, by name."""
    names = mechanism_names(mechanism)
    qd = np.full(names.nv, _START_VELOCITY)
    if names.constraints:
        qd = nearest_constrained_velocities(mechanism, run.q[0], qd)
    qd[np.abs(qd) < 1e-12] = 0.0
    return {name: float(v) for name, v in zip(names.qd, qd, strict=True) if v}


def _page_time_until_fallen(run: Run) -> float | None:
    """The time after which something has slid down by more than the mechanism's size, s; None if
    nothing does."""
    scene, units = mechanism_scene(run.mechanism), coordinate_units(run.mechanism)
    slides = np.abs(run.q - run.q[0])[:, [unit == "m" for unit in units]]
    heights = drawn_placements_at_times(scene, run, run.t)[:, :-1, :, 3] @ view_upward_direction(
        scene.gravity
    )
    drop = np.minimum((heights[0] - heights).max(axis=1), slides.max(axis=1, initial=0.0))
    far = (
        np.flatnonzero(drop > MAX_FALL_SIZES * scene.size)
        if np.any(scene.gravity)
        else np.array([])
    )
    return float(f"{run.t[far[0]]:.1g}") if len(far) and far[0] else None


def _simulate_page_run(mechanism: Mechanism, start: PageMotionStart, begin: str) -> PageMotion:
    """Simulates with stops at joint limits, unless the motion starts beyond one."""
    make = partial(
        simulate,
        mechanism,
        start.seconds,
        q0=dict(start.q0),
        qd0=dict(start.qd0),
        torque=dict(start.efforts) or None,
    )
    stops, more = "impact", tuple[str, ...]()
    try:
        run = make(stops=stops)
    except LinkwrightError as error:
        if "beyond" not in error.what:
            raise
        stops, more = "ignore", ("Limits are ignored, since it starts beyond one.",)
        run = make(stops=stops)
    said = (f"{run.t[-1]:.4g} s {begin}.", *_page_early_end_note(run), *more)
    return PageMotion(run, said, page_simulate_arguments(start, stops))


def _page_early_end_note(run: Run) -> tuple[str, ...]:
    """The sentence on a run that ended early, if it did."""
    return () if run.finished else (f"It ends early: {run.status}.",)


def page_simulate_arguments(start: PageMotionStart, stops: str = "impact") -> str:
    """The arguments after `linkwright simulate FILE`, with all digits."""
    return f"{start.command_arguments()} -t {page_number_text(start.seconds)} --stops {stops}"
