"""The efforts that joints and actuators of a mechanism allow, from the least to the greatest."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..expressions import Expression, Name, expression_to_float
from .actuators import Actuator
from .coordinates import joint_velocity_names

if TYPE_CHECKING:
    from .mechanism import Mechanism

EffortRange = tuple[float, float]
"""The least and the greatest effort, N m or N; infinite where nothing bounds it."""

UNBOUNDED: EffortRange = (-math.inf, math.inf)


def joint_effort_ranges(mechanism: Mechanism) -> dict[str, EffortRange]:
    """Return the ranges of τ by velocity that limits of joints state; a limit of 0 in both
    directions counts as not stated, as files write it."""
    found: dict[str, EffortRange] = {}
    for name, joint in mechanism.joints.items():
        effort, backward = joint.limits.effort, joint.limits.effort_backward
        if effort is None:
            continue
        speeds = joint_velocity_names(name, joint)
        ends = effort, effort if backward is None else backward
        both = zip(*(joint.each(end) for end in ends), strict=True)
        for speed, pair in zip(speeds, both, strict=False):
            most, least = (expression_to_float(entry, mechanism.values) for entry in pair)
            if most or least:
                found[speed] = -least, most
    return found


def effort_ranges_by_velocity(mechanism: Mechanism) -> dict[str, EffortRange]:
    """Return the ranges of τ by velocity, where limits of joints or ranges of actuators bound it;
    actuators that act on several joints are left to `ActuatorReach`."""
    found = joint_effort_ranges(mechanism)
    for name, joint in mechanism.joints.items():
        speeds = joint_velocity_names(name, joint)
        if len(speeds) != 1:
            continue
        limits, own = found.get(speeds[0], UNBOUNDED), _range_of_actuators(mechanism, name)
        both = max(limits[0], own[0]), min(limits[1], own[1])
        if both != UNBOUNDED:
            found[speeds[0]] = both
    return found


def actuator_effort_range(mechanism: Mechanism, actuator: Actuator) -> EffortRange:
    """Return the range of an actuator's effort: its own, and that of its control if the effort is a
    multiple of it."""
    low, high = number_range(mechanism, actuator.effort_range)
    gain = [expression_to_float(x, mechanism.values) for x in actuator.affine_gain]
    bias = [expression_to_float(x, mechanism.values) for x in actuator.bias]
    has_free_state = actuator.activation is not None and actuator.activation.time_constant is None
    if any(gain[1:]) or any(bias) or has_free_state or not gain[0]:
        return low, high
    ends = sorted(gain[0] * x for x in number_range(mechanism, actuator.control_range))
    return max(low, ends[0]), min(high, ends[1])


def number_range(mechanism: Mechanism, bounds: tuple[Expression, ...] | None) -> EffortRange:
    """Return the numbers of a range; infinite ones where there is none."""
    if bounds is None:
        return UNBOUNDED
    low, high = (expression_to_float(x, mechanism.values) for x in bounds)
    return low, high


def _range_of_actuators(mechanism: Mechanism, joint: str) -> EffortRange:
    """Return the range of τ that the actuators of a joint with one coordinate give together."""
    low = high = 0.0
    is_driven = False
    for actuator in mechanism.actuators.values():
        share = _share_on_joint(mechanism, actuator, joint)
        if share is None:
            return UNBOUNDED
        if share:
            ends = sorted(share * x for x in actuator_effort_range(mechanism, actuator))
            low, high, is_driven = low + ends[0], high + ends[1], True
    return (low, high) if is_driven else UNBOUNDED


def _share_on_joint(mechanism: Mechanism, actuator: Actuator, joint: str) -> float | None:
    """Return τ of a joint with one coordinate per unit of an actuator's effort; 0 if it does not
    act there, None if it acts on other joints too, or it is not known where it acts."""
    if actuator.joint is not None:
        gear = actuator.gear
        if actuator.joint != joint or not isinstance(gear, Expression):
            return 0.0
        return expression_to_float(gear, mechanism.values)
    if isinstance(actuator.moves, Name):
        return float(actuator.moves.name == joint)
    if actuator.moves is not None:
        return None if actuator.drives_coordinate(joint) else 0.0
    length = mechanism.lengths[actuator.length] if actuator.length is not None else None
    if length is None or length.path or mechanism.lengths.keys() & length.factors.keys():
        return None
    return None if joint in length.factors else 0.0
