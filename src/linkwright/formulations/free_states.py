"""The states of free bodies: how each one is turned, where its mass centre is, and both rates, as
(23)–(46) of Bayseç and Kapucu (1996) integrate them: 18 for the triple pendulum.

In a plane an angle and two coordinates a body, three coordinates where nothing turns, in space a
unit quaternion and three: 13 states a body with ω and v, all in the world's axes. Joints are read
from them (`free_reading`). They drift apart as errors of integration let them, until bodies are
put back where the joints that were read place them.

Of angles in space, states tell all but whole turns, and of chosen coordinates that bend the joints'
angles, one branch of several: coordinates `near` them go along, and choose.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..algebra.linear import Array, cross
from ..equations import Builder, State
from ..kinematics.coordinates import own_links, spread_accelerations, spread_coordinates
from ..kinematics.recursions import Pose, accelerations, velocities
from ..types import Floats
from .attitudes import Angle, Attitude, Quaternion, Still, as_numbers, at_zero
from .free_reading import Loose, Reading

if TYPE_CHECKING:
    from .newton_euler import FreeBodies, FreeBody


SPACE = 6


def states_of_a_body(k: int) -> int:
    """By the number of components of its acceleration: in space, quaternions have four."""
    return 2 * k + 1 if k == SPACE else 2 * k


class FreeStates:
    """`joint_accelerations` are those of the elimination of reactions."""

    def __init__(self, free: FreeBodies, joint_accelerations: Builder) -> None:
        self.free, self.tree = free, free.tree
        self.q, self.qd = free.q, free.qd
        self.joint_accelerations = joint_accelerations
        turning = free.P[:, :3].any(axis=1)
        self.normals: Floats = free.P[turning, :3]
        self.directions: Floats = free.P[~turning, 3:]
        self.zero = at_zero(self.tree)
        self.attitude = self._attitude()
        letters = [_letter(row, k) for k, row in enumerate(self.directions)]
        own = [*self.attitude.endings, *letters]
        rates = [f"d{name}" for name in own]
        if len(free.P) == SPACE:
            rates = [f"{kind}{c}" for kind in "wv" for c in "xyz"]
        self.names = [[f"{name}_{body.name}" for name in own] for body in free.bodies]
        self.rate_names = [[f"{name}_{body.name}" for name in rates] for body in free.bodies]
        self.z = [_column(names) for names in self.names]
        self.u = [_column(names) for names in self.rate_names]
        self.near = _column([f"near_{self.tree.names.q[k]}" for k in self.near_rows])

    def _attitude(self) -> Attitude:
        if len(self.normals) == 1:
            return Angle(self.tree, self.zero, self.normals[0])
        return (Quaternion if len(self.normals) else Still)(self.tree, self.zero)

    @cached_property
    def near_rows(self) -> tuple[int, ...]:
        """Coordinates that the states tell only next to known ones."""
        transfer = self.tree.transfer
        if transfer is not None:
            needed = self.attitude.winds or not transfer.is_affine
            return tuple(range(self.tree.nq)) if needed else ()
        links = own_links(self.tree) if self.attitude.winds else []
        return tuple(qs.start for link, qs, _ in links if link.kind.turns_about_axis)

    # -- from states to joints ---------------------------------------------------------------

    @cached_property
    def reading(self) -> Reading:
        near = ca.SX.zeros(self.tree.nq)
        near[list(self.near_rows)] = self.near
        return Reading(self.tree, self.attitude, [self._loose(b) for b in range(len(self.z))], near)

    def _loose(self, b: int) -> Loose:
        body, wide = self.free.bodies[b], len(self.attitude.endings)
        turn = self.attitude.turn(body.name, self.z[b][:wide])
        R = self.attitude.rotation(turn) @ self.zero[body.link].R
        r = self.directions.T @ self.z[b][wide:] + self._out_of_plane(body)
        count = len(self.normals)
        omega = self.normals.T @ self.u[b][:count] if count else ca.SX(3, 1)
        v = self.directions.T @ self.u[b][count:]
        pose = Pose(R, r - R @ body.c)
        return Loose(body.parent, self._joint(body), turn, pose, r, omega, v)

    def _out_of_plane(self, body: FreeBody) -> Array:
        """The part of a mass centre's place that no motion changes."""
        start = self.zero[body.link]
        r = as_numbers(ca.SX(start.p + start.R @ body.c))
        return r - self.directions.T @ (self.directions @ r)

    def _joint(self, body: FreeBody) -> tuple[int, ...]:
        """Links from the body before to this one."""
        path = list(self.tree.path(body.link))
        if body.parent >= 0:
            path = path[: path.index(self.free.bodies[body.parent].link)]
        return tuple(reversed(path))

    def to_motion(self) -> tuple[Array, Array]:
        return self.reading.q, self.reading.qd

    # -- from joints to states ---------------------------------------------------------------

    @cached_property
    def turns(self) -> list[Array]:
        """Of all bodies, by the joints."""
        full, found = spread_coordinates(self.tree, self.q), list[Array]()
        for body in self.free.bodies:
            turn = found[body.parent] if body.parent >= 0 else self.attitude.ground
            for i in self._joint(body):
                turn = self.attitude.turned(turn, i, full[self.tree.links[i].q_range])
            found.append(turn)
        return found

    def from_motion(self) -> Array:
        twists = velocities(self.tree, self.free.moved, self.free.v)
        z, u = [], []
        for body, turn in zip(self.free.bodies, self.turns, strict=True):
            z += [self.attitude.states(body.name, turn), self.directions @ ca.SX(body.r)]
            twist = twists[body.link]
            v = twist.linear + cross(twist.angular, body.c)
            u.append(self.free.P @ ca.SX(ca.vertcat(body.R @ twist.angular, body.R @ v)))
        return ca.densify(ca.vertcat(*z, *u))

    # -- rates -------------------------------------------------------------------------------

    def accelerations(self) -> Array:
        """(α, a) of all bodies, by the joints' q, q̇ and q̈."""
        free = self.free
        rate = spread_accelerations(self.tree, self.qd, free.qdd)
        states = accelerations(self.tree, free.moved, free.v, rate, np.zeros(3))
        rows = [ca.SX(free.P) @ free.acceleration(body, states) for body in free.bodies]
        return ca.vertcat(*rows)

    def carried(self) -> Array:
        """Rates of the states, by these and by the joints' q, q̇ and q̈."""
        found, wide, count = [], len(self.attitude.endings), len(self.normals)
        for z, u, body in zip(self.z, self.u, self.reading.bodies, strict=True):
            found += [self.attitude.rates(z[:wide], body.omega), u[count:]]
        return ca.vertcat(*found, self.accelerations())

    def rates(self) -> Array:
        found = ca.substitute(self.carried(), self.free.qdd, self.joint_accelerations())
        motion = ca.vertcat(*self.to_motion())
        return ca.substitute(found, ca.vertcat(self.q, self.qd), motion)

    def state(self) -> State:
        return State(
            names=tuple(name for names in (*self.names, *self.rate_names) for name in names),
            x=ca.vertcat(*self.z, *self.u),
            rates=self.rates,
            from_motion=self.from_motion,
            to_motion=self.to_motion,
            carried=self.carried,
            near=self.near,
            near_rows=self.near_rows,
        )


def _column(names: list[str]) -> Array:
    return ca.vertcat(*(ca.SX.sym(name) for name in names)) if names else ca.SX(0, 1)


def _letter(direction: Floats, number: int) -> str:
    """x, y or z along an axis of the world, else u, v, w."""
    along = np.flatnonzero(direction)
    return "xyz"[along[0]] if len(along) == 1 else "uvw"[number]
