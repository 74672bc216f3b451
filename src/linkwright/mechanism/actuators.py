"""Actuators as data: what they drive, how their control becomes an effort, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, model_validator

from ..errors import MechanismError
from ..expressions import ONE, ZERO, Expression, names_in_expression
from .joints import PerDof
from .parts import ORIGIN, MechanismPart, PartNumberField, Vector, part_numbers

_LAW_FIELDS = ("gain", "bias", "control_range", "effort_range", "activation")

Range = Annotated[Vector | None, PartNumberField("any", 2, optional=True)]
"""A lower and an upper bound; None: unbounded."""


class Activation(MechanismPart):
    """First-order dynamics between the control c and the effort: T ȧ = c − a, or ȧ = c."""

    time_constant: Annotated[Expression | None, PartNumberField("s", optional=True)] = Field(
        default=None, description="T of T ȧ = c − a; without it the control is integrated, ȧ = c"
    )
    range: Range = Field(default=None, description="bounds of the activation")

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...


class Actuator(MechanismPart):
    """An actuator: its effort u acts along what it drives, τ = B u.

    It drives one of: an expression of coordinates (`moves`, B = (∂moves/∂q)ᵀ), the coordinates of a
    joint or a named length times `gear`, or a frame, on which it exerts u · (`force`, `moment`).
    With l the driven length or angle and l̇ its rate, a control c gives the effort
    u = (gain₀ + gain₁ l + gain₂ l̇) c + bias₀ + bias₁ l + bias₂ l̇, both within their ranges.
    """

    moves: Annotated[Expression | None, PartNumberField("any", optional=True)] = Field(
        default=None, description="what it drives, an expression of coordinates: q2 - q1"
    )
    joint: str | None = Field(default=None, description="or the joint that it drives")
    length: str | None = Field(
        default=None, description="or the named length that it drives; a positive effort pushes"
    )
    gear: Annotated[PerDof, PartNumberField("any", None)] = Field(
        default=ONE,
        description="driven length per unit of joint or length; a list for several degrees",
    )
    frame: str | None = Field(default=None, description="or the frame or body that it pushes")
    force: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=ORIGIN, description="on the frame, per unit of effort"
    )
    moment: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=ORIGIN, description="on the frame, per unit of effort"
    )
    axes: str | None = Field(
        default=None, description="the frame whose axes force and moment use; default: the frame"
    )
    gain: Annotated[PerDof, PartNumberField("any", None)] = Field(
        default=ONE, description="effort per unit of control; three numbers: affine in l and dl/dt"
    )
    bias: Annotated[Vector, PartNumberField("any", 3)] = Field(
        default=ORIGIN, description="effort without control: bias[0] + bias[1] l + bias[2] dl/dt"
    )
    control_range: Range = Field(default=None, description="bounds to which controls are clipped")
    effort_range: Range = Field(default=None, description="bounds to which efforts are clipped")
    activation: Activation | None = Field(
        default=None, description="first-order dynamics of the control"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _check_drives_one_thing(self) -> Actuator:
        """Raise unless exactly one thing is driven, and its numbers belong to it."""
        keys = ("moves", "joint", "length", "frame")
        ways = [key for key in keys if getattr(self, key) is not None]
        if len(ways) != 1:
            what = " and ".join(ways) if ways else "nothing"
            raise MechanismError(f"drives {what}", remedy=f"give one of {', '.join(keys)}")
        belongs = dict.fromkeys(("force", "moment", "axes"), ("frame",))
        for key, owners in (belongs | {"gear": ("joint", "length")}).items():
            if key in self.model_fields_set and ways[0] not in owners:
                what = f"belongs to a {' or '.join(owners)}, not to {ways[0]}"
                raise MechanismError(what, where=key, remedy="remove it")
        if self.length is not None and isinstance(self.gear, tuple):
            raise MechanismError("is a list", where="gear", remedy="give one number for a length")
        if isinstance(self.gain, tuple) and len(self.gain) != 3:
            raise MechanismError(
                f"has {len(self.gain)} numbers", where="gain", remedy="give 1 or 3 of them"
            )
        return self

    @property
    def affine_gain(self) -> Vector:
        """The three numbers of the gain."""
        return self.gain if isinstance(self.gain, tuple) else (self.gain, ZERO, ZERO)

    @property
    def is_plain(self) -> bool:
        """Whether the control is the effort itself: gain 1, no bias, no ranges, no activation."""
        return not self.model_fields_set.intersection(_LAW_FIELDS)

    def law_numbers(self) -> Iterator[tuple[str, Expression]]:
        """Yield the numbers that turn a control into an effort, with their places."""
        for key, number, _ in part_numbers(self):
            if key.split(".")[0].split("[")[0] in _LAW_FIELDS:
                yield key, number

    def drives_coordinate(self, name: str) -> bool:
        """Return whether `moves` names the coordinate, or it belongs to `joint`."""
        if self.moves is not None:
            return name in names_in_expression(self.moves)
        return self.joint is not None and self.joint in (name, name.rpartition(".")[0])
