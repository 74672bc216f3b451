"""Placements, rotations and axes of a mechanism as arrays of floats or symbols."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np

from ..algebra.linear_algebra import (
    IDENTITY,
    Array,
    Scalar,
    column_vector,
    cross,
    dot,
    matrix_from_rows,
    snap_rotation_noise,
)
from ..algebra.rotations import (
    constant_quaternion_rotation,
    rotation_entry_as_float,
    rotation_to_axis,
    rpy_rotation,
    unit_vector,
)
from ..expressions import ZERO, Expression, evaluate_expression_exactly, names_in_expression
from ..mechanism import Joint, Orientation, Placement, Vector
from .parameter_values import KinematicParameters

LinkPlacement = tuple[Array, Array]
"""Rotation (3, 3) and position (3,), m."""
_LARGEST_PLAIN_ENTRY = 5
"""Directions of larger numbers, as measured ones have, get symbols; so do those with an irrational
length that is not exact modulo the checker's prime."""
_INEXACT_SQUARED_LENGTHS = frozenset({53, 59, 61, 67, 71, 73})


def read_kinematic_vector(
    values: KinematicParameters, entries: Sequence[Expression], names: Sequence[str]
) -> Array:
    """Return a vector in metres; `names` are those of symbols for unnamed numbers."""
    return column_vector(*(values.read_scalar(e, n) for e, n in zip(entries, names, strict=True)))


def read_frame_rotation(values: KinematicParameters, rotated: Orientation, suffix: str) -> Array:
    """Return the rotation matrix (3, 3) of an orientation given by axes, quaternion or rpy."""
    if isinstance(rotated, Placement) and rotated.z is not None and rotated.x is not None:
        z = _read_direction(values, rotated.z, f"z_{suffix}")
        return _rotation_of_axes(z, _read_direction(values, rotated.x, f"x_{suffix}"))
    if "quaternion" in rotated.model_fields_set:
        whole = _small_whole_numbers(rotated.quaternion) if values.is_exact else None
        if whole is not None:
            return _whole_quaternion_rotation(values, whole)
        names = [f"{c}_{suffix}" for c in ("qw", "qx", "qy", "qz")]
        entries = [values.read_ratio(e, n) for e, n in zip(rotated.quaternion, names, strict=True)]
        return constant_quaternion_rotation(entries)
    names = [f"{c}_{suffix}" for c in ("roll", "pitch", "yaw")]
    turns = [values.cosine_sine(e, n) for e, n in zip(rotated.rpy, names, strict=True)]
    return rpy_rotation(*turns)


def read_frame_placement(
    values: KinematicParameters, place: Placement, suffix: str
) -> LinkPlacement:
    """Return rotation R (3, 3) and position p (3,), m, of a placement."""
    position = read_kinematic_vector(values, place.xyz, [f"{c}_{suffix}" for c in "xyz"])
    return read_frame_rotation(values, place, suffix), position


def read_joint_placements(
    values: KinematicParameters, name: str, joint: Joint
) -> tuple[LinkPlacement, LinkPlacement]:
    """Return the placements of a joint in its parent and in its child, (R, p) each.

    Numbers without names are a, b, d along x, y, z, as in Denavit–Hartenberg tables: the child
    sees the joint at (−a, −b, −d), unless its parent has such a distance already.
    """
    at_parent, at_child = list[Scalar](), list[Scalar]()
    for axis, symbol, here, there in zip(
        "xyz", "abd", joint.origin.xyz, joint.child_origin.xyz, strict=True
    ):
        long = f"{axis}_{name}", f"{axis}_{name}_child"
        if here == ZERO and there != ZERO:
            at_parent.append(values.read_scalar(here, long[0]))
            short = values.names.joint_symbol(symbol, name, long[1])
            at_child.append(values.read_opposite_scalar(there, short))
        else:
            short = values.names.joint_symbol(symbol, name, long[0])
            at_parent.append(values.read_scalar(here, short))
            at_child.append(values.read_scalar(there, long[1]))
    return (
        (read_frame_rotation(values, joint.origin, name), column_vector(*at_parent)),
        (
            read_frame_rotation(values, joint.child_origin, f"{name}_child"),
            column_vector(*at_child),
        ),
    )


def joint_axis_alignment(
    values: KinematicParameters, axis: Vector, name: str, key: str = "axis"
) -> Array:
    """Return a constant rotation whose z axis is the given axis."""
    numbers = [values.read_number(entry) for entry in axis]
    names = [f"{key}_{c}_{name}" for c in "xyz"]
    if numbers.count(0.0) == 2 and not values.has_symbols(axis, names):
        return rotation_to_axis(numbers, numbers)
    return rotation_to_axis(_read_direction_entries(values, axis, names), numbers)


def joint_motion_axes(values: KinematicParameters, joint: Joint, name: str) -> Array:
    """Return the axes x, y, z of the joint's motions in the joint's frame: those of its plane, if
    it has one (z along the normal, x along `axis2`)."""
    if not joint.kind.has_plane_frame:
        return IDENTITY
    z = joint_axis_alignment(values, joint.axis, name)[:, 2]
    names = [f"axis2_{c}_{name}" for c in "xyz"]
    x = column_vector(*_read_direction_entries(values, joint.second_axis, names))
    return _rotation_of_axes(z, x)


def _read_direction(values: KinematicParameters, direction: Vector, name: str) -> Array:
    """Return a unit vector of floats or symbols; one that has two zeros is a coordinate axis."""
    numbers = [values.read_number(entry) for entry in direction]
    if numbers.count(0.0) == 2:
        return np.sign(numbers)
    names = [f"{name}_{c}" for c in "xyz"]
    return unit_vector(column_vector(*_read_direction_entries(values, direction, names)))


def _read_direction_entries(
    values: KinematicParameters, direction: Vector, names: Sequence[str]
) -> list[Scalar]:
    """Return the entries of a direction, of any length. An oblique one of small numbers, (0, 1, 1),
    stays one of numbers; floats would round its length, and so they are exact where all must be."""
    whole = _small_whole_direction(direction) if values.is_exact else None
    if whole is None:
        return [values.read_ratio(e, n) for e, n in zip(direction, names, strict=True)]
    return [values.literal_symbol(x) if x else 0.0 for x in whole]


def _small_whole_direction(direction: Vector) -> list[Fraction] | None:
    """Return an oblique direction of plain numbers as small whole numbers; None for others."""
    whole = _small_whole_numbers(direction)
    is_exact = whole and sum(x * x for x in whole) not in _INEXACT_SQUARED_LENGTHS
    return whole if is_exact else None


def _small_whole_numbers(entries: Sequence[Expression]) -> list[Fraction] | None:
    """Return plain numbers, of which two or more are not zero, times a factor that makes them small
    whole numbers; None for others."""
    if any(names_in_expression(entry) for entry in entries):
        return None
    exact = [evaluate_expression_exactly(entry) for entry in entries]
    numbers = [number for number in exact if isinstance(number, Fraction)]
    if len(numbers) < len(entries) or sum(x != 0 for x in numbers) < 2:
        return None
    scale = Fraction(lcm(*(x.denominator for x in numbers)))
    scale /= gcd(*(int(x * scale) for x in numbers))
    whole = [x * scale for x in numbers]
    return whole if max(map(abs, whole)) <= _LARGEST_PLAIN_ENTRY else None


def _whole_quaternion_rotation(values: KinematicParameters, quaternion: list[Fraction]) -> Array:
    """Return R of a quaternion of whole numbers, whose entries are fractions."""
    w, x, y, z = quaternion
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    squared_length = w * w + x * x + y * y + z * z
    entries = [[entry / squared_length for entry in row] for row in rows]
    return matrix_from_rows(
        [
            [float(r) if r in (-1, 0, 1) else values.literal_symbol(r) for r in row]
            for row in entries
        ]
    )


def _rotation_of_axes(z: Array, x: Array) -> Array:
    """Return the rotation with the given unit vector z, and x along the part of x normal to it."""
    x = unit_vector(x - z * dot(z, x))
    y = cross(z, x)
    rows = [[x[i], y[i], z[i]] for i in range(3)]
    return snap_rotation_noise(
        matrix_from_rows([[rotation_entry_as_float(entry) for entry in row] for row in rows])
    )
