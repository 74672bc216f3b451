"""A mechanism as shapes fixed to its links: what any picture of it is made of.

The files give no shapes. A link is drawn through the points where it meets its neighbours: a line
through two, a plate through more in one plane, else the shortest tree of lines. A link with one
such point is the uniform rod of its mass centre and inertia; one without is the box of its inertia.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..errors import UnsupportedError
from ..expressions import to_float
from ..kinematics.build import build_tree
from ..kinematics.constraint_kinds.wheel import Wheel
from ..kinematics.tree import GROUND, Tree
from ..kinematics.world import World
from ..mechanism import Mechanism, require_mechanism
from ..number_checks import check_rows
from ..types import SX, Floats
from .marks import SIGN, center_marks, frame_marks, joint_marks, ties_of, wheel_marks
from .members import member_shapes, solid_shapes
from .shapes import Shape, Tie, Touch, array_of, point_of
from .view import View, view_of


class Scene:
    """The shapes of a mechanism, and where its links stand at given coordinates."""

    def __init__(self, mechanism: Mechanism) -> None:
        self.mechanism = mechanism
        self.tree: Tree = build_tree(mechanism)
        if not self.tree.links or self.tree.nq == 0:
            raise UnsupportedError(
                f"{mechanism.name} cannot move: there is nothing to draw",
                remedy="add a joint with a freedom, or unlock one",
            )
        self.gravity = point_of(self.tree.gravity)
        q = self.tree.motion.q
        world = World(self.tree, q)
        rows = [ca.horzcat(ca.SX(pose.R), ca.SX(pose.p)) for pose in world.placed]
        self._poses = ca.Function("poses", [q], [ca.vertcat(*(ca.vec(row.T) for row in rows))])

    def poses(self, q: ArrayLike) -> Floats:
        """(…, links + 1, 3, 4): rotation and position of every link; the last one is ground."""
        names, owner = self.tree.names.q, self.mechanism.name
        q = check_rows(q, self.tree.nq, "q", names, where=owner)
        flat = np.asarray(self._poses(q.reshape(-1, self.tree.nq).T), dtype=float).T
        found = flat.reshape(*q.shape[:-1], len(self.tree.links), 3, 4)
        ground = np.broadcast_to(np.eye(3, 4), (*q.shape[:-1], 1, 3, 4))
        return np.concatenate([found, ground], axis=-3)

    @cached_property
    def home(self) -> Floats:
        """Where loops and constraints close, or nothing is displaced."""
        from ..kinematics.assembly import assemble
        from ..kinematics.coordinates import neutral

        if self.tree.restraints.ties:
            return np.asarray(assemble(self.mechanism), dtype=float)
        return np.array(neutral(self.tree), dtype=float)

    @cached_property
    def anchors(self) -> dict[int, list[Floats]]:
        """Points by link where it meets others."""
        found: dict[int, list[Floats]] = {}

        def add(link: int, point: SX | Floats | Sequence[float]) -> None:
            found.setdefault(link, []).append(point_of(point))

        for span in self.tree.joints:
            if span.links and not self.floats(span.name):
                lift = self.lifts.get(span.name, 0.0)
                axis = array_of(self.tree.links[span.links[0]].R)[:, 2]
                add(span.frame.link, point_of(span.frame.p) + lift * axis)
                add(span.links[-1], [0.0, 0.0, lift])
        for tie in self.tree.restraints.ties:
            for place in tie.frames:
                add(place.link, place.p)
        for name in self.attached:
            place = self.tree.find(name)
            if place.link != GROUND:
                add(place.link, place.p)
        return found

    @cached_property
    def lifts(self) -> dict[str, float]:
        """How far along their axes hinges are drawn from where the file has them: one that it
        has on the floor on which wheels roll is drawn where its child's mass is."""
        floors = [self.tree.find(tie.on) for tie in self.tree.restraints.ties
                  if isinstance(tie, Wheel) and tie.other is None]  # fmt: skip
        found: dict[str, float] = {}
        for span in self.tree.joints:
            joint = self.mechanism.joints[span.name]
            if not joint.kind.is_hinge or len(span.links) != 1:
                continue
            poses = self.poses(self.home)
            p, axis = poses[span.links[0], :, 3], poses[span.links[0], :, 2]
            for floor in floors:
                R, origin = array_of(floor.R), point_of(floor.p)
                if floor.link == GROUND and abs((p - origin) @ R[:, 2]) < 1e-6:
                    mass = self.tree.masses[joint.child]
                    center = self.world(poses, mass.link, point_of(mass.c))
                    found[span.name] = float((center - p) @ axis)
        return found

    def floats(self, joint: str) -> bool:
        """Whether a joint leaves its child so free that no line joins it to the parent."""
        kind, parent = self.mechanism.joints[joint].kind, self.mechanism.joints[joint].parent
        on_ground = self.tree.bodies[parent].link == GROUND
        return kind.is_floating and (on_ground or kind.closure is None)

    @cached_property
    def touches(self) -> list[Touch]:
        """What rolls on planes, or may touch them."""
        values = self.mechanism.values
        rolling = [Touch(t.wheel, t.on, float(t.radius)) for t in self.tree.restraints.ties
                   if isinstance(t, Wheel) and t.other is None]  # fmt: skip
        balls = [
            Touch(c.point, c.plane, to_float(c.radius, values), True)
            for c in self.mechanism.contacts.values()
        ]
        return [*rolling, *balls]

    @property
    def attached(self) -> list[str]:
        """Frames, and bodies that springs, rods, wheels and contacts hold."""
        names = [*self.mechanism.frames, *(touch.point for touch in self.touches)]
        for force in self.tree.loads.forces:
            names += [name for sketch in force.sketches for name in getattr(sketch, "between", ())]
        for tie in self.tree.restraints.ties:
            names += list(getattr(tie, "between", ()))
            names += [tie.wheel] if isinstance(tie, Wheel) and tie.other is not None else []
        return names

    @cached_property
    def size(self) -> float:
        """The largest measure of what is drawn at home, m: signs are drawn in proportion."""
        poses = self.poses(self.home)
        points = [self.world(poses, link, p) for link, many in self.anchors.items()
                  for p in many]  # fmt: skip
        points += [self.world(poses, m.link, point_of(m.c)) for m in self.tree.masses.values()]
        points += [point_of(self.tree.find(name).p) for name in self.mechanism.frames
                   if self.tree.find(name).link == GROUND]  # fmt: skip
        points += [p for touch in self.touches for p in self._foot(poses, touch)]
        spread = float(np.ptp(np.array(points), axis=0).max()) if points else 0.0
        radii = [2 * float(t.radius) for t in self.tree.restraints.ties if isinstance(t, Wheel)]
        boxes = [float(np.ptp(part.points, axis=0).max()) for part in self.boxes]
        return max([spread, *radii, *(() if spread else boxes)]) or 1.0

    def _foot(self, poses: Floats, touch: Touch) -> list[Floats]:
        """The point of a plane on ground below what may touch it."""
        plane, place = self.tree.find(touch.plane), self.tree.find(touch.point)
        if plane.link != GROUND:
            return []
        up, x = array_of(plane.R)[:, 2], self.world(poses, place.link, place.p)
        return [x - up * (up @ (x - point_of(plane.p)))]

    @cached_property
    def sign(self) -> float:
        """Radius of a joint's sign, m: in proportion to the whole, but small beside its links."""
        spans = [float(np.ptp(np.array(many), axis=0).max()) for many in self.anchors.values()]
        lengths = [span for span in spans if span > 1e-9]
        return min(SIGN * self.size, 0.14 * float(np.median(lengths or [self.size])))

    def world(self, poses: Floats, link: int, point: SX | Floats | Sequence[float]) -> Floats:
        """A point of a link in the world."""
        return np.asarray(poses[link, :, :3] @ point_of(point) + poses[link, :, 3])

    @cached_property
    def members(self) -> list[Shape]:
        """The links themselves."""
        return member_shapes(self)

    @cached_property
    def order(self) -> dict[int, int]:
        """Links that are seen, numbered for their colours."""
        links = [*(s.link for s in (*self.members, *self.wheels)), *(t.links[1] for t in self.ties)]
        return {link: k for k, link in enumerate(dict.fromkeys(links)) if link != GROUND}

    @cached_property
    def boxes(self) -> list[Shape]:
        """The box of every link's inertia."""
        return solid_shapes(self)

    @cached_property
    def joints(self) -> list[Shape]:
        return joint_marks(self)

    @cached_property
    def wheels(self) -> list[Shape]:
        return wheel_marks(self)

    @cached_property
    def centers(self) -> list[Shape]:
        return center_marks(self)

    @cached_property
    def frames(self) -> list[Shape]:
        return frame_marks(self)

    @cached_property
    def ties(self) -> list[Tie]:
        return ties_of(self)

    def view(self, asked: str | tuple[float, float] | None = None) -> View:
        return view_of(self.tree, self.gravity, asked)


def scene_of(mechanism: Mechanism) -> Scene:
    return _scene_of(require_mechanism(mechanism))


@lru_cache(maxsize=16)
def _scene_of(mechanism: Mechanism) -> Scene:
    return Scene(mechanism)
