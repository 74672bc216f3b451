"""Members that break: the mechanism without them, and the same motion in its coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...expressions import expression_to_float
from ...expressions import names_in_expression as names_in
from ...kinematics.constraint_kinds.wheel import WheelRestraint
from ...kinematics.tree_builder import build_kinematic_tree
from ...mechanism import (
    Mechanism,
    joint_coordinate_names,
    joint_velocity_names,
    mechanism_names,
    part_numbers,
    replace_part_fields,
)
from ...model.model import compile as compiled
from ...types import Floats

_ENDS = ("the broken end at the parent", "the broken end at the child")
_KEPT = ("parent", "child", "origin", "child_origin")


def remove_member(mechanism: Mechanism, member: str) -> Mechanism:
    """Return the mechanism without a loop or constraint, or with a free joint in place of a joint.

    Forces along a broken joint are removed. Bodies of a planar mechanism may have inertia about its
    normal only; they stay in the plane.
    """
    mechanism = _with_named_sides(mechanism)
    if member in mechanism.joints:
        parted = _parted(mechanism, member, {"type": "free"})
        if mechanism.joints[member].kind.is_hinge and _weightless(parted):
            return _parted(mechanism, member, _in_plane(mechanism, member))
        return parted
    table = "loops" if member in mechanism.loops else "constraints"
    rest = {name: x for name, x in getattr(mechanism, table).items() if name != member}
    return _tidied(replace_part_fields(mechanism, ["independent"], **{table: rest}))


def _with_named_sides(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism in which wheels state their side of the plane explicitly."""
    rolling = [n for n, c in mechanism.constraints.items() if c.type == "rolling"]
    if not rolling:
        return mechanism
    ties = {tie.name: tie for tie in build_kinematic_tree(mechanism, "numeric").restraints.entries}
    constraints = dict(mechanism.constraints)
    for name in rolling:
        tie = ties[name]
        if isinstance(tie, WheelRestraint) and tie.other_radius is None:
            side = "-z" if tie.side < 0 else "+z"
            constraints[name] = replace_part_fields(constraints[name], side=side)
    return replace_part_fields(mechanism, constraints=constraints)


def _tidied(mechanism: Mechanism) -> Mechanism:
    """Return a mechanism without initial guesses of coordinates if it has no loops to close."""
    if mechanism.loops or mechanism.constraints:
        return mechanism
    return replace_part_fields(mechanism, ["assembly"])


def _weightless(mechanism: Mechanism) -> bool:
    """Whether something can move that has no inertia."""
    model = compiled(mechanism, threads=1)
    M = model.mass_matrix(model.integrate(model.neutral(), np.full(model.nv, 0.3)))
    sizes = np.sqrt(np.abs(np.diag(M)))
    if not sizes.all():
        return True
    return bool(np.linalg.eigvalsh(M / sizes[:, None] / sizes)[0] < 1e-12)


def _in_plane(mechanism: Mechanism, member: str) -> dict[str, Any]:
    """Return the planar joint that keeps a broken hinge in its plane."""
    axis = mechanism.joints[member].axis
    numbers = [expression_to_float(x, mechanism.values) for x in axis]
    along_x = abs(numbers[0]) > 0.9 * float(np.linalg.norm(numbers))
    return {"type": "planar", "axis": axis, "axis2": [0, 1, 0] if along_x else [1, 0, 0]}


def _parted(mechanism: Mechanism, member: str, kind: dict[str, Any]) -> Mechanism:
    """Return the mechanism with a joint replaced, and without the forces along it."""
    joint = mechanism.joints[member]
    gone = {*joint_coordinate_names(member, joint), *joint_velocity_names(member, joint)}
    gone |= {f"d{name}" for name in gone}
    fields = {key: getattr(joint, key) for key in _KEPT if key in joint.model_fields_set}
    joints = {**mechanism.joints, member: {**kind, **fields}}
    tables = {
        key: {name: part for name, part in getattr(mechanism, key).items() if not _uses(part, gone)}
        for key in ("forces", "actuators", "constraints")
        if getattr(mechanism, key)
    }
    assembly = {name: x for name, x in mechanism.assembly.items() if name not in gone}
    changed = {"assembly": assembly} if mechanism.assembly else {}
    bare = replace_part_fields(
        mechanism, ["independent", "assembly"], joints=joints, **tables, **changed
    )
    return _tidied(bare)


def _uses(part: Any, gone: set[str]) -> bool:
    """Whether a force, actuator or constraint refers to coordinates that no longer exist."""
    spoken = {name for _, number, _ in part_numbers(part) for name in names_in(number)}
    spoken |= {str(getattr(part, key, "")) for key in ("on", "joint", "other")}
    spoken |= set(getattr(part, "factors", ()))
    return bool(spoken & gone)


def carry_over_motion(
    before: Mechanism, after: Mechanism, member: str, q: Floats, qd: Floats
) -> tuple[Floats, Floats]:
    """The same places and velocities of all bodies, in the coordinates of the mechanism after."""
    if member not in before.joints:
        return q, qd
    old, new = mechanism_names(before), mechanism_names(after)
    q_new = np.zeros(new.nq)
    qd_new = np.zeros(new.nv)
    for names, olds, values, out in ((new.q, old.q, q, q_new), (new.qd, old.qd, qd, qd_new)):
        for k, name in enumerate(names):
            if name in olds:
                out[k] = values[olds.index(name)]
    if f"{member}.theta" in new.q:
        q_new[new.q.index(f"{member}.theta")] = q[old.q.index(member)]
        qd_new[new.qd.index(f"{member}.theta")] = qd[old.qd.index(member)]
        return q_new, qd_new
    place, speeds = _apart(before, member, q, qd)
    for ending, value in place.items():
        q_new[new.q.index(f"{member}.{ending}")] = value
    for ending, value in speeds.items():
        qd_new[new.qd.index(f"{member}.{ending}")] = value
    return q_new, qd_new


def _apart(
    before: Mechanism, member: str, q: Floats, qd: Floats
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the placement of the child's joint frame in that of the parent, and its velocities."""
    from scipy.spatial.transform import Rotation

    joint = before.joints[member]
    frames = dict(before.frames)
    marks = {
        _ENDS[0]: {"body": joint.parent, "origin": joint.origin},
        _ENDS[1]: {"body": joint.child, "origin": joint.child_origin},
    }
    model = compiled(replace_part_fields(before, frames={**frames, **marks}), threads=1)
    A, B = (model.placement(end)(q) for end in _ENDS)
    a, b = (model.frame_velocity(end)(q, qd) for end in _ENDS)
    R, apart = A[:3, :3].T @ B[:3, :3], A[:3, :3].T @ (B[:3, 3] - A[:3, 3])
    x, y, z, w = Rotation.from_matrix(R).as_quat()
    turning = B[:3, :3].T @ (b[:3] - a[:3])
    carried = a[3:] + np.cross(a[:3], B[:3, 3] - A[:3, 3])
    sliding = B[:3, :3].T @ (b[3:] - carried)
    place = dict(zip(("x", "y", "z", "qw", "qx", "qy", "qz"), (*apart, w, x, y, z), strict=True))
    speeds = dict(zip(("wx", "wy", "wz", "vx", "vy", "vz"), (*turning, *sliding), strict=True))
    return place, speeds
