"""Force elements, and a choice of coordinates, as data.

A class has the keys that a file may give for its kind of force, and checks them. The forces are in
`kinematics.force_kinds`, one file for each kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression, parse_expression
from .bodies import GROUND
from .joints import PerDof
from .parts import (
    ORIGIN,
    MechanismPart,
    PartMatrixField,
    PartNumberField,
    PartTable,
    Scalar,
    Vector,
    part_numbers,
)

if TYPE_CHECKING:
    from .validate.force_checks import ForceElementValidator

_AIR_DENSITY = parse_expression("1.225")
"""Of air at sea level and 15 °C, kg/m³."""
_LOW_SPEED = parse_expression("0.1")
"""Forward speed below which the slip of a tyre is not divided by it any more, m/s."""


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
        checks.check_two_points(self.between, f"{place}.between")
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
        checks.check_moving_point(self.on, f"{place}.on")
        checks.check_point(self.axes, f"{place}.axes")
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


class BushingElement(_ForceElement):
    """Linear springs and dampers between two frames in all six directions: angles, then
    displacements, in the axes of the first frame."""

    type: Literal["bushing"]
    between: tuple[str, str]
    stiffness: Annotated[Vector, PartMatrixField("any", 6)] = (ZERO,) * 6
    damping: Annotated[Vector, PartMatrixField("any", 6)] = (ZERO,) * 6

    @property
    def ends(self) -> tuple[str, ...]:
        """The two frames or bodies."""
        return self.between

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where the ends are unknown or the same, an entry has wrong units, or the stiffness
        is not symmetric."""
        checks.check_two_points(self.between, f"{place}.between")
        for key, number, _ in part_numbers(self):
            name, index = key[:-1].split("[")
            matrix = getattr(self, name)
            i, j = divmod(int(index), 6) if len(matrix) == 36 else (int(index),) * 2
            unit = _BUSHING_UNITS[name][(i < 3) + (j < 3)]
            checks.check_number(number, name if i == j else "", f"{place}.{key}", unit)
            if len(matrix) == 36 and name == "stiffness":
                values = [checks.scope.finite_value(x, place) for x in (number, matrix[6 * j + i])]
                if values[0] != values[1]:
                    what, remedy = f"is not symmetric ({values[0]:g}, {values[1]:g})", "make it so"
                    raise MechanismError(what, where=f"{place}.{name}[{i}][{j}]", remedy=remedy)


_BUSHING_UNITS = {
    "stiffness": ("N/m", "N/rad", "N*m/rad"),
    "damping": ("N*s/m", "N*s/rad", "N*m*s/rad"),
}
"""Units of entries for two displacements, a displacement and an angle, two angles."""


class DragElement(_ForceElement):
    """Drag in a fluid at the origin of a frame or body: density · coefficient · area · u²/2 against
    its velocity u relative to the wind."""

    type: Literal["drag"]
    on: str = Field(description="frame or body; its origin is where the drag acts")
    area: Annotated[PerDof, PartNumberField("m^2", None)] = Field(
        description="frontal area; three of them: those seen along x, y, z of the frame"
    )
    coefficient: Annotated[Expression, PartNumberField("1")] = Field(
        default=ONE, description="of drag"
    )
    density: Annotated[Expression, PartNumberField("kg/m^3")] = Field(
        default=_AIR_DENSITY,
        description="of the fluid; default: air, 1.225 kg/m^3",
    )
    wind: Annotated[Vector, PartNumberField("m/s", 3)] = Field(
        default=ORIGIN, description="velocity of the fluid, ground axes; may depend on t"
    )

    @property
    def areas(self) -> Vector:
        """One frontal area, or three."""
        return self.area if isinstance(self.area, tuple) else (self.area,)

    @property
    def has_wind(self) -> bool:
        """Whether the fluid moves."""
        return self.wind != ORIGIN

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where the frame is unknown or ground, or a number is wrong."""
        checks.check_moving_point(self.on, f"{place}.on")
        if len(self.areas) not in (1, 3):
            what, remedy = f"has {len(self.areas)} numbers", "give 1 or 3 of them"
            raise MechanismError(what, where=f"{place}.area", remedy=remedy)
        for key, number, quantity in part_numbers(self):
            if key.startswith("wind"):
                checks.check_expression(number, f"{place}.{key}")
                checks.check_dimension(number, f"{place}.{key}", quantity.unit)
            else:
                checks.check_number(number, key, f"{place}.{key}", quantity.unit)


class TyreElement(_ForceElement):
    """A thin tyre on the plane z = 0 of a frame, with forces linear in its slip. It carries no
    load: a constraint or contact holds its height."""

    type: Literal["tyre"]
    wheel: str = Field(description="frame or body at the wheel's centre")
    radius: Annotated[Expression, PartNumberField("m")]
    axle: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=(ZERO, ZERO, ONE), description="direction of the axle, in the wheel's axes"
    )
    on: str = Field(default=GROUND, description="the plane's frame")
    longitudinal: Annotated[Expression, PartNumberField("N")] = Field(
        default=ZERO, description="force per unit of longitudinal slip"
    )
    cornering: Annotated[Expression, PartNumberField("N/rad")] = Field(
        default=ZERO, description="cornering stiffness: side force per radian of slip angle"
    )
    low_speed: Annotated[Expression, PartNumberField("m/s")] = Field(
        default=_LOW_SPEED,
        description="below it the tyre is a damper; default: 0.1 m/s",
    )

    @property
    def ends(self) -> tuple[str, ...]:
        """The wheel, and the plane's frame."""
        return self.wheel, self.on

    def check(self, place: str, checks: ForceElementValidator) -> None:
        """Raise where ends, axle or numbers are not valid."""
        checks.check_two_points((self.wheel, self.on), place)
        checks.check_direction(self.axle, f"{place}.axle")
        for key, number, quantity in part_numbers(self):
            if not key.startswith("axle"):
                checks.check_number(number, key, f"{place}.{key}", quantity.unit)


ForceElement = Annotated[
    Spring
    | WrenchElement
    | JointForce
    | BushingElement
    | DragElement
    | TyreElement
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
