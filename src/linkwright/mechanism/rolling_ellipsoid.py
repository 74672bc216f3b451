"""Ellipsoids that roll on a plane, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from ..errors import MechanismError
from .bodies import GROUND
from .constraint_part import ConstraintPart
from .parts import PartNumberField, Vector

if TYPE_CHECKING:
    from .validate.constraint_checks import ConstraintValidator


class RollingEllipsoidConstraint(ConstraintPart):
    """An ellipsoid rolls without slipping on the plane z = 0 of a frame."""

    type: Literal["rolling-ellipsoid"]
    ellipsoid: str = Field(description="frame or body at its centre, with its axes")
    semi_axes: Annotated[Vector, PartNumberField("m", 3)] = Field(
        description="along x, y, z of the frame"
    )
    on: str = Field(default=GROUND, description="the plane's frame")
    side: Literal["+z", "-z"] = Field(
        default="+z", description="the side of the plane that it rolls on"
    )

    @property
    def row_counts(self) -> tuple[int, int]:
        """One equation of positions, two of velocities."""
        return 1, 2

    @property
    def ends(self) -> tuple[str, ...]:
        """The ellipsoid, and the plane's frame."""
        return self.ellipsoid, self.on

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the ends are unknown or the same, or a semi-axis is not positive."""
        checks.check_two_points(place, ellipsoid=self.ellipsoid, on=self.on)
        for k, number in enumerate(self.semi_axes):
            where = f"{place}.semi_axes[{k}]"
            checks.check_number(number, "semi_axes", where, "m")
            if checks.scope.finite_value(number, where) <= 0:
                raise MechanismError(
                    "is not a positive length", where=where, remedy="give a length above 0"
                )
