"""The mechanism that a page can simulate: what decides in Python is made smooth, and said."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import LinkwrightError
from ..expressions import ZERO, expression_to_float, names_in_expression
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import GROUND, Mechanism, mechanism_names
from ..mechanism.parts import replace_part_fields
from ..mechanism.strength import breaking_members
from ..simulation.exported_motion import ExportedMotion

FRICTION_SPEEDS = {"small": 0.01, "large": 0.1}
"""The speed at which dry friction sets in on a page, rad/s (half of it in m/s); sharper friction
of light links in large mechanisms would need very small steps."""
MAX_SMALL_SPEEDS = 8
"""Velocities of a mechanism that counts as small."""
SINKING_SHARE = 5e-5
"""How deep the whole weight sinks in at one contact, as a share of the mechanism's size: bounces
from a height of the size are 0.3 % lower than those of a rigid contact."""
MAX_PAGE_STOPS = 12
"""Stops that act on a page: their forces are coupled, and code grows with the square of them."""


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
            if len(motion.stops) <= MAX_PAGE_STOPS:
                break
            notes.append(f"The {len(motion.stops)} limits of joints are shown, but do not act.")
    except LinkwrightError as error:
        return None, [f"The page cannot simulate this mechanism: {error}."]
    return motion, notes


def smooth_mechanism(mechanism: Mechanism, size: float) -> tuple[Mechanism, list[str]]:
    """Return the mechanism with smooth friction, compliant contacts and unbreakable members, and
    notes on them."""
    notes: list[str] = []
    found = mechanism
    is_small = mechanism_names(mechanism).nv <= MAX_SMALL_SPEEDS
    speed = FRICTION_SPEEDS["small" if is_small else "large"]
    joints = dict(mechanism.joints)
    for name, joint in mechanism.joints.items():
        rough = joint.friction != ZERO or joint.friction_coefficient != ZERO
        if joint.moves and rough and all(x == ZERO for x in joint.each(joint.smoothing)):
            turns = all(freedom.is_rotation for freedom in joint.dofs)
            smoothing = f"{speed} rad/s" if turns else f"{speed / 2} m/s"
            joints[name] = replace_part_fields(joint, smoothing=smoothing)
    if joints != dict(mechanism.joints):
        found = replace_part_fields(found, joints=joints)
        notes.append(
            f"Dry friction does not stick: it is smoothed at {speed} rad/s, so joints creep."
        )
    floats = any(j.kind.is_floating and j.parent == GROUND for j in mechanism.joints.values())
    if floats and not mechanism.contacts and not mechanism.constraints and not mechanism.loops:
        notes.append("The file states no contacts with the ground, so nothing holds this body.")
    if any(one.is_rigid for one in mechanism.contacts.values()):
        dampings = contact_dampings(mechanism)
        parameters = dict(found.parameters) | dict.fromkeys(dampings.values(), "1.5")
        contacts = _compliant_contacts(mechanism, size, dampings)
        found = replace_part_fields(found, contacts=contacts, parameters=parameters)
        notes.append("Contacts with planes are stiff springs here, which rebound as rigid ones do.")
    if breaking_members(found):
        kept = {
            table: {
                n: replace_part_fields(one, ("breaks",)) for n, one in getattr(found, table).items()
            }
            for table in ("joints", "loops", "constraints")
        }
        found = replace_part_fields(found, **kept)
        notes.append("Members do not break here.")
    return found, notes


def contact_dampings(mechanism: Mechanism) -> dict[str, str]:
    """Return by rigid contact the name of the parameter for its damping, which the page sets so
    that the contact rebounds with its restitution at the speed at which it closes."""
    rigid = [name for name, one in mechanism.contacts.items() if one.is_rigid]
    stem = "contact_damping"
    while any(name.startswith(stem) for name in mechanism.parameters):
        stem += "_"
    return {name: f"{stem}{k}" for k, name in enumerate(rigid)}


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
        if one.is_rigid:
            fields = ("restitution", "static_ratio")
            found[name] = replace_part_fields(
                one, fields, stiffness=repr(stiffness), damping=dampings[name], smoothing="0.01"
            )
    return found
