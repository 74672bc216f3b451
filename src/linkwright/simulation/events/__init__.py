"""Events of a motion: stops, impacts, contacts, dry friction, failing members, and the user's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...errors import LinkwrightError
from ...mechanism import Mechanism
from ...model.model import compile as compiled
from ..system import System
from .dynamics import Dynamics, DynamicsCode
from .failures import FailureError
from .given import Event, Watched, watched_events
from .hybrid import Hybrid, Outcome
from .mode_functions import ModeFunctions, find_mode_functions
from .rows import Rows, without_sharp_friction
from .search import LostError

__all__ = [
    "Event",
    "EventParts",
    "FailureError",
    "Hybrid",
    "LostError",
    "Outcome",
    "find_event_parts",
    "without_sharp_friction",
]  # fmt: skip

STOPS = ("stop", "impact", "ignore")
IMPACTS = ("together", "one by one")


@dataclass(frozen=True, eq=False)
class EventParts:
    """What may happen to a mechanism on the way: the parts that its runs share."""

    code: DynamicsCode
    given: tuple[Watched, ...]
    one_by_one: bool

    def events(self, system: System) -> Hybrid:
        """The events of one run."""
        return Hybrid(
            system, Dynamics(self.code), list(self.given), one_by_one=self.one_by_one,
            mode_functions=self.mode_functions,
        )  # fmt: skip

    @cached_property
    def mode_functions(self) -> ModeFunctions | None:
        """The forces of all modes as expressions, where they are such."""
        return find_mode_functions(self.code)


def find_event_parts(
    mechanism: Mechanism, system: System, events: Any, stops: str, impacts: str
) -> EventParts | None:
    """What may happen on the way; None where nothing can. `system` is without sharp friction."""
    for value, known, what in ((stops, STOPS, "stops"), (impacts, IMPACTS, "impacts")):
        if value not in known:
            remedy = f"use one of {', '.join(known)}"
            raise LinkwrightError(f"{what} = {value!r} is not known", remedy=remedy)
    given = watched_events(system.equations, events)
    if not given and not _eventful(mechanism, stops):
        return None
    rows = Rows(mechanism, stops)
    bare = system.equations.mechanism
    model = system.model if system.equations.by == "recursive" else compiled(bare, threads=1)
    code = DynamicsCode(mechanism, model, rows)
    if not (rows.any or given or code.members or code.ties):
        return None
    return EventParts(code, tuple(given), impacts == "one by one")


def _eventful(mechanism: Mechanism, stops: str) -> bool:
    """Whether anything in the mechanism may hold, let go or break."""
    if mechanism.contacts or any(
        getattr(c, "breaks", None) for c in mechanism.constraints.values()
    ):
        return True
    limited = stops != "ignore"
    return any(
        joint.breaks is not None
        or {"friction", "friction_coefficient"} & joint.model_fields_set
        or (limited and "limits" in joint.model_fields_set)
        for joint in (*mechanism.joints.values(), *mechanism.loops.values())
    )
