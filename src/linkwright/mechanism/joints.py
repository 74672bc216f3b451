"""Joints as data: types, freedoms, axes, limits, losses, springs, motors, mimicry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression
from .bodies import GROUND, Placement
from .parts import Part, Quantity, Vector
from .strength import Strength

JointType = Literal[
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "turn-slide",
    "universal",
    "planar",
    "spherical",
    "free",
    "fixed",
]
JOINT_TYPES: tuple[str, ...] = get_args(JointType)

X_AXIS: Vector = (ONE, ZERO, ZERO)
Y_AXIS: Vector = (ZERO, ONE, ZERO)
Z_AXIS: Vector = (ZERO, ZERO, ONE)

PerFreedom = Expression | Vector


@dataclass(frozen=True, slots=True)
class Freedom:
    """One coordinate of a joint: the ending of its name, and whether it turns or slides."""

    ending: str
    turns: bool


_TURN, _SLIDE = Freedom("", True), Freedom("", False)
_XYZ = tuple(Freedom(c, False) for c in "xyz")
_CARDAN = tuple(Freedom(f"r{c}", True) for c in "xyz")

FREEDOMS: dict[str, tuple[Freedom, ...]] = {
    "revolute": (_TURN,),
    "continuous": (_TURN,),
    "prismatic": (_SLIDE,),
    "helical": (_TURN,),
    "cylindrical": (Freedom("phi", True), Freedom("x", False)),
    "turn-slide": (Freedom("phi", True), Freedom("x", False)),
    "universal": (Freedom("1", True), Freedom("2", True)),
    "planar": (*_XYZ[:2], Freedom("theta", True)),
    "spherical": _CARDAN,
    "free": _XYZ + _CARDAN,
    "fixed": (),
}
"""Freedoms of each type; spherical and free with `rotation = "cardan"`."""

_QUATERNION = ("qw", "qx", "qy", "qz")
_ANGULAR = tuple(Freedom(f"w{c}", True) for c in "xyz")
_LINEAR = tuple(Freedom(f"v{c}", False) for c in "xyz")
QUATERNION_COORDINATES = {"spherical": _QUATERNION, "free": ("x", "y", "z", *_QUATERNION)}
QUATERNION_SPEEDS = {"spherical": _ANGULAR, "free": _ANGULAR + _LINEAR}

_AXIS_COUNT = {"universal": 2, "turn-slide": 2, "planar": 2, "spherical": 0, "free": 0, "fixed": 0}
_OF_FREEDOMS = (
    "limits", "damping", "friction", "smoothing", "static_ratio", "stiffness", "rest", "motor",
    "locked",
)  # fmt: skip
_DRY = ("revolute", "continuous", "prismatic")
_DEFAULT_SECOND = {"universal": Y_AXIS, "turn-slide": X_AXIS, "planar": X_AXIS}


class Limits(Part):
    """Ranges of a joint's coordinates, and the most its drive can do."""

    lower: Annotated[PerFreedom | None, Quantity("position", None, optional=True)] = None
    upper: Annotated[PerFreedom | None, Quantity("position", None, optional=True)] = None
    velocity: Annotated[PerFreedom | None, Quantity("speed", None, optional=True)] = None
    effort: Annotated[PerFreedom | None, Quantity("effort", None, optional=True)] = None
    restitution: Annotated[Expression | None, Quantity("1", optional=True)] = Field(
        default=None, description="makes lower and upper stops that throw back: 0 to 1"
    )


class Motor(Part):
    """A drive behind a gear: adds ratio²·inertia to the mass matrix's diagonal."""

    ratio: Annotated[PerFreedom, Quantity("ratio", None)] = Field(
        default=ONE, description="motor turns for one unit of the joint"
    )
    inertia: Annotated[PerFreedom, Quantity("kg*m^2", None)] = Field(
        default=ZERO, description="of the rotor, kg*m^2"
    )


class Mimic(Part):
    """q = multiplier · q of the other joint + offset; this joint has no coordinate."""

    joint: str
    multiplier: Annotated[Expression, Quantity("any")] = ONE
    offset: Annotated[Expression, Quantity("position")] = ZERO


class Joint(Part):
    """How a child body moves on its parent. The joint's frame stands at `origin` in the
    parent and at `child_origin` in the child; the axes are given in the joint's frame.
    """

    type: JointType
    parent: str = Field(default=GROUND, description="a body, or ground")
    child: str = Field(description="a body")
    origin: Placement = Field(
        default_factory=Placement, description="the joint's frame, seen from the parent"
    )
    child_origin: Placement = Field(
        default_factory=Placement, description="the joint's frame, seen from the child"
    )
    axis: Annotated[Vector, Quantity("any", 3)] = Field(
        default=Z_AXIS,
        description="turning or sliding axis; normal of a planar joint; any length but 0",
    )
    axis2: Annotated[Vector | None, Quantity("any", 3, optional=True)] = Field(
        default=None,
        description="universal: second axis (default y). turn-slide: sliding direction, fixed in "
        "the child (default x). planar: direction of x (default x)",
    )
    pitch: Annotated[Expression | None, Quantity("m", optional=True)] = Field(
        default=None, description="of a helical joint, m/rad"
    )
    rotation: Literal["quaternion", "cardan"] | None = Field(
        default=None, description="of a spherical or free joint; quaternion unless said"
    )
    limits: Limits = Field(default_factory=Limits)
    damping: Annotated[PerFreedom, Quantity("damping", None)] = Field(
        default=ZERO, description="viscous: force = -damping * speed"
    )
    friction: Annotated[PerFreedom, Quantity("effort", None)] = Field(
        default=ZERO, description="Coulomb: force = -friction * sign(speed)"
    )
    smoothing: Annotated[PerFreedom, Quantity("speed", None)] = Field(
        default=ZERO, description="if not 0, sign(speed) becomes tanh(speed / smoothing)"
    )
    friction_coefficient: Annotated[Expression, Quantity("1")] = Field(
        default=ZERO,
        description="of a revolute or prismatic joint: friction by the joint's own reaction",
    )
    pin_radius: Annotated[Expression | None, Quantity("m", optional=True)] = Field(
        default=None, description="at which the reaction of a revolute joint rubs"
    )
    static_ratio: Annotated[Expression, Quantity("1")] = Field(
        default=ONE, description="what friction holds, over what it is in motion: 1 or more"
    )
    stiffness: Annotated[PerFreedom, Quantity("stiffness", None)] = Field(
        default=ZERO, description="of a spring: force = -stiffness * (q - rest)"
    )
    rest: Annotated[PerFreedom, Quantity("position", None)] = ZERO
    motor: Motor | None = None
    mimic: Mimic | None = None
    locked: Annotated[PerFreedom | None, Quantity("position", None, optional=True)] = Field(
        default=None, description="holds the joint at this position; it then has no coordinate"
    )
    breaks: Strength | None = Field(
        default=None, description="reaction at which the joint fails and its bodies part"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _known_type(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "type" in fields and fields["type"] not in JOINT_TYPES:
            raise MechanismError(
                f"'{fields['type']}' is no joint type", where="type", remedy="use one of "
                f"{', '.join(JOINT_TYPES)}"
            )  # fmt: skip
        return fields

    @model_validator(mode="after")
    def _fitting_fields(self) -> Joint:
        _check_applicable(self)
        _check_sizes(self)
        return self

    @property
    def by_quaternion(self) -> bool:
        return self.type in QUATERNION_COORDINATES and self.rotation != "cardan"

    @property
    def freedoms(self) -> tuple[Freedom, ...]:
        """One per speed, whether or not the joint is locked or mimics another."""
        return QUATERNION_SPEEDS[self.type] if self.by_quaternion else FREEDOMS[self.type]

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Endings of the names of the coordinates."""
        if self.by_quaternion:
            return QUATERNION_COORDINATES[self.type]
        return tuple(freedom.ending for freedom in self.freedoms)

    @property
    def moves(self) -> bool:
        """Whether it has coordinates of its own."""
        return bool(self.freedoms) and self.mimic is None and self.locked is None

    @property
    def second_axis(self) -> Vector:
        return self.axis2 or _DEFAULT_SECOND[self.type]

    def each(self, field: Any) -> Vector:
        """A per-freedom field as a tuple, one entry a freedom."""
        return field if isinstance(field, tuple) else (field,) * len(self.freedoms)


def _check_applicable(joint: Joint) -> None:
    """Refuses what would have no effect."""
    given = joint.model_fields_set
    axes = _AXIS_COUNT.get(joint.type, 1)
    reasons = {
        "axis": axes < 1,
        "axis2": axes < 2,
        "pitch": joint.type != "helical",
        "rotation": joint.type not in QUATERNION_COORDINATES,
        "mimic": len(joint.freedoms) != 1,
        "friction_coefficient": joint.type not in _DRY,
        "pin_radius": joint.type not in _DRY[:2],
        "breaks": joint.type == "free",
    }
    reasons |= dict.fromkeys(("stiffness", "rest"), joint.by_quaternion)
    if not joint.freedoms:
        reasons |= dict.fromkeys(_OF_FREEDOMS, True)
    for key, senseless in reasons.items():
        if senseless and key in given and getattr(joint, key) is not None:
            kind = f"{joint.type} joint" + (" with quaternions" if joint.by_quaternion else "")
            raise MechanismError(f"has no meaning for a {kind}", where=key, remedy="remove it")
    if joint.type == "helical" and joint.pitch is None:
        raise MechanismError("is missing", where="pitch", remedy="give the pitch in m/rad")
    if joint.mimic is not None and joint.locked is not None:
        raise MechanismError("the joint is locked and mimics another", remedy="choose one")
    _check_dry(joint)


def _check_dry(joint: Joint) -> None:
    """Friction by reaction needs a radius where the joint turns, and is never smoothed."""
    given = joint.model_fields_set
    if "friction_coefficient" in given and joint.type in _DRY[:2] and joint.pin_radius is None:
        raise MechanismError("is missing", where="pin_radius", remedy="give the pin's radius")
    if "pin_radius" in given and "friction_coefficient" not in given:
        raise MechanismError(
            "rubs nowhere", where="pin_radius", remedy="give a friction_coefficient"
        )
    if "friction_coefficient" in given and "smoothing" in given:
        raise MechanismError(
            "cannot be smoothed", where="friction_coefficient", remedy="remove smoothing"
        )


def _check_sizes(joint: Joint) -> None:
    """A list has one entry a freedom; one number for several freedoms must fit them all."""
    mixed = len({freedom.turns for freedom in joint.freedoms}) > 1
    for place, value, size in _per_freedom(joint):
        if isinstance(value, tuple) and len(value) != size:
            raise MechanismError(
                f"has {len(value)} numbers",
                where=place,
                remedy=f"a {joint.type} joint needs {size}",
            )
        if isinstance(value, tuple) or value is None:
            continue
        if size != len(joint.freedoms):
            raise MechanismError(
                "is one number for a position with a quaternion", where=place,
                remedy=f"give a list of {size}",
            )  # fmt: skip
        if mixed and value != (ONE if place == "motor.ratio" else ZERO):
            raise MechanismError(
                "is one number for freedoms that turn and slide", where=place,
                remedy=f"give a list of {size}",
            )  # fmt: skip


def _per_freedom(joint: Joint) -> Iterator[tuple[str, PerFreedom | None, int]]:
    """The place, value and size of every field that may be a list."""
    freedoms, coordinates = len(joint.freedoms), len(joint.coordinates)
    for key in ("damping", "friction", "smoothing", "stiffness", "rest"):
        yield key, getattr(joint, key), freedoms
    for key in ("velocity", "effort"):
        yield f"limits.{key}", getattr(joint.limits, key), freedoms
    for key in ("lower", "upper"):
        yield f"limits.{key}", getattr(joint.limits, key), coordinates
    yield "locked", joint.locked, coordinates
    if joint.motor is not None:
        yield "motor.ratio", joint.motor.ratio, freedoms
        yield "motor.inertia", joint.motor.inertia, freedoms
