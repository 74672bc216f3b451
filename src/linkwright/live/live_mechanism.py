"""The mechanism that a page can simulate: what a page cannot decide is made smooth, and said."""

from __future__ import annotations

import math
from collections.abc import Mapping

import casadi as ca
import numpy as np

from ..errors import LinkwrightError
from ..expressions import ZERO, expression_to_float, names_in_expression
from ..formulations.composite_mass_matrix import composite_mass_matrix
from ..kinematics.closing import CLOSURE_TOLERANCES, jacobian_pseudoinverse
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import GROUND, Joint, Limits, Mechanism, joint_velocity_names
from ..mechanism.parts import replace_part_fields
from ..mechanism.strength import breaking_members
from ..show.mechanism_scene import Scene
from ..simulation.exported_motion import ExportedMotion
from ..simulation.exported_rows import ExportedRows

FRICTION_SPEED = 0.01
"""The lowest speed at which dry friction sets in on a page, rad/s (half of it in m/s)."""
FRICTION_RATE = 80_000.0
"""The fastest decay of a velocity by dry friction, 1/s, times the number of velocities: friction of
light links sets in at higher speeds, because sharper friction would need very small steps."""
SINKING_SHARE = 5e-5
"""How deep the whole weight sinks in at one contact, as a share of the mechanism's size: bounces
from a height of the size are 0.3 % lower than those of a rigid contact."""
LIMIT_SLACK = 1e-9
"""Limits of two joints that are closer than this are one, rad or m."""
MAX_PAGE_STOPS = 40
"""Stops and joints with friction that act on a page where loops couple their forces: code grows
with the cube of their number, to 1 MB for the 36 of a hexapod."""


def effective_parameters(mechanism: Mechanism) -> dict[str, float]:
    """Return the values of the named parameters that are numbers, not expressions of others, and
    on which the equations of motion depend."""
    own = mechanism.parameters
    uses = {name: [x for x in names_in_expression(own[name]) if x in own] for name in own}
    pending = [n for n in build_kinematic_tree(mechanism, "symbolic").symbols if n in own]
    effective: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in effective:
            effective.add(name)
            pending += uses[name]
    return {n: float(mechanism.values[n]) for n in own if n in effective and not uses[n]}


def make_live_motion(
    mechanism: Mechanism, parameters: Mapping[str, float]
) -> tuple[ExportedMotion | None, list[str]]:
    """Return the motion of a smooth mechanism, and a note if limits do not act; None and the
    reason if it cannot be exported."""
    notes: list[str] = []
    try:
        for stops in ("impact", "ignore"):
            motion = ExportedMotion(mechanism, tuple(parameters), stops=stops, pushes=True)
            if motion.locks_velocities or len(motion.rows) <= MAX_PAGE_STOPS:
                break
            count = motion.rows.stop_count - motion.rows.contact_count
            notes.append(f"The {count} limits of joints are shown, but do not act.")
    except LinkwrightError as error:
        return None, [f"The page cannot simulate this mechanism: {error}."]
    return motion, notes


def smooth_mechanism(scene: Scene) -> tuple[Mechanism, list[str]]:
    """Return the mechanism with compliant contacts and unbreakable members, and notes on them; its
    friction is smooth if there is too much of it."""
    notes: list[str] = []
    found = mechanism = scene.mechanism
    joints = _without_doubled_limits(mechanism)
    if joints != dict(mechanism.joints):
        found = replace_part_fields(found, joints=joints)
    floats = any(j.kind.is_floating and j.parent == GROUND for j in mechanism.joints.values())
    if floats and not mechanism.contacts and not mechanism.constraints and not mechanism.loops:
        notes.append("The file states no contacts with the ground, so nothing holds this body.")
    dampings = contact_dampings(mechanism)
    if dampings:
        parameters = dict(found.parameters) | dict.fromkeys(dampings.values(), "1.5")
        contacts = _compliant_contacts(mechanism, scene.size, dampings)
        found = replace_part_fields(found, contacts=contacts, parameters=parameters)
        what = "Contacts with friction" if rubs_only(mechanism) else "Contacts with planes"
        notes.append(f"{what} are stiff springs here, which rebound as rigid ones do.")
    if breaking_members(found):
        kept = {
            table: {
                n: replace_part_fields(one, ("breaks",)) for n, one in getattr(found, table).items()
            }
            for table in ("joints", "loops", "constraints")
        }
        found = replace_part_fields(found, **kept)
        notes.append("Members do not break here.")
    rough = [name for name, joint in found.joints.items() if _is_rough(joint)]
    if rough and not _can_stick(found):
        speeds = _friction_speeds(scene, rough)
        found = _with_smooth_friction(found, speeds)
        notes.append(_friction_note(found.joints, speeds))
    return found, notes


def _can_stick(mechanism: Mechanism) -> bool:
    """Whether a page can afford friction that sticks."""
    try:
        rows = ExportedRows(mechanism, "impact", {})
    except LinkwrightError:
        return False
    is_tree = not (mechanism.loops or mechanism.constraints)
    return len(rows) <= MAX_PAGE_STOPS or (is_tree and bool(rows.held_velocities))


def _with_smooth_friction(
    mechanism: Mechanism, speeds: Mapping[str, tuple[float, ...]]
) -> Mechanism:
    """Return the mechanism with friction that is smoothed at given speeds."""
    joints = dict(mechanism.joints)
    for name, values in speeds.items():
        joint = joints[name]
        units = ("rad/s" if freedom.is_rotation else "m/s" for freedom in joint.dofs)
        smoothing = tuple(f"{v!r} {unit}" for v, unit in zip(values, units, strict=True))
        joints[name] = replace_part_fields(
            joint, smoothing=smoothing[0] if len(smoothing) == 1 else smoothing
        )
    return replace_part_fields(mechanism, joints=joints)


def _without_doubled_limits(mechanism: Mechanism) -> dict[str, Joint]:
    """Return the joints, without limits of mimicking ones that the joints they follow reach at the
    same time or before: two stops that hold one coordinate cannot share their force."""

    def ends(joint: Joint) -> list[float]:
        given = ((joint.limits.lower, -math.inf), (joint.limits.upper, math.inf))
        return [
            end if one is None else expression_to_float(joint.each(one)[0], mechanism.values)
            for one, end in given
        ]

    found = dict(mechanism.joints)
    for name, joint in mechanism.joints.items():
        if joint.mimic is None:
            continue
        ratio, offset = (
            expression_to_float(one, mechanism.values)
            for one in (joint.mimic.multiplier, joint.mimic.offset)
        )
        low, high = sorted(
            ratio * one + offset for one in ends(mechanism.joints[joint.mimic.joint])
        )
        own_low, own_high = ends(joint)
        if ratio != 0 and own_low <= low + LIMIT_SLACK and high - LIMIT_SLACK <= own_high:
            found[name] = replace_part_fields(joint, limits=Limits())
    return found


def _is_rough(joint: Joint) -> bool:
    """Whether a joint has dry friction that a page smooths: friction by the joint's own reaction
    cannot be smoothed."""
    is_stated = joint.friction != ZERO and all(x == ZERO for x in joint.each(joint.smoothing))
    return joint.moves and is_stated


def _friction_speeds(scene: Scene, rough: list[str]) -> dict[str, tuple[float, ...]]:
    """Return by joint the speeds at which friction sets in: so high that friction slows down no
    velocity faster than `FRICTION_RATE` allows at home, where all others are free."""
    mechanism, names = scene.mechanism, scene.tree.names
    M = np.array(ca.DM(composite_mass_matrix(scene.tree, ca.SX(scene.home))))
    mobilities = np.nan_to_num(np.diag(jacobian_pseudoinverse(M, CLOSURE_TOLERANCES.rank_share)))
    found: dict[str, tuple[float, ...]] = {}
    for name in rough:
        joint = mechanism.joints[name]
        backward = joint.friction_backward
        sides = [joint.each(one) for one in (joint.friction, backward) if one is not None]
        own = []
        for k, velocity in enumerate(joint_velocity_names(name, joint)):
            force = max(expression_to_float(side[k], mechanism.values) for side in sides)
            least = force * mobilities[names.qd.index(velocity)] * names.nv / FRICTION_RATE
            slowest = FRICTION_SPEED if joint.dofs[k].is_rotation else FRICTION_SPEED / 2
            own.append(max(slowest, float(f"{least:.2g}")))
        found[name] = tuple(own)
    return found


def _friction_note(joints: Mapping[str, Joint], speeds: Mapping[str, tuple[float, ...]]) -> str:
    """Say from which speeds on friction acts."""
    by_unit: dict[str, list[float]] = {}
    for name, values in speeds.items():
        for freedom, value in zip(joints[name].dofs, values, strict=True):
            by_unit.setdefault("rad/s" if freedom.is_rotation else "m/s", []).append(value)
    ranges = [
        f"{min(own):g} {unit}" if min(own) == max(own) else f"{min(own):g} to {max(own):g} {unit}"
        for unit, own in by_unit.items()
    ]
    return (
        f"Dry friction does not stick: it is smoothed at {' and '.join(ranges)}, so joints creep."
    )


def contact_dampings(mechanism: Mechanism) -> dict[str, str]:
    """Return by rigid contact that the page makes a spring the name of the parameter for its
    damping, which the page sets so that the contact rebounds with its restitution at the speed at
    which it closes."""
    rigid = [name for name, one in mechanism.contacts.items() if one.is_rigid]
    if rubs_only(mechanism):
        rigid = [name for name in rigid if _rubs(mechanism, name)]
    stem = "contact_damping"
    while any(name.startswith(stem) for name in mechanism.parameters):
        stem += "_"
    return {name: f"{stem}{k}" for k, name in enumerate(rigid)}


def rubs_only(mechanism: Mechanism) -> bool:
    """Whether only contacts with friction become springs: others act as events, if they are not too
    many."""
    rigid = [name for name, one in mechanism.contacts.items() if one.is_rigid]
    return sum(not _rubs(mechanism, name) for name in rigid) <= MAX_PAGE_STOPS


def _rubs(mechanism: Mechanism, name: str) -> bool:
    """Whether a contact has friction."""
    return expression_to_float(mechanism.contacts[name].friction, mechanism.values) > 0


def _compliant_contacts(
    mechanism: Mechanism, size: float, dampings: Mapping[str, str]
) -> dict[str, object]:
    """Return all contacts, the rigid ones with a stiffness."""
    weight = 9.81 * sum(
        expression_to_float(body.mass, mechanism.values) for body in mechanism.bodies.values()
    )
    depth = SINKING_SHARE * size
    stiffness = max(weight, 1e-6) / depth**1.5
    found: dict[str, object] = dict(mechanism.contacts)
    for name, one in mechanism.contacts.items():
        if name in dampings:
            fields = ("restitution", "static_ratio")
            found[name] = replace_part_fields(
                one, fields, stiffness=repr(stiffness), damping=dampings[name], smoothing="0.01"
            )
    return found
