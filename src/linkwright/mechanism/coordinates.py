"""Names and order of coordinates, velocities, joints and moving bodies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ..expressions import is_expression_name, names_in_expression
from .joints import Joint
from .parts import part_numbers

if TYPE_CHECKING:
    from .mechanism import Mechanism

_Time = TypeVar("_Time")


@dataclass(frozen=True)
class MechanismNames:
    """The names in the order of the vectors: joints depth first, in file order.

    `bodies` are moving bodies, one for all that is fixed together: the first seen from ground.
    `is_time_dependent`: forces, constraints, coordinates or generalized speeds depend on t.
    `has_moving_coordinates`: the chosen coordinates do, so that even positions of bodies are
    functions of q and t. `constraints` are the owners of the rows of the constraint Jacobian, in
    file order; `position_rows` says which of these rows are equations of positions, the others are
    equations of velocities. `independent` velocities are known where somebody has assembled the
    mechanism.
    """

    q: tuple[str, ...]
    qd: tuple[str, ...]
    joints: tuple[str, ...]
    bodies: tuple[str, ...]
    actuators: tuple[str, ...] = ()
    is_time_dependent: bool = False
    constraints: tuple[str, ...] = ()
    position_rows: tuple[int, ...] = ()
    loops: tuple[str, ...] = ()
    independent: tuple[str, ...] = ()
    has_moving_coordinates: bool = False

    @property
    def position_row_count(self) -> int:
        """The number of equations of positions."""
        return len(self.position_rows)

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return len(self.q)

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return len(self.qd)

    @property
    def has_own_velocities(self) -> bool:
        """Whether some velocities are not rates of coordinates: those of quaternions."""
        return self.q != self.qd

    @property
    def velocity_symbols(self) -> list[str]:
        """The symbols of the velocities: dq1 of a coordinate q1; a velocity that is not the rate of
        a coordinate has its own name, ball.wx."""
        return [f"d{name}" if name in self.q else name for name in self.qd]

    def time_arguments(self, t: _Time) -> list[_Time]:
        """Return [t] where the mechanism depends on time, else []: the arguments of a function of
        its motion after the other inputs, before parameters."""
        return [t] if self.is_time_dependent else []

    def position_time_arguments(self, t: _Time) -> list[_Time]:
        """Return [t] where the chosen coordinates depend on time, else []: the same for functions
        without forces and constraints, such as positions and energies of bodies."""
        return [t] if self.has_moving_coordinates else []


def mechanism_names(mechanism: Mechanism) -> MechanismNames:
    """Return the names of everything that has a place in a vector."""
    q: list[str] = []
    qd: list[str] = []
    joints: list[str] = []
    bodies: list[str] = []
    for name, joint in mechanism.joints_depth_first():
        joints.append(name)
        q += joint_coordinate_names(name, joint)
        qd += joint_velocity_names(name, joint)
        if joint.dofs and joint.locked is None:
            bodies.append(joint.child)
    if mechanism.coordinates is not None:
        q = qd = list(mechanism.coordinates.own_names)
    owners, position_rows = _constraint_row_owners(mechanism)
    moving = has_moving_coordinates(mechanism)
    return MechanismNames(
        tuple(q),
        tuple(qd),
        tuple(joints),
        tuple(bodies),
        tuple(mechanism.actuators),
        moving
        or any(
            "t" in names_in_expression(number)
            for table in (mechanism.forces, mechanism.constraints)
            for part in table.values()
            for _, number, _ in part_numbers(part)
        )
        or any("t" in names_in_expression(speed) for speed in mechanism.speeds.values()),
        tuple(owners),
        tuple(position_rows),
        tuple(mechanism.loops),
        has_moving_coordinates=moving,
    )


def has_moving_coordinates(mechanism: Mechanism) -> bool:
    """Return whether the mechanism chooses coordinates by expressions of t."""
    chosen = mechanism.coordinates
    if chosen is None:
        return False
    numbers = (*chosen.joints.values(), *chosen.new.values())
    return any("t" in names_in_expression(number) for number in numbers)


def _constraint_row_owners(mechanism: Mechanism) -> tuple[list[str], list[int]]:
    """Return the owner of every row, and the rows that are equations of positions; those of one
    owner come before its equations of velocities."""
    owners: list[str] = []
    position_rows: list[int] = []
    for name, part in mechanism.loops_and_constraints().items():
        positions, speeds = (6 - len(part.dofs), 0) if isinstance(part, Joint) else part.row_counts
        position_rows += range(len(owners), len(owners) + positions)
        owners += [name] * (positions + speeds)
    return owners, position_rows


def joint_coordinate_name(joint: str, ending: str) -> str:
    """Return a coordinate's name: the joint's, followed by a dot and the ending if it has
    several."""
    return f"{joint}.{ending}" if ending else joint


def joint_coordinate_names(name: str, joint: Joint) -> list[str]:
    """Return the names of the joint's own coordinates."""
    return (
        [joint_coordinate_name(name, ending) for ending in joint.coordinates] if joint.moves else []
    )


def joint_velocity_names(name: str, joint: Joint) -> list[str]:
    """Return the names of the joint's own velocities."""
    return (
        [joint_coordinate_name(name, freedom.ending) for freedom in joint.dofs]
        if joint.moves
        else []
    )


def joint_variable_names(mechanism: Mechanism) -> list[str]:
    """Return the names of the joints' own coordinates, depth first."""
    return [
        variable
        for name, joint in mechanism.joints_depth_first()
        for variable in joint_coordinate_names(name, joint)
    ]


@dataclass(frozen=True)
class VariableMeaning:
    """The meaning of a name in the expression of a force or constraint."""

    kind: str  # "coordinate", "speed" or "time"
    joint: str = ""
    length: str = ""

    def __str__(self) -> str:
        if self.kind == "time":
            return "the time"
        if self.length:
            what = "length" if self.kind == "coordinate" else "rate of the length"
            return f"the {what} '{self.length}'"
        return f"a {self.kind} of joint '{self.joint}'" if self.joint else f"a new {self.kind}"


def variable_meanings(mechanism: Mechanism) -> dict[str, list[VariableMeaning]]:
    """Return the meanings of all names that change in time.

    The speed of the coordinate q1 is dq1; velocities that are not rates have names of their own.
    The rate of the length rope is drope.
    """
    meanings = {"t": [VariableMeaning("time")]}
    for name, joint in mechanism.joints.items():
        rates = [
            speed if joint.by_quaternion else f"d{speed}"
            for speed in joint_velocity_names(name, joint)
        ]
        for kind, words in (("coordinate", joint_coordinate_names(name, joint)), ("speed", rates)):
            for word in filter(is_expression_name, words):
                meanings.setdefault(word, []).append(VariableMeaning(kind, name))
    if mechanism.coordinates is not None:
        for name in filter(is_expression_name, mechanism.coordinates.own_names):
            meanings.setdefault(name, []).append(VariableMeaning("coordinate"))
            meanings.setdefault(f"d{name}", []).append(VariableMeaning("speed"))
    for name in filter(is_expression_name, mechanism.lengths):
        meanings.setdefault(name, []).append(VariableMeaning("coordinate", length=name))
        meanings.setdefault(f"d{name}", []).append(VariableMeaning("speed", length=name))
    return meanings


def rated_coordinate_names(mechanism: Mechanism) -> list[str]:
    """Return the coordinates of joints whose velocities are their rates; those of mimicking and
    locked joints too."""
    return [
        joint_coordinate_name(name, ending)
        for name, joint in mechanism.joints.items()
        if not joint.by_quaternion
        for ending in joint.coordinates
    ]


def quaternion_coordinate_offsets(mechanism: Mechanism) -> list[int]:
    """Return the indices at which quaternions begin among the coordinates q."""
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
