"""Joint coordinates and speeds, read from bodies that are placed one by one.

A joint's angles follow from the turns of its two bodies, its slides from where the mass centres
are; its speeds from the difference of their velocities. Where bodies stand as joints allow, that
is exact; where they have drifted apart, it is what the joint would say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.linear import IDENTITY, ZERO3, Array, cross, solve_symmetric
from ..kinematics.coordinates import own_links, spread_coordinates
from ..kinematics.recursions import Displacement, Pose, displacements
from ..kinematics.tree import GROUND, Tree
from ..kinematics.world import Freedom, freedoms_of
from .attitudes import Attitude

_STEPS = 3
"""Of Newton's, from coordinates that are known nearly to chosen ones."""


@dataclass(frozen=True)
class Loose:
    """A body by itself: its turn, its link's pose, its mass centre, ω and v of this; `links` are
    those of the joint before it, `parent` the body before that (−1 for ground)."""

    parent: int
    links: tuple[int, ...]
    turn: Array
    pose: Pose
    r: Array
    omega: Array
    v: Array

    def velocity_at(self, x: Array) -> Array:
        return self.v + cross(self.omega, x - self.r)


class Reading:
    """(q, q̇) of loose bodies; `near` are the model's coordinates nearly."""

    def __init__(
        self, tree: Tree, attitude: Attitude, bodies: Sequence[Loose], near: Array
    ) -> None:
        self.tree, self.attitude, self.bodies, self.near = tree, attitude, bodies, near
        self.ground = Loose(
            GROUND, (), attitude.ground, Pose(IDENTITY, ZERO3), ZERO3, ca.SX(3, 1), ca.SX(3, 1)
        )
        self.read = [body for body in bodies if self._is_own(body)]

    def _is_own(self, body: Loose) -> bool:
        """Whether the joint has coordinates of its own, or follows another."""
        return self.tree.links[body.links[0]].v not in self.tree.followers

    def before(self, body: Loose) -> Loose:
        return self.bodies[body.parent] if body.parent >= 0 else self.ground

    @cached_property
    def angles(self) -> Array:
        """The tree's coordinates, with what slides at zero."""
        full = ca.SX.zeros(sum(link.kind.coordinates for link in self.tree.links))
        near = ca.SX(spread_coordinates(self.tree, self.near))
        for body in self.read:
            parent = self.before(body)
            for index, values in self.attitude.angles(parent.turn, body.turn, body.links, near):
                full[index : index + values.shape[0]] = values
        return full

    @cached_property
    def full(self) -> Array:
        """The tree's coordinates, without those that follow others."""
        full = ca.SX(self.angles)
        for body in self.read:
            for index, values in self._slides(body):
                full[index : index + values.shape[0]] = values
        return full

    def _slides(self, body: Loose) -> list[tuple[int, Array]]:
        """Axes of slides in one joint are at right angles."""
        chain = self._chain(body, self._turned)
        gap = body.pose.p - chain[-1].p
        found = []
        for i, pose in zip(body.links, chain, strict=True):
            link = self.tree.links[i]
            if link.kind.has_position:
                axes = self.before(body).pose.R @ link.R
                found.append((link.q, axes.T @ gap))
            elif not link.kind.turns:
                found.append((link.q, ca.dot(pose.R[:, 2], gap)))
        return found

    @cached_property
    def _turned(self) -> list[Displacement]:
        return displacements(self.tree, self.angles)

    @cached_property
    def _moved(self) -> list[Displacement]:
        return displacements(self.tree, self.full)

    def _chain(self, body: Loose, moved: list[Displacement]) -> list[Pose]:
        """The links of a joint, from where its first body is."""
        here, found = self.before(body).pose, []
        for i in body.links:
            d = moved[i]
            here = Pose(here.R @ d.rotation, here.p + here.R @ d.position)
            found.append(here)
        return found

    @cached_property
    def q(self) -> Array:
        """The model's coordinates."""
        own = ca.vertcat(*(self.full[link.q_range] for link, *_ in own_links(self.tree)))
        transfer = self.tree.transfer
        if transfer is None:
            return own
        p = self.near
        for _ in range(1 if transfer.is_affine else _STEPS):
            q, G = self._at(p)
            p = p - solved(G, q - own)
        return p

    def _at(self, p: Array) -> tuple[Array, Array]:
        """Joint variables at the model's coordinates, and their slopes."""
        transfer = self.tree.transfer
        assert transfer is not None
        q, G = ca.substitute([transfer.q, transfer.G], [self.tree.motion.q], [ca.SX(p)])
        return q, G

    @cached_property
    def qd(self) -> Array:
        """The model's speeds."""
        v = ca.SX.zeros(self.tree.tree_nv)
        for body in self.read:
            for freedom, value in self._speeds(body):
                v[freedom.index] = value
        own = v[self.tree.own_speeds()]
        return own if self.tree.transfer is None else solved(self._at(self.q)[1], own)

    def _speeds(self, body: Loose) -> list[tuple[Freedom, Array]]:
        parent, chain = self.before(body), self._chain(body, self._moved)
        freedoms = [
            freedom
            for i, pose in zip(body.links, chain, strict=True)
            for freedom in freedoms_of(self.tree, i, pose)
        ]
        turning = [freedom for freedom in freedoms if freedom.turns]
        rest = body.v - parent.velocity_at(body.r)
        found = []
        for freedom, rate in zip(turning, self._turn_rates(body, turning), strict=True):
            found.append((freedom, rate))
            rest = rest - rate * freedom.linear(body.r)
        sliding = (freedom for freedom in freedoms if not freedom.turns)
        return found + [(freedom, ca.dot(freedom.s, rest)) for freedom in sliding]

    def _turn_rates(self, body: Loose, turning: list[Freedom]) -> list[Array]:
        if not turning:
            return []
        A = ca.horzcat(*(ca.SX(freedom.s) for freedom in turning))
        rates = A.T @ (body.omega - self.before(body).omega)
        orthogonal = len(turning) == 1 or len({freedom.link for freedom in turning}) == 1
        return ca.vertsplit(rates if orthogonal else solve_symmetric(ca.densify(A.T @ A), rates))


def solved(G: Array, b: Array) -> Array:
    """G⁻¹ b."""
    if G.is_constant():
        return ca.sparsify(ca.SX(ca.DM(np.linalg.inv(np.array(ca.DM(G)))))) @ b
    return ca.solve(G, b)
