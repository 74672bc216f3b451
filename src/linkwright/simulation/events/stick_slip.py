"""Events of dry friction in joints and contacts: slides reverse, and sticking elements begin to
slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...types import Floats
from .event_function import EventFunction, Releases, StepStates
from .event_tolerances import EVENT_TOLERANCES
from .load_sharing import NO_FORCE
from .row_elements import JointFriction, UnilateralConstraint
from .zeno import FRICTION_ADVICE


@dataclass(frozen=True)
class JointSlideReversal(EventFunction):
    """The velocity of a sliding joint in its direction; at zero the joint reverses or sticks."""

    index: int
    friction: JointFriction
    direction: int
    begins_at_zero = True
    changes_mode = True
    zeno_advice = FRICTION_ADVICE

    @property
    def name(self) -> str:
        """The name of the coordinate."""
        return self.friction.name

    def values(self, states: StepStates) -> Floats:
        """Return the velocity in its direction."""
        found: Floats = self.direction * states.velocities[:, self.friction.row]
        return found

    def release(self, releases: Releases, states: StepStates) -> None:
        """Mark its velocity as zero."""
        releases.turning.add(self.friction.row)


@dataclass(frozen=True)
class JointStickLimit(EventFunction):
    """How much more force a joint that holds the motion can bear."""

    index: int
    friction: JointFriction
    changes_mode = True
    zeno_advice = FRICTION_ADVICE

    @property
    def name(self) -> str:
        """The name of the coordinate."""
        return self.friction.name

    def values(self, states: StepStates) -> Floats:
        """Return the remaining friction force up to the limit."""
        k, ratio = self.index, self.friction.ratio
        return np.array(
            [
                float(forces.limits[k] * ratio + NO_FORCE - abs(forces.joint_friction[k]))
                for forces in states.forces
            ]
        )

    def release(self, releases: Releases, states: StepStates) -> None:
        """Let it slide, unless others can bear what it cannot."""
        releases.slipping.add(self.index)


@dataclass(frozen=True)
class ContactSlideReversal(EventFunction):
    """The velocity of a sliding contact in its direction; at zero the contact reverses or
    sticks."""

    index: int
    unilateral: UnilateralConstraint
    direction: tuple[float, float]
    begins_at_zero = True
    changes_mode = True
    zeno_advice = FRICTION_ADVICE

    @property
    def name(self) -> str:
        """The name of the contact."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return the velocity in its direction."""
        found: Floats = states.velocities[:, list(self.unilateral.slip)] @ np.array(self.direction)
        return found

    def release(self, releases: Releases, states: StepStates) -> None:
        """Let its velocity be zero, if it has none across its direction."""
        v, way = states.velocities[0, list(self.unilateral.slip)], self.direction
        if abs(v[0] * way[1] - v[1] * way[0]) <= EVENT_TOLERANCES.still_velocity:
            releases.turning.update(self.unilateral.slip)


@dataclass(frozen=True)
class ContactStickLimit(EventFunction):
    """How much more tangential force a contact that sticks can bear before it slides."""

    index: int
    unilateral: UnilateralConstraint
    changes_mode = True
    zeno_advice = FRICTION_ADVICE

    @property
    def name(self) -> str:
        """The name of the contact."""
        return self.unilateral.name

    def values(self, states: StepStates) -> Floats:
        """Return the remaining friction force up to the limit."""
        k, most = self.index, self.unilateral.friction * self.unilateral.ratio
        return np.array(
            [
                float(most * forces.normal[k] + NO_FORCE - np.linalg.norm(forces.slip[k]))
                for forces in states.forces
            ]
        )

    def release(self, releases: Releases, states: StepStates) -> None:
        """Release it to slide against its friction."""
        force = states.forces[0].slip[self.index]
        push = force / max(float(np.linalg.norm(force)), 1e-300)
        releases.leaving[self.index] = (-float(push[0]), -float(push[1]))
