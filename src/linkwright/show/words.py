"""Words beside points: a search for places where they cover nothing, with lines that lead there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..types import Booleans, Floats
from .ink import Ink, Paper
from .labels import bare
from .style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_ANGLES, _FAR = 24, (0.6, 1.8, 3.2, 5.0, 7.5, 10.5, 14.0, 18.0)
"""Directions in which a place is looked for, and distances, mm."""
_GRID, _MOST = 3.0, 40
"""Between places all over the paper, mm, where nothing near is free; the most along a side."""
_PAD = 0.35
"""Free of words around a word, mm."""
_BESIDE, _NEARER = 2.4, 1.5
"""A word stands beside its point within so many mm, if all others are so much farther."""
_OVER, _CROSSED, _THROUGH, _TANGLED, _LEADER = 400.0, 60.0, 40.0, 30.0, 3.0
_SWEEPS, _SAMPLES, _KEPT = 8, 20, 200

LABEL, LEADER = "_label", "_leader"
"""Marks of the texts and lines that stand for words: `_label:3` and `_leader:3` belong together."""


@dataclass(frozen=True)
class Label:
    """Words for one or more points that lie together: where they are, and the radius of the
    signs drawn there (in the units of the axes)."""

    text: str
    spots: Floats
    reach: float = 0.0


def together(names: Sequence[str], spots: Sequence[Floats], reach: float) -> list[Label]:
    """One label for all points that lie within a sign's size of each other, in their order."""
    groups: list[list[int]] = []
    for k, spot in enumerate(spots):
        for group in groups:
            if all(np.linalg.norm(spot - spots[j]) < 2 * reach for j in group):
                group.append(k)
                break
        else:
            groups.append([k])
    return [
        Label(listed([names[k] for k in group]), np.array([spots[k] for k in group]), reach)
        for group in groups
    ]


def listed(names: Sequence[str], most: int = 16) -> str:
    """Names with commas, in lines of about as many letters."""
    lines = [""]
    for name in dict.fromkeys(names):
        if lines[-1] and len(bare(lines[-1])) + len(bare(name)) > most:
            lines.append("")
        lines[-1] += (", " if lines[-1] else "") + name
    return ",\n".join(lines)


def place_words(axes: Axes, labels: Sequence[Label], size: float = 7.0, **look: Any) -> None:
    """Writes each label near its points, away from all that is drawn and from each other.

    What is not beside its own point, or as near to another one, is joined to it by a thin line.
    """
    if not labels:
        return
    paper = Paper.of(axes)
    ink = Ink(paper)
    texts = [axes.text(*label.spots[0], label.text, fontsize=size, ha="center", va="center",
                       linespacing=1.1, zorder=9, **look) for label in labels]  # fmt: skip
    extents = [paper.extent(text) for text in texts]
    spots = [paper(label.spots) for label in labels]
    reaches = [paper.length(label.reach) for label in labels]
    seekers = [
        Seeker(k, ink, spots, extents[k], reach, max(reaches)) for k, reach in enumerate(reaches)
    ]
    for k, (seeker, choice) in enumerate(zip(seekers, search(seekers), strict=True)):
        texts[k].set_position(tuple(paper.back(seeker.middles[choice])[0]))
        texts[k].set_label(f"{LABEL}:{k}")
        texts[k].set_in_layout(False)
        if seeker.leads[choice]:
            line = paper.back(seeker.leaders[choice])
            (drawn,) = axes.plot(line[:, 0], line[:, 1], color=GREY, lw=0.5, zorder=8.5)
            drawn.set_label(f"{LEADER}:{k}")
            drawn.set_in_layout(False)


class Seeker:
    """A label that looks for its place: all places, and what each would cost. In mm."""

    def __init__(
        self, k: int, ink: Ink, spots: Sequence[Floats], extent: Floats, reach: float, clear: float
    ) -> None:  # fmt: skip
        self.ink, self.own, self.reach, self.clear = ink, spots[k], reach, clear
        self.half = extent / 2
        others = [spot for j, spot in enumerate(spots) if j != k]
        self.others = np.concatenate(others) if others else np.zeros((0, 2))
        self.middles = self._places()
        self._bound()
        cheap = self._plain_costs()
        best = np.argsort(cheap, kind="stable")[:_KEPT]
        self.middles, self.plain = self.middles[best], cheap[best]
        self._bound()

    def _bound(self) -> None:
        self.low, self.high = self.middles - self.half, self.middles + self.half

    def _plain_costs(self) -> Floats:
        """For what a place covers, and for its distance."""
        covered = self.ink.under(self.low - _PAD, self.high + _PAD)
        return np.asarray(1.5 * covered + 0.9 * self._gaps(self.own).min(axis=1))

    def _places(self) -> Floats:
        """In many directions at several distances, then on a grid; all of them on the paper."""
        angles = 2 * np.pi * (np.arange(_ANGLES) + 3) / _ANGLES
        way = np.column_stack([np.cos(angles), np.sin(angles)])
        center = self.own.mean(axis=0)
        spread = float(np.linalg.norm(self.own - center, axis=1).max()) + self.reach
        hug = self.half * np.clip(1.5 * way, -1, 1)
        near = [center + (spread + far) * way + hug for far in _FAR]
        low, high = self.ink.paper.low + self.half + _PAD, self.ink.paper.high - self.half - _PAD
        sides = (np.linspace(a, b, _steps(b - a)) for a, b in zip(low, high, strict=True))
        x, y = np.meshgrid(*sides)
        every = np.vstack([*near, np.column_stack([x.ravel(), y.ravel()])])
        return np.asarray(np.clip(every, np.minimum(low, high), np.maximum(low, high)))

    def _gaps(self, points: Floats) -> Floats:
        """From every place's box to points: (places, points)."""
        beyond = np.abs(points[None] - self.middles[:, None]) - self.half
        return np.asarray(np.linalg.norm(np.maximum(beyond, 0.0), axis=-1))

    @cached_property
    def gap(self) -> Floats:
        return np.asarray(self._gaps(self.own).min(axis=1))

    @cached_property
    def leads(self) -> Booleans:
        """Whether a line must say where the label belongs."""
        next_one = self._gaps(self.others).min(axis=1, initial=np.inf)
        clear = _NEARER * np.maximum(self.gap, self.reach + 0.8)
        return np.asarray((self.gap > self.reach + _BESIDE) | (next_one < clear))

    @cached_property
    def leaders(self) -> Floats:
        """Lines from each place's box to the rim of the nearest sign: (places, 2, 2)."""
        nearest = self.own[self._gaps(self.own).argmin(axis=1)]
        start = np.clip(nearest, self.low, self.high)
        along = nearest - start
        length = np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        end = start + along * np.maximum(1 - self.reach / length, 0.0)
        return np.stack([start, end], axis=1)

    @cached_property
    def traces(self) -> Floats:
        """Points along the leaders: (places, samples, 2)."""
        s = np.linspace(0, 1, _SAMPLES)[None, :, None]
        return np.asarray(self.leaders[:, :1] * (1 - s) + self.leaders[:, 1:] * s)

    @cached_property
    def costs(self) -> Floats:
        """Of every place, whatever the other labels do."""
        found = self.plain
        if len(self.others):
            found = found + 20.0 * (self._gaps(self.others) <= 0.5 * self.reach).sum(axis=1)
            apart = np.linalg.norm(self.traces[:, :, None] - self.others, axis=-1).min(axis=1)
            found = found + self.leads * _THROUGH * (apart < self.clear + 0.3).sum(axis=1)
        length = np.linalg.norm(np.diff(self.leaders, axis=1), axis=-1)[:, 0]
        crossed = self.ink.along(self.traces) * length / _SAMPLES
        return np.asarray(found + self.leads * (_LEADER + 0.8 * crossed))

    def beside(self, other: Seeker, choice: int) -> Floats:
        """What every place costs more because another label stands where it does."""
        low, high = other.low[choice] - _PAD, other.high[choice] + _PAD
        room = np.minimum(self.high, high) - np.maximum(self.low, low)
        found = _OVER * (room > 0).all(axis=1) * (1 + np.maximum(room, 0).prod(axis=1))
        inside = ((self.traces > low) & (self.traces < high)).all(axis=2).any(axis=1)
        found = found + _CROSSED * (inside & self.leads)
        if not other.leads[choice]:
            return np.asarray(found)
        line = other.traces[choice]
        hit = (line > self.low[:, None] - _PAD) & (line < self.high[:, None] + _PAD)
        found = found + _CROSSED * hit.all(axis=2).any(axis=1)
        return np.asarray(
            found + _TANGLED * (self.leads & _cross(self.leaders, other.leaders[choice]))
        )


def _steps(length: float) -> int:
    """Of the grid along a side."""
    return int(np.clip(length / _GRID, 2, _MOST))


def _cross(lines: Floats, one: Floats) -> Booleans:
    """Which of the lines (n, 2, 2) cross one line."""

    def side(a: Floats, b: Floats, p: Floats) -> Floats:
        u, v = b - a, p - a
        return np.asarray(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    a, b = lines[:, 0], lines[:, 1]
    return np.asarray(
        (side(a, b, one[0]) * side(a, b, one[1]) < 0)
        & (side(one[0], one[1], a) * side(one[0], one[1], b) < 0)
    )


def search(seekers: Sequence[Seeker]) -> list[int]:
    """A place for each: those with the fewest good places first; then each moves to where it is
    best among the others, until none moves."""
    chosen: dict[int, int] = {}
    order = sorted(range(len(seekers)), key=lambda k: -float(np.sort(seekers[k].costs)[:12].mean()))
    for _ in range(_SWEEPS):
        before = dict(chosen)
        for k in order:
            costs = seekers[k].costs.copy()
            for j, choice in chosen.items():
                if j != k:
                    costs += seekers[k].beside(seekers[j], choice)
            chosen[k] = int(costs.argmin())
        if chosen == before:
            break
    return [chosen[k] for k in range(len(seekers))]
