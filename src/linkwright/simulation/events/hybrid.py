"""A motion with events: modes between them, jumps at them, and a list of what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ...types import Floats
from ..diagnosis import RUNAWAY_VELOCITY
from ..run import Happened
from ..run_context import RunContext
from .breakage import break_member, overload_functions
from .event_function import EventFunction, Releases, StepStates
from .event_log import EventLog
from .event_tolerances import EVENT_TOLERANCES
from .failures import FailureError
from .mode_events import mode_event_functions
from .mode_functions import ModeFunctions
from .mode_layout import ModeLayout
from .mode_transition import ModeTransition
from .modes import Mode
from .present_mode import PresentMode
from .row_elements import start_beyond_error
from .search import first_passage
from .step_values import StepValues
from .user_event import UserEvent, UserEventFunction, user_event_functions
from .user_event_sides import UserEventSides
from .zeno import ZenoDetector, choose_zeno_advice


@dataclass(frozen=True)
class Outcome:
    """What an event does to a run.

    The run continues unchanged (y is None), continues from y, or ends at y with a status; `broken`
    is the member that broke.
    """

    y: Floats | None = None
    status: str | None = None
    broken: str | None = None


class Hybrid:
    """The events of one run: it asks event functions what happens, and changes the mode."""

    def __init__(
        self,
        context: RunContext,
        present: PresentMode,
        user_events: Sequence[UserEvent],
        *,
        one_by_one: bool,
        mode_functions: ModeFunctions | None = None,
    ) -> None:
        self.context, self.present, self.given = context, present, user_events
        self.mode_functions = mode_functions
        self.dynamics, self.rows = present.dynamics, present.rows
        self.log = EventLog()
        self.transition = ModeTransition(context, present, self.log, one_by_one=one_by_one)
        self.sides = UserEventSides(context, user_events)
        self.zeno = ZenoDetector()
        self.overloads = overload_functions(self.dynamics.code)
        """Event functions of members that may break."""
        self._lasting = [
            *self.overloads,
            *user_event_functions(user_events),
        ]
        """Event functions that do not depend on the mode."""

    @property
    def mode(self) -> Mode:
        """The present mode."""
        return self.present.mode

    @property
    def mode_layout(self) -> ModeLayout | None:
        """The order of the mode's numbers for compiled code; None if Python computes forces."""
        return None if self.mode_functions is None else self.mode_functions.layout

    @property
    def happened(self) -> list[Happened]:
        """What happened so far."""
        return self.log.happened

    # -- forces ----------------------------------------------------------------------------------

    def push_at(self, t: float, y: Floats) -> Floats:
        """Return the generalized forces of the mode at a state."""
        inputs = self.context.inputs
        return self.present.push(t, *self.context.space.motion(y), inputs.forces(t, y))

    def reactions_at(self, t: float, y: Floats) -> Floats | None:
        """Return reactions at a state where rigid contacts press on bodies; else None."""
        inputs = self.context.inputs
        return self.present.reactions(t, *self.context.space.motion(y), inputs.forces(t, y))

    # -- along the motion ------------------------------------------------------------------------

    def begin(self, t: float, y: Floats) -> Floats:
        """Find the mode in which a motion starts; return y in it."""
        q, qd = self.context.space.motion(y)
        gaps, _ = self.rows.gaps_and_speeds(q, qd)
        for unilateral, gap in zip(self.rows.unilaterals, gaps, strict=True):
            if gap < -EVENT_TOLERANCES.closed_gap:
                where = self.dynamics.mechanism.name
                raise start_beyond_error(unilateral.name, gap, where)
        self.present.begin(t, q, qd)
        return self.pass_force_jump(t, y)

    def pass_force_jump(self, t: float, y: Floats) -> Floats:
        """Find the mode after a jump of the inputs, at which steps end: sticking elements may begin
        to slide."""
        return self.transition.settle(t, y, Releases()) if self.present.has_forces else y

    def follow_slip(self, y: Floats) -> None:
        """Update the directions in which contacts slide, after a step."""
        if self.mode.toward:
            self.present.follow_slip(*self.context.space.motion(y))

    def event_functions(self) -> list[EventFunction]:
        """Return the event functions that are watched in the present mode."""
        return [*mode_event_functions(self.present), *self._lasting]

    def next_event(
        self, begin: float, end: float, dense_output: Callable[[float], Floats]
    ) -> tuple[float, list[EventFunction]] | None:
        """Return the first event of a step: its time, and the functions that cross zero then."""
        functions = self.event_functions()
        if not functions:
            return None
        known = self.sides.known(begin, dense_output(begin), functions) if self.given else {}
        values = StepValues(self.context, self.present, functions, dense_output)
        found = first_passage(values, begin, end, functions, known)
        return None if found is None else (found[0], [functions[k] for k in found[1]])

    def handle(self, t: float, y: Floats, functions: Sequence[EventFunction]) -> Outcome:
        """Let an event change the state and the mode; return how the run goes on."""
        user = [f for f in functions if isinstance(f, UserEventFunction)]
        if self._has_no_end(t, y, functions, user):
            return Outcome(y, self._describe_zeno(t, y, functions))
        changed = y
        for function in sorted(functions, key=lambda function: not function.ends_run):
            effect = function.act(t, changed, self.present)
            if effect is None:
                continue
            self.log.note(t, function.name, effect.note, is_smooth=function.is_smooth)
            if effect.status is not None:
                return Outcome(y, effect.status, effect.broken)
            changed = changed if effect.y is None else effect.y
        mechanical = [f for f in functions if f.changes_mode]
        if mechanical or (changed is not y and self.rows.any):
            try:
                changed = self._settle(t, changed, mechanical)
            except FailureError as failure:
                return self.end_by_failure(t, changed, failure)
        if changed is y:
            self.sides.pass_zero(t, user)
        else:
            self.sides.change_state(t, y, changed, user)
        goes_on = changed is y and not any(f.interrupts for f in functions)
        return Outcome(None if goes_on else changed)

    def end_by_failure(self, t: float, y: Floats, failure: FailureError) -> Outcome:
        """End the run before an impact that breaks a member; the run that follows handles the
        impact."""
        why = f"its impulse {failure.impulse:.6g} N s exceeds its strength"
        effect = break_member(t, failure.member, why)
        self.log.note(t, failure.member, effect.note)
        return Outcome(y, effect.status, effect.broken)

    # -- parts of an event -----------------------------------------------------------------------

    def _settle(self, t: float, y: Floats, functions: Sequence[EventFunction]) -> Floats:
        """Return y in the mode after events, with the elements that they release."""
        releases = Releases()
        states = StepStates(self.context, self.present, np.array([t]), [y])
        for function in functions:
            function.release(releases, states)
        return self.transition.settle(t, y, releases)

    def _has_no_end(
        self,
        t: float,
        y: Floats,
        functions: Sequence[EventFunction],
        user: Sequence[UserEventFunction],
    ) -> bool:
        """Whether events follow each other without end; those that are only noted never do."""
        if any(not f.is_only_noted for f in user):
            rates = self.sides.rates(t, y, user)
            if self.sides.have_no_end(t, user, rates):
                return True
        return not all(f.is_only_noted for f in functions) and self.zeno.has_no_end(t)

    def _describe_zeno(self, t: float, y: Floats, functions: Sequence[EventFunction]) -> str:
        """Return the status of a run whose events have no end."""
        advice = choose_zeno_advice({f.zeno_advice for f in functions})
        what = ", ".join(sorted({f.name for f in functions}))
        reason, remedy = f"{advice.reason} ({what})", advice.remedy
        qd = self.context.space.motion(y)[1]
        fastest = int(np.argmax(np.abs(qd)))
        if abs(qd[fastest]) > RUNAWAY_VELOCITY:
            name = self.context.names.qd[fastest]
            reason = f"'{name}' runs away, at {qd[fastest]:.2g} (m or rad)/s"
            remedy = "check the sign of the force on it, or give its controller smaller gains"
        return f"stopped at t = {t:.12g} s: {reason}; {remedy}"
