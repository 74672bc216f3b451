"""Checks of structure: valid and known names, a tree from ground, mimicry without cycles."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from ...errors import MechanismError, suggest_remedy
from ...expressions import PI, is_undotted_expression_name
from ..bodies import GROUND
from ..coordinates import joint_coordinate_names, joint_velocity_names, variable_meanings

if TYPE_CHECKING:
    from ..mechanism import Mechanism


_COORDINATE_FIELDS = (
    "limits",
    "damping",
    "friction",
    "smoothing",
    "stiffness",
    "rest",
    "motor",
    "mimic",
    "locked",
    "rotation",
    "friction_coefficient",
    "pin_radius",
    "static_ratio",
)
"""What needs a coordinate of the joint's own."""


def check_structure(mechanism: Mechanism) -> None:
    """Check names, references and the tree, on which the checks of numbers rely."""
    _check_part_names(mechanism)
    _check_parameter_names(mechanism)
    _check_body_references(mechanism)
    _check_joint_tree(mechanism)
    _check_loop_joints(mechanism)
    _check_joint_mimicry(mechanism)
    _check_unique_coordinate_names(mechanism)


def mechanism_error(what: str, where: str, remedy: str = "") -> MechanismError:
    """Return a `MechanismError` at a place."""
    return MechanismError(what, where=where, remedy=remedy)


def check_known_part_name(name: str, known: Collection[str], kind: str, where: str) -> None:
    """Raise where a name is not known, and suggest the nearest one."""
    if name not in known:
        raise mechanism_error(f"unknown {kind} '{name}'", where, suggest_remedy(name, list(known)))


def _check_part_names(mechanism: Mechanism) -> None:
    """Raise where names of parts are empty, reserved or used twice."""
    for table in ("bodies", "joints", "frames", "loops", "constraints", "forces", "contacts"):
        if any(not name.strip() for name in getattr(mechanism, table)):
            raise mechanism_error("an entry has an empty name", table, "give it a name")
    if GROUND in mechanism.bodies:
        raise mechanism_error(f"'{GROUND}' is the fixed world", "bodies", "rename the body")
    for name in mechanism.frames:
        if name == GROUND or name in mechanism.bodies:
            what = "the fixed world" if name == GROUND else "a body already"
            raise mechanism_error(f"'{name}' is {what}", f"frames.{name}", "rename the frame")
    for name in mechanism.loops:
        if name in mechanism.joints:
            where = f"loops.{name}"
            raise mechanism_error(f"'{name}' is a joint already", where, "rename the loop")
        if name in mechanism.constraints:
            where = f"constraints.{name}"
            raise mechanism_error(f"'{name}' is a loop already", where, "rename the constraint")


def _check_parameter_names(mechanism: Mechanism) -> None:
    """Raise where a parameter cannot be used in expressions, or shares a variable's name."""
    if PI in mechanism.parameters:
        raise mechanism_error("'pi' is 3.14159…", "parameters", "rename the parameter")
    variables = variable_meanings(mechanism)
    for name in mechanism.parameters:
        if not is_undotted_expression_name(name):
            raise mechanism_error(
                f"'{name}' cannot be used in an expression",
                "parameters",
                "name it by letters, digits and _, a letter first, and not like a function",
            )
        if name in variables:
            what = f"is a parameter and {variables[name][0]}"
            raise mechanism_error(what, f"parameters.{name}", "rename the parameter")


def _check_body_references(mechanism: Mechanism) -> None:
    """Raise where joints, loops, frames or `approximate` refer to unknown bodies."""
    bodies = {GROUND: None, **mechanism.bodies}
    for table, joints in (("joints", mechanism.joints), ("loops", mechanism.loops)):
        for name, joint in joints.items():
            check_known_part_name(joint.parent, bodies, "body", f"{table}.{name}.parent")
            check_known_part_name(joint.child, bodies, "body", f"{table}.{name}.child")
    for name, frame in mechanism.frames.items():
        check_known_part_name(frame.body, bodies, "body", f"frames.{name}.body")
    for name in (mechanism.approximate and mechanism.approximate.bodies) or ():
        check_known_part_name(name, mechanism.bodies, "body", "approximate.bodies")


def _check_joint_tree(mechanism: Mechanism) -> None:
    """Raise unless joints form a tree from ground that reaches every body."""
    carriers: dict[str, str] = {}
    for name, joint in mechanism.joints.items():
        where = f"joints.{name}"
        if joint.child == GROUND:
            raise mechanism_error("ground is the child", where, "swap parent and child")
        if joint.child == joint.parent:
            raise mechanism_error(f"'{joint.child}' is parent and child", where, "name two bodies")
        if joint.child in carriers:
            raise mechanism_error(
                f"'{joint.child}' is the child of joint '{carriers[joint.child]}' already",
                where,
                "put the joint that closes the loop under [loops]",
            )
        carriers[joint.child] = name
    reached = {joint.child for _, joint in mechanism.joints_depth_first()}
    for body in mechanism.bodies:
        if body not in reached:
            raise mechanism_error(
                f"no chain of joints leads from ground to '{body}'",
                f"bodies.{body}",
                f"add a joint with child = '{body}' (type free if nothing holds it)",
            )


def _check_loop_joints(mechanism: Mechanism) -> None:
    """Raise where a loop closes nothing, or has a field that needs a coordinate of its own."""
    for name, loop in mechanism.loops.items():
        where = f"loops.{name}"
        if loop.child == loop.parent:
            raise mechanism_error(f"'{loop.child}' is parent and child", where, "name two bodies")
        if loop.kind.closure is None:
            what = f"a {loop.type} joint closes nothing"
            raise mechanism_error(what, f"{where}.type", "use another type")
        for key in _COORDINATE_FIELDS:
            if key in loop.model_fields_set and getattr(loop, key) is not None:
                remedy = "remove it, or cut the loop at another joint"
                raise mechanism_error(
                    "a joint that closes a loop has none", f"{where}.{key}", remedy
                )


def _check_joint_mimicry(mechanism: Mechanism) -> None:
    """Raise unless every follower has a leader with one coordinate, and none follows itself."""
    settled: set[str] = set()
    for name, joint in mechanism.joints.items():
        chain = {name: None}
        while joint.mimic is not None and name not in settled:
            leader, where = joint.mimic.joint, f"joints.{name}.mimic.joint"
            check_known_part_name(leader, mechanism.joints, "joint", where)
            if leader in chain:
                raise mechanism_error(
                    f"'{leader}' follows itself", where, "let one of them move freely"
                )
            name, joint = leader, mechanism.joints[leader]
            chain[name] = None
            if len(joint.dofs) != 1 or joint.locked is not None:
                raise mechanism_error(
                    f"'{leader}' does not have exactly one coordinate",
                    where,
                    "follow another joint",
                )
        settled.update(chain)


def _check_unique_coordinate_names(mechanism: Mechanism) -> None:
    """Raise where two joints have a coordinate or velocity of the same name."""
    for kind, names_of in (("coordinate", joint_coordinate_names), ("speed", joint_velocity_names)):
        owners: dict[str, str] = {}
        for name, joint in mechanism.joints.items():
            for own in names_of(name, joint):
                if own in owners:
                    raise mechanism_error(
                        f"'{own}' is a {kind} of joint '{owners[own]}' already",
                        f"joints.{name}",
                        "rename one of the joints",
                    )
                owners[own] = name
