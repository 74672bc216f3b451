"""What acts on free bodies, by names that equations print: joint forces, springs, loads, and the
forces of loops and constraints."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..kinematics.body_forces import (
    declared_body_forces,
    declared_joint_forces,
    spring_body_forces,
    spring_lengths,
)
from ..kinematics.constraint_equations import constraint_body_forces
from ..kinematics.constraint_kinds.loop import LoopRestraint
from ..kinematics.kinematic_tree import GROUND, LinkFrame
from ..kinematics.rotor_inertias import rotor_inertia_forces
from ..kinematics.tree_coordinates import gather_forces, spread_accelerations
from ..kinematics.tree_totals import joint_passive_forces
from ..quantities import quantity_entry_names
from ..types import SX
from ..written_equations import EquationLine
from .free_body_equations import NewtonEulerFormulation
from .free_body_joints import FreeBodyJoints
from .named_springs import spring_definition_lines


@dataclass(frozen=True)
class LoadOnFreeBody:
    """A force and a moment on a body, `arm` from its centre of mass, in the axes of its
    equations."""

    body: int
    arm: Array
    force: Array
    moment: Array


class FreeBodyTerms:
    """Forces and positions of free bodies in symbols, and the equations that define these.

    `meanings` has the meaning of each symbol that is introduced, `unknowns` the names of those that
    the equations are solved for beside q̈.
    """

    def __init__(self, free: NewtonEulerFormulation) -> None:
        self.free, self.tree = free, free.tree
        self.geometry = FreeBodyJoints(free)
        self.meanings: dict[str, str] = {}
        self.unknowns: list[str] = []
        self._symbols: dict[str, SX] = {}
        entries = quantity_entry_names(self.tree.names, list(self.tree.symbols))
        own = {*self.tree.mechanism.parameters} - {*self.tree.names.actuators}
        self._taken = own | {*chain.from_iterable(entries.values())} - {*self.tree.names.actuators}
        self.position_names = self._choose_position_names()
        self.loads: list[LoadOnFreeBody] = []
        self.spring_lines: list[EquationLine] = []
        self.closing_positions: list[EquationLine] = []
        self.closing_rows: list[EquationLine] = []
        self.joint_force_lines: list[EquationLine] = []
        self.coordinate_forces: Array = ca.SX.zeros(free.tree.nv)
        self._add_loads()
        self.generalized_forces = self._generalized_forces()
        for joint in self.geometry.joints:
            self.geometry.name_reactions(joint, self.joint_forces)
            self.meanings |= joint.symbols
            self.unknowns += joint.symbols
            self.joint_force_lines += [EquationLine(*both) for both in joint.conditions]

    def symbol(self, name: str, meaning: str = "", *, is_unknown: bool = False) -> SX:
        """The symbol of this name, introduced once; with an underscore if a parameter or coordinate
        has the name."""
        while name in self._taken:
            name += "_"
        if name not in self._symbols:
            self._symbols[name] = ca.SX.sym(name)
            self.meanings |= {name: meaning} if meaning else {}
            self.unknowns += [name] if is_unknown else []
        return self._symbols[name]

    def _choose_position_names(self) -> list[list[str]]:
        """The names of the coordinates of each centre of mass, x1, y1; xc1, yc1 where coordinates
        or parameters of the mechanism have such names."""
        for mark in ("", "c", "_c"):
            found = [
                [f"{x}{mark}{b + 1}" for x in self.geometry.axis_letters]
                for b in range(len(self.free.names))
            ]
            if not self._taken & {f"{'d' * k}{x}" for xs in found for x in xs for k in range(3)}:
                break
        return found

    def position(self, b: int) -> Array:
        """The symbols of the centre of mass of a body in a plane; zeros for ground (−1)."""
        if b < 0:
            return ca.SX.zeros(len(self.geometry.axis_letters))
        said = f"centre of mass of {self.free.names[b]}"
        return ca.vertcat(*(self.symbol(name, said) for name in self.position_names[b]))

    def acceleration(self, b: int) -> Array:
        """The symbols of the acceleration of a centre of mass in a plane; zeros for ground."""
        if b < 0:
            return ca.SX.zeros(len(self.geometry.axis_letters))
        names = [f"dd{name}" for name in self.position_names[b]]
        return ca.vertcat(*(self.symbol(name, is_unknown=True) for name in names))

    # -- forces along the joints ---------------------------------------------------------------

    @cached_property
    def own_joint_forces(self) -> Array:
        """Forces of dampers, friction, springs and rotors along the tree's velocities."""
        tree, free = self.tree, self.free
        rate = spread_accelerations(tree, free.qd, free.qdd)
        return joint_passive_forces(tree, free.q, free.qd) - rotor_inertia_forces(tree, rate)

    def _generalized_forces(self) -> Array:
        """τ of the model: actuators by name where there are any, declared forces, multipliers of
        constraints between coordinates."""
        tree, actuators = self.tree, self.tree.names.actuators
        tau = self.free.tau
        if actuators:
            what = "efforts of the actuators" if len(actuators) > 1 else "effort of the actuator"
            efforts = [self.symbol(name, what) for name in actuators]
            tau = self.free.input_matrix() @ ca.vertcat(*efforts)
        return tau + declared_joint_forces(tree) + self.coordinate_forces

    @cached_property
    def joint_forces(self) -> Array:
        """The forces along the tree's velocities that balance the reactions: expressions, or
        unknowns where mimicking joints share a force, where coordinates are not affine functions,
        or where there are fewer of them than of joint velocities."""
        tree, tau, transfer = self.tree, self.generalized_forces, self.tree.transfer
        if not tree.followers and transfer is None:
            return tau + self.own_joint_forces
        is_square = transfer is not None and transfer.G.size1() == transfer.G.size2()
        if not tree.followers and transfer is not None and is_square and transfer.G.is_constant():
            inverse = np.linalg.inv(np.array(ca.DM(transfer.G)))
            return ca.sparsify(ca.SX(ca.DM(inverse.T))) @ tau + self.own_joint_forces
        found = [
            self.symbol(f"T{v + 1}", f"force of joint {name} along its motion", is_unknown=True)
            for v, name in enumerate(self._joint_names_of_velocities())
        ]
        total = gather_forces(tree, ca.vertcat(*found) - self.own_joint_forces)
        self.joint_force_lines = [EquationLine(total[k], tau[k]) for k in range(tree.nv)]
        return ca.vertcat(*found)

    def _joint_names_of_velocities(self) -> list[str]:
        """The name of the joint of each of the tree's velocities."""
        links = self.tree.links
        return [
            span.name
            for span in self.tree.joints
            for i in span.links
            for _ in range(links[i].kind.velocity_count)
        ]

    # -- loads -----------------------------------------------------------------------------------

    def _add_loads(self) -> None:
        """Springs between bodies, declared wrenches, and the forces of loops and constraints."""
        free, tree = self.free, self.tree
        for load in [
            *spring_body_forces(tree, free.q, free.qd, only_linear=True),
            *declared_body_forces(tree, free.q),
        ]:
            self._add_world_load(load.link, load.point, load.force, load.moment)
        for one in spring_lengths(tree, free.q, free.qd):
            spring = one.spring
            L = self.symbol(f"L_{spring.name}", f"length of {spring.name}")
            S = self.symbol(f"S_{spring.name}", f"tension of {spring.name}, divided by its length")
            self.spring_lines += spring_definition_lines(one, L, S)
            (a, x_a), (b, x_b) = (free.world.frame_origin(name) for name in spring.between)
            pull = S * (x_b - x_a)
            self._add_world_load(a, x_a, pull, ca.SX.zeros(3))
            self._add_world_load(b, x_b, -pull, ca.SX.zeros(3))
        if free.constraints is not None:
            self._add_constraints()

    def _add_world_load(self, link: int, point: Array, force: Array, moment: Array) -> None:
        """Add a load that is given in world axes; ground takes it without an equation."""
        if link == GROUND:
            return
        b = self.free.links.index(link)
        body = self.free.bodies[b]
        parts = point - body.r, force, moment
        if self.geometry.is_spatial:
            parts = tuple(body.R.T @ ca.SX(part) for part in parts)
        self.loads.append(LoadOnFreeBody(b, *parts))

    def _add_constraints(self) -> None:
        """Add the forces of loops and constraints, and their equations of accelerations."""
        free, constraints = self.free, self.free.constraints
        assert constraints is not None
        chosen, multipliers = free.reduction.rows, ca.SX.zeros(len(constraints))
        spare = free.reduction.choice.redundant
        for tie in self.tree.restraints.entries:
            rows = [row for row in chosen if constraints.owners[row] == tie.name]
            if isinstance(tie, LoopRestraint) and self._is_planar_hinge(tie, rows):
                self._add_planar_hinge(tie)
                continue
            for row in sorted(k for k in (*chosen, *spare) if constraints.owners[k] == tie.name):
                number = row - constraints.owners.index(tie.name) + 1
                what = f"multiplier of equation {number} of {tie.name}"
                if row in spare:
                    what += ", which follows from the others: any value, such as 0"
                force = self.symbol(f"lambda{row + 1}", what, is_unknown=row in chosen)
                if tie.attached_names:
                    multipliers[row] = force
                else:
                    self.coordinate_forces += constraints.J[row, :].T * force
                if row in chosen:
                    left, right = constraints.J[row, :] @ free.qdd, -constraints.bias[row]
                    self.closing_rows.append(EquationLine(left, right))
        for load in constraint_body_forces(self.tree, constraints, multipliers):
            if load.owner and not (load.force.is_zero() and load.moment.is_zero()):
                self._add_world_load(load.link, load.point, load.force, load.moment)

    def _is_planar_hinge(self, tie: LoopRestraint, rows: list[int]) -> bool:
        """Whether a loop closes by a pin in a plane, with two independent equations."""
        return len(self.geometry.normals) == 1 and tie.kind.is_hinge and len(rows) == 2

    def _add_planar_hinge(self, tie: LoopRestraint) -> None:
        """Add a pin that closes a loop as one more joint, with its force in world axes."""
        D = ca.SX(self.geometry.directions)
        said = f"force of {tie.bodies[0]} on {tie.bodies[1]} at {tie.name}"
        force = ca.vertcat(
            *(self.symbol(f"F{x}_{tie.name}", f"{said}, {x}", is_unknown=True)
              for x in self.geometry.axis_letters)
        )  # fmt: skip
        places, positions = [], []
        for frame, sign in ((tie.at_child, 1), (tie.at_parent, -1)):
            b, place, arm = self._frame_place(frame)
            places.append(place)
            positions.append(self.position(b) + D @ arm)
            if b >= 0:
                self.loads.append(LoadOnFreeBody(b, arm, sign * D.T @ force, ca.SX.zeros(3)))
        left, right = positions
        self.closing_positions += [EquationLine(left[k], right[k]) for k in range(2)]
        J, bias = self.second_derivative(D @ (places[0] - places[1]))
        self.closing_rows += [EquationLine(J[k, :] @ self.free.qdd, -bias[k]) for k in range(2)]

    def _frame_place(self, frame: LinkFrame) -> tuple[int, Array, Array]:
        """The body of a frame (−1 for ground), its position, and the arm to it from the body's
        centre of mass."""
        if frame.link == GROUND:
            return -1, ca.SX(frame.p), ca.SX(frame.p)
        pose, b = self.free.world.link_poses[frame.link], self.free.links.index(frame.link)
        arm = pose.R @ (frame.p - self.geometry.centers[b])
        return b, pose.p + pose.R @ frame.p, arm

    def second_derivative(self, e: Array) -> tuple[Array, Array]:
        """J and b of ë = J q̈ + b."""
        free, t = self.free, self.tree.motion.t
        one = ca.SX.ones(1)
        rate = ca.jtimes(e, free.q, free.qd) + ca.jtimes(e, t, one)
        return ca.jacobian(e, free.q), ca.jtimes(rate, free.q, free.qd) + ca.jtimes(rate, t, one)
