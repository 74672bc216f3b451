"""Signs of joints from the glyphs of their kind, wheels, blades, mass centres, frames, springs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..kinematics.sketches import (
    BladeSketch,
    JointSketch,
    RodSketch,
    Sketch,
    SpringSketch,
    WheelSketch,
)
from ..kinematics.tree import ForceElement, JointSpan, Restraint
from ..mechanism.joint_kinds import JointGlyph, JointKind
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
        kind = scene.mechanism.joints[span.name].kind
        if span.links:
            found += _coils(scene, span, scene.sign)
            lift = np.array([0.0, 0.0, scene.lifts.get(span.name, 0.0)])
            if not scene.floats(span.name):
                found += _of_joint(span, kind, scene.sign, lift)
    for name, sketch in _sketches(scene):
        if isinstance(sketch, JointSketch):
            found += _of_loop(name, sketch, scene.sign)
    return found


def _coils(scene: Scene, span: JointSpan, s: float) -> list[Shape]:
    """A spiral about every turning freedom with a spring."""
    found = []
    for k in span.links:
        link = scene.tree.links[k]
        if link.kind.turns_about_axis and float(scene.tree.effects[link.v].stiffness):
            found.append(Shape("coil", k, s * _SPIRAL, span.name))
    return found


def _of_joint(span: JointSpan, kind: JointKind, s: float, lift: Floats) -> list[Shape]:
    """A joint's glyphs, each on the last link that moves along the glyph's direction."""
    found = []
    for glyph in kind.glyphs:
        carriers = [
            link
            for link, motion in zip(span.links, kind.motions, strict=False)
            if motion.direction == glyph.direction
        ]
        link = carriers[-1] if carriers else span.links[-1]
        found.append(_shape_of_glyph(glyph, link, span.name, s, np.eye(3), lift))
    return found


def _of_loop(name: str, sketch: JointSketch, s: float) -> list[Shape]:
    place = sketch.place
    R, p = array_of(place.R), point_of(place.p)
    axes = {"axis": R @ array_of(sketch.axis), "axis2": R @ array_of(sketch.axis2)}
    return [
        replace(_shape_of_glyph(glyph, place.link, name, s, axes[glyph.direction], p), accent=True)
        for glyph in sketch.glyphs
    ]


def _shape_of_glyph(
    glyph: JointGlyph, link: int, name: str, s: float, R: Floats, p: Floats
) -> Shape:
    """A glyph of size s at p of a link, its axis along z of R."""
    if glyph.shape == "ball":
        return Shape("ball", link, p[None, :], name)
    cap = ring(glyph.size) if glyph.shape == "cylinder" else square(glyph.size)
    return Shape("hull", link, prism(cap, glyph.half_length) * s @ R.T + p, name)


_TURNS = np.linspace(0, 5 * np.pi, 90)
_SPIRAL = (1.5 + 1.5 * _TURNS / _TURNS[-1])[:, None] * np.column_stack(
    [np.cos(_TURNS), np.sin(_TURNS), 0 * _TURNS]
)


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
    for name, sketch in _sketches(scene):
        if isinstance(sketch, WheelSketch):
            found += _wheel(scene, sketch.at, point_of(sketch.axle), abs(float(sketch.radius)))
        elif isinstance(sketch, BladeSketch):
            place = scene.tree.find(sketch.at)
            reach = 0.07 * scene.size * _ahead(array_of(place.R), point_of(sketch.normal))
            p = point_of(place.p)
            found.append(Shape("blade", place.link, np.array([p - reach, p + reach]), name))
    return found


def _sketches(scene: Scene) -> list[tuple[str, Sketch]]:
    """What is to be drawn of forces, loops and constraints, with their names."""
    parts: list[ForceElement | Restraint] = [
        *scene.tree.loads.forces,
        *scene.tree.restraints.ties,
    ]
    return [(part.name, sketch) for part in parts for sketch in part.sketches]


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
    for name, sketch in _sketches(scene):
        if isinstance(sketch, SpringSketch):
            kind = "damper" if sketch.is_damper else "spring"
            found.append(_between(scene, kind, sketch.between, name))
        elif isinstance(sketch, RodSketch):
            found.append(_between(scene, "rod", sketch.between, name))
    for span in scene.tree.joints:
        found += _rails(scene, span)
    return found


def _between(scene: Scene, kind: str, names: tuple[str, str], name: str) -> Tie:
    a, b = (scene.tree.find(each) for each in names)
    return Tie(kind, (a.link, b.link), np.array([point_of(a.p), point_of(b.p)]), name)


def _rails(scene: Scene, span: JointSpan) -> list[Tie]:
    """From where a slide begins to where its child is; a spring if the joint has one."""
    joint = scene.mechanism.joints[span.name]
    slides = [k for k, m in enumerate(joint.kind.motions) if m.type in ("slide", "screw")]
    if not span.links or scene.floats(span.name) or not slides:
        return []
    start, p = span.frame.link, point_of(span.frame.p)
    along, before = joint.kind.motions[slides[0]], joint.kind.motions[: slides[0]]
    if any(motion.direction != along.direction for motion in before):  # they turn the rail
        start, p = span.links[slides[0] - 1], np.zeros(3)
    effects = [scene.tree.effects[scene.tree.links[k].v] for k in span.links]
    sprung = any(float(effect.stiffness) for effect in effects[-1:])
    kind = "spring" if sprung else "rail"
    return [Tie(kind, (start, span.links[-1]), np.array([p, np.zeros(3)]), span.name)]
