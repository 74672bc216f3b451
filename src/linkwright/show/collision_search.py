"""Clearances and collisions along a motion, with links as capsules about their lines.

A capsule is all points within a radius of a segment. The distance between two capsules is that of
their segments less both radii; a negative one is the depth of the overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError, NameNotFoundError, suggest_remedy
from ..kinematics.pose_configurations import read_pose
from ..mechanism import Mechanism
from ..types import Floats
from .glyphs import GROUND_LINK
from .mechanism_scene import Scene, mechanism_scene

if TYPE_CHECKING:
    from ..simulation.run import Run


Obstacle = tuple[Sequence[float], Sequence[float], float]
"""A capsule that stands still: both ends of its segment, and its radius."""


@dataclass(frozen=True, repr=False)
class Encounter(NotebookDisplayed):
    """Two links, or a link and an obstacle, and their distance over time.

    Attributes
    ----------
    pair : (str, str)
        The two names.
    t : (n,) array
        Times, s.
    distance : (n,) array
        Distance of the surfaces, m; negative where they overlap.

    Examples
    --------
    >>> import linkwright as lw
    >>> wall = {"wall": ([1.0, -1.0, 0.0], [1.0, -2.0, 0.0], 0.1)}
    >>> found = lw.show.clearances(lw.gallery("elbow"), [[0.0, 0.0]], obstacles=wall)[0]
    >>> found.pair, round(found.smallest, 6)
    (('link1', 'wall'), 0.9)
    """

    pair: tuple[str, str]
    t: Floats
    distance: Floats

    def summary(self) -> str:
        """Return one line: the pair and its smallest distance."""
        return f"Encounter of {self!s}"

    @property
    def smallest(self) -> float:
        """Smallest distance, m."""
        return float(self.distance.min())

    @property
    def time(self) -> float:
        """Time of the smallest distance, s."""
        return float(self.t[int(self.distance.argmin())])

    @property
    def touches(self) -> bool:
        """True where the two overlap at some time."""
        return self.smallest < 0

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Times (begin, end) of each overlap, s, by linear interpolation between samples."""
        inside = self.distance < 0
        edges = np.flatnonzero(np.diff(inside.astype(int)))
        times = [self._overlap_edge_time(int(k)) for k in edges]
        if inside[0]:
            times.insert(0, float(self.t[0]))
        if inside[-1]:
            times.append(float(self.t[-1]))
        return list(zip(times[::2], times[1::2], strict=True))

    def _overlap_edge_time(self, k: int) -> float:
        """The time between samples k and k + 1 at which the distance is zero, s."""
        a, b = self.distance[k], self.distance[k + 1]
        return float(self.t[k] + (self.t[k + 1] - self.t[k]) * a / (a - b))

    def __str__(self) -> str:
        what = "in each other" if self.touches else "apart"
        size = abs(self.smallest)
        return f"{self.pair[0]} – {self.pair[1]}: {size:.4g} m {what} at {self.time:.4g} s"


@dataclass(frozen=True)
class _DrawnCapsule:
    """A capsule fixed to a link: the ends (2, 3) of its segment in the axes of the link, and its
    radius, m."""

    name: str
    link: int
    ends: Floats
    radius: float


def collisions(
    run: Run,
    radius: float | Mapping[str, float] = 0.0,
    *,
    obstacles: Mapping[str, Obstacle] | None = None,
    ignore: Iterable[tuple[str, str]] = (),
) -> list[Encounter]:
    """Return how near the links of a run come to each other and to obstacles.

    Links that a joint or loop connects are not compared.

    Parameters
    ----------
    run : Run
        A simulated motion.
    radius : float or mapping of bodies to floats
        Radius of the links, m.
    obstacles : mapping, optional
        By name: both ends of a segment (m, world) and a radius (m).
    ignore : iterable of pairs of bodies
        Pairs that are not compared.

    Returns
    -------
    list of Encounter
        The nearest pair first.

    Examples
    --------
    >>> import linkwright as lw
    >>> run = lw.simulate(lw.gallery("elbow"), 0.1, samples=3)
    >>> wall = {"wall": ([1.0, -1.0, 0.0], [1.0, -2.0, 0.0], 0.1)}
    >>> lw.show.collisions(run, radius=0.05, obstacles=wall)[0].touches
    False
    """
    return clearances(run.mechanism, run.q, run.t, radius, obstacles=obstacles, ignore=ignore)


def clearances(
    mechanism: Mechanism,
    q: ArrayLike | str,
    t: ArrayLike | None = None,
    radius: float | Mapping[str, float] = 0.0,
    *,
    obstacles: Mapping[str, Obstacle] | None = None,
    ignore: Iterable[tuple[str, str]] = (),
) -> list[Encounter]:
    """Return how near links come to each other and to obstacles at given configurations.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q : (…, nq) array, or name of a pose
        Configurations, rad or m.
    t : array, optional
        A number for each configuration (default: its index).
    radius : float or mapping of bodies to floats
        Radius of the links, m.
    obstacles : mapping, optional
        By name: both ends of a segment (m, world) and a radius (m).
    ignore : iterable of pairs of bodies
        Pairs that are not compared.

    Returns
    -------
    list of Encounter
        The nearest pair first.

    Examples
    --------
    >>> import linkwright as lw
    >>> wall = {"wall": ([1.0, -1.0, 0.0], [1.0, -2.0, 0.0], 0.1)}
    >>> lw.show.clearances(lw.gallery("elbow"), [[0.0, 0.0]], obstacles=wall)[0].touches
    False
    """
    scene = mechanism_scene(mechanism)
    rows = np.atleast_2d(np.asarray(read_pose(mechanism, q), dtype=float))
    times = np.arange(len(rows), dtype=float) if t is None else np.asarray(t, dtype=float)
    poses = scene.link_placements(rows, times)
    capsules = [*_drawn_link_capsules(scene, radius), *_drawn_obstacle_capsules(obstacles or {})]
    apart = _uncompared_capsule_pairs(scene, ignore)
    found: dict[tuple[str, str], Floats] = {}
    for a, b in combinations(capsules, 2):
        pair = (a.name, b.name)
        if a.link == b.link or pair in apart or pair[::-1] in apart:
            continue
        gap = (
            drawn_segment_distance(
                *_capsule_ends_in_scene(poses, a), *_capsule_ends_in_scene(poses, b)
            )
            - a.radius
            - b.radius
        )
        found[pair] = np.minimum(found[pair], gap) if pair in found else gap
    encounters = [Encounter(pair, times, gap) for pair, gap in found.items()]
    return sorted(encounters, key=lambda one: one.smallest)


def _drawn_capsule_name(scene: Scene, link: int) -> str:
    """The name of the first body on a link."""
    return next((n for n, p in scene.tree.bodies.items() if p.link == link), f"link {link}")


def _drawn_link_capsules(scene: Scene, radius: float | Mapping[str, float]) -> list[_DrawnCapsule]:
    """The capsules of all links, with one radius for all or one for each body, m."""
    names = list(scene.mechanism.bodies)
    if isinstance(radius, Mapping):
        for name in radius:
            if name not in names:
                raise NameNotFoundError(
                    f"unknown body '{name}'", remedy=suggest_remedy(name, names)
                )
    sizes = radius.values() if isinstance(radius, Mapping) else (radius,)
    if not all(0 <= size < np.inf for size in sizes):
        raise LinkwrightError("a radius is negative or not a number", remedy="give metres from 0")
    found = []
    for shape in scene.link_glyphs:
        name = _drawn_capsule_name(scene, shape.link)
        size = radius.get(name, 0.0) if isinstance(radius, Mapping) else float(radius)
        points = shape.points
        if shape.kind == "plate":
            points = np.vstack([points, points[:1]])
        pairs = (
            points.reshape(-1, 2, 3)
            if shape.kind == "solid"
            else np.stack([points[:-1], points[1:]], axis=1)
        )
        found += [_DrawnCapsule(name, shape.link, pair, size) for pair in pairs]
    return found


def _drawn_obstacle_capsules(obstacles: Mapping[str, Obstacle]) -> list[_DrawnCapsule]:
    """The capsules of obstacles, which are fixed to ground."""
    found = []
    for name, (start, end, radius) in obstacles.items():
        ends = np.array([start, end], dtype=float)
        if ends.shape != (2, 3) or not np.isfinite(ends).all() or not 0 <= radius < np.inf:
            raise LinkwrightError(
                f"the obstacle '{name}' is not a capsule",
                remedy="give ((x, y, z), (x, y, z), radius)",
            )
        found.append(_DrawnCapsule(name, GROUND_LINK, ends, float(radius)))
    return found


def _uncompared_capsule_pairs(
    scene: Scene, ignore: Iterable[tuple[str, str]]
) -> set[tuple[str, str]]:
    """The pairs of links that joints and loops connect, and those that the caller ignores."""
    pairs = set()
    for joint in (*scene.mechanism.joints.values(), *scene.mechanism.loops.values()):
        ends = [scene.tree.bodies[name].link for name in (joint.parent, joint.child)]
        pairs.add((_drawn_capsule_name(scene, ends[0]), _drawn_capsule_name(scene, ends[1])))
    return pairs | {(str(a), str(b)) for a, b in ignore}


def _capsule_ends_in_scene(poses: Floats, capsule: _DrawnCapsule) -> tuple[Floats, Floats]:
    """Both ends of a capsule in the world, (times, 3) each."""
    R, p = poses[:, capsule.link, :, :3], poses[:, capsule.link, :, 3]
    return R @ capsule.ends[0] + p, R @ capsule.ends[1] + p


def drawn_segment_distance(a: Floats, b: Floats, c: Floats, d: Floats) -> Floats:
    """The distance between segments ab and cd, row by row: at inner points of both, or at an
    end."""
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = (u * u).sum(-1), (u * v).sum(-1), (v * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    det = uu * vv - uv**2
    safe = np.where(det > 1e-14 * np.maximum(uu * vv, 1e-300), det, 1.0)
    s, r = (uv * vw - vv * uw) / safe, (uu * vw - uv * uw) / safe
    crossing = (det > 1e-14 * np.maximum(uu * vv, 1e-300)) & (abs(s - 0.5) <= 0.5)
    crossing &= abs(r - 0.5) <= 0.5
    inner = np.linalg.norm(w + s[..., None] * u - r[..., None] * v, axis=-1)
    ends = [
        _distance_to_drawn_segment(a, c, d),
        _distance_to_drawn_segment(b, c, d),
        _distance_to_drawn_segment(c, a, b),
        _distance_to_drawn_segment(d, a, b),
    ]
    outer = np.minimum.reduce(ends)
    return np.asarray(np.where(crossing, np.minimum(inner, outer), outer))


def _distance_to_drawn_segment(p: Floats, a: Floats, b: Floats) -> Floats:
    """The distance from points p to segments ab, row by row."""
    along = b - a
    length = np.maximum((along * along).sum(-1), 1e-300)
    s = np.clip(((p - a) * along).sum(-1) / length, 0.0, 1.0)
    return np.asarray(np.linalg.norm(p - a - s[..., None] * along, axis=-1))
