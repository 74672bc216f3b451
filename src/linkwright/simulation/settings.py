"""The settings of a run: checked once, passed on as one object."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..errors import LinkwrightError
from ..mechanism import Mechanism
from ..types import Floats, VectorLike
from .argument_checks import sample_times
from .events.event_parts import EventParts
from .events.user_event import Event
from .fixed_steps.tableaus import FIXED_STEP_METHODS
from .preparation import Preparation
from .provenance import stored_settings
from .steppers.fixed_stepper import DEFAULT_STEP
from .steppers.stepper import MakeStepper, StepOptions
from .steppers.stepper_choice import check_step_options, stepper_named

STOPS = ("stop", "impact", "ignore")
"""What limits without a restitution do: end the run, act as stops, or have no effect."""

IMPACTS = ("together", "one by one")
"""How impacts at one instant are solved."""

_RARE = ("after", "sensitivity", "parameters")
"""Settings that files store only if they are given."""


@dataclass(frozen=True, eq=False)
class Settings:
    """How a run is made; the parameters of `simulate`, checked.

    Parameters
    ----------
    t : float
        Duration, s.
    q0, qd0 : array or mapping, optional
        Coordinates and velocities at the start, as given.
    by : str
        The formulation.
    integrator : str
        The integrator.
    rtol, atol : float
        Relative and absolute tolerance of a step.
    samples : int
        Number of samples.
    max_step, step : float, optional
        Largest step, and length of fixed steps, s.
    stabilization : str or mapping
        How constraints are held.
    coordinates : str
        The coordinates that are integrated.
    events : mapping, optional
        The user's events by name.
    stops, impacts : str
        What limits do, and how impacts at one instant are solved.
    after : str, optional
        The member whose failure this run follows.
    sensitivity : sequence of str, optional
        What the motion is differentiated by.
    parameters : mapping, optional
        Values of parameters by name.
    """

    t: float = 1.0
    q0: VectorLike | None = None
    qd0: VectorLike | None = None
    by: str = "recursive"
    integrator: str = "dop853"
    rtol: float = 1e-9
    atol: float = 1e-10
    samples: int = 501
    max_step: float = math.inf
    step: float | None = None
    stabilization: str | Mapping[str, float] = "projection"
    coordinates: str = "all"
    events: Mapping[str, str | Callable[..., float] | Event] | None = None
    stops: str = "stop"
    impacts: str = "together"
    after: str | None = None
    sensitivity: Sequence[str] | None = None
    parameters: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        """Check what can be checked without a mechanism."""
        _ = self.make_stepper, self.times, self.step_options
        for value, known, what in (
            (self.stops, STOPS, "stops"),
            (self.impacts, IMPACTS, "impacts"),
        ):
            if value not in known:
                remedy = f"use one of {', '.join(known)}"
                raise LinkwrightError(f"{what} = {value!r} is not known", remedy=remedy)

    @cached_property
    def make_stepper(self) -> MakeStepper:
        """The function that makes the stepper."""
        return stepper_named(self.integrator, self.coordinates)

    @cached_property
    def times(self) -> Floats:
        """The times of the samples, s."""
        return sample_times(self.t, self.samples)

    @cached_property
    def step_options(self) -> StepOptions:
        """The options of the stepper."""
        return check_step_options(
            self.integrator,
            rtol=self.rtol,
            atol=self.atol,
            max_step=self.max_step,
            step=self.step,
            spacing=float(self.times[1]),
        )

    @property
    def tolerances(self) -> dict[str, float]:
        """The numbers that control the steps of compiled code."""
        options = self.step_options
        return {"rtol": options.rtol, "atol": options.atol, "max_step": options.max_step}

    def find_event_parts(self, prepared: Preparation, mechanism: Mechanism) -> EventParts | None:
        """Return what may happen during a run; None if nothing can."""
        return prepared.event_parts(mechanism, self.events, self.stops, self.impacts)

    @property
    def has_fixed_steps(self) -> bool:
        """Whether steps have a fixed length, and go across kinks of tables."""
        return self.integrator in FIXED_STEP_METHODS

    @property
    def fixed_step(self) -> float | None:
        """The length of fixed steps, s; None for adaptive ones."""
        return (self.step or DEFAULT_STEP) if self.has_fixed_steps else None

    def serialized(self) -> dict[str, Any]:
        """Return the settings in the form that a run and its file store: numbers, texts, lists,
        tables."""
        fields = {
            name: getattr(self, name)
            for name in self.__dataclass_fields__
            if name not in _RARE or getattr(self, name) is not None
        }
        found: dict[str, Any] = {**stored_settings(fields)}
        return found
