"""Glyphs of joints, wheels, blades, centres of mass, frames and springs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..kinematics.kinematic_tree import ForceElement, JointLinks, Restraint
from ..kinematics.sketches import (
    BladeSketch,
    EllipsoidSketch,
    JointSketch,
    RodSketch,
    Sketch,
    SpringSketch,
    WheelSketch,
)
from ..mechanism.joint_kinds import JointGlyph, JointKind
from ..types import Floats
from .glyphs import (
    GROUND_LINK,
    ConnectorGlyph,
    DrawnPlaneContact,
    Glyph,
    circle_glyph_points,
    drawn_matrix,
    drawn_point,
    glyph_axis_rotation,
    prism_glyph_points,
    square_glyph_points,
)
from .link_glyphs import drawn_link_inertia

if TYPE_CHECKING:
    from .mechanism_scene import Scene


GLYPH_RADIUS_SHARE = 0.018
"""Radius of a joint's sign, as a share of the mechanism's size."""


def build_joint_glyphs(scene: Scene) -> list[Glyph]:
    """Build the glyphs of the tree's joints, and of those that close loops; boxes of slides lie
    below the pins on them."""
    loops = [(name, one) for name, one in _drawn_sketches(scene) if isinstance(one, JointSketch)]
    found = _loop_joint_glyphs(scene, loops, slides=True)
    for span in scene.tree.joints:
        kind = scene.mechanism.joints[span.name].kind
        if span.links:
            found += _spring_coil_glyphs(scene, span, scene.glyph_radius)
            lift = np.array([0.0, 0.0, scene.hinge_lifts.get(span.name, 0.0)])
            if not scene.is_free_floating(span.name):
                found += _tree_joint_glyphs(span, kind, scene.glyph_radius, lift)
    return found + _loop_joint_glyphs(scene, loops, slides=False)


def _spring_coil_glyphs(scene: Scene, span: JointLinks, s: float) -> list[Glyph]:
    """A spiral about every turning degree of freedom that has a spring."""
    found = []
    for k in span.links:
        link = scene.tree.links[k]
        if link.kind.turns_about_axis and float(scene.tree.joint_effects[link.v].stiffness):
            found.append(Glyph("coil", k, s * _COIL_PATH, span.name))
    return found


def _tree_joint_glyphs(span: JointLinks, kind: JointKind, s: float, lift: Floats) -> list[Glyph]:
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


def _loop_joint_glyphs(
    scene: Scene, loops: list[tuple[str, JointSketch]], *, slides: bool
) -> list[Glyph]:
    """The glyphs of joints that close loops: of slides, or of the others."""
    found, s = [], scene.glyph_radius
    for name, sketch in loops:
        if (sketch.slides_from is not None) != slides:
            continue
        R, p = drawn_matrix(sketch.place.R), drawn_point(sketch.place.p)
        axes = {"axis": R @ drawn_matrix(sketch.axis), "axis2": R @ drawn_matrix(sketch.axis2)}
        for glyph in sketch.glyphs:
            shape = _shape_of_glyph(glyph, sketch.place.link, name, s, axes[glyph.direction], p)
            found.append(replace(shape, closes_loop=True))
    return found


def _shape_of_glyph(
    glyph: JointGlyph, link: int, name: str, s: float, R: Floats, p: Floats
) -> Glyph:
    """A glyph of size s at the point p of a link, with its axis along z of R."""
    if glyph.shape == "ball":
        return Glyph("ball", link, p[None, :], name)
    cap = (
        circle_glyph_points(glyph.size)
        if glyph.shape == "cylinder"
        else square_glyph_points(glyph.size)
    )
    return Glyph("hull", link, prism_glyph_points(cap, glyph.half_length) * s @ R.T + p, name)


_COIL_ANGLES = np.linspace(0, 5 * np.pi, 90)
_COIL_PATH = (1.5 + 1.5 * _COIL_ANGLES / _COIL_ANGLES[-1])[:, None] * np.column_stack(
    [np.cos(_COIL_ANGLES), np.sin(_COIL_ANGLES), 0 * _COIL_ANGLES]
)


def build_center_glyphs(scene: Scene) -> list[Glyph]:
    """Builds the glyphs of centres of mass, one for all bodies that are fixed together."""
    links = dict.fromkeys(m.link for m in scene.tree.masses.values() if float(m.m) > 0)
    return [
        Glyph("center", link, drawn_link_inertia(scene, link)[1][None, :])
        for link in links
        if link != GROUND_LINK
    ]


def build_frame_glyphs(scene: Scene) -> list[Glyph]:
    """Builds three axes and a dot for every named frame."""
    found = []
    for name, place in scene.tree.frames.items():
        R, p, length = drawn_matrix(place.R), drawn_point(place.p), 5 * scene.glyph_radius
        for k in range(3):
            points = np.array([p, p + length * R[:, k]])
            found.append(Glyph("axis", place.link, points, f"{name}.{'xyz'[k]}"))
        found.append(Glyph("dot", place.link, p[None, :], name))
    return found


def build_wheel_glyphs(scene: Scene) -> list[Glyph]:
    """Builds the glyphs of wheels with spokes, of balls in contact, and of blades."""
    found = [
        shape
        for touch in scene.plane_contacts
        if touch.is_ball
        for shape in _ball_glyphs(scene, touch)
    ]
    for name, sketch in _drawn_sketches(scene):
        if isinstance(sketch, WheelSketch):
            found += _wheel_rim_glyphs(
                scene, sketch.at, drawn_point(sketch.axle), abs(float(sketch.radius))
            )
        elif isinstance(sketch, EllipsoidSketch):
            found += _ellipsoid_glyphs(scene, sketch)
        elif isinstance(sketch, BladeSketch):
            place = scene.tree.find_frame(sketch.at)
            reach = (
                0.07
                * scene.size
                * _blade_glyph_direction(drawn_matrix(place.R), drawn_point(sketch.normal))
            )
            p = drawn_point(place.p)
            found.append(Glyph("blade", place.link, np.array([p - reach, p + reach]), name))
    return found


def _drawn_sketches(scene: Scene) -> list[tuple[str, Sketch]]:
    """The sketches of forces, loops and constraints, with their names."""
    parts: list[ForceElement | Restraint] = [
        *scene.tree.forces.force_elements,
        *scene.tree.restraints.entries,
    ]
    return [(part.name, sketch) for part in parts for sketch in part.sketches]


def _ball_glyphs(scene: Scene, touch: DrawnPlaneContact) -> list[Glyph]:
    """A ball as three great circles."""
    place = scene.tree.find_frame(touch.point)
    if place.link == GROUND_LINK or touch.radius == 0:
        return []
    R, p = drawn_matrix(place.R), drawn_point(place.p)
    rings = [
        circle_glyph_points(touch.radius, 48) @ glyph_axis_rotation(R[:, k]).T + p for k in range(3)
    ]
    return [Glyph("wheel", place.link, np.vstack([rim, rim[:1]]), touch.point) for rim in rings]


def _ellipsoid_glyphs(scene: Scene, sketch: EllipsoidSketch) -> list[Glyph]:
    """An ellipsoid as its three ellipses."""
    place = scene.tree.find_frame(sketch.at)
    R, p = drawn_matrix(place.R), drawn_point(place.p)
    unit, scale = circle_glyph_points(1.0, 48), np.array([float(a) for a in sketch.semi_axes])
    rims = [np.roll(unit, k, axis=1) * scale @ R.T + p for k in range(3)]
    return [Glyph("wheel", place.link, np.vstack([rim, rim[:1]]), sketch.at) for rim in rims]


def _blade_glyph_direction(R: Floats, normal: Floats) -> Floats:
    """The direction along a blade: x of its frame, or y where it slips along x."""
    for axis in np.eye(3):
        ahead = axis - normal * (normal @ axis)
        if np.linalg.norm(ahead) > 0.1:
            break
    return np.asarray(R @ ahead / np.linalg.norm(ahead))


def _wheel_rim_glyphs(scene: Scene, name: str, axle: Floats, radius: float) -> list[Glyph]:
    """The rim and the spokes of a wheel about an axle."""
    place = scene.tree.find_frame(name)
    R, p = glyph_axis_rotation(drawn_matrix(place.R) @ axle), drawn_point(place.p)
    rim = circle_glyph_points(radius, 48) @ R.T + p
    spokes = np.array([rim[0], p, rim[24], p, rim[12], p, rim[36]])
    return [
        Glyph("wheel", place.link, np.vstack([rim, rim[:1]]), name),
        Glyph("spoke", place.link, spokes, name),
    ]


def build_connector_glyphs(scene: Scene) -> list[ConnectorGlyph]:
    """Builds the glyphs of springs, dampers and rods between points, and the rails of slides."""
    found = []
    for name, sketch in _drawn_sketches(scene):
        if isinstance(sketch, SpringSketch):
            kind = "damper" if sketch.is_damper else "spring"
            found.append(_connector_glyph_between(scene, kind, sketch.between, name))
        elif isinstance(sketch, RodSketch):
            found.append(_connector_glyph_between(scene, "rod", sketch.between, name))
        elif isinstance(sketch, JointSketch) and sketch.slides_from is not None:
            ends = sketch.slides_from, sketch.place
            points = np.array([drawn_point(end.p) for end in ends])
            found.append(ConnectorGlyph("rail", (ends[0].link, ends[1].link), points, name))
    for span in scene.tree.joints:
        found += _slide_rail_glyphs(scene, span)
    return found


def _connector_glyph_between(
    scene: Scene, kind: str, names: tuple[str, str], name: str
) -> ConnectorGlyph:
    """A connector between two frames or bodies."""
    a, b = (scene.tree.find_frame(each) for each in names)
    return ConnectorGlyph(
        kind, (a.link, b.link), np.array([drawn_point(a.p), drawn_point(b.p)]), name
    )


def _slide_rail_glyphs(scene: Scene, span: JointLinks) -> list[ConnectorGlyph]:
    """The rail from the start of a slide to its child; a spring if the joint has one."""
    joint = scene.mechanism.joints[span.name]
    slides = [k for k, m in enumerate(joint.kind.motions) if m.type in ("slide", "screw")]
    if not span.links or scene.is_free_floating(span.name) or not slides:
        return []
    start, p = span.frame.link, drawn_point(span.frame.p)
    along, before = joint.kind.motions[slides[0]], joint.kind.motions[: slides[0]]
    if any(motion.direction != along.direction for motion in before):  # they turn the rail
        start, p = span.links[slides[0] - 1], np.zeros(3)
    effects = [scene.tree.joint_effects[scene.tree.links[k].v] for k in span.links]
    sprung = any(float(effect.stiffness) for effect in effects[-1:])
    kind = "spring" if sprung else "rail"
    return [ConnectorGlyph(kind, (start, span.links[-1]), np.array([p, np.zeros(3)]), span.name)]
