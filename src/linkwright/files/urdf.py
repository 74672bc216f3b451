"""URDF in. What a file says and we do not use is listed, not dropped in silence."""

from __future__ import annotations

import re
from typing import Any

from ..errors import FileError, suggest
from ..mechanism import GROUND, JointKind, Mechanism
from .names import unique
from .urdf_kinds import kind_of_urdf
from .urdf_unused import PRODUCTS, unused
from .xml import Element, read_xml

ROOT_JOINT = "root_joint"
UNLIMITED = 1e9
"""URDF wants limits of every revolute and prismatic joint: this says that there is none."""

_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read_urdf(text: str | bytes, base: str = "fixed") -> Mechanism:
    """A mechanism from URDF text; `base` is "fixed" or "free" (the root link floats).

    A limit of 1e9 is none: `write_urdf` writes it where URDF wants a number and there is none.
    """
    if base not in ("fixed", "free"):
        raise FileError(f"base = '{base}' is not known", remedy="use 'fixed' or 'free'")
    robot = read_xml(text)
    if robot.tag != "robot":
        raise FileError(f"the root element is <{robot.tag}>", remedy="a URDF begins with <robot>")
    links, joints = _named(robot, "link"), _named(robot, "joint")
    if not links:
        raise FileError("has no <link>", remedy="add one")
    bodies = _body_names(links)
    tree: dict[str, Any] = {}
    for root in _roots(links, joints):
        name = unique(ROOT_JOINT if not tree else f"{ROOT_JOINT}_{root}", {*joints, *tree})
        tree[name] = {"type": "free" if base == "free" else "fixed", "child": bodies[root]}
    moving = {name: _joint(joint, bodies) for name, joint in joints.items()}
    notes = [*_free_orphans(moving), *_renamed(bodies), *unused(robot)]
    return Mechanism(
        name=robot.attributes.get("name", "robot"),
        bodies={bodies[name]: _body(link) for name, link in links.items()},
        joints=tree | moving,
        unused=tuple(notes),
    )


def _named(robot: Element, tag: str) -> dict[str, Element]:
    found: dict[str, Element] = {}
    for element in robot.all(tag):
        name = element.need("name")
        if name in found:
            raise FileError(
                f"the {tag} '{name}' is defined twice (first on line {found[name].line})",
                where=f"line {element.line}", remedy="rename one of them",
            )  # fmt: skip
        found[name] = element
    return found


def _body_names(links: dict[str, Element]) -> dict[str, str]:
    """The bodies' names: the links', but for one called like the fixed world."""
    substitute = unique(f"{GROUND}_link", links)
    return {link: substitute if link == GROUND else link for link in links}


def _renamed(bodies: dict[str, str]) -> list[str]:
    return [
        f"link {link}: its name, which means the fixed world here; it is '{body}'"
        for link, body in bodies.items()
        if body != link
    ]


def _numbers(element: Element | None, attribute: str, count: int = 3) -> list[str] | None:
    """The numbers of an attribute as text, exactly as written; None where there are none."""
    if element is None or attribute not in element.attributes:
        return None
    words = element.attributes[attribute].split()
    if len(words) != count or not all(map(_DECIMAL.fullmatch, words)):
        raise FileError(
            f"{attribute}=\"{element.attributes[attribute][:40]}\" is not {count} number(s)",
            where=f"line {element.line}", remedy=f"write {count} decimal number(s)",
        )  # fmt: skip
    return words


def _number(element: Element | None, attribute: str) -> str | None:
    words = _numbers(element, attribute, 1)
    return words[0] if words else None


def _given(**fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value not in (None, {})}


def _placement(element: Element | None) -> dict[str, Any]:
    return _given(xyz=_numbers(element, "xyz"), rpy=_numbers(element, "rpy"))


def _body(link: Element) -> dict[str, Any]:
    inertial = link.first("inertial")
    if inertial is None:
        return {}
    mass, tensor = inertial.first("mass"), inertial.first("inertia")
    if mass is None or tensor is None:
        missing = "mass" if mass is None else "inertia"
        raise FileError(f"<inertial> has no <{missing}>", where=f"line {inertial.line}")
    origin = _placement(inertial.first("origin"))
    for element, names in ((mass, ["value"]), (tensor, ["ixx", "iyy", "izz"])):
        for name in names:
            element.need(name)
    entries = ("ixx", "iyy", "izz", *PRODUCTS)
    moments = {name[1:]: _number(tensor, name) or "0" for name in entries}
    return _given(
        mass=_number(mass, "value"),
        center=origin.get("xyz"),
        inertia=moments | _given(rpy=origin.get("rpy")),
    )


def _roots(links: dict[str, Element], joints: dict[str, Element]) -> list[str]:
    children = {child.need("link") for j in joints.values() for child in j.all("child")}
    roots = [name for name in links if name not in children]
    if not roots:
        raise FileError("every link is the child of a joint", remedy="break the circle of joints")
    return roots


def _end(joint: Element, tag: str, bodies: dict[str, str]) -> str:
    found = list(joint.all(tag))
    if len(found) != 1:
        what = f"the joint has {len(found) or 'no'} <{tag}>"
        raise FileError(what, where=f"line {joint.line}", remedy="give one")
    name = found[0].need("link")
    if name not in bodies:
        remedy = suggest(name, list(bodies))
        raise FileError(f"there is no link '{name}'", where=f"line {found[0].line}", remedy=remedy)
    return bodies[name]


def _joint(joint: Element, bodies: dict[str, str]) -> dict[str, Any]:
    kind = kind_of_urdf(joint.need("type"), f"line {joint.line}")
    fields = _given(
        type=kind.name,
        parent=_end(joint, "parent", bodies),
        child=_end(joint, "child", bodies),
        origin=_placement(joint.first("origin")),
    )
    return fields | _details(joint, kind)


def _details(joint: Element, kind: JointKind) -> dict[str, Any]:
    """Axis, limits, losses and mimicry, as far as URDF gives them for this kind."""
    assert kind.urdf is not None
    read = {tag: joint.first(tag) for tag in kind.urdf.elements}
    limit, dynamics, mimic = (read.get(tag) for tag in ("limit", "dynamics", "mimic"))
    axis = (_numbers(read["axis"], "xyz") or ["1", "0", "0"]) if "axis" in read else None
    fields = _given(
        axis=axis,
        axis2=_direction_in_plane(axis) if axis is not None and kind.has_plane_frame else None,
        limits=_given(**{key: _bound(limit, key) for key in kind.urdf.limits}),
        damping=_number(dynamics, "damping"),
        friction=_number(dynamics, "friction"),
    )
    if mimic is not None:
        fields["mimic"] = _given(
            joint=mimic.need("joint"),
            multiplier=_number(mimic, "multiplier"),
            offset=_number(mimic, "offset"),
        )
    return fields


def _bound(limit: Element | None, attribute: str) -> str | None:
    """A limit; None where there is none, or the number that stands for none."""
    number = _number(limit, attribute)
    return None if number is None or abs(float(number)) == UNLIMITED else number


def _free_orphans(joints: dict[str, Any]) -> list[str]:
    """Lets joints that mimic a joint which does not exist move by themselves, and says so."""
    notes = []
    for name, joint in joints.items():
        leader = joint.get("mimic", {}).get("joint")
        if leader is not None and leader not in joints:
            del joint["mimic"]
            notes.append(
                f"joint {name}: <mimic> of '{leader}', which does not exist; it moves freely"
            )
    return notes


def _direction_in_plane(normal: list[str]) -> list[int]:
    """The x axis of a plane, which is ours to choose: URDF gives the normal alone."""
    x, y, z = (abs(float(word)) for word in normal)
    return [1, 0, 0] if x < max(y, z) else [0, 1, 0]
