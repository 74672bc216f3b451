"""Members that break because a load exceeds their strength."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...expressions import Expression, expression_to_float
from ...types import Floats
from .dynamics import DynamicsCode
from .event_function import Effect, EventFunction, StepStates
from .present_mode import PresentMode


@dataclass(frozen=True)
class JointOverload(EventFunction):
    """How much more force or moment a joint or loop can bear."""

    member: str
    load: str
    """The kind of load, "force" or "moment", for messages."""
    strength: float
    place: int
    """The index of the load among the loads of all members."""
    is_overload = True
    ends_run = True

    @property
    def name(self) -> str:
        """The name of the joint or loop."""
        return self.member

    def values(self, states: StepStates) -> Floats:
        """Return the remaining strength."""
        return np.array(
            [self.strength - float(forces.strengths[self.place]) for forces in states.forces]
        )

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """End the run; it continues with the mechanism that is left."""
        return break_member(t, self.member, f"its {self.load} exceeds its strength")


@dataclass(frozen=True)
class ConstraintOverload(EventFunction):
    """How much more force a constraint can bear."""

    constraint: str
    strength: float
    multipliers: tuple[int, ...]
    """The indices of its multipliers."""
    is_overload = True
    ends_run = True

    @property
    def name(self) -> str:
        """The name of the constraint."""
        return self.constraint

    def values(self, states: StepStates) -> Floats:
        """Return the remaining strength."""
        places = list(self.multipliers)
        return np.array(
            [
                self.strength - float(np.linalg.norm(forces.held.multipliers[places]))
                for forces in states.forces
            ]
        )

    def act(self, t: float, y: Floats, present: PresentMode) -> Effect | None:
        """End the run; it continues with the mechanism that is left."""
        return break_member(t, self.constraint, "its force exceeds its strength")


def break_member(t: float, member: str, why: str) -> Effect:
    """Return the effect of a member that breaks."""
    return Effect(f"breaks: {why}", status=f"'{member}' broke at t = {t:.12g} s", broken=member)


def overload_functions(code: DynamicsCode) -> list[EventFunction]:
    """Return the event functions of all members that may break."""
    found: list[EventFunction] = []

    def number(strength: Expression) -> float:
        return expression_to_float(strength, code.mechanism.values)

    for k, (name, strength) in enumerate(code.members):
        if strength.force is not None:
            found.append(JointOverload(name, "force", number(strength.force), 2 * k))
    for k, (name, strength) in enumerate(code.members):
        if strength.moment is not None:
            found.append(JointOverload(name, "moment", number(strength.moment), 2 * k + 1))
    owners = code.model.names.constraints
    for name, strength in code.ties:
        if strength.force is not None:
            places = tuple(k for k, owner in enumerate(owners) if owner == name)
            found.append(ConstraintOverload(name, number(strength.force), places))
    return found
