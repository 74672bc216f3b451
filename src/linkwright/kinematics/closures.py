"""The exact equations of joints that close a loop, by their type.

Seen from the joint's frame in the parent, its frame in the child stands at p, turned by R. With
a the joint's axis and b, c two directions normal to it (A = [b c a]), every type is some of

    p·b, p·c, p·a                   the origins stay together, or on a line, or in a plane
    b·Ra, c·Ra                      the axes stay parallel
    b·Rc                            and nothing turns about them

and is zero exactly where the joint fits, but for half turns: `upright` must be above zero too.
"""

from __future__ import annotations

import casadi as ca

from ..algebra.linear import Array, Scalar, dot
from .recursions import Pose
from .tree import Closure

Rows = tuple[list[Scalar], list[Scalar]]
"""Equations that stay zero, and what must be above zero."""


def closure_rows(closure: Closure, parent: Pose, child: Pose) -> Rows:
    R = ca.SX(parent.R.T @ child.R)
    p = ca.SX(parent.R.T @ (child.p - parent.p))
    return _EQUATIONS[closure.type](closure, p, R)


def _together(axes: Array, p: Array, count: int = 3) -> list[Scalar]:
    along = axes.T @ p
    return [along[k] for k in range(count)]


def _parallel(A: Array, R: Array) -> Rows:
    turned = A.T @ R @ A
    return [turned[0, 2], turned[1, 2]], [turned[2, 2]]


def _unturned(A: Array, R: Array) -> Rows:
    turned = A.T @ R @ A
    return [turned[0, 2], turned[1, 2], turned[0, 1]], [turned[2, 2], turned[0, 0]]


def _revolute(closure: Closure, p: Array, R: Array) -> Rows:
    rows, upright = _parallel(closure.first, R)
    return _together(closure.first, p) + rows, upright


def _prismatic(closure: Closure, p: Array, R: Array) -> Rows:
    rows, upright = _unturned(closure.first, R)
    return _together(closure.first, p, 2) + rows, upright


def _cylindrical(closure: Closure, p: Array, R: Array) -> Rows:
    rows, upright = _parallel(closure.first, R)
    return _together(closure.first, p, 2) + rows, upright


def _helical(closure: Closure, p: Array, R: Array) -> Rows:
    """The slide along a is pitch times the turn θ: sin(slide/pitch − θ) = 0, for any turns."""
    rows, upright = _cylindrical(closure, p, R)
    slide = _together(closure.first, p)[2]
    if isinstance(closure.pitch, float) and closure.pitch == 0.0:
        return [*rows, slide], upright
    turned = closure.first.T @ R @ closure.first
    cosine, sine = turned[0, 0], turned[1, 0]
    angle = slide / closure.pitch
    screw = ca.sin(angle) * cosine - ca.cos(angle) * sine
    return [*rows, screw], [*upright, ca.cos(angle) * cosine + ca.sin(angle) * sine]


def _turn_slide(closure: Closure, p: Array, R: Array) -> Rows:
    """It turns about e in the parent, then slides along a direction of the child."""
    rows, upright = _parallel(closure.first, R)
    return _together(closure.second, R.T @ p, 2) + rows, upright


def _universal(closure: Closure, p: Array, R: Array) -> Rows:
    """The first axis in the parent and the second in the child keep their angle."""
    one, other = closure.first[:, 2], closure.second[:, 2]
    angle = dot(one, R @ other) - dot(one, other)
    return [*_together(closure.first, p), angle], []


def _planar(closure: Closure, p: Array, R: Array) -> Rows:
    rows, upright = _parallel(closure.first, R)
    return [_together(closure.first, p)[2], *rows], upright


def _spherical(closure: Closure, p: Array, R: Array) -> Rows:
    return _together(closure.first, p), []


def _fixed(closure: Closure, p: Array, R: Array) -> Rows:
    rows, upright = _unturned(closure.first, R)
    return _together(closure.first, p) + rows, upright


_EQUATIONS = {
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "cylindrical": _cylindrical,
    "helical": _helical,
    "turn-slide": _turn_slide,
    "universal": _universal,
    "planar": _planar,
    "spherical": _spherical,
    "fixed": _fixed,
}

LENGTHS = {
    "revolute": 3, "continuous": 3, "prismatic": 2, "cylindrical": 2, "helical": 2,
    "turn-slide": 2, "universal": 3, "planar": 1, "spherical": 3, "fixed": 3,
}  # fmt: skip
"""How many of a type's equations, the first ones, are lengths; the others are sines of angles."""
