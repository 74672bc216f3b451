"""Shapes of bodies as data: primitives and meshes, for pictures, contacts and inertia.

A class has the keys of one kind of shape. `solid` has its volume and, for mass m, its moments of
inertia about its centre of mass, as formulas of these keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from ..expressions import ONE, Expression, parse_expression
from .parts import MechanismPart, PartNumberField, Vector
from .placements import Placement

SHAPE_LENGTHS = ("size", "radius", "radii", "length")
"""The numbers of shapes that are not negative."""
ShapeUse = Literal["both", "visual", "collision"]


@dataclass(frozen=True)
class SolidFormulas:
    """Volume, moments of inertia (xx, yy, zz) and z of the centre of mass of a primitive.

    The formulas contain the numbers of the shape (`size` as x, y, z), its mass m and its density
    rho.
    """

    volume: Expression
    moments: tuple[Expression, Expression, Expression]
    center_z: Expression


def _solid(volume: str, xx: str, yy: str, zz: str, center_z: str = "0") -> SolidFormulas:
    """Return the formulas of a primitive from their text."""
    moments = (parse_expression(xx), parse_expression(yy), parse_expression(zz))
    return SolidFormulas(parse_expression(volume), moments, parse_expression(center_z))


class ShapeOfBody(MechanismPart):
    """What all kinds of shapes have: placement, colour, and what they are for."""

    solid: ClassVar[SolidFormulas | None] = None

    type: str
    origin: Placement = Field(
        default_factory=Placement, description="placement of the shape in the body's frame"
    )
    color: Annotated[Vector | None, PartNumberField("1", 4, optional=True)] = Field(
        default=None, description="red, green, blue and opacity, each from 0 to 1"
    )
    use: ShapeUse = Field(
        default="both", description="visual: only for pictures; collision: only for contacts"
    )
    label: str = Field(default="", description="the name that a file gives it")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    def formula_values(self) -> dict[str, Expression]:
        """Return the numbers of the shape by their names in the formulas of `solid`."""
        return {}


class BoxShape(ShapeOfBody):
    """A box about its centre."""

    solid = _solid("x*y*z", "m*(y^2 + z^2)/12", "m*(x^2 + z^2)/12", "m*(x^2 + y^2)/12")

    type: Literal["box"]
    size: Annotated[Vector, PartNumberField("m", 3)] = Field(description="lengths of its edges, m")

    def formula_values(self) -> dict[str, Expression]:
        """Return the lengths of the edges."""
        return dict(zip("xyz", self.size, strict=True))


class SphereShape(ShapeOfBody):
    """A sphere about its centre."""

    solid = _solid("4/3*pi*r^3", "2/5*m*r^2", "2/5*m*r^2", "2/5*m*r^2")

    type: Literal["sphere"]
    radius: Annotated[Expression, PartNumberField("m")]

    def formula_values(self) -> dict[str, Expression]:
        """Return the radius."""
        return {"r": self.radius}


class EllipsoidShape(ShapeOfBody):
    """An ellipsoid about its centre."""

    solid = _solid("4/3*pi*x*y*z", "m*(y^2 + z^2)/5", "m*(x^2 + z^2)/5", "m*(x^2 + y^2)/5")

    type: Literal["ellipsoid"]
    radii: Annotated[Vector, PartNumberField("m", 3)] = Field(description="semi-axes, m")

    def formula_values(self) -> dict[str, Expression]:
        """Return the semi-axes."""
        return dict(zip("xyz", self.radii, strict=True))


class _RoundShape(ShapeOfBody):
    """A shape of revolution about its z axis."""

    radius: Annotated[Expression, PartNumberField("m")]
    length: Annotated[Expression, PartNumberField("m")] = Field(description="along z, m")

    def formula_values(self) -> dict[str, Expression]:
        """Return radius and length."""
        return {"r": self.radius, "l": self.length}


class CylinderShape(_RoundShape):
    """A cylinder about its centre, with its axis along z."""

    solid = _solid("pi*r^2*l", "m*(3*r^2 + l^2)/12", "m*(3*r^2 + l^2)/12", "m*r^2/2")

    type: Literal["cylinder"]


_CAPSULE_XX = "rho*pi*r^2*(l*(3*r^2 + l^2)/12 + 4/3*r*(2/5*r^2 + l^2/4 + 3/8*r*l))"


class CapsuleShape(_RoundShape):
    """A cylinder along z of the given length between two half spheres, about its centre."""

    solid = _solid("pi*r^2*(l + 4/3*r)", _CAPSULE_XX, _CAPSULE_XX, "rho*pi*r^4*(l/2 + 8/15*r)")

    type: Literal["capsule"]


_CONE_XX = "m*(3/20*r^2 + 3/80*l^2)"


class ConeShape(_RoundShape):
    """A cone with its tip at z = length/2 and its base at z = −length/2."""

    solid = _solid("pi*r^2*l/3", _CONE_XX, _CONE_XX, "3/10*m*r^2", center_z="-l/4")

    type: Literal["cone"]


class PlaneShape(ShapeOfBody):
    """The plane z = 0; z points out of the material."""

    type: Literal["plane"]
    size: Annotated[Vector | None, PartNumberField("m", 2, optional=True)] = Field(
        default=None, description="lengths of the part to draw, m; default: without bounds"
    )


class MeshShape(ShapeOfBody):
    """A mesh in a file (STL, OBJ, DAE, GLB, …)."""

    type: Literal["mesh"]
    file: str = Field(description="path: absolute where the file was found, else as written")
    scale: Annotated[Vector, PartNumberField("1", 3)] = Field(
        default=(ONE, ONE, ONE), description="factors along the axes of the file"
    )


Shape = Annotated[
    BoxShape
    | SphereShape
    | EllipsoidShape
    | CylinderShape
    | CapsuleShape
    | ConeShape
    | PlaneShape
    | MeshShape,
    Field(discriminator="type"),
]
"""A shape of any kind."""
