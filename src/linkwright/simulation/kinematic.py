"""Kinematics: the motion of a driven mechanism, and the singular positions on its way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import LinkwrightError
from ..mechanism import Mechanism, mechanism_names
from ..mechanism.mechanism_units import coordinate_range_table
from ..model.model import Model
from ..model.model import compile as compiled
from ..number_checks import check_number, check_number_table
from ..types import Floats
from .checked import check_mechanism, sample_times
from .driven import SINGULAR, Driven, Instant
from .paths import Path, path_of
from .run import FINISHED
from .singular import Singularity, found_between

if TYPE_CHECKING:
    import xarray


_HALVINGS = 40


@dataclass(frozen=True, repr=False)
class Kinematics:
    """Positions, speeds and accelerations over time, one row each. Where a position cannot be
    reached, `status` says so and the part up to there is kept; `singular` are the dead centres,
    limits and branch points on the way, in the order of time."""

    mechanism: Mechanism
    t: Floats
    q: Floats
    qd: Floats
    qdd: Floats
    closure: Floats
    driven: tuple[str, ...]
    singular: tuple[Singularity, ...]
    status: str
    settings: Mapping[str, Any]

    @property
    def finished(self) -> bool:
        return self.status == FINISHED

    @cached_property
    def model(self) -> Model:
        return compiled(self.mechanism, threads=1)

    @property
    def frames(self) -> dict[str, Floats]:
        """Origins of the mechanism's frames over time, m."""
        return {name: self.frame(name)[0] for name in self.mechanism.frames}

    def frame(self, name: str) -> tuple[Floats, Floats, Floats]:
        """A frame's position, velocity and acceleration in the world, (times, 3) each."""
        place = self.model.placement(name)(self.q)[:, :3, 3]
        velocity = self.model.frame_velocity(name)(self.q, self.qd)[:, 3:]
        acceleration = self.model.frame_acceleration(name)(self.q, self.qd, self.qdd)[:, 3:]
        return place, velocity, acceleration

    @cached_property
    def data(self) -> xarray.Dataset:
        """Everything with names and units, the motion of all frames included."""
        from .dataset import dataset_of_kinematics

        return dataset_of_kinematics(self)

    def save(self, path: str | FilePath) -> None:
        """NetCDF by the ending .nc, a table by .csv or .parquet."""
        from .storage import save

        save(self, FilePath(path))

    def _repr_html_(self) -> str:
        head, *notes = repr(self).strip("<>").split("\n  ")
        return coordinate_range_table(self.mechanism, self.q, notes).to_html(head)

    def __repr__(self) -> str:
        head = f"<Kinematics of {self.mechanism.name}: {len(self.t)} positions"
        lines = [head, *([] if self.finished else [self.status]), *map(str, self.singular)]
        return "\n  ".join(lines) + ">"


def solve_kinematics(
    mechanism: Mechanism,
    motion: Mapping[str, object] | None = None,
    t: float = 1.0,
    *,
    over: tuple[str, float, float] | None = None,
    rough: Mapping[str, float] | None = None,
    samples: int = 501,
) -> Kinematics:
    """Return the motion of a driven mechanism at equal times.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : mapping, optional
        Some coordinates as numbers, expressions of t ("pi/6 + 2*t") or (times, values): as many as
        there are degrees of freedom, none where constraints drive the mechanism. rad or m.
    t : float
        Duration, s.
    over : (str, float, float), optional
        Move one coordinate from the first value to the second instead; rates are then derivatives
        by this coordinate.
    rough : mapping of names to numbers, optional
        First guesses of other coordinates, which choose the branch.
    samples : int
        Number of equal times.

    Returns
    -------
    Kinematics
        Coordinates, velocities and accelerations at all times.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.solve_kinematics(lw.gallery("four-bar"), {"theta1": "1 + t"}, 0.1, samples=3).q.shape
    (3, 3)
    """
    check_mechanism(mechanism)
    if motion is not None and over is not None:
        raise LinkwrightError("motion and over are both given", remedy="give one of them")
    path, end = _way(mechanism, over) if over is not None else (path_of(mechanism, motion or {}), t)
    times = sample_times(end, samples)
    path.check_finite(times)
    driven = Driven(mechanism, path)
    rough = check_number_table(rough or {}, "rough")
    found, status, limits = _along(driven, times, rough)
    singular = sorted([*found_between(driven, found), *limits], key=lambda one: one.t)
    rows = {key: np.array([getattr(x, key) for x in found]) for key in ("t", "q", "qd", "qdd")}
    settings = {
        "mode": "kinematics", "motion": dict(path.written), "t": end, "samples": samples,
        "rough": rough, "over": None if over is None else over[0],
    }  # fmt: skip
    return Kinematics(
        mechanism, **rows, closure=np.array([x.left for x in found]), driven=path.names,
        singular=tuple(singular), status=status, settings=settings,
    )  # fmt: skip


def _way(mechanism: Mechanism, over: tuple[str, float, float]) -> tuple[Path, float]:
    """The path of one coordinate at unit rate."""
    if not isinstance(over, Sequence) or isinstance(over, str) or len(over) != 3:
        raise LinkwrightError(
            f"over cannot be {over!r}",
            remedy='give a coordinate and where it goes: ("theta1", 0, 1)',
        )
    name, first, last = str(over[0]), check_number(over[1], "over"), check_number(over[2], "over")
    path_of(mechanism, {name: 0.0})
    direction = 1.0 if last >= first else -1.0

    def course(t: Floats) -> tuple[Floats, Floats, Floats]:
        return first + direction * t, np.full(t.shape, direction), np.zeros(t.shape)

    sign = "+" if direction > 0 else "-"
    written = {name: f"{first!r} {sign} t"}
    return Path((name,), (course,), written), abs(last - first)


def _along(
    driven: Driven, times: Floats, rough: Mapping[str, float] | None
) -> tuple[list[Instant], str, list[Singularity]]:
    """Instants at the times, how it ended, and the limit that ended it."""
    here = driven.begin(float(times[0]), rough)
    scale = float(times[1] - times[0])
    found = [here]
    for t in times[1:]:
        reached = _reached(driven, here, float(t))
        if isinstance(reached, Instant):
            here = _regular(driven, here, reached, scale)
            found.append(here)
            continue
        limit = _limit(driven, reached[0])
        return found, limit.sentence(driven), [limit]
    return found, FINISHED, []


def _regular(driven: Driven, before: Instant, here: Instant, scale: float) -> Instant:
    """The instant itself, or, at a singular position, what its neighbours say."""
    if here.share > SINGULAR:
        return here
    return driven.across(before, here.t, 0.2 * scale) or here


def _reached(driven: Driven, here: Instant, t: float) -> Instant | tuple[Instant]:
    """The instant at t, by as many steps as it takes; or the last one before a limit."""
    smallest = (t - here.t) * 2.0**-_HALVINGS
    h = t - here.t
    while here.t < t:
        h = min(h, t - here.t)
        target = t if here.t + h >= t else here.t + h
        there = driven.step(here, target)
        if there is not None:
            here, h = there, 2 * h
        elif h <= max(smallest, 1e-13 * max(1.0, abs(here.t))) or here.share < SINGULAR:
            return (here,)
        else:
            h /= 2
    return here


def _limit(driven: Driven, last: Instant) -> Singularity:
    """Where exactly the drive cannot go on."""
    t, q = driven.limit(last)
    near = abs(t - last.t) < 1e-2 * max(1.0, abs(last.t)) and np.abs(q - last.q).max() < 0.1
    if not near:
        t, q = last.t, last.q
    kind = "branch point" if driven.branches(q, t) else "limit"
    return Singularity(t, kind, driven.path.names, q)


def names_at(mechanism: Mechanism, q: Floats, count: int = 6) -> str:
    """Coordinates in words."""
    names = mechanism_names(mechanism).q
    shown = [f"{name} = {x:.10g}" for name, x in zip(names[:count], q, strict=False)]
    return ", ".join(shown) + (", …" if len(names) > count else "")
