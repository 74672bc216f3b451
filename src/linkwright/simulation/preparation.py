"""What all runs of a mechanism share, made once: equations, models, compiled programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..formulations import derive, formulation_module
from ..mechanism import Mechanism
from ..types import ForceLike
from .compiled_motion import CompiledMotion
from .ensemble_parameters import names_in_tree
from .events.event_parts import EventParts, find_event_parts
from .events.sharp_friction import without_sharp_friction
from .events.user_event import Event
from .feedback import NOT_KEPT, Feedback
from .inputs import read_force_law
from .provenance import stored_form
from .right_hand_side import RightHandSide
from .stabilization import stabilization_of

MAX_KEPT_PREPARATIONS = 32
"""How many mechanisms with inputs stay prepared in memory; `derive` keeps as many equations."""


MAX_KEPT_PROGRAMS = 8
"""Programs and sets of events of one mechanism that stay in memory, the oldest of them go first."""


def _drop_oldest(kept: dict[Any, Any]) -> None:
    """Make room for one more entry."""
    while len(kept) >= MAX_KEPT_PROGRAMS:
        kept.pop(next(iter(kept)), None)


@dataclass(frozen=True)
class Preparation:
    """The right-hand side of a mechanism with its inputs, its events and its compiled programs."""

    rhs: RightHandSide
    programs: dict[tuple[str, EventParts | None], CompiledMotion] = field(default_factory=dict)
    event_parts_by_settings: dict[str, EventParts | None] = field(default_factory=dict)

    def event_parts(
        self,
        mechanism: Mechanism,
        events: Mapping[str, str | Callable[..., float] | Event] | None,
        stops: str,
        impacts: str,
    ) -> EventParts | None:
        """Return the events that may occur during a run; None if there are none."""
        kept = repr((stored_form(events), stops, impacts))
        if NOT_KEPT in kept:
            return find_event_parts(mechanism, self.rhs, events, stops, impacts)
        if kept not in self.event_parts_by_settings:
            _drop_oldest(self.event_parts_by_settings)
            self.event_parts_by_settings[kept] = find_event_parts(
                mechanism, self.rhs, events, stops, impacts
            )
        return self.event_parts_by_settings[kept]

    def program(self, integrator: str, parts: EventParts | None) -> CompiledMotion:
        """Return the compiled program of an integrator with these events."""
        key = integrator, parts
        if key in self.programs:
            return self.programs[key]
        events = None if parts is None else parts.begin_run(self.rhs)
        program = CompiledMotion(self.rhs, integrator, events)
        if parts is None or parts in self.event_parts_by_settings.values():
            _drop_oldest(self.programs)
            self.programs[key] = program
        return program


@dataclass(frozen=True)
class _PreparationSubject:
    """A mechanism and its inputs, compared by digest and by the text of the inputs in a file."""

    digest: str
    unused: tuple[str, ...]
    by: str
    inputs: str
    stabilization: str
    parameters: tuple[str, ...]
    mechanism: Mechanism = field(compare=False)
    torque: ForceLike | Feedback | None = field(compare=False)
    holding: str | Mapping[str, float] = field(compare=False)

    def prepare(self) -> Preparation:
        """Derive the equations without sticking friction, which the events handle."""
        bare = without_sharp_friction(self.mechanism)
        kept = names_in_tree(bare, self.parameters)
        equations = derive(bare, by=self.by, parameters=kept or "numeric")
        held = stabilization_of(self.holding, equations)
        force_law = read_force_law(equations, self.torque)
        return Preparation(RightHandSide(equations, force_law, held, self.parameters))


def prepare_simulation(
    mechanism: Mechanism,
    by: str,
    torque: ForceLike | Feedback | None,
    stabilization: str | Mapping[str, float],
    parameters: tuple[str, ...] = (),
) -> Preparation:
    """Return the preparation of a mechanism; the same inputs reuse an earlier one.

    `parameters` are names of those that are inputs of the program.
    """
    formulation_module(by)
    kept = f"feedback {id(torque)}" if isinstance(torque, Feedback) else repr(stored_form(torque))
    subject = _PreparationSubject(
        mechanism.digest,
        mechanism.unused,
        by,
        kept,
        repr(stored_form(stabilization)),
        parameters,
        mechanism,
        torque,
        stabilization,
    )
    return subject.prepare() if NOT_KEPT in kept else _prepare_once(subject)


@lru_cache(maxsize=MAX_KEPT_PREPARATIONS)
def _prepare_once(subject: _PreparationSubject) -> Preparation:
    """Return the preparation of a subject, and cache it."""
    return subject.prepare()
