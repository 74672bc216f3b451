"""Paths of traced points, and link placements at chosen times of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..errors import (
    ArgumentError,
    LinkwrightError,
    NameNotFoundError,
    suggest_remedy,
    type_in_words,
)
from ..types import Floats
from .glyphs import GROUND_LINK, drawn_point
from .run_interpolation import interpolate_film_coordinates

if TYPE_CHECKING:
    from ..simulation.kinematic_motion import Kinematics
    from ..simulation.run import Run
    from .mechanism_scene import Scene


_MAX_PATH_PARTS, _MAX_PATH_TIMES = 64, 20_000


@dataclass(frozen=True)
class TracedPoint:
    """A point of a link whose path is drawn."""

    name: str
    link: int
    point: Floats

    def path(self, poses: Floats) -> Floats:
        """The positions (…, 3) of the point in the world, at placements (…, links + 1, 3, 4)."""
        return np.asarray(poses[..., self.link, :, :3] @ self.point + poses[..., self.link, :, 3])


def require_drawable_run(given: object) -> None:
    """Refuses anything that is not a run."""
    if not hasattr(given, "t") or not hasattr(given, "q"):
        raise ArgumentError(
            f"{type_in_words(given)} is not a run", remedy="give one made by simulate"
        )


def drawn_placements_at_times(scene: Scene, run: Run | Kinematics, times: Floats) -> Floats:
    """The link placements (times, links + 1, 3, 4) between the samples of a run, with loops
    closed."""
    return scene.link_placements(interpolate_film_coordinates(scene, run, times), times)


def traced_path_parts(
    scene: Scene, run: Run | Kinematics, times: Floats, points: Sequence[TracedPoint], unit: float
) -> int:
    """The number of parts into which to divide the intervals between times so that no chord leaves
    the path of a point by more than `unit` metres."""
    parts = 1
    while parts < _MAX_PATH_PARTS and len(times) * parts < _MAX_PATH_TIMES:
        poses = drawn_placements_at_times(scene, run, divide_traced_times(times, 2 * parts))
        paths = np.array([point.path(poses) for point in points]).reshape(len(points), -1, 3)
        bows = paths[:, 1::2] - (paths[:, :-1:2] + paths[:, 2::2]) / 2
        if np.linalg.norm(bows, axis=-1).max(initial=0.0) <= unit:
            break
        parts *= 2
    return parts


def divide_traced_times(times: Floats, parts: int) -> Floats:
    """The times with each interval divided into equal parts."""
    places = np.arange((len(times) - 1) * parts + 1) / parts
    return np.asarray(np.interp(places, np.arange(len(times)), times))


def equal_figure_times(run: Run | Kinematics, every: float, until: float | None = None) -> Floats:
    """The times 0, every, 2·every, … up to the end of a run (or `until`), s."""
    end = float(run.t[-1]) if until is None else min(float(until), float(run.t[-1]))
    if not 0 < every < np.inf or end < run.t[0]:
        raise LinkwrightError(
            f"every={every:g} s is not a valid interval", remedy="give seconds above 0"
        )
    if (end - run.t[0]) / every > 5000:
        raise LinkwrightError(
            f"every {every:g} s makes more than 5000 figures", remedy="give a longer interval"
        )
    count = int(np.floor((end - run.t[0]) / every + 1e-9)) + 1
    return np.asarray(run.t[0] + every * np.arange(count))


def find_traced_points(scene: Scene, names: Sequence[str] | None) -> list[TracedPoint]:
    """The traced points: frames by name, bodies by their centres of mass.

    The default is all frames that move, or the centres of mass of the last bodies.
    """
    tree = scene.tree
    if names is None:
        found = [n for n, place in tree.frames.items() if place.link != GROUND_LINK]
        parents = {link.parent for link in tree.links}
        names = found or [
            n for n, m in tree.masses.items() if m.link not in (*parents, GROUND_LINK)
        ]
    known = [*tree.frames, *tree.masses]
    points = []
    for name in names:
        if name not in known:
            raise NameNotFoundError(
                f"{scene.mechanism.name} has no frame or body '{name}' to trace",
                remedy=suggest_remedy(name, known),
            )
        place = tree.frames.get(name)
        link, p = (place.link, place.p) if place else (tree.masses[name].link, tree.masses[name].c)
        points.append(TracedPoint(name, link, drawn_point(p)))
    return points
