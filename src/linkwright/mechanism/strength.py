"""The load that a joint or constraint carries before it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import model_validator

from ..errors import MechanismError
from ..expressions import Expression
from .parts import MechanismPart, PartNumberField

if TYPE_CHECKING:
    from .mechanism import Mechanism


class Strength(MechanismPart):
    """The largest force and moment of a reaction, and the largest impulse of its force in an
    impact; one that is not given is never exceeded."""

    force: Annotated[Expression | None, PartNumberField("N", optional=True)] = None
    moment: Annotated[Expression | None, PartNumberField("N*m", optional=True)] = None
    impulse: Annotated[Expression | None, PartNumberField("N*s", optional=True)] = None

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="after")
    def _check_some_strength(self) -> Strength:
        """Raise where no limit is given."""
        if self.force is None and self.moment is None and self.impulse is None:
            raise MechanismError("has neither force nor moment nor impulse", remedy="give one")
        return self


def breaking_members(mechanism: Mechanism) -> list[str]:
    """Return the names of the joints, loops and constraints that break under a load."""
    members = {**mechanism.joints, **mechanism.loops, **mechanism.constraints}
    return [name for name, member in members.items() if getattr(member, "breaks", None)]
