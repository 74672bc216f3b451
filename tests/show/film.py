"""The motion that an HTML film shows, computed from its data as the page's script does."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwright.kinematics.constraint_kinds.loop import LoopRestraint
from linkwright.kinematics.tree_builder import build_kinematic_tree
from linkwright.mechanism import Mechanism
from linkwright.show.glyphs import drawn_point
from linkwright.types import Floats

CANVAS = (620.0, 378.0)
"""Of the page at its widest, less the border, CSS pixels."""


class FilmPoses:
    """Rotation and position of every link of a film at a time; link -1 is ground."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.times, self.joints, self.rates = (
            np.array(data[key]) for key in ("times", "joints", "rates")
        )

    def __call__(self, t: float) -> dict[int, tuple[Floats, Floats]]:
        found = {-1: (np.eye(3), np.zeros(3))}
        q = self._coordinates(t)
        for k, link in enumerate(self.data["links"]):
            at = np.array(link["at"])
            found[k] = _after(_after(found[link["parent"]], _pose(at)), _motion(link, q))
        return found

    def _coordinates(self, t: float) -> Floats:
        k = int(np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 2))
        h = self.times[k + 1] - self.times[k]
        s = (t - self.times[k]) / h
        a, b, da, db = self.joints[k], self.joints[k + 1], h * self.rates[k], h * self.rates[k + 1]
        return np.asarray(
            (2 * s**3 - 3 * s**2 + 1) * a + (s**3 - 2 * s**2 + s) * da
            + (3 * s**2 - 2 * s**3) * b + (s**3 - s**2) * db
        )  # fmt: skip

    def point(self, t: float, link: int, point: Any) -> Floats:
        R, p = self(t)[link]
        return np.asarray(R @ np.array(point) + p)


def _motion(link: dict[str, Any], q: Floats) -> tuple[Floats, Floats]:
    k = link["q"]
    if link["kind"] == "ball":
        return _pose(np.array([0, 0, 0, *q[k : k + 4]]))
    if link["kind"] == "free":
        return _pose(q[k : k + 7])
    turn = 0.0 if link["kind"] == "slide" else q[k] + link["offset"]
    along = {"turn": 0.0, "slide": 1.0, "screw": link["pitch"]}[link["kind"]] * q[k]
    c, s = np.cos(turn), np.sin(turn)
    R = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    return R, np.array([0, 0, link["shift"] + along])


def _pose(seven: Floats) -> tuple[Floats, Floats]:
    w, x, y, z = seven[3:] / np.linalg.norm(seven[3:])
    R = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    return R, np.asarray(seven[:3])


def _after(first: tuple[Floats, Floats], then: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return first[0] @ then[0], first[1] + first[0] @ then[1]


def pixels(data: dict[str, Any]) -> float:
    """Pixels a metre where the page is as wide as it gets."""
    return min(room / extent for room, extent in zip(CANVAS, data["extent"], strict=True))


def loop_gap(data: dict[str, Any], mechanism: Mechanism, times: Floats) -> float:
    """The largest opening of a loop's pin on the film, in pixels."""
    film = FilmPoses(data)
    ties = [
        tie
        for tie in build_kinematic_tree(mechanism).restraints.entries
        if isinstance(tie, LoopRestraint)
    ]
    ends = [
        (tie.at_parent, tie.at_child) for tie in ties if tie.kind.name in ("revolute", "spherical")
    ]
    gaps = []
    for placed in map(film, times):
        for pin in ends:
            a, b = (placed[e.link][0] @ drawn_point(e.p) + placed[e.link][1] for e in pin)
            gaps.append(np.linalg.norm(a - b))
    return float(max(gaps)) * pixels(data)
