"""Equations of loops and constraints, and what they demand of speeds and accelerations.

    φ(q, t) = 0                          holonomic: loops, gears, drives, rods, surfaces
    ψ = A(q, t) q̇ − b(q, t) = 0          non-holonomic: rolling, knife edges
    V = (φ̇, ψ) = J q̇ − …,   V̇ = J q̈ + γ   J stacks ∂φ/∂q and A

A force λ of a row acts on the mechanism as +Jᵀλ, and on the bodies it ties together as wrenches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import casadi as ca

from ..algebra.linear import Array, Scalar, cross, dot
from ..errors import MechanismError
from .closures import closure_rows
from .coordinates import rates, spread_speeds
from .loads import Load
from .recursions import Pose
from .tree import GROUND, Closure, Edge, Equation, Placed, Rod, Surface, Tree, Wheel
from .world import World

FLAT = 1e-9
"""A wheel that lies flat rolls on no point: the squared sine of its lean stays above this."""

Tie = Closure | Equation | Rod | Surface | Wheel | Edge


@dataclass
class Rows:
    """Of one constraint: what stays zero of positions and of speeds, and what stays above zero."""

    positions: list[Scalar] = field(default_factory=list)
    speeds: list[Scalar] = field(default_factory=list)
    upright: list[Scalar] = field(default_factory=list)


class Setting:
    """Where bodies are and how they move; some may be displaced by a small `shift` (6: turn,
    translation about the world's origin) and a small `push` of their velocity."""

    def __init__(
        self,
        tree: Tree,
        shifts: Mapping[str, Array] | None = None,
        pushes: Mapping[str, Array] | None = None,
    ) -> None:
        self.tree = tree
        self.world = World(tree, tree.motion.q)
        self.v = spread_speeds(tree, tree.motion.qd)
        self.shifts, self.pushes = shifts or {}, pushes or {}

    def body(self, name: str) -> str:
        frames = self.tree.mechanism.frames
        return frames[name].body if name in frames else name

    def pose(self, name: str) -> Pose:
        """Of a frame or body by name."""
        return self.placed(self.tree.find(name), self.body(name))

    def placed(self, place: Placed, body: str) -> Pose:
        R, p = ca.SX(place.R), ca.SX(place.p)
        if place.link != GROUND:
            link = self.world.placed[place.link]
            R, p = ca.SX(link.R @ R), ca.SX(link.p + link.R @ p)
        if body in self.shifts:
            turn, slide = self.shifts[body][:3], self.shifts[body][3:]
            R, p = R + ca.skew(turn) @ R, p + cross(turn, p) + slide
        return Pose(R, p)

    def velocity(self, name: str, x: Array) -> Array:
        """Of the point x, carried along by a frame or body."""
        total = ca.SX.zeros(3)
        for freedom in self.world.path(self.tree.find(name).link):
            total += freedom.linear(x) * self.v[freedom.index]
        if self.body(name) in self.pushes:
            push = self.pushes[self.body(name)]
            total += cross(push[:3], x) + push[3:]
        return total

    def turning(self, name: str) -> Array:
        """Angular velocity of a frame or body."""
        path = self.world.path(self.tree.find(name).link)
        return sum((f.angular * self.v[f.index] for f in path), ca.SX.zeros(3))


def rows_of(tie: Tie, setting: Setting) -> Rows:
    """The equations of one loop or constraint."""
    match tie:
        case Closure():
            parent = setting.placed(tie.at_parent, tie.bodies[0])
            child = setting.placed(tie.at_child, tie.bodies[1])
            positions, upright = closure_rows(tie, parent, child)
            return Rows(positions, upright=upright)
        case Equation():
            return Rows([tie.expression]) if tie.of_positions else Rows(speeds=[tie.expression])
        case Rod():
            one, other = (setting.pose(name).p for name in tie.between)
            apart = other - one
            return Rows([(dot(apart, apart) - tie.length**2) / (2 * tie.length)])
        case Surface():
            frame = setting.pose(tie.frame)
            local = frame.R.T @ (setting.pose(tie.point).p - frame.p)
            return Rows([ca.substitute(tie.expression, tie.xyz, local)])
        case Wheel():
            return _on_plane(tie, setting) if tie.other is None else _on_wheel(tie, setting)
        case Edge():
            pose = setting.pose(tie.on)
            own, base = (setting.velocity(name, pose.p) for name in (tie.on, tie.relative_to))
            return Rows(speeds=[dot(own - base, pose.R @ tie.normal)])


def _on_plane(tie: Wheel, setting: Setting) -> Rows:
    """The point of the rim nearest to the plane touches it, and does not slip in it.

    The normal n points to the side on which the wheel stands, so that √(1 − tilt²) is the cosine
    of its lean and never changes its sign.
    """
    wheel, plane = setting.pose(tie.wheel), setting.pose(tie.on)
    n, a = tie.side * plane.R[:, 2], wheel.R @ tie.axle
    tilt = dot(n, a)
    upright = ca.sqrt(1 - tilt * tilt)
    contact = wheel.p - tie.radius * (n - tilt * a) / upright
    height = dot(n, wheel.p - plane.p) - tie.radius * upright
    slip = setting.velocity(tie.wheel, contact) - setting.velocity(tie.on, contact)
    return Rows([height], [dot(slip, plane.R[:, k]) for k in (0, 1)], [1 - tilt * tilt - FLAT])


def _on_wheel(tie: Wheel, setting: Setting) -> Rows:
    """Wheels in one plane touch, and do not slip along the tangent."""
    one, two = setting.pose(tie.wheel), setting.pose(tie.on)
    a, apart = one.R @ tie.axle, two.p - one.p
    apart = apart - a * dot(a, apart)
    reach = tie.radius + tie.other
    e = apart / reach
    contact = one.p + tie.radius * e
    slip = setting.velocity(tie.wheel, contact) - setting.velocity(tie.on, contact)
    return Rows([(dot(apart, apart) - reach**2) / (2 * reach)], [dot(slip, cross(a, e))])


@dataclass(frozen=True)
class Constraints:
    """All equations of a tree, as expressions of q, q̇, t.

    `owners` names the loop or constraint of every row, `units` says what it is measured in: "m",
    "1" (sines of angles), or "" where nobody knows; the first `positions` rows are those of φ.
    """

    owners: tuple[str, ...]
    units: tuple[str, ...]
    positions: int
    residual: Array
    velocity: Array
    J: Array
    bias: Array
    upright: Array

    def __len__(self) -> int:
        return len(self.owners)

    @property
    def row_names(self) -> list[str]:
        """pin[0], pin[1], …: numbered within the owner, positions first."""
        seen: dict[str, int] = {}
        names = []
        for owner in self.owners:
            names.append(f"{owner}[{seen.setdefault(owner, 0)}]")
            seen[owner] += 1
        return names


def constraints_of(tree: Tree) -> Constraints | None:
    """The equations of a tree's loops and constraints; None if it has none."""
    ties = tree.restraints.ties
    if not ties:
        return None
    setting, own = Setting(tree), tree.motion
    found = [(tie.name, rows_of(tie, setting)) for tie in ties]
    owners = [name for name, rows in found for _ in rows.positions]
    count = len(owners)
    owners += [name for name, rows in found for _ in rows.speeds]
    phi = ca.vertcat(ca.SX(0, 1), *(row for _, rows in found for row in rows.positions))
    psi = ca.vertcat(ca.SX(0, 1), *(row for _, rows in found for row in rows.speeds))
    N = rates(tree, own.q)
    V = ca.vertcat(ca.jacobian(phi, own.q) @ N @ own.qd + ca.jacobian(phi, own.t), psi)
    J = ca.jacobian(V, own.qd)
    _check_effect(J, owners, loops_that_move(tree))
    gamma = ca.jtimes(V, own.q, N @ own.qd) + ca.jacobian(V, own.t)
    upright = ca.vertcat(ca.SX(0, 1), *(row for _, rows in found for row in rows.upright))
    pairs = list(zip(ties, (rows for _, rows in found), strict=True))
    units = [unit for tie, rows in pairs for unit in _units(tie, rows.positions)]
    units += [unit for tie, rows in pairs for unit in _units(tie, rows.speeds)]
    return Constraints(tuple(owners), tuple(units), count, phi, V, J, ca.densify(gamma), upright)


def askew(tree: Tree) -> Array:
    """(ω_wheel − ω_other) × axle for wheels on wheels: zero while their axles are parallel."""
    setting, rows = Setting(tree), []
    for tie in tree.restraints.ties:
        if isinstance(tie, Wheel) and tie.other is not None:
            axle = setting.pose(tie.wheel).R @ tie.axle
            turning = setting.turning(tie.wheel) - setting.turning(tie.on)
            rows.append(cross(turning, axle))
    return ca.vertcat(ca.SX(0, 1), *rows)


def _units(tie: Tie, rows: list[Scalar]) -> list[str]:
    """What equations are measured in, one word a row."""
    match tie:
        case Closure():
            closure = tie.kind.closure
            lengths = len(closure.held) if closure is not None else 0
            return ["m" if k < lengths else "1" for k in range(len(rows))]
        case Equation() | Surface():
            return [""] * len(rows)
        case _:
            return ["m"] * len(rows)


def loops_that_move(tree: Tree) -> set[str]:
    """Loops between bodies that move against each other. Such a loop may restrict nothing that
    the joints do not restrict already: the second hinge of a door."""
    closures = [tie for tie in tree.restraints.ties if isinstance(tie, Closure)]
    return {tie.name for tie in closures if tie.at_parent.link != tie.at_child.link}


def _check_effect(J: Array, owners: list[str], redundant: set[str]) -> None:
    """No constraint is without effect: each must restrict some speed, but for loops that may be
    `redundant`."""
    touched = {owners[row] for row in ca.sparsify(J).sparsity().get_triplet()[0]}
    for owner in owners:
        if owner not in touched and owner not in redundant:
            raise without_effect(owner)


def without_effect(owner: str) -> MechanismError:
    return MechanismError(
        f"'{owner}' restricts nothing: what it ties together does not move",
        remedy="remove it, or name bodies that move against each other",
    )


def constraint_loads(tree: Tree, constraints: Constraints, force: Array) -> list[Load]:
    """What forces λ of the rows do to the bodies that loops and constraints tie together.

    The virtual power of a wrench is λ times the rate of its row. Equations between coordinates
    act along these, and have no wrench.
    """
    found = []
    for tie in tree.restraints.ties:
        for body in _tied(tie, Setting(tree)):
            shift, push = ca.SX.sym("shift", 6), ca.SX.sym("push", 6)
            rows = rows_of(tie, Setting(tree, {body: shift}, {body: push}))
            own = [force[k] for k, owner in enumerate(constraints.owners) if owner == tie.name]
            count = len(rows.positions)
            moment_and_force = _slope(rows.positions, own[:count], shift)
            moment_and_force += _slope(rows.speeds, own[count:], push)
            at = [ca.vertcat(shift, push)], [ca.SX.zeros(12)]
            (total,) = ca.substitute([moment_and_force], *at)
            link = tree.bodies[body].link
            found.append(Load(body, link, ca.SX.zeros(3), total[3:], total[:3]))
    return found


def _slope(rows: list[Scalar], forces: list[Scalar], symbol: Array) -> Array:
    """∂(Σ λ row)/∂symbol."""
    pairs = zip(rows, forces, strict=True)
    return ca.gradient(sum((row * force for row, force in pairs), ca.SX(0)), symbol)


def _tied(tie: Tie, setting: Setting) -> list[str]:
    """The bodies, without ground, that a constraint acts on."""
    match tie:
        case Closure():
            names: tuple[str, ...] = tie.bodies
        case Equation():
            names = ()
        case Rod():
            names = tie.between
        case Surface():
            names = (tie.point, tie.frame)
        case Wheel():
            names = (tie.wheel, tie.on)
        case Edge():
            names = (tie.on, tie.relative_to)
    bodies = [setting.body(name) for name in names]
    return [body for body in bodies if body != "ground"]
