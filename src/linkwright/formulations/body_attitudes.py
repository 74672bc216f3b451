"""Attitudes of free bodies as states, and the joint angles between bodies.

A body has one angle in a plane, a unit quaternion (w, x, y, z) in space, and no attitude where
nothing turns. Its rotation t from its attitude at q = 0 is a product of rotations about fixed axes:

    t(child) = t(parent) exp(a₁ q₁) exp(a₂ q₂) …       a: the joint's axes at q = 0

Hence t(parent)⁻¹ t(child) determines the joint's angles, in space up to whole turns: the solution
nearest to approximate angles is taken.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import (
    IDENTITY,
    Array,
    Scalar,
    cross,
    outer,
    skew,
    snap_rotation_noise,
)
from ..algebra.rotations import (
    quaternion_conjugate,
    quaternion_from_rotation,
    quaternion_product,
    quaternion_rotation,
)
from ..kinematics.kinematic_tree import KinematicTree, TreeLink
from ..kinematics.recursions import LinkPose, link_displacements, link_poses
from ..types import Floats

JointReadings = list[tuple[int, Array]]
"""Values of some of the tree's coordinates, each with the index of its first entry."""


def newton_euler_zero_poses(tree: KinematicTree) -> list[LinkPose]:
    """The poses of all links at q = 0 (unit quaternions at identity)."""
    q = np.zeros(sum(link.kind.coordinate_count for link in tree.links))
    for link in tree.links:
        if link.kind.has_quaternion:
            q[link.coordinate_range.stop - 4] = 1.0
    placed = link_poses(tree, link_displacements(tree, ca.SX(ca.DM(q))))
    return [
        LinkPose(numeric_attitude_constant(pose.R), numeric_attitude_constant(pose.p))
        for pose in placed
    ]


def numeric_attitude_constant(array: Array) -> Array:
    """The array as a NumPy array if it has no symbols, otherwise unchanged."""
    if not isinstance(array, ca.SX) or not array.is_constant():
        return array
    found = snap_rotation_noise(np.array(ca.DM(array), dtype=float))
    return found.ravel() if found.shape[1] == 1 else found


class NewtonEulerAttitude(ABC):
    """The attitude of one free body as states; `state_suffixes` name the states."""

    state_suffixes: tuple[str, ...] = ()
    loses_whole_turns = False
    """Whether the states do not determine whole turns of the joints."""

    def __init__(self, tree: KinematicTree, zero: Sequence[LinkPose]) -> None:
        self.tree, self.poses_at_zero = tree, zero

    @property
    @abstractmethod
    def ground_attitude(self) -> Array:
        """The attitude of ground."""

    @abstractmethod
    def attitude_from_states(self, body: str, states: Array) -> Array:
        """The rotation of a body from its attitude at q = 0, from its states."""

    @abstractmethod
    def states_from_attitude(self, body: str, turn: Array) -> Array:
        """The states of a body that has a given attitude."""

    @abstractmethod
    def rotation_matrix(self, turn: Array) -> Array:
        """The rotation matrix of an attitude, 3 × 3."""

    @abstractmethod
    def compose_link_motion(self, turn: Array, link: int, q: Array) -> Array:
        """The attitude after a link's joint motion q, applied in the body's own axes."""

    @abstractmethod
    def read_joint_angles(
        self, parent: Array, child: Array, links: Sequence[int], near: Array
    ) -> JointReadings:
        """Read the angles of the joint between two bodies from their attitudes; `near` are
        approximate coordinates of the tree."""

    @abstractmethod
    def state_rates(self, states: Array, omega: Array) -> Array:
        """The rates of the attitude states, from ω in world axes."""

    def turning_links(self, links: Sequence[int]) -> list[tuple[int, TreeLink]]:
        """Those of the links whose joint motion is a rotation."""
        all_links = ((i, self.tree.links[i]) for i in links)
        return [(i, link) for i, link in all_links if link.kind.has_rotation]


class NewtonEulerFixedAttitude(NewtonEulerAttitude):
    """The attitude of bodies that never turn: no states."""

    @property
    def ground_attitude(self) -> Array:
        """An empty attitude."""
        return ca.SX(0, 1)

    def attitude_from_states(self, body: str, states: Array) -> Array:
        """The empty attitude."""
        return states

    def states_from_attitude(self, body: str, turn: Array) -> Array:
        """No states."""
        return turn

    def rotation_matrix(self, turn: Array) -> Array:
        """The identity."""
        return IDENTITY

    def compose_link_motion(self, turn: Array, link: int, q: Array) -> Array:
        """The attitude unchanged, as no link turns."""
        return turn

    def read_joint_angles(
        self, parent: Array, child: Array, links: Sequence[int], near: Array
    ) -> JointReadings:
        """No angles."""
        return []

    def state_rates(self, states: Array, omega: Array) -> Array:
        """No rates."""
        return states


class NewtonEulerPlanarAttitude(NewtonEulerAttitude):
    """Rotation about one fixed direction n: angles, which add up."""

    state_suffixes = ("turn",)

    def __init__(self, tree: KinematicTree, zero: Sequence[LinkPose], normal: Floats) -> None:
        super().__init__(tree, zero)
        self.normal = normal

    @property
    def ground_attitude(self) -> Array:
        """The angle 0."""
        return ca.SX(0)

    def attitude_from_states(self, body: str, states: Array) -> Array:
        """The angle of the body, which is its state."""
        return states

    def states_from_attitude(self, body: str, turn: Array) -> Array:
        """The angle of the body as its state."""
        return turn

    def rotation_matrix(self, turn: Array) -> Array:
        """The rotation about n by the angle (Rodrigues)."""
        n, c, s = self.normal, ca.cos(turn), ca.sin(turn)
        return c * (IDENTITY - outer(n, n)) + s * skew(n) + outer(n, n)

    def turning_sense(self, link: int) -> float:
        """1 or −1: whether a link turns about n or against it, for all values of the symbols."""
        along = ca.SX(self.poses_at_zero[link].R[:, 2].T @ self.normal)
        symbols = ca.vertcat(*self.tree.symbols.values())
        values = [float(value) for value in self.tree.symbol_values.values()]
        return float(np.round(float(ca.Function("n", [symbols], [along])(values))))

    def compose_link_motion(self, turn: Array, link: int, q: Array) -> Array:
        """The angle after a link's joint rotation."""
        return (
            turn + self.turning_sense(link) * q if self.tree.links[link].kind.has_rotation else turn
        )

    def read_joint_angles(
        self, parent: Array, child: Array, links: Sequence[int], near: Array
    ) -> JointReadings:
        """The difference of the bodies' angles, in the sense of each turning link."""
        return [
            (link.q, self.turning_sense(i) * (child - parent))
            for i, link in self.turning_links(links)
        ]

    def state_rates(self, states: Array, omega: Array) -> Array:
        """The component of ω along n."""
        return ca.dot(ca.SX(self.normal), omega)


class NewtonEulerQuaternionAttitude(NewtonEulerAttitude):
    """Rotation in space; the states are the unit quaternion of the body's frame in the world."""

    state_suffixes = ("qw", "qx", "qy", "qz")
    loses_whole_turns = True

    @property
    def ground_attitude(self) -> Array:
        """The unit quaternion of ground."""
        return ca.SX(ca.DM([1, 0, 0, 0]))

    def quaternion_at_zero(self, body: str) -> Array:
        """The quaternion of a body's frame at q = 0."""
        place = self.tree.bodies[body]
        R = numeric_attitude_constant(ca.SX(self.poses_at_zero[place.link].R @ place.R))
        if isinstance(R, np.ndarray):
            return ca.sparsify(ca.SX(ca.DM(snap_rotation_noise(quaternion_from_rotation(R, R)))))
        symbols = ca.vertcat(*self.tree.symbols.values())
        values = [float(value) for value in self.tree.symbol_values.values()]
        numbers = np.array(ca.Function("R", [symbols], [R])(values), dtype=float)
        return quaternion_from_rotation(R, numbers)

    def attitude_from_states(self, body: str, states: Array) -> Array:
        """The quaternion from the body's attitude at q = 0 to its normalized state."""
        unit = states / ca.sqrt(ca.dot(states, states))
        return quaternion_product(unit, quaternion_conjugate(self.quaternion_at_zero(body)))

    def states_from_attitude(self, body: str, turn: Array) -> Array:
        """The quaternion of the body's frame in the world."""
        return quaternion_product(turn, self.quaternion_at_zero(body))

    def rotation_matrix(self, turn: Array) -> Array:
        """The rotation matrix of the quaternion."""
        return quaternion_rotation([turn[i] for i in range(4)])

    def compose_link_motion(self, turn: Array, link: int, q: Array) -> Array:
        """The quaternion after a link's joint rotation."""
        R, kind = self.poses_at_zero[link].R, self.tree.links[link].kind
        if not kind.has_rotation:
            return turn
        if kind.has_quaternion:
            own = q[-4:]
            by = ca.vertcat(own[0], R @ own[1:])
        else:
            by = ca.vertcat(ca.cos(q / 2), R[:, 2] * ca.sin(q / 2))
        return quaternion_product(turn, by)

    def read_joint_angles(
        self, parent: Array, child: Array, links: Sequence[int], near: Array
    ) -> JointReadings:
        """The joint's quaternion, or its one to three angles nearest to the known ones."""
        between = quaternion_product(quaternion_conjugate(parent), child)
        turning = self.turning_links(links)
        if not turning:
            return []
        first, link = turning[0]
        if link.kind.has_quaternion:
            own = ca.vertcat(between[0], self.poses_at_zero[first].R.T @ between[1:])
            return [(link.coordinate_range.stop - 4, own)]
        axes = [ca.SX(self.poses_at_zero[i].R[:, 2]) for i, _ in turning]
        nearly = [near[link.q] for _, link in turning]
        readers = {
            1: self._angle_about_one_axis,
            2: self._angles_about_two_axes,
            3: self._cardan_angles,
        }
        found = readers[len(axes)](between, axes, nearly)
        return [(link.q, q) for (_, link), q in zip(turning, found, strict=True)]

    def state_rates(self, states: Array, omega: Array) -> Array:
        """½ (0, ω) ⊗ quaternion."""
        return quaternion_product(ca.vertcat(0, omega), states) / 2

    # -- angles of one, two and three rotations whose product is a quaternion -----------------

    def _nearest_angle(self, near: Scalar, sine: Scalar, cosine: Scalar) -> Scalar:
        """The angle with the given sine and cosine (up to a common factor) nearest to a known
        one."""
        c, s = ca.cos(near), ca.sin(near)
        return near + ca.atan2(sine * c - cosine * s, cosine * c + sine * s)

    def _angle_about_one_axis(
        self, between: Array, axes: list[Array], near: list[Scalar]
    ) -> list[Scalar]:
        """The angle of a rotation about one axis."""
        return [2 * self._nearest_angle(near[0] / 2, ca.dot(axes[0], between[1:]), between[0])]

    def _angles_about_two_axes(
        self, between: Array, axes: list[Array], near: list[Scalar]
    ) -> list[Scalar]:
        """The angles of (c₁ + s₁ a)(c₂ + s₂ b), from the products of sines and cosines of the half
        angles."""
        (a, b), u = axes, between[1:]
        normal, d = cross(a, b), ca.dot(a, b)
        square = ca.dot(normal, normal)
        ss = ca.dot(normal, u) / square
        cc = between[0] + d * ss
        along_a, along_b = ca.dot(a, u), ca.dot(b, u)
        sc, cs = (along_a - d * along_b) / square, (along_b - d * along_a) / square
        total = self._nearest_angle((near[0] + near[1]) / 2, sc + cs, cc - ss)
        rest = self._nearest_angle((near[0] - near[1]) / 2, sc - cs, cc + ss)
        return [total + rest, total - rest]

    def _cardan_angles(self, between: Array, axes: list[Array], near: list[Scalar]) -> list[Scalar]:
        """Cardan angles about x, y, z; of the two solutions, the one with the first angle nearest
        to the known one."""
        C = ca.horzcat(*axes)
        R = C.T @ quaternion_rotation([between[i] for i in range(4)]) @ C
        c, s = ca.cos(near[0]), ca.sin(near[0])
        across, along = -R[1, 2] * c - R[2, 2] * s, R[2, 2] * c - R[1, 2] * s
        first = near[0] + ca.atan2(across * along, along * along)
        c, s = ca.cos(first), ca.sin(first)
        second = self._nearest_angle(near[1], R[0, 2], c * R[2, 2] - s * R[1, 2])
        return [
            first,
            second,
            self._nearest_angle(near[2], c * R[1, 0] + s * R[2, 0], c * R[1, 1] + s * R[2, 1]),
        ]
