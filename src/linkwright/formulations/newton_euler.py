"""Newton's and Euler's equations of free bodies, Bayseç and Kapucu (1996), (23)–(46).

Every body is free: (α, a) are its angular acceleration and that of its centre of mass, and each
joint is an unknown wrench w (moment, force) on the body behind it, about its centre of mass:

    N y = F + Xᵀ w       Newton and Euler: y = (α, a) of all bodies, N = diag(I, m),
                         F = (−ω × Iω, m g)
    X y = S q̈ + c        what the joints allow: S their motions, c the centripetal terms
    Sᵀ w = τ             the joint forces

w and then y are eliminated: X is unit triangular, so that y = X⁻¹(S q̈ + c) from ground outward and
w = X⁻ᵀ(N y − F) from the tips inward; Sᵀw = τ is left for q̈. N is not inverted: bodies may have no
mass or no inertia, if the mass matrix of the mechanism is regular.

In a plane each body has three components, and three translations where nothing turns: the triple
pendulum has nine accelerations and six reactions, 15 equations. Forces and moments at every joint
are results.

The states are those of the free bodies (`free_body_states`): twice as many as accelerations, and
one more for each body in space, whose attitude is a unit quaternion.

A loop is one more joint: its forces λ act on two bodies, F + E λ, with the condition Eᵀy + γ = 0.
Where λ is not unique, reactions are those of least norm.
"""

from __future__ import annotations

from functools import cache, partial

import casadi as ca
import numpy as np

from ..algebra.linear_algebra import Array
from ..equations import Equations
from ..kinematics.kinematic_tree import KinematicTree
from ..kinematics.mobility_analysis import reference_configuration
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..kinematics.world_kinematics import WorldKinematics
from ..mechanism import Mechanism
from ..types import Floats
from .free_body_equations import NewtonEulerFormulation
from .free_body_states import NewtonEulerStates, newton_euler_states_per_body
from .newton_euler_form import newton_euler_equation_set


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return None


def derive(mechanism: Mechanism, parameters: ParameterSelection = "symbolic") -> Equations:
    """Equations of free bodies with the wrenches of the joints as unknowns."""
    tree = build_kinematic_tree(mechanism, parameters)
    directions = newton_euler_directions(tree)
    free = NewtonEulerFormulation(tree, directions)
    builders = {
        "inverse_dynamics": free.inverse_dynamics,
        "forward_dynamics": free.forward_dynamics,
        "mass_matrix": free.mass_matrix,
        "gravity": free.gravity,
    }
    extras = {
        "joint_wrenches": free.joint_wrenches,
        "joint_wrenches_in_bodies": lambda: free.joint_wrenches(in_bodies=True),
    }
    own = cache(partial(newton_euler_equation_set, free))
    if free.constraints is None:
        if all(span.links for span in tree.joints):
            builders["reactions_of_motion"] = partial(_reaction_rows, free)
            builders["reactions"] = lambda: ca.substitute(
                _reaction_rows(free), free.qdd, free.forward_dynamics()
            )
        state = NewtonEulerStates(free, free.forward_dynamics).formulation_state()
        return free.assemble_equations("newton_euler", builders, extras, state, equation_set=own)
    tied = NewtonEulerFormulation(tree, directions, tied=True)
    extras = {
        "joint_wrenches": tied.reactions,
        "joint_wrenches_in_bodies": lambda: tied.reactions(in_bodies=True),
        "multipliers": lambda: tied.multipliers.all_multipliers,
    }
    accelerations = lambda: tied.multipliers.accelerations  # noqa: E731
    state = NewtonEulerStates(free, accelerations).formulation_state()
    return free.assemble_equations(
        "newton_euler", builders, extras, state, accelerations=accelerations, equation_set=own
    )


def _reaction_rows(free: NewtonEulerFormulation) -> Array:
    """The wrenches of all joints for the motion (q, q̇, q̈), one row each; all joints move."""
    found = free.joint_wrenches()
    return ca.vertcat(*(found[name].T for name in free.tree.names.joints))


def newton_euler_directions(tree: KinematicTree) -> Floats:
    """The components of (α, a) that motions can have for all values of the symbols, as rows.

    Three translations where nothing turns, a rotation and two translations in a plane, otherwise
    all six.
    """
    freedoms = WorldKinematics(tree, tree.motion.q).joint_axes
    symbols = ca.vertcat(*tree.symbols.values())
    place = ca.vertcat(tree.motion.q, tree.motion.t)
    inputs, axes = [place, symbols], ca.horzcat(*(ca.SX(f.s) for f in freedoms))
    at = ca.Function("axes", inputs, [axes])
    rng = np.random.default_rng(0)
    found = [
        np.asarray(at(rng.uniform(-1, 1, tree.nq + 1), rng.uniform(0.2, 1.2, symbols.shape[0])))
        for _ in range(2)
    ]
    turning = np.hstack([A[:, [f.has_rotation for f in freedoms]] for A in found])
    sliding = np.hstack([A[:, [not f.has_rotation for f in freedoms]] for A in found])
    if turning.shape[1] == 0:
        return np.hstack([np.zeros((3, 3)), np.eye(3)])
    n = turning[:, 0] / np.linalg.norm(turning[:, 0])
    screws = any(not isinstance(f.pitch, float) for f in freedoms)
    parallel = np.abs(np.cross(n, turning.T)).max() < 1e-12
    in_plane = sliding.shape[1] == 0 or np.abs(n @ sliding).max() < 1e-12
    if screws or not (parallel and in_plane):
        return np.eye(6)
    n = np.where(np.abs(n) < 1e-12, 0, n)
    e = np.linalg.svd(n[None])[2][1:]
    plane = np.eye(3)[np.abs(n) < 0.5] if np.count_nonzero(n) == 1 else e
    return np.vstack([np.concatenate([n, np.zeros(3)]), np.hstack([np.zeros((2, 3)), plane])])


def size(mechanism: Mechanism) -> tuple[int, int]:
    """The number of equations and of states: k components and a joint's reactions for each body.

    Every independent constraint row adds one force.
    """
    tree = build_kinematic_tree(mechanism)
    k, bodies = len(newton_euler_directions(tree)), len(tree.names.bodies)
    tied = len(reference_configuration(mechanism)[1].rows) if tree.restraints.entries else 0
    return 2 * k * bodies - tree.names.nv + tied, newton_euler_states_per_body(k) * bodies
