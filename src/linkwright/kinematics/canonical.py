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

from ..algebra.linear import ZERO3, Array, is_constant, without_dust
from ..algebra.rotations import rotation_x, rotation_z
from ..algebra.spatial import NO_INERTIA, Inertia
from .restraints import moved
from .tree import GROUND, Link, Placed, Tree

NEARLY_PARALLEL = 0.05
"""Axes at a smaller angle (rad) have their common normal too far away to be of use."""

_DUST = 1e-15


def is_numeric(tree: Tree) -> bool:
    """Whether all numbers of the links are floats."""
    return all(
        is_constant(x)
        for link in tree.links
        for x in (link.R, link.p, link.pitch, link.inertia.m, link.inertia.h, link.inertia.I)
    )


# -- frames ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Change:
    """A new frame for a link, in its old one: moved along z by t, turned about z by angle."""

    t: float = 0.0
    angle: float = 0.0

    @property
    def R(self) -> Array:
        return rotation_z(_cosine_sine(self.angle))

    def point(self, p: Array) -> Array:
        """A point's coordinates in the new frame."""
        return self.R.T @ (p - np.array([0.0, 0.0, self.t]))


def canonical(tree: Tree) -> Tree:
    """The tree with link frames after Khalil and Kleinfinger."""
    changes = _choose_frames(tree)
    links = [_changed_link(link, i, changes) for i, link in enumerate(tree.links)]

    def changed(place: Placed) -> Placed:
        if place.link == GROUND:
            return place
        change = changes[place.link]
        return Placed(place.link, without_dust(change.R.T @ place.R), change.point(place.p))

    return replace(
        tree,
        links=tuple(links),
        bodies={name: changed(place) for name, place in tree.bodies.items()},
        frames={name: changed(place) for name, place in tree.frames.items()},
        inertias={
            name: _seen_from(inertia, changes, tree.bodies[name].link)
            for name, inertia in tree.inertias.items()
        },
        masses={},
        joints=tuple(replace(span, frame=changed(span.frame)) for span in tree.joints),
        restraints=moved(tree.restraints, changed),
    )


def _seen_from(inertia: Inertia, changes: list[_Change], link: int) -> Inertia:
    if link == GROUND:
        return inertia
    change = changes[link]
    return inertia.shifted(np.array([0.0, 0.0, -change.t])).rotated(change.R.T)


def _choose_frames(tree: Tree) -> list[_Change]:
    """From the tips inward: each frame looks along the normal to its main child's axis."""
    changes = [_Change()] * len(tree.links)
    for i in range(len(tree.links) - 1, -1, -1):
        link, child = tree.links[i], _main_child(tree, i)
        if link.kind.has_quaternion:
            continue
        if child is None:
            h = link.inertia.h
            changes[i] = _Change(angle=math.atan2(h[1], h[0]))
        elif not tree.links[child].kind.has_quaternion:
            changes[i] = _along_normal(tree.links[child], changes[child])
    return changes


def _main_child(tree: Tree, i: int) -> int | None:
    """The child that carries the most links."""
    sizes = [1] * len(tree.links)
    for k in range(len(tree.links) - 1, i, -1):
        if tree.links[k].parent >= 0:
            sizes[tree.links[k].parent] += sizes[k]
    children = [k for k, link in enumerate(tree.links) if link.parent == i]
    return max(children, key=lambda k: sizes[k], default=None)


def _along_normal(child: Link, change: _Change) -> _Change:
    """x from the own axis (z) to the child's, origin where the common normal begins."""
    z = child.R[:, 2]
    origin = child.p + z * (child.shift + change.t)
    sine = math.hypot(z[0], z[1])
    if sine >= NEARLY_PARALLEL:
        t = (child.p[2] - z[2] * float(z @ child.p)) / sine**2
        return _Change(float(t), math.atan2(z[0], -z[1]))
    if math.hypot(origin[0], origin[1]) > 1e-9:
        return _Change(float(origin[2]), math.atan2(origin[1], origin[0]))
    angle = math.atan2(child.R[1, 0], child.R[0, 0]) + change.angle
    return _Change(float(origin[2]), angle)


def _changed_link(link: Link, i: int, changes: list[_Change]) -> Link:
    own = changes[i]
    above = _Change() if link.parent == GROUND else changes[link.parent]
    R, p = above.R.T @ link.R, above.point(link.p)
    inertia = _seen_from(link.inertia, changes, i)
    if link.kind.has_quaternion:
        return replace(link, R=without_dust(R), p=_clean(p), inertia=inertia)
    angle, shift = link.offset + own.angle, float(link.shift) + own.t
    if not link.kind.turns:
        R, offset = R @ own.R, 0.0
    elif link.parent == GROUND:  # constants of the first joint cost nothing
        R, offset = R @ rotation_z(_cosine_sine(angle)), 0.0
    else:
        R, offset = _split_turn(R, angle)
    R = without_dust(R)
    p, shift = _split_shift(p, R[:, 2], shift)
    return replace(link, R=R, p=p, offset=offset, shift=shift, inertia=inertia)


def _split_turn(R: Array, angle: float) -> tuple[Array, float]:
    """R·Rot_z(angle) as R'·Rot_z(offset), with R' = Rot_z(g) Rot_x(α) of few entries."""
    R = without_dust(R)
    sine = math.hypot(R[0, 2], R[1, 2])
    if 0 < sine < NEARLY_PARALLEL and sine > 1e-12:
        return R @ rotation_z(_cosine_sine(angle)), 0.0
    if abs(R[0, 2]) <= _DUST:
        g, alpha = 0.0, math.atan2(-R[1, 2], R[2, 2])
    else:
        g, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(sine, R[2, 2])
    kept = rotation_z(_cosine_sine(g)) @ rotation_x(_cosine_sine(alpha))
    rest = kept.T @ R
    offset = math.remainder(angle + math.atan2(rest[1, 0], rest[0, 0]), 2 * math.pi)
    quarter = round(offset / (math.pi / 2))
    if abs(offset - quarter * (math.pi / 2)) <= 4 * _DUST:
        return kept @ rotation_z(_cosine_sine(quarter * (math.pi / 2))), 0.0
    return kept, offset


def _split_shift(p: Array, z: Array, shift: float) -> tuple[Array, float]:
    """p + shift·z as p' + shift'·z, with as few entries other than 0 as can be."""
    ways = [0.0, -shift, *(float(p[k] / z[k]) for k in range(3) if abs(z[k]) > 0.1)]

    def way(r: float) -> tuple[int, Array, float]:
        moved, rest = _clean(p - z * r), float(_clean(np.array([shift + r]))[0])
        return int(np.count_nonzero(moved)) + (rest != 0.0), moved, rest

    _, best, rest = min((way(r) for r in ways), key=lambda found: found[0])
    return best, rest


def _clean(p: Array) -> Array:
    """Lengths below 1e-15 of a metre, or of the longest entry, are rounding errors of 0."""
    return np.where(np.abs(p) <= _DUST * max(1.0, float(np.max(np.abs(p)))), 0.0, p)


def _cosine_sine(angle: float) -> tuple[float, float]:
    c, s = without_dust(np.array([math.cos(angle), math.sin(angle)]))
    return float(c), float(s)


# -- inertias ----------------------------------------------------------------------------


def regrouped(tree: Tree) -> Tree:
    """The tree with inertia moved toward ground wherever no joint's force notices."""
    links = list(tree.links)
    for i in range(len(links) - 1, -1, -1):
        link = links[i]
        carried = _unmoved_by(link)
        links[i] = replace(link, inertia=_without(link.inertia, carried))
        if link.parent != GROUND:
            parent = links[link.parent]
            seen = carried.shifted(np.array([0.0, 0.0, float(link.shift)]))
            if not link.kind.turns:
                seen = carried
            total = parent.inertia + seen.rotated(link.R).shifted(link.p)
            links[link.parent] = replace(parent, inertia=total)
    return replace(tree, links=tuple(links))


def _unmoved_by(link: Link) -> Inertia:
    """The part of a link's inertia that its own motion leaves as it is, and without work."""
    m, h, I = link.inertia.m, link.inertia.h, link.inertia.I  # noqa: E741
    kind, tensor = link.kind, NO_INERTIA.I
    if not kind.turns:
        tensor = I
    elif kind.turns_about_axis:  # symmetric about the axis, without inertia about it
        tensor = np.diag([I[1, 1], I[1, 1], 0.0])
    along = np.array([0.0, 0.0, h[2]]) if kind.keeps_axial_moment else ZERO3
    return Inertia(m if kind.keeps_mass else 0.0, along, tensor)


def _without(inertia: Inertia, part: Inertia) -> Inertia:
    """The rest, with what is left by rounding of entries that cancel made 0."""

    def rest(a: Array, b: Array) -> Array:
        size = max(float(np.max(np.abs(a))), float(np.max(np.abs(b))))
        return np.where(np.abs(a - b) <= _DUST * size, 0.0, a - b)

    m = float(inertia.m) - float(part.m)
    return Inertia(m, rest(inertia.h, part.h), rest(inertia.I, part.I))
