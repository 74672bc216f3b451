"""The recurrences of Vukobratović and Potkonjak (1979), written once for numbers and for symbols.

Every quantity is kept with its derivatives, as the paper has them: its value, its rate, and its
partial derivatives by all coordinates q_s, in this order. Such a *stack* is one matrix, of NumPy
numbers or of CasADi expressions:

    matrices of a member (A_i)           a row of nine entries for each derivative
    vectors of a member (δ_i, γ_i)       a row of three entries for each derivative
    vectors by coordinate (β_j, α_jⁱ)    n rows of three entries for each derivative

The last are the columns of Ñ⁽ⁱ⁾ and M⁽ⁱ⁾. They pass from member to member: each iteration copies
those of the member before, changes and supplements them.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array, Scalar
from ..algebra.rotations import rotation_z
from ..kinematics.kinematic_tree import GROUND, BodyMass, KinematicTree, TreeLink

CROSS_PRODUCT_ROWS = np.zeros((3, 9))
"""Takes a row vector r to the nine entries of the matrix S with b × r = b S for row vectors b."""
for _a, _b, _c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
    CROSS_PRODUCT_ROWS[_a, 3 * _b + _c], CROSS_PRODUCT_ROWS[_a, 3 * _c + _b] = -1.0, 1.0


@dataclass(frozen=True)
class RecurrentMember:
    """Member i: a joint with one coordinate, and the body after it; either may be missing.

    `A` is A_{i,i−1} where q_i is zero, whose z axis is e_i. `r_before` is r_{i−1,i}, from the joint
    to the centre of mass T_{i−1}, in the axes of member i − 1; `r_own` is r_ii, from the joint to
    T_i (the joint itself, without a body), in its own axes.
    """

    name: str
    before: int
    joint: TreeLink | None
    A: Array
    r_before: Array
    r_own: Array
    body: BodyMass | None


def recurrent_members(tree: KinematicTree) -> list[RecurrentMember]:
    """The members of a tree in the order of their iterations; a second body that is fixed to a link
    is a member without a joint."""
    members: list[RecurrentMember] = []
    centers: dict[int, Array] = {GROUND: np.zeros(3)}
    member_of_link = {GROUND: GROUND}
    joint_names = {index: joint.name for joint in tree.joints for index in joint.links}
    for index, link in enumerate(tree.links):
        bodies = [(name, body) for name, body in tree.masses.items() if body.link == index]
        name, body = bodies[0] if bodies else (joint_names[index], None)
        center = np.zeros(3) if body is None else body.c
        before = member_of_link[link.parent]
        member_of_link[index] = len(members)
        r_before = centers[before] - link.p
        centers[len(members)] = center
        members.append(RecurrentMember(name, before, link, link.R, r_before, center, body))
        for name, body in bodies[1:]:
            first, rigid = member_of_link[index], body.c - center
            members.append(RecurrentMember(name, first, None, np.eye(3), np.zeros(3), rigid, body))
    return members


@dataclass(frozen=True)
class RecurrentIteration:
    """The results of iteration i, as stacks: A_i, β_j, α_jⁱ (γ_j for slides), B_jⁱ."""

    member: RecurrentMember
    A: Array
    beta: Array
    alpha: Array
    B: Array
    n: int

    @property
    def M(self) -> Array:
        """M⁽ⁱ⁾ with v_i = M⁽ⁱ⁾ q̇ (21)."""
        return self.alpha[: self.n, :].T

    @property
    def N(self) -> Array:
        """Ñ⁽ⁱ⁾ with ω̃_i = Ñ⁽ⁱ⁾ q̇, in the axes of the member (23)."""
        return self.B[: self.n, :].T

    @property
    def transition_matrix(self) -> Array:
        """A_i: the axes of the member as columns, in the fixed system (4)."""
        row = self.A[0, :]
        return row.reshape(3, 3) if isinstance(row, np.ndarray) else ca.reshape(row, 3, 3).T

    def inertia_form(self) -> Array:
        """Z_i = m M⁽ⁱ⁾ᵀ M⁽ⁱ⁾ + Ñ⁽ⁱ⁾ᵀ J Ñ⁽ⁱ⁾ (25)."""
        body = self.member.body
        assert body is not None
        return body.m * (self.M.T @ self.M) + self.N.T @ body.I @ self.N

    def weight_forces(self, gravity: Array) -> Array:
        """The share of the member's weight in Y: the triple products of (52) and (54)."""
        body = self.member.body
        assert body is not None
        return body.m * (self.M.T @ gravity)

    def velocity_forces(self, qd: Array) -> Array:
        """∂T_i/∂q − Ż_i q̇ (33), (41), each Z multiplied by q̇ before it is formed."""
        body, n = self.member.body, self.n
        assert body is not None
        velocities, turns = contract_rows(qd, self.alpha), contract_rows(qd, self.B)
        momentum, spin = body.m * velocities[:1, :].T, body.I @ turns[:1, :].T
        T_q = velocities[2:, :] @ momentum + turns[2:, :] @ spin
        M_rate, N_rate = self.alpha[n : 2 * n, :], self.B[n : 2 * n, :]
        Z_rate_qd = M_rate @ momentum + self.M.T @ (body.m * velocities[1:2, :].T)
        Z_rate_qd += N_rate @ spin + self.N.T @ (body.I @ turns[1:2, :].T)
        return T_q - Z_rate_qd


class RecurrentChain:
    """W, V and Y of a tree at its coordinates q and velocities qd, columns of numbers or of
    symbols, and all iterations that lead to them; without rotors and force elements."""

    def __init__(self, members: list[RecurrentMember], q: Array, qd: Array, gravity: Array) -> None:
        self.q, self.qd, self.n = q, qd, qd.shape[0]
        self.iterations: list[RecurrentIteration] = []
        self.W, self.Y, velocity_forces = (
            self._zeros(self.n, columns) for columns in (self.n, 1, 1)
        )
        ground = self._ground()
        for member in members:
            before = ground if member.before == GROUND else self.iterations[member.before]
            self.iterations.append(self.add_member(member, before))
            if member.body is not None:
                own = self.iterations[-1]
                self.W = self.W + own.inertia_form()
                self.Y = self.Y + own.weight_forces(gravity)
                velocity_forces = velocity_forces + own.velocity_forces(qd)
        self.V = self.Y + velocity_forces

    def body_iterations(self) -> dict[str, RecurrentIteration]:
        """The iterations of members with a body, by its name."""
        return {one.member.name: one for one in self.iterations if one.member.body is not None}

    def _zeros(self, rows: int, columns: int) -> Array:
        """A matrix of zeros, of the same type as the coordinates."""
        return np.zeros((rows, columns)) if isinstance(self.q, np.ndarray) else ca.SX(rows, columns)

    def _ground(self) -> RecurrentIteration:
        """The member before the first: its axes are those of the fixed system."""
        A, vectors = self._zeros(2 + self.n, 9), self._zeros((2 + self.n) * self.n, 3)
        for k in (0, 4, 8):
            A[0, k] = 1.0
        none = RecurrentMember("", GROUND, None, np.eye(3), np.zeros(3), np.zeros(3), None)
        return RecurrentIteration(none, A, vectors, vectors, vectors, self.n)

    def add_member(self, member: RecurrentMember, before: RecurrentIteration) -> RecurrentIteration:
        """One iteration: the member is joined to the chain, and all quantities supplemented."""
        link, n = member.joint, self.n
        place = multiply_right(before.A, member.A)
        axis = multiply_right(place, np.array([[0.0], [0.0], [1.0]]))  # (13), (15)
        A, beta, alpha = place, +before.beta, +before.alpha
        delta = multiply_right(before.A, column(member.r_before))  # (17a)
        R = multiply_stacks(beta, delta @ CROSS_PRODUCT_ROWS)  # (17), (38), (49)
        if link is not None and link.kind.has_rotation:
            beta[link.v :: n, :] = axis
            A = self._turn(place, link)
        arm = multiply_right(A, column(member.r_own))
        if link is not None and not link.kind.has_rotation:
            alpha[link.v :: n, :] = axis
            arm = arm + self._slide(axis, link)
        S = multiply_stacks(beta, arm @ CROSS_PRODUCT_ROWS)
        alpha = alpha - R + S  # (16), (37), (48), (51)
        return RecurrentIteration(member, A, beta, alpha, multiply_stacks(beta, A), n)

    def _turn(self, place: Array, link: TreeLink) -> Array:
        """A_i and its derivatives, turned about e_i by Rodrigues' formula (8), (9)."""
        cosine, sine = _recurrent_cosine_sine(self.q[link.q, 0])
        slope = rotation_z((-sine, cosine))
        slope[2, 2] = 0.0
        own = multiply_right(place[:1, :], slope)
        A = multiply_right(place, rotation_z((cosine, sine)))
        A[2 + link.v, :] = own
        A[1:2, :] += own * self.qd[link.v, 0]
        return A

    def _slide(self, axis: Array, link: TreeLink) -> Array:
        """γ_i x_i and its derivatives (17), (38), (51)."""
        slid = axis * self.q[link.q, 0]
        slid[2 + link.v, :] = axis[0, :]
        slid[1:2, :] += axis[:1, :] * self.qd[link.v, 0]
        return slid


def multiply_right(matrices: Array, constant: Array) -> Array:
    """The stack of products A C of a stack of matrices A with a matrix C of three rows."""
    if isinstance(matrices, np.ndarray):
        return (matrices.reshape(-1, 3) @ constant).reshape(matrices.shape[0], -1)
    return ca.sparsify(matrices @ ca.kron(ca.SX.eye(3), ca.sparsify(ca.SX(constant))))


def multiply_stacks(vectors: Array, matrices: Array) -> Array:
    """The stack of the rows b_j A, from those of b_j and A by the product rule."""
    d = matrices.shape[0]
    n = vectors.shape[0] // d
    if isinstance(vectors, np.ndarray):
        rows, blocks = vectors.reshape(d, n, 3), matrices.reshape(d, 3, 3)
        product = rows @ blocks[0]
        product[1:] += rows[0] @ blocks[1:]
        return product.reshape(d * n, 3)
    blocks = ca.reshape(matrices.T, 3, 3 * d).T
    product = vectors @ blocks[:3, :]
    product[n:, :] += ca.kron(ca.SX.eye(d - 1), vectors[:n, :]) @ blocks[3:, :]
    return ca.sparsify(product)


def contract_rows(weights: Array, vectors: Array) -> Array:
    """The stack of the vectors Σ_j w_j b_j, from that of b_j."""
    n = weights.shape[0]
    if isinstance(vectors, np.ndarray):
        return weights[:, 0] @ vectors.reshape(-1, n, 3)
    return ca.kron(ca.SX.eye(vectors.shape[0] // n), weights.T) @ vectors


def column(vector: Array) -> Array:
    """A vector as a matrix of one column."""
    return vector.reshape(3, 1) if isinstance(vector, np.ndarray) else vector


def _recurrent_cosine_sine(angle: Scalar) -> tuple[Scalar, Scalar]:
    """Cosine and sine of an angle, which is a number or a symbol."""
    if isinstance(angle, ca.SX):
        return ca.cos(angle), ca.sin(angle)
    return float(np.cos(angle)), float(np.sin(angle))
