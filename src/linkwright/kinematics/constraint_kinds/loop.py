"""The exact equations of joints that close a loop, from the closure of their kind.

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

from ...algebra.linear_algebra import IDENTITY, Array, Scalar, dot, snap_rotation_noise
from ...mechanism import Joint, JointKind
from ..kinematic_tree import GROUND, KinematicTree, LinkFrame, Restraint
from ..parameter_values import KinematicParameters
from ..placement_values import joint_axis_alignment, joint_motion_axes, read_frame_placement
from ..recursions import LinkPose
from ..sketches import JointSketch
from .body_states import ConstrainedBodyStates, ConstraintRows

_ClosureRows = tuple[list[Scalar], list[Scalar]]
"""Equations that stay zero, and what must be above zero."""


@dataclass(frozen=True)
class LoopRestraint(Restraint):
    """A joint that closes a loop between two bodies, with its frame in the links of both.

    `first_axis` and `second_axis` are rotations whose z is the joint's axis (its second axis).
    """

    kind: JointKind
    bodies: tuple[str, str]
    at_parent: LinkFrame
    at_child: LinkFrame
    first_axis: Array
    second_axis: Array
    pitch: Scalar

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The parent and the child body of the joint."""
        return self.bodies

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return the rows of positions that the joint holds between its two bodies."""
        parent, child = setting.place_pair(self.loop_frames, self.bodies)
        positions, upright = _loop_closure_rows(self, parent, child)
        return ConstraintRows(positions, upright=upright)

    def row_units(self, count: int) -> list[str]:
        """Return "m" for rows that are lengths, "1" for rows that are sines."""
        closure = self.kind.closure
        lengths = len(closure.held_directions) if closure is not None else 0
        return ["m" if k < lengths else "1" for k in range(count)]

    def relocate_frames(self, change: Callable[[LinkFrame], LinkFrame]) -> LoopRestraint:
        """Return the loop with its frames mapped by `change`."""
        return replace(self, at_parent=change(self.at_parent), at_child=change(self.at_child))

    @property
    def loop_frames(self) -> tuple[LinkFrame, LinkFrame]:
        """The joint's frame in the link of the parent and in that of the child."""
        return self.at_parent, self.at_child

    def turning_axes(self, tree: KinematicTree) -> list[tuple[LinkFrame, Array]]:
        """Return the joint's axis in the parent, if the joint turns about one."""
        turns = self.kind.is_hinge or self.kind.is_cylindrical
        return [(self.at_parent, self.first_axis[:, 2])] if turns else []

    @property
    def sketches(self) -> tuple[JointSketch, ...]:
        """The joint's glyphs at its frame in the parent; those of a slide at the frame that
        moves along it."""
        start, place = self.at_parent, self.at_parent
        if self.kind.has_slides:
            start, place = self.loop_frames
            if place.link == GROUND:
                start, place = place, start
        slides_from = None if place is start or self.kind.is_floating else start
        axes = self.first_axis, self.second_axis
        return (JointSketch(self.kind.glyphs, place, *axes, slides_from),)


def read_loop_restraint(
    name: str, loop: Joint, values: KinematicParameters, bodies: Mapping[str, LinkFrame]
) -> LoopRestraint:
    """Return the restraint of a joint that closes a loop, with its frames in the links of both
    bodies."""
    values.enter_place(f"loops.{name}")
    ends = []
    for body, origin, suffix in (
        (loop.parent, loop.origin, name),
        (loop.child, loop.child_origin, f"{name}_child"),
    ):
        place = bodies[body]
        R, p = read_frame_placement(values, origin, suffix)
        ends.append(LinkFrame(place.link, snap_rotation_noise(place.R @ R), place.p + place.R @ p))
    kind, first, second = loop.kind, joint_motion_axes(values, loop, name), IDENTITY
    if kind.has_motion_along("axis"):
        first = joint_axis_alignment(values, loop.axis, name)
    if kind.has_motion_along("axis2"):
        second = joint_axis_alignment(values, loop.second_axis, name, "axis2")
    pitch = values.read_scalar(loop.pitch, f"lead_{name}") if loop.pitch is not None else 0.0
    at_parent, at_child = ends
    bodies_tied = (loop.parent, loop.child)
    return LoopRestraint(name, kind, bodies_tied, at_parent, at_child, first, second, pitch)


def _loop_closure_rows(closure: LoopRestraint, parent: LinkPose, child: LinkPose) -> _ClosureRows:
    """Return the equations of a joint that closes a loop, lengths before sines."""
    kept = closure.kind.closure
    assert kept is not None
    R = ca.SX(parent.R.T @ child.R)
    p = ca.SX(parent.R.T @ (child.p - parent.p))
    axes = closure.first_axis if kept.about == "axis" else closure.second_axis
    apart = axes.T @ (p if kept.directions_in == "parent" else R.T @ p)
    rows, upright = _ORIENTATION_ROWS[kept.orientation](closure, R)
    rows = [apart["bca".index(direction)] for direction in kept.held_directions] + rows
    if kept.is_screw:
        screw, level = _screw_rows(closure, apart[2], R)
        rows, upright = rows + screw, upright + level
    return rows, upright


def _parallel_axis_rows(closure: LoopRestraint, R: Array) -> _ClosureRows:
    """Return two sines that vanish where the axis of both bodies is parallel."""
    turned = closure.first_axis.T @ R @ closure.first_axis
    return [turned[0, 2], turned[1, 2]], [turned[2, 2]]


def _same_orientation_rows(closure: LoopRestraint, R: Array) -> _ClosureRows:
    """Return three sines that vanish where both bodies have the same orientation."""
    turned = closure.first_axis.T @ R @ closure.first_axis
    return [turned[0, 2], turned[1, 2], turned[0, 1]], [turned[2, 2], turned[0, 0]]


def _axis_angle_rows(closure: LoopRestraint, R: Array) -> _ClosureRows:
    """Return the change of the angle cosine between the first axis in the parent and the second in
    the child."""
    one, other = closure.first_axis[:, 2], closure.second_axis[:, 2]
    return [dot(one, R @ other) - dot(one, other)], []


def _free_orientation_rows(closure: LoopRestraint, R: Array) -> _ClosureRows:
    """Return no rows: the orientation is free."""
    return [], []


_ORIENTATION_ROWS: dict[str, Callable[[LoopRestraint, Array], _ClosureRows]] = {
    "parallel": _parallel_axis_rows,
    "same": _same_orientation_rows,
    "angle": _axis_angle_rows,
    "any": _free_orientation_rows,
}


def _screw_rows(closure: LoopRestraint, slide: Scalar, R: Array) -> _ClosureRows:
    """Return sin(slide/pitch − θ), which vanishes for any number of turns where the slide is pitch
    times the turn θ."""
    if isinstance(closure.pitch, float) and closure.pitch == 0.0:
        return [slide], []
    turned = closure.first_axis.T @ R @ closure.first_axis
    cosine, sine = turned[0, 0], turned[1, 0]
    angle = slide / closure.pitch
    screw = ca.sin(angle) * cosine - ca.cos(angle) * sine
    return [screw], [ca.cos(angle) * cosine + ca.sin(angle) * sine]
