"""How free bodies are turned, as states, and the joints' angles between bodies.

One angle a body in a plane, none where nothing turns, a unit quaternion (w, x, y, z) in space. The
turn t of a body from where it stands at q = 0 is a product of turns about axes that stand still:

    t(child) = t(parent) exp(a₁ q₁) exp(a₂ q₂) …       a: the joint's axes at q = 0

so that t(parent)⁻¹ t(child) tells the joint's angles, up to whole turns in space: of these the ones
next to angles that are known nearly are meant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import casadi as ca
import numpy as np

from ..algebra.linear import IDENTITY, Array, Scalar, cross, outer, skew, without_dust
from ..algebra.rotations import (
    conjugate,
    quaternion_of,
    quaternion_product,
    quaternion_rotation,
)
from ..kinematics.recursions import Pose, displacements, poses
from ..kinematics.tree import Link, Tree
from ..types import Floats

Read = list[tuple[int, Array]]
"""Values of some of the tree's coordinates, each from an index on."""


def at_zero(tree: Tree) -> list[Pose]:
    """Every link where nothing is displaced."""
    q = np.zeros(sum(link.kind.coordinates for link in tree.links))
    for link in tree.links:
        if link.kind.has_quaternion:
            q[link.q_range.stop - 4] = 1.0
    placed = poses(tree, displacements(tree, ca.SX(ca.DM(q))))
    return [Pose(as_numbers(pose.R), as_numbers(pose.p)) for pose in placed]


def as_numbers(array: Array) -> Array:
    """The array as one of floats, if it has no symbols; NumPy's arrays are as they were."""
    if not isinstance(array, ca.SX) or not array.is_constant():
        return array
    found = without_dust(np.array(ca.DM(array), dtype=float))
    return found.ravel() if found.shape[1] == 1 else found


class Attitude(ABC):
    """How bodies are turned: `endings` name the states of one body."""

    endings: tuple[str, ...] = ()
    winds = False
    """Whether whole turns of joints must be known from elsewhere."""

    def __init__(self, tree: Tree, zero: Sequence[Pose]) -> None:
        self.tree, self.zero = tree, zero

    @property
    @abstractmethod
    def ground(self) -> Array:
        """The turn of what stands still."""

    @abstractmethod
    def turn(self, body: str, states: Array) -> Array:
        """How far a body is turned from where it stands at q = 0."""

    @abstractmethod
    def states(self, body: str, turn: Array) -> Array:
        """The states that mean a turn."""

    @abstractmethod
    def rotation(self, turn: Array) -> Array:
        """The matrix of a turn."""

    @abstractmethod
    def turned(self, turn: Array, link: int, q: Array) -> Array:
        """A turn and then, in its own axes, the motion of a link."""

    @abstractmethod
    def angles(self, parent: Array, child: Array, links: Sequence[int], near: Array) -> Read:
        """What turns of two bodies say about the joint between them; `near` are the tree's
        coordinates nearly."""

    @abstractmethod
    def rates(self, states: Array, omega: Array) -> Array:
        """Of the states, with ω in the world's axes."""

    def turning(self, links: Sequence[int]) -> list[tuple[int, Link]]:
        """Those of the links that turn."""
        all_links = ((i, self.tree.links[i]) for i in links)
        return [(i, link) for i, link in all_links if link.kind.turns]


class Still(Attitude):
    """Nothing turns."""

    @property
    def ground(self) -> Array:
        return ca.SX(0, 1)

    def turn(self, body: str, states: Array) -> Array:
        return states

    def states(self, body: str, turn: Array) -> Array:
        return turn

    def rotation(self, turn: Array) -> Array:
        return IDENTITY

    def turned(self, turn: Array, link: int, q: Array) -> Array:
        return turn

    def angles(self, parent: Array, child: Array, links: Sequence[int], near: Array) -> Read:
        return []

    def rates(self, states: Array, omega: Array) -> Array:
        return states


class Angle(Attitude):
    """Turns about one direction n: angles, which add up."""

    endings = ("turn",)

    def __init__(self, tree: Tree, zero: Sequence[Pose], normal: Floats) -> None:
        super().__init__(tree, zero)
        self.normal = normal

    @property
    def ground(self) -> Array:
        return ca.SX(0)

    def turn(self, body: str, states: Array) -> Array:
        return states

    def states(self, body: str, turn: Array) -> Array:
        return turn

    def rotation(self, turn: Array) -> Array:
        n, c, s = self.normal, ca.cos(turn), ca.sin(turn)
        return c * (IDENTITY - outer(n, n)) + s * skew(n) + outer(n, n)

    def along(self, link: int) -> float:
        """1 or −1: whether a link turns about n or against it, whatever values symbols take."""
        along = ca.SX(self.zero[link].R[:, 2].T @ self.normal)
        symbols = ca.vertcat(*self.tree.symbols.values())
        values = [float(value) for value in self.tree.symbol_values.values()]
        return float(np.round(float(ca.Function("n", [symbols], [along])(values))))

    def turned(self, turn: Array, link: int, q: Array) -> Array:
        return turn + self.along(link) * q if self.tree.links[link].kind.turns else turn

    def angles(self, parent: Array, child: Array, links: Sequence[int], near: Array) -> Read:
        return [(link.q, self.along(i) * (child - parent)) for i, link in self.turning(links)]

    def rates(self, states: Array, omega: Array) -> Array:
        return ca.dot(ca.SX(self.normal), omega)


class Quaternion(Attitude):
    """Turns in space; the states are the orientation of a body's frame in the world."""

    endings = ("qw", "qx", "qy", "qz")
    winds = True

    @property
    def ground(self) -> Array:
        return ca.SX(ca.DM([1, 0, 0, 0]))

    def start(self, body: str) -> Array:
        """The quaternion of a body's frame at q = 0."""
        place = self.tree.bodies[body]
        R = as_numbers(ca.SX(self.zero[place.link].R @ place.R))
        if isinstance(R, np.ndarray):
            return ca.sparsify(ca.SX(ca.DM(without_dust(quaternion_of(R, R)))))
        symbols = ca.vertcat(*self.tree.symbols.values())
        values = [float(value) for value in self.tree.symbol_values.values()]
        numbers = np.array(ca.Function("R", [symbols], [R])(values), dtype=float)
        return quaternion_of(R, numbers)

    def turn(self, body: str, states: Array) -> Array:
        unit = states / ca.sqrt(ca.dot(states, states))
        return quaternion_product(unit, conjugate(self.start(body)))

    def states(self, body: str, turn: Array) -> Array:
        return quaternion_product(turn, self.start(body))

    def rotation(self, turn: Array) -> Array:
        return quaternion_rotation([turn[i] for i in range(4)])

    def turned(self, turn: Array, link: int, q: Array) -> Array:
        R, kind = self.zero[link].R, self.tree.links[link].kind
        if not kind.turns:
            return turn
        if kind.has_quaternion:
            own = q[-4:]
            by = ca.vertcat(own[0], R @ own[1:])
        else:
            by = ca.vertcat(ca.cos(q / 2), R[:, 2] * ca.sin(q / 2))
        return quaternion_product(turn, by)

    def angles(self, parent: Array, child: Array, links: Sequence[int], near: Array) -> Read:
        between = quaternion_product(conjugate(parent), child)
        turning = self.turning(links)
        if not turning:
            return []
        first, link = turning[0]
        if link.kind.has_quaternion:
            own = ca.vertcat(between[0], self.zero[first].R.T @ between[1:])
            return [(link.q_range.stop - 4, own)]
        axes = [ca.SX(self.zero[i].R[:, 2]) for i, _ in turning]
        nearly = [near[link.q] for _, link in turning]
        found = _ANGLES[len(axes)](between, axes, nearly)
        return [(link.q, q) for (_, link), q in zip(turning, found, strict=True)]

    def rates(self, states: Array, omega: Array) -> Array:
        return quaternion_product(ca.vertcat(0, omega), states) / 2


# -- angles of one, two and three turns that make up a quaternion ------------------------


def _next_to(near: Scalar, sine: Scalar, cosine: Scalar) -> Scalar:
    """The angle of a sine and cosine (times any length) that is next to a given one."""
    c, s = ca.cos(near), ca.sin(near)
    return near + ca.atan2(sine * c - cosine * s, cosine * c + sine * s)


def _one(between: Array, axes: list[Array], near: list[Scalar]) -> list[Scalar]:
    return [2 * _next_to(near[0] / 2, ca.dot(axes[0], between[1:]), between[0])]


def _two(between: Array, axes: list[Array], near: list[Scalar]) -> list[Scalar]:
    """(c₁ + s₁ a)(c₂ + s₂ b) solved for the products of cosines and sines of half the angles."""
    (a, b), u = axes, between[1:]
    normal, d = cross(a, b), ca.dot(a, b)
    square = ca.dot(normal, normal)
    ss = ca.dot(normal, u) / square
    cc = between[0] + d * ss
    along_a, along_b = ca.dot(a, u), ca.dot(b, u)
    sc, cs = (along_a - d * along_b) / square, (along_b - d * along_a) / square
    total = _next_to((near[0] + near[1]) / 2, sc + cs, cc - ss)
    rest = _next_to((near[0] - near[1]) / 2, sc - cs, cc + ss)
    return [total + rest, total - rest]


def _three(between: Array, axes: list[Array], near: list[Scalar]) -> list[Scalar]:
    """Cardan's angles about x, y, z. Of the two rows of angles that mean the same turn, the one
    whose first angle is next to the known one."""
    C = ca.horzcat(*axes)
    R = C.T @ quaternion_rotation([between[i] for i in range(4)]) @ C
    c, s = ca.cos(near[0]), ca.sin(near[0])
    across, along = -R[1, 2] * c - R[2, 2] * s, R[2, 2] * c - R[1, 2] * s
    first = near[0] + ca.atan2(across * along, along * along)
    c, s = ca.cos(first), ca.sin(first)
    second = _next_to(near[1], R[0, 2], c * R[2, 2] - s * R[1, 2])
    return [first, second, _next_to(near[2], c * R[1, 0] + s * R[2, 0], c * R[1, 1] + s * R[2, 1])]


_ANGLES = {1: _one, 2: _two, 3: _three}
