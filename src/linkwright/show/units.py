"""Which coordinates and speeds are angles, lengths, or parts of a quaternion."""

from __future__ import annotations

from ..expressions import names as names_in
from ..mechanism import Mechanism, coordinate_names, speed_names

ANGLE, LENGTH, NUMBER = "rad", "m", "1"


def coordinate_units(mechanism: Mechanism) -> list[str]:
    """rad, m or 1 for each of q."""
    joints = _of_joints(mechanism)
    return _of_chosen(mechanism, joints) if mechanism.coordinates else list(joints.values())


def speed_units(mechanism: Mechanism) -> list[str]:
    """rad or m (to be taken a second) for each of q̇."""
    if mechanism.coordinates is not None:
        return _of_chosen(mechanism, _of_joints(mechanism))
    return [
        ANGLE if freedom.turns else LENGTH
        for _, joint in mechanism.joints_depth_first()
        if joint.moves
        for freedom in joint.freedoms
    ]


def speed_labels(mechanism: Mechanism) -> list[str]:
    """Names of the speeds."""
    if mechanism.coordinates is not None:
        return list(mechanism.coordinates.own)
    return [s for name, joint in mechanism.joints_depth_first() for s in speed_names(name, joint)]


def _of_joints(mechanism: Mechanism) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, joint in mechanism.joints_depth_first():
        for k, each in enumerate(coordinate_names(name, joint)):
            if joint.by_quaternion:
                found[each] = LENGTH if joint.coordinates[k] in ("x", "y", "z") else NUMBER
            else:
                found[each] = ANGLE if joint.freedoms[k].turns else LENGTH
    return found


def _of_chosen(mechanism: Mechanism, joints: dict[str, str]) -> list[str]:
    """A new coordinate is measured as the joints' variables that it stands with."""
    chosen = mechanism.coordinates
    assert chosen is not None
    units = {}
    for name in chosen.own:
        if name in chosen.new:
            beside = [joints[v] for v in sorted(names_in(chosen.new[name])) if v in joints]
        else:
            beside = [joints[v] for v, e in chosen.joints.items() if name in names_in(e)]
        units[name] = beside[0] if beside else ANGLE
    return list(units.values())
