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

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import casadi as ca

from ...algebra.linear import IDENTITY, Array, Scalar, dot, without_dust
from ...mechanism import Joint, JointKind
from ..placements import alignment, motion_frame, placement_of
from ..recursions import Pose
from ..sketches import JointSketch
from ..tree import Placed, Restraint, Tree
from ..values import Values
from .setting import Rows, Setting

_Rows = tuple[list[Scalar], list[Scalar]]
"""Equations that stay zero, and what must be above zero."""


@dataclass(frozen=True)
class Closure(Restraint):
    """A joint that closes a loop between two bodies, with its frame in the links of both.

    `first` and `second` are rotations whose z is the joint's axis (its second axis).
    """

    kind: JointKind
    bodies: tuple[str, str]
    at_parent: Placed
    at_child: Placed
    first: Array
    second: Array
    pitch: Scalar

    @property
    def ends(self) -> tuple[str, ...]:
        return self.bodies

    def rows(self, setting: Setting) -> Rows:
        parent = setting.placed(self.at_parent, self.bodies[0])
        child = setting.placed(self.at_child, self.bodies[1])
        positions, upright = _closure_rows(self, parent, child)
        return Rows(positions, upright=upright)

    def units(self, count: int) -> list[str]:
        closure = self.kind.closure
        lengths = len(closure.held) if closure is not None else 0
        return ["m" if k < lengths else "1" for k in range(count)]

    def with_frames(self, change: Callable[[Placed], Placed]) -> Closure:
        return replace(self, at_parent=change(self.at_parent), at_child=change(self.at_child))

    @property
    def frames(self) -> tuple[Placed, ...]:
        return self.at_parent, self.at_child

    def turning_axes(self, tree: Tree) -> list[tuple[Placed, Array]]:
        turns = self.kind.is_hinge or self.kind.is_cylindrical
        return [(self.at_parent, self.first[:, 2])] if turns else []

    @property
    def sketches(self) -> tuple[JointSketch, ...]:
        return (JointSketch(self.kind.glyphs, self.at_parent, self.first, self.second),)


def read_closure(name: str, loop: Joint, values: Values, bodies: Mapping[str, Placed]) -> Closure:
    """A loop with its frames in the links of both bodies."""
    values.at(f"loops.{name}")
    ends = []
    for body, origin, suffix in (
        (loop.parent, loop.origin, name),
        (loop.child, loop.child_origin, f"{name}_child"),
    ):
        place = bodies[body]
        R, p = placement_of(values, origin, suffix)
        ends.append(Placed(place.link, without_dust(place.R @ R), place.p + place.R @ p))
    kind, first, second = loop.kind, motion_frame(values, loop, name), IDENTITY
    if kind.has_motion_along("axis"):
        first = alignment(values, loop.axis, name)
    if kind.has_motion_along("axis2"):
        second = alignment(values, loop.second_axis, name, "axis2")
    pitch = values.scalar(loop.pitch, f"lead_{name}") if loop.pitch is not None else 0.0
    at_parent, at_child = ends
    bodies_tied = (loop.parent, loop.child)
    return Closure(name, kind, bodies_tied, at_parent, at_child, first, second, pitch)


def _closure_rows(closure: Closure, parent: Pose, child: Pose) -> _Rows:
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


def _parallel_rows(closure: Closure, R: Array) -> _Rows:
    turned = closure.first.T @ R @ closure.first
    return [turned[0, 2], turned[1, 2]], [turned[2, 2]]


def _same_rows(closure: Closure, R: Array) -> _Rows:
    turned = closure.first.T @ R @ closure.first
    return [turned[0, 2], turned[1, 2], turned[0, 1]], [turned[2, 2], turned[0, 0]]


def _angle_rows(closure: Closure, R: Array) -> _Rows:
    """The first axis in the parent and the second in the child keep their angle."""
    one, other = closure.first[:, 2], closure.second[:, 2]
    return [dot(one, R @ other) - dot(one, other)], []


def _any_rows(closure: Closure, R: Array) -> _Rows:
    return [], []


_ORIENTATIONS: dict[str, Callable[[Closure, Array], _Rows]] = {
    "parallel": _parallel_rows,
    "same": _same_rows,
    "angle": _angle_rows,
    "any": _any_rows,
}


def _screw_rows(closure: Closure, slide: Scalar, R: Array) -> _Rows:
    """The slide along a is pitch times the turn θ: sin(slide/pitch − θ) = 0, for any turns."""
    if isinstance(closure.pitch, float) and closure.pitch == 0.0:
        return [slide], []
    turned = closure.first.T @ R @ closure.first
    cosine, sine = turned[0, 0], turned[1, 0]
    angle = slide / closure.pitch
    screw = ca.sin(angle) * cosine - ca.cos(angle) * sine
    return [screw], [ca.cos(angle) * cosine + ca.sin(angle) * sine]
