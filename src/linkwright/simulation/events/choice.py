"""The mode that follows a state: what rests, sticks or slides, by complementarity.

Normal forces are at least zero, and friction stays within its limits. A contact that is not held
separates, and an element whose friction is at its limit slides against it. Limits that depend on
these forces are found by iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ...types import Floats
from .boxes import solve_box_complementarity
from .dynamics import HeldSolution, InstantDynamics
from .event_tolerances import EVENT_TOLERANCES, FORCE_SOLVER
from .modes import ElementForces, Mode, NoSolutionError, solve_mode_forces
from .rows import UnilateralConstraint

Direction = tuple[float, float]


@dataclass(frozen=True)
class ModeCase:
    """What is to be decided.

    `closed` are stops and contacts that neither close nor open. `slipping` and `leaving` have just
    been released, with the sign or direction in which they begin to slide.
    """

    closed: tuple[int, ...]
    slipping: tuple[tuple[int, int], ...] = ()
    leaving: tuple[tuple[int, Direction], ...] = ()


def choose_mode(instant: InstantDynamics, case: ModeCase) -> Mode:
    """Return the mode of a state in which closed and sticking elements have zero velocity within a
    tolerance."""
    choice = _Choice(instant, case)
    return _settled(instant, choice.mode())


class _Choice:
    """The complementarity problem of one state."""

    def __init__(self, instant: InstantDynamics, case: ModeCase) -> None:
        self.instant, self.case = instant, case
        self.rows, self.V = instant.of.rows, instant.R @ instant.qd
        self.closed, self.toward = list(case.closed), dict(case.leaving)
        forced = dict(case.slipping)
        self.signs = [
            forced.get(k, _sign(self.V[joint_friction.row]))
            for k, joint_friction in enumerate(self.rows.joint_frictions)
        ]
        self.still = [k for k, s in enumerate(self.signs) if s == 0]
        self.grips = [i for i in self.closed if self._slow(i) and i not in self.toward]
        self.all = [*self.closed, *(self.rows.joint_frictions[k].row for k in self.still)]

    def _barrier(self, i: int) -> UnilateralConstraint:
        """Return a stop or contact."""
        return self.rows.unilaterals[i]

    def _slow(self, i: int) -> bool:
        """Whether a contact with friction does not slide."""
        slip = list(self._barrier(i).slip)
        return bool(slip) and float(np.linalg.norm(self.V[slip])) <= EVENT_TOLERANCES.still_velocity

    def mode(self) -> Mode:
        """Return the mode; contacts at rest stick at first, and contacts without a normal force
        open."""
        while True:
            x, w, limits, size = self._balance()
            pressing = [i for i, force in zip(self.closed, x, strict=False) if force > 0]
            if all(i in pressing for i in self.grips):
                return self._sorted(x, w, limits, size)
            self.grips = [i for i in self.grips if i in pressing]

    def _balance(self) -> tuple[Floats, Floats, Floats, float]:
        """Return forces and accelerations of all elements that may be held, the limits of friction,
        and the size of accelerations without these forces."""
        limits = np.array([joint_friction.force for joint_friction in self.rows.joint_frictions])
        normal, x = np.zeros(len(self.closed)), None
        now = self.instant
        gripped = [row for i in self.grips for row in self._barrier(i).slip]
        R, gamma = now.R[self.all], now.gamma[self.all]
        P = now.admittance_holding(gripped)
        A = R @ P @ R.T
        for _ in range(FORCE_SOLVER.max_mode_iterations):
            known = self._known(limits, normal)
            free = now.hold_rows(gripped, now.R[gripped].T, known)
            b = R @ free.qdd + gamma
            x = solve_box_complementarity(A, b, *self._bounds(limits), start=x)
            before = np.concatenate([limits, normal])
            normal = x[: len(self.closed)].copy()
            limits = self._limits(free.qdd + P @ (R.T @ x), known + R.T @ x, normal)
            after = np.concatenate([limits, normal])
            small = 1e-12 * (1 + np.abs(after).max(initial=0))
            if np.abs(after - before).max(initial=0.0) <= small:
                return x, A @ x + b, limits, float(np.abs(b).max(initial=0.0))
        raise NoSolutionError(
            "friction has no solution here", remedy="lower the coefficients of friction"
        )

    def _known(self, limits: Floats, normal: Floats) -> Floats:
        """Return the generalized forces of elements that already slide."""
        total = np.zeros(len(self.instant.qd))
        for joint_friction, s, limit in zip(
            self.rows.joint_frictions, self.signs, limits, strict=True
        ):
            total -= s * limit * self.instant.R[joint_friction.row]
        for i, force in zip(self.closed, normal, strict=True):
            slip = list(self._barrier(i).slip)
            if slip and i not in self.grips:
                v = self.V[slip] if i not in self.toward else np.array(self.toward[i])
                drag = self._barrier(i).friction * force * v / np.linalg.norm(v)
                total -= drag @ self.instant.R[slip]
        return total

    def _bounds(self, limits: Floats) -> tuple[Floats, Floats]:
        """Return the bounds of the forces: normal forces push, friction is limited."""
        count = len(self.closed)
        most = [limits[k] * self.rows.joint_frictions[k].ratio for k in self.still]
        return np.array([0.0] * count + [-x for x in most]), np.array([np.inf] * count + most)

    def _limits(self, qdd: Floats, forces: Floats, normal: Floats) -> Floats:
        """Return the limits of friction in the joints under given accelerations and forces."""
        joint_frictions, now = self.rows.joint_frictions, self.instant
        limits = np.array([joint_friction.force for joint_friction in joint_frictions])
        arms = np.array([joint_friction.arm for joint_friction in joint_frictions])
        if not arms.any():
            return limits
        rest = now.M @ qdd - now.F - forces
        lam = np.zeros(0)
        if len(now.J):
            lam = np.asarray(np.linalg.lstsq(now.J.T, rest, rcond=1e-10)[0], dtype=float)
        pushes = np.zeros((3, len(self.rows.contacts)))
        for i, force in zip(self.closed, normal, strict=True):
            if i >= self.rows.stop_count:
                pushes[2, i - self.rows.stop_count] = force
        found: Floats = limits + arms * now.loads(HeldSolution(qdd, np.zeros(0), lam), pushes)[0]
        return found

    def _sorted(self, x: Floats, w: Floats, limits: Floats, size: float) -> Mode:
        """Return the mode for forces x and accelerations w."""
        small = 1e-10 * max(np.abs(w).max(initial=0.0), size, 1e-6)  # w is a difference of `size`
        forces = dict(zip(self.all, x, strict=True))
        moves = dict(zip(self.all, w, strict=True))
        tiny = 1e-12 * max(np.abs(x).max(initial=0.0), 1e-6)
        resting = [i for i in self.closed if forces[i] > tiny or moves[i] <= small]
        signs = list(self.signs)
        for k in self.still:
            row, limit = (
                self.rows.joint_frictions[k].row,
                limits[k] * self.rows.joint_frictions[k].ratio,
            )
            if abs(forces[row]) >= limit * (1 - 1e-12) and abs(moves[row]) > small:
                signs[k] = int(np.sign(moves[row]))
        grip, toward = set(self.grips) & set(resting), dict(self.toward)
        for i in resting:
            if self._barrier(i).slip and i not in grip and i not in toward:
                v = self.V[list(self._barrier(i).slip)]
                speed = max(float(np.hypot(*v)), 1e-300)
                toward[i] = (float(v[0]) / speed, float(v[1]) / speed)
        kept = tuple((i, d) for i, d in sorted(toward.items()) if i in resting)
        return Mode(tuple(resting), frozenset(grip), kept, tuple(signs))


def _sign(velocity: float) -> int:
    """Return the sign of a velocity; 0 where it is zero within a tolerance."""
    return 0 if abs(velocity) <= EVENT_TOLERANCES.still_velocity else int(np.sign(velocity))


def _settled(instant: InstantDynamics, mode: Mode) -> Mode:
    """Return the mode without what its own forces exceed.

    Kinetic friction may be less than static friction, and a contact that begins to slide turns into
    the direction of its acceleration.
    """
    for _ in range(FORCE_SOLVER.max_mode_iterations):
        found = solve_mode_forces(instant, mode)
        other = _turned(instant, _released(instant, mode, found), found)
        if other == mode:
            return mode
        mode = other
    return mode


def _released(instant: InstantDynamics, mode: Mode, found: ElementForces) -> Mode:
    """Return the mode without what its own forces exceed."""
    rows, signs = instant.of.rows, list(mode.sliding)
    for k, force in found.joint_friction.items():
        limit = found.limits[k] * rows.joint_frictions[k].ratio
        if abs(force) > limit * (1 + 1e-9) + 1e-300:
            signs[k] = -int(np.sign(force))
    small = 1e-9 * max([abs(x) for x in found.normal.values()], default=0.0)
    resting = tuple(i for i in mode.resting if found.normal[i] >= -small)
    grip, toward = set(mode.grip), dict(mode.toward)
    for i, push in found.slip.items():
        unilateral, size = rows.unilaterals[i], float(np.linalg.norm(push))
        limit = unilateral.friction * unilateral.ratio * max(found.normal[i], 0.0)
        if i in resting and size > limit * (1 + 1e-9) + 1e-300:
            grip.discard(i)
            toward[i] = (-float(push[0]) / size, -float(push[1]) / size)
    kept = tuple((i, d) for i, d in sorted(toward.items()) if i in resting)
    return Mode(resting, frozenset(grip & set(resting)), kept, tuple(signs))


def _mobility(instant: InstantDynamics, rows: list[int]) -> float:
    """Return the largest acceleration along rows for a unit of force."""
    R = instant.R[rows]
    return float(np.linalg.norm(R @ instant.admittance @ R.T, 2))


def _turned(instant: InstantDynamics, mode: Mode, found: ElementForces) -> Mode:
    """Return the mode with contacts that begin to slide turned into their acceleration."""
    rows, toward = instant.of.rows, []
    V = instant.R @ instant.qd
    for i, direction in mode.toward:
        slip = list(rows.unilaterals[i].slip)
        a = instant.R[slip] @ found.held.qdd + instant.gamma[slip]
        size = float(np.linalg.norm(a))
        slow = float(np.linalg.norm(V[slip])) <= EVENT_TOLERANCES.still_velocity
        can = rows.unilaterals[i].friction * abs(found.normal.get(i, 0.0))
        clear = slow and size > 1e-3 * can * _mobility(instant, slip)
        turned = (float(a[0]) / size, float(a[1]) / size) if clear else direction
        near = np.hypot(turned[0] - direction[0], turned[1] - direction[1]) < 1e-9
        toward.append((i, direction if near else turned))
    return replace(mode, toward=tuple(toward))
