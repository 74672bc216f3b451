"""Transition from one mode to the next: impacts, the choice of the mode, then projection onto
it."""

from __future__ import annotations

import numpy as np

from ...types import Floats
from ..run_context import RunContext
from .choice import ModeCase, choose_mode
from .event_function import Releases
from .event_log import EventLog
from .event_tolerances import EVENT_TOLERANCES
from .failures import check_strengths
from .holding import close_gaps, stop_rows
from .impacts import check_impact_is_possible, solve_impact
from .modes import Mode
from .present_mode import PresentMode


class ModeTransition:
    """Finds the mode that continues a motion, in one run.

    `one_by_one`: impacts at one instant follow each other.
    """

    def __init__(
        self, context: RunContext, present: PresentMode, log: EventLog, *, one_by_one: bool
    ) -> None:
        self.context, self.present, self.log = context, present, log
        self.dynamics, self.rows = present.dynamics, present.rows
        self.one_by_one = one_by_one
        self._fastest: dict[int, float] = {}
        """The largest velocities at which stops and contacts were hit."""

    def settle(self, t: float, y: Floats, releases: Releases) -> Floats:
        """Return y after impacts, in the mode that follows."""
        space = self.context.space
        q, qd = space.motion(y)
        closed = self._closed(q, qd, releases)
        q = close_gaps(self.dynamics, t, q, qd, closed)
        qd = self._impact(t, q, qd, closed)
        still, slow = self._still(q, qd, closed, releases.turning)
        qd = stop_rows(self.dynamics, t, q, qd, [*still, *slow])
        tau = self.context.inputs.forces(t, space.with_motion(y, q, qd))
        leaving = {i: d for i, d in releases.leaving.items() if i in still}
        before = self.present.mode
        case = ModeCase(
            still,
            tuple(releases.slipping),
            tuple(leaving.items()),
            before.resting,
            before.holding,
            bool(releases.opening),
        )
        self.present.change(choose_mode(self.dynamics.at(t, q, qd, tau), case))
        self._note_changes(t, before)
        return self.present.jump_to(t, y, *self.present.hold(t, q, qd))

    def _closed(self, q: Floats, qd: Floats, releases: Releases) -> list[int]:
        """Return the stops and contacts that are closed and not released."""
        gaps, _ = self.rows.gaps_and_speeds(q, qd)
        resting = self.present.mode.resting
        return [
            i
            for i, unilateral in enumerate(self.rows.unilaterals)
            if (gaps[i] <= EVENT_TOLERANCES.closed_gap or i in resting)
            and i not in releases.opening
            and unilateral.restitution is not None
        ]

    def _rebound_velocity(self, i: int) -> float:
        """Return the velocity below which a stop or contact does not rebound."""
        return EVENT_TOLERANCES.rebound_share * self._fastest.get(i, 0.0)

    def _still(
        self, q: Floats, qd: Floats, closed: list[int], turning: set[int]
    ) -> tuple[tuple[int, ...], list[int]]:
        """Return closed stops and contacts that neither close nor open, and rows of friction
        without velocity."""
        _, V = self.rows.gaps_and_speeds(q, qd)
        least = EVENT_TOLERANCES.still_velocity
        still = tuple(i for i in closed if abs(V[i]) <= max(least, self._rebound_velocity(i)))
        V[list(turning)] = 0.0
        slow = [
            joint_friction.row
            for joint_friction in self.rows.joint_frictions
            if abs(V[joint_friction.row]) <= least
        ]
        for i in still:
            slip = list(self.rows.unilaterals[i].slip)
            slow += slip if np.linalg.norm(V[slip]) <= least else []
        return still, slow

    def _impact(self, t: float, q: Floats, qd: Floats, closed: list[int]) -> Floats:
        """Return the velocities after impacts; raise an error if a member breaks in them."""
        if not closed:
            return qd
        instant = self.dynamics.at(t, q, qd, np.zeros(len(qd)))
        slow = {i: self._rebound_velocity(i) for i in closed}
        found = solve_impact(instant, closed, slow, one_by_one=self.one_by_one)
        check_impact_is_possible(instant, found)
        check_strengths(instant, found)
        for i, speed in found.speeds.items():
            self._fastest[i] = max(self._fastest.get(i, 0.0), speed)
            unilateral = self.rows.unilaterals[i]
            self.log.note(t, unilateral.name, unilateral.said(speed, found.impulses.get(i, 0.0)))
        return found.qd

    def _note_changes(self, t: float, before: Mode) -> None:
        """Note which elements now rest, open, stick or slide and did not before."""
        unilaterals, now = self.rows.unilaterals, self.present.mode
        old_way, new_way = dict(before.toward), dict(now.toward)
        for i in sorted({*before.resting} | {*now.resting}):
            name = unilaterals[i].name
            if (i in before.resting) != (i in now.resting):
                self.log.note(t, name, "rests" if i in now.resting else "lets go")
            elif unilaterals[i].slip and (i in before.grip) != (i in now.grip):
                self.log.note(t, name, "sticks" if i in now.grip else "slides")
            elif i in old_way and i in new_way and np.dot(old_way[i], new_way[i]) < 0:
                self.log.note(t, name, "slides back")
        for joint_friction, old, new in zip(
            self.rows.joint_frictions, before.sliding, now.sliding, strict=True
        ):
            if old != new:
                self.log.note(t, joint_friction.name, "slides" if new else "sticks")
