"""Names and order of coordinates, speeds, joints and moving bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..expressions import is_variable, names
from .joints import Joint
from .parts import quantities

if TYPE_CHECKING:
    from .mechanism import Mechanism

_Time = TypeVar("_Time")


@dataclass(frozen=True)
class Names:
    """In the order of the vectors: joints depth first, in file order.

    `bodies` are moving bodies, one for all that is fixed together: the first seen from ground.
    `in_time`: forces or constraints depend on t. `constraints` are the owners of the rows of the
    constraint Jacobian, in file order; `position_rows` says which of these rows are equations of
    positions, the others are equations of velocities. `independent` speeds are known where
    somebody has assembled the mechanism.
    """

    q: tuple[str, ...]
    qd: tuple[str, ...]
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    actuators: tuple[str, ...] = ()
    in_time: bool = False
    constraints: tuple[str, ...] = ()
    position_rows: tuple[int, ...] = ()
    loops: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()

    @property
    def positions(self) -> int:
        """The number of equations of positions."""
        return len(self.position_rows)

    @property
    def nq(self) -> int:
        return len(self.q)

    @property
    def nv(self) -> int:
        return len(self.qd)

    def time_arguments(self, t: _Time) -> list[_Time]:
        """[t] where forces or constraints depend on time, else []: what a function of the
        mechanism takes behind its other inputs, before parameters."""
        return [t] if self.in_time else []


def names_of(mechanism: Mechanism) -> Names:
    """The names of everything that has a place in a vector."""
    q: list[str] = []
    qd: list[str] = []
    joints: list[str] = []
    bodies: list[str] = []
    for name, joint in mechanism.joints_depth_first():
        joints.append(name)
        q += coordinate_names(name, joint)
        qd += speed_names(name, joint)
        if joint.freedoms and joint.locked is None:
            bodies.append(joint.child)
    if mechanism.coordinates is not None:
        q = qd = list(mechanism.coordinates.own)
    owners, position_rows = _constraint_rows(mechanism)
    return Names(
        tuple(q), tuple(qd), tuple(joints), tuple(bodies), tuple(mechanism.actuators),
        any("t" in names(number)
            for table in (mechanism.forces, mechanism.constraints)
            for part in table.values()
            for _, number, _ in quantities(part)),
        tuple(owners), tuple(position_rows), tuple(mechanism.loops),
    )  # fmt: skip


def _constraint_rows(mechanism: Mechanism) -> tuple[list[str], list[int]]:
    """The owner of every row, and which rows are equations of positions: those of one owner stand
    before its equations of velocities."""
    owners: list[str] = []
    position_rows: list[int] = []
    for name, part in mechanism.loops_and_constraints().items():
        positions, speeds = (6 - len(part.freedoms), 0) if isinstance(part, Joint) else part.rows
        position_rows += range(len(owners), len(owners) + positions)
        owners += [name] * (positions + speeds)
    return owners, position_rows


def dotted(joint: str, ending: str) -> str:
    """A coordinate's name: the joint's, with the ending behind a dot if it has several."""
    return f"{joint}.{ending}" if ending else joint


def coordinate_names(name: str, joint: Joint) -> list[str]:
    """Of the coordinates that the joint has itself."""
    return [dotted(name, ending) for ending in joint.coordinates] if joint.moves else []


def speed_names(name: str, joint: Joint) -> list[str]:
    return [dotted(name, freedom.ending) for freedom in joint.freedoms] if joint.moves else []


@dataclass(frozen=True)
class Variable:
    """What a name in the expression of a force or constraint may stand for."""

    kind: str  # "coordinate", "speed" or "time"
    joint: str = ""

    def __str__(self) -> str:
        if self.kind == "time":
            return "the time"
        return f"a {self.kind} of joint '{self.joint}'" if self.joint else f"a new {self.kind}"


def variables_of(mechanism: Mechanism) -> dict[str, list[Variable]]:
    """The meanings of all names that change in time.

    The speed of the coordinate q1 is dq1; speeds that are no rates have names of their own.
    """
    meanings = {"t": [Variable("time")]}
    for name, joint in mechanism.joints.items():
        rates = [
            speed if joint.by_quaternion else f"d{speed}" for speed in speed_names(name, joint)
        ]
        for kind, words in (("coordinate", coordinate_names(name, joint)), ("speed", rates)):
            for word in filter(is_variable, words):
                meanings.setdefault(word, []).append(Variable(kind, name))
    if mechanism.coordinates is not None:
        for name in filter(is_variable, mechanism.coordinates.own):
            meanings.setdefault(name, []).append(Variable("coordinate"))
            meanings.setdefault(f"d{name}", []).append(Variable("speed"))
    return meanings


def quaternion_starts(mechanism: Mechanism) -> list[int]:
    """Where quaternions begin among the coordinates q."""
    found, place = [], 0
    if mechanism.coordinates is not None:
        return []
    for _, joint in mechanism.joints_depth_first():
        if not joint.moves:
            continue
        if joint.by_quaternion:
            found.append(place + len(joint.coordinates) - 4)
        place += len(joint.coordinates)
    return found
