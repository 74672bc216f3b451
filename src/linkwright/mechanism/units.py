"""Units of single coordinates and speeds, and of what goes with them."""

from __future__ import annotations

from ..expressions import names
from .coordinates import coordinate_names, speed_names
from .mechanism import Mechanism

EITHER = "rad or m"

OF_SPEED = {
    "qd": {"rad": "rad/s", "m": "m/s", EITHER: "rad/s or m/s"},
    "qdd": {"rad": "rad/s^2", "m": "m/s^2", EITHER: "rad/s^2 or m/s^2"},
    "tau": {"rad": "N m", "m": "N", EITHER: "N m or N"},
    "p": {"rad": "kg m^2/s", "m": "kg m/s", EITHER: "kg m^2/s or kg m/s"},
}
"""Units of speeds, their rates, forces and momenta, by that of the displacement."""


def coordinate_units(mechanism: Mechanism) -> list[str]:
    """rad, m, or 1 (entries of quaternions) of every coordinate."""
    if mechanism.coordinates is not None:
        return _of_chosen(mechanism)
    found: list[str] = []
    for name, joint in mechanism.joints_depth_first():
        own = coordinate_names(name, joint)
        if joint.by_quaternion and joint.moves:
            found += ["m" if ending in ("x", "y", "z") else "1" for ending in joint.coordinates]
        elif own:
            found += ["rad" if freedom.turns else "m" for freedom in joint.freedoms]
    return found


def speed_units(mechanism: Mechanism) -> list[str]:
    """rad or m, a second of which is the unit of the speed."""
    if mechanism.coordinates is not None:
        return _of_chosen(mechanism)
    joints = [(n, j) for n, j in mechanism.joints_depth_first() if speed_names(n, j)]
    return ["rad" if freedom.turns else "m" for _, joint in joints for freedom in joint.freedoms]


def _of_chosen(mechanism: Mechanism) -> list[str]:
    """By the joint variables that a chosen coordinate goes with: of one kind, or either."""
    chosen = mechanism.coordinates
    assert chosen is not None
    kinds: dict[str, str] = {}
    for name, joint in mechanism.joints_depth_first():
        units = ["rad" if freedom.turns else "m" for freedom in joint.freedoms]
        kinds |= dict(zip(coordinate_names(name, joint), units, strict=False))
    found = []
    for own in chosen.own:
        if chosen.new:
            used = {kinds[n] for n in names(chosen.new[own]) if n in kinds}
        else:
            used = {kinds[n] for n, text in chosen.joints.items() if own in names(text)}
        found.append(used.pop() if len(used) == 1 else EITHER)
    return found
