"""URDF in. What a file says and we do not use is listed, not dropped in silence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..errors import FileError, suggest
from ..mechanism import GROUND, Mechanism
from .xml import Element, read_xml

ROOT_JOINT = "root_joint"

_TYPES = {
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_ENDS = {"parent", "child", "origin"}
_SINGLE_AXIS = {"axis", "limit", "dynamics", "mimic"}
_USED = {
    "robot": {"link", "joint"},
    "link": {"inertial"},
    "fixed": _ENDS,
    "floating": _ENDS,
    "planar": _ENDS | {"axis"},
    "revolute": _ENDS | _SINGLE_AXIS,
    "continuous": _ENDS | _SINGLE_AXIS,
    "prismatic": _ENDS | _SINGLE_AXIS,
}


def read_urdf(text: str | bytes, base: str = "fixed") -> Mechanism:
    """A mechanism from URDF text; `base` is "fixed" or "free" (the root link floats)."""
    if base not in ("fixed", "free"):
        raise FileError(f"base = '{base}' is not known", remedy="use 'fixed' or 'free'")
    robot = read_xml(text)
    if robot.tag != "robot":
        raise FileError(f"the root element is <{robot.tag}>", remedy="a URDF begins with <robot>")
    links, joints = _named(robot, "link"), _named(robot, "joint")
    if not links:
        raise FileError("has no <link>", remedy="add one")
    bodies = {name: _body(link) for name, link in links.items()}
    tree: dict[str, Any] = {}
    for root in _roots(links, joints):
        name = ROOT_JOINT if not tree else f"{ROOT_JOINT}_{root}"
        tree[name] = {"type": "free" if base == "free" else "fixed", "child": _name(root)}
    tree |= {name: _joint(joint, links) for name, joint in joints.items()}
    orphans = _free_orphans(tree)
    return Mechanism(
        name=robot.attributes.get("name", "robot"),
        bodies={_name(link): body for link, body in bodies.items()},
        joints=tree,
        unused=(*orphans, *_unused(robot)),
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


def _name(link: str) -> str:
    """The body's name: the link's, unless that is our word for the fixed world."""
    return f"{link}_link" if link == GROUND else link


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
    mass.need("value")
    moments = {c: _number(tensor, f"i{c}") or "0" for c in ("xx", "yy", "zz", "xy", "xz", "yz")}
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


def _end(joint: Element, tag: str, links: dict[str, Element]) -> str:
    element = joint.first(tag)
    if element is None:
        raise FileError(f"the joint has no <{tag}>", where=f"line {joint.line}")
    name = element.need("link")
    if name not in links:
        remedy = suggest(name, list(links))
        raise FileError(f"there is no link '{name}'", where=f"line {element.line}", remedy=remedy)
    return _name(name)


def _joint(joint: Element, links: dict[str, Element]) -> dict[str, Any]:
    kind = joint.need("type")
    if kind not in _TYPES:
        raise FileError(
            f"'{kind}' is no joint type",
            where=f"line {joint.line}",
            remedy=suggest(kind, [*_TYPES]),
        )
    fields = _given(
        type=_TYPES[kind],
        parent=_end(joint, "parent", links),
        child=_end(joint, "child", links),
        origin=_placement(joint.first("origin")),
    )
    if kind in ("revolute", "continuous", "prismatic"):
        fields |= _single_axis(joint, kind)
    elif kind == "planar":
        fields |= _planar(joint)
    return fields


def _single_axis(joint: Element, kind: str) -> dict[str, Any]:
    limit, dynamics, mimic = (joint.first(t) for t in ("limit", "dynamics", "mimic"))
    limits = _given(effort=_number(limit, "effort"), velocity=_number(limit, "velocity"))
    if kind != "continuous" and limit is not None:
        limits |= _given(lower=_number(limit, "lower"), upper=_number(limit, "upper"))
    fields = _given(
        axis=_numbers(joint.first("axis"), "xyz") or ["1", "0", "0"],
        limits=limits,
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


def _planar(joint: Element) -> dict[str, Any]:
    """URDF gives the normal alone; x and y in the plane are ours to choose."""
    axis = _numbers(joint.first("axis"), "xyz") or ["1", "0", "0"]
    x, y, z = (abs(float(word)) for word in axis)
    return {"axis": axis, "axis2": [1, 0, 0] if x < max(y, z) else [0, 1, 0]}


def _unused(robot: Element) -> Iterator[str]:
    """Everything that the file says and that has no bearing on the equations."""
    for element in [robot, *robot.all("link"), *robot.all("joint")]:
        kind = element.attributes["type"] if element.tag == "joint" else element.tag
        place = f"{element.tag} {element.attributes.get('name', '')}"
        counts = Counter(c.tag for c in element.children if c.tag not in _USED[kind])
        for tag, count in counts.items():
            files = [f for c in element.all(tag) for f in _filenames(c)]
            detail = f" ({', '.join(files)})" if files else ""
            yield f"{place}: {f'{count} × ' if count > 1 else ''}<{tag}>{detail}"
        limit = element.first("limit") if kind == "continuous" else None
        if limit is not None and {"lower", "upper"} & set(limit.attributes):
            yield f"{place}: lower and upper limit of a continuous joint"


def _filenames(element: Element) -> Iterator[str]:
    if "filename" in element.attributes:
        yield element.attributes["filename"]
    for child in element.children:
        yield from _filenames(child)
