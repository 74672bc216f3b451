"""The states of free bodies: attitude, centre of mass, and the rates of both, as in (23)–(46) of
Bayseç and Kapucu (1996): 18 states for the triple pendulum.

Each body has an angle and two coordinates in a plane, three coordinates where nothing turns, and a
unit quaternion and three coordinates in space: 13 states with ω and v, all in world axes. The joint
variables are computed from them (`joint_reading`). Integration errors let bodies drift apart, until
they are placed again where these joint variables put them.

In space, states do not determine whole turns of the joints, and nonlinear functions as coordinates
have several branches: approximate coordinates `near` are carried along and decide.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, cross
from ..equations import ExpressionBuilder, FormulationState
from ..kinematics.recursions import LinkPose, link_accelerations, link_twists
from ..kinematics.tree_coordinates import (
    links_with_coordinates,
    spread_accelerations,
    spread_coordinates,
)
from ..types import SX, Floats
from .body_attitudes import (
    NewtonEulerAttitude,
    NewtonEulerFixedAttitude,
    NewtonEulerPlanarAttitude,
    NewtonEulerQuaternionAttitude,
    newton_euler_zero_poses,
    numeric_attitude_constant,
)
from .joint_reading import NewtonEulerBodyState, NewtonEulerJointReading

if TYPE_CHECKING:
    from .free_body_equations import NewtonEulerBody, NewtonEulerFormulation


SPATIAL_COMPONENTS = 6


def newton_euler_states_per_body(k: int) -> int:
    """The number of states of a body with k acceleration components; quaternions add one in
    space."""
    return 2 * k + 1 if k == SPATIAL_COMPONENTS else 2 * k


class NewtonEulerStates:
    """The states of all free bodies; `joint_accelerations` builds q̈ from the elimination of
    reactions."""

    def __init__(
        self, free: NewtonEulerFormulation, joint_accelerations: ExpressionBuilder
    ) -> None:
        self.free, self.tree = free, free.tree
        self.q, self.qd = free.q, free.qd
        self.joint_accelerations = joint_accelerations
        turning = free.P[:, :3].any(axis=1)
        self.normals: Floats = free.P[turning, :3]
        self.directions: Floats = free.P[~turning, 3:]
        self.poses_at_zero = newton_euler_zero_poses(self.tree)
        self.attitude = self._choose_attitude()
        letters = [formulation_axis_letter(row, k) for k, row in enumerate(self.directions)]
        own = [*self.attitude.state_suffixes, *letters]
        rates = [f"d{name}" for name in own]
        if len(free.P) == SPATIAL_COMPONENTS:
            rates = [f"{kind}{c}" for kind in "wv" for c in "xyz"]
        self.names = [[f"{name}_{body.name}" for name in own] for body in free.bodies]
        self.rate_names = [[f"{name}_{body.name}" for name in rates] for body in free.bodies]
        self.z = [formulation_state_symbols(names) for names in self.names]
        self.u = [formulation_state_symbols(names) for names in self.rate_names]
        self.nearby_coordinates = formulation_state_symbols(
            [f"near_{self.tree.names.q[k]}" for k in self.ambiguous_coordinates]
        )

    def _choose_attitude(self) -> NewtonEulerAttitude:
        """Angles in a plane, quaternions in space, nothing where no body turns."""
        if len(self.normals) == 1:
            return NewtonEulerPlanarAttitude(self.tree, self.poses_at_zero, self.normals[0])
        return (NewtonEulerQuaternionAttitude if len(self.normals) else NewtonEulerFixedAttitude)(
            self.tree, self.poses_at_zero
        )

    @cached_property
    def ambiguous_coordinates(self) -> tuple[int, ...]:
        """Indices of the coordinates that the states determine only near known values."""
        transfer = self.tree.transfer
        if transfer is not None:
            needed = self.attitude.loses_whole_turns or not transfer.is_affine
            return tuple(range(self.tree.nq)) if needed else ()
        links = links_with_coordinates(self.tree) if self.attitude.loses_whole_turns else []
        return tuple(qs.start for link, qs, _ in links if link.kind.turns_about_axis)

    # -- from states to joints ---------------------------------------------------------------

    @cached_property
    def joint_reading(self) -> NewtonEulerJointReading:
        """The joint coordinates and velocities of the bodies' states."""
        near = ca.SX.zeros(self.tree.nq)
        near[list(self.ambiguous_coordinates)] = self.nearby_coordinates
        return NewtonEulerJointReading(
            self.tree, self.attitude, [self._free_body_state(b) for b in range(len(self.z))], near
        )

    def _free_body_state(self, b: int) -> NewtonEulerBodyState:
        """The pose and velocity of body b from its own states."""
        body, wide = self.free.bodies[b], len(self.attitude.state_suffixes)
        turn = self.attitude.attitude_from_states(body.name, self.z[b][:wide])
        R = self.attitude.rotation_matrix(turn) @ self.poses_at_zero[body.link].R
        r = self.directions.T @ self.z[b][wide:] + self._out_of_plane_position(body)
        count = len(self.normals)
        omega = self.normals.T @ self.u[b][:count] if count else ca.SX(3, 1)
        v = self.directions.T @ self.u[b][count:]
        pose = LinkPose(R, r - R @ body.c)
        return NewtonEulerBodyState(body.parent, self._joint_links(body), turn, pose, r, omega, v)

    def _out_of_plane_position(self, body: NewtonEulerBody) -> Array:
        """The part of the centre of mass's position that no motion changes."""
        start = self.poses_at_zero[body.link]
        r = numeric_attitude_constant(ca.SX(start.p + start.R @ body.c))
        return r - self.directions.T @ (self.directions @ r)

    def _joint_links(self, body: NewtonEulerBody) -> tuple[int, ...]:
        """The links of the joint between the parent body and this one, from the parent on."""
        path = list(self.tree.path_to_ground(body.link))
        if body.parent >= 0:
            path = path[: path.index(self.free.bodies[body.parent].link)]
        return tuple(reversed(path))

    def to_motion(self) -> tuple[Array, Array]:
        """(q, q̇) of the states."""
        return self.joint_reading.q, self.joint_reading.qd

    # -- from joints to states ---------------------------------------------------------------

    @cached_property
    def body_attitudes(self) -> list[Array]:
        """The attitudes of all bodies as functions of q."""
        full, found = spread_coordinates(self.tree, self.q), list[Array]()
        for body in self.free.bodies:
            turn = found[body.parent] if body.parent >= 0 else self.attitude.ground_attitude
            for i in self._joint_links(body):
                turn = self.attitude.compose_link_motion(
                    turn, i, full[self.tree.links[i].coordinate_range]
                )
            found.append(turn)
        return found

    def from_motion(self) -> Array:
        """The states of all bodies from (q, q̇)."""
        twists = link_twists(self.tree, self.free.link_displacements, self.free.v)
        z, u = [], []
        for body, turn in zip(self.free.bodies, self.body_attitudes, strict=True):
            z += [
                self.attitude.states_from_attitude(body.name, turn),
                self.directions @ ca.SX(body.r),
            ]
            twist = twists[body.link]
            v = twist.linear + cross(twist.angular, body.c)
            u.append(self.free.P @ ca.SX(ca.vertcat(body.R @ twist.angular, body.R @ v)))
        return ca.densify(ca.vertcat(*z, *u))

    # -- rates -------------------------------------------------------------------------------

    def body_accelerations(self) -> Array:
        """(α, a) of all bodies as functions of q, q̇ and q̈."""
        free = self.free
        rate = spread_accelerations(self.tree, self.qd, free.qdd)
        states = link_accelerations(self.tree, free.link_displacements, free.v, rate, np.zeros(3))
        rows = [ca.SX(free.P) @ free.body_acceleration(body, states) for body in free.bodies]
        return ca.vertcat(*rows)

    def rates_from_motion(self) -> Array:
        """The rates of the states, from the states and q, q̇, q̈."""
        found, wide, count = [], len(self.attitude.state_suffixes), len(self.normals)
        for z, u, body in zip(self.z, self.u, self.joint_reading.bodies, strict=True):
            found += [self.attitude.state_rates(z[:wide], body.omega), u[count:]]
        return ca.vertcat(*found, self.body_accelerations())

    def rates(self) -> Array:
        """The rates of the states under the forces τ."""
        found = ca.substitute(self.rates_from_motion(), self.free.qdd, self.joint_accelerations())
        motion = ca.vertcat(*self.to_motion())
        return ca.substitute(found, ca.vertcat(self.q, self.qd), motion)

    def formulation_state(self) -> FormulationState:
        """The states of the formulation with their names, rates and conversions."""
        return FormulationState(
            names=tuple(name for names in (*self.names, *self.rate_names) for name in names),
            x=ca.vertcat(*self.z, *self.u),
            rates=self.rates,
            from_motion=self.from_motion,
            to_motion=self.to_motion,
            rates_from_motion=self.rates_from_motion,
            nearby_coordinates=self.nearby_coordinates,
            ambiguous_coordinates=self.ambiguous_coordinates,
        )


def formulation_state_symbols(names: list[str]) -> SX:
    """A column of symbols with the given names."""
    return ca.vertcat(*(ca.SX.sym(name) for name in names)) if names else ca.SX(0, 1)


def formulation_axis_letter(direction: Floats, number: int) -> str:
    """x, y or z if the direction is an axis of the world, otherwise u, v or w."""
    along = np.flatnonzero(direction)
    return "xyz"[along[0]] if len(along) == 1 else "uvw"[number]
