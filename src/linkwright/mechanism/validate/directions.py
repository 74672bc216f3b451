"""Axes and quaternions: not zero, not parallel where two must span a plane."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...expressions import Expression
from ..bodies import Rotated
from ..joints import Joint
from .numbers import Scope
from .structure import failure

if TYPE_CHECKING:
    from ..mechanism import Mechanism

_PARALLEL = 1e-9
_LENGTH = (0, 1, 0)
_PLAIN = (0, 0, 0)


def check_directions(mechanism: Mechanism, scope: Scope) -> None:
    """All axes and orientations of a mechanism, numbers being right already."""
    for place, rotated in _orientations(mechanism):
        if "quaternion" in rotated.model_fields_set:
            _check_quaternion(rotated.quaternion, f"{place}.quaternion", scope)
    for table in ("joints", "loops"):
        for name, joint in getattr(mechanism, table).items():
            _check_axes(joint, f"{table}.{name}", scope)
            if joint.by_quaternion and joint.locked is not None:
                _check_quaternion(joint.each(joint.locked)[-4:], f"{table}.{name}.locked", scope)


def _orientations(mechanism: Mechanism) -> Iterator[tuple[str, Rotated]]:
    for name, body in mechanism.bodies.items():
        yield f"bodies.{name}.inertia", body.inertia
    for table in ("joints", "loops"):
        for name, joint in getattr(mechanism, table).items():
            yield f"{table}.{name}.origin", joint.origin
            yield f"{table}.{name}.child_origin", joint.child_origin
    for name, frame in mechanism.frames.items():
        yield f"frames.{name}.origin", frame.origin


def _check_quaternion(entries: Sequence[Expression], place: str, scope: Scope) -> None:
    if not any(scope.value(entry, place) for entry in entries):
        raise failure("the quaternion is zero", place, "give 1, 0, 0, 0 for no turn")


def _check_axes(joint: Joint, place: str, scope: Scope) -> None:
    first = check_direction(joint.axis, f"{place}.axis", scope)
    if joint.axis2 is not None:
        check_direction(joint.axis2, f"{place}.axis2", scope)
    second_axis = joint.kind.second_axis
    if second_axis is None or second_axis.if_parallel is None:
        return
    second = check_direction(joint.second_axis, f"{place}.axis2", scope)
    if math.hypot(*_cross(first, second)) < _PARALLEL:
        what, remedy = second_axis.if_parallel
        raise failure(what, f"{place}.axis2", remedy)


def check_direction(axis: Sequence[Expression], place: str, scope: Scope) -> list[float]:
    """The axis as numbers, of length 1."""
    _check_one_dimension(axis, place, scope)
    numbers = [scope.value(entry, place) for entry in axis]
    largest = max(abs(number) for number in numbers)
    if largest == 0:
        raise failure("is zero", place, "give a direction")
    scaled = [number / largest for number in numbers]
    return [number / math.hypot(*scaled) for number in scaled]


def _check_one_dimension(axis: Sequence[Expression], place: str, scope: Scope) -> None:
    """Plain numbers or lengths, not a mixture of both."""
    known = {scope.dimension(entry, place).dimension for entry in axis} - {None}
    if len(known) > 1 or not known <= {_LENGTH, _PLAIN}:
        raise failure("has units of no direction", place, "give plain numbers, or lengths")


def _cross(a: Sequence[float], b: Sequence[float]) -> list[float]:
    return [a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)]
