"""Units of single coordinates and velocities, and of the forces and rates that go with them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..displays import NotebookTable
from ..expressions import names_in_expression
from .coordinates import joint_coordinate_names, joint_velocity_names, mechanism_names

if TYPE_CHECKING:
    from ..types import Floats
    from .mechanism import Mechanism

ANGLE_OR_LENGTH = "rad or m"

UNITS_OF_RATES = {
    "qd": {"rad": "rad/s", "m": "m/s", ANGLE_OR_LENGTH: "rad/s or m/s"},
    "qdd": {"rad": "rad/s^2", "m": "m/s^2", ANGLE_OR_LENGTH: "rad/s^2 or m/s^2"},
    "tau": {"rad": "N m", "m": "N", ANGLE_OR_LENGTH: "N m or N"},
    "p": {"rad": "kg m^2/s", "m": "kg m/s", ANGLE_OR_LENGTH: "kg m^2/s or kg m/s"},
}
"""Units of velocities, their rates, forces and momenta, by that of the displacement."""


def coordinate_units(mechanism: Mechanism) -> list[str]:
    """Return the unit of every coordinate: rad, m, or 1 (entries of quaternions)."""
    if mechanism.coordinates is not None:
        return _chosen_coordinate_units(mechanism)
    found: list[str] = []
    for name, joint in mechanism.joints_depth_first():
        own = joint_coordinate_names(name, joint)
        if joint.by_quaternion and joint.moves:
            found += ["m" if ending in ("x", "y", "z") else "1" for ending in joint.coordinates]
        elif own:
            found += ["rad" if freedom.is_rotation else "m" for freedom in joint.dofs]
    return found


def coordinate_range_table(
    mechanism: Mechanism, q: Floats, notes: Sequence[str] = ()
) -> NotebookTable:
    """First, last, smallest and largest value of every coordinate in a history q (times, nq)."""
    names, units = mechanism_names(mechanism).q, coordinate_units(mechanism)
    values = zip(q[0].tolist(), q[-1].tolist(), q.min(0).tolist(), q.max(0).tolist(), strict=True)
    rows = [
        (f"{name} ({unit})", *row) for name, unit, row in zip(names, units, values, strict=True)
    ]
    return NotebookTable(("coordinate", "start", "end", "smallest", "largest"), rows, notes)


def velocity_units(mechanism: Mechanism) -> list[str]:
    """Return rad or m for every velocity: its unit is this per second."""
    if mechanism.coordinates is not None:
        return _chosen_coordinate_units(mechanism)
    joints = [(n, j) for n, j in mechanism.joints_depth_first() if joint_velocity_names(n, j)]
    return ["rad" if freedom.is_rotation else "m" for _, joint in joints for freedom in joint.dofs]


def _chosen_coordinate_units(mechanism: Mechanism) -> list[str]:
    """Return the units of chosen coordinates: that of the joint variables in them, or "rad or m" if
    these differ."""
    chosen = mechanism.coordinates
    assert chosen is not None
    kinds: dict[str, str] = {}
    for name, joint in mechanism.joints_depth_first():
        units = ["rad" if freedom.is_rotation else "m" for freedom in joint.dofs]
        kinds |= dict(zip(joint_coordinate_names(name, joint), units, strict=False))
    found = []
    for own in chosen.own_names:
        if chosen.new:
            used = {kinds[n] for n in names_in_expression(chosen.new[own]) if n in kinds}
        else:
            used = {
                kinds[n] for n, text in chosen.joints.items() if own in names_in_expression(text)
            }
        found.append(used.pop() if len(used) == 1 else ANGLE_OR_LENGTH)
    return found
