"""Checks of actuators: what they drive exists, and their numbers fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..actuators import Actuator
from ..parts import part_numbers
from .structure_checks import check_known_part_name, mechanism_error

if TYPE_CHECKING:
    from .force_checks import ForceElementValidator


def check_actuator(actuator: Actuator, place: str, checks: ForceElementValidator) -> None:
    """Raise where an actuator drives something unknown, or a number of it has no meaning."""
    if actuator.moves is not None:
        kinds = checks.check_expression(actuator.moves, f"{place}.moves")
        if kinds != {"coordinate"}:
            remedy = "name coordinates, such as q1"
            raise mechanism_error("is not a function of coordinates", f"{place}.moves", remedy)
    if actuator.joint is not None:
        _check_driven_joint(actuator, actuator.joint, place, checks)
    if actuator.length is not None:
        checks.check_length(actuator.length, f"{place}.length")
    if actuator.frame is not None:
        checks.check_point(actuator.frame, f"{place}.frame")
        if actuator.axes is not None:
            checks.check_point(actuator.axes, f"{place}.axes")
    for key, number, quantity in part_numbers(actuator):
        if key != "moves":
            checks.check_number(number, key, f"{place}.{key}", quantity.unit)
    _check_ranges(actuator, place, checks)


def _check_driven_joint(
    actuator: Actuator, name: str, place: str, checks: ForceElementValidator
) -> None:
    """Raise unless the joint has coordinates of its own, and `gear` a number for each."""
    joints = checks.mechanism.joints
    check_known_part_name(name, joints, "joint", f"{place}.joint")
    joint = joints[name]
    if not joint.moves:
        what = f"'{name}' has no coordinate of its own: it is fixed, locked, or mimics another"
        raise mechanism_error(what, f"{place}.joint", "name a joint that moves")
    count = len(actuator.gear) if isinstance(actuator.gear, tuple) else 1
    if count != len(joint.dofs):
        what = f"has {count} numbers for the {len(joint.dofs)} degrees of freedom of '{name}'"
        raise mechanism_error(what, f"{place}.gear", f"give {len(joint.dofs)}")


def _check_ranges(actuator: Actuator, place: str, checks: ForceElementValidator) -> None:
    """Raise where a range is empty, or a time constant is not above 0."""
    ranges = {"control_range": actuator.control_range, "effort_range": actuator.effort_range}
    if actuator.activation is not None:
        ranges["activation.range"] = actuator.activation.range
        constant = actuator.activation.time_constant
        where = f"{place}.activation.time_constant"
        if constant is not None and checks.scope.finite_value(constant, where) <= 0:
            raise mechanism_error("is not above 0 s", where, "leave activation out, or give more")
    for key, given in ranges.items():
        if given is None:
            continue
        low, high = (checks.scope.finite_value(x, f"{place}.{key}") for x in given)
        if low > high:
            raise mechanism_error(
                f"goes from {low:g} down to {high:g}", f"{place}.{key}", "swap the two numbers"
            )
