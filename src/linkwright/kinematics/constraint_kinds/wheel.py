"""Wheels that roll without slipping, on a plane or on another wheel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from ...algebra.linear_algebra import Array, Scalar, cross, dot
from ...mechanism import RollingConstraint
from ..file_pose import tree_starting_pose
from ..kinematic_tree import GROUND, KinematicTree, LinkFrame, Restraint
from ..parameter_values import KinematicParameters
from ..placement_values import joint_axis_alignment
from ..sketches import WheelSketch
from ..tree_coordinates import place_tree_at_time
from ..world_kinematics import WorldKinematics
from .body_states import ConstrainedBodyStates, ConstraintRows, SymbolScope

MIN_SQUARED_LEAN = 1e-9
"""A wheel that lies flat rolls on no point: the squared sine of its lean stays above this."""

MAX_IN_PLANE_SHARE = 1e-9
"""A wheel's centre nearer to the plane than this share of the radius lies in it."""


@dataclass(frozen=True)
class WheelRestraint(Restraint):
    """A thin wheel that rolls on a plane (z = 0 of the frame `on`), or on another wheel.

    `side` is +1 where it stands on the plane's +z side, −1 on the other.
    """

    wheel_frame: str
    on: str
    axle: Array
    radius: Scalar
    other_radius: Scalar | None
    side: float = 1.0

    @property
    def attached_names(self) -> tuple[str, ...]:
        """The frame of the wheel, and that of the plane or the other wheel."""
        return self.wheel_frame, self.on

    def constraint_rows(self, setting: ConstrainedBodyStates) -> ConstraintRows:
        """Return the rows of contact (positions) and of rolling without slip (velocities)."""
        return (
            _plane_rolling_rows(self, setting)
            if self.other_radius is None
            else _wheel_rolling_rows(self, setting)
        )

    def assumed_zero_rates(self, setting: ConstrainedBodyStates) -> list[Array]:
        """Return (ω_wheel − ω_other) × axle for a wheel on a wheel: zero while their axles are
        parallel."""
        if self.other_radius is None:
            return []
        axle = setting.frame_pose(self.wheel_frame).R @ self.axle
        return [
            cross(
                setting.angular_velocity(self.wheel_frame) - setting.angular_velocity(self.on), axle
            )
        ]

    def choose_side(self, tree: KinematicTree) -> WheelRestraint:
        """Choose the side of the plane that the file states (`side`), or that of its pose: the
        centre's side; if the centre lies in the plane, the side against gravity; and +z if gravity
        does not tell either."""
        return (
            self if self.other_radius is not None else replace(self, side=_wheel_side(tree, self))
        )

    def turning_axes(self, tree: KinematicTree) -> list[tuple[LinkFrame, Array]]:
        """Return the axle, in the frame of the wheel."""
        return [(tree.find_frame(self.wheel_frame), self.axle)]

    @property
    def sketches(self) -> tuple[WheelSketch, ...]:
        """The wheel, and the other wheel if it rolls on one."""
        own = WheelSketch(self.wheel_frame, self.axle, self.radius)
        if self.other_radius is None:
            return (own,)
        return own, WheelSketch(self.on, self.axle, self.other_radius)


def read_wheel_restraint(
    name: str,
    given: RollingConstraint,
    values: KinematicParameters,
    scope: SymbolScope,
    tree: KinematicTree,
) -> WheelRestraint:
    """Return the restraint of a rolling wheel with its axle as a unit vector."""
    axle = joint_axis_alignment(values, given.axle, name, "axle")[:, 2]
    other = given.other_radius
    return WheelRestraint(
        name,
        given.wheel,
        given.on,
        axle,
        values.read_scalar(given.radius, f"r_{name}"),
        None if other is None else values.read_scalar(other, f"r2_{name}"),
    )


def _plane_rolling_rows(tie: WheelRestraint, setting: ConstrainedBodyStates) -> ConstraintRows:
    """The point of the rim nearest to the plane touches it, and does not slip in it.

    The normal n points to the side on which the wheel stands, so that √(1 − tilt²) is the cosine
    of its lean and never changes its sign.
    """
    wheel, plane = setting.frame_pose(tie.wheel_frame), setting.frame_pose(tie.on)
    n, a = tie.side * plane.R[:, 2], wheel.R @ tie.axle
    tilt = dot(n, a)
    upright = ca.sqrt(1 - tilt * tilt)
    contact = wheel.p - tie.radius * (n - tilt * a) / upright
    height = dot(n, wheel.p - plane.p) - tie.radius * upright
    slip = setting.point_velocity(tie.wheel_frame, contact) - setting.point_velocity(
        tie.on, contact
    )
    return ConstraintRows(
        [height], [dot(slip, plane.R[:, k]) for k in (0, 1)], [1 - tilt * tilt - MIN_SQUARED_LEAN]
    )


def _wheel_rolling_rows(tie: WheelRestraint, setting: ConstrainedBodyStates) -> ConstraintRows:
    """Return the rows of two wheels in one plane that touch and do not slip along the tangent."""
    one, two = setting.frame_pose(tie.wheel_frame), setting.frame_pose(tie.on)
    a, apart = one.R @ tie.axle, two.p - one.p
    apart = apart - a * dot(a, apart)
    reach = tie.radius + tie.other_radius
    e = apart / reach
    contact = one.p + tie.radius * e
    slip = setting.point_velocity(tie.wheel_frame, contact) - setting.point_velocity(
        tie.on, contact
    )
    return ConstraintRows([(dot(apart, apart) - reach**2) / (2 * reach)], [dot(slip, cross(a, e))])


def _wheel_side(tree: KinematicTree, wheel: WheelRestraint) -> float:
    """Return +1 or −1: the side of the plane on which the wheel stands."""
    constraint = tree.mechanism.constraints[wheel.name]
    assert isinstance(constraint, RollingConstraint)
    if constraint.side is not None:
        return -1.0 if constraint.side == "-z" else 1.0
    height, radius, weight = _wheel_height_and_weight(tree, wheel)
    if abs(height) > MAX_IN_PLANE_SHARE * abs(radius):
        return float(np.sign(height))
    return -1.0 if weight > MAX_IN_PLANE_SHARE else 1.0


def _wheel_height_and_weight(
    tree: KinematicTree, wheel: WheelRestraint
) -> tuple[float, float, float]:
    """Return the height of the wheel's centre along the plane's z, its radius, and the share of
    gravity along z, in the file's pose."""
    tree = place_tree_at_time(tree, 0.0)
    world = WorldKinematics(tree, tree.motion.q)
    (_, center), (R, origin) = (
        _world_frame_pose(tree, world, name) for name in (wheel.wheel_frame, wheel.on)
    )
    n, g = R[:, 2], ca.SX(tree.gravity)
    along = dot(n, g) / (ca.norm_2(g) + 1e-300)
    symbols = ca.vertcat(ca.SX(0, 1), *tree.symbols.values())
    outputs = [ca.vertcat(dot(n, center - origin), ca.SX(wheel.radius), along)]
    numbers = [float(value) for value in tree.symbol_values.values()]
    evaluate = ca.Function("standing", [tree.motion.q, symbols], outputs)
    height, radius, weight = (
        np.asarray(evaluate(tree_starting_pose(tree), numbers)).ravel().tolist()
    )
    return height, radius, weight


def _world_frame_pose(
    tree: KinematicTree, world: WorldKinematics, name: str
) -> tuple[Array, Array]:
    """Return rotation and position of a frame or body in the world."""
    place = tree.find_frame(name)
    R, p = ca.SX(place.R), ca.SX(place.p)
    if place.link == GROUND:
        return R, p
    link = world.link_poses[place.link]
    return ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
