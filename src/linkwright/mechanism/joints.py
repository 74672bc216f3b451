"""Joints as data: type, axes, limits, losses, springs, motors, mimicry.

The types of joints, and all facts about each, are in `joint_kinds`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .bodies import GROUND
from .joint_kinds import JOINT_KINDS, Z_AXIS, DegreeOfFreedom, JointKind, JointKindMotion
from .joint_vectors import JointVectors
from .parts import MechanismPart, PartNumberField, Vector
from .placements import Placement
from .strength import Strength

PerDof = Expression | Vector

_DOF_FIELDS = (
    "limits",
    "damping",
    "friction",
    "friction_backward",
    "smoothing",
    "stribeck",
    "static_ratio",
    "stiffness",
    "rest",
    "motor",
    "locked",
)


class Limits(MechanismPart):
    """Ranges of a joint's coordinates, and limits of its velocity and effort."""

    lower: Annotated[PerDof | None, PartNumberField("position", None, optional=True)] = None
    upper: Annotated[PerDof | None, PartNumberField("position", None, optional=True)] = None
    velocity: Annotated[PerDof | None, PartNumberField("speed", None, optional=True)] = None
    effort: Annotated[PerDof | None, PartNumberField("effort", None, optional=True)] = None
    effort_backward: Annotated[PerDof | None, PartNumberField("effort", None, optional=True)] = (
        Field(default=None, description="size of the most negative effort, if it is not `effort`")
    )
    restitution: Annotated[Expression | None, PartNumberField("1", optional=True)] = Field(
        default=None, description="makes lower and upper stops with this restitution: 0 to 1"
    )


class Motor(MechanismPart):
    """A motor with a gear: adds ratio²·inertia to the mass matrix's diagonal."""

    ratio: Annotated[PerDof, PartNumberField("ratio", None)] = Field(
        default=ONE, description="motor turns for one unit of the joint"
    )
    inertia: Annotated[PerDof, PartNumberField("kg*m^2", None)] = Field(
        default=ZERO, description="of the rotor, kg*m^2"
    )


class Mimic(MechanismPart):
    """q = multiplier · q of the other joint + offset; this joint has no coordinate."""

    joint: str
    multiplier: Annotated[Expression, PartNumberField("any")] = ONE
    offset: Annotated[Expression, PartNumberField("position")] = ZERO


def _add_joint_types(schema: dict[str, Any]) -> None:
    """Put the names of all kinds of joints into the schema."""
    schema["enum"] = list(JOINT_KINDS)


class Joint(MechanismPart):
    """The motion of a child body relative to its parent.

    The frame of the joint is at `origin` in the parent and at `child_origin` in the child; the axes
    are given in this frame. A mechanism turns `vectors` into these. Fields and units:
    docs/reference/format.md.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.Joint(type="revolute", child="rod", axis=[0, 1, 0]).parent
    'ground'
    """

    type: str = Field(json_schema_extra=_add_joint_types)
    parent: str = Field(default=GROUND, description="a body, or ground")
    child: str = Field(description="a body")
    origin: Placement = Field(
        default_factory=Placement, description="the joint's frame, seen from the parent"
    )
    child_origin: Placement = Field(
        default_factory=Placement, description="the joint's frame, seen from the child"
    )
    axis: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=Z_AXIS,
        description="turning or sliding axis; normal of a planar joint; any length but 0",
    )
    axis2: Annotated[Vector | None, PartNumberField("any", 3, optional=True)] = Field(
        default=None,
        description=". ".join(
            f"{kind.name}: {kind.second_axis.meaning}"
            for kind in JOINT_KINDS.values()
            if kind.second_axis is not None
        ),
    )
    vectors: JointVectors | None = Field(
        default=None,
        description="in place of origin, child_origin and the axes: the axis, and the vectors from "
        "the joint to the centres of mass",
    )
    pitch: Annotated[Expression | None, PartNumberField("m", optional=True)] = Field(
        default=None, description="of a helical joint, m/rad"
    )
    rotation: Literal["quaternion", "cardan"] | None = Field(
        default=None, description="of a spherical or free joint; default: quaternion"
    )
    limits: Limits = Field(default_factory=Limits)
    damping: Annotated[PerDof, PartNumberField("damping", None)] = Field(
        default=ZERO, description="viscous: force = -damping * speed"
    )
    friction: Annotated[PerDof, PartNumberField("effort", None)] = Field(
        default=ZERO, description="Coulomb: force = -friction * sign(speed)"
    )
    smoothing: Annotated[PerDof, PartNumberField("speed", None)] = Field(
        default=ZERO, description="if not 0, sign(speed) becomes tanh(speed / smoothing)"
    )
    friction_backward: Annotated[PerDof | None, PartNumberField("effort", None, optional=True)] = (
        Field(default=None, description="friction at negative speed; default: that of friction")
    )
    stribeck: Annotated[PerDof, PartNumberField("speed", None)] = Field(
        default=ZERO,
        description="if not 0, friction falls from static_ratio * friction at rest as "
        "exp(-(speed / stribeck)^2)",
    )
    friction_coefficient: Annotated[Expression, PartNumberField("1")] = Field(
        default=ZERO,
        description="of a revolute or prismatic joint: friction by the joint's own reaction",
    )
    pin_radius: Annotated[Expression | None, PartNumberField("m", optional=True)] = Field(
        default=None, description="radius at which the reaction of a revolute joint causes friction"
    )
    static_ratio: Annotated[Expression, PartNumberField("1")] = Field(
        default=ONE, description="static over kinetic friction: 1 or more"
    )
    stiffness: Annotated[PerDof, PartNumberField("stiffness", None)] = Field(
        default=ZERO,
        description="of a spring: force = -stiffness * (q - rest); with a quaternion, moment = "
        "-stiffness * rotation vector from rest",
    )
    rest: Annotated[PerDof, PartNumberField("position", None)] = ZERO
    motor: Motor | None = None
    added_mass: Annotated[Expression, PartNumberField("kg")] = Field(
        default=ZERO,
        description="of a free joint: mass without weight that moves with the child's origin",
    )
    mimic: Mimic | None = None
    locked: Annotated[PerDof | None, PartNumberField("position", None, optional=True)] = Field(
        default=None, description="holds the joint at this position; it then has no coordinate"
    )
    breaks: Strength | None = Field(
        default=None, description="reaction at which the joint fails and its bodies part"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _check_known_type(cls, fields: Any) -> Any:
        """Raise where the type is not a kind of joint."""
        if isinstance(fields, dict) and "type" in fields and fields["type"] not in [*JOINT_KINDS]:
            raise MechanismError(
                f"'{fields['type']}' is not a joint type",
                where="type",
                remedy=f"use one of {', '.join(JOINT_KINDS)}",
            )
        return fields

    @model_validator(mode="after")
    def _check_fields(self) -> Joint:
        """Raise where fields do not fit the type of the joint."""
        _check_applicable_fields(self)
        _check_field_sizes(self)
        return self

    @property
    def kind(self) -> JointKind:
        """The properties of joints of this type."""
        return JOINT_KINDS[self.type]

    @property
    def by_quaternion(self) -> bool:
        """True where the coordinates contain a quaternion."""
        return self.kind.quaternion_motion is not None and self.rotation != "cardan"

    @property
    def motions(self) -> tuple[JointKindMotion, ...]:
        """The elementary motions of the joint, locked or not."""
        return self.kind.motions_with(quaternion=self.by_quaternion)

    @property
    def dofs(self) -> tuple[DegreeOfFreedom, ...]:
        """The degrees of freedom of the joint, locked or not: one per velocity."""
        return self.kind.dofs_with(quaternion=self.by_quaternion)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Suffixes of the names of its coordinates."""
        return self.kind.coordinates_with(quaternion=self.by_quaternion)

    @property
    def moves(self) -> bool:
        """True where the joint has coordinates of its own."""
        return bool(self.dofs) and self.mimic is None and self.locked is None

    @property
    def second_axis(self) -> Vector:
        """`axis2`, or its default for the type."""
        second = self.kind.second_axis
        assert second is not None
        return self.axis2 or second.default

    def each(self, field: PerDof) -> Vector:
        """Return the value of a `field` as a tuple with one entry per degree of freedom."""
        return field if isinstance(field, tuple) else (field,) * len(self.dofs)


def _check_applicable_fields(joint: Joint) -> None:
    """Raise where a field is given that has no effect on this kind of joint, or a required one is
    missing."""
    given, kind = joint.model_fields_set, joint.kind
    reasons = {
        "axis": not kind.has_axis,
        "axis2": kind.second_axis is None,
        "pitch": not kind.has_pitch,
        "rotation": kind.quaternion_motion is None,
        "mimic": len(joint.dofs) != 1,
        "friction_coefficient": not (kind.is_hinge or kind.is_slider),
        "pin_radius": not kind.is_hinge,
        "breaks": kind.closure is None,
        "vectors": not kind.is_placed_by_vectors,
    }
    reasons["added_mass"] = not (joint.by_quaternion and kind.is_floating)
    reasons |= dict.fromkeys(("friction_backward", "stribeck"), joint.by_quaternion)
    if not joint.dofs:
        reasons |= dict.fromkeys(_DOF_FIELDS, True)
    for key, senseless in reasons.items():
        if senseless and key in given and getattr(joint, key) is not None:
            words = f"{joint.type} joint" + (" with quaternions" if joint.by_quaternion else "")
            raise MechanismError(f"has no meaning for a {words}", where=key, remedy="remove it")
    for key in ("origin", "child_origin", "axis", "axis2"):
        if joint.vectors is not None and key in given:
            raise MechanismError(f"the joint has both vectors and {key}", remedy="give one of them")
    if kind.has_pitch and joint.pitch is None:
        raise MechanismError("is missing", where="pitch", remedy="give the pitch in m/rad")
    if joint.mimic is not None and joint.locked is not None:
        raise MechanismError("the joint is locked and mimics another", remedy="choose one")
    if joint.limits.effort_backward is not None and joint.limits.effort is None:
        raise MechanismError(
            "has no effort beside it", where="limits.effort_backward", remedy="give effort, too"
        )
    _check_quaternion_spring(joint)
    _check_dry_friction(joint)


def _check_quaternion_spring(joint: Joint) -> None:
    """Raise where the spring of a joint with a quaternion differs from axis to axis: its moment
    would have no energy."""
    if not joint.by_quaternion or not isinstance(joint.stiffness, tuple):
        return
    if any(len(set(part)) > 1 for part in (joint.stiffness[:3], joint.stiffness[3:])):
        raise MechanismError(
            "differs from axis to axis of a joint with a quaternion",
            where="stiffness",
            remedy='give equal numbers, or rotation = "cardan"',
        )


def _check_dry_friction(joint: Joint) -> None:
    """Raise unless friction by reaction has a radius where the joint turns, and is not smoothed."""
    given = joint.model_fields_set
    if "friction_coefficient" in given and joint.kind.is_hinge and joint.pin_radius is None:
        raise MechanismError("is missing", where="pin_radius", remedy="give the pin's radius")
    if "pin_radius" in given and "friction_coefficient" not in given:
        raise MechanismError(
            "has no effect", where="pin_radius", remedy="give a friction_coefficient"
        )
    for key, what in (("smoothing", "be smoothed"), ("stribeck", "fall with the speed")):
        if "friction_coefficient" in given and key in given:
            raise MechanismError(
                f"cannot {what}", where="friction_coefficient", remedy=f"remove {key}"
            )
    for key in ("friction_backward", "stribeck"):
        if "friction" not in given and key in given and getattr(joint, key) is not None:
            raise MechanismError("has no friction", where=key, remedy="give friction, too")


def _check_field_sizes(joint: Joint) -> None:
    """Raise unless lists have one entry per degree of freedom, and single numbers fit all of
    them."""
    mixed = len({freedom.is_rotation for freedom in joint.dofs}) > 1
    for place, value, size in _per_dof_fields(joint):
        if isinstance(value, tuple) and len(value) != size:
            raise MechanismError(
                f"has {len(value)} numbers",
                where=place,
                remedy=f"a {joint.type} joint needs {size}",
            )
        if isinstance(value, tuple) or value is None:
            continue
        if size != len(joint.dofs):
            raise MechanismError(
                "is one number for a position with a quaternion",
                where=place,
                remedy=f"give a list of {size}",
            )
        if mixed and value != (ONE if place == "motor.ratio" else ZERO):
            raise MechanismError(
                "is one number for degrees of freedom that turn and slide",
                where=place,
                remedy=f"give a list of {size}",
            )


def _per_dof_fields(joint: Joint) -> Iterator[tuple[str, PerDof | None, int]]:
    """Yield the place, value and size of every field that may be a list."""
    freedoms, coordinates = len(joint.dofs), len(joint.coordinates)
    for key in (
        "damping", "friction", "friction_backward", "smoothing", "stribeck", "stiffness",
    ):  # fmt: skip
        yield key, getattr(joint, key), freedoms
    if not joint.by_quaternion or "rest" in joint.model_fields_set:
        yield "rest", joint.rest, coordinates
    for key in ("velocity", "effort", "effort_backward"):
        yield f"limits.{key}", getattr(joint.limits, key), freedoms
    for key in ("lower", "upper"):
        yield f"limits.{key}", getattr(joint.limits, key), coordinates
    yield "locked", joint.locked, coordinates
    if joint.motor is not None:
        yield "motor.ratio", joint.motor.ratio, freedoms
        yield "motor.inertia", joint.motor.inertia, freedoms
