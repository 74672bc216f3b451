"""Constraints as data: equations, gears, drives, distances, surfaces, rolling, knife edges.

Joints that close a loop are `Mechanism.loops`. Which equations all these stand for is said in
`kinematics.constraints`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .bodies import GROUND
from .parts import Part, Quantity, Scalar, Table, Vector
from .strength import Strength


class _Constraint(Part):
    """What restricts the motion; `rows` counts its equations of positions and of speeds."""

    @property
    def rows(self) -> tuple[int, int]:
        return 1, 0


class _Member(_Constraint):
    """A constraint that a part without mass holds, which may fail."""

    breaks: Strength | None = Field(default=None, description="force and impulse at which it fails")

    @model_validator(mode="after")
    def _has_no_moment(self) -> Self:
        if self.breaks is not None and self.breaks.moment is not None:
            raise MechanismError(
                "carries no moment", where="breaks.moment", remedy="give a force or an impulse"
            )
        return self


class EquationConstraint(_Constraint):
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

    @property
    def rows(self) -> tuple[int, int]:
        return (0, 1) if self.position is None else (1, 0)


class CouplingConstraint(_Constraint):
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


class GearConstraint(_Constraint):
    """Σ factors · q = `offset`: gears, a rack and its pinion, a differential."""

    type: Literal["gear"]
    factors: Table[Scalar] = Field(description='by coordinate: { q1 = 1, q2 = "r2/r1" }')
    offset: Annotated[Expression, Quantity("any")] = ZERO


class DriveConstraint(_Constraint):
    """A coordinate that follows a given function of time."""

    type: Literal["drive"]
    on: str = Field(description="the coordinate: q1, tube.x")
    position: Annotated[Expression, Quantity("any")] = Field(description="an expression of t")


class DistanceConstraint(_Member):
    """The origins of two frames or bodies keep their distance: a rod without mass."""

    type: Literal["distance"]
    between: tuple[str, str]
    length: Annotated[Expression, Quantity("m")] = Field(description="may be an expression of t")


class SurfaceConstraint(_Constraint):
    """The origin of a frame or body stays on a surface that is fixed in another."""

    type: Literal["surface"]
    point: str
    frame: str = Field(default=GROUND, description="x, y, z are the point's coordinates in it")
    surface: Annotated[Expression, Quantity("any")] = Field(
        description="is 0 on the surface: an expression of x, y, z and t"
    )


class RollingConstraint(_Member):
    """A thin wheel rolls without slipping: on the plane z = 0 of a frame, or on another wheel
    whose axle is parallel to its own."""

    type: Literal["rolling"]
    wheel: str = Field(description="frame or body at the wheel's centre")
    radius: Annotated[Expression, Quantity("m")]
    axle: Annotated[Vector, Quantity("any", 3)] = Field(
        default=(ZERO, ZERO, ONE), description="direction of the axle, in the wheel's axes"
    )
    on: str = Field(default=GROUND, description="the plane's frame, or the other wheel")
    other_radius: Annotated[Expression | None, Quantity("m", optional=True)] = Field(
        default=None, description="of the other wheel; negative for a ring that is rolled in"
    )
    side: Literal["+z", "-z"] | None = Field(
        default=None,
        description="the side of the plane that the wheel stands on; default: that of its centre "
        "in the file's pose, or, with its centre in the plane, the side against gravity",
    )

    @property
    def rows(self) -> tuple[int, int]:
        return (1, 2) if self.other_radius is None else (1, 1)


class KnifeEdgeConstraint(_Member):
    """A blade that cannot slip sideways: the frame's origin has no velocity along `normal`."""

    type: Literal["knife-edge"]
    on: str = Field(description="frame or body that carries the blade")
    normal: Annotated[Vector, Quantity("any", 3)] = Field(
        default=(ZERO, ONE, ZERO), description="sideways direction, in the axes of `on`"
    )
    relative_to: str = Field(default=GROUND, description="the body or frame that it cuts into")

    @property
    def rows(self) -> tuple[int, int]:
        return 0, 1


Constraint = Annotated[
    EquationConstraint
    | CouplingConstraint
    | GearConstraint
    | DriveConstraint
    | DistanceConstraint
    | SurfaceConstraint
    | RollingConstraint
    | KnifeEdgeConstraint,
    Field(discriminator="type"),
]
