"""Rotation matrices and quaternions. R maps components in the rotated frame to the fixed frame."""

from __future__ import annotations

import math
from collections.abc import Sequence

import casadi as ca
import numpy as np

from .linear_algebra import (
    Array,
    Scalar,
    column_vector,
    cross,
    matrix_from_rows,
    snap_rotation_noise,
)

CosSin = tuple[Scalar, Scalar]


def rotation_x(cs: CosSin) -> Array:
    """The rotation about the x axis by the angle with the given cosine and sine."""
    c, s = cs
    return matrix_from_rows([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(cs: CosSin) -> Array:
    """The rotation about the y axis by the angle with the given cosine and sine."""
    c, s = cs
    return matrix_from_rows([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(cs: CosSin) -> Array:
    """The rotation about the z axis by the angle with the given cosine and sine."""
    c, s = cs
    return matrix_from_rows([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rpy_rotation(roll: CosSin, pitch: CosSin, yaw: CosSin) -> Array:
    """The rotation about the fixed axes x, y, z in turn: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return snap_rotation_noise(rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll))


def quaternion_rotation(quaternion: Sequence[Scalar]) -> Array:
    """The rotation matrix of a unit quaternion (w, x, y, z)."""
    w, x, y, z = quaternion
    return matrix_from_rows(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def quaternion_product(a: Array, b: Array) -> Array:
    """The quaternion a · b: the rotation b followed by a, in fixed axes."""
    u, v = a[1:], b[1:]
    return ca.vertcat(a[0] * b[0] - ca.dot(u, v), a[0] * v + b[0] * u + cross(u, v))


def quaternion_conjugate(quaternion: Array) -> Array:
    """The quaternion of the inverse rotation."""
    return ca.vertcat(quaternion[0], -quaternion[1:])


def quaternion_from_rotation(R: Array, values: np.ndarray) -> Array:
    """A unit quaternion of R; `values`, the numbers of R, decide which formula is safe."""
    squares = 1 + np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) @ np.diag(values)
    largest = int(np.argmax(squares))
    x, y, z = (R[i, i] for i in range(3))
    own = [1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z][largest]
    turning = [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]
    xy, xz, yz = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]
    rows = [
        [own, *turning],
        [turning[0], own, xy, xz],
        [turning[1], xy, own, yz],
        [turning[2], xz, yz, own],
    ]
    return column_vector(*(rotation_entry_as_float(entry) for entry in rows[largest])) / (
        2 * ca.sqrt(own)
    )


def constant_quaternion_rotation(quaternion: Sequence[Scalar]) -> Array:
    """R of a quaternion of any nonzero length; rounding noise at 0 and ±1 is removed."""
    if all(isinstance(entry, float | int) for entry in quaternion):
        quaternion = _normalize_vector_exponent(np.array(quaternion, dtype=float)).tolist()
        length = math.sqrt(math.fsum(entry * entry for entry in quaternion))
    else:
        length = ca.sqrt(sum(entry * entry for entry in quaternion))
    return snap_rotation_noise(quaternion_rotation([entry / length for entry in quaternion]))


# The frame whose z axis is x, y or z, by turning the axes cyclically.
_CYCLIC_PERMUTATIONS = [
    np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]),
    np.eye(3),
]


def rotation_to_axis(axis: Sequence[Scalar], values: Sequence[float]) -> Array:
    """A constant rotation A with A·z along the axis, of zeros and ones where possible.

    `values` are the numbers of the axis' entries, which decide how A is built. An axis with symbols
    may point elsewhere for other values of these, and is never treated as a coordinate axis.
    """
    sizes = np.abs(values) / max(abs(v) for v in values)
    constant = all(isinstance(entry, float | int) for entry in axis)
    if constant and np.sum(sizes > 1e-15) == 1:
        along = int(np.argmax(sizes))
        turn = np.eye(3) if values[along] > 0 else np.diag([1.0, -1.0, -1.0])
        return _CYCLIC_PERMUTATIONS[along] @ turn
    # x' normal to the axis and to the coordinate axis it is farthest from
    helper = np.eye(3)[int(np.argmin(sizes))]
    along = column_vector(*axis)
    across = cross(helper, along)
    z = unit_vector(along)
    x = unit_vector(cross(helper, z)) if constant else unit_vector(across)
    y = cross(z, x)
    columns = [[x[i], y[i], z[i]] for i in range(3)]
    return snap_rotation_noise(
        matrix_from_rows([[rotation_entry_as_float(entry) for entry in row] for row in columns])
    )


def unit_vector(a: Array) -> Array:
    """The vector scaled to length 1."""
    if isinstance(a, np.ndarray):
        a = _normalize_vector_exponent(a)
        return a / np.linalg.norm(a)
    return a / ca.sqrt(ca.dot(a, a))


def _normalize_vector_exponent(a: Array) -> Array:
    """The array times a power of two (exact), such that squares neither overflow nor vanish."""
    _, exponent = math.frexp(np.max(np.abs(a)))
    return np.ldexp(a, -exponent)


def rotation_entry_as_float(entry: Scalar) -> Scalar:
    """The entry, with a NumPy float converted to a Python float."""
    return float(entry) if isinstance(entry, np.floating) else entry
