"""Content of a URDF that the reader does not read; `urdf_shapes` notes what shapes lack."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .urdf_kinds import joint_kind_of_urdf
from .urdf_shapes import SHAPE_TAGS
from .xml_reader import XmlElement

_JOINT_CHILD_TAGS = {"parent", "child", "origin"}
_CHILD_TAGS_READ = {
    "robot": {"link", "joint", "material"},
    "link": {"inertial", *SHAPE_TAGS},
    "inertial": {"origin", "mass", "inertia"},
}
INERTIA_PRODUCTS = ("ixy", "ixz", "iyz")
_ATTRIBUTES_READ = {
    "robot": {"name", "version"},
    "link": {"name"},
    "joint": {"name", "type"},
    "parent": {"link"},
    "child": {"link"},
    "origin": {"xyz", "rpy"},
    "mass": {"value"},
    "inertia": {"ixx", "iyy", "izz", *INERTIA_PRODUCTS},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
}


def list_unused_urdf(robot: XmlElement) -> Iterator[str]:
    """Yield one line for each part of a file that is not used."""
    yield from _unused_in_urdf_element(robot, "robot", f"robot {robot.attributes.get('name', '')}")
    for element in [*robot.children_with_tag("link"), *robot.children_with_tag("joint")]:
        place = f"{element.tag} {element.attributes['name']}"
        kind = element.attributes["type"] if element.tag == "joint" else "link"
        yield from _unused_in_urdf_element(element, kind, place)
        limit = element.first_child("limit")
        if element.tag == "joint" and limit is not None:
            yield from _unused_urdf_joint_limits(limit, kind, place)


def _unused_urdf_joint_limits(limit: XmlElement, kind: str, place: str) -> Iterator[str]:
    """Yield a note where a joint has lower or upper limits that its type does not use."""
    form = joint_kind_of_urdf(kind).urdf
    unread = {"lower", "upper"} - set(form.limits if form is not None else ())
    if form is not None and "limit" in form.elements and unread & set(limit.attributes):
        yield f"{place}: lower and upper limit of a {kind} joint"


def _unused_in_urdf_element(element: XmlElement, kind: str, place: str) -> Iterator[str]:
    """Yield notes on unused attributes, unused and repeated children, and all of these below."""
    for name in element.attributes:
        if name not in _ATTRIBUTES_READ.get(element.tag, ()) and not name.startswith("xmlns"):
            yield f"{place}: {name} of <{element.tag}>"
    known = _urdf_child_tags_read(element, kind)
    counts = Counter(child.tag for child in element.children if child.tag not in known)
    for tag, count in counts.items():
        files = [
            file
            for child in element.children_with_tag(tag)
            for file in _file_names_in_urdf_element(child)
        ]
        detail = f" ({', '.join(files)})" if files else ""
        yield f"{place}: {f'{count} × ' if count > 1 else ''}<{tag}>{detail}"
    for tag in () if kind == "robot" else sorted(known - set(SHAPE_TAGS)):
        yield from _unused_urdf_repetitions(list(element.children_with_tag(tag)), place)


def _urdf_child_tags_read(element: XmlElement, kind: str) -> set[str]:
    """Return the tags inside an element that are read."""
    form = joint_kind_of_urdf(kind).urdf if element.tag == "joint" else None
    return (
        _JOINT_CHILD_TAGS | set(form.elements)
        if form is not None
        else _CHILD_TAGS_READ.get(kind, set())
    )


def _unused_urdf_repetitions(elements: list[XmlElement], place: str) -> Iterator[str]:
    """Yield notes on repeated elements where URDF allows one; the first is used."""
    if len(elements) > 1:
        yield f"{place}: the other {len(elements) - 1} of {len(elements)} <{elements[0].tag}>"
    for first in elements[:1]:
        yield from _unused_in_urdf_element(first, first.tag, place)
        missing = [name for name in INERTIA_PRODUCTS if name not in first.attributes]
        if first.tag == "inertia" and missing:
            yield f"{place}: <inertia> has no {', '.join(missing)}; taken as 0"


def _file_names_in_urdf_element(element: XmlElement) -> Iterator[str]:
    """Yield the file names (meshes, textures) that an element and its children refer to."""
    if "filename" in element.attributes:
        yield element.attributes["filename"]
    for child in element.children:
        yield from _file_names_in_urdf_element(child)
