"""Bodies, placements and frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .parts import ORIGIN, Part, Quantity, Vector, accept_list

GROUND = "ground"


class Rotated(Part):
    """An orientation: roll, pitch, yaw about fixed x, y, z, or a quaternion (w, x, y, z)."""

    rpy: Annotated[Vector, Quantity("rad", 3)] = Field(
        default=ORIGIN, description="roll, pitch, yaw: turns about the fixed axes x, then y, then z"
    )
    quaternion: Annotated[Vector, Quantity("1", 4)] = Field(
        default=(ONE, ZERO, ZERO, ZERO), description="w, x, y, z instead of rpy; scaled to length 1"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _one_rotation(self) -> Rotated:
        if "rpy" in self.model_fields_set and "quaternion" in self.model_fields_set:
            raise MechanismError("has both rpy and quaternion", remedy="give one of them")
        return self

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> Any:
        """Not both rotations; and a bare list, which is a position or a diagonal."""
        found = super().__get_pydantic_json_schema__(schema, handler)
        both = {"type": "object", "required": ["rpy", "quaternion"]}
        handler.resolve_ref_schema(found)["not"] = both
        return accept_list(found, handler, 3)


class Placement(Rotated):
    """Where a frame stands in another: position of its origin, and orientation."""

    xyz: Annotated[Vector, Quantity("m", 3)] = Field(default=ORIGIN, description="position, m")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _bare_position(cls, value: Any) -> Any:
        return {"xyz": value} if isinstance(value, list | tuple) else value


class Inertia(Rotated):
    """Inertia tensor about the mass centre, kg·m², in the body's axes or axes turned by rpy.

    `xy` is the tensor's own entry, −∫xy dm, as in URDF files.
    """

    xx: Annotated[Expression, Quantity("kg*m^2")] = ZERO
    yy: Annotated[Expression, Quantity("kg*m^2")] = ZERO
    zz: Annotated[Expression, Quantity("kg*m^2")] = ZERO
    xy: Annotated[Expression, Quantity("kg*m^2")] = ZERO
    xz: Annotated[Expression, Quantity("kg*m^2")] = ZERO
    yz: Annotated[Expression, Quantity("kg*m^2")] = ZERO

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _bare_diagonal(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and len(value) == 3:
            return dict(zip(("xx", "yy", "zz"), value, strict=True))
        return value


class Body(Part):
    """A rigid body: mass, mass centre and inertia about it, in the body's frame."""

    mass: Annotated[Expression, Quantity("kg")] = Field(default=ZERO, description="mass, kg")
    center: Annotated[Vector, Quantity("m", 3)] = Field(
        default=ORIGIN, description="mass centre in the body's frame, m"
    )
    inertia: Inertia = Field(
        default_factory=Inertia, description="about the mass centre, kg*m^2: {xx=…} or [xx, yy, zz]"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...


class Frame(Part):
    """A named frame fixed to a body, such as a tool tip."""

    body: str = Field(description="the body that carries it, or ground")
    origin: Placement = Field(default_factory=Placement, description="where, in the body's frame")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...
