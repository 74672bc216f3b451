"""Force elements, actuators, and a choice of coordinates."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ZERO, Expression
from .parts import ORIGIN, Part, Quantity, Scalar, Table, Vector


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


class JointForce(Part):
    """A force or moment along one freedom, an expression of t, coordinates and speeds."""

    type: Literal["joint"]
    on: str = Field(description="the freedom, by its coordinate: q1, tube.x")
    force: Annotated[Expression, Quantity("any")]


Force = Annotated[Spring | Wrench | JointForce, Field(discriminator="type")]


class Actuator(Part):
    """A drive u that does the work u · d(moves): τ = B u with B = (∂moves/∂q)ᵀ."""

    moves: Annotated[Expression, Quantity("any")] = Field(
        description="what it drives, an expression of coordinates: q2 - q1"
    )


class Coordinates(Part):
    """Coordinates p in place of the joints' variables q, as many: q = f(p) as `joints`, with
    the `names` of p; or p = g(q) as `new`, which must be affine in q."""

    names: tuple[str, ...] = ()
    joints: Table[Scalar] = Field(default_factory=Table, description='q1 = "p1", …')
    new: Table[Scalar] = Field(default_factory=Table, description='p2 = "q1 + q2", …')

    @model_validator(mode="after")
    def _one_way(self) -> Coordinates:
        if bool(self.joints) == bool(self.new):
            raise MechanismError(
                "gives both or neither of joints and new", remedy="give one of the two tables"
            )
        if bool(self.joints) != bool(self.names):
            raise MechanismError(
                "names go with joints, and joints with names", remedy="list the new names"
            )
        return self

    @property
    def own(self) -> tuple[str, ...]:
        """The names of p, in their order."""
        return self.names or tuple(self.new)
