"""Shapes of bodies as <visual> and <collision> of URDF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from xml.sax.saxutils import quoteattr

from ..expressions import Expression
from ..kinematics.parameter_values import KinematicParameters
from ..kinematics.placement_values import read_frame_placement
from ..mechanism import MeshShape, ShapeOfBody
from ..mechanism.shapes import BoxShape, CapsuleShape, CylinderShape, SphereShape
from .urdf_numbers_writer import write_urdf_number, write_urdf_placement, write_urdf_vector

_Numbers = Callable[[tuple[Expression, ...]], str]


def is_urdf_shape(shape: ShapeOfBody) -> bool:
    """Return whether URDF has this kind of shape."""
    return isinstance(shape, BoxShape | SphereShape | CylinderShape | CapsuleShape | MeshShape)


def urdf_shape_lines(shape: ShapeOfBody, values: KinematicParameters) -> Iterator[str]:
    """Yield the lines of a <visual> and a <collision>, or of one of them."""

    def vector(numbers: tuple[Expression, ...]) -> str:
        return write_urdf_vector(values.read_number(entry) for entry in numbers)

    for tag in ("visual", "collision"):
        if shape.use not in ("both", tag):
            continue
        name = f" name={quoteattr(shape.label)}" if shape.label else ""
        yield f"    <{tag}{name}>"
        yield f"      {write_urdf_placement(read_frame_placement(values, shape.origin, ''))}"
        yield f"      <geometry>{_geometry_text(shape, values, vector)}</geometry>"
        if shape.color is not None and tag == "visual":
            yield f'      <material name=""><color rgba="{vector(shape.color)}"/></material>'
        yield f"    </{tag}>"


def _geometry_text(shape: ShapeOfBody, values: KinematicParameters, vector: _Numbers) -> str:
    """Return the element of a geometry."""
    match shape:
        case BoxShape(size=size):
            return f'<box size="{vector(size)}"/>'
        case SphereShape(radius=radius):
            return f'<sphere radius="{write_urdf_number(values.read_number(radius))}"/>'
        case (
            CylinderShape(radius=radius, length=length) | CapsuleShape(radius=radius, length=length)
        ):
            sizes = (write_urdf_number(values.read_number(number)) for number in (radius, length))
            return '<{} radius="{}" length="{}"/>'.format(shape.type, *sizes)
        case MeshShape(file=file, scale=scale):
            return f'<mesh filename={quoteattr(file)} scale="{vector(scale)}"/>'
    raise TypeError(f"URDF has no {shape.type}")
