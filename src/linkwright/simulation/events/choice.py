"""The mode that goes on from a state: what rests, sticks or slides, by complementarity.

Normal forces are zero or more, friction stays within its limits; what is not held accelerates in
the direction that its force does not push. Limits that depend on these forces are found by
repetition.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .boxes import boxed
from .dynamics import Held, Instant
from .modes import STILL, Forces, Mode, NoSolutionError, forces_of
from .rows import Barrier

Floats = NDArray[np.float64]
Direction = tuple[float, float]

_TURNS = 300


@dataclass(frozen=True)
class Case:
    """What is to be decided: `closed` barriers that neither close nor open; and rubs and contacts
    that have let go just now, with the sign or direction in which they begin to slide."""

    closed: tuple[int, ...]
    slipping: tuple[tuple[int, int], ...] = ()
    leaving: tuple[tuple[int, Direction], ...] = ()


def chosen(instant: Instant, case: Case) -> Mode:
    """The mode of a state; speeds of what is closed or sticks are zero within `STILL`."""
    choice = _Choice(instant, case)
    return _settled(instant, choice.mode())


class _Choice:
    def __init__(self, instant: Instant, case: Case) -> None:
        self.instant, self.case = instant, case
        self.rows, self.V = instant.of.rows, instant.R @ instant.qd
        self.closed, self.toward = list(case.closed), dict(case.leaving)
        forced = dict(case.slipping)
        self.signs = [
            forced.get(k, 0 if abs(self.V[rub.row]) <= STILL else int(np.sign(self.V[rub.row])))
            for k, rub in enumerate(self.rows.rubs)
        ]
        self.still = [k for k, s in enumerate(self.signs) if s == 0]
        self.grips = [i for i in self.closed if self._slow(i) and i not in self.toward]
        self.all = [*self.closed, *(self.rows.rubs[k].row for k in self.still)]
        self.all += [row for i in self.grips for row in self._barrier(i).slip]

    def _barrier(self, i: int) -> Barrier:
        return self.rows.barriers[i]

    def _slow(self, i: int) -> bool:
        slip = list(self._barrier(i).slip)
        return bool(slip) and float(np.linalg.norm(self.V[slip])) <= STILL

    def mode(self) -> Mode:
        limits = np.array([rub.force for rub in self.rows.rubs])
        normal = np.zeros(len(self.closed))
        R, gamma = self.instant.R[self.all], self.instant.gamma[self.all]
        A = R @ self.instant.admittance @ R.T
        for _ in range(_TURNS):
            known = self._known(limits, normal)
            free = self.instant.held([], np.zeros((len(known), 0)), known)
            b = R @ free.qdd + gamma
            x = boxed(A, b, *self._bounds(limits, normal))
            before = np.concatenate([limits, normal])
            normal = x[: len(self.closed)].copy()
            limits = self._limits(free, known, R, x, normal)
            after = np.concatenate([limits, normal])
            if np.abs(after - before).max(initial=0.0) <= 1e-12 * (
                1 + np.abs(after).max(initial=0)
            ):
                return self._sorted(x, A @ x + b, limits)
        raise NoSolutionError(
            "friction has no solution here", remedy="lower the coefficients of friction"
        )

    def _known(self, limits: Floats, normal: Floats) -> Floats:
        """Forces of what slides already."""
        total = np.zeros(len(self.instant.qd))
        for rub, s, limit in zip(self.rows.rubs, self.signs, limits, strict=True):
            total -= s * limit * self.instant.R[rub.row]
        for i, force in zip(self.closed, normal, strict=True):
            slip = list(self._barrier(i).slip)
            if slip and i not in self.grips:
                v = self.V[slip] if i not in self.toward else np.array(self.toward[i])
                drag = self._barrier(i).friction * force * v / np.linalg.norm(v)
                total -= drag @ self.instant.R[slip]
        return total

    def _bounds(self, limits: Floats, normal: Floats) -> tuple[Floats, Floats]:
        forces = dict(zip(self.closed, normal, strict=True))
        high = [np.inf] * len(self.closed)
        high += [limits[k] * self.rows.rubs[k].ratio for k in self.still]
        for i in self.grips:
            high += [self._barrier(i).friction * self._barrier(i).ratio * forces[i]] * 2
        low = [0.0] * len(self.closed) + [-x for x in high[len(self.closed) :]]
        return np.array(low), np.array(high)

    def _limits(self, free: Held, known: Floats, R: Floats, x: Floats, normal: Floats) -> Floats:
        rubs, now = self.rows.rubs, self.instant
        limits = np.array([rub.force for rub in rubs])
        arms = np.array([rub.arm for rub in rubs])
        if not arms.any():
            return limits
        qdd = free.qdd + now.admittance @ (R.T @ x)
        rest = now.M @ qdd - now.F - known - R.T @ x
        lam = np.linalg.lstsq(now.J.T, rest, rcond=1e-10)[0] if len(now.J) else np.zeros(0)
        pushes = np.zeros((3, len(self.rows.contacts)))
        for i, force in zip(self.closed, normal, strict=True):
            if i >= self.rows.stop_count:
                pushes[2, i - self.rows.stop_count] = force
        return limits + arms * now.pressed(Held(qdd, x, lam), pushes)[0]

    def _sorted(self, x: Floats, w: Floats, limits: Floats) -> Mode:
        """From forces x and accelerations w to what is held."""
        small = 1e-10 * max(np.abs(w).max(initial=0.0), 1e-6)
        forces = dict(zip(self.all, x, strict=True))
        moves = dict(zip(self.all, w, strict=True))
        tiny = 1e-12 * max(np.abs(x).max(initial=0.0), 1e-6)
        resting = [i for i in self.closed if forces[i] > tiny or moves[i] <= small]
        signs = list(self.signs)
        for k in self.still:
            row, limit = self.rows.rubs[k].row, limits[k] * self.rows.rubs[k].ratio
            if abs(forces[row]) >= limit * (1 - 1e-12) and abs(moves[row]) > small:
                signs[k] = int(np.sign(moves[row]))
        grip, toward = set(self.grips) & set(resting), dict(self.toward)
        for i in sorted(grip):
            slip, barrier = list(self._barrier(i).slip), self._barrier(i)
            push = np.array([forces[row] for row in slip])
            size, limit = np.linalg.norm(push), barrier.friction * barrier.ratio * forces[i]
            if size > limit * (1 + 1e-12) or max(abs(moves[row]) for row in slip) > small:
                grip.discard(i)
                toward[i] = tuple(-push / max(size, 1e-300))
        kept = tuple((i, d) for i, d in sorted(toward.items()) if i in resting)
        return Mode(tuple(resting), frozenset(grip), kept, tuple(signs))


def _settled(instant: Instant, mode: Mode) -> Mode:
    """Less what its own forces exceed: friction in motion may be less than at rest, and a contact
    that begins to slide turns into the direction of its acceleration."""
    for _ in range(_TURNS):
        found = forces_of(instant, mode)
        other = _turned(instant, _released(instant, mode, found), found)
        if other == mode:
            return mode
        mode = other
    return mode


def _released(instant: Instant, mode: Mode, found: Forces) -> Mode:
    rows, signs = instant.of.rows, list(mode.sliding)
    for k, force in found.rub.items():
        limit = found.limits[k] * rows.rubs[k].ratio
        if abs(force) > limit * (1 + 1e-9) + 1e-300:
            signs[k] = -int(np.sign(force))
    small = 1e-9 * max([abs(x) for x in found.normal.values()], default=0.0)
    resting = tuple(i for i in mode.resting if found.normal[i] >= -small)
    grip, toward = set(mode.grip), dict(mode.toward)
    for i, push in found.slip.items():
        barrier, size = rows.barriers[i], float(np.linalg.norm(push))
        limit = barrier.friction * barrier.ratio * max(found.normal[i], 0.0)
        if i in resting and size > limit * (1 + 1e-9) + 1e-300:
            grip.discard(i)
            toward[i] = (-float(push[0]) / size, -float(push[1]) / size)
    kept = tuple((i, d) for i, d in sorted(toward.items()) if i in resting)
    return Mode(resting, frozenset(grip & set(resting)), kept, tuple(signs))


def _turned(instant: Instant, mode: Mode, found: Forces) -> Mode:
    """Contacts that begin to slide, turned into their acceleration."""
    rows, toward = instant.of.rows, []
    V = instant.R @ instant.qd
    for i, direction in mode.toward:
        slip = list(rows.barriers[i].slip)
        a = instant.R[slip] @ found.held.qdd + instant.gamma[slip]
        size = float(np.linalg.norm(a))
        slow = float(np.linalg.norm(V[slip])) <= STILL
        turned = (float(a[0]) / size, float(a[1]) / size) if size > 1e-12 and slow else direction
        near = np.hypot(turned[0] - direction[0], turned[1] - direction[1]) < 1e-9
        toward.append((i, direction if near else turned))
    return replace(mode, toward=tuple(toward))
