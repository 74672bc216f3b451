"""Shapes of URDF links: <visual> and <collision> as data of bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ..errors import FileError
from .mesh_files import find_mesh_file
from .urdf_numbers import read_urdf_numbers, read_urdf_origin, urdf_fields_present
from .xml_reader import XmlElement

_GEOMETRY_NUMBERS: dict[str, dict[str, int]] = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
}
"""The attributes of each geometry, with how many numbers they have; a mesh is a file."""
SHAPE_TAGS = ("visual", "collision")


@dataclass(frozen=True)
class UrdfShapes:
    """The shapes of a link as fields of a body, and a line for each part that is not kept."""

    shapes: list[dict[str, object]]
    notes: list[str]


def read_urdf_materials(robot: XmlElement) -> dict[str, list[str]]:
    """Return the colours of the materials that a robot defines, by name."""
    found: dict[str, list[str]] = {}
    elements = [*robot.children_with_tag("material")]
    for link in robot.children_with_tag("link"):
        for visual in link.children_with_tag("visual"):
            elements += visual.children_with_tag("material")
    for material in elements:
        color = _read_color(material)
        if color is not None and "name" in material.attributes:
            found.setdefault(material.attributes["name"], color)
    return found


def read_urdf_shapes(
    link: XmlElement, materials: Mapping[str, list[str]], path: Path | None
) -> UrdfShapes:
    """Return the shapes of a link; one that cannot be understood is noted, not refused."""
    found = UrdfShapes([], [])
    place = f"link {link.attributes.get('name', '')}"
    for element in link.children:
        if element.tag not in SHAPE_TAGS:
            continue
        try:
            found.shapes.append(_read_shape(element, materials, path))
        except FileError as error:
            found.notes.append(f"{place}: a <{element.tag}>, because {error.what}")
            continue
        found.notes.extend(f"{place}: {what}" for what in _unkept_parts(element))
    return found


def _read_shape(
    element: XmlElement, materials: Mapping[str, list[str]], path: Path | None
) -> dict[str, object]:
    """Return the fields of the shape in a <visual> or <collision>."""
    geometry = element.first_child("geometry")
    inner = geometry.children[0] if geometry is not None and geometry.children else None
    if inner is None:
        raise FileError("it has no geometry")
    if inner.tag == "mesh":
        fields = urdf_fields_present(
            file=find_mesh_file(inner.required_attribute("filename"), path),
            scale=read_urdf_numbers(inner, "scale"),
        )
    elif inner.tag in _GEOMETRY_NUMBERS:
        fields = {}
        for key, count in _GEOMETRY_NUMBERS[inner.tag].items():
            inner.required_attribute(key)
            words = read_urdf_numbers(inner, key, count) or []
            if any(float(word) < 0 for word in words):
                raise FileError(f"its {key} is negative")
            fields[key] = words if count > 1 else words[0]
    else:
        raise FileError(f"<{inner.tag}> is not a known geometry")
    return {
        "type": inner.tag,
        **fields,
        **urdf_fields_present(
            origin=read_urdf_origin(element.first_child("origin")),
            color=_color_of_shape(element, materials),
            label=element.attributes.get("name") or None,
            use=element.tag,
        ),
    }


def _color_of_shape(element: XmlElement, materials: Mapping[str, list[str]]) -> list[str] | None:
    """Return the colour of a shape: its own, or that of the material that it names."""
    material = element.first_child("material")
    if material is None:
        return None
    return _read_color(material) or materials.get(material.attributes.get("name", ""))


def _read_color(material: XmlElement) -> list[str] | None:
    """Return the colour of a <material>; None if it gives none that can be read."""
    color = material.first_child("color")
    try:
        return read_urdf_numbers(color, "rgba", 4)
    except FileError:
        return None


def _unkept_parts(element: XmlElement) -> Iterator[str]:
    """Yield what a shape has besides geometry, placement and colour."""
    for child in element.children:
        if child.tag not in ("geometry", "origin", "material"):
            yield f"<{child.tag}> of a <{element.tag}>"
    material = element.first_child("material")
    texture = material.first_child("texture") if material is not None else None
    if texture is not None:
        yield f"the texture {texture.attributes.get('filename', '')}".rstrip()
