"""What simulations of one mechanism share, made once: equations, models, compiled programs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ..formulations import derive
from ..mechanism import Mechanism
from .compiled_motion import CompiledMotion
from .events import EventParts, find_event_parts, without_sharp_friction
from .feedback import NOT_KEPT, Feedback
from .inputs import drive_of
from .provenance import written
from .stabilization import stabilization_of
from .system import System

MAX_KEPT_PREPARATIONS = 32
"""Mechanisms with their inputs whose code stays in memory, as many as `derive` keeps equations."""


@dataclass(frozen=True)
class Preparation:
    """A system that no run has changed, and its programs by integrator."""

    template: System
    programs: dict[tuple[str, EventParts | None], CompiledMotion] = field(default_factory=dict)
    happenings: dict[str, EventParts | None] = field(default_factory=dict)

    def system(self) -> System:
        """A system for one run, which shares expressions and code with the others."""
        return self.template.for_a_run()

    def event_parts(
        self, mechanism: Mechanism, events: Any, stops: str, impacts: str
    ) -> EventParts | None:
        """What may happen on the way."""
        kept = repr((written(events), stops, impacts))
        if NOT_KEPT in kept:
            return find_event_parts(mechanism, self.template, events, stops, impacts)
        if kept not in self.happenings:
            self.happenings[kept] = find_event_parts(
                mechanism, self.template, events, stops, impacts
            )
        return self.happenings[kept]

    def program(self, integrator: str, parts: EventParts | None) -> CompiledMotion:
        """The compiled program of an integrator that watches for events."""
        key = integrator, parts
        if key not in self.programs:
            events = None if parts is None else parts.events(self.template.for_a_run())
            self.programs[key] = CompiledMotion(self.template, integrator, events)
        return self.programs[key]


@dataclass(frozen=True)
class _Subject:
    """A mechanism with its inputs, compared by digest and by what a file would keep of them."""

    digest: str
    unused: tuple[str, ...]
    by: str
    inputs: str
    stabilization: str
    crosses_kinks: bool
    mechanism: Mechanism = field(compare=False)
    torque: Any = field(compare=False)
    holding: Any = field(compare=False)

    def prepare(self) -> Preparation:
        """Derive the equations; friction that sticks is left to the events."""
        bare = without_sharp_friction(self.mechanism)
        equations = derive(bare, by=self.by, parameters="numeric")
        held = stabilization_of(self.holding, equations)
        drive = drive_of(equations, self.torque)
        return Preparation(System(equations, drive, held, crosses_kinks=self.crosses_kinks))


def prepare_simulation(
    mechanism: Mechanism, by: str, torque: Any, stabilization: Any, *, crosses_kinks: bool
) -> Preparation:
    """The preparation of a mechanism: that of an earlier call, if its inputs were the same."""
    kept = f"feedback {id(torque)}" if isinstance(torque, Feedback) else repr(written(torque))
    subject = _Subject(
        mechanism.digest, mechanism.unused, by, kept, repr(written(stabilization)), crosses_kinks,
        mechanism, torque, stabilization,
    )  # fmt: skip
    return subject.prepare() if NOT_KEPT in kept else _prepare_once(subject)


@lru_cache(maxsize=MAX_KEPT_PREPARATIONS)
def _prepare_once(subject: _Subject) -> Preparation:
    return subject.prepare()
