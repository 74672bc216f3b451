"""Constraints and force elements: their place in the data.

Loops are joints that close a chain (`Mechanism.loops`). The derivations that treat these
come with their own issues; until then a mechanism that has any is refused, never
computed without them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ZERO, Expression
from .parts import ORIGIN, Part, Quantity, Vector


class EquationConstraint(Part):
    """`position` = 0, an expression of coordinates and t, or `velocity` = 0, linear in speeds."""

    type: Literal["equation"]
    position: Annotated[Expression | None, Quantity("any", optional=True)] = None
    velocity: Annotated[Expression | None, Quantity("any", optional=True)] = None

    @model_validator(mode="after")
    def _one_equation(self) -> EquationConstraint:
        if (self.position is None) == (self.velocity is None):
            what = "neither" if self.position is None else "both"
            raise MechanismError(f"has {what} of position and velocity", remedy="give one of them")
        return self


class CouplingConstraint(Part):
    """q of `joint` = Σ coefficients[k] · (q of `other`)^k."""

    type: Literal["coupling"]
    joint: str
    other: str | None = Field(
        default=None, description="none: the joint is held at coefficients[0]"
    )
    coefficients: Annotated[Vector, Quantity("any", None)]

    @model_validator(mode="after")
    def _some_coefficients(self) -> CouplingConstraint:
        if not isinstance(self.coefficients, tuple) or not self.coefficients:
            remedy = "write them as [c0, c1, …]"
            raise MechanismError("is no list of numbers", where="coefficients", remedy=remedy)
        return self


Constraint = Annotated[EquationConstraint | CouplingConstraint, Field(discriminator="type")]


class Spring(Part):
    """A spring and damper along the line between the origins of two frames or bodies."""

    type: Literal["spring"]
    between: tuple[str, str]
    stiffness: Annotated[Expression, Quantity("N/m")] = ZERO
    damping: Annotated[Expression, Quantity("N*s/m")] = ZERO
    length: Annotated[Expression, Quantity("m")] = Field(default=ZERO, description="at rest")


class Wrench(Part):
    """A force and moment on a frame or body, expressions of t, coordinates and speeds."""

    type: Literal["wrench"]
    on: str
    force: Annotated[Vector, Quantity("N", 3)] = ORIGIN
    moment: Annotated[Vector, Quantity("N*m", 3)] = ORIGIN
    axes: str = Field(
        default="ground", description="the frame whose axes the components are given in"
    )


Force = Annotated[Spring | Wrench, Field(discriminator="type")]
