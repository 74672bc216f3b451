"""What a URDF says and has no bearing on the equations: found by knowing all that has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from .urdf_kinds import kind_of_urdf
from .xml import Element

_ENDS = {"parent", "child", "origin"}
_CHILDREN = {
    "robot": {"link", "joint"},
    "link": {"inertial"},
    "inertial": {"origin", "mass", "inertia"},
}
PRODUCTS = ("ixy", "ixz", "iyz")
_ATTRIBUTES = {
    "robot": {"name", "version"},
    "link": {"name"},
    "joint": {"name", "type"},
    "parent": {"link"},
    "child": {"link"},
    "origin": {"xyz", "rpy"},
    "mass": {"value"},
    "inertia": {"ixx", "iyy", "izz", *PRODUCTS},
    "axis": {"xyz"},
    "limit": {"lower", "upper", "effort", "velocity"},
    "dynamics": {"damping", "friction"},
    "mimic": {"joint", "multiplier", "offset"},
}


def unused(robot: Element) -> Iterator[str]:
    """Everything in a file that is not used, each as one line."""
    yield from _within(robot, "robot", f"robot {robot.attributes.get('name', '')}")
    for element in [*robot.all("link"), *robot.all("joint")]:
        place = f"{element.tag} {element.attributes['name']}"
        kind = element.attributes["type"] if element.tag == "joint" else "link"
        yield from _within(element, kind, place)
        limit = element.first("limit")
        if element.tag == "joint" and limit is not None:
            yield from _unused_bounds(limit, kind, place)


def _unused_bounds(limit: Element, kind: str, place: str) -> Iterator[str]:
    form = kind_of_urdf(kind).urdf
    unread = {"lower", "upper"} - set(form.limits if form is not None else ())
    if form is not None and "limit" in form.elements and unread & set(limit.attributes):
        yield f"{place}: lower and upper limit of a {kind} joint"


def _within(element: Element, kind: str, place: str) -> Iterator[str]:
    """Attributes and children without use, children said again, and all that below."""
    for name in element.attributes:
        if name not in _ATTRIBUTES.get(element.tag, ()) and not name.startswith("xmlns"):
            yield f"{place}: {name} of <{element.tag}>"
    known = _children(element, kind)
    counts = Counter(child.tag for child in element.children if child.tag not in known)
    for tag, count in counts.items():
        files = [file for child in element.all(tag) for file in _filenames(child)]
        detail = f" ({', '.join(files)})" if files else ""
        yield f"{place}: {f'{count} × ' if count > 1 else ''}<{tag}>{detail}"
    for tag in () if kind == "robot" else sorted(known):
        yield from _first_and_others(list(element.all(tag)), place)


def _children(element: Element, kind: str) -> set[str]:
    """The tags within an element that are read."""
    form = kind_of_urdf(kind).urdf if element.tag == "joint" else None
    return _ENDS | set(form.elements) if form is not None else _CHILDREN.get(kind, set())


def _first_and_others(elements: list[Element], place: str) -> Iterator[str]:
    """Where URDF foresees one element, the first counts."""
    if len(elements) > 1:
        yield f"{place}: the other {len(elements) - 1} of {len(elements)} <{elements[0].tag}>"
    for first in elements[:1]:
        yield from _within(first, first.tag, place)
        missing = [name for name in PRODUCTS if name not in first.attributes]
        if first.tag == "inertia" and missing:
            yield f"{place}: <inertia> has no {', '.join(missing)}; taken as 0"


def _filenames(element: Element) -> Iterator[str]:
    if "filename" in element.attributes:
        yield element.attributes["filename"]
    for child in element.children:
        yield from _filenames(child)
