"""Force elements, and a choice of coordinates, as data.

A class has the keys that a file may give for its kind of force, and checks them. The forces are in
`kinematics.force_kinds`, one file for each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ZERO, Expression
from .bodies import GROUND
from .parts import ORIGIN, MechanismPart, PartNumberField, PartTable, Scalar, Vector, part_numbers

if TYPE_CHECKING:
    from .validate.force_checks import ForceElementValidator


class _ForceElement(MechanismPart):
    """A force element, as a file gives it."""

    @property
    def ends(self) -> tuple[str, ...]:
        """Frames or bodies between which it acts; none if it acts on one, or along a joint."""
        return ()

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise a `MechanismError` where it refers to unknown parts, or has no meaning."""


class Spring(_ForceElement):
    """A spring and damper along the line between the origins of two frames or bodies."""

    type: Literal["spring"]
    between: tuple[str, str]
    stiffness: Annotated[Expression, PartNumberField("N/m")] = ZERO
    damping: Annotated[Expression, PartNumberField("N*s/m")] = ZERO
    length: Annotated[Expression, PartNumberField("m")] = Field(default=ZERO, description="at rest")

    @property
    def ends(self) -> tuple[str, ...]:
        """The two frames or bodies."""
        return self.between

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where the ends are unknown or the same, or a number is wrong."""
        for i, end in enumerate(self.between):
            checks.check_point(end, f"{place}.between[{i}]")
        if self.between[0] == self.between[1]:
            where = f"{place}.between"
            raise MechanismError("both ends are the same", where=where, remedy="name two points")
        for key, number, quantity in part_numbers(self):
            checks.check_number(number, key, f"{place}.{key}", quantity.unit)


class WrenchElement(_ForceElement):
    """A force and moment on a frame or body, expressions of t, coordinates and velocities."""

    type: Literal["wrench"]
    on: str
    force: Annotated[Vector, PartNumberField("N", 3)] = ORIGIN
    moment: Annotated[Vector, PartNumberField("N*m", 3)] = ORIGIN
    axes: str = Field(
        default="ground", description="the frame whose axes the components are given in"
    )

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where frames are unknown, the wrench acts on ground, or units are wrong."""
        checks.check_point(self.on, f"{place}.on")
        checks.check_point(self.axes, f"{place}.axes")
        if self.on == GROUND:
            remedy = "name what the force acts on"
            raise MechanismError("ground does not move", where=f"{place}.on", remedy=remedy)
        for key, number, quantity in part_numbers(self):
            checks.check_expression(number, f"{place}.{key}")
            checks.check_dimension(number, f"{place}.{key}", quantity.unit)


class JointForce(_ForceElement):
    """A force or moment along one degree of freedom, an expression of t, coordinates and
    velocities."""

    type: Literal["joint"]
    on: str = Field(description="the degree of freedom, by its coordinate: q1, tube.x")
    force: Annotated[Expression, PartNumberField("any")]

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where the degree of freedom or a name in the force is unknown."""
        checks.check_dof(self.on, f"{place}.on")
        checks.check_expression(self.force, f"{place}.force")


class LengthLoad(_ForceElement):
    """A tension along a named length, an expression of t, coordinates, lengths and their rates."""

    type: Literal["length"]
    along: str = Field(description="the length; a positive force pulls, it shortens the length")
    force: Annotated[Expression, PartNumberField("any")]

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where the length or a name in the force is unknown."""
        checks.check_length(self.along, f"{place}.along")
        checks.check_expression(self.force, f"{place}.force")


ForceElement = Annotated[
    Spring
    | WrenchElement
    | JointForce
    | LengthLoad,
    Field(discriminator="type"),
]  # fmt: skip


class ChosenCoordinates(MechanismPart):
    """Coordinates p in place of the joint variables q: q = f(p, t) as `joints`, with the `names` of
    p, as many as joint variables or fewer; or p = g(q, t) as `new`, as many, affine in q."""

    names: tuple[str, ...] = ()
    joints: PartTable[Scalar] = Field(default_factory=PartTable, description='q1 = "p1", …')
    new: PartTable[Scalar] = Field(default_factory=PartTable, description='p2 = "q1 + q2", …')

    @model_validator(mode="after")
    def _check_one_direction(self) -> ChosenCoordinates:
        """Raise unless exactly one of the tables joints (with names) and new is given."""
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
    def own_names(self) -> tuple[str, ...]:
        """The names of p, in their order."""
        return self.names or tuple(self.new)
