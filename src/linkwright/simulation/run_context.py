"""What belongs to one run: its inputs, the forces of its mode, its counts and notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..types import Floats
from .input_forces import InputForces
from .right_hand_side import RightHandSide
from .singularity_log import SingularityLog


class ModeForceFunction(Protocol):
    """Generalized forces of friction, stops and contacts in the present mode of a run."""

    def push(self, t: float, q: Floats, qd: Floats, tau: Floats) -> Floats:
        """Return the forces at a state under inputs τ."""
        ...


@dataclass
class StepCounts:
    """Counts of the steps of a run."""

    evaluations: int = 0
    rejected: int = 0
    jacobians: int = 0
    inner_steps: int | None = None
    """Steps that a stepper makes inside one of its calls, if it reports them."""

    def add(
        self,
        *,
        evaluations: int = 0,
        rejected: int = 0,
        jacobians: int = 0,
        inner_steps: int | None = None,
    ) -> None:
        """Add the counts of a step."""
        self.evaluations += evaluations
        self.rejected += rejected
        self.jacobians += jacobians
        if inner_steps is not None:
            self.inner_steps = (self.inner_steps or 0) + inner_steps


class RunContext:
    """The right-hand side of one run: with its inputs and the forces of its mode.

    Everything that changes during a run is here or in the events; `rhs` is shared by runs.
    """

    def __init__(
        self,
        rhs: RightHandSide,
        mode_forces: ModeForceFunction | None = None,
        *,
        crosses_kinks: bool = False,
    ) -> None:
        self.rhs, self.space, self.names = rhs, rhs.space, rhs.names
        self.equations, self.force_law, self.model = rhs.equations, rhs.force_law, rhs.model
        self.inputs = InputForces(rhs, crosses_kinks=crosses_kinks)
        self.mode_forces = mode_forces
        self.counts = StepCounts()
        self.singularities = SingularityLog()
        self.closure_error = 0.0
        """The residual of the constraints in the last projected state, m or rad."""

    @property
    def has_mode_forces(self) -> bool:
        """Whether friction, stops or contacts may act."""
        return self.mode_forces is not None

    def push(self, t: float, y: Floats) -> Floats:
        """Return the forces of the present mode at a state."""
        if self.mode_forces is None:
            return np.zeros(self.names.nv)
        return self.mode_forces.push(t, *self.space.motion(y), self.inputs.forces(t, y))

    def numeric_inputs(self, t: float, y: Floats) -> tuple[Floats, Floats]:
        """Return w and the forces of the present mode at a state."""
        return self.inputs.numeric_inputs(t, y), self.push(t, y)

    def rates(self, t: float, y: Floats) -> Floats:
        """Return ẏ, and count the evaluation."""
        self.counts.add(evaluations=1)
        return self.rhs.rates(t, y, *self.numeric_inputs(t, y))

    def jacobian(self, t: float, y: Floats) -> Floats:
        """Return ∂ẏ/∂y for stiff methods, without the derivatives of the forces of the mode, and
        count it."""
        self.counts.add(jacobians=1)
        return self.rhs.jacobian(t, y, *self.numeric_inputs(t, y))

    def project(self, t: float, y: Floats, *, is_polished: bool = False) -> Floats:
        """Return y with constraints, joints of free bodies and lengths of quaternions exact.

        A polished state is exact to the last bit. It belongs to a trial step, so it is not noted
        among the singular configurations.
        """
        space = self.space
        if space.projection is None and not space.can_leave_joints:
            return y
        q, qd = space.motion(y)
        q = space.normalize(q)
        if space.projection is not None:
            found = space.projection.project(t, q, qd, is_polished=is_polished)
            if space.projection.position_rows:
                self.closure_error = found.residual
            if not is_polished:
                self.note_singularity(t, space.projection.weakest_at(t, found.q))
            q, qd = found.q, found.qd
        return space.with_motion(y, q, qd)

    def note_singularity(self, t: float, weakest: float) -> None:
        """Note the smallest singular value of the constraints at a time."""
        if self.space.projection is not None:
            self.singularities.note(t, self.space.projection.share_of_usual(weakest))
