"""Constraints as data: equations, gears, drives, distances, surfaces, rolling, knife edges.

A class has the keys that a file may give for its kind, and checks them. The equations are in
`kinematics.constraint_kinds`, one file for each kind. Joints that close a loop are
`Mechanism.loops`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression, names_in_expression
from .bodies import GROUND
from .constraint_part import BreakableConstraint, ConstraintPart
from .parts import PartNumberField, PartTable, Scalar, Vector
from .rolling_ellipsoid import RollingEllipsoidConstraint

if TYPE_CHECKING:
    from .validate.constraint_checks import ConstraintValidator


def check_coefficient_list(coefficients: Expression | Vector) -> None:
    """Raise where coefficients are not a list with entries."""
    if not isinstance(coefficients, tuple) or not coefficients:
        raise MechanismError(
            "is not a list of numbers", where="coefficients", remedy="write them as [c0, c1, …]"
        )


class EquationConstraint(ConstraintPart):
    """`position` = 0, an expression of coordinates and t, or `velocity` = 0, linear in
    velocities."""

    type: Literal["equation"]
    position: Annotated[Expression | None, PartNumberField("any", optional=True)] = None
    velocity: Annotated[Expression | None, PartNumberField("any", optional=True)] = None

    @model_validator(mode="after")
    def _check_one_equation(self) -> EquationConstraint:
        """Raise unless exactly one of position and velocity is given."""
        if (self.position is None) == (self.velocity is None):
            what = "neither" if self.position is None else "both"
            raise MechanismError(f"has {what} of position and velocity", remedy="give one of them")
        return self

    @property
    def row_counts(self) -> tuple[int, int]:
        """One equation of positions or one of velocities."""
        return (0, 1) if self.position is None else (1, 0)

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where names, units or the dependence on coordinates and velocities are wrong."""
        key = "velocity" if self.position is None else "position"
        number, where = getattr(self, key), f"{place}.{key}"
        kinds = checks.check_expression(number, where)
        checks.scope.infer_dimension(number, where)
        if key == "position":
            if "speed" in kinds:
                raise MechanismError("uses a speed", where=where, remedy="give it as velocity = …")
            if "coordinate" not in kinds:
                raise MechanismError("uses no coordinate", where=where, remedy="name one")
            return
        if "speed" not in kinds:
            remedy = "name one, such as dq1 for that of q1"
            raise MechanismError("uses no velocity", where=where, remedy=remedy)
        if not checks.is_linear_in_velocities(number):
            what = "is not linear in the velocities"
            raise MechanismError(what, where=where, remedy="make it linear")


class CouplingConstraint(ConstraintPart):
    """q of `joint` = Σ coefficients[k] · (q of `other`)^k."""

    type: Literal["coupling"]
    joint: str
    other: str | None = Field(
        default=None, description="none: the joint is held at coefficients[0]"
    )
    coefficients: Annotated[Vector, PartNumberField("any", None)]

    @model_validator(mode="after")
    def _check_some_coefficients(self) -> CouplingConstraint:
        """Raise where the coefficients are not a list with entries."""
        check_coefficient_list(self.coefficients)
        return self

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the joints do not have one coordinate each, or the coefficients have wrong
        units."""
        joint = checks.check_single_joint(self.joint, f"{place}.joint")
        other = None
        if self.other is not None:
            other = checks.check_single_joint(self.other, f"{place}.other")
            if self.other == self.joint:
                where, remedy = f"{place}.other", "name another joint"
                raise MechanismError("is the joint itself", where=where, remedy=remedy)
        elif len(self.coefficients) != 1:
            remedy = "give other = …, or one coefficient"
            raise MechanismError("has no other joint", where=place, remedy=remedy)
        for power, number in enumerate(self.coefficients):
            here = f"{place}.coefficients[{power}]"
            checks.check_number(number, "coefficients", here, "any")
            checks.check_ratio_dimension(number, here, joint, other, power)


class GearConstraint(ConstraintPart):
    """Σ factors · q = `offset`: gears, a rack and its pinion, a differential."""

    type: Literal["gear"]
    factors: PartTable[Scalar] = Field(description='by coordinate: { q1 = 1, q2 = "r2/r1" }')
    offset: Annotated[Expression, PartNumberField("any")] = ZERO

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where a factor is zero, or its coordinate is unknown."""
        if not self.factors:
            where = f"{place}.factors"
            raise MechanismError("is empty", where=where, remedy="name the coordinates")
        for name, factor in self.factors.items():
            checks.check_coordinate(name, f"{place}.factors")
            where = f"{place}.factors.{name}"
            if checks.scope.finite_value(factor, where) == 0:
                raise MechanismError("is zero", where=where, remedy="leave the coordinate out")
        checks.scope.finite_value(self.offset, f"{place}.offset")


class DriveConstraint(ConstraintPart):
    """A coordinate that follows a given function of time."""

    type: Literal["drive"]
    on: str = Field(description="the coordinate: q1, tube.x")
    position: Annotated[Expression, PartNumberField("any")] = Field(
        description="an expression of t"
    )

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the coordinate is unknown, or its position is not a function of t."""
        checks.check_coordinate(self.on, f"{place}.on")
        checks.check_time_function(self.position, f"{place}.position")


class DistanceConstraint(BreakableConstraint):
    """The origins of two frames or bodies keep their distance: a rod without mass."""

    type: Literal["distance"]
    between: tuple[str, str]
    length: Annotated[Expression, PartNumberField("m")] = Field(
        description="may be an expression of t"
    )

    @property
    def ends(self) -> tuple[str, ...]:
        """The two frames or bodies."""
        return self.between

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the ends are unknown or the same, or the length is not positive."""
        one, other = self.between
        checks.check_two_points(place, **{"between[0]": one, "between[1]": other})
        where = f"{place}.length"
        checks.check_time_function(self.length, where)
        if "t" not in names_in_expression(self.length):
            checks.check_number(self.length, "length", where, "m")
            if checks.scope.finite_value(self.length, where) <= 0:
                remedy = "give a length above 0, or close a spherical loop"
                raise MechanismError("is not a positive length", where=where, remedy=remedy)


class LengthConstraint(ConstraintPart):
    """A named length is Σ coefficients[k] · (the length `other`)^k; without another, one
    coefficient is its value, which may be an expression of t."""

    type: Literal["length"]
    length: str
    other: str | None = Field(
        default=None, description="none: the length is held at coefficients[0]"
    )
    coefficients: Annotated[Vector, PartNumberField("any", None)]

    @model_validator(mode="after")
    def _check_some_coefficients(self) -> LengthConstraint:
        """Raise where the coefficients are not a list with entries."""
        check_coefficient_list(self.coefficients)
        return self

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the lengths are unknown or the same, or the coefficients do not fit."""
        checks.check_length(self.length, f"{place}.length")
        if self.other is None:
            if len(self.coefficients) != 1:
                remedy = "give other = …, or one coefficient"
                raise MechanismError("has no other length", where=place, remedy=remedy)
            checks.check_time_function(self.coefficients[0], f"{place}.coefficients[0]")
            return
        checks.check_length(self.other, f"{place}.other")
        if self.other == self.length:
            where, remedy = f"{place}.other", "name another length"
            raise MechanismError("is the length itself", where=where, remedy=remedy)
        for power, number in enumerate(self.coefficients):
            checks.check_number(number, "coefficients", f"{place}.coefficients[{power}]", "any")


class SurfaceConstraint(ConstraintPart):
    """The origin of a frame or body stays on a surface that is fixed in another."""

    type: Literal["surface"]
    point: str
    frame: str = Field(default=GROUND, description="x, y, z are the point's coordinates in it")
    surface: Annotated[Expression, PartNumberField("any")] = Field(
        description="is 0 on the surface: an expression of x, y, z and t"
    )

    @property
    def ends(self) -> tuple[str, ...]:
        """The point, and the frame that carries the surface."""
        return self.point, self.frame

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where point or frame are unknown, or the equation uses none of x, y, z."""
        checks.check_two_points(place, point=self.point, frame=self.frame)
        for axis in "xyz":
            if axis in checks.mechanism.parameters:
                what = f"'{axis}' is a parameter and a coordinate of the point"
                raise MechanismError(what, where=place, remedy="rename the parameter")
        where = f"{place}.surface"
        if "coordinate" not in checks.check_point_expression(self.surface, where):
            remedy = "give the surface's equation"
            raise MechanismError("uses none of x, y, z", where=where, remedy=remedy)


class RollingConstraint(BreakableConstraint):
    """A thin wheel rolls without slipping: on the plane z = 0 of a frame, or on another wheel
    whose axle is parallel to its own."""

    type: Literal["rolling"]
    wheel: str = Field(description="frame or body at the wheel's centre")
    radius: Annotated[Expression, PartNumberField("m")]
    axle: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=(ZERO, ZERO, ONE), description="direction of the axle, in the wheel's axes"
    )
    on: str = Field(default=GROUND, description="the plane's frame, or the other wheel")
    other_radius: Annotated[Expression | None, PartNumberField("m", optional=True)] = Field(
        default=None, description="of the other wheel; negative for a ring that is rolled in"
    )
    side: Literal["+z", "-z"] | None = Field(
        default=None,
        description="the side of the plane that the wheel stands on; default: that of its centre "
        "in the file's pose, or, with its centre in the plane, the side against gravity",
    )

    @property
    def row_counts(self) -> tuple[int, int]:
        """One equation of positions; two of velocities on a plane, one on a wheel."""
        return (1, 2) if self.other_radius is None else (1, 1)

    @property
    def ends(self) -> tuple[str, ...]:
        """The wheel, and the plane's frame or the other wheel."""
        return self.wheel, self.on

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where ends, axle or radii make no sense."""
        checks.check_two_points(place, wheel=self.wheel, on=self.on)
        checks.check_direction(self.axle, f"{place}.axle")
        checks.check_number(self.radius, "radius", f"{place}.radius", "m")
        radius = checks.scope.finite_value(self.radius, f"{place}.radius")
        if radius <= 0:
            where = f"{place}.radius"
            raise MechanismError(
                "is not a positive radius", where=where, remedy="give a length above 0"
            )
        if self.other_radius is None:
            return
        where = f"{place}.other_radius"
        checks.check_number(self.other_radius, "other_radius", where, "m")
        other = checks.scope.finite_value(self.other_radius, where)
        if other == 0 or radius + other == 0:
            what = "leaves no distance between the axles"
            raise MechanismError(what, where=where, remedy="give another radius")
        if self.side is not None:
            what, where = "only planes have sides", f"{place}.side"
            raise MechanismError(what, where=where, remedy="remove it")


class KnifeEdgeConstraint(BreakableConstraint):
    """A blade that cannot slip sideways: the frame's origin has no velocity along `normal`."""

    type: Literal["knife-edge"]
    on: str = Field(description="frame or body that carries the blade")
    normal: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=(ZERO, ONE, ZERO), description="sideways direction, in the axes of `on`"
    )
    relative_to: str = Field(default=GROUND, description="the body or frame that it cuts into")

    @property
    def row_counts(self) -> tuple[int, int]:
        """One equation of velocities."""
        return 0, 1

    @property
    def ends(self) -> tuple[str, ...]:
        """The blade's frame, and the frame that it cuts into."""
        return self.on, self.relative_to

    def check(self, place: str, checks: ConstraintValidator) -> None:
        """Raise where the frames are unknown or the same, or the normal is zero."""
        checks.check_two_points(place, on=self.on, relative_to=self.relative_to)
        checks.check_direction(self.normal, f"{place}.normal")


Constraint = Annotated[
    EquationConstraint
    | CouplingConstraint
    | GearConstraint
    | DriveConstraint
    | DistanceConstraint
    | LengthConstraint
    | SurfaceConstraint
    | RollingConstraint
    | RollingEllipsoidConstraint
    | KnifeEdgeConstraint,
    Field(discriminator="type"),
]
