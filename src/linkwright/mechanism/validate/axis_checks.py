"""Checks of axes and quaternions: not zero, not parallel where two must span a plane."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...expressions import Expression
from ..joints import Joint
from ..placements import Orientation, Placement
from .part_number_checks import MechanismParameterScope
from .structure_checks import mechanism_error

if TYPE_CHECKING:
    from ..mechanism import Mechanism

_MIN_SINE_OF_AXES = 1e-9
_LENGTH_DIMENSION = (0, 1, 0)
_NO_DIMENSION = (0, 0, 0)


def check_axes_and_orientations(mechanism: Mechanism, scope: MechanismParameterScope) -> None:
    """Check all axes and orientations of a mechanism whose numbers have been checked."""
    for place, rotated in _orientations_of_parts(mechanism):
        check_part_orientation(rotated, place, scope)
    for table in ("joints", "loops"):
        for name, joint in getattr(mechanism, table).items():
            _check_joint_axes(joint, f"{table}.{name}", scope)
            if joint.by_quaternion and joint.locked is not None:
                _check_part_quaternion(
                    joint.each(joint.locked)[-4:], f"{table}.{name}.locked", scope
                )


def check_part_orientation(
    rotated: Orientation, place: str, scope: MechanismParameterScope
) -> None:
    """Raise where an orientation has a quaternion without length, or axes without a plane."""
    if "quaternion" in rotated.model_fields_set:
        _check_part_quaternion(rotated.quaternion, f"{place}.quaternion", scope)
    if isinstance(rotated, Placement) and rotated.z is not None and rotated.x is not None:
        z, x = (
            check_part_direction(axis, f"{place}.{key}", scope)
            for key, axis in (("z", rotated.z), ("x", rotated.x))
        )
        if _sine_between_joint_axes(z, x) < _MIN_SINE_OF_AXES:
            raise mechanism_error("is parallel to z", f"{place}.x", "give another direction")


def _orientations_of_parts(mechanism: Mechanism) -> Iterator[tuple[str, Orientation]]:
    """Yield the orientations of bodies, joints, loops and frames, with their places."""
    for name, body in mechanism.bodies.items():
        yield f"bodies.{name}.inertia", body.inertia
    for table in ("joints", "loops"):
        for name, joint in getattr(mechanism, table).items():
            yield f"{table}.{name}.origin", joint.origin
            yield f"{table}.{name}.child_origin", joint.child_origin
    for name, frame in mechanism.frames.items():
        yield f"frames.{name}.origin", frame.origin


def _check_part_quaternion(
    entries: Sequence[Expression], place: str, scope: MechanismParameterScope
) -> None:
    """Raise where all entries of a quaternion are zero."""
    if not any(scope.finite_value(entry, place) for entry in entries):
        raise mechanism_error("the quaternion is zero", place, "give 1, 0, 0, 0 for no rotation")


def _check_joint_axes(joint: Joint, place: str, scope: MechanismParameterScope) -> None:
    """Raise where an axis of a joint is zero, or its two axes are parallel but must not be."""
    first = check_part_direction(joint.axis, f"{place}.axis", scope)
    if joint.axis2 is not None:
        check_part_direction(joint.axis2, f"{place}.axis2", scope)
    second_axis = joint.kind.second_axis
    if second_axis is None or second_axis.parallel_error is None:
        return
    second = check_part_direction(joint.second_axis, f"{place}.axis2", scope)
    if _sine_between_joint_axes(first, second) < _MIN_SINE_OF_AXES:
        what, remedy = second_axis.parallel_error
        raise mechanism_error(what, f"{place}.axis2", remedy)


def check_part_direction(
    axis: Sequence[Expression], place: str, scope: MechanismParameterScope
) -> list[float]:
    """Return the axis as numbers, scaled to length 1; raise where it is zero."""
    _check_part_direction_dimension(axis, place, scope)
    numbers = [scope.finite_value(entry, place) for entry in axis]
    largest = max(abs(number) for number in numbers)
    if largest == 0:
        raise mechanism_error("is zero", place, "give a direction")
    scaled = [number / largest for number in numbers]
    return [number / math.hypot(*scaled) for number in scaled]


def _check_part_direction_dimension(
    axis: Sequence[Expression], place: str, scope: MechanismParameterScope
) -> None:
    """Raise unless the entries are all plain numbers or all lengths."""
    known = {scope.infer_dimension(entry, place).dimension for entry in axis} - {None}
    if len(known) > 1 or not known <= {_LENGTH_DIMENSION, _NO_DIMENSION}:
        raise mechanism_error(
            "has units that a direction cannot have", place, "give plain numbers, or lengths"
        )


def _sine_between_joint_axes(a: Sequence[float], b: Sequence[float]) -> float:
    """Return |a × b|, the sine of the angle between two axes of length 1."""
    return math.hypot(*(a[i - 2] * b[i - 1] - a[i - 1] * b[i - 2] for i in range(3)))
