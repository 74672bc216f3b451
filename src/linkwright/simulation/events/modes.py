"""Modes: which stops and contacts carry, what sticks, and in which direction the rest slides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from ...errors import LinkwrightError
from ...types import Floats, Integers
from .dynamics import HeldSolution, InstantDynamics
from .event_tolerances import FORCE_SOLVER
from .rows import ModeRows

SLOW_SLIP_VELOCITY = 1e-4
"""A contact that slides slower than this turns the direction of its friction gradually, m/s: a
slide that passes near zero would otherwise turn within rounding. The size of friction, and slides
along a line, are not affected."""


class NoSolutionError(LinkwrightError):
    """Rigid bodies with dry friction have no accelerations here: Painlevé's paradox."""


@dataclass(frozen=True)
class Mode:
    """What holds between two events.

    `resting` are stops and contacts that carry; `grip` those of them that stick; `toward` are the
    directions in which the others slide (until the event of a reversal, friction keeps its
    direction). `sliding` is the sign of the velocity of each joint with friction, 0 if it sticks.
    `riding` are joints that stick because others do, with a constant force: a share of their limit.
    """

    resting: tuple[int, ...] = ()
    grip: frozenset[int] = frozenset()
    toward: tuple[tuple[int, tuple[float, float]], ...] = ()
    sliding: tuple[int, ...] = ()
    riding: tuple[tuple[int, float], ...] = ()

    def turned(self, rows: ModeRows, V: Floats) -> Mode:
        """Return the mode with the present directions of sliding."""
        if not self.toward:
            return self
        now = []
        for i, direction in self.toward:
            v = V[list(rows.unilaterals[i].slip)]
            speed = float(np.hypot(*v))
            slow = speed <= 10 * SLOW_SLIP_VELOCITY
            now.append((i, direction if slow else (float(v[0]) / speed, float(v[1]) / speed)))
        return replace(self, toward=tuple(now))

    @property
    def holding(self) -> tuple[int, ...]:
        """The joints whose friction holds the motion."""
        riding = dict(self.riding)
        return tuple(k for k, s in enumerate(self.sliding) if s == 0 and k not in riding)

    @property
    def plain(self) -> bool:
        """Whether nothing rests or sticks."""
        return not self.resting and all(self.sliding)

    def rows(self, rows: ModeRows) -> list[int]:
        """Return the held rows: of closed contacts, of joints and of contacts that stick."""
        found = list(self.resting)
        found += [rows.joint_frictions[k].row for k in self.holding]
        return found + [k for i in self.resting if i in self.grip for k in rows.unilaterals[i].slip]


@dataclass(frozen=True)
class _Grip:
    """A contact that sticks: places of its normal force and slip among the held rows."""

    unilateral: int
    normal: int
    slip: list[int]
    friction: float


@dataclass(frozen=True)
class _Slides:
    """Contacts that slide, one a row: places of normal forces, rows of slip, directions."""

    unilaterals: list[int]
    normal: list[int]
    slip: Integers
    friction: Floats
    begun: Floats

    def drags(self, v: Floats) -> Floats:
        """Return the friction for a unit of normal force, at velocities of slip."""
        along = np.einsum("ij,ij->i", v, self.begun)
        toward = v + (np.hypot(along, SLOW_SLIP_VELOCITY) - along)[:, None] * self.begun
        found: Floats = toward * (-self.friction / np.hypot(toward[:, 0], toward[:, 1]))[:, None]
        return found


class ModePlan:
    """What a mode means for the rows: made once, used at every state of the mode."""

    def __init__(self, rows: ModeRows, mode: Mode) -> None:
        self.rows, self.mode = rows, mode
        self.held = mode.rows(rows)
        self.place = {row: k for k, row in enumerate(self.held)}
        self.friction_rows = [joint_friction.row for joint_friction in rows.joint_frictions]
        self.signs = np.array(mode.sliding, dtype=float)
        self.own = np.array([joint_friction.force for joint_friction in rows.joint_frictions])
        self.shifts = np.array([joint_friction.shift for joint_friction in rows.joint_frictions])
        self.arms = np.array([joint_friction.arm for joint_friction in rows.joint_frictions])
        self.ratios = np.array([joint_friction.ratio for joint_friction in rows.joint_frictions])
        self.shares = np.zeros(len(rows.joint_frictions))
        self.shares[[k for k, _ in mode.riding]] = [share for _, share in mode.riding]
        self.stuck = {k: self.place[rows.joint_frictions[k].row] for k in mode.holding}
        toward = dict(mode.toward)
        self.grips: list[_Grip] = []
        sliding: list[int] = []
        for k, i in enumerate(mode.resting):
            unilateral, slip = rows.unilaterals[i], rows.unilaterals[i].slip
            if slip and i in mode.grip:
                places = [self.place[row] for row in slip]
                self.grips.append(_Grip(i, k, places, unilateral.friction))
            elif slip:
                sliding.append(i)
        self.slides = (
            None
            if not sliding
            else _Slides(
                sliding,
                [self.place[i] for i in sliding],
                np.array([rows.unilaterals[i].slip for i in sliding]),
                np.array([rows.unilaterals[i].friction for i in sliding]),
                np.array([toward[i] for i in sliding]),
            )
        )

    def share(self, x: Floats) -> Floats:
        """Return weights of slip forces by their friction limits, so that no contact slips too
        early."""
        weights = np.ones(len(x))
        for grip in self.grips:
            most = grip.friction * max(float(x[grip.normal]), 0.0)
            weights[grip.slip] = sqrt(max(most, 1e-12))
        return weights


class ElementForces:
    """The forces of a mode at a state: generalized forces, and those of single elements.

    `limits` is the size of friction in each joint while it slides.
    """

    def __init__(
        self, plan: ModePlan, held: HeldSolution, along: Floats, limits: Floats, drags: Floats
    ) -> None:
        self.plan, self.held, self.along, self.limits = plan, held, along, limits
        self.drags = drags
        self.strengths: Floats = np.zeros(0)

    @cached_property
    def normal(self) -> dict[int, float]:
        """The normal forces of closed stops and contacts."""
        return dict(zip(self.plan.mode.resting, self.held.x.tolist(), strict=False))

    @cached_property
    def slip(self) -> dict[int, Floats]:
        """The tangential forces of contacts that stick."""
        return {grip.unilateral: self.held.x[grip.slip] for grip in self.plan.grips}

    @cached_property
    def joint_friction(self) -> dict[int, float]:
        """The friction forces of joints that hold the motion."""
        return {k: float(self.held.x[place]) for k, place in self.plan.stuck.items()}

    @cached_property
    def pushes(self) -> Floats:
        """Forces of rigid contacts: along the plane's x and y, and normal, one column each."""
        rows, x = self.plan.rows, self.held.x
        found = np.zeros((3, len(rows.contacts)))
        for k, i in enumerate(self.plan.mode.resting):
            if i >= rows.stop_count:
                found[2, i - rows.stop_count] = x[k]
        for grip in self.plan.grips:
            found[:2, grip.unilateral - rows.stop_count] = x[grip.slip]
        if self.plan.slides is not None:
            places = [i - rows.stop_count for i in self.plan.slides.unilaterals]
            found[:2, places] = self.drags.T * x[self.plan.slides.normal]
        return found


class ModeForceSolver:
    """Solves for the forces of a mode at one state."""

    def __init__(self, instant: InstantDynamics, plan: ModePlan) -> None:
        self.instant, self.plan = instant, plan
        self.columns = instant.R[plan.held].T
        self.drags: Floats = np.zeros((0, 2))
        if plan.slides is not None:
            across = instant.R[plan.slides.slip]
            self.drags = plan.slides.drags(across @ instant.qd)
            pushed = (self.drags[:, None, :] @ across)[:, 0].T
            self.columns[:, plan.slides.normal] += pushed

    def forces(self) -> ElementForces:
        """Return all forces, by iteration if friction depends on reactions."""
        own, arms, of = self.plan.own, self.plan.arms, self.instant.of
        if not of.by_reaction and not of.members:
            return self._with(own)
        limits, last = own + arms * of.pressure, None
        for _ in range(FORCE_SOLVER.max_reaction_iterations):
            found = self._with(limits)
            pressure, found.strengths = self.instant.loads(found.held, found.pushes)
            error = own + arms * pressure - limits
            if np.abs(error).max(initial=0.0) <= 1e-13 * (1 + np.abs(limits).max(initial=0.0)):
                of.pressure = pressure
                return found
            step = _secant(limits, error, last)
            limits, last = limits + step, (limits, error)
        raise NoSolutionError(
            "friction by reaction has no solution here: the joint locks itself",
            remedy="lower friction_coefficient or pin_radius",
        )

    def generalized_forces(self) -> Floats:
        """Return the generalized forces, without their shares."""
        plan, of = self.plan, self.instant.of
        if of.by_reaction:
            return self.forces().along
        known = self._known(plan.own)
        if not plan.held:
            return known
        x = self.instant.solve_held_rows(plan.held, self.columns, known)[1]
        found: Floats = known + self.columns @ x[: len(plan.held)]
        return found

    def _known(self, limits: Floats) -> Floats:
        """Return the generalized friction of joints that slide or ride along."""
        if not self.plan.friction_rows:
            return self.instant.of.still
        plan, signs = self.plan, self.plan.signs
        along = signs**2 * plan.shifts - signs * limits + plan.shares * plan.ratios * limits
        found: Floats = along @ self.instant.R[self.plan.friction_rows]
        return found

    def _with(self, limits: Floats) -> ElementForces:
        """Return the forces for given limits of friction."""
        plan, instant = self.plan, self.instant
        known = self._known(limits)
        share = plan.share if len(plan.grips) > 1 else None
        held = instant.hold_rows(plan.held, self.columns, known, share)
        return ElementForces(plan, held, known + self.columns @ held.x, limits, self.drags)


def _secant(x: Floats, error: Floats, last: tuple[Floats, Floats] | None) -> Floats:
    """The change that would make each error zero, if each depended on its own limit alone."""
    if last is None:
        return error
    change, answer = x - last[0], error - last[1]
    steep = np.abs(answer) > 1e-3 * np.abs(change)
    slope = np.divide(answer, change, out=-np.ones_like(x), where=steep & (change != 0))
    found: Floats = np.where(slope < -1e-3, -error / np.where(slope < 0, slope, -1.0), error)
    return found


def mode_force_solver(instant: InstantDynamics, mode: Mode) -> ModeForceSolver:
    """Return the solver for the forces of a mode; its plan is kept while the mode lasts."""
    of = instant.of
    if of.plan is None or of.plan.mode is not mode:
        of.plan = ModePlan(of.rows, mode)
    return ModeForceSolver(instant, of.plan)


def solve_mode_forces(instant: InstantDynamics, mode: Mode) -> ElementForces:
    """Return the forces of a mode at a state."""
    return mode_force_solver(instant, mode).forces()
