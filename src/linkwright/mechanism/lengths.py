"""Named lengths: scalars that depend on the coordinates, and what acts along them.

A length is that of a path over points, or a linear combination of coordinates and other lengths (a
fixed tendon of MJCF). Along a length there can be, as along the coordinate of a joint, a spring, a
damper, friction and limits, and also a force law of its own.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .joints import PerDof
from .parts import MechanismPart, PartNumberField, PartTable, Scalar

LENGTH_SYMBOL, LENGTH_RATE_SYMBOL = "L", "Ldot"
"""The names of the length and of its rate in its own law of force."""


class LengthLimits(MechanismPart):
    """The range of a length; at its ends `simulate` ends, or there are stops with restitution."""

    lower: Annotated[Expression | None, PartNumberField("position", optional=True)] = None
    upper: Annotated[Expression | None, PartNumberField("position", optional=True)] = None
    restitution: Annotated[Expression | None, PartNumberField("1", optional=True)] = Field(
        default=None, description="makes lower and upper stops with this restitution: 0 to 1"
    )


class Length(MechanismPart):
    """The length of a path over points, or Σ factors · (coordinates and other lengths); a positive
    force pulls: it acts to shorten the length."""

    path: tuple[str, ...] = Field(
        default=(),
        description="two or more frames or bodies; it runs straight from one to the next",
    )
    factors: PartTable[Scalar] = Field(
        default_factory=PartTable,
        description='by coordinate, or by a length above it: { q1 = 1, q2 = "r2/r1" }',
    )
    stiffness: Annotated[Expression, PartNumberField("stiffness")] = Field(
        default=ZERO, description="of a spring: pulls by stiffness * (L - rest)"
    )
    rest: Annotated[PerDof, PartNumberField("position", None)] = Field(
        default=ZERO,
        description="length without force; [from, to] for a range in which it is slack",
    )
    damping: Annotated[Expression, PartNumberField("damping")] = Field(
        default=ZERO, description="viscous: pulls by damping * Ldot"
    )
    friction: Annotated[Expression, PartNumberField("effort")] = Field(
        default=ZERO, description="Coulomb: pulls by friction * sign(Ldot)"
    )
    smoothing: Annotated[Expression, PartNumberField("speed")] = Field(
        default=ZERO, description="if not 0, sign(Ldot) becomes tanh(Ldot / smoothing)"
    )
    static_ratio: Annotated[Expression, PartNumberField("1")] = Field(
        default=ONE, description="static over kinetic friction: 1 or more"
    )
    armature: Annotated[Expression, PartNumberField("any")] = Field(
        default=ZERO, description="inertia that moves with a combination of coordinates"
    )
    limits: LengthLimits = Field(default_factory=LengthLimits)
    force: Annotated[Expression | None, PartNumberField("effort", optional=True)] = Field(
        default=None, description='its own law, of L and Ldot: "k*(L - L0)^3 + c*Ldot"'
    )
    energy: Annotated[Expression | None, PartNumberField("energy", optional=True)] = Field(
        default=None,
        description="its own potential, of L: pulls by its derivative; force is then a loss",
    )

    @model_validator(mode="after")
    def _check_one_kind(self) -> Length:
        """Raise unless exactly one of path and factors is given."""
        if bool(self.path) == bool(self.factors):
            what = "neither" if not self.path else "both"
            raise MechanismError(f"has {what} of path and factors", remedy="give one of them")
        if len(self.path) == 1:
            raise MechanismError("has one point", where="path", remedy="name two points, or more")
        if self.path and self.armature != ZERO:
            raise MechanismError(
                "has no meaning for a path", where="armature", remedy="give bodies mass"
            )
        if isinstance(self.rest, tuple) and len(self.rest) != 2:
            raise MechanismError(
                f"has {len(self.rest)} numbers",
                where="rest",
                remedy="give one, or [from, to] where the length is slack",
            )
        return self

    @property
    def rest_range(self) -> tuple[Expression, Expression]:
        """The ends of the range in which the spring is slack; one number if it is never slack."""
        if isinstance(self.rest, tuple):
            return self.rest[0], self.rest[1]
        return self.rest, self.rest

    @property
    def has_forces(self) -> bool:
        """Whether something acts along the length beside its limits."""
        numbers = (self.stiffness, self.damping, self.friction)
        return any(x != ZERO for x in numbers) or self.force is not None or self.energy is not None
