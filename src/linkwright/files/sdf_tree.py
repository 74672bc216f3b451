"""The joints of SDF as a tree with loops: SDF has links and joints in any order and direction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..mechanism import GROUND
from ..types import Floats
from .sdf_frames import placement_fields
from .sdf_joints import SdfJoint
from .unique_names import make_unique_element_name

JointTables = dict[str, dict[str, object]]


def span_sdf_tree(
    joints: Sequence[SdfJoint], links: Mapping[str, tuple[Floats, bool]]
) -> tuple[JointTables, JointTables]:
    """Return the joints of a tree that reaches every body, in file order, and the loops.

    `links` has the pose of each body in the world, and whether it belongs to a static model.
    Static bodies are fixed to the world; the first body of a part that nothing holds is free.
    """
    roots: JointTables = {}
    reached = {GROUND}
    waiting = [joint for joint in joints if joint.fields]
    taken = {joint.name for joint in joints}

    def hold(body: str, kind: str) -> None:
        name = make_unique_element_name(f"{body}_{kind}", taken)
        taken.add(name)
        roots[name] = {"type": kind, "child": body, "origin": placement_fields(links[body][0])}
        reached.add(body)

    for body, (_, is_static) in links.items():
        if is_static:
            hold(body, "fixed")
    while True:
        while (onward := _next_tree_joint(waiting, reached)) is not None:
            reached.add(onward.child)
            waiting.remove(onward)
        rest = [body for body in links if body not in reached]
        if not rest:
            break
        children = {joint.child for joint in waiting}
        hold(next((body for body in rest if body not in children), rest[0]), "free")
    inside = {joint.name: joint.fields for joint in joints if joint.fields and joint not in waiting}
    return roots | inside, {joint.name: joint.loop_fields() for joint in waiting}


def _next_tree_joint(waiting: Sequence[SdfJoint], reached: set[str]) -> SdfJoint | None:
    """Return a joint that leads to a new body, first those with losses or springs, which cannot
    close loops, then those with limits, which a loop would lose. Where only its child is reached, a
    joint with one axis is turned round; its coordinate stays the same."""
    joints = sorted(waiting, key=lambda one: (not one.has_losses, "limits" not in one.fields))
    for joint in joints:
        if joint.parent in reached and joint.child not in reached:
            return joint
    for joint in joints:
        if joint.is_reversible and joint.child in reached and joint.parent not in reached:
            joint.reverse()
            return joint
    return None
