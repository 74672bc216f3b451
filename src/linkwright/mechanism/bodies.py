"""Bodies, placements and frames."""

from __future__ import annotations

from collections.abc import Sequence
from math import isclose
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .parts import ORIGIN, MechanismPart, PartNumberField, Vector, allow_list_in_part_schema

GROUND = "ground"


class Orientation(MechanismPart):
    """An orientation: roll, pitch, yaw about fixed x, y, z, or a quaternion (w, x, y, z)."""

    rpy: Annotated[Vector, PartNumberField("rad", 3)] = Field(
        default=ORIGIN, description="roll, pitch, yaw: turns about the fixed axes x, then y, then z"
    )
    quaternion: Annotated[Vector, PartNumberField("1", 4)] = Field(
        default=(ONE, ZERO, ZERO, ZERO), description="w, x, y, z instead of rpy; scaled to length 1"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _check_one_rotation(self) -> Orientation:
        """Raise where both rpy and quaternion are given."""
        if "rpy" in self.model_fields_set and "quaternion" in self.model_fields_set:
            raise MechanismError("has both rpy and quaternion", remedy="give one of them")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """Not both rotations; and a bare list, which is a position or a diagonal."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        both = {"type": "object", "required": ["rpy", "quaternion"]}
        handler.resolve_ref_schema(found)["not"] = both
        return allow_list_in_part_schema(found, handler, 3)


class Placement(Orientation):
    """The placement of a frame in another: position of its origin, and orientation."""

    xyz: Annotated[Vector, PartNumberField("m", 3)] = Field(
        default=ORIGIN, description="position, m"
    )
    z: Annotated[Vector | None, PartNumberField("any", 3, optional=True)] = Field(
        default=None,
        description="direction of the z axis, with x instead of rpy; any length except 0",
    )
    x: Annotated[Vector | None, PartNumberField("any", 3, optional=True)] = Field(
        default=None, description="direction of the x axis; only its part normal to z is used"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _check_axes(self) -> Placement:
        """Raise where one of the axes is missing, or the orientation is given twice."""
        if (self.z is None) != (self.x is None):
            missing = "z" if self.z is None else "x"
            raise MechanismError("is missing", where=missing, remedy="give both z and x")
        for key in ("rpy", "quaternion"):
            if self.z is not None and key in self.model_fields_set:
                raise MechanismError(f"has both axes and {key}", remedy="give one of them")
        return self

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_position(cls, value: Any) -> Any:
        """Return a bare list as a table with the position."""
        return {"xyz": value} if isinstance(value, list | tuple) else value


class Inertia(Orientation):
    """Inertia tensor about the centre of mass, kg·m², in the body's axes or axes turned by rpy.

    `xy` is the tensor's own entry, −∫xy dm, as in URDF files.
    """

    xx: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    yy: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    zz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    xy: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    xz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO
    yz: Annotated[Expression, PartNumberField("kg*m^2")] = ZERO

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """A bare list is a diagonal, or the rows of the tensor."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        part = handler.resolve_ref_schema(found)
        row = {"type": "array", "items": part["items"], "minItems": 3, "maxItems": 3}
        part["items"] = {"anyOf": [part["items"], row]}
        return found

    @model_validator(mode="before")
    @classmethod
    def _accept_bare_entries(cls, value: Any) -> Any:
        """Return a diagonal, or a symmetric 3×3 array, as a table of entries."""
        value = value.tolist() if hasattr(value, "tolist") else value
        if not isinstance(value, list | tuple) or len(value) != 3:
            return value
        if all(isinstance(row, list | tuple) and len(row) == 3 for row in value):
            return _inertia_entries(value)
        return dict(zip(("xx", "yy", "zz"), value, strict=True))


def _inertia_entries(rows: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """Return the six entries of a symmetric tensor; asymmetry beyond rounding is an error."""
    for i, j in ((0, 1), (0, 2), (1, 2)):
        a, b = rows[i][j], rows[j][i]
        numbers = isinstance(a, int | float) and isinstance(b, int | float)
        if not (isclose(a, b, rel_tol=1e-9, abs_tol=1e-300) if numbers else a == b):
            raise MechanismError(
                f"is not symmetric: {'xyz'[i]}{'xyz'[j]} is {a}, {'xyz'[j]}{'xyz'[i]} is {b}",
                remedy="give a symmetric 3×3 array",
            )
    return {"xyz"[i] + "xyz"[j]: rows[i][j] for i in range(3) for j in range(i, 3)}


class Body(MechanismPart):
    """A rigid body.

    Parameters
    ----------
    mass : number or text
        kg, or text with a unit or an expression of parameters.
    center : three numbers
        Centre of mass in the body's frame, m.
    inertia : table, three or nine numbers
        About the centre of mass, axes of the body's frame, kg m².
    gravity_compensation : number or text
        The share of the weight that a force at the centre of mass carries.
    """

    mass: Annotated[Expression, PartNumberField("kg")] = Field(default=ZERO, description="mass, kg")
    center: Annotated[Vector, PartNumberField("m", 3)] = Field(
        default=ORIGIN, description="centre of mass in the body's frame, m"
    )
    inertia: Inertia = Field(
        default_factory=Inertia,
        description="about the centre of mass, kg*m^2: {xx=…}, [xx, yy, zz] or symmetric 3×3",
    )
    gravity_compensation: Annotated[Expression, PartNumberField("1")] = Field(
        default=ZERO, description="the share of its weight that a force carries: 1 for all of it"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...


class Frame(MechanismPart):
    """A named frame fixed to a body, such as a tool tip.

    Parameters
    ----------
    body : str
        The body.
    origin : table
        Placement of the frame in the body's frame: position (m) and rotation.
    """

    body: str = Field(description="the body that carries it, or ground")
    origin: Placement = Field(default_factory=Placement, description="where, in the body's frame")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...
