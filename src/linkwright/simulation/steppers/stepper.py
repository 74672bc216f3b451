"""The protocol of all integrators: advance, evaluate the last step, restart."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ...errors import UnsupportedError
from ...types import Floats
from ..run_context import RunContext

DenseOutput = Callable[[float], Floats]
"""y at a time."""


class Stepper(Protocol):
    """One integration at (t, y), which goes no further than the end that its last restart set.

    `advance` makes one step, or several: a stepper in compiled code may go on until its end, or
    until a step in which an event function may change its sign. Events are searched from
    `step_start` on; the dense output must hold there, and at all samples since the last call.
    """

    @property
    def t(self) -> float:
        """The time that is reached."""
        ...

    @property
    def y(self) -> Floats:
        """The state that is reached."""
        ...

    @property
    def step_start(self) -> float:
        """The time at which the last step began."""
        ...

    @property
    def has_no_memory(self) -> bool:
        """Whether `correct` costs nothing, since steps do not depend on earlier ones."""
        ...

    @property
    def planned_step(self) -> float:
        """The length of the next step, s; 0 if it is not known."""
        ...

    @property
    def look_ahead(self) -> float:
        """How far beyond t a step that failed may have evaluated the rates, s."""
        ...

    def advance(self) -> str | None:
        """Step forward; return the reason if that is impossible."""
        ...

    def dense_output(self) -> DenseOutput:
        """Return y as a function of times of the last step."""
        ...

    def correct(self, y: Floats) -> None:
        """Replace the state at t by one nearby."""
        ...

    def restart(self, t: float, y: Floats, end: float) -> None:
        """Start at (t, y), and go no further than the end."""
        ...


@dataclass(frozen=True)
class StepOptions:
    """Options for the steps of a stepper.

    Parameters
    ----------
    rtol, atol : float
        Relative and absolute tolerance of a step.
    max_step : float
        The largest step, s.
    step : float, optional
        The length of fixed steps, s.
    spacing : float
        The time between two samples, s.
    """

    rtol: float = 1e-9
    atol: float = 1e-10
    max_step: float = math.inf
    step: float | None = None
    spacing: float = math.inf


MakeStepper = Callable[[RunContext, float, Floats, float, StepOptions], Stepper]
"""(context, t, y, end, options) → a stepper at (t, y)."""


def refuse_baumgarte(context: RunContext, what: str) -> None:
    """Refuse Baumgarte's terms for steps that hold the constraints themselves."""
    if context.rhs.baumgarte is not None:
        raise UnsupportedError(
            f"{what} hold the constraints exactly", remedy="leave stabilization out"
        )


def refuse_mode_forces(context: RunContext, integrator: str) -> None:
    """Refuse stops, contacts and friction for integrators that take rates as expressions."""
    if context.has_mode_forces:
        raise UnsupportedError(
            f"'{integrator}' does not support stops, contacts or sticking friction",
            where=context.equations.mechanism.name,
            remedy="use dop853, radau or bdf",
        )
