"""Contacts as data: a point or ball of one body that cannot pass through the plane of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression, parse_expression
from .bodies import GROUND
from .parts import MechanismPart, PartNumberField

_RIGID_ONLY_FIELDS = ("restitution", "static_ratio")
_COMPLIANT_ONLY_FIELDS = ("exponent", "damping", "smoothing")


class Contact(MechanismPart):
    """The origin of `point` (with a radius: a ball about it) stays where z ≥ 0 in `plane`.

    Rigid: impacts by restitution, resting contact that only pushes, Coulomb friction. With a
    `stiffness`, after Hunt and Crossley: F = stiffness δ^exponent (1 + damping δ̇), never pulling.
    """

    type: Literal["point-plane"] = "point-plane"
    point: str = Field(description="frame or body whose origin touches")
    plane: str = Field(default=GROUND, description="frame or body; z points out of the material")
    radius: Annotated[Expression, PartNumberField("m")] = Field(
        default=ZERO, description="of a ball about the point"
    )
    restitution: Annotated[Expression, PartNumberField("1")] = Field(
        default=ZERO, description="speed after an impact, as a share of that before: 0 to 1"
    )
    friction: Annotated[Expression, PartNumberField("1")] = Field(
        default=ZERO, description="Coulomb's coefficient"
    )
    static_ratio: Annotated[Expression, PartNumberField("1")] = Field(
        default=ONE, description="static over kinetic friction: 1 or more"
    )
    stiffness: Annotated[Expression | None, PartNumberField("any", optional=True)] = Field(
        default=None, description="N/m^exponent; makes the contact compliant"
    )
    exponent: Annotated[Expression, PartNumberField("1")] = Field(
        default=parse_expression("3/2"), description="1 or more; 3/2 is Hertz's"
    )
    damping: Annotated[Expression, PartNumberField("s/m")] = Field(
        default=ZERO, description="share of the force that a unit of approaching speed adds"
    )
    smoothing: Annotated[Expression, PartNumberField("m/s")] = Field(
        default=parse_expression("0.001"),
        description="speed at which a compliant contact's friction sets in",
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @property
    def is_rigid(self) -> bool:
        """Whether the contact is rigid: it has no stiffness."""
        return self.stiffness is None

    @model_validator(mode="after")
    def _check_fields(self) -> Contact:
        """Raise where a field of compliant contacts is given for a rigid one, or the reverse."""
        kind, senseless = (
            ("rigid", _COMPLIANT_ONLY_FIELDS)
            if self.is_rigid
            else ("compliant", _RIGID_ONLY_FIELDS)
        )
        for key in senseless:
            if key in self.model_fields_set:
                remedy = "give a stiffness" if self.is_rigid else "remove it"
                raise MechanismError(
                    f"has no meaning for a {kind} contact", where=key, remedy=remedy
                )
        return self
