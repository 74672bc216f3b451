"""Events of an ensemble: each run has its own; they are noted, or they end the run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from ..errors import UnsupportedError
from ..expressions import Expression, names_in_expression, parse_expression
from ..integrators import Clock, EventColumn, Progress
from ..mechanism import Mechanism
from ..types import Floats
from .compiled_run import TrajectoryRecords
from .events.event_function import EventFunction
from .events.event_parts import EventParts
from .events.event_tolerances import EVENT_TOLERANCES
from .events.hybrid import Hybrid
from .events.signals import MAX_COLUMNS, event_column_table
from .events.user_event import Event
from .right_hand_side import RightHandSide
from .run import Happened

EventsLike = Mapping[str, str | Callable[..., float] | Event]


class EnsembleEvents:
    """What happened in each run, and how events end runs."""

    def __init__(self, events: Hybrid, runs: int) -> None:
        self.events = events
        self.functions: Sequence[EventFunction] = events.event_functions()
        self.columns = event_column_table(events, self.functions)
        self.happened: list[list[Happened]] = [[] for _ in range(runs)]

    def start_failures(self, q: Floats, qd: Floats) -> dict[int, str]:
        """Return the runs that start beyond a limit, and why they cannot start."""
        gaps = np.asarray(self.events.rows.watched(q, qd, 0.0)[0])
        failures = {}
        for run in np.flatnonzero((gaps < -EVENT_TOLERANCES.closed_gap).any(axis=-1)):
            worst = int(np.argmin(gaps[run]))
            name = self.events.rows.unilaterals[worst].name
            failures[int(run)] = (
                f"cannot start: the motion starts {-gaps[run, worst]:.3g} beyond '{name}'"
            )
        return failures

    def take_over_log(self, records: TrajectoryRecords, run: int) -> None:
        """Add the events that the program has noted in a run to its event log."""
        count = int(records.progress[run, Progress.LOGGED])
        for t, place in records.event_log[run, :count]:
            name = self.functions[int(place)].name
            self.happened[run].append(Happened(float(t), name, "passed"))
        records.progress[run, Progress.LOGGED] = 0

    def end_or_resume(self, records: TrajectoryRecords, run: int) -> str | None:
        """Return the status of a run that an event ends; None if its events were only noted."""
        bits = int(records.progress[run, Progress.EVENT_MASK])
        t = float(records.clock[run, Clock.TIME])
        present = [k for k in range(len(self.functions)) if bits >> k & 1]
        for k in sorted(present, key=lambda k: not self.functions[k].ends_run):
            effect = self.functions[k].act(t, records.y[run], self.events.present)
            assert effect is not None
            self.happened[run].append(Happened(t, self.functions[k].name, effect.note))
            if effect.status is not None:
                return effect.status
            signal = self.columns[k, EventColumn.SIGNAL]
            records.passages[run, :, signal] = t, self.columns[k, EventColumn.SIGN]
        return None


def check_ensemble_events(
    mechanism: Mechanism,
    parts: EventParts,
    system: RightHandSide,
    given: EventsLike | None,
    varied: Sequence[str],
) -> None:
    """Raise an error that names the first kind of event that ensembles do not support."""
    events = parts.begin_run(system)
    rows, code = events.rows, parts.code
    refused = {
        "sticking friction": rows.joint_frictions,
        "contacts": rows.contacts or rows.compliant_count,
        "members that break": code.members or code.ties,
        "stops with restitution": [b for b in rows.unilaterals if b.restitution is not None],
        "events that are Python functions": [e for e in parts.given if e.expression is None],
        "events that change the state": [e for e in parts.given if e.change is not None],
        f"more than {MAX_COLUMNS} event functions": events.event_functions()[MAX_COLUMNS:],
    }
    for what, found in refused.items():
        if found:
            raise UnsupportedError(
                f"ensembles do not support {what}",
                where=mechanism.name,
                remedy='use simulate, or mechanism.without("limits", "contacts", "friction")',
            )
    _check_without(mechanism, _event_expressions(given), varied)


def check_ensemble_limits(mechanism: Mechanism, varied: Sequence[str]) -> None:
    """Raise an error if a limit of a joint depends on a parameter that differs from run to run."""
    _check_without(mechanism, _limit_expressions(mechanism), varied)


def _check_without(
    mechanism: Mechanism, watched: Iterator[tuple[str, Expression]], varied: Sequence[str]
) -> None:
    """Raise an error if an expression depends on a varied parameter."""
    for where, expression in watched:
        name = _first_varied_name(mechanism, expression, varied)
        if name is not None:
            raise UnsupportedError(
                f"{where} depends on '{name}', which differs from run to run",
                where=mechanism.name,
                remedy="write it without this parameter",
            )


def _event_expressions(given: EventsLike | None) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of the user's events, each with a description."""
    for name, event in (given or {}).items():
        when = event.when if isinstance(event, Event) else event
        when = when.get("when") if isinstance(when, Mapping) else when
        if isinstance(when, str):
            yield f"the event '{name}'", parse_expression(when)


def _limit_expressions(mechanism: Mechanism) -> Iterator[tuple[str, Expression]]:
    """Yield the expressions of limits of joints, each with a description."""
    for name, joint in mechanism.joints.items():
        limits = [x for x in (joint.limits.lower, joint.limits.upper) if x is not None]
        for limit in limits:
            for expression in joint.each(limit):
                yield f"a limit of '{name}'", expression
        if limits and joint.mimic is not None:
            yield f"the mimic of '{name}'", joint.mimic.multiplier
            yield f"the mimic of '{name}'", joint.mimic.offset


def _first_varied_name(
    mechanism: Mechanism, expression: Expression, varied: Sequence[str]
) -> str | None:
    """Return a varied parameter on which an expression depends, directly or through other
    parameters."""
    pending, seen = list(names_in_expression(expression)), set[str]()
    while pending:
        name = pending.pop()
        if name in varied:
            return name
        if name in mechanism.parameters and name not in seen:
            seen.add(name)
            pending += names_in_expression(mechanism.parameters[name])
    return None
