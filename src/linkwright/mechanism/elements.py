"""Constraints and force elements: their place in the data.

Loops are joints that close a chain (`Mechanism.loops`). The derivations that treat these
come with their own issues; until then a mechanism that has any is refused, never
computed without them.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ..expressions import ZERO, Expression
from .parts import ORIGIN, Part, Quantity, Vector


class EquationConstraint(Part):
    """`position` = 0, an expression of coordinates and t, or `velocity` = 0, linear in speeds."""

    type: Literal["equation"]
    position: Annotated[Expression | None, Quantity("any", optional=True)] = None
    velocity: Annotated[Expression | None, Quantity("any", optional=True)] = None


class CouplingConstraint(Part):
    """q of `joint` = Σ coefficients[k] · (q of `other`)^k."""

    type: Literal["coupling"]
    joint: str
    other: str | None = Field(
        default=None, description="none: the joint is held at coefficients[0]"
    )
    coefficients: Annotated[Vector, Quantity("any", None)]


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
