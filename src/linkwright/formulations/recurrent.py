"""The recurrent Lagrangian method of Vukobratović and Potkonjak (1979).

The chain is built link by link. Each new link gets its transition matrix and the vectors

    β_j = A_{j−1} e_j   axis of a turn,   γ_j = A_j r⁰   direction of a slide       (13), (15)

with their derivatives by every coordinate before it and by time, all by recurrence; then

    v_i = M⁽ⁱ⁾ q̇,   ω̃_i = Ñ⁽ⁱ⁾ q̇,   Z_i = m M⁽ⁱ⁾ᵀ M⁽ⁱ⁾ + Ñ⁽ⁱ⁾ᵀ J Ñ⁽ⁱ⁾                (18)–(25)
    W = Σ Z_i,   Ẇ = Σ Ż_i,   ∂T/∂q_s = ½ Σ q̇ᵀ ∂Z_i/∂q_s q̇                         (26)–(42)
    V = Y + ∂T/∂q − Ẇ q̇,   W q̈ = P + V                                            (29), (30)

Where the paper's (5) is 0/0, and everywhere else, the joint's own frame tells where q is zero;
Rodrigues' formula (8) is then a turn about its z axis. `at_instant` is the paper's procedure:
numbers for one instant, from which accelerations or drives follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..algebra.linear import Array, cross
from ..algebra.rotations import rotation_z
from ..equations import Equations
from ..kinematics.build import build_tree
from ..kinematics.coordinates import (
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_speeds,
)
from ..kinematics.tree import GROUND, Link, Tree
from ..kinematics.values import Parameters
from ..mechanism import Mechanism
from ..types import Floats
from .shared import Shared, without_quaternions


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    for name, joint in mechanism.joints.items():
        if joint.kind.has_pitch and joint.locked is None:
            return f"'{name}' is {joint.type}, and its joints turn or slide"
    return without_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: Parameters = "symbolic") -> Equations:
    """W, V by the recurrences, as expressions."""
    recurrent = Recurrent(build_tree(mechanism, parameters))
    builders = {
        "mass_matrix": recurrent.mass_matrix,
        "gravity": recurrent.gravity,
        "inverse_dynamics": recurrent.inverse_dynamics,
        "bias": recurrent.bias,
    }
    return recurrent.equations("recurrent", builders, {"W": recurrent.W, "V": recurrent.V})


def at_instant(
    mechanism: Mechanism, q: Sequence[float], qd: Sequence[float], t: float = 0.0
) -> tuple[Floats, Floats]:
    """W and V of W q̈ = P + V as numbers, at coordinates q, speeds qd and time t."""
    tree = build_tree(mechanism, "numeric")
    motion = tree.motion
    inputs, now = [motion.q, motion.qd, motion.t], (q, qd, t)
    own = np.array(ca.Function("f", inputs, [Shared(tree).own_forces()])(*now)).ravel()
    if tree.transfer is None and not tree.followers:
        chain = Chain(tree, np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
        return np.array(ca.DM(chain.W)), np.array(ca.DM(chain.V)).ravel() + own
    chain = Chain(tree, motion.q, motion.qd)
    W, V = ca.Function("instant", inputs, [chain.W, chain.V])(*now)
    return np.array(W), np.array(V).ravel() + own


@dataclass(frozen=True)
class Moving:
    """A vector or matrix of one link, with its derivatives: by the coordinates of the links
    before it, and by time."""

    value: Array
    by: dict[int, Array]
    rate: Array

    def times(self, constant: Array) -> Moving:
        by = {s: slope @ constant for s, slope in self.by.items()}
        return Moving(self.value @ constant, by, self.rate @ constant)

    def __add__(self, other: Moving) -> Moving:
        by = dict(self.by)
        for s, slope in other.by.items():
            by[s] = by[s] + slope if s in by else slope
        return Moving(self.value + other.value, by, self.rate + other.rate)

    def __sub__(self, other: Moving) -> Moving:
        minus = {s: -slope for s, slope in other.by.items()}
        return self + Moving(-other.value, minus, -other.rate)

    def cross(self, other: Moving) -> Moving:
        """Product rule: (38), (48)."""
        zero = np.zeros(3)
        by = {
            s: cross(self.by.get(s, zero), other.value) + cross(self.value, other.by.get(s, zero))
            for s in {*self.by, *other.by}
        }
        rate = cross(self.rate, other.value) + cross(self.value, other.rate)
        return Moving(cross(self.value, other.value), by, rate)


@dataclass(frozen=True)
class Member:
    """A link of the chain: transition matrix A, origin, and the axis of its freedom."""

    A: Moving
    origin: Moving
    axis: Moving


class Chain:
    """W and V at coordinates q and speeds qd, numbers or symbols."""

    def __init__(self, tree: Tree, q: Array, qd: Array) -> None:
        self.tree = tree
        self.q, self.v = spread_coordinates(tree, q), spread_speeds(tree, qd)
        self.members: list[Member] = []
        n = tree.tree_nv
        W = ca.diag(ca.vertcat(*(ca.SX(effect.rotor) for effect in tree.effects)))
        V = ca.SX.zeros(n)
        for link in tree.links:
            self.members.append(self.added(link))
        for mass in tree.masses.values():
            if mass.link != GROUND:
                Z, contribution = self.body(mass.link, mass.m, mass.c, mass.I)
                W, V = W + Z, V + contribution
        drift = spread_accelerations(tree, qd, None)  # of coordinates that were chosen
        if drift is not None:
            V = V - W @ drift
        self.W = ca.densify(gather_columns(tree, gather_forces(tree, W)))
        self.V = gather_forces(tree, V)

    def added(self, link: Link) -> Member:
        """The recurrence: from A_{i−1} and its derivatives to those of A_i."""
        A, origin = self.below(link)
        place = A.times(link.R)  # the joint's frame, before it moves
        start = origin + A.times(link.p)
        s = link.v
        axis = place.times(np.array([0.0, 0.0, 1.0]))  # β or γ
        if not link.kind.turns:
            x, rate = self.q[s], self.v[s]
            slid = Moving(
                axis.value * x,
                {k: slope * x for k, slope in axis.by.items()} | {s: axis.value},
                axis.rate * x + axis.value * rate,
            )
            return Member(place, start + slid, axis)
        cosine, sine = _cosine_sine(self.q[s])
        turn, slope = rotation_z((cosine, sine)), rotation_z((-sine, cosine))
        slope[2, 2] = 0.0
        turned = place.times(turn)
        own = place.value @ slope
        A_i = Moving(turned.value, turned.by | {s: own}, turned.rate + own * self.v[s])
        return Member(A_i, start, axis)

    def below(self, link: Link) -> tuple[Moving, Moving]:
        if link.parent == GROUND:
            still = Moving(np.zeros(3), {}, np.zeros(3))
            return Moving(np.eye(3), {}, np.zeros((3, 3))), still
        parent = self.members[link.parent]
        return parent.A, parent.origin

    def body(self, index: int, m: Array, c: Array, J: Array) -> tuple[Array, Array]:
        """Z_i, and what the body adds to V = Y + ∂T/∂q − Ẇ q̇."""
        n, v = self.tree.tree_nv, self.v
        own = self.members[index]
        r = own.origin + own.A.times(c)
        path = sorted(self.tree.links[i].v for i in self.tree.path(index))
        M, N = self.columns(index, r)
        zero = ca.SX.zeros(n, n)
        Z = _quadratic(m, J, M, N, M, N)
        M_rate, N_rate = self.rates(index, r)
        Z_rate = _quadratic(m, J, M_rate, N_rate, M, N)
        Z_rate += Z_rate.T
        V = -(Z_rate @ v)
        for s in path:
            M_s, N_s = self.slopes(index, r, s)
            # ½ q̇ᵀ ∂Z/∂q_s q̇, where ∂Z/∂q_s is X + Xᵀ
            X = _quadratic(m, J, M_s, N_s, M, N) if M_s.nnz() + N_s.nnz() else zero
            V[s] += ca.dot(v, X @ v)
        weight = m * self.tree.gravity
        V += M.T @ weight  # Y: (52), (54)
        return Z, V

    def columns(self, index: int, r: Moving) -> tuple[Array, Array]:
        """M⁽ⁱ⁾ and Ñ⁽ⁱ⁾ (20), (21), (23)."""
        return self._assembled(index, r, lambda moving: moving.value, self.members[index].A)

    def rates(self, index: int, r: Moving) -> tuple[Array, Array]:
        """Their derivatives by time (34)–(38)."""
        return self._assembled(index, r, lambda moving: moving.rate, self.members[index].A)

    def slopes(self, index: int, r: Moving, s: int) -> tuple[Array, Array]:
        """Their derivatives by q_s (45)–(51)."""
        zero = np.zeros(3)
        return self._assembled(index, r, lambda x: x.by.get(s, zero), self.members[index].A)

    def _assembled(self, index: int, r: Moving, part: object, A: Moving) -> tuple[Array, Array]:
        n = self.tree.tree_nv
        M, N = ca.SX(3, n), ca.SX(3, n)
        for i in self.tree.path(index):
            j, member = self.tree.links[i].v, self.members[i]
            if not self.tree.links[i].kind.turns:
                M[:, j] = part(member.axis)  # type: ignore[operator]
            else:
                M[:, j] = part(member.axis.cross(r - member.origin))  # type: ignore[operator]
                N[:, j] = part(_into(A, member.axis))  # type: ignore[operator]
        return M, N


def _into(A: Moving, vector: Moving) -> Moving:
    """B = A⁻¹ β with its derivatives, A⁻¹ being Aᵀ (23), (34), (45)."""
    zero, flat = np.zeros(3), np.zeros((3, 3))
    by = {
        s: A.by.get(s, flat).T @ vector.value + A.value.T @ vector.by.get(s, zero)
        for s in {*A.by, *vector.by}
    }
    rate = A.rate.T @ vector.value + A.value.T @ vector.rate
    return Moving(A.value.T @ vector.value, by, rate)


def _quadratic(m: Array, J: Array, M1: Array, N1: Array, M: Array, N: Array) -> Array:
    return m * (M1.T @ M) + N1.T @ J @ N


def _cosine_sine(angle: Array) -> tuple[Array, Array]:
    if isinstance(angle, ca.SX):
        return ca.cos(angle), ca.sin(angle)
    return float(np.cos(angle)), float(np.sin(angle))


class Recurrent(Shared):
    def __init__(self, tree: Tree) -> None:
        super().__init__(tree)
        self._chain: Chain | None = None

    @property
    def chain(self) -> Chain:
        if self._chain is None:
            self._chain = Chain(self.tree, self.q, self.qd)
        return self._chain

    def W(self) -> Array:
        return self.chain.W

    def V(self) -> Array:
        """V of (29), with what the mechanism's own forces add to Y."""
        return self.chain.V + self.own_forces()

    def mass_matrix(self) -> Array:
        return self.chain.W

    def bias(self) -> Array:
        return -self.V()

    def inverse_dynamics(self) -> Array:
        """The drives P = W q̈ − V."""
        return self.chain.W @ self.qdd - self.V()

    def gravity(self) -> Array:
        """−Y: V of a chain at rest."""
        return -ca.substitute(self.chain.V, self.qd, ca.SX.zeros(self.tree.nv))
