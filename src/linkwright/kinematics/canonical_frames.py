"""The same mechanism in fewer numbers: link frames and inertias chosen so that most are 0 or 1.

Frames follow Denavit and Hartenberg in Khalil and Kleinfinger's form: z along the joint's
axis, x along the common normal to the axis of the next joint, so that a link stands in its
parent by Trans_x(d) Rot_x(α) Rot_z(q + θ) Trans_z(r). All results in the user's frames stay
what they are, because these are placed in the links.

Inertia is regrouped by one rule: what does not change when a link makes its joint's motion
can as well sit on the parent. The joints' forces stay the same for every motion; what single
bodies do (reactions, their energies) does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from ..algebra.linear_algebra import ZERO3, Array, is_constant_matrix, snap_rotation_noise
from ..algebra.rotations import rotation_x, rotation_z
from ..algebra.spatial import ZERO_INERTIA, SpatialInertia
from .kinematic_tree import GROUND, KinematicTree, LinkFrame, TreeLink
from .restraints import relocate_restraints

MIN_AXIS_ANGLE = 0.05
"""Axes at a smaller angle (rad) have their common normal too far away to be of use."""

_MAX_ROUNDING_LENGTH = 1e-15


def is_numeric_tree(tree: KinematicTree) -> bool:
    """Return whether all numbers of the links are floats."""
    return all(
        is_constant_matrix(x)
        for link in tree.links
        for x in (link.R, link.p, link.pitch, link.inertia.m, link.inertia.h, link.inertia.I)
    )


# -- frames ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LinkFrameChange:
    """A new frame for a link, in its old one: moved along z by t, turned about z by angle."""

    t: float = 0.0
    angle: float = 0.0

    @property
    def R(self) -> Array:
        """The rotation (3, 3) of the new frame in the old one."""
        return rotation_z(_link_frame_cosine_sine(self.angle))

    def to_new_frame(self, p: Array) -> Array:
        """Return the coordinates of the point p, given in the old frame, in the new frame."""
        return self.R.T @ (p - np.array([0.0, 0.0, self.t]))


def canonical_tree(tree: KinematicTree) -> KinematicTree:
    """Return the tree with link frames placed after Khalil and Kleinfinger."""
    changes = _choose_link_frames(tree)
    links = [_relocate_link(link, i, changes) for i, link in enumerate(tree.links)]

    def in_new_link_frame(place: LinkFrame) -> LinkFrame:
        if place.link == GROUND:
            return place
        change = changes[place.link]
        return LinkFrame(
            place.link, snap_rotation_noise(change.R.T @ place.R), change.to_new_frame(place.p)
        )

    return replace(
        tree,
        links=tuple(links),
        bodies={name: in_new_link_frame(place) for name, place in tree.bodies.items()},
        frames={name: in_new_link_frame(place) for name, place in tree.frames.items()},
        inertias={
            name: _inertia_in_new_link_frame(inertia, changes, tree.bodies[name].link)
            for name, inertia in tree.inertias.items()
        },
        masses={},
        joints=tuple(replace(span, frame=in_new_link_frame(span.frame)) for span in tree.joints),
        restraints=relocate_restraints(tree.restraints, in_new_link_frame),
    )


def _inertia_in_new_link_frame(
    inertia: SpatialInertia, changes: list[_LinkFrameChange], link: int
) -> SpatialInertia:
    """Return an inertia of the link about the origin of its new frame, in the new axes."""
    if link == GROUND:
        return inertia
    change = changes[link]
    return inertia.shift_origin(np.array([0.0, 0.0, -change.t])).rotate(change.R.T)


def _choose_link_frames(tree: KinematicTree) -> list[_LinkFrameChange]:
    """Choose frames from the tips inward: the x axis is the common normal to the main child's
    axis."""
    changes = [_LinkFrameChange()] * len(tree.links)
    for i in range(len(tree.links) - 1, -1, -1):
        link, child = tree.links[i], _main_child_link(tree, i)
        if link.kind.has_quaternion:
            continue
        if child is None:
            h = link.inertia.h
            changes[i] = _LinkFrameChange(angle=math.atan2(h[1], h[0]))
        elif not tree.links[child].kind.has_quaternion:
            changes[i] = _align_link_with_normal(tree.links[child], changes[child])
    return changes


def _main_child_link(tree: KinematicTree, i: int) -> int | None:
    """Return the child of link i that carries the most links; None at a tip."""
    sizes = [1] * len(tree.links)
    for k in range(len(tree.links) - 1, i, -1):
        if tree.links[k].parent >= 0:
            sizes[tree.links[k].parent] += sizes[k]
    children = [k for k, link in enumerate(tree.links) if link.parent == i]
    return max(children, key=lambda k: sizes[k], default=None)


def _align_link_with_normal(child: TreeLink, change: _LinkFrameChange) -> _LinkFrameChange:
    """Return the frame whose x axis points from the link's axis (z) to the child's, with its origin
    at the foot of the common normal."""
    z = child.R[:, 2]
    origin = child.p + z * (child.shift + change.t)
    sine = math.hypot(z[0], z[1])
    if sine >= MIN_AXIS_ANGLE:
        t = (child.p[2] - z[2] * float(z @ child.p)) / sine**2
        return _LinkFrameChange(float(t), math.atan2(z[0], -z[1]))
    if math.hypot(origin[0], origin[1]) > 1e-9:
        return _LinkFrameChange(float(origin[2]), math.atan2(origin[1], origin[0]))
    angle = math.atan2(child.R[1, 0], child.R[0, 0]) + change.angle
    return _LinkFrameChange(float(origin[2]), angle)


def _relocate_link(link: TreeLink, i: int, changes: list[_LinkFrameChange]) -> TreeLink:
    """Return link i with its placement, offset and inertia for the changed frames."""
    own = changes[i]
    above = _LinkFrameChange() if link.parent == GROUND else changes[link.parent]
    R, p = above.R.T @ link.R, above.to_new_frame(link.p)
    inertia = _inertia_in_new_link_frame(link.inertia, changes, i)
    if link.kind.has_quaternion:
        return replace(
            link, R=snap_rotation_noise(R), p=_drop_rounding_in_link_position(p), inertia=inertia
        )
    angle, shift = link.offset + own.angle, float(link.shift) + own.t
    if not link.kind.has_rotation:
        R, offset = R @ own.R, 0.0
    elif link.parent == GROUND:  # constants of the first joint cost nothing
        R, offset = R @ rotation_z(_link_frame_cosine_sine(angle)), 0.0
    else:
        R, offset = _split_link_rotation(R, angle)
    R = snap_rotation_noise(R)
    p, shift = _split_link_shift(p, R[:, 2], shift)
    return replace(link, R=R, p=p, offset=offset, shift=shift, inertia=inertia)


def _split_link_rotation(R: Array, angle: float) -> tuple[Array, float]:
    """Write R·Rot_z(angle) as R'·Rot_z(offset), where R' = Rot_z(g) Rot_x(α) has many zero
    entries."""
    R = snap_rotation_noise(R)
    sine = math.hypot(R[0, 2], R[1, 2])
    if 0 < sine < MIN_AXIS_ANGLE and sine > 1e-12:
        return R @ rotation_z(_link_frame_cosine_sine(angle)), 0.0
    if abs(R[0, 2]) <= _MAX_ROUNDING_LENGTH:
        g, alpha = 0.0, math.atan2(-R[1, 2], R[2, 2])
    else:
        g, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(sine, R[2, 2])
    kept = rotation_z(_link_frame_cosine_sine(g)) @ rotation_x(_link_frame_cosine_sine(alpha))
    rest = kept.T @ R
    offset = math.remainder(angle + math.atan2(rest[1, 0], rest[0, 0]), 2 * math.pi)
    quarter = round(offset / (math.pi / 2))
    if abs(offset - quarter * (math.pi / 2)) <= 4 * _MAX_ROUNDING_LENGTH:
        return kept @ rotation_z(_link_frame_cosine_sine(quarter * (math.pi / 2))), 0.0
    return kept, offset


def _split_link_shift(p: Array, z: Array, shift: float) -> tuple[Array, float]:
    """Write p + shift·z as p' + shift'·z with as many zero entries as possible."""
    ways = [0.0, -shift, *(float(p[k] / z[k]) for k in range(3) if abs(z[k]) > 0.1)]

    def link_shift_split(r: float) -> tuple[int, Array, float]:
        moved, rest = (
            _drop_rounding_in_link_position(p - z * r),
            float(_drop_rounding_in_link_position(np.array([shift + r]))[0]),
        )
        return int(np.count_nonzero(moved)) + (rest != 0.0), moved, rest

    _, best, rest = min((link_shift_split(r) for r in ways), key=lambda found: found[0])
    return best, rest


def _drop_rounding_in_link_position(p: Array) -> Array:
    """Set lengths below 1e-15 m, or 1e-15 of the longest entry, to 0: they are rounding errors."""
    return np.where(np.abs(p) <= _MAX_ROUNDING_LENGTH * max(1.0, float(np.max(np.abs(p)))), 0.0, p)


def _link_frame_cosine_sine(angle: float) -> tuple[float, float]:
    """Return cosine and sine of an angle, exact at right angles."""
    c, s = snap_rotation_noise(np.array([math.cos(angle), math.sin(angle)]))
    return float(c), float(s)


# -- inertias ----------------------------------------------------------------------------


def regroup_link_inertias(tree: KinematicTree) -> KinematicTree:
    """Return the tree with inertia moved toward ground where no joint force depends on it."""
    links = list(tree.links)
    for i in range(len(links) - 1, -1, -1):
        link = links[i]
        carried = _inertia_invariant_to_joint_motion(link)
        links[i] = replace(link, inertia=_subtract_link_inertia(link.inertia, carried))
        if link.parent != GROUND:
            parent = links[link.parent]
            seen = carried.shift_origin(np.array([0.0, 0.0, float(link.shift)]))
            if not link.kind.has_rotation:
                seen = carried
            total = parent.inertia + seen.rotate(link.R).shift_origin(link.p)
            links[link.parent] = replace(parent, inertia=total)
    return replace(tree, links=tuple(links))


def _inertia_invariant_to_joint_motion(link: TreeLink) -> SpatialInertia:
    """Return the part of a link's inertia that its own motion does not change and does no work
    on."""
    m, h, I = link.inertia.m, link.inertia.h, link.inertia.I  # noqa: E741
    kind, tensor = link.kind, ZERO_INERTIA.I
    if not kind.has_rotation:
        tensor = I
    elif kind.turns_about_axis:  # symmetric about the axis, without inertia about it
        tensor = np.diag([I[1, 1], I[1, 1], 0.0])
    along = np.array([0.0, 0.0, h[2]]) if kind.keeps_axial_moment else ZERO3
    return SpatialInertia(m if kind.keeps_mass else 0.0, along, tensor)


def _subtract_link_inertia(inertia: SpatialInertia, part: SpatialInertia) -> SpatialInertia:
    """Return `inertia` − `part`, with the rounding errors of cancelled entries set to 0."""

    def inertia_difference(a: Array, b: Array) -> Array:
        size = max(float(np.max(np.abs(a))), float(np.max(np.abs(b))))
        return np.where(np.abs(a - b) <= _MAX_ROUNDING_LENGTH * size, 0.0, a - b)

    m = float(inertia.m) - float(part.m)
    return SpatialInertia(
        m, inertia_difference(inertia.h, part.h), inertia_difference(inertia.I, part.I)
    )
