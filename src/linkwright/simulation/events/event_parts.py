"""Everything that may happen to a mechanism during a run, found once and shared by its runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from ...mechanism import Mechanism
from ...model.model import compile as compiled
from ...types import Floats
from ..right_hand_side import RightHandSide
from ..run_context import RunContext
from .dynamics import Dynamics, DynamicsCode
from .hybrid import Hybrid
from .mode_functions import ModeFunctions, find_mode_functions
from .present_mode import PresentMode
from .rows import ModeRows
from .user_event import Event, UserEvent, read_user_events


@dataclass(frozen=True, eq=False)
class EventParts:
    """What may happen to a mechanism during a run: the parts that its runs share."""

    code: DynamicsCode
    given: tuple[UserEvent, ...]
    one_by_one: bool

    def begin_run(
        self, rhs: RightHandSide, values: Floats | None = None, *, crosses_kinks: bool = False
    ) -> Hybrid:
        """Return the events of a new run, with its context; `values` are those of the parameters
        that differ between runs (default: the mechanism's)."""
        present = PresentMode(Dynamics(self.code, values), rhs.space)
        mode_forces = present if present.has_forces else None
        context = RunContext(rhs, mode_forces, crosses_kinks=crosses_kinks)
        return Hybrid(
            context,
            present,
            self.given,
            one_by_one=self.one_by_one,
            mode_functions=self.mode_functions,
        )

    @cached_property
    def mode_functions(self) -> ModeFunctions | None:
        """The forces of all modes as expressions; None if Python computes them."""
        return find_mode_functions(self.code)


def find_event_parts(
    mechanism: Mechanism,
    system: RightHandSide,
    events: Mapping[str, str | Callable[..., float] | Event] | None,
    stops: str,
    impacts: str,
) -> EventParts | None:
    """Return what may happen during a run; None if nothing can.

    `system` is the right-hand side without sticking friction.
    """
    given = read_user_events(system.equations, events)
    if not given and not _may_have_events(mechanism, stops):
        return None
    rows = ModeRows(mechanism, stops, system.parameters)
    bare, kept = system.equations.mechanism, tuple(system.equations.parameters)
    is_recursive = system.equations.by == "recursive"
    model = system.model if is_recursive else compiled(bare, parameters=kept, threads=1)
    code = DynamicsCode(mechanism, model, rows)
    if not (rows.any or given or code.members or code.ties):
        return None
    return EventParts(code, tuple(given), impacts == "one by one")


def _may_have_events(mechanism: Mechanism, stops: str) -> bool:
    """Whether anything in the mechanism may stick, close, open or break."""
    if mechanism.contacts or any(
        getattr(c, "breaks", None) for c in mechanism.constraints.values()
    ):
        return True
    keys = {"friction", "friction_coefficient"} | ({"limits"} if stops != "ignore" else set())
    if any(keys & length.model_fields_set for length in mechanism.lengths.values()):
        return True
    return any(
        joint.breaks is not None or keys & joint.model_fields_set
        for joint in (*mechanism.joints.values(), *mechanism.loops.values())
    )
