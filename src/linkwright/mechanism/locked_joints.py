"""Joints that are held at a position, and those that mimic them."""

from __future__ import annotations

from ..expressions import Expression, Product, Sum, expression_without_unit
from .joints import Joint
from .parts import replace_part_fields


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


def _mimicking_joint_position(follower: Joint, leader: Joint) -> Expression:
    """Return the position of a follower whose leader is locked."""
    assert follower.mimic is not None
    assert leader.locked is not None
    (held,) = leader.each(leader.locked)
    product = Product(
        (expression_without_unit(follower.mimic.multiplier), expression_without_unit(held))
    )
    return Sum((product, expression_without_unit(follower.mimic.offset)))
