"""Placements, rotations and axes of a mechanism as arrays of floats or symbols."""

from __future__ import annotations

from collections.abc import Sequence

from ..algebra.linear import IDENTITY, Array, cross, dot, matrix, vector, without_dust
from ..algebra.rotations import (
    constant_quaternion_rotation,
    plain,
    rotation_to_axis,
    rpy_rotation,
    unit,
)
from ..expressions import Expression
from ..mechanism import Joint, Placement, Rotated, Vector
from .values import Values


def vector_of(values: Values, entries: Sequence[Expression], names: Sequence[str]) -> Array:
    return vector(*(values.scalar(e, n) for e, n in zip(entries, names, strict=True)))


def rotation_of(values: Values, rotated: Rotated, suffix: str) -> Array:
    if "quaternion" in rotated.model_fields_set:
        names = [f"{c}_{suffix}" for c in ("qw", "qx", "qy", "qz")]
        entries = [values.scalar(e, n) for e, n in zip(rotated.quaternion, names, strict=True)]
        return constant_quaternion_rotation(entries)
    names = [f"{c}_{suffix}" for c in ("roll", "pitch", "yaw")]
    turns = [values.cosine_sine(e, n) for e, n in zip(rotated.rpy, names, strict=True)]
    return rpy_rotation(*turns)


def placement_of(values: Values, place: Placement, suffix: str) -> tuple[Array, Array]:
    """(R, p)."""
    position = vector_of(values, place.xyz, [f"{c}_{suffix}" for c in "xyz"])
    return rotation_of(values, place, suffix), position


def alignment(values: Values, axis: Vector, name: str, key: str = "axis") -> Array:
    """A constant rotation whose z axis is the given one."""
    numbers = [values.number(entry) for entry in axis]
    names = [f"{key}_{c}_{name}" for c in "xyz"]
    if numbers.count(0.0) == 2 and not values.varies(axis, names):
        return rotation_to_axis(numbers, numbers)
    entries = [values.scalar(e, n) for e, n in zip(axis, names, strict=True)]
    return rotation_to_axis(entries, numbers)


def motion_frame(values: Values, joint: Joint, name: str) -> Array:
    """The axes x, y, z of the joint's motions, seen from the joint's frame: those of its plane, if
    it has one (z along the normal, x along `axis2`)."""
    if not joint.kind.has_plane_frame:
        return IDENTITY
    z = alignment(values, joint.axis, name)[:, 2]
    x = vector_of(values, joint.second_axis, [f"axis2_{c}_{name}" for c in "xyz"])
    x = unit(x - z * dot(z, x))
    y = cross(z, x)
    rows = [[x[i], y[i], z[i]] for i in range(3)]
    return without_dust(matrix([[plain(entry) for entry in row] for row in rows]))
