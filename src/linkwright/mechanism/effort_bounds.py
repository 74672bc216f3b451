"""The largest efforts that joints and actuators of a mechanism allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..expressions import Expression, Name, expression_to_float
from .actuators import Actuator
from .coordinates import joint_velocity_names

if TYPE_CHECKING:
    from .mechanism import Mechanism


def effort_bounds_by_velocity(mechanism: Mechanism) -> dict[str, float]:
    """Return the largest |τ| by velocity, N m or N, where limits of joints or ranges of all
    actuators of a joint bound it.

    A limit of 0 counts as not stated, as files write it.
    """
    found: dict[str, float] = {}
    for name, joint in mechanism.joints.items():
        speeds = joint_velocity_names(name, joint)
        if joint.limits.effort is not None:
            for speed, entry in zip(speeds, joint.each(joint.limits.effort), strict=False):
                if most := expression_to_float(entry, mechanism.values):
                    found[speed] = most
        if len(speeds) == 1:
            most = min(found.get(speeds[0], math.inf), _most_of_actuators(mechanism, name))
            if math.isfinite(most):
                found[speeds[0]] = most
    return found


def actuator_effort_bound(mechanism: Mechanism, actuator: Actuator) -> float:
    """Return the largest |effort| of an actuator: by its range, or by that of its control if the
    effort is a multiple of it; infinite if nothing bounds it."""

    def largest(bounds: tuple[Expression, ...] | None) -> float:
        if bounds is None:
            return math.inf
        low, high = (abs(expression_to_float(x, mechanism.values)) for x in bounds)
        return min(low, high) or max(low, high)  # a range from 0 counts by its other end

    most = largest(actuator.effort_range)
    gain = [expression_to_float(x, mechanism.values) for x in actuator.affine_gain]
    bias = [expression_to_float(x, mechanism.values) for x in actuator.bias]
    has_free_state = actuator.activation is not None and actuator.activation.time_constant is None
    if any(gain[1:]) or any(bias) or has_free_state:
        return most
    return min(most, abs(gain[0]) * largest(actuator.control_range))


def _most_of_actuators(mechanism: Mechanism, joint: str) -> float:
    """Return the largest |τ| that the actuators of a joint with one coordinate give together."""
    shares = [
        (_share_on_joint(mechanism, actuator, joint), actuator)
        for actuator in mechanism.actuators.values()
    ]
    total, is_driven = 0.0, False
    for share, actuator in shares:
        if share is None:
            return math.inf
        if share:
            total, is_driven = total + share * actuator_effort_bound(mechanism, actuator), True
    return total if is_driven else math.inf


def _share_on_joint(mechanism: Mechanism, actuator: Actuator, joint: str) -> float | None:
    """Return |τ| of a joint with one coordinate per unit of an actuator's effort; 0 if it does not
    act there, None if it acts on other joints too, or it is not known where it acts."""
    if actuator.joint is not None:
        gear = actuator.gear
        if actuator.joint != joint or not isinstance(gear, Expression):
            return 0.0
        return abs(expression_to_float(gear, mechanism.values))
    if isinstance(actuator.moves, Name):
        return float(actuator.moves.name == joint)
    if actuator.moves is not None:
        return None if actuator.drives_coordinate(joint) else 0.0
    length = mechanism.lengths[actuator.length] if actuator.length is not None else None
    if length is None or length.path or mechanism.lengths.keys() & length.factors.keys():
        return None
    return None if joint in length.factors else 0.0
