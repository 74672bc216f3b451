"""Which stops and contacts are rested on, what sticks, and which way the rest slides."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ...errors import LinkwrightError
from .dynamics import Held, Instant
from .rows import Rows

Floats = NDArray[np.float64]

STILL = 1e-9
"""Speeds below this are none, m/s or rad/s."""

CREEP = 1e-4
"""A contact that slides in space slower than this turns its friction gradually, m/s; the size of
friction, and a slide along a line, are not touched."""

_TURNS = 200


class NoSolutionError(LinkwrightError):
    """Rigid bodies with dry friction may have no accelerations: Painlevé's paradox."""


@dataclass(frozen=True)
class Mode:
    """`resting` are barriers that carry; `grip` those of them that do not slide, `toward` the
    directions in which others do (beyond a reversal, friction goes on as it was: the reversal is
    an event). `sliding` is the sign of every rub's speed, 0 where it sticks."""

    resting: tuple[int, ...] = ()
    grip: frozenset[int] = frozenset()
    toward: tuple[tuple[int, tuple[float, float]], ...] = ()
    sliding: tuple[int, ...] = ()

    def turned(self, rows: Rows, V: Floats) -> Mode:
        """The same with the directions of sliding as they are now."""
        if not self.toward:
            return self
        now = []
        for i, direction in self.toward:
            v = V[list(rows.barriers[i].slip)]
            speed = float(np.hypot(*v))
            slow = speed <= 10 * CREEP
            now.append((i, direction if slow else (float(v[0]) / speed, float(v[1]) / speed)))
        return replace(self, toward=tuple(now))

    @property
    def plain(self) -> bool:
        return not self.resting and all(self.sliding)

    def rows(self, rows: Rows) -> list[int]:
        """Held rows: resting barriers, rubs that stick, slips of barriers that grip."""
        found = list(self.resting)
        found += [rub.row for rub, s in zip(rows.rubs, self.sliding, strict=True) if s == 0]
        return found + [k for i in self.resting if i in self.grip for k in rows.barriers[i].slip]


@dataclass(frozen=True)
class Forces:
    """What a mode comes to: all forces along the speeds, and those of single elements."""

    along: Floats
    held: Held
    normal: dict[int, float]
    slip: dict[int, Floats]
    rub: dict[int, float]
    limits: Floats
    """What friction in every rub amounts to while it slides."""
    strengths: Floats
    pushes: Floats


class Solver:
    """Forces of a mode at one state."""

    def __init__(self, instant: Instant, mode: Mode) -> None:
        self.instant, self.mode, self.rows = instant, mode, instant.of.rows
        self.V = instant.R @ instant.qd
        self.held_rows = mode.rows(self.rows)

    def forces(self) -> Forces:
        """By repetition where friction depends on reactions, which depend on friction."""
        rubs = self.rows.rubs
        own = np.array([rub.force for rub in rubs])
        arms = np.array([rub.arm for rub in rubs])
        if not arms.any() and not self.instant.of.members:
            return self._with(own)
        limits, last = own + arms * self.instant.of.pressure, None
        for _ in range(_TURNS):
            found = self._with(limits)
            pressure, sizes = self.instant.pressed(found.held, found.pushes)
            error = own + arms * pressure - limits
            if np.abs(error).max(initial=0.0) <= 1e-13 * (1 + np.abs(limits).max(initial=0.0)):
                self.instant.of.pressure = pressure
                return replace(found, limits=limits, strengths=sizes)
            step = _secant(limits, error, last)
            limits, last = limits + step, (limits, error)
        raise NoSolutionError(
            "friction by reaction has no solution here: the joint locks itself",
            remedy="lower friction_coefficient or pin_radius",
        )

    def _with(self, limits: Floats) -> Forces:
        rows, mode = self.rows, self.mode
        known = np.zeros(len(self.instant.qd))
        for rub, s, limit in zip(rows.rubs, mode.sliding, limits, strict=True):
            known -= s * limit * self.instant.R[rub.row]
        columns = self.instant.R[self.held_rows].T.copy()
        for k, i in enumerate(mode.resting):
            columns[:, k] += self._dragged(i)
        held = self.instant.held(self.held_rows, columns, known)
        if sum(i in mode.grip for i in mode.resting) > 1:
            weights = self._weights(held)
            held = self.instant.held(self.held_rows, columns, known, weights)
        return self._sorted(held, known + columns @ held.x, limits)

    def _dragged(self, i: int) -> Floats:
        """Friction along the speeds for a unit of normal force of a contact that slides."""
        barrier = self.rows.barriers[i]
        if not barrier.slip or i in self.mode.grip:
            return np.zeros(len(self.instant.qd))
        found: Floats = self._drag(i) @ self.instant.R[list(barrier.slip)]
        return found

    def _drag(self, i: int) -> Floats:
        """Friction on a contact that slides, for a unit of normal force."""
        barrier = self.rows.barriers[i]
        v, begun = self.V[list(barrier.slip)], np.array(dict(self.mode.toward)[i])
        along = float(v @ begun)
        toward = float(np.hypot(along, CREEP)) * begun + (v - along * begun)
        found: Floats = -barrier.friction * toward / np.linalg.norm(toward)
        return found

    def _weights(self, held: Held) -> Floats:
        """Slip forces share by what friction can do, so that none lets go before it must."""
        weights, mode = np.ones(len(self.held_rows)), self.mode
        normal = dict(zip(mode.resting, held.x, strict=False))
        for i in mode.resting:
            if i in mode.grip:
                for row in self.rows.barriers[i].slip:
                    share = self.rows.barriers[i].friction * max(normal[i], 0.0)
                    weights[self.held_rows.index(row)] = np.sqrt(max(share, 1e-12))
        return weights

    def _sorted(self, held: Held, along: Floats, limits: Floats) -> Forces:
        by_row = dict(zip(self.held_rows, held.x, strict=True))
        rows, mode = self.rows, self.mode
        normal = {i: float(by_row[i]) for i in mode.resting}
        slip = {
            i: np.array([by_row[k] for k in rows.barriers[i].slip])
            for i in mode.resting if i in mode.grip and rows.barriers[i].slip
        }  # fmt: skip
        rub = {
            k: float(by_row[rub.row])
            for k, (rub, s) in enumerate(zip(rows.rubs, mode.sliding, strict=True)) if s == 0
        }  # fmt: skip
        pushes = np.zeros((3, len(rows.contacts)))
        for i, force in normal.items():
            if i >= rows.stop_count:
                k = i - rows.stop_count
                pushes[2, k] = force
                if i in slip:
                    pushes[:2, k] = slip[i]
                elif rows.barriers[i].slip:
                    pushes[:2, k] = self._drag(i) * force
        return Forces(along, held, normal, slip, rub, limits, np.zeros(0), pushes)


def _secant(x: Floats, error: Floats, last: tuple[Floats, Floats] | None) -> Floats:
    """The change that would make each error zero, if each depended on its own limit alone."""
    if last is None:
        return error
    change, answer = x - last[0], error - last[1]
    steep = np.abs(answer) > 1e-3 * np.abs(change)
    slope = np.divide(answer, change, out=-np.ones_like(x), where=steep & (change != 0))
    found: Floats = np.where(slope < -1e-3, -error / np.where(slope < 0, slope, -1.0), error)
    return found


def forces_of(instant: Instant, mode: Mode) -> Forces:
    return Solver(instant, mode).forces()
