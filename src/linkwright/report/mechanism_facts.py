"""Facts about a mechanism as plain data, for `linkwright info` and for pages."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import TypedDict, cast

from ..errors import LinkwrightError
from ..expressions import expression_text, expression_to_float
from ..kinematics.made_up_names import numbered_joints, part_number
from ..mechanism import GROUND, Joint, Mechanism, mechanism_names


class ParameterFacts(TypedDict):
    """The value of a parameter in SI units, and its text in the file."""

    value: float
    as_written: str


class JointFacts(TypedDict):
    """The kind of a joint, the bodies that it joins, its degrees of freedom, and a note."""

    type: str
    parent: str
    child: str
    dof: int
    note: str


class MobilityFacts(TypedDict, total=False):
    """The mobility of a mechanism with loops or constraints, or why they cannot be closed."""

    freedom: int | None
    why: str
    text: str


class MechanismPageFacts(TypedDict):
    """The parts of a mechanism as plain data: what `linkwright info` and the page show."""

    name: str
    freedom: int | None
    velocities: int
    coordinates: int
    total_mass: float
    gravity: list[float]
    parameters: dict[str, ParameterFacts]
    bodies: dict[str, dict[str, float]]
    joints: dict[str, JointFacts]
    frames: dict[str, str]
    loops: dict[str, list[str]]
    constraints: dict[str, str]
    mobility: MobilityFacts
    lengths: list[str]
    forces: list[str]
    contacts: list[str]
    actuators: list[str]
    poses: list[str]
    chosen_coordinates: list[str]
    coordinate_definitions: list[str]
    shapes: dict[str, list[str]]
    computed: list[str]
    warnings: list[str]
    unused: list[str]


def mechanism_page_facts(mechanism: Mechanism) -> MechanismPageFacts:
    """The parts of a mechanism, its mobility, its mass, and what its file has unused."""
    values = mechanism.values
    masses = {
        name: expression_to_float(body.mass, values) for name, body in mechanism.bodies.items()
    }
    names = mechanism_names(mechanism)
    found = _mobility_page_facts(mechanism)
    return {
        "name": mechanism.name,
        "freedom": found["freedom"] if found else names.nv,
        "velocities": names.nv,
        "coordinates": names.nq,
        "total_mass": sum(masses.values()),
        "gravity": [expression_to_float(g, values) for g in mechanism.gravity],
        "parameters": {
            name: {"value": float(values[name]), "as_written": expression_text(number)}
            for name, number in mechanism.parameters.items()
        },
        "bodies": {name: {"mass": mass} for name, mass in masses.items()},
        "joints": {
            name: {
                "type": joint.type,
                "parent": joint.parent,
                "child": joint.child,
                "dof": len(joint.dofs),
                "note": _joint_page_note(joint),
            }
            for name, joint in mechanism.joints_depth_first()
        },
        "frames": {name: frame.body for name, frame in mechanism.frames.items()},
        "loops": {name: [j.type, j.parent, j.child] for name, j in mechanism.loops.items()},
        "constraints": {name: c.type for name, c in mechanism.constraints.items()},
        "mobility": found,
        "lengths": list(mechanism.lengths),
        "forces": list(mechanism.forces),
        "contacts": list(mechanism.contacts),
        "actuators": list(mechanism.actuators),
        "poses": list(mechanism.poses),
        "chosen_coordinates": list(mechanism.coordinates.own_names)
        if mechanism.coordinates
        else [],
        "coordinate_definitions": _coordinate_definitions(mechanism),
        "shapes": _shapes_of_bodies(mechanism),
        "computed": [
            f"{name}: mass {masses[name]:.6g} kg, centre and inertia from {body.inertia_from}"
            for name, body in mechanism.bodies.items()
            if body.inertia_from
        ],
        "warnings": list(mechanism.warnings),
        "unused": list(mechanism.unused),
    }


def _shapes_of_bodies(mechanism: Mechanism) -> dict[str, list[str]]:
    """The kinds of the shapes of each body that has some, and of ground."""
    shapes = {name: body.shapes for name, body in mechanism.bodies.items()}
    shapes[GROUND] = mechanism.ground_shapes
    return {name: [shape.type for shape in found] for name, found in shapes.items() if found}


def _coordinate_definitions(mechanism: Mechanism) -> list[str]:
    """The equations between joint variables and chosen coordinates, as the file has them."""
    chosen = mechanism.coordinates
    table = {} if chosen is None else {**chosen.joints, **chosen.new}
    return [f"{name} = {expression_text(number)}" for name, number in table.items()]


_SYMBOL_MEANINGS = {
    "m": "mass of",
    "c[xyz]": "centre of mass of",
    "I[xyz]{2}": "inertia of",
    r"a(?=\d)": "distance along x at",
    r"b(?=\d)": "distance along y at",
    r"d(?=\d)": "distance along z at",
    "G": "gear ratio of",
    "J": "inertia of the rotor of",
    "d": "damping of",
    "F": "dry friction of",
    "k": "stiffness of",
}
"""The beginnings of symbols that equations make where a file names none."""


def page_symbol_meaning(name: str, mechanism: Mechanism) -> str:
    """The meaning of a symbol that the file does not name: of a body, a joint or gravity."""
    if re.fullmatch("g[xyz]?", name):
        return "gravity"
    for start, word in _SYMBOL_MEANINGS.items():
        if found := re.fullmatch(rf"{start}(?:_(.+)|(\d+))", name):
            is_of_joint = word.startswith("distance")
            bodies = mechanism_names(mechanism).bodies
            parts = numbered_joints(mechanism) if is_of_joint else bodies
            owners = {part_number(part, parts): part for part in parts}
            return f"{word} {found[1] or owners.get(found[2], '')}".strip()
    return ""


def _mobility_page_facts(mechanism: Mechanism) -> MobilityFacts:
    """The mobility under loops and constraints, or why they cannot be closed; empty for a
    tree."""
    if not (mechanism.loops or mechanism.constraints):
        return {}
    from ..kinematics.mobility_analysis import mobility

    try:
        found = mobility(mechanism)
    except LinkwrightError as error:
        return {"freedom": None, "why": str(error)}
    facts = asdict(found)
    mobility_facts = {"freedom": facts.pop("dof"), **facts, "text": str(found)}
    return cast(MobilityFacts, mobility_facts)


def _joint_page_note(joint: Joint) -> str:
    """What is special about a joint: spring, damping, friction, motor, lock, mimicry."""
    notes = []
    if joint.mimic is not None:
        notes.append(f"follows {joint.mimic.joint}")
    if joint.locked is not None:
        notes.append("locked")
    said = joint.model_fields_set
    words = {
        "stiffness": "spring",
        "damping": "damping",
        "friction": "friction",
        "motor": "motor",
        "friction_coefficient": "friction by reaction",
        "breaks": "breaks",
    }
    notes += [word for key, word in words.items() if key in said]
    return ", ".join(notes)
