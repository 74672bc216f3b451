"""d'Alembert's principle with dual vectors, Agrawal (1988): the dual form of Kane's method.

    V̂ = ω + εv = Σ v̂_r u_r             dual velocity, and its partials                       (6)
    V̂_i = V̂_{i−1} + dθ̂/dt ẑ_i           along a chain of dual angles θ̂ = θ + εl               (3)
    Ĥ = m v* + ε I·ω                    dual momentum of a body for its mass centre          (8)
    F̂* = dĤ/dt + V̂ × Ĥ                  dual inertia force                                   (9)
    dual(Σ v̂_r · F̂) = 0                 for every independent generalized speed u_r         (10)

Components are taken in the bodies' own axes. At a cylindrical joint the partial of the slide is ε
times that of the turn: one product v̂ · F̂ gives both equations, as its dual and its real part.
Generalized speeds u = Y q̇ + Z (4) may be chosen; they are the rates of the coordinates otherwise.
Constraints make some of them depend on the others, q̇ = G u + k; the partials of those that are left
are v̂_r = Σ v̂_s G_sr, and no multipliers appear.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

from ..algebra.dual import Displacement, Dual, DualVector, about_axis
from ..algebra.linear import Array, Elimination, solve_symmetric
from ..equations import Equations, State
from ..errors import UnsupportedError
from ..expressions import parse
from ..kinematics.build import build_tree
from ..kinematics.coordinates import (
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_speeds,
)
from ..kinematics.pivots import pivots, rank, scaled
from ..kinematics.recursions import axial_slide, displacements, joint_motion, subspace
from ..kinematics.tree import GROUND, Link, Tree
from ..kinematics.values import Parameters, read_expression
from ..mechanism import Mechanism
from ..types import Floats
from .shared import Shared


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(
    mechanism: Mechanism,
    parameters: Parameters = "symbolic",
    speeds: Mapping[str, str] | None = None,
    shortcut: bool = True,
) -> Equations:
    """Kane's equations; `speeds` are generalized speeds by name, expressions of coordinates
    (q1) and their rates (dq1); `shortcut` is that of cylindrical joints."""
    kane = Kane(build_tree(mechanism, parameters), shortcut)
    builders = {
        "inverse_dynamics": kane.inverse_dynamics,
        "mass_matrix": kane.mass_matrix,
        "gravity": kane.gravity,
    }
    extras = {"partial_velocities": lambda: kane.partial_velocities(speeds)}
    state = kane.state(speeds) if speeds else None
    return kane.equations("kane", builders, extras, state)


@dataclass(frozen=True)
class Moving:
    """Dual velocity of a link for its origin, in its own axes, and the rate of its components."""

    V: DualVector
    rate: DualVector


AT_REST = DualVector(np.zeros(3), np.zeros(3))


class Kane(Shared):
    def __init__(self, tree: Tree, shortcut: bool = True) -> None:
        super().__init__(tree)
        self.shortcut = shortcut
        self.full = spread_coordinates(tree, self.q)
        self.v = spread_speeds(tree, self.qd)
        self.vd = spread_accelerations(tree, self.qd, self.qdd)
        self.places = [self.displacement(i) for i in range(len(tree.links))]

    def displacement(self, i: int) -> Displacement:
        """Of a link in its parent: a fixed one, then a turn by a dual angle about z."""
        link = self.tree.links[i]
        fixed = Displacement(link.R, link.p)
        q = self.full[link.q_range]
        if link.kind.has_quaternion:
            moved = displacements(self.tree, self.full)[i]
            return Displacement(moved.rotation, moved.position)
        turn, slide = q if link.kind.turns_about_axis else 0.0, axial_slide(link, q)
        return fixed @ about_axis(2, Dual(turn, 0.0 if slide is None else slide))

    def joint_speed(self, link: Link, v: Array) -> DualVector:
        motion = joint_motion(link, v[link.v_range])
        return DualVector(motion.angular, motion.linear)

    @cached_property
    def moving(self) -> list[Moving]:
        """V̂ and its rate, link by link (3)."""
        found: list[Moving] = []
        for i, link in enumerate(self.tree.links):
            below = Moving(AT_REST, AT_REST) if link.parent == GROUND else found[link.parent]
            own = self.joint_speed(link, self.v)
            carried = self.places[i].into(below.V)
            rate = self.places[i].into(below.rate) + carried.cross(own)
            found.append(Moving(carried + own, rate + self.joint_speed(link, self.vd)))
        return found

    @cached_property
    def partials(self) -> list[dict[int, DualVector]]:
        """v̂_r of every link for its origin, by the index of the speed.

        With the shortcut, the slide of a cylindrical joint has none of its own.
        """
        found: list[dict[int, DualVector]] = []
        for i, link in enumerate(self.tree.links):
            below = {} if link.parent == GROUND else found[link.parent]
            own = {r: self.places[i].into(v) for r, v in below.items()}
            for k, s in enumerate(subspace(link)):
                if link.v + k not in self.slides:
                    own[link.v + k] = DualVector(s.angular, s.linear)
            found.append(own)
        return found

    @cached_property
    def slides(self) -> dict[int, int]:
        """Slides of cylindrical joints, and the turns whose partials times ε are theirs."""
        if not self.shortcut:
            return {}
        joints = self.tree.mechanism.joints
        spans = [span for span in self.tree.joints if joints[span.name].kind.is_cylindrical]
        pairs = (span.links for span in spans if len(span.links) == 2)
        return {self.tree.links[b].v: self.tree.links[a].v for a, b in pairs}

    def partial_velocities(
        self, speeds: Mapping[str, str] | None = None
    ) -> dict[str, dict[str, DualVector]]:
        """v̂_r of every body for its mass centre, in its link's axes, by the generalized speeds
        (tables of the paper); under constraints, the non-holonomic ones of independent speeds."""
        found = {}
        names, G = self.tree.names.qd, ca.SX.eye(self.tree.nv)
        if speeds:
            u = ca.SX.sym("u", len(speeds))
            names, G = tuple(speeds), ca.jacobian(self.all_speeds(self.read_speeds(speeds), u), u)
        elif self.constraints is not None:
            names, G = tuple(names[k] for k in self.reduction.a), self.reduction.G
        for name, mass in self.tree.masses.items():
            if mass.link == GROUND:
                continue
            at = Displacement(np.eye(3), mass.c)
            columns = ca.SX(6, self.tree.tree_nv)
            for r, v in self.partials[mass.link].items():
                moved = at.into(v)
                columns[:, r] = ca.vertcat(moved.real, moved.dual)
            for slide, turn in self.slides.items():
                if self.carries(slide, mass.link):
                    columns[3:, slide] = columns[:3, turn]  # ε times the turn's
            own = ca.horzsplit(ca.densify(gather_columns(self.tree, columns) @ G))
            found[name] = {
                speed: DualVector(column[:3], column[3:])
                for speed, column in zip(names, own, strict=True)
                if not column.is_zero()
            }
        return found

    def forces(self) -> Array:
        """dual(Σ v̂_r · (F̂* − weight)): the drives, without losses and springs (10)."""
        tau = [ca.SX(0)] * self.tree.tree_nv
        rotations = self.rotations()
        for mass in self.tree.masses.values():
            if mass.link == GROUND:
                continue
            at = Displacement(np.eye(3), mass.c)
            link = self.moving[mass.link]
            V, rate = at.into(link.V), at.into(link.rate)
            H = DualVector(mass.m * V.dual, mass.I @ V.real)
            F = DualVector(mass.m * rate.dual, mass.I @ rate.real) + V.cross(H)
            weight = mass.m * (rotations[mass.link].T @ self.tree.gravity)
            F = F - DualVector(weight, np.zeros(3))
            for r, v in self.partials[mass.link].items():
                product = at.into(v).dot(F)
                tau[r] += product.dual
                for slide, turn in self.slides.items():
                    if turn == r and self.carries(slide, mass.link):
                        tau[slide] += product.real
        rotors = [effect.rotor * self.vd[k] for k, effect in enumerate(self.tree.effects)]
        return gather_forces(self.tree, ca.vertcat(*tau) + ca.vertcat(*rotors))

    def carries(self, speed: int, link: int) -> bool:
        return any(self.tree.links[i].v == speed for i in self.tree.path(link))

    def rotations(self) -> list[Array]:
        found: list[Array] = []
        for i, link in enumerate(self.tree.links):
            R = self.places[i].R
            found.append(R if link.parent == GROUND else found[link.parent] @ R)
        return found

    def inverse_dynamics(self) -> Array:
        return self.forces() - self.own_forces()

    def mass_matrix(self) -> Array:
        return ca.densify(ca.jacobian(self.forces(), self.qdd))

    def gravity(self) -> Array:
        rest = ca.SX.zeros(self.tree.nv)
        return ca.substitute([self.forces()], [self.qd, self.qdd], [rest, rest])[0]

    # -- generalized speeds ------------------------------------------------------------------

    def read_speeds(self, speeds: Mapping[str, str]) -> Array:
        """u = Y q̇ + Z (4) as expressions: as many as there are freedoms."""
        tree = self.tree
        freedom = tree.nv if self.constraints is None else len(self.reduction.a)
        if tree.nq != tree.nv or len(speeds) != freedom:
            raise UnsupportedError(
                f"{len(speeds)} generalized speeds for {freedom} freedoms",
                where=tree.mechanism.name,
                remedy="give one for each freedom, of joints without quaternions",
            )
        scope = dict(zip(tree.names.q, ca.vertsplit(self.q), strict=True))
        scope |= {f"d{n}": x for n, x in zip(tree.names.qd, ca.vertsplit(self.qd), strict=True)}
        if tree.names.in_time:
            scope["t"] = tree.motion.t
        kept = tree.symbols
        given = ca.vertcat(
            *(read_expression(tree.mechanism, parse(text), scope, kept) for text in speeds.values())
        )
        if ca.depends_on(ca.jacobian(given, self.qd), self.qd):
            raise UnsupportedError(
                "generalized speeds must be linear in the rates", where=tree.mechanism.name,
                remedy="write u = Y q̇ + Z",
            )  # fmt: skip
        return given

    def all_speeds(self, given: Array, u: Array) -> Array:
        """q̇ by the generalized speeds u, and by the constraints: Y q̇ + Z = u, J q̇ + V₀ = 0."""
        rows, right = given, u
        if self.constraints is not None:
            chosen = list(self.reduction.rows)
            rows = ca.vertcat(given, self.constraints.velocity[chosen])
            right = ca.vertcat(u, ca.SX.zeros(len(chosen)))
        S = ca.jacobian(rows, self.qd)
        at, order = self.somewhere(S), list(range(self.tree.nv))
        if rank(at) < len(order):
            raise UnsupportedError(
                "generalized speeds depend on each other, or on what constraints hold",
                where=self.tree.mechanism.name, remedy="give independent ones",
            )  # fmt: skip
        lines, columns = pivots(scaled(at), order, len(order))
        known = right - ca.substitute(rows, self.qd, ca.SX.zeros(self.tree.nv))
        solved = Elimination(S[lines, columns]).solve(known[lines])
        return ca.vertcat(*(solved[columns.index(k)] for k in order))

    def somewhere(self, matrix: Array) -> Floats:
        """A matrix of q at numbers: where the mechanism is assembled, or anywhere."""
        tree = self.tree
        q = np.random.default_rng(0).uniform(0.2, 1.2, tree.nq)
        if self.constraints is not None:
            q = np.array(self.home)
        symbols = ca.vertcat(*tree.symbols.values())
        values = [float(value) for value in tree.symbol_values.values()]
        at = ca.Function("at", [self.q, tree.motion.t, symbols], [matrix])
        return np.asarray(at(q, 0.0, values), dtype=float)

    def state(self, speeds: Mapping[str, str]) -> State:
        """States (q, u); dependent speeds follow from the constraints, without multipliers."""
        given = self.read_speeds(speeds)
        u = ca.vertcat(*(ca.SX.sym(name) for name in speeds))
        rates = self.all_speeds(given, u)
        return State(
            names=(*self.tree.names.q, *speeds),
            x=ca.vertcat(self.q, u),
            rates=lambda: self.speed_rates(given, rates),
            from_motion=lambda: ca.vertcat(self.q, given),
            to_motion=lambda: (self.q, rates),
        )

    def speed_rates(self, given: Array, rates: Array) -> Array:
        bias = ca.substitute(self.inverse_dynamics(), self.qdd, ca.SX.zeros(self.tree.nv))
        forces = self.tau - bias
        if self.constraints is None:
            qdd = solve_symmetric(self.mass_matrix(), forces)
        else:
            qdd = self.reduction.accelerations(self.mass_matrix(), forces)
        u_rate = ca.jacobian(given, self.qd) @ qdd + ca.jtimes(given, self.q, self.qd)
        u_rate += ca.jacobian(given, self.tree.motion.t)
        return ca.substitute(ca.vertcat(self.qd, u_rate), self.qd, rates)
