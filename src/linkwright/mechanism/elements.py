"""Force elements, actuators, and a choice of coordinates.

A class says all that a file may say of its kind of force, and checks it. `kinematics.force_kinds`
has the forces, one file a kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ZERO, Expression
from .bodies import GROUND
from .parts import ORIGIN, Part, Quantity, Scalar, Table, Vector, quantities

if TYPE_CHECKING:
    from .validate.elements import ForceChecks


class _Force(Part):
    """A force element."""

    @property
    def ends(self) -> tuple[str, ...]:
        """Frames or bodies between which it acts; none if it acts on one, or along a joint."""
        return ()

    def check(self, place: str, checks: ForceChecks) -> None:
        """Refuses what the mechanism does not have, or what means nothing."""


class Spring(_Force):
    """A spring and damper along the line between the origins of two frames or bodies."""

    type: Literal["spring"]
    between: tuple[str, str]
    stiffness: Annotated[Expression, Quantity("N/m")] = ZERO
    damping: Annotated[Expression, Quantity("N*s/m")] = ZERO
    length: Annotated[Expression, Quantity("m")] = Field(default=ZERO, description="at rest")

    @property
    def ends(self) -> tuple[str, ...]:
        return self.between

    def check(self, place: str, checks: ForceChecks) -> None:
        for i, end in enumerate(self.between):
            checks.point(end, f"{place}.between[{i}]")
        if self.between[0] == self.between[1]:
            where = f"{place}.between"
            raise MechanismError("both ends are the same", where=where, remedy="name two points")
        for key, number, quantity in quantities(self):
            checks.number(number, key, f"{place}.{key}", quantity.unit)


class Wrench(_Force):
    """A force and moment on a frame or body, expressions of t, coordinates and speeds."""

    type: Literal["wrench"]
    on: str
    force: Annotated[Vector, Quantity("N", 3)] = ORIGIN
    moment: Annotated[Vector, Quantity("N*m", 3)] = ORIGIN
    axes: str = Field(
        default="ground", description="the frame whose axes the components are given in"
    )

    def check(self, place: str, checks: ForceChecks) -> None:
        checks.point(self.on, f"{place}.on")
        checks.point(self.axes, f"{place}.axes")
        if self.on == GROUND:
            remedy = "name what the force acts on"
            raise MechanismError("ground does not move", where=f"{place}.on", remedy=remedy)
        for key, number, quantity in quantities(self):
            checks.expression(number, f"{place}.{key}")
            checks.dimension(number, f"{place}.{key}", quantity.unit)


class JointForce(_Force):
    """A force or moment along one freedom, an expression of t, coordinates and speeds."""

    type: Literal["joint"]
    on: str = Field(description="the freedom, by its coordinate: q1, tube.x")
    force: Annotated[Expression, Quantity("any")]

    def check(self, place: str, checks: ForceChecks) -> None:
        checks.freedom(self.on, f"{place}.on")
        checks.expression(self.force, f"{place}.force")


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
