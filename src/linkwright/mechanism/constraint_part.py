"""What all kinds of constraints have in common, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import Field, model_validator

from ..errors import MechanismError
from .parts import MechanismPart
from .strength import Strength

if TYPE_CHECKING:
    from .validate.constraint_checks import ConstraintValidator


class ConstraintPart(MechanismPart):
    """A constraint on the motion, as a file gives it."""

    @property
    def row_counts(self) -> tuple[int, int]:
        """The numbers of its equations of positions and of velocities."""
        return 1, 0

    @property
    def ends(self) -> tuple[str, ...]:
        """Frames or bodies that it acts on; none if it acts along coordinates."""
        return ()

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise a `MechanismError` where it refers to unknown parts, or has no meaning."""


class BreakableConstraint(ConstraintPart):
    """A constraint that a massless part holds, which may fail."""

    breaks: Strength | None = Field(default=None, description="force and impulse at which it fails")

    @model_validator(mode="after")
    def _check_no_moment(self) -> Self:
        """Raise where the strength limits a moment, which the part does not carry."""
        if self.breaks is not None and self.breaks.moment is not None:
            raise MechanismError(
                "carries no moment", where="breaks.moment", remedy="give a force or an impulse"
            )
        return self
