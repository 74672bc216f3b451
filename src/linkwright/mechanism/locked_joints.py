"""Joints that are held at a position, and those that mimic them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..expressions import Expression, Product, Sum, expression_without_unit
from .joints import Joint
from .parts import replace_part_fields
from .poses import Pose

if TYPE_CHECKING:
    from .mechanism import Mechanism


def lock_mimicking_joints(joints: dict[str, Joint]) -> dict[str, Joint]:
    """Return the joints with followers of locked joints locked at the position that their leader
    gives."""
    followers: dict[str, list[str]] = {}
    for name, joint in joints.items():
        if joint.mimic is not None:
            followers.setdefault(joint.mimic.joint, []).append(name)
    leaders = [name for name, joint in joints.items() if joint.locked is not None]
    while leaders:
        leader = leaders.pop()
        for name in followers.get(leader, ()):
            position = _mimicking_joint_position(joints[name], joints[leader])
            joints[name] = replace_part_fields(joints[name], ["mimic"], locked=position)
            leaders.append(name)
    return joints


def parts_of_moving_joints(
    mechanism: Mechanism, joints: Mapping[str, Joint]
) -> dict[str, dict[str, object]]:
    """Return actuators and poses of a mechanism without those parts that belong to joints which
    these `joints` hold."""
    held = {name for name, joint in joints.items() if joint.locked is not None}
    actuators = {n: a for n, a in mechanism.actuators.items() if a.joint not in held}
    lost = {*held, *(mechanism.actuators.keys() - actuators.keys())}
    poses = {
        name: Pose(
            **{
                key: {n: x for n, x in table.items() if not lost & {n, n.rpartition(".")[0]}}
                for key, table in pose.tables()
            }
        )
        for name, pose in mechanism.poses.items()
    }
    given: dict[str, dict[str, object]] = {"actuators": {**actuators}, "poses": {**poses}}
    return {key: table for key, table in given.items() if getattr(mechanism, key)}


def _mimicking_joint_position(follower: Joint, leader: Joint) -> Expression:
    """Return the position of a follower whose leader is locked."""
    assert follower.mimic is not None
    assert leader.locked is not None
    (held,) = leader.each(leader.locked)
    product = Product(
        (expression_without_unit(follower.mimic.multiplier), expression_without_unit(held))
    )
    return Sum((product, expression_without_unit(follower.mimic.offset)))
