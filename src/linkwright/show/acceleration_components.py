"""Parts of the accelerations of a mechanism's points, as acceleration polygons are drawn by hand.

Of a point B on a body with the base point A, and of a point P that slides on a body which carries
the coincident point P':

    a_B = a_A + a_BA^n + a_BA^t            normal ω × (ω × r), tangential α × r
    a_P = a_P' + a^c + a^s                 Coriolis 2 ω × v_rel, sliding: relative to the body
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from ..kinematics.kinematic_tree import GROUND
from ..mechanism import Mechanism
from ..simulation.body_motions import BodyMotions
from ..types import Floats
from .free_body_balance import free_body_state
from .glyphs import drawn_point
from .mechanism_scene import Scene, mechanism_scene

SLIDING_SHARE = 1e-9
"""Relative motion below this share of the largest velocity or acceleration is rounding."""


@dataclass(frozen=True)
class AccelerationPart:
    """One part of the acceleration of a point, m/s², world axes.

    `kind` is "normal", "tangential", "Coriolis" or "sliding". The part belongs to `point` of
    `body` (the coincident point of the body that carries a slider), relative to the point `base`
    ("" if that is fixed to ground); it is drawn from `start`, the sum of the parts before it.
    """

    kind: str
    point: str
    base: str
    body: str
    start: Floats
    vector: Floats


@dataclass(frozen=True)
class BodyPoint:
    """A named point of a body in the world; the body "" is ground."""

    name: str
    body: str
    position: Floats


def center_image_point_name(body: str) -> str:
    """The name of a body's centre of mass among its points."""
    return f"{body} (mass)"


class PointMotions:
    """Velocities and accelerations of any points of the bodies of a mechanism at one state."""

    def __init__(self, scene: Scene, motions: BodyMotions, q: Floats, t: float) -> None:
        self.scene, self.motions = scene, motions
        self.poses = scene.link_placements(q, t)
        self.index = {name: b for b, name in enumerate(motions.body_names)}
        self.body_of_link = {scene.tree.bodies[name].link: name for name in self.index}

    def body_name(self, link: int) -> str:
        """The body that a link carries; "" for ground."""
        return self.body_of_link.get(link, "") if link != GROUND else ""

    def place(self, name: str, link: int, point: Floats) -> BodyPoint:
        """A point of a link."""
        x = self.scene.drawn_point_in_world(self.poses, link, point)
        return BodyPoint(name, self.body_name(link), x)

    def spin(self, body: str) -> tuple[Floats, Floats]:
        """ω and α of a body."""
        if not body:
            return np.zeros(3), np.zeros(3)
        b = self.index[body]
        return self.motions.twists[b, :3], self.motions.twist_rates[b, :3]

    def velocity(self, body: str, x: Floats) -> Floats:
        """The velocity of the point of a body that is at x."""
        if not body:
            return np.zeros(3)
        b, (w, _) = self.index[body], self.spin(body)
        moved: Floats = self.motions.twists[b, 3:] + np.cross(w, x - self.origin(b))
        return moved

    def acceleration(self, body: str, x: Floats) -> Floats:
        """The acceleration of the point of a body that is at x."""
        if not body:
            return np.zeros(3)
        b, (w, alpha) = self.index[body], self.spin(body)
        r = x - self.origin(b)
        turned = np.cross(alpha, r) + np.cross(w, np.cross(w, r))
        return np.asarray(self.motions.twist_rates[b, 3:] + turned)

    def origin(self, b: int) -> Floats:
        """The origin of the b-th body."""
        return np.asarray(self.motions.placements[b, :3, 3])

    @cached_property
    def pairs(self) -> list[tuple[BodyPoint, BodyPoint]]:
        """The points where two bodies meet, on the parent and on the child, joints before loops."""
        found = []
        for span in self.scene.tree.joints:
            if span.links and not self.scene.is_free_floating(span.name):
                child = self.place(span.name, span.links[-1], np.zeros(3))
                found.append((self.place(span.name, span.frame.link, span.frame.p), child))
        for tie in self.scene.tree.restraints.entries:
            if len(tie.loop_frames) == 2:
                one, other = (
                    self.place(tie.name, place.link, drawn_point(place.p))
                    for place in tie.loop_frames
                )
                found.append((one, other))
        return found

    @cached_property
    def bases(self) -> dict[str, BodyPoint]:
        """The base point of every body: where its joint holds it, or its centre of mass."""
        found: dict[str, BodyPoint] = {}
        for _, child in self.pairs[::-1]:
            if child.body:
                found[child.body] = child
        for name, b in self.index.items():
            center = BodyPoint(center_image_point_name(name), name, self.motions.center_of_mass[b])
            found.setdefault(name, center)
        return found

    def slides(self, parent: BodyPoint, child: BodyPoint) -> bool:
        """Whether the child's point moves relative to the parent."""
        x = child.position
        return any(
            np.linalg.norm(of(child.body, x) - of(parent.body, x)) > SLIDING_SHARE * (1 + size)
            for of, size in (
                (self.velocity, np.abs(self.motions.twists).max()),
                (self.acceleration, np.abs(self.motions.twist_rates).max()),
            )
        )


def acceleration_parts(
    mechanism: Mechanism,
    q: ArrayLike | None = None,
    qd: ArrayLike | None = None,
    tau: ArrayLike | None = None,
    t: float = 0.0,
) -> list[AccelerationPart]:
    """Return the normal, tangential, Coriolis and sliding parts of the accelerations of all joints.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    q, qd, tau : (nq,), (nv,) and (nv,) arrays, optional
        Coordinates, velocities and generalized forces: rad or m, rad/s or m/s, N m or N
        (default: home, at rest, zero).
    t : float
        Time, s.

    Returns
    -------
    list of AccelerationPart
        Parts with their kind, point, base point, body, start and vector (m/s², world axes).

    Examples
    --------
    >>> import linkwright as lw
    >>> lw.show.acceleration_parts(lw.gallery("elbow"), [0.3, 0.4], [1.0, 2.0])[0].kind
    'normal'
    """
    state, scene = free_body_state(mechanism, q, qd, tau, t), mechanism_scene(mechanism)
    motions = BodyMotions.from_model(state.model, state.t, state.q, state.qd, state.qdd)
    return list(_parts_of_motions(PointMotions(scene, motions, state.q, state.t)))


def _parts_of_motions(moving: PointMotions) -> Iterator[AccelerationPart]:
    """The parts of all points, those of bodies first, then those of sliders on them."""
    points: dict[str, dict[str, BodyPoint]] = {body: {} for body in moving.index}
    slides = [pair for pair in moving.pairs if moving.slides(*pair)]
    for pair in moving.pairs:
        for point in pair:
            if point.body and pair not in slides:
                points[point.body].setdefault(point.name, point)
    for parent, child in slides:
        if parent.body:  # the point of the parent where the child is now
            coincident = BodyPoint(child.name, parent.body, child.position)
            points[parent.body][child.name] = coincident
        if child.body and child is not moving.bases[child.body]:
            points[child.body].setdefault(child.name, child)
    for body, own in points.items():
        base, b = moving.bases[body], moving.index[body]
        center = BodyPoint(center_image_point_name(body), body, moving.motions.center_of_mass[b])
        away = [
            p for p in (*own.values(), center) if np.abs(p.position - base.position).max() > 1e-12
        ]
        for point in [p for p in away if p is not center] or away:
            yield from _turning_parts(moving, base, point)
    for parent, child in slides:
        yield from _sliding_parts(moving, parent, child)


def _turning_parts(
    moving: PointMotions, base: BodyPoint, point: BodyPoint
) -> Iterator[AccelerationPart]:
    """The normal and the tangential part of a point relative to the base of its body."""
    (w, alpha), r = moving.spin(point.body), point.position - base.position
    start = moving.acceleration(point.body, base.position)
    name = base.name if np.linalg.norm(start) > 0 else ""
    normal = np.cross(w, np.cross(w, r))
    yield AccelerationPart("normal", point.name, name, point.body, start, normal)
    tangential = np.cross(alpha, r)
    yield AccelerationPart("tangential", point.name, name, point.body, start + normal, tangential)


def _sliding_parts(
    moving: PointMotions, parent: BodyPoint, child: BodyPoint
) -> Iterator[AccelerationPart]:
    """The Coriolis and the sliding part of a child's point relative to the parent."""
    x, (w, _) = child.position, moving.spin(parent.body)
    start = moving.acceleration(parent.body, x)
    relative = moving.velocity(child.body, x) - moving.velocity(parent.body, x)
    coriolis = 2 * np.cross(w, relative)
    rest = moving.acceleration(child.body, x) - start - coriolis
    yield AccelerationPart("Coriolis", child.name, parent.body, child.body, start, coriolis)
    yield AccelerationPart("sliding", child.name, parent.body, child.body, start + coriolis, rest)
