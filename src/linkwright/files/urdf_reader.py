"""Reader of URDF. Content without effect on the equations is listed, not silently dropped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import FileError, suggest_remedy
from ..mechanism import GROUND, JointKind, Mechanism
from .unique_names import make_unique_element_name
from .urdf_kinds import joint_kind_of_urdf
from .urdf_numbers import (
    read_urdf_number,
    read_urdf_numbers,
    read_urdf_origin,
    urdf_fields_present,
)
from .urdf_shapes import read_urdf_materials, read_urdf_shapes
from .urdf_unused import INERTIA_PRODUCTS, list_unused_urdf
from .xml_reader import XmlElement, read_xml

ROOT_JOINT_NAME = "root_joint"
UNLIMITED_BOUND = 1e9
"""URDF wants limits of every revolute and prismatic joint: this says that there is none."""


def read_urdf(
    text: str | bytes,
    base: str = "fixed",
    path: Path | None = None,
    density: object = None,
) -> Mechanism:
    """Return the mechanism in URDF text; `base` is "fixed" or "free" (the root link floats).

    Meshes are found near `path`. With a `density`, links without <inertial> get the inertia of
    their shapes. A limit of 1e9 counts as no limit: `write_urdf` writes it where URDF requires a
    number and the joint has no limit.
    """
    if base not in ("fixed", "free"):
        raise FileError(f"base = '{base}' is not known", remedy="use 'fixed' or 'free'")
    robot = read_xml(text)
    if robot.tag != "robot":
        raise FileError(f"the root element is <{robot.tag}>", remedy="a URDF begins with <robot>")
    _refuse_macros(robot)
    links, joints = _urdf_elements_by_name(robot, "link"), _urdf_elements_by_name(robot, "joint")
    if not links:
        raise FileError("has no <link>", remedy="add one")
    bodies = _urdf_body_names(links)
    tree: dict[str, dict[str, object]] = {}
    for root in _urdf_root_links(links, joints):
        name = make_unique_element_name(
            ROOT_JOINT_NAME if not tree else f"{ROOT_JOINT_NAME}_{root}", {*joints, *tree}
        )
        tree[name] = {"type": "free" if base == "free" else "fixed", "child": bodies[root]}
    materials = read_urdf_materials(robot)
    shapes = {name: read_urdf_shapes(link, materials, path) for name, link in links.items()}
    moving = {name: _read_urdf_joint(joint, bodies) for name, joint in joints.items()}
    notes = [
        *_free_orphaned_urdf_mimics(moving),
        *_renamed_urdf_link_notes(bodies),
        *(note for found in shapes.values() for note in found.notes),
        *list_unused_urdf(robot),
    ]
    return Mechanism(
        name=robot.attributes.get("name", "robot"),
        bodies={
            bodies[name]: _read_urdf_link(link, shapes[name].shapes, density)
            for name, link in links.items()
        },
        joints=tree | moving,
        unused=tuple(notes),
    )


def _refuse_macros(robot: XmlElement) -> None:
    """Raise where the elements of the robot are macros, which only xacro expands."""
    for element in robot.children:
        if element.tag.startswith("xacro:"):
            raise FileError(
                f"has <{element.tag}>, which is not URDF",
                where=f"line {element.line}",
                remedy="rename the file so that it ends in .xacro",
            )


def _urdf_elements_by_name(robot: XmlElement, tag: str) -> dict[str, XmlElement]:
    """Return the robot's elements with this tag by name; raise where a name occurs twice."""
    found: dict[str, XmlElement] = {}
    for element in robot.children_with_tag(tag):
        name = element.required_attribute("name")
        if name in found:
            raise FileError(
                f"the {tag} '{name}' is defined twice (first on line {found[name].line})",
                where=f"line {element.line}",
                remedy="rename one of them",
            )
        found[name] = element
    return found


def _urdf_body_names(links: dict[str, XmlElement]) -> dict[str, str]:
    """Return the name of the body for each link: the link's, except for a link called `ground`."""
    substitute = make_unique_element_name(f"{GROUND}_link", links)
    return {link: substitute if link == GROUND else link for link in links}


def _renamed_urdf_link_notes(bodies: dict[str, str]) -> list[str]:
    """Return a note for each link whose body has another name."""
    return [
        f"link {link}: its name, which means the fixed world here; it is '{body}'"
        for link, body in bodies.items()
        if body != link
    ]


def _read_urdf_link(
    link: XmlElement, shapes: list[dict[str, object]], density: object
) -> dict[str, object]:
    """Return the fields of a body from the <inertial> and the shapes of a link."""
    inertial = link.first_child("inertial")
    if inertial is None:
        return urdf_fields_present(shapes=shapes or None, density=density if shapes else None)
    mass, tensor = inertial.first_child("mass"), inertial.first_child("inertia")
    if mass is None or tensor is None:
        missing = "mass" if mass is None else "inertia"
        raise FileError(f"<inertial> has no <{missing}>", where=f"line {inertial.line}")
    origin = read_urdf_origin(inertial.first_child("origin"))
    for element, names in ((mass, ["value"]), (tensor, ["ixx", "iyy", "izz"])):
        for name in names:
            element.required_attribute(name)
    entries = ("ixx", "iyy", "izz", *INERTIA_PRODUCTS)
    moments = {name[1:]: read_urdf_number(tensor, name) or "0" for name in entries}
    return urdf_fields_present(
        mass=read_urdf_number(mass, "value"),
        center=origin.get("xyz"),
        inertia=moments | urdf_fields_present(rpy=origin.get("rpy")),
        shapes=shapes or None,
    )


def _urdf_root_links(links: dict[str, XmlElement], joints: dict[str, XmlElement]) -> list[str]:
    """Return the links that are not the child of a joint."""
    children = {
        child.required_attribute("link")
        for j in joints.values()
        for child in j.children_with_tag("child")
    }
    roots = [name for name in links if name not in children]
    if not roots:
        raise FileError("every link is the child of a joint", remedy="break the circle of joints")
    return roots


def _read_urdf_joint_end(joint: XmlElement, tag: str, bodies: dict[str, str]) -> str:
    """Return the body that <parent> or <child> of a joint names."""
    found = list(joint.children_with_tag(tag))
    if len(found) != 1:
        what = f"the joint has {len(found) or 'no'} <{tag}>"
        raise FileError(what, where=f"line {joint.line}", remedy="give one")
    name = found[0].required_attribute("link")
    if name not in bodies:
        remedy = suggest_remedy(name, list(bodies))
        raise FileError(f"unknown link '{name}'", where=f"line {found[0].line}", remedy=remedy)
    return bodies[name]


def _read_urdf_joint(joint: XmlElement, bodies: dict[str, str]) -> dict[str, object]:
    """Return the fields of a joint from a <joint> element."""
    kind = joint_kind_of_urdf(joint.required_attribute("type"), f"line {joint.line}")
    fields = urdf_fields_present(
        type=kind.name,
        parent=_read_urdf_joint_end(joint, "parent", bodies),
        child=_read_urdf_joint_end(joint, "child", bodies),
        origin=read_urdf_origin(joint.first_child("origin")),
    )
    return fields | _read_urdf_joint_details(joint, kind)


def _read_urdf_joint_details(joint: XmlElement, kind: JointKind) -> dict[str, object]:
    """Return axis, limits, losses and mimicry, as far as URDF defines them for this kind."""
    assert kind.urdf is not None
    read = {tag: joint.first_child(tag) for tag in kind.urdf.elements}
    limit, dynamics, mimic = (read.get(tag) for tag in ("limit", "dynamics", "mimic"))
    axis = (read_urdf_numbers(read["axis"], "xyz") or ["1", "0", "0"]) if "axis" in read else None
    fields = urdf_fields_present(
        axis=axis,
        axis2=_choose_urdf_plane_axis(axis) if axis is not None and kind.has_plane_frame else None,
        limits=urdf_fields_present(
            **{key: _read_urdf_joint_limit(limit, key) for key in kind.urdf.limits}
        ),
        damping=read_urdf_number(dynamics, "damping"),
        friction=read_urdf_number(dynamics, "friction"),
    )
    if mimic is not None:
        fields["mimic"] = urdf_fields_present(
            joint=mimic.required_attribute("joint"),
            multiplier=read_urdf_number(mimic, "multiplier"),
            offset=read_urdf_number(mimic, "offset"),
        )
    return fields


def _read_urdf_joint_limit(limit: XmlElement | None, attribute: str) -> str | None:
    """Return a limit; None where it is absent, or is the number that stands for no limit."""
    number = read_urdf_number(limit, attribute)
    return None if number is None or abs(float(number)) == UNLIMITED_BOUND else number


def _free_orphaned_urdf_mimics(joints: dict[str, Any]) -> list[str]:
    """Make joints that mimic a missing joint independent, and note it."""
    notes = []
    for name, joint in joints.items():
        leader = joint.get("mimic", {}).get("joint")
        if leader is not None and leader not in joints:
            del joint["mimic"]
            notes.append(
                f"joint {name}: <mimic> of '{leader}', which does not exist; it moves freely"
            )
    return notes


def _choose_urdf_plane_axis(normal: list[str]) -> list[int]:
    """Return an x axis for a plane, which is free to choose: URDF gives only the normal."""
    x, y, z = (abs(float(word)) for word in normal)
    return [1, 0, 0] if x < max(y, z) else [0, 1, 0]
