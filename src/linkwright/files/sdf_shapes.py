"""Shapes of SDF links: <visual> and <collision> as data of bodies, and inertia that SDF asks to
compute from collision shapes (<inertial auto="true">)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import FileError, MechanismError
from ..mechanism import Body
from ..mechanism.shape_inertia import combine_solids
from ..types import Floats
from .mesh_files import find_mesh_file
from .sdf_frames import placement_fields, read_sdf_numbers, rotation_to_axis
from .xml_reader import XmlElement

SHAPE_TAGS = ("visual", "collision")
_DEFAULT_DENSITY = 1000.0
"""The density of collision shapes where neither they nor their link give one, kg/m³."""
_GEOMETRY_NUMBERS: dict[str, dict[str, int]] = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "cone": {"radius": 1, "length": 1},
    "ellipsoid": {"radii": 3},
}
"""The elements of each geometry, with how many numbers they have."""
_KEPT_CHILDREN = {
    "visual": {"geometry", "pose", "material"},
    "collision": {"geometry", "pose", "density", "auto_inertia_params"},
}

PoseOfElement = Callable[[XmlElement], "Floats"]
"""The pose of an element with a <pose> in the frame of its link, 4 × 4."""


@dataclass
class SdfShapes:
    """The shapes of a link as fields of a body, the densities that its solids for collision have,
    and a line for each part that is not kept."""

    shapes: list[dict[str, object]] = field(default_factory=list)
    densities: list[float | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_sdf_shapes(
    link: XmlElement, name: str, pose_of: PoseOfElement, path: Path | None
) -> SdfShapes:
    """Return the shapes of a link; one that cannot be understood is noted, not refused."""
    found = SdfShapes()
    for element in link.children:
        if element.tag not in SHAPE_TAGS:
            continue
        label = element.attributes.get("name", "")
        try:
            shape = _read_shape(element, pose_of(element), path)
        except FileError as error:
            found.notes.append(f"link {name}: the {element.tag} '{label}', because {error.what}")
            continue
        found.shapes.append(shape)
        if element.tag == "collision" and shape["type"] != "plane":
            density = element.first_child("density")
            found.densities.append(None if density is None else read_sdf_numbers(density, (1,))[0])
        found.notes.extend(f"link {name}: {what}" for what in _unkept_parts(element))
    return found


def weigh_sdf_link(inertial: XmlElement, name: str, found: SdfShapes) -> dict[str, object]:
    """Return the fields of a body whose <inertial> asks for the inertia of its collision shapes;
    a <mass> scales them."""
    shapes = Body(shapes=found.shapes).shapes
    solids = [shape for shape in shapes if shape.use == "collision" and shape.type != "plane"]
    own = inertial.first_child("density")
    usual = _DEFAULT_DENSITY if own is None else read_sdf_numbers(own, (1,))[0]
    densities = [usual if density is None else density for density in found.densities]
    if not solids:
        raise FileError(
            f"the link '{name}' has no collision shape from which to compute its inertia",
            where=f"line {inertial.line}",
            remedy="add one, or write <mass> and <inertia>",
        )
    try:
        fields = combine_solids(solids, densities)
    except MechanismError as error:
        raise FileError(
            f"the inertia of the link '{name}' cannot be computed: {error.what}",
            where=f"line {inertial.line}",
            remedy="write <mass> and <inertia>",
        ) from None
    words = f"{len(solids)} collision shape{'s' if len(solids) > 1 else ''}"
    mass = inertial.first_child("mass")
    if mass is None:
        values = ", ".join(f"{density:g}" for density in dict.fromkeys(densities))
        return fields | {"inertia_from": f"{words} of density {values} kg/m^3"}
    wanted = read_sdf_numbers(mass, (1,))[0]
    return _scale_inertia(fields, wanted) | {"inertia_from": f"{words} and the mass {wanted:g} kg"}


def _scale_inertia(fields: dict[str, object], mass: float) -> dict[str, object]:
    """Return the fields of a body scaled to another mass."""
    own, inertia = fields["mass"], fields["inertia"]
    assert isinstance(own, float)
    assert isinstance(inertia, list)
    scaled = [[entry * mass / own for entry in row] for row in inertia]
    return fields | {"mass": mass, "inertia": scaled}


def _read_shape(element: XmlElement, pose: Floats, path: Path | None) -> dict[str, object]:
    """Return the fields of the shape in a <visual> or <collision>."""
    geometry = element.first_child("geometry")
    inner = geometry.children[0] if geometry is not None and geometry.children else None
    if inner is None:
        raise FileError("it has no geometry")
    fields = _read_geometry(inner, path)
    if inner.tag == "plane":
        normal = inner.first_child("normal")
        if normal is not None:
            pose = pose @ rotation_to_axis(read_sdf_numbers(normal, (3,)), normal.line)
    label, color = element.attributes.get("name", ""), _read_color(element)
    return {
        "type": inner.tag,
        **fields,
        "origin": placement_fields(pose),
        "use": element.tag,
        **({"label": label} if label else {}),
        **({"color": color} if color else {}),
    }


def _read_geometry(inner: XmlElement, path: Path | None) -> dict[str, object]:
    """Return the numbers of a geometry, or the file of a mesh."""
    if inner.tag == "mesh":
        uri, scale = inner.first_child("uri"), inner.first_child("scale")
        if uri is None or not uri.text.strip():
            raise FileError("its mesh has no <uri>")
        fields: dict[str, object] = {"file": find_mesh_file(uri.text.strip(), path)}
        return fields if scale is None else fields | {"scale": read_sdf_numbers(scale, (3,))}
    if inner.tag == "plane":
        size = inner.first_child("size")
        return {} if size is None else {"size": read_sdf_numbers(size, (2,))}
    if inner.tag not in _GEOMETRY_NUMBERS:
        raise FileError(f"<{inner.tag}> is not a known geometry")
    found: dict[str, object] = {}
    for key, count in _GEOMETRY_NUMBERS[inner.tag].items():
        child = inner.first_child(key)
        if child is None:
            raise FileError(f"its <{inner.tag}> has no <{key}>")
        numbers = read_sdf_numbers(child, (count,))
        if min(numbers) < 0:
            raise FileError(f"its <{key}> is negative")
        found[key] = numbers if count > 1 else numbers[0]
    return found


def _read_color(element: XmlElement) -> list[float]:
    """Return the diffuse colour of a visual; [] if it gives none that can be read."""
    material = element.first_child("material")
    diffuse = material.first_child("diffuse") if material is not None else None
    if diffuse is None:
        return []
    try:
        numbers = read_sdf_numbers(diffuse, (3, 4))
    except FileError:
        return []
    return [*numbers, 1.0][:4]


def _unkept_parts(element: XmlElement) -> Iterator[str]:
    """Yield what a shape has besides geometry, placement, colour and density."""
    tags = dict.fromkeys(
        child.tag for child in element.children if child.tag not in _KEPT_CHILDREN[element.tag]
    )
    for tag in tags:
        yield f"<{tag}> of the {element.tag} '{element.attributes.get('name', '')}'"
    material = element.first_child("material")
    for child in material.children if material is not None else ():
        if child.tag != "diffuse":
            yield f"<{child.tag}> of the {element.tag} '{element.attributes.get('name', '')}'"
