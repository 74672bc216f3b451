"""The states of free bodies: where each one is, how it is turned, and both rates, as (23)–(46) of
Bayseç and Kapucu (1996) integrate them: 18 for the triple pendulum.

Of mechanisms that move in a plane (angle and two coordinates of the mass centre a body) or that do
not turn at all (three coordinates). The angles of bodies are sums of the joints' angles, so that
joint variables follow from them; those that slide follow from the mass centres:

    θ = Θ q_t + θ0                 q_t = Θ⁺ (θ − θ0)
    r = r0(q_t) + D(q_t) q_s       q_s = (DᵀD)⁻¹ Dᵀ (r − r0)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..algebra.linear import Array, solve_symmetric
from ..equations import Builder, State
from ..kinematics.coordinates import spread_accelerations, spread_coordinates
from ..kinematics.joints import Kind
from ..kinematics.recursions import accelerations

if TYPE_CHECKING:
    from .newton_euler import FreeBodies

Floats = NDArray[np.float64]


def state_of(free: FreeBodies, joint_accelerations: Builder) -> State | None:
    """The free bodies' states; None where joint variables cannot be told from them in closed
    form: in space, or in coordinates that bend the joints' angles."""
    if free.k != 3:
        return None
    states = FreeStates(free, joint_accelerations)
    return states.state() if states.is_linear else None


class FreeStates:
    def __init__(self, free: FreeBodies, joint_accelerations: Builder) -> None:
        self.free, self.tree = free, free.tree
        self.q, self.qd = free.q, free.qd
        self.joint_accelerations = joint_accelerations
        turning = free.P[:, :3].any(axis=1)
        self.normal: Floats = free.P[turning, :3]
        self.plane: Floats = free.P[~turning, 3:]
        names = [name for body in free.bodies for name in self._names(body.name)]
        self.names = names
        self.z = ca.vertcat(*(ca.SX.sym(name) for name in names))
        self.zd = ca.vertcat(*(ca.SX.sym(f"d{name}") for name in names))

    def _names(self, body: str) -> list[str]:
        """turn_arm, x_arm, y_arm: in the order of the rows of P."""
        letters = ["uvw"[k] for k in range(len(self.plane))]
        for k, row in enumerate(self.plane):
            along = np.flatnonzero(row)
            letters[k] = "xyz"[along[0]] if len(along) == 1 else letters[k]
        return ["turn_" + body] * len(self.normal) + [f"{c}_{body}" for c in letters]

    @cached_property
    def angles(self) -> Array:
        """θ of every body, sums of what turns on the way to it."""
        if not len(self.normal):
            return ca.SX(0, 1)
        full, n = spread_coordinates(self.tree, self.q), self.normal[0]
        found = []
        for body in self.free.bodies:
            total = ca.SX(0)
            for f in self.free.world.path(body.link):
                if self.tree.links[f.link].kind is Kind.TURN:
                    along = float(np.round(n @ self._axis(f.s)))
                    total += along * full[self.tree.links[f.link].q]
            found.append(total)
        return ca.vertcat(*found)

    def _axis(self, s: Array) -> Floats:
        """An axis that no motion turns out of the normal, at some configuration."""
        symbols = ca.vertcat(*self.tree.symbols.values())
        at = ca.Function("axis", [self.q, symbols], [s])
        rng = np.random.default_rng(0)
        point = rng.uniform(-1, 1, self.tree.nq), rng.uniform(0.2, 1.2, symbols.shape[0])
        return np.asarray(at(*point), dtype=float).ravel()

    @cached_property
    def centers(self) -> Array:
        """r of every mass centre, in the directions that are left."""
        return ca.vertcat(*(ca.SX(self.plane) @ body.r for body in self.free.bodies))

    @cached_property
    def turning(self) -> list[int]:
        """Coordinates that turn bodies."""
        used = np.asarray(ca.DM(ca.jacobian(self.angles, self.q).sparsity(), 1))
        return [k for k in range(self.tree.nq) if used.size and used[:, k].any()]

    @property
    def sliding(self) -> list[int]:
        return [k for k in range(self.tree.nq) if k not in self.turning]

    @cached_property
    def is_linear(self) -> bool:
        """Whether angles are linear in the coordinates, and mass centres in those that slide."""
        if self.tree.nq != self.tree.nv:
            return False
        slope = ca.jacobian(self.angles, self.q)
        if not slope.is_constant():
            return False
        numbers = np.asarray(ca.DM(slope))[:, self.turning]
        if np.linalg.matrix_rank(numbers) < len(self.turning):
            return False
        slides = self.q[self.sliding]
        D = ca.jacobian(self.centers, slides)
        return not self.sliding or not ca.depends_on(D, slides)

    def coordinates(self) -> Array:
        """q by the positions z."""
        rows = np.arange(len(self.names)).reshape(len(self.free.bodies), -1)
        count = len(self.normal)
        theta, r = (
            self.z[rows[:, :count].ravel().tolist()],
            self.z[rows[:, count:].ravel().tolist()],
        )
        q = ca.SX.zeros(self.tree.nq)
        if self.turning:
            start = ca.substitute(self.angles, self.q, q)
            Theta = np.asarray(ca.DM(ca.jacobian(self.angles, self.q)))[:, self.turning]
            q[self.turning] = _exact(np.asarray(np.linalg.pinv(Theta), dtype=float)) @ (
                theta - start
            )
        if self.sliding:
            D = ca.jacobian(self.centers, self.q[self.sliding])
            D, r0 = ca.substitute([D, self.centers], [self.q], [q])
            q[self.sliding] = solve_symmetric(ca.densify(D.T @ D), D.T @ (r - r0))
        return q

    @cached_property
    def to_motion(self) -> tuple[Array, Array]:
        q = self.coordinates()
        return q, ca.jtimes(q, self.z, self.zd)

    def positions(self) -> Array:
        """z by q, body by body: what turns, then the mass centre."""
        count, width = len(self.normal), len(self.plane)
        found = []
        for k in range(len(self.free.bodies)):
            found += [self.angles[k * count : (k + 1) * count]]
            found += [self.centers[k * width : (k + 1) * width]]
        return ca.vertcat(*found)

    def accelerations(self) -> Array:
        """Of all bodies, with the joints' accelerations from the elimination of reactions."""
        free = self.free
        rate = spread_accelerations(self.tree, self.qd, free.qdd)
        states = accelerations(self.tree, free.moved, free.v, rate, np.zeros(3))
        rows = [ca.SX(free.P) @ free.acceleration(body, states) for body in free.bodies]
        return ca.substitute(ca.vertcat(*rows), free.qdd, self.joint_accelerations())

    def rates(self) -> Array:
        motion = ca.vertcat(*self.to_motion)
        found = ca.substitute(self.accelerations(), ca.vertcat(self.q, self.qd), motion)
        return ca.vertcat(self.zd, found)

    def state(self) -> State:
        back: Callable[[], tuple[Array, Array]] = lambda: self.to_motion  # noqa: E731
        return State(
            names=(*self.names, *(f"d{name}" for name in self.names)),
            x=ca.vertcat(self.z, self.zd),
            rates=self.rates,
            from_motion=lambda: ca.vertcat(
                self.positions(), ca.jtimes(self.positions(), self.q, self.qd)
            ),
            to_motion=back,
        )


def _exact(numbers: Floats) -> Array:
    """Whole numbers where these are meant."""
    near = np.round(numbers)
    return ca.sparsify(ca.SX(ca.DM(np.where(np.abs(numbers - near) < 1e-12, near, numbers))))
