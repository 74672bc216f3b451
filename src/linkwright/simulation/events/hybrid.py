"""A motion with events: modes between them, jumps at them, and a list of what happened."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ...errors import LinkwrightError
from ...types import Floats
from ..diagnosis import RUNAWAY
from ..run import Happened
from ..system import System
from .choice import Case, chosen
from .columns import Column, columns_of
from .dynamics import Dynamics
from .failures import FailureError, check_strengths
from .fitting import Fitting
from .given import Watched
from .holding import stopped, touching
from .impacts import TINY, check_gave_way, impact
from .mode_functions import ModeFunctions
from .mode_layout import ModeLayout
from .modes import STILL, Forces, Mode, forces_of, solver_of
from .rows import Rows
from .search import first_passage
from .sides import Sides
from .watching import Watching

CLOSED = 1e-9
"""Gaps below this are closed, m or rad."""

PILE = 200
"""Events at one instant that are too many."""

MANY, CROWDED = 300, 1e-4
"""So many events within this share of the time have no end."""


@dataclass(frozen=True)
class Outcome:
    """Where the motion goes on, None: as it went; or why it ends, or which member has failed."""

    y: Floats | None = None
    status: str | None = None
    broken: str | None = None


@dataclass
class _Forced:
    """What an event lets go, whatever the forces at that instant say."""

    open: set[int] = field(default_factory=set)
    slipping: dict[int, int] = field(default_factory=dict)
    leaving: dict[int, tuple[float, float]] = field(default_factory=dict)
    turning: set[int] = field(default_factory=set)
    """Rows whose speed passes zero, whatever rounding has left of it."""


class Hybrid:
    """Of one mechanism and one run; `system` is moved by the forces of the present mode."""

    def __init__(
        self, system: System, dynamics: Dynamics, given: list[Watched], *, one_by_one: bool,
        mode_functions: ModeFunctions | None = None,
    ) -> None:  # fmt: skip
        self.system, self.dynamics, self.given = system, dynamics, given
        self.rows: Rows = dynamics.rows
        self.one_by_one, self.mode_functions = one_by_one, mode_functions
        self.mode = Mode(sliding=(1,) * len(self.rows.rubs))
        self.happened: list[Happened] = []
        self.fastest: dict[int, float] = {}
        self.last, self.pile = -np.inf, 0
        self.recent: deque[float] = deque(maxlen=MANY)
        self.inside = [False] * self.rows.pads
        self.sides = Sides(system, given)
        if self.rows.rubs or any(b.restitution is not None for b in self.rows.barriers):
            system.beside = self.push

    @property
    def mode_layout(self) -> ModeLayout | None:
        """The order of the mode's numbers for compiled code; None if Python computes forces."""
        return None if self.mode_functions is None else self.mode_functions.layout

    # -- forces --------------------------------------------------------------------------

    def push(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats:
        """Forces of friction, stops and rigid contacts along the speeds."""
        if self.mode.plain and not self.rows.rubs:
            return np.zeros(len(qd))
        return solver_of(self.dynamics.at(t, q, qd, tau), self.mode).along()

    def forces(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Forces:
        return forces_of(self.dynamics.at(t, q, qd, tau), self.mode)

    def forces_at(self, t: float, y: Floats) -> Forces:
        return self.forces(t, *self.system.motion(y), self.system.torque(t, y))

    def push_at(self, t: float, y: Floats) -> Floats:
        return self.push(t, *self.system.motion(y), self.system.torque(t, y))

    def borne_at(self, t: float, y: Floats) -> Floats | None:
        """Reactions of joints and loops where rigid contacts press on bodies, which generalized
        forces do not tell."""
        if not self.rows.contacts:
            return None
        instant = self.dynamics.at(t, *self.system.motion(y), self.system.torque(t, y))
        found = forces_of(instant, self.mode)
        return instant.borne(found.held, found.pushes)

    # -- looking -------------------------------------------------------------------------

    def next_event(
        self, begin: float, end: float, between: Callable[[float], Floats]
    ) -> tuple[float, list[Column]] | None:
        """The first event of a step, as a time and what happens then."""
        columns = columns_of(self.dynamics, self.mode, self.given, self.inside)
        if not columns:
            return None
        known = self.sides.known(begin, between(begin), columns) if self.given else {}

        watching = Watching(
            self.system, self.dynamics, self.given, self.mode, columns, between
        )  # fmt: skip
        found = first_passage(watching, begin, end, columns, known)
        return None if found is None else (found[0], [columns[k] for k in found[1]])

    def refresh(self, y: Floats) -> None:
        """After a step: directions of sliding as they are now."""
        if self.mode.toward:
            _, V = self.rows.gaps_and_speeds(*self.system.motion(y))
            self.mode = self.mode.turned(self.rows, V)

    # -- jumping -------------------------------------------------------------------------

    def begin(self, t: float, y: Floats) -> Floats:
        """The mode in which a motion starts."""
        q, qd = self.system.motion(y)
        gaps, _ = self.rows.gaps_and_speeds(q, qd)
        for barrier, gap in zip(self.rows.barriers, gaps, strict=True):
            if gap < -CLOSED:
                raise LinkwrightError(
                    f"the motion starts {-gap:.3g} beyond '{barrier.name}'",
                    where=self.dynamics.mechanism.name,
                    remedy='start on the right side of it, or use stops="ignore" for limits',
                )
        self.inside = [bool(gap < 0) for gap in self.rows.watched(q, qd)[2]]
        self.mode = Mode(sliding=(0,) * len(self.rows.rubs))
        return self._settle(t, y, _Forced()) if self.rows.any else y

    def pushed_anew(self, t: float, y: Floats) -> Floats:
        """The drive has jumped, which no step passes through: what stuck may slide now."""
        return self._settle(t, y, _Forced()) if self.rows.any else y

    def handle(self, t: float, y: Floats, columns: list[Column]) -> Outcome:
        """What an event does to the state and the mode."""
        given = [c for c in columns if c.kind == "given"]
        changing = [c for c in given if self.given[c.index].change is not None]
        if self._piles(t, y, columns, given if changing else []):
            return self._piled(t, y, columns)
        for column in columns:
            if column.fails:
                return self._break(t, y, column)
            if column.kind == "gap" and self.rows.barriers[column.index].restitution is None:
                return self._at_limit(t, y, column)
        changed = y
        for column in columns:
            if column.kind == "given":
                changed = self._given(t, changed, column)
                if self.given[column.index].stops:
                    name = self.given[column.index].name
                    return Outcome(y, f"stopped at t = {t:.12g} s by event '{name}'")
            elif column.kind == "pad":
                self.inside[column.index] = column.sign < 0
                self._note(t, self._name(column), "touches" if column.sign < 0 else "leaves")
        mechanical = [c for c in columns if c.kind not in ("given", "pad")]
        if mechanical or (changed is not y and self.rows.any):
            try:
                changed = self._settle(t, changed, self._forced(t, changed, mechanical))
            except FailureError as failure:
                return self.failed(t, changed, failure)
        if changed is y:
            self.sides.passed(t, given)
        else:
            self.sides.turned(t, y, changed, given)
        return Outcome(None if len(given) == len(columns) and changed is y else changed)

    def failed(self, t: float, y: Floats, failure: FailureError) -> Outcome:
        """A member has failed by an impact, which is left to what goes on without it."""
        self._note(t, failure.member, f"breaks: its impulse {failure.impulse:.6g} N s is too much")
        return Outcome(y, f"'{failure.member}' broke at t = {t:.12g} s", failure.member)

    def _piles(self, t: float, y: Floats, columns: list[Column], given: list[Column]) -> bool:
        """Whether events follow each other without end; those that are merely noted never do."""
        if given and self.sides.piled(t, given, self.sides.rates(t, y, given)):
            return True
        if all(self._silent(column) for column in columns):
            return False
        self.pile = self.pile + 1 if t <= self.last + 1e-12 * max(1.0, abs(t)) else 0
        self.last = t
        self.recent.append(t)
        crowded = len(self.recent) == MANY and t - self.recent[0] <= CROWDED * max(1.0, abs(t))
        return self.pile > PILE or crowded

    def _silent(self, column: Column) -> bool:
        return column.kind == "given" and self.given[column.index].change is None

    def _piled(self, t: float, y: Floats, columns: list[Column]) -> Outcome:
        what = ", ".join(sorted({self._name(column) for column in columns}))
        kinds = {column.kind for column in columns}
        reason, remedy = f"events pile up ({what})", "give less restitution"
        qd = self.system.motion(y)[1]
        fastest = int(np.argmax(np.abs(qd)))
        if abs(qd[fastest]) > RUNAWAY:
            reason = (
                f"'{self.system.names.qd[fastest]}' runs away, at {qd[fastest]:.2g} (m or rad)/s"
            )
            remedy = "look at the sign of its drive, or give its controller smaller gains"
        elif "given" in kinds:
            remedy = (
                'let it "stop", or give limits or a contact with restitution, which come to rest'
            )
        elif kinds <= {"slides", "sticks", "slips", "grips"}:
            reason = f"friction sticks and slides without end ({what})"
            remedy = "smooth the drive where it jumps or chatters, or give the friction a smoothing"
        return Outcome(y, _ended(t, reason, remedy))

    def _name(self, column: Column) -> str:
        if column.kind == "given":
            return self.given[column.index].name
        if column.kind in ("slides", "sticks"):
            return self.rows.rubs[column.index].name
        if column.kind in ("force", "moment"):
            return self.dynamics.members[column.index][0]
        if column.kind == "tie":
            return self.dynamics.ties[column.index][0]
        if column.kind == "pad":
            soft = [name for name, c in self.dynamics.mechanism.contacts.items() if not c.is_rigid]
            return soft[column.index]
        return self.rows.barriers[column.index].name

    def _note(self, t: float, name: str, what: str) -> None:
        self.happened.append(Happened(float(t), name, what))

    def _break(self, t: float, y: Floats, column: Column) -> Outcome:
        name = self._name(column)
        kind = "moment" if column.kind == "moment" else "force"
        self._note(t, name, f"breaks: its {kind} exceeds what it carries")
        return Outcome(y, f"'{name}' broke at t = {t:.12g} s", name)

    def _at_limit(self, t: float, y: Floats, column: Column) -> Outcome:
        name = self._name(column)
        self._note(t, name, "limit reached")
        remedy = 'give limits a restitution, or use stops="impact" or "ignore"'
        return Outcome(y, _ended(t, f"'{name}' limit is reached", remedy))

    def _given(self, t: float, y: Floats, column: Column) -> Floats:
        event = self.given[column.index]
        if event.change is None:
            self._note(t, event.name, "stop" if event.stops else "passed")
            return y
        q, qd = self._fitted(t, event, event.change(t, *self.system.motion(y)))
        self._note(t, event.name, "changes the state")
        return self._state(y, q, qd)

    def _fitted(
        self, t: float, event: Watched, state: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        """A changed state that holds the constraints."""
        if not self.dynamics.constrained:
            return state
        fitting = Fitting(self.system, self.dynamics.model, t, f"events.{event.name}")
        of_q, of_qd = ((), ()) if event.sets is None else event.sets
        q = fitting.positions(state[0], of_q) if of_q or event.sets is None else state[0]
        return q, fitting.speeds(q, state[1], of_qd)

    def _forced(self, t: float, y: Floats, columns: list[Column]) -> _Forced:
        found = _Forced()
        for column in columns:
            if column.kind == "slides":
                found.turning.add(self.rows.rubs[column.index].row)
            elif column.kind == "slips" and self._straight(column.index, y):
                found.turning.update(self.rows.barriers[column.index].slip)
        if not any(c.kind in ("carries", "sticks", "grips") for c in columns):
            return found
        forces = self.forces_at(t, y)
        for column in columns:
            k = column.index
            if column.kind == "carries":
                found.open.add(k)
            elif column.kind == "sticks":
                found.slipping[k] = -int(np.sign(forces.rub[k]))
            elif column.kind == "grips":
                push = forces.slip[k] / max(float(np.linalg.norm(forces.slip[k])), 1e-300)
                found.leaving[k] = (-float(push[0]), -float(push[1]))
        return found

    def _settle(self, t: float, y: Floats, forced: _Forced) -> Floats:
        """Impacts, then the mode that goes on, then what is held exactly held."""
        q, qd = self.system.motion(y)
        gaps, _ = self.rows.gaps_and_speeds(q, qd)
        closed = [
            i for i, barrier in enumerate(self.rows.barriers)
            if (gaps[i] <= CLOSED or i in self.mode.resting) and i not in forced.open
            and barrier.restitution is not None
        ]  # fmt: skip
        q = touching(self.dynamics, t, q, qd, closed)
        qd = self._impact(t, q, qd, closed)
        still, slow = self._still(q, qd, closed, forced.turning)
        qd = stopped(self.dynamics, t, q, qd, [*still, *slow])
        tau = self.system.torque(t, self.system.moved(y, q, qd))
        instant = self.dynamics.at(t, q, qd, tau)
        leaving = {i: d for i, d in forced.leaving.items() if i in still}
        case = Case(still, tuple(forced.slipping.items()), tuple(leaving.items()))
        before, self.mode = self.mode, chosen(instant, case)
        self._note_changes(t, before)
        return self._state(y, *self.hold(t, q, qd))

    def _slow(self, i: int) -> float:
        """The speed below which a barrier does not throw back."""
        return TINY * self.fastest.get(i, 0.0)

    def _straight(self, i: int, y: Floats) -> bool:
        """Whether a slip that turns back has no speed across its way."""
        _, V = self.rows.gaps_and_speeds(*self.system.motion(y))
        v, way = V[list(self.rows.barriers[i].slip)], dict(self.mode.toward)[i]
        return bool(abs(v[0] * way[1] - v[1] * way[0]) <= STILL)

    def _still(
        self, q: Floats, qd: Floats, closed: list[int], turning: set[int]
    ) -> tuple[tuple[int, ...], list[int]]:
        """Closed barriers that neither close nor open, and rows of friction without speed."""
        _, V = self.rows.gaps_and_speeds(q, qd)
        still = tuple(i for i in closed if abs(V[i]) <= max(STILL, self._slow(i)))
        V[list(turning)] = 0.0
        slow = [rub.row for rub in self.rows.rubs if abs(V[rub.row]) <= STILL]
        for i in still:
            slip = list(self.rows.barriers[i].slip)
            slow += slip if np.linalg.norm(V[slip]) <= STILL else []
        return still, slow

    def _impact(self, t: float, q: Floats, qd: Floats, closed: list[int]) -> Floats:
        if not closed:
            return qd
        instant = self.dynamics.at(t, q, qd, np.zeros(len(qd)))
        slow = {i: self._slow(i) for i in closed}
        found = impact(instant, closed, slow, one_by_one=self.one_by_one)
        check_gave_way(instant, found)
        check_strengths(instant, found)
        for i, speed in found.speeds.items():
            self.fastest[i] = max(self.fastest.get(i, 0.0), speed)
            barrier = self.rows.barriers[i]
            self._note(t, barrier.name, barrier.said(speed, found.impulses.get(i, 0.0)))
        return found.qd

    def _note_changes(self, t: float, before: Mode) -> None:
        barriers, now = self.rows.barriers, self.mode
        old_way, new_way = dict(before.toward), dict(now.toward)
        for i in sorted({*before.resting} | {*now.resting}):
            if (i in before.resting) != (i in now.resting):
                self._note(t, barriers[i].name, "rests" if i in now.resting else "lets go")
            elif barriers[i].slip and (i in before.grip) != (i in now.grip):
                self._note(t, barriers[i].name, "sticks" if i in now.grip else "slides")
            elif i in old_way and i in new_way and np.dot(old_way[i], new_way[i]) < 0:
                self._note(t, barriers[i].name, "slides back")
        for rub, old, new in zip(self.rows.rubs, before.sliding, now.sliding, strict=True):
            if old != new:
                self._note(t, rub.name, "slides" if new else "sticks")

    # -- states --------------------------------------------------------------------------

    @property
    def holding(self) -> bool:
        return bool(self.mode.rows(self.rows))

    def hold(self, t: float, q: Floats, qd: Floats) -> tuple[Floats, Floats]:
        """Held gaps and speeds made zero, by the least change in the metric of the mass matrix."""
        held = self.mode.rows(self.rows)
        if not held:
            return q, qd
        q = touching(self.dynamics, t, q, qd, list(self.mode.resting))
        return q, stopped(self.dynamics, t, q, qd, held)

    def _state(self, y: Floats, q: Floats, qd: Floats) -> Floats:
        """y of a changed motion: what its energy gains or loses is work."""
        model = self.dynamics.model
        old_q, old_qd = self.system.motion(y)
        gain = model.kinetic_energy(q, qd) - model.kinetic_energy(old_q, old_qd)
        gain += model.potential_energy(q) - model.potential_energy(old_q)
        found = self.system.moved(y, q, qd)
        found[-1] += gain
        return found


def _ended(t: float, reason: str, remedy: str) -> str:
    return f"stopped at t = {t:.12g} s: {reason}; {remedy}"
