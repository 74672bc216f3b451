"""The recurrent Lagrangian method of Vukobratović and Potkonjak (1979).

The chain is built link by link. Each new link gets its transition matrix and the vectors

    β_j = A_{j−1} e_j   axis of a turn,   γ_j = A_j r⁰   direction of a slide       (13), (15)

with their derivatives by every coordinate before it and by time, all by recurrence; then

    v_i = M⁽ⁱ⁾ q̇,   ω̃_i = Ñ⁽ⁱ⁾ q̇,   Z_i = m M⁽ⁱ⁾ᵀ M⁽ⁱ⁾ + Ñ⁽ⁱ⁾ᵀ J Ñ⁽ⁱ⁾                (18)–(25)
    W = Σ Z_i,   Ẇ = Σ Ż_i,   ∂T/∂q_s = ½ Σ q̇ᵀ ∂Z_i/∂q_s q̇                         (26)–(42)
    V = Y + ∂T/∂q − Ẇ q̇,   W q̈ = P + V                                            (29), (30)

The joint's own frame defines where q is zero, also where the paper's (5) is 0/0; Rodrigues' formula
(8) is then a rotation about its z axis. `recurrent_matrices` is the paper's
procedure: numbers for one instant, from which accelerations or joint forces follow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, cross
from ..algebra.rotations import rotation_z
from ..equations import Equations
from ..kinematics.kinematic_tree import GROUND, KinematicTree, TreeLink
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import (
    freeze_coordinates,
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from ..mechanism import Mechanism
from ..types import Floats
from .formulation import Formulation, formulation_rotor_inertias, reject_quaternions


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    for name, joint in mechanism.joints.items():
        if joint.kind.has_pitch and joint.locked is None:
            return f"'{name}' is {joint.type}, and its joints turn or slide"
    return reject_quaternions(mechanism)


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Equations with W and V as expressions, by the recurrences."""
    recurrent = RecurrentFormulation(build_kinematic_tree(mechanism, parameters))
    builders = {
        "mass_matrix": recurrent.mass_matrix,
        "gravity": recurrent.gravity,
        "inverse_dynamics": recurrent.inverse_dynamics,
        "bias": recurrent.bias,
    }
    return recurrent.assemble_equations("recurrent", builders, {"W": recurrent.W, "V": recurrent.V})


def recurrent_matrices(
    mechanism: Mechanism, q: Sequence[float], qd: Sequence[float], t: float = 0.0
) -> tuple[Floats, Floats]:
    """W and V of W q̈ = P + V as numbers at coordinates q, velocities qd and time t."""
    tree = build_kinematic_tree(mechanism, "numeric")
    motion = tree.motion
    inputs, now = [motion.q, motion.qd, motion.t], (q, qd, t)
    own = np.array(ca.Function("f", inputs, [Formulation(tree).element_forces()])(*now)).ravel()
    if tree.transfer is None and not tree.followers:
        chain = RecurrentChain(tree, np.asarray(q, dtype=float), np.asarray(qd, dtype=float))
        return np.array(ca.DM(chain.W)), np.array(ca.DM(chain.V)).ravel() + own
    chain = RecurrentChain(tree, motion.q, motion.qd)
    W, V = ca.Function("instant", inputs, [chain.W, chain.V])(*now)
    return np.array(W), np.array(V).ravel() + own


@dataclass(frozen=True)
class RecurrentQuantity:
    """A vector or matrix of one link, with its derivatives by the coordinates of the links before
    it and by time."""

    value: Array
    partials: dict[int, Array]
    rate: Array

    def multiply_constant(self, constant: Array) -> RecurrentQuantity:
        """The product with a constant matrix or vector."""
        by = {s: slope @ constant for s, slope in self.partials.items()}
        return RecurrentQuantity(self.value @ constant, by, self.rate @ constant)

    def __add__(self, other: RecurrentQuantity) -> RecurrentQuantity:
        by = dict(self.partials)
        for s, slope in other.partials.items():
            by[s] = by[s] + slope if s in by else slope
        return RecurrentQuantity(self.value + other.value, by, self.rate + other.rate)

    def __sub__(self, other: RecurrentQuantity) -> RecurrentQuantity:
        minus = {s: -slope for s, slope in other.partials.items()}
        return self + RecurrentQuantity(-other.value, minus, -other.rate)

    def cross(self, other: RecurrentQuantity) -> RecurrentQuantity:
        """The cross product, with derivatives by the product rule (38), (48)."""
        zero = np.zeros(3)
        by = {
            s: cross(self.partials.get(s, zero), other.value)
            + cross(self.value, other.partials.get(s, zero))
            for s in {*self.partials, *other.partials}
        }
        rate = cross(self.rate, other.value) + cross(self.value, other.rate)
        return RecurrentQuantity(cross(self.value, other.value), by, rate)


@dataclass(frozen=True)
class RecurrentLink:
    """A link of the chain: transition matrix A, origin, and axis of its degree of freedom."""

    A: RecurrentQuantity
    origin: RecurrentQuantity
    axis: RecurrentQuantity


class RecurrentChain:
    """W and V of a tree at coordinates q and velocities qd, which are numbers or symbols."""

    def __init__(self, tree: KinematicTree, q: Array, qd: Array) -> None:
        self.tree = tree
        self.q, self.v = spread_coordinates(tree, q), spread_velocities(tree, qd)
        self.chain_links: list[RecurrentLink] = []
        n = tree.tree_nv
        W = formulation_rotor_inertias(tree)
        V = ca.SX.zeros(n)
        for link in tree.links:
            self.chain_links.append(self.recurrence_step(link))
        for mass in tree.masses.values():
            if mass.link != GROUND:
                Z, contribution = self.body_contribution(mass.link, mass.m, mass.c, mass.I)
                W, V = W + Z, V + contribution
        drift = spread_accelerations(tree, qd, None)  # from chosen coordinates
        if drift is not None:
            V = V - W @ drift
        self.W = ca.densify(gather_columns(tree, gather_forces(tree, W)))
        self.V = gather_forces(tree, V)

    def recurrence_step(self, link: TreeLink) -> RecurrentLink:
        """The recurrence from A_{i−1} and its derivatives to A_i and its derivatives."""
        A, origin = self.parent_link(link)
        place = A.multiply_constant(link.R)  # the joint's frame, before it moves
        start = origin + A.multiply_constant(link.p)
        s = link.v
        axis = place.multiply_constant(np.array([0.0, 0.0, 1.0]))  # β or γ
        if not link.kind.has_rotation:
            x, rate = self.q[s], self.v[s]
            slid = RecurrentQuantity(
                axis.value * x,
                {k: slope * x for k, slope in axis.partials.items()} | {s: axis.value},
                axis.rate * x + axis.value * rate,
            )
            return RecurrentLink(place, start + slid, axis)
        cosine, sine = _recurrent_cosine_sine(self.q[s])
        turn, slope = rotation_z((cosine, sine)), rotation_z((-sine, cosine))
        slope[2, 2] = 0.0
        turned = place.multiply_constant(turn)
        own = place.value @ slope
        A_i = RecurrentQuantity(
            turned.value, turned.partials | {s: own}, turned.rate + own * self.v[s]
        )
        return RecurrentLink(A_i, start, axis)

    def parent_link(self, link: TreeLink) -> tuple[RecurrentQuantity, RecurrentQuantity]:
        """The transition matrix and the origin of the link before, constant for ground."""
        if link.parent == GROUND:
            still = RecurrentQuantity(np.zeros(3), {}, np.zeros(3))
            return RecurrentQuantity(np.eye(3), {}, np.zeros((3, 3))), still
        parent = self.chain_links[link.parent]
        return parent.A, parent.origin

    def body_contribution(self, index: int, m: Array, c: Array, J: Array) -> tuple[Array, Array]:
        """Z_i, and the body's share of V = Y + ∂T/∂q − Ẇ q̇."""
        n, v = self.tree.tree_nv, self.v
        own = self.chain_links[index]
        r = own.origin + own.A.multiply_constant(c)
        path = sorted(self.tree.links[i].v for i in self.tree.path_to_ground(index))
        M, N = self.velocity_coefficients(index, r)
        zero = ca.SX.zeros(n, n)
        Z = _recurrent_inertia_form(m, J, M, N, M, N)
        M_rate, N_rate = self.coefficient_rates(index, r)
        Z_rate = _recurrent_inertia_form(m, J, M_rate, N_rate, M, N)
        Z_rate += Z_rate.T
        V = -(Z_rate @ v)
        for s in path:
            M_s, N_s = self.coefficient_partials(index, r, s)
            # ½ q̇ᵀ ∂Z/∂q_s q̇, where ∂Z/∂q_s is X + Xᵀ
            X = _recurrent_inertia_form(m, J, M_s, N_s, M, N) if M_s.nnz() + N_s.nnz() else zero
            V[s] += ca.dot(v, X @ v)
        weight = m * self.tree.gravity
        V += M.T @ weight  # Y: (52), (54)
        return Z, V

    def velocity_coefficients(self, index: int, r: RecurrentQuantity) -> tuple[Array, Array]:
        """M⁽ⁱ⁾ and Ñ⁽ⁱ⁾ (20), (21), (23)."""
        return self._assemble_coefficients(
            index, r, lambda moving: moving.value, self.chain_links[index].A
        )

    def coefficient_rates(self, index: int, r: RecurrentQuantity) -> tuple[Array, Array]:
        """The time derivatives of M⁽ⁱ⁾ and Ñ⁽ⁱ⁾ (34)–(38)."""
        return self._assemble_coefficients(
            index, r, lambda moving: moving.rate, self.chain_links[index].A
        )

    def coefficient_partials(self, index: int, r: RecurrentQuantity, s: int) -> tuple[Array, Array]:
        """The derivatives of M⁽ⁱ⁾ and Ñ⁽ⁱ⁾ by q_s (45)–(51)."""
        zero = np.zeros(3)
        return self._assemble_coefficients(
            index, r, lambda x: x.partials.get(s, zero), self.chain_links[index].A
        )

    def _assemble_coefficients(
        self,
        index: int,
        r: RecurrentQuantity,
        part: Callable[[RecurrentQuantity], Array],
        A: RecurrentQuantity,
    ) -> tuple[Array, Array]:
        """M and N of a link with the columns that `part` selects of each joint's axis."""
        n = self.tree.tree_nv
        M, N = ca.SX(3, n), ca.SX(3, n)
        for i in self.tree.path_to_ground(index):
            j, member = self.tree.links[i].v, self.chain_links[i]
            if not self.tree.links[i].kind.has_rotation:
                M[:, j] = part(member.axis)
            else:
                M[:, j] = part(member.axis.cross(r - member.origin))
                N[:, j] = part(_recurrent_link_axes(A, member.axis))
        return M, N


def _recurrent_link_axes(A: RecurrentQuantity, vector: RecurrentQuantity) -> RecurrentQuantity:
    """B = A⁻¹ β with its derivatives, A⁻¹ being Aᵀ (23), (34), (45)."""
    zero, flat = np.zeros(3), np.zeros((3, 3))
    by = {
        s: A.partials.get(s, flat).T @ vector.value + A.value.T @ vector.partials.get(s, zero)
        for s in {*A.partials, *vector.partials}
    }
    rate = A.rate.T @ vector.value + A.value.T @ vector.rate
    return RecurrentQuantity(A.value.T @ vector.value, by, rate)


def _recurrent_inertia_form(m: Array, J: Array, M1: Array, N1: Array, M: Array, N: Array) -> Array:
    """m M1ᵀ M + N1ᵀ J N, the inertia form of two pairs of coefficients."""
    return m * (M1.T @ M) + N1.T @ J @ N


def _recurrent_cosine_sine(angle: Array) -> tuple[Array, Array]:
    """Cosine and sine of an angle, which is a number or a symbol."""
    if isinstance(angle, ca.SX):
        return ca.cos(angle), ca.sin(angle)
    return float(np.cos(angle)), float(np.sin(angle))


class RecurrentFormulation(Formulation):
    """The recurrent method with W and V as expressions."""

    def __init__(self, tree: KinematicTree) -> None:
        super().__init__(tree)
        self._chain: RecurrentChain | None = None

    @property
    def chain(self) -> RecurrentChain:
        """The chain in the symbols q and q̇, built once."""
        if self._chain is None:
            self._chain = RecurrentChain(self.tree, self.q, self.qd)
        return self._chain

    def W(self) -> Array:
        """W of W q̈ = P + V, nv × nv."""
        return self.chain.W

    def V(self) -> Array:
        """V of (29), with the forces of the mechanism's own elements in Y."""
        return self.chain.V + self.element_forces()

    def mass_matrix(self) -> Array:
        """M = W."""
        return self.chain.W

    def bias(self) -> Array:
        """bias = −V."""
        return -self.V()

    def inverse_dynamics(self) -> Array:
        """The joint forces P = W q̈ − V."""
        return self.chain.W @ self.qdd - self.V()

    def gravity(self) -> Array:
        """g = −Y: minus V of the chain at rest."""
        chain = RecurrentChain(freeze_coordinates(self.tree), self.q, self.qd)
        return -ca.substitute(chain.V, self.qd, ca.SX.zeros(self.tree.nv))
