"""The motion on the page: one in which something is seen, and what there is to say about it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

import numpy as np

from ..comparison.bounded import Worker
from ..errors import LinkwrightError
from ..kinematics.assembly import consistent_speeds
from ..mechanism import Mechanism, names_of
from ..mechanism.units import coordinate_units
from ..show.scene import scene_of
from ..show.tracks import poses_at
from ..show.view import upright
from ..simulation import Run, simulate
from .starts import Start, exactly

Made = TypeVar("Made")


MOVING = 0.02
"""What a coordinate must change by, for the motion to be seen."""
FALLEN = 2.5
"""How far something may fall, in sizes of the mechanism: then nothing else would be seen."""
_SPEED = 0.5


@dataclass(frozen=True)
class Moved:
    """A motion, sentences about it, and the words after the file that let `simulate` make it."""

    run: Run
    notes: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True)
class LeftOut:
    """Why a part is not there."""

    why: str


def kept(make: Callable[[], Made]) -> Made | LeftOut:
    """What is made, or why it could not be."""
    try:
        return make()
    except LinkwrightError as error:
        return LeftOut(str(error))


def moved(worker: Worker, mechanism: Mechanism, start: Start, budget: float) -> Moved | LeftOut:
    """From the start; what takes too long loses its dry friction, or is shorter, which is said."""
    smooth = mechanism.without("friction")
    attempts: list[tuple[Mechanism, Start, str, tuple[str, ...]]] = [(mechanism, start, "", ())]
    patience = budget / 2
    if smooth.digest != mechanism.digest:
        patience = budget / 5
        said = "Dry friction is left out: with it, this motion takes too long to compute."
        attempts.append((smooth, start, " --without friction", (said,)))
    short = replace(start, seconds=start.seconds / 5)
    said = f"More than {short.seconds:g} s takes too long to compute."
    attempts.append((mechanism, short, "", (said,)))
    found: Moved | LeftOut = LeftOut("")
    for source, begin, changed, why in attempts:
        found = kept(partial(worker.call, motion_of, source, begin, seconds=patience))
        patience = budget / 2
        if isinstance(found, Moved):
            told = why if changed or found.run.t[-1] > 0.99 * begin.seconds else ()
            return Moved(found.run, (*found.notes, *told), found.words + changed)
    return found


def motion_of(mechanism: Mechanism, start: Start) -> Moved:
    """From the start; what would stand still gets speeds, and what falls is followed no further."""
    found = _within_limits(mechanism, start, f"from {start.where()}{_how(mechanism, start)}")
    if not start.qd0 and np.abs(found.run.q - found.run.q[0]).max(initial=0.0) <= MOVING:
        start = replace(start, qd0=_speeds(mechanism, found.run))
        begin = f"from {start.where()}, where it would rest{_how(mechanism, start)}"
        found = _within_limits(mechanism, start, begin)
    last = _until_fallen(found.run)
    if last is None:
        return found
    cut = replace(start, seconds=last)
    found = _within_limits(mechanism, cut, f"from {start.where()}{_how(mechanism, start)}")
    said = "No longer, since nothing stops its slide: it would only fall out of the picture."
    return replace(found, notes=(*found.notes, said))


def _how(mechanism: Mechanism, start: Start) -> str:
    if not start.qd0:
        moving = any(c.type == "drive" for c in mechanism.constraints.values())
        rest = ", with the speeds that its constraints demand" if moving else ", at rest"
    else:
        speeds = ", ".join(f"{name} = {value:.3g}" for name, value in start.qd0.items())
        others = " (the others as its constraints demand)" if mechanism.constraints else ""
        rest = f", at speeds {speeds}{others}"
    driven = f"driven as {', '.join(start.drives)} say in the command under “Make it again”"
    return f"{rest}, {driven if start.drives else 'with no force at its joints (τ = 0)'}"


def _speeds(mechanism: Mechanism, run: Run) -> dict[str, float]:
    """Such as constraints allow."""
    names = names_of(mechanism)
    qd = np.full(names.nv, _SPEED)
    if names.constraints:
        qd = consistent_speeds(mechanism, run.q[0], qd)
    qd[np.abs(qd) < 1e-12] = 0.0
    return {name: float(v) for name, v in zip(names.qd, qd, strict=True) if v}


def _until_fallen(run: Run) -> float | None:
    """Seconds after which something has slid down by more than the mechanism's size, as what only
    turns cannot; none: never."""
    scene, units = scene_of(run.mechanism), coordinate_units(run.mechanism)
    slides = np.abs(run.q - run.q[0])[:, [unit == "m" for unit in units]]
    heights = poses_at(scene, run, run.t)[:, :-1, :, 3] @ upright(scene.gravity)
    drop = np.minimum((heights[0] - heights).max(axis=1), slides.max(axis=1, initial=0.0))
    far = np.flatnonzero(drop > FALLEN * scene.size) if np.any(scene.gravity) else np.array([])
    return float(f"{run.t[far[0]]:.1g}") if len(far) and far[0] else None


def _within_limits(mechanism: Mechanism, start: Start, begin: str) -> Moved:
    """Limits are stops, unless the motion starts beyond one."""
    make = partial(
        simulate, mechanism, start.seconds, q0=dict(start.q0), qd0=dict(start.qd0),
        torque=dict(start.drives) or None,
    )  # fmt: skip
    stops, more = "impact", tuple[str, ...]()
    try:
        run = make(stops=stops)
    except LinkwrightError as error:
        if "beyond" not in error.what:
            raise
        stops, more = "ignore", ("Limits are ignored, since it starts beyond one.",)
        run = make(stops=stops)
    said = (f"{run.t[-1]:.4g} s {begin}.", *_ended(run), *more)
    return Moved(run, said, motion_words(start, stops))


def _ended(run: Run) -> tuple[str, ...]:
    return () if run.finished else (f"It ends before its time: {run.status}.",)


def motion_words(start: Start, stops: str = "impact") -> str:
    """What follows `linkwright simulate FILE`, to the last digit."""
    return f"{start.words()} -t {exactly(start.seconds)} --stops {stops}"
