"""Orientations and placements of frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO
from .parts import ORIGIN, MechanismPart, PartNumberField, Vector, allow_list_in_part_schema


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
