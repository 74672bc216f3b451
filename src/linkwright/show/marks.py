"""Signs of joints by their type, wheels, blades, mass centres, frames, springs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kinematics.joints import Kind
from ..kinematics.tree import Closure, Edge, JointSpan, Rod, Wheel
from ..types import Floats
from .members import combined
from .shapes import GROUND, Shape, Tie, Touch, array_of, point_of, prism, ring, square, turned_to

if TYPE_CHECKING:
    from .scene import Scene


SIGN = 0.018
"""Radius of a joint's sign, as a share of the mechanism's size."""


def joint_marks(scene: Scene) -> list[Shape]:
    """Of the tree's joints, and of those that close loops."""
    found = []
    for span in scene.tree.joints:
        kind = scene.mechanism.joints[span.name].type
        if span.links:
            found += _coils(scene, span, scene.sign)
            lift = np.array([0.0, 0.0, scene.lifts.get(span.name, 0.0)])
            if not scene.floats(span.name):
                found += _of_joint(span, kind, scene.sign, lift)
    for tie in scene.tree.restraints.ties:
        if isinstance(tie, Closure):
            found += _of_loop(tie, scene.sign)
    return found


def _coils(scene: Scene, span: JointSpan, s: float) -> list[Shape]:
    """A spiral about every turning freedom with a spring."""
    found = []
    for k in span.links:
        link = scene.tree.links[k]
        if link.kind in (Kind.TURN, Kind.SCREW) and float(scene.tree.effects[link.v].stiffness):
            found.append(Shape("coil", k, s * _SPIRAL, span.name))
    return found


def _of_joint(span: JointSpan, kind: str, s: float, lift: Floats) -> list[Shape]:
    first, last, name = span.links[0], span.links[-1], span.name
    if kind == "spherical":
        return [Shape("ball", last, np.zeros((1, 3)), name)]
    if kind in ("universal", "turn-slide"):
        one, other = _AXIAL["universal" if kind == "universal" else "revolute"], _AXIAL[kind]
        return [
            *(Shape("hull", first, p * s, name) for p in one),
            *(Shape("hull", last, p * s, name) for p in other),
        ]
    return [Shape("hull", last, points * s + lift, name) for points in _AXIAL[kind]]


def _of_loop(tie: Closure, s: float) -> list[Shape]:
    place = tie.at_parent
    R, p = array_of(place.R), point_of(place.p)
    if tie.type == "spherical":
        return [Shape("ball", place.link, p[None, :], tie.name, accent=True)]
    turns = [R @ array_of(tie.first)]
    if tie.type in ("universal", "turn-slide"):
        turns.append(R @ array_of(tie.second))
    kind = "universal" if tie.type == "universal" else tie.type
    return [
        Shape("hull", place.link, points * s @ Q.T + p, tie.name, accent=True)
        for Q in turns
        for points in _AXIAL[kind]
    ]


_TURNS = np.linspace(0, 5 * np.pi, 90)
_SPIRAL = (1.5 + 1.5 * _TURNS / _TURNS[-1])[:, None] * np.column_stack(
    [np.cos(_TURNS), np.sin(_TURNS), 0 * _TURNS]
)
_ROD = prism(ring(0.4), 3.2)
_AXIAL: dict[str, list[Floats]] = {
    "revolute": [prism(ring(1.0), 1.6)],
    "continuous": [prism(ring(1.0), 1.6)],
    "prismatic": [prism(square(1.1), 2.2)],
    "turn-slide": [prism(square(1.1), 2.2)],
    "helical": [_ROD, prism(ring(1.0), 1.2)],
    "cylindrical": [_ROD, prism(ring(1.0), 2.2)],
    "universal": [prism(ring(0.6), 1.7)],
    "planar": [prism(square(2.4), 0.1)],
    "fixed": [prism(square(0.7), 0.7)],
}
"""Signs about z, in units of their size: what turns is round, what slides is square."""


def center_marks(scene: Scene) -> list[Shape]:
    """Mass centres of links that have mass, one for all that is fixed together."""
    links = dict.fromkeys(m.link for m in scene.tree.masses.values() if float(m.m) > 0)
    return [
        Shape("center", link, combined(scene, link)[1][None, :]) for link in links if link != GROUND
    ]


def frame_marks(scene: Scene) -> list[Shape]:
    """Three axes for every named frame."""
    found = []
    for name, place in scene.tree.frames.items():
        R, p, length = array_of(place.R), point_of(place.p), 5 * scene.sign
        for k in range(3):
            points = np.array([p, p + length * R[:, k]])
            found.append(Shape("axis", place.link, points, f"{name}.{'xyz'[k]}"))
        found.append(Shape("dot", place.link, p[None, :], name))
    return found


def wheel_marks(scene: Scene) -> list[Shape]:
    """Wheels that roll, with a spoke, balls that touch, and blades that do not slip."""
    found = [shape for touch in scene.touches if touch.is_ball for shape in _ball(scene, touch)]
    for tie in scene.tree.restraints.ties:
        if isinstance(tie, Wheel):
            found += _wheel(scene, tie.wheel, point_of(tie.axle), float(tie.radius))
            if tie.other is not None:
                found += _wheel(scene, tie.on, point_of(tie.axle), abs(float(tie.other)))
        elif isinstance(tie, Edge):
            place = scene.tree.find(tie.on)
            reach = 0.07 * scene.size * _ahead(array_of(place.R), point_of(tie.normal))
            p = point_of(place.p)
            found.append(Shape("blade", place.link, np.array([p - reach, p + reach]), tie.name))
    return found


def _ball(scene: Scene, touch: Touch) -> list[Shape]:
    """Three great circles."""
    place = scene.tree.find(touch.point)
    if place.link == GROUND or touch.radius == 0:
        return []
    R, p = array_of(place.R), point_of(place.p)
    rings = [ring(touch.radius, 48) @ turned_to(R[:, k]).T + p for k in range(3)]
    return [Shape("wheel", place.link, np.vstack([rim, rim[:1]]), touch.point) for rim in rings]


def _ahead(R: Floats, normal: Floats) -> Floats:
    """Along a blade: x of its frame, or y where it slips along x."""
    for axis in np.eye(3):
        ahead = axis - normal * (normal @ axis)
        if np.linalg.norm(ahead) > 0.1:
            break
    return np.asarray(R @ ahead / np.linalg.norm(ahead))


def _wheel(scene: Scene, name: str, axle: Floats, radius: float) -> list[Shape]:
    place = scene.tree.find(name)
    R, p = turned_to(array_of(place.R) @ axle), point_of(place.p)
    rim = ring(radius, 48) @ R.T + p
    spokes = np.array([rim[0], p, rim[24], p, rim[12], p, rim[36]])
    return [
        Shape("wheel", place.link, np.vstack([rim, rim[:1]]), name),
        Shape("spoke", place.link, spokes, name),
    ]


def ties_of(scene: Scene) -> list[Tie]:
    """Springs and dampers between points, rods, and the rails of slides."""
    found = []
    for name, spring in zip(_spring_names(scene), scene.tree.loads.springs, strict=True):
        kind = "spring" if float(spring.stiffness) else "damper"
        found.append(_between(scene, kind, spring.between, name))
    for tie in scene.tree.restraints.ties:
        if isinstance(tie, Rod):
            found.append(_between(scene, "rod", tie.between, tie.name))
    for span in scene.tree.joints:
        found += _rails(scene, span)
    return found


def _spring_names(scene: Scene) -> list[str]:
    return [name for name, force in scene.mechanism.forces.items() if force.type == "spring"]


def _between(scene: Scene, kind: str, names: tuple[str, str], name: str) -> Tie:
    a, b = (scene.tree.find(each) for each in names)
    return Tie(kind, (a.link, b.link), np.array([point_of(a.p), point_of(b.p)]), name)


_SLIDING = ("prismatic", "cylindrical", "helical", "turn-slide", "planar")


def _rails(scene: Scene, span: JointSpan) -> list[Tie]:
    """From where a slide begins to where its child is; a spring if the joint has one."""
    joint = scene.mechanism.joints[span.name]
    if not span.links or scene.floats(span.name) or joint.type not in _SLIDING:
        return []
    start = span.links[0] if joint.type == "turn-slide" else span.frame.link
    p = np.zeros(3) if joint.type == "turn-slide" else point_of(span.frame.p)
    effects = [scene.tree.effects[scene.tree.links[k].v] for k in span.links]
    sprung = any(float(effect.stiffness) for effect in effects[-1:])
    kind = "spring" if sprung else "rail"
    return [Tie(kind, (start, span.links[-1]), np.array([p, np.zeros(3)]), span.name)]
