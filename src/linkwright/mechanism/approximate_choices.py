"""The choices of approximate dynamics: springs and dampers in place of constraints."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ..expressions import Expression
from .parts import MechanismPart, PartNumberField


class ApproximateChoices(MechanismPart):
    """Options of `by = "approximate"`; Linkwright chooses those that are not given from the
    mechanism."""

    beta: Annotated[Expression | None, PartNumberField("N/m", optional=True)] = Field(
        default=None, description="stiffness β of every constraint (N m/rad for angles)"
    )
    gamma: Annotated[Expression | None, PartNumberField("s", optional=True)] = Field(
        default=None, description="time constant γ of the damping βγ"
    )
    iterations: int = Field(
        default=0, ge=0, le=100, description="corrections of the multipliers in every evaluation"
    )
    bodies: tuple[str, ...] | None = Field(
        default=None, description="bodies whose centres of mass are coordinates too"
    )
