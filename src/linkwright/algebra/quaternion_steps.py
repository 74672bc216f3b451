"""Steps on the manifold of rotations: exponentials, logarithms and rates of quaternions."""

from __future__ import annotations

import casadi as ca

from .linear_algebra import Array, Scalar, skew
from .rotations import quaternion_conjugate, quaternion_product, quaternion_rotation


def rotation_of_quaternion_vector(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of a quaternion (w, x, y, z)."""
    return quaternion_rotation([quaternion[i] for i in range(4)])


def quaternion_rate_matrix(quaternion: Array) -> Array:
    """Return the 4×3 matrix that maps ω, in the turned axes, to the quaternion's rate."""
    w, u = quaternion[0], quaternion[1:]
    return ca.vertcat(-u.T, w * ca.SX.eye(3) + skew(u)) / 2


_SERIES_SQUARE = 1e-6
"""Squared angle below which series of three terms replace the closed forms: the fourth term is
below 1e-20 there. Above it no closed form of this module amplifies rounding errors."""


def _is_small_square(x2: Scalar) -> Scalar:
    """Return whether a squared angle is small enough for the series."""
    return x2 < _SERIES_SQUARE


def _select_branch(condition: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    """Return `yes` where the condition holds, else `no`, as an expression."""
    return ca.if_else(condition, yes, no)


def _nonzero_square(x2: Scalar) -> Scalar:
    """Return x², or 1 where it is small, for the branch that is not taken."""
    return _select_branch(_is_small_square(x2), 1, x2)


def rotate_quaternion(quaternion: Array, turn: Array) -> Array:
    """Return quaternion · exp(turn/2), scaled to length 1."""
    x2 = ca.dot(turn, turn) / 4
    x = ca.sqrt(_nonzero_square(x2))
    sinc = _select_branch(_is_small_square(x2), 1 - x2 / 6 + x2 * x2 / 120, ca.sin(x) / x)
    cosine = _select_branch(_is_small_square(x2), 1 - x2 / 2 + x2 * x2 / 24, ca.cos(x))
    result = quaternion_product(quaternion, ca.vertcat(cosine, sinc / 2 * turn))
    return result / ca.sqrt(ca.dot(result, result))


def rotation_vector_between(a: Array, b: Array) -> Array:
    """Return 2·log(a⁻¹ b), of length at most π."""
    c = quaternion_product(quaternion_conjugate(a), b)
    c = _select_branch(c[0] < 0, -1, 1) * c
    s2 = ca.dot(c[1:], c[1:])
    s = ca.sqrt(_nonzero_square(s2))
    w = c[0]
    near = 2 / w - 2 * s2 / (3 * w * w * w) + 2 * s2 * s2 / (5 * w * w * w * w * w)
    return _select_branch(_is_small_square(s2), near, 2 * ca.atan2(s, w) / s) * c[1:]


def screw_path_matrix(turn: Array) -> Array:
    """Return V with p = V v: the path of a point that slides by v while it turns by `turn`.

    V = 1 + a W + b W². (1 − cos x)/x² would give a an error of eps/x², and V one of eps/x;
    ½ (sin ½x / ½x)² is the same number without cancellation. The error of b is eps/x² too, but W²
    has the factor x².
    """
    x2 = ca.dot(turn, turn)
    x = ca.sqrt(_nonzero_square(x2))
    half_sinc = 2 * ca.sin(x / 2) / x
    a = _select_branch(
        _is_small_square(x2), 0.5 - x2 / 24 + x2 * x2 / 720, half_sinc * half_sinc / 2
    )
    b = _select_branch(
        _is_small_square(x2),
        1 / 6 - x2 / 120 + x2 * x2 / 5040,
        (1 - ca.sin(x) / x) / _nonzero_square(x2),
    )
    W = skew(turn)
    return ca.SX.eye(3) + a * W + b * (W @ W)


def screw_path_matrix_inverse(turn: Array) -> Array:
    """Return the inverse of `screw_path_matrix`."""
    x2 = ca.dot(turn, turn)
    x = ca.sqrt(_nonzero_square(x2))
    half = x / 2
    far = (1 - half * ca.cos(half) / ca.sin(half)) / _nonzero_square(x2)
    c = _select_branch(_is_small_square(x2), 1 / 12 + x2 / 720 + x2 * x2 / 30240, far)
    W = skew(turn)
    return ca.SX.eye(3) - W / 2 + c * (W @ W)
