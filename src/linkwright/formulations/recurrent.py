"""The recurrent Lagrangian method of Vukobratović and Potkonjak (1979).

The chain is built member by member. Each iteration adds one member, and changes and supplements

    β_j = A_{j−1} e_j,   γ_j = A_j r⁰_jj,   δ_k = A_{k−1} r_{k−1,k}                     (13)–(17a)
    α_jⁱ = α_jⁱ⁻¹ − R_ij + S_ij,   R_ij = β_j × δ_i,   S_ij = β_j × γ_i x_i            (16), (17)

with their rates (34)–(38) and their partial derivatives by every coordinate (45)–(51); then

    v_i = M⁽ⁱ⁾ q̇,   ω̃_i = Ñ⁽ⁱ⁾ q̇,   Z_i = m M⁽ⁱ⁾ᵀ M⁽ⁱ⁾ + Ñ⁽ⁱ⁾ᵀ J Ñ⁽ⁱ⁾                (18)–(25)
    W = Σ Z_i,   Ẇ = Σ Ż_i,   ∂T/∂q_s = ½ Σ q̇ᵀ ∂Z_i/∂q_s q̇                         (26)–(42)
    V = Y + ∂T/∂q − Ẇ q̇,   W q̈ = P + V                                            (29), (30)

`recurrent_chain` has the recurrences. They take n³ operations for n members: the products with q̇
are formed before Ż_i and ∂Z_i/∂q_s, which would take n⁴. The joint's own frame defines where q is
zero, also where the paper's (5) is 0/0; Rodrigues' formula (8) is then a rotation about its z axis.
`at_instant` is the paper's procedure: numbers for one instant, from which accelerations or joint
forces follow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from ..algebra.linear_algebra import Array
from ..equations import Equations
from ..errors import UnsupportedError
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.rotor_inertias import rotor_inertia_matrix
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.tree_coordinates import (
    gather_columns,
    gather_forces,
    spread_accelerations,
    spread_coordinates,
    spread_velocities,
)
from ..mechanism import Mechanism
from ..number_checks import check_number, check_vector
from ..types import Floats
from .formulation import Formulation, reject_quaternions
from .named_springs import equation_set_with_named_springs
from .recurrent_chain import RecurrentChain, recurrent_members
from .recurrent_form import recurrent_equation_set

MAX_PREPARED_MECHANISMS = 16
"""Mechanisms whose members are kept between instants, the most recent ones."""


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
        "mass_matrix": recurrent.W,
        "gravity": recurrent.gravity,
        "inverse_dynamics": recurrent.inverse_dynamics,
        "bias": recurrent.bias,
    }
    extras = {"W": recurrent.W, "V": recurrent.V, "Y": recurrent.Y}
    own = partial(equation_set_with_named_springs, recurrent, recurrent_equation_set)
    return recurrent.assemble_equations("recurrent", builders, extras, equation_set=own)


class RecurrentFormulation(Formulation):
    """The recurrent method with W and V as expressions."""

    @cached_property
    def chain(self) -> RecurrentChain:
        """The chain in the symbols q and q̇ of the tree, built once."""
        q, qd = spread_coordinates(self.tree, self.q), spread_velocities(self.tree, self.qd)
        return RecurrentChain(recurrent_members(self.tree), q, qd, ca.SX(self.tree.gravity))

    @cached_property
    def tree_inertia(self) -> Array:
        """W along the tree's velocities, with rotors."""
        return rotor_inertia_matrix(self.tree) + self.chain.W

    def W(self) -> Array:
        """W of W q̈ = P + V, nv × nv."""
        return ca.densify(gather_columns(self.tree, gather_forces(self.tree, self.tree_inertia)))

    def V(self) -> Array:
        """V of (29), with the forces of the mechanism's own elements in Y."""
        V = self.chain.V
        drift = spread_accelerations(self.tree, self.qd, None)  # from chosen coordinates
        if drift is not None:
            V = V - self.tree_inertia @ drift
        return ca.densify(gather_forces(self.tree, V)) + self.element_forces()

    def Y(self) -> Array:
        """Y of (52)–(54): the generalized forces of the weights."""
        return ca.densify(gather_forces(self.tree, self.chain.Y))

    def gravity(self) -> Array:
        """g = −Y."""
        return -self.Y()

    def bias(self) -> Array:
        """bias = −V."""
        return -self.V()

    def inverse_dynamics(self) -> Array:
        """The joint forces P = W q̈ − V."""
        return self.W() @ self.qdd - self.V()


@dataclass(frozen=True)
class RecurrentInstant:
    """The model W q̈ = P + V of one instant, with the quantities of each body by name.

    Attributes
    ----------
    W : ndarray, shape (nv, nv)
        The inertia matrix, rotors included.
    V : ndarray, shape (nv,)
        Y + ∂T/∂q − Ẇ q̇, with the forces of springs, dampers and declared loads.
    Y : ndarray, shape (nv,)
        Generalized forces of the weights.
    A : dict of ndarray, shape (3, 3)
        The transition matrix A_i by body, from the body's axes to the ground's.
    M : dict of ndarray, shape (3, nv)
        M⁽ⁱ⁾ by body, with v_i = M⁽ⁱ⁾ q̇ of its centre of mass.
    N : dict of ndarray, shape (3, nv)
        Ñ⁽ⁱ⁾ by body, with ω̃_i = Ñ⁽ⁱ⁾ q̇ in the body's axes.
    Z : dict of ndarray, shape (nv, nv)
        Z_i by body; W is their sum, and that of the rotors.
    """

    W: Floats
    V: Floats
    Y: Floats
    A: dict[str, Floats]
    M: dict[str, Floats]
    N: dict[str, Floats]
    Z: dict[str, Floats]

    def __repr__(self) -> str:
        n = len(self.V)
        return f"<RecurrentInstant W q̈ = P + V: {n} coordinates, bodies {', '.join(self.A)}>"

    def accelerations(self, forces: ArrayLike) -> Floats:
        """Return q̈, (nv,), from the joint `forces` P, (nv,) in N m or N: the direct problem."""
        right = np.asarray(forces, dtype=float) + self.V
        return np.asarray(np.linalg.solve(self.W, right), dtype=float)

    def forces(self, accelerations: ArrayLike) -> Floats:
        """Return the joint forces P, (nv,), from `accelerations` q̈, (nv,): the inverse problem."""
        found: Floats = self.W @ np.asarray(accelerations, dtype=float) - self.V
        return found


class RecurrentMethod:
    """A mechanism made ready for the recurrences in numbers."""

    def __init__(self, mechanism: Mechanism) -> None:
        tree = build_kinematic_tree(mechanism, "numeric")
        self.tree = tree
        self.members = recurrent_members(tree)
        self.gravity = np.asarray(tree.gravity, dtype=float).reshape(3, 1)
        self.rotors = np.array(ca.DM(rotor_inertia_matrix(tree)))
        drift = spread_accelerations(tree, tree.motion.qd, None)
        results = [
            Formulation(tree).element_forces(),
            spread_coordinates(tree, tree.motion.q),
            spread_velocities(tree, tree.motion.qd),
            gather_columns(tree, ca.SX.eye(tree.tree_nv)),
            ca.SX.zeros(tree.tree_nv) if drift is None else drift,
        ]
        inputs = [tree.motion.q, tree.motion.qd, tree.motion.t]
        self.tree_motion = ca.Function("tree_motion", inputs, results)

    def at_instant(self, q: Floats, qd: Floats, t: float) -> RecurrentInstant:
        """The model of one instant."""
        own, q_tree, qd_tree, G, drift = (np.array(x) for x in self.tree_motion(q, qd, t))
        chain = RecurrentChain(self.members, q_tree, qd_tree, self.gravity)
        W, bodies = chain.W + self.rotors, chain.body_iterations()
        axes = {name: self.tree.bodies[name].R for name in bodies}
        return RecurrentInstant(
            W=G.T @ W @ G,
            V=(G.T @ (chain.V - W @ drift) + own).ravel(),
            Y=(G.T @ chain.Y).ravel(),
            A={name: one.transition_matrix @ axes[name] for name, one in bodies.items()},
            M={name: one.M @ G for name, one in bodies.items()},
            N={name: axes[name].T @ one.N @ G for name, one in bodies.items()},
            Z={name: G.T @ one.inertia_form() @ G for name, one in bodies.items()},
        )


@lru_cache(maxsize=MAX_PREPARED_MECHANISMS)
def _prepare_recurrences(mechanism: Mechanism) -> RecurrentMethod:
    """The mechanism made ready, once."""
    return RecurrentMethod(mechanism)


def at_instant(
    mechanism: Mechanism, q: ArrayLike, qd: ArrayLike, t: float = 0.0
) -> RecurrentInstant:
    """Return the model W q̈ = P + V at one instant, numerically, by the recurrences.

    Parameters
    ----------
    mechanism : Mechanism
        A mechanism whose joints turn and slide. Loops and constraints are left open: W and V are
        those of the tree.
    q, qd : (nq,) and (nv,) array
        Coordinates and velocities, rad or m, rad/s or m/s.
    t : float
        The time, for loads that depend on it (default: 0).

    Returns
    -------
    RecurrentInstant
        W, V, Y, and M⁽ⁱ⁾, Ñ⁽ⁱ⁾, Z_i of every body.

    Examples
    --------
    >>> import linkwright as lw
    >>> from linkwright.formulations.recurrent import at_instant
    >>> model = at_instant(lw.gallery("elbow"), [0.0, 0.0], [0.0, 0.0])
    >>> model.forces([0.0, 0.0]).round(3)
    array([19.62 ,  4.905])
    """
    reason = supports(mechanism)
    if reason is not None:
        raise UnsupportedError(
            f"the formulation 'recurrent' cannot treat {mechanism.name}: {reason}",
            remedy="use another formulation, or change the mechanism",
        )
    method = _prepare_recurrences(mechanism)
    names = method.tree.names
    return method.at_instant(
        check_vector(q, names.nq, "q", names.q),
        check_vector(qd, names.nv, "qd", names.qd),
        check_number(t, "t"),
    )


def recurrent_matrices(
    mechanism: Mechanism, q: ArrayLike, qd: ArrayLike, t: float = 0.0
) -> tuple[Floats, Floats]:
    """W and V of `at_instant` alone."""
    model = at_instant(mechanism, q, qd, t)
    return model.W, model.V
