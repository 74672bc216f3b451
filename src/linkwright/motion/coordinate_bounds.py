"""The limits of coordinates, velocities and efforts that a mechanism states, as arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..displays import NotebookDisplayed
from ..errors import LinkwrightError, UnsupportedError
from ..expressions import evaluate_expression_exactly
from ..mechanism import Joint, Mechanism, mechanism_names
from ..mechanism.effort_bounds import effort_ranges_by_velocity
from ..types import Booleans, Floats
from .trajectory import Trajectory

_RANGE_SLACK = 1e-9
"""The distance by which coordinates may be out of their ranges by rounding, rad or m."""


@dataclass(frozen=True, repr=False)
class CoordinateBounds(NotebookDisplayed):
    """Limits of coordinates, velocities and efforts; ±inf where the mechanism states none.

    Attributes
    ----------
    lower, upper : (nq,) array
        Ranges of the coordinates, rad or m.
    velocity : (nv,) array
        Largest |q̇|, rad/s or m/s.
    effort_lower, effort_upper : (nv,) array
        Least and greatest τ, N m or N.
    full_turns : (nq,) array of bool
        Coordinates that mean the same after 2π.

    Examples
    --------
    >>> import linkwright as lw
    >>> bounds = lw.motion.bounds_of(lw.gallery("elbow"))
    >>> bounds.full_turns.tolist()
    [True, True]
    """

    lower: Floats
    upper: Floats
    velocity: Floats
    effort_lower: Floats
    effort_upper: Floats
    full_turns: Booleans

    def summary(self) -> str:
        """Return one line: how many coordinates have limits."""
        limited = int((np.isfinite(self.lower) | np.isfinite(self.upper)).sum())
        return f"Bounds of {len(self.lower)} coordinates, {limited} of them with a range"


def bounds_of(mechanism: Mechanism) -> CoordinateBounds:
    """Return the limits of all coordinates, velocities and efforts of a mechanism.

    A joint that mimics another one narrows the range of that one. A velocity or effort limit of 0
    counts as not stated, as files write it. Ranges of actuators bound the effort of the joints that
    they drive, where each acts on one joint; for others see `plan.exceeded`.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism with its joints' limits.

    Returns
    -------
    CoordinateBounds
        One entry for each coordinate or velocity.

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.motion.bounds_of(lw.gallery("elbow")).summary()
    'Bounds of 2 coordinates, 0 of them with a range'
    """
    names = mechanism_names(mechanism)
    found = CoordinateBounds(
        np.full(names.nq, -np.inf),
        np.full(names.nq, np.inf),
        np.full(names.nv, np.inf),
        np.full(names.nv, -np.inf),
        np.full(names.nv, np.inf),
        np.zeros(names.nq, dtype=bool),
    )
    if mechanism.coordinates is not None:
        _refuse_bounds_of_chosen_coordinates(mechanism)
        return found
    at_q = at_v = 0
    leaders: dict[str, tuple[int, int]] = {}
    for name, joint in mechanism.joints_depth_first():
        if joint.moves:
            leaders[name] = at_q, at_v
            _set_joint_bounds(mechanism, found, joint, at_q, at_v)
            at_q, at_v = at_q + len(joint.coordinates), at_v + len(joint.dofs)
    _narrow_bounds_by_mimics(mechanism, found, leaders)
    for name, bounds in effort_ranges_by_velocity(mechanism).items():
        index = names.qd.index(name)
        found.effort_lower[index], found.effort_upper[index] = bounds
    free = np.isinf(found.lower) & np.isinf(found.upper)
    np.logical_and(found.full_turns, free, out=found.full_turns)
    return found


def check_planned_coordinates(mechanism: Mechanism, q: Floats, what: str) -> None:
    """Raise an error where coordinates are outside of their ranges."""
    bounds = bounds_of(mechanism)
    for name, x, low, high in zip(
        mechanism_names(mechanism).q, q, bounds.lower, bounds.upper, strict=True
    ):
        if not low - _RANGE_SLACK <= x <= high + _RANGE_SLACK:
            raise LinkwrightError(
                f"the {what} has {name} = {x:.6g}, outside its range from {low:.6g} to {high:.6g}",
                where=mechanism.name,
                remedy="give one within it",
            )


def trajectory_range_violations(mechanism: Mechanism, trajectory: Trajectory) -> list[str]:
    """Sentences on the coordinates that leave their ranges along a trajectory."""
    bounds, found = bounds_of(mechanism), []
    rows = zip(
        mechanism_names(mechanism).q,
        *trajectory.extremes(),
        bounds.lower,
        bounds.upper,
        strict=True,
    )
    for name, least, most, low, high in rows:
        if least < low - _RANGE_SLACK or most > high + _RANGE_SLACK:
            found.append(
                f"{name} goes from {least:.5g} to {most:.5g}, its range is {low:.5g} to {high:.5g}"
            )
    return found


def _refuse_bounds_of_chosen_coordinates(mechanism: Mechanism) -> None:
    for name, joint in mechanism.joints.items():
        if joint.limits.model_fields_set:
            raise UnsupportedError(
                "joint limits do not apply to chosen coordinates",
                where=f"joint {name}",
                remedy='leave one of the two out, for example by mechanism.without("limits")',
            )


def _set_joint_bounds(
    mechanism: Mechanism, found: CoordinateBounds, joint: Joint, at_q: int, at_v: int
) -> None:
    for key, at in (("lower", at_q), ("upper", at_q), ("velocity", at_v)):
        array = getattr(found, key)
        for k, value in enumerate(
            _coordinate_bounds_from_limits(mechanism, joint, getattr(joint.limits, key))
        ):
            if key in ("lower", "upper") or value != 0:
                array[at + k] = value
    found.full_turns[at_q] = joint.kind.is_hinge


def _coordinate_bounds_from_limits(
    mechanism: Mechanism, joint: Joint, field: Any
) -> Iterator[float]:
    if field is not None:
        for entry in joint.each(field):
            yield float(evaluate_expression_exactly(entry, mechanism.values))


def _narrow_bounds_by_mimics(
    mechanism: Mechanism, found: CoordinateBounds, leaders: dict[str, tuple[int, int]]
) -> None:
    for follower, joint in mechanism.joints.items():
        if joint.mimic is None:
            continue
        gain, offset, leader = 1.0, 0.0, joint
        while leader.mimic is not None:
            mimic = leader.mimic
            offset += gain * float(evaluate_expression_exactly(mimic.offset, mechanism.values))
            gain *= float(evaluate_expression_exactly(mimic.multiplier, mechanism.values))
            name, leader = mimic.joint, mechanism.joints[mimic.joint]
        if name not in leaders or gain == 0:
            continue
        at_q, at_v = leaders[name]
        found.full_turns[at_q] = False
        low, high = np.full(1, -np.inf), np.full(1, np.inf)
        own = CoordinateBounds(
            low, high, high.copy(), low.copy(), high.copy(), np.zeros(1, dtype=bool)
        )
        _set_joint_bounds(mechanism, own, joint, 0, 0)
        ends = sorted(((own.lower[0] - offset) / gain, (own.upper[0] - offset) / gain))
        found.lower[at_q] = max(found.lower[at_q], ends[0])
        found.upper[at_q] = min(found.upper[at_q], ends[1])
        found.velocity[at_v] = min(found.velocity[at_v], own.velocity[0] / abs(gain))
        if found.lower[at_q] > found.upper[at_q]:
            raise LinkwrightError(
                f"'{follower}' mimics '{name}', and their ranges have nothing in common",
                where=mechanism.name,
                remedy="correct them, or leave limits out",
            )
