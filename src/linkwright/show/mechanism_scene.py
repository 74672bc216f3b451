"""The scene of a mechanism: glyphs fixed to its links, from which all pictures are drawn.

The shapes of bodies that a file has are drawn behind these glyphs. A link is drawn through the
points where it meets its neighbours: a line through two, a plate through more in one plane, else a
tree of lines of least length. A link with one such point is the uniform rod of its centre of mass
and inertia; one without is the box of its inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import UnsupportedError
from ..expressions import expression_to_float
from ..kinematics.constraint_kinds.wheel import WheelRestraint
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.pose_configurations import read_pose
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_vector_rows
from ..types import SX, Floats
from .glyph_catalog import (
    GLYPH_RADIUS_SHARE,
    build_center_glyphs,
    build_connector_glyphs,
    build_frame_glyphs,
    build_joint_glyphs,
    build_wheel_glyphs,
)
from .glyphs import ConnectorGlyph, DrawnPlaneContact, Glyph, drawn_matrix, drawn_point
from .link_glyphs import build_inertia_boxes, build_link_glyphs
from .shape_surfaces import DrawnShapes, build_shape_surfaces
from .view_direction import View, choose_view


class Scene:
    """The glyphs of a mechanism, and the placements of its links at given coordinates.

    The class has more than 20 methods because there is one for every kind of glyph.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.tree: KinematicTree = build_kinematic_tree(mechanism)
        if not self.tree.links or self.tree.nq == 0:
            raise UnsupportedError(
                f"{mechanism.name} cannot move: there is nothing to draw",
                remedy="add a joint that moves, or unlock one",
            )
        self.gravity = drawn_point(self.tree.gravity)
        q = self.tree.motion.q
        world = WorldKinematics(self.tree, q)
        rows = [ca.horzcat(ca.SX(pose.R), ca.SX(pose.p)) for pose in world.link_poses]
        self._placement_function = ca.Function(
            "poses", [q, self.tree.motion.t], [ca.vertcat(*(ca.vec(row.T) for row in rows))]
        )

    def link_placements(self, q: ArrayLike, t: ArrayLike = 0.0) -> Floats:
        """Rotation and position of every link at q (…, nq) and t (…), (…, links + 1, 3, 4); the
        last one is ground."""
        names, owner = self.tree.names.q, self.mechanism.name
        q = read_pose(self.mechanism, q)
        q = check_vector_rows(q, self.tree.nq, "q", names, where=owner)
        times = np.broadcast_to(np.asarray(t, dtype=float), q.shape[:-1]).reshape(1, -1)
        columns = self._placement_function(q.reshape(-1, self.tree.nq).T, times)
        flat = np.asarray(columns, dtype=float).T
        found = flat.reshape(*q.shape[:-1], len(self.tree.links), 3, 4)
        ground = np.broadcast_to(np.eye(3, 4), (*q.shape[:-1], 1, 3, 4))
        return np.concatenate([found, ground], axis=-3)

    @cached_property
    def home(self) -> Floats:
        """The home configuration (nq,): assembled if there are constraints, else without
        displacements."""
        from ..kinematics.assembly import assemble
        from ..kinematics.tree_coordinates import neutral_coordinates

        if self.tree.restraints.entries:
            return np.asarray(assemble(self.mechanism), dtype=float)
        return np.array(neutral_coordinates(self.tree), dtype=float)

    @cached_property
    def link_anchors(self) -> dict[int, list[Floats]]:
        """The points where each link meets others, in its own axes."""
        found: dict[int, list[Floats]] = {}

        def add(link: int, point: SX | Floats | Sequence[float]) -> None:
            found.setdefault(link, []).append(drawn_point(point))

        for span in self.tree.joints:
            if span.links and not self.is_free_floating(span.name):
                lift = self.hinge_lifts.get(span.name, 0.0)
                axis = drawn_matrix(self.tree.links[span.links[0]].R)[:, 2]
                add(span.frame.link, drawn_point(span.frame.p) + lift * axis)
                add(span.links[-1], [0.0, 0.0, lift])
        for tie in self.tree.restraints.entries:
            for place in tie.loop_frames:
                add(place.link, place.p)
        for name in self.attachment_names:
            place = self.tree.find_frame(name)
            if place.link != GROUND:
                add(place.link, place.p)
        return found

    @cached_property
    def hinge_lifts(self) -> dict[str, float]:
        """The shifts along their axes by which hinges are drawn away from their origin, m.

        A hinge whose origin lies on the floor on which wheels roll is drawn at the height of its
        child.
        """
        floors = [
            self.tree.find_frame(tie.on)
            for tie in self.tree.restraints.entries
            if isinstance(tie, WheelRestraint) and tie.other_radius is None
        ]
        found: dict[str, float] = {}
        for span in self.tree.joints:
            joint = self.mechanism.joints[span.name]
            if not joint.kind.is_hinge or len(span.links) != 1:
                continue
            poses = self.link_placements(self.home)
            p, axis = poses[span.links[0], :, 3], poses[span.links[0], :, 2]
            for floor in floors:
                R, origin = drawn_matrix(floor.R), drawn_point(floor.p)
                if floor.link == GROUND and abs((p - origin) @ R[:, 2]) < 1e-6:
                    mass = self.tree.masses[joint.child]
                    center = self.drawn_point_in_world(poses, mass.link, drawn_point(mass.c))
                    found[span.name] = float((center - p) @ axis)
        return found

    def is_free_floating(self, joint: str) -> bool:
        """Whether a joint leaves its child so free that no line is drawn to the parent."""
        kind, parent = self.mechanism.joints[joint].kind, self.mechanism.joints[joint].parent
        on_ground = self.tree.bodies[parent].link == GROUND
        return kind.is_floating and (on_ground or kind.closure is None)

    @cached_property
    def plane_contacts(self) -> list[DrawnPlaneContact]:
        """The wheels and balls that roll on planes or may touch them."""
        values = self.mechanism.values
        rolling = [
            DrawnPlaneContact(t.wheel_frame, t.on, float(t.radius))
            for t in self.tree.restraints.entries
            if isinstance(t, WheelRestraint) and t.other_radius is None
        ]
        balls = [
            DrawnPlaneContact(c.point, c.plane, expression_to_float(c.radius, values), True)
            for c in self.mechanism.contacts.values()
        ]
        return [*rolling, *balls]

    @property
    def attachment_names(self) -> list[str]:
        """The frames, and the bodies to which springs, rods, wheels and contacts are attached."""
        names = [*self.mechanism.frames, *(touch.point for touch in self.plane_contacts)]
        for force in self.tree.forces.force_elements:
            names += [name for sketch in force.sketches for name in getattr(sketch, "between", ())]
        for tie in self.tree.restraints.entries:
            names += list(getattr(tie, "between", ()))
            names += (
                [tie.wheel_frame]
                if isinstance(tie, WheelRestraint) and tie.other_radius is not None
                else []
            )
        return names

    @cached_property
    def size(self) -> float:
        """The largest dimension of the mechanism at home, m; glyphs are drawn in proportion to
        it."""
        poses = self.link_placements(self.home)
        points = [
            self.drawn_point_in_world(poses, link, p)
            for link, many in self.link_anchors.items()
            for p in many
        ]
        points += [
            self.drawn_point_in_world(poses, m.link, drawn_point(m.c))
            for m in self.tree.masses.values()
        ]
        points += [
            drawn_point(self.tree.find_frame(name).p)
            for name in self.mechanism.frames
            if self.tree.find_frame(name).link == GROUND
        ]
        points += [p for touch in self.plane_contacts for p in self._contact_foot(poses, touch)]
        spread = float(np.ptp(np.array(points), axis=0).max()) if points else 0.0
        radii = [
            2 * float(t.radius)
            for t in self.tree.restraints.entries
            if isinstance(t, WheelRestraint)
        ]
        boxes = [float(np.ptp(part.points, axis=0).max()) for part in self.inertia_boxes]
        return max([spread, *radii, *(() if spread else boxes)]) or 1.0

    def _contact_foot(self, poses: Floats, touch: DrawnPlaneContact) -> list[Floats]:
        """The point of a ground plane below a wheel or ball that may touch it."""
        plane, place = self.tree.find_frame(touch.plane), self.tree.find_frame(touch.point)
        if plane.link != GROUND:
            return []
        up, x = drawn_matrix(plane.R)[:, 2], self.drawn_point_in_world(poses, place.link, place.p)
        return [x - up * (up @ (x - drawn_point(plane.p)))]

    @cached_property
    def glyph_radius(self) -> float:
        """The radius of a joint's glyph, m: in proportion to the mechanism, but small beside its
        links."""
        spans = [float(np.ptp(np.array(many), axis=0).max()) for many in self.link_anchors.values()]
        lengths = [span for span in spans if span > 1e-9]
        return min(GLYPH_RADIUS_SHARE * self.size, 0.14 * float(np.median(lengths or [self.size])))

    def drawn_point_in_world(
        self, poses: Floats, link: int, point: SX | Floats | Sequence[float]
    ) -> Floats:
        """A point of a link in the world."""
        return np.asarray(poses[link, :, :3] @ drawn_point(point) + poses[link, :, 3])

    @cached_property
    def link_glyphs(self) -> list[Glyph]:
        """The glyphs of the links: lines, plates and boxes."""
        return build_link_glyphs(self)

    @cached_property
    def color_order(self) -> dict[int, int]:
        """The numbers by which drawn links are coloured."""
        links = [
            *(s.link for s in (*self.link_glyphs, *self.wheel_glyphs)),
            *(t.links[1] for t in self.connector_glyphs),
        ]
        return {link: k for k, link in enumerate(dict.fromkeys(links)) if link != GROUND}

    @cached_property
    def inertia_boxes(self) -> list[Glyph]:
        """The inertia boxes of the links."""
        return build_inertia_boxes(self)

    @cached_property
    def drawn_shapes(self) -> DrawnShapes:
        """The surfaces of the shapes of bodies."""
        return build_shape_surfaces(self)

    @cached_property
    def joint_glyphs(self) -> list[Glyph]:
        """The glyphs of joints, also of those that close loops."""
        return build_joint_glyphs(self)

    @cached_property
    def wheel_glyphs(self) -> list[Glyph]:
        """The glyphs of wheels, balls and blades."""
        return build_wheel_glyphs(self)

    @cached_property
    def center_glyphs(self) -> list[Glyph]:
        """The glyphs of centres of mass."""
        return build_center_glyphs(self)

    @cached_property
    def frame_glyphs(self) -> list[Glyph]:
        """The glyphs of named frames: three axes and a dot."""
        return build_frame_glyphs(self)

    @cached_property
    def connector_glyphs(self) -> list[ConnectorGlyph]:
        """The glyphs of springs, dampers, rods and rails."""
        return build_connector_glyphs(self)

    def view(self, asked: str | tuple[float, float] | None = None) -> View:
        """The view of the mechanism: its plane of motion or a direction in space, or as asked."""
        return choose_view(self.tree, self.gravity, asked)


def mechanism_scene(mechanism: Mechanism) -> Scene:
    """The scene of a mechanism; the most recent ones are kept."""
    return _cached_mechanism_scene(require_mechanism(mechanism))


@lru_cache(maxsize=16)
def _cached_mechanism_scene(mechanism: Mechanism) -> Scene:
    """The scene of a mechanism that has been checked."""
    return Scene(mechanism)
