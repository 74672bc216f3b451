"""The exact equations of joints that close a loop, from the `LoopClosure` of their kind.

Seen from the joint's frame in the parent, its frame in the child stands at p, turned by R. With
a the joint's axis and b, c two directions normal to it (A = [b c a]), every kind has some of

    p·b, p·c, p·a                   the origins stay together, or on a line, or in a plane
    b·Ra, c·Ra                      the axes stay parallel
    b·Rc                            and nothing turns about them
    a·Ra₂                           the axis of the parent and the second one of the child keep
                                    their angle

and they are zero exactly where the joint fits, but for half turns: `upright` must be above zero
too.
"""

from __future__ import annotations

from collections.abc import Callable

import casadi as ca

from ..algebra.linear import Array, Scalar, dot
from .recursions import Pose
from .tree import Closure

Rows = tuple[list[Scalar], list[Scalar]]
"""Equations that stay zero, and what must be above zero."""


def closure_rows(closure: Closure, parent: Pose, child: Pose) -> Rows:
    """The equations of a joint that closes a loop, lengths before sines."""
    kept = closure.kind.closure
    assert kept is not None
    R = ca.SX(parent.R.T @ child.R)
    p = ca.SX(parent.R.T @ (child.p - parent.p))
    axes = closure.first if kept.about == "axis" else closure.second
    apart = axes.T @ (p if kept.within == "parent" else R.T @ p)
    rows, upright = _ORIENTATIONS[kept.orientation](closure, R)
    rows = [apart["bca".index(direction)] for direction in kept.held] + rows
    if kept.screw:
        screw, level = _screw_rows(closure, apart[2], R)
        rows, upright = rows + screw, upright + level
    return rows, upright


def _parallel_rows(closure: Closure, R: Array) -> Rows:
    turned = closure.first.T @ R @ closure.first
    return [turned[0, 2], turned[1, 2]], [turned[2, 2]]


def _same_rows(closure: Closure, R: Array) -> Rows:
    turned = closure.first.T @ R @ closure.first
    return [turned[0, 2], turned[1, 2], turned[0, 1]], [turned[2, 2], turned[0, 0]]


def _angle_rows(closure: Closure, R: Array) -> Rows:
    """The first axis in the parent and the second in the child keep their angle."""
    one, other = closure.first[:, 2], closure.second[:, 2]
    return [dot(one, R @ other) - dot(one, other)], []


def _any_rows(closure: Closure, R: Array) -> Rows:
    return [], []


_ORIENTATIONS: dict[str, Callable[[Closure, Array], Rows]] = {
    "parallel": _parallel_rows,
    "same": _same_rows,
    "angle": _angle_rows,
    "any": _any_rows,
}


def _screw_rows(closure: Closure, slide: Scalar, R: Array) -> Rows:
    """The slide along a is pitch times the turn θ: sin(slide/pitch − θ) = 0, for any turns."""
    if isinstance(closure.pitch, float) and closure.pitch == 0.0:
        return [slide], []
    turned = closure.first.T @ R @ closure.first
    cosine, sine = turned[0, 0], turned[1, 0]
    angle = slide / closure.pitch
    screw = ca.sin(angle) * cosine - ca.cos(angle) * sine
    return [screw], [ca.cos(angle) * cosine + ca.sin(angle) * sine]
