"""Named poses of a mechanism: coordinates, and the velocities and controls that go with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import Field, model_validator

from ..errors import NameNotFoundError, suggest_remedy
from ..expressions import expression_to_float
from .parts import MechanismPart, PartTable, Scalar, plain_part_value

if TYPE_CHECKING:
    from .mechanism import Mechanism

POSE_TABLES = ("q", "qd", "controls", "activations")


class Pose(MechanismPart):
    """A named configuration, as `q0="home"` takes it; files may give just the coordinates,
    `home = { q1 = "30 deg" }`. Entries that it leaves out are 0."""

    q: PartTable[Scalar] = Field(default_factory=PartTable, description="coordinates by name")
    qd: PartTable[Scalar] = Field(
        default_factory=PartTable, description="generalized velocities by name"
    )
    controls: PartTable[Scalar] = Field(
        default_factory=PartTable, description="controls by actuator"
    )
    activations: PartTable[Scalar] = Field(
        default_factory=PartTable, description="activations by actuator"
    )

    if TYPE_CHECKING:  # numbers may be given as text, floats or expressions

        def __init__(self, **fields: Any) -> None: ...

    @model_validator(mode="before")
    @classmethod
    def _read_bare_coordinates(cls, fields: Any) -> Any:
        """Return the fields; a table without other tables contains coordinates."""
        if not isinstance(fields, Mapping) or not fields:
            return fields
        is_bare = not any(isinstance(value, Mapping) for value in fields.values())
        return {"q": dict(fields)} if is_bare else dict(fields)

    def __repr__(self) -> str:
        words = (f"{name} = {plain_part_value(x)}" for name, x in self.q.items())
        return f"<Pose {', '.join(words)}>"

    __str__ = __repr__

    def tables(self) -> Iterator[tuple[str, PartTable[Scalar]]]:
        """Yield the four tables with their names."""
        for key in POSE_TABLES:
            yield key, getattr(self, key)


def pose_numbers(mechanism: Mechanism, name: str, table: str) -> dict[str, float]:
    """Return a table ("q", "qd", "controls" or "activations") of a named pose as numbers."""
    if name not in mechanism.poses:
        known = list(mechanism.poses)
        remedy = suggest_remedy(name, known) if known else "give numbers: it has no poses"
        raise NameNotFoundError(f"{mechanism.name} has no pose '{name}'", remedy=remedy)
    given: PartTable[Scalar] = getattr(mechanism.poses[name], table)
    return {key: expression_to_float(value, mechanism.values) for key, value in given.items()}
