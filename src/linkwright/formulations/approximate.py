"""Approximate dynamics of Rooney, Rai and Jones, Bayseç and Kapucu (1996), (16)–(22), (66)–(77).

There are more coordinates than degrees of freedom: the joint variables, and the centres of mass x
of chosen bodies. These move as free points; strong springs and dampers enforce the constraints:

    f = x − r(q) = 0,  φ(q, t) = 0               centres of mass; loops, constraints (17), (67)
    λ = −β(f + γ ḟ)                              constraint forces                   (20), (77)
    M z̈ = Q + Jᵀ λ,   z = (q, x),  J = ∂f/∂z                                         (21), (22)

In M the masses of the chosen bodies act at x only, so that M is simpler than the exact one. As β
grows, f goes to zero and −β(f + γḟ) to Lagrange's multipliers; f oscillates at √(β·J M⁻¹Jᵀ), and γ
damps this. Velocity constraints ψ = 0 have the damping only, λ = −βγψ. With `iterations`,
multipliers are corrected as in DAMN until the accelerations satisfy the constraints too, for any β.
In a consistent state (f = ḟ = 0) the constraint force is still zero: without iterations, motions
are meaningful, but not the accelerations of one instant.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..equations import Equations
from ..kinematics.parameter_values import ParameterSelection
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import Mechanism
from .approximate_equations import ApproximateFormulation
from .approximate_form import approximate_equation_set
from .approximate_penalties import (
    choose_penalties,
    reject_bodies_without_inertia,
    replace_penalty_choices,
)
from .formulation import reject_quaternions
from .named_springs import equation_set_with_named_springs


def supports(mechanism: Mechanism) -> str | None:
    """None, or the reason why this formulation cannot treat the mechanism."""
    return reject_quaternions(mechanism) or reject_bodies_without_inertia(mechanism)


def derive(
    mechanism: Mechanism,
    parameters: ParameterSelection = "symbolic",
    bodies: Sequence[str] | None = None,
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
) -> Equations:
    """Approximate equations. The centres of mass of `bodies` become coordinates (default: all
    bodies that do not hang on ground directly); `beta` (N/m) and `gamma` (s) are chosen so that
    joints open by less than 1e-4 of the mechanism's size. The mechanism may give all of these
    (`[approximate]` of its file)."""
    given = (bodies,) if isinstance(bodies, str) else bodies
    mechanism = replace_penalty_choices(
        mechanism, beta=beta, gamma=gamma, iterations=iterations, bodies=given
    )
    chosen = choose_penalties(mechanism)
    approximate = ApproximateFormulation(
        build_kinematic_tree(mechanism, parameters),
        chosen.bodies,
        chosen.beta,
        chosen.gamma,
        chosen.iterations,
    )
    extras = {
        "constraints": lambda: approximate.f,
        "multipliers": approximate.multipliers,
        "joint_wrenches": approximate.joint_wrenches,
        "beta": lambda: approximate.beta,
        "gamma": lambda: approximate.gamma,
    }
    return approximate.assemble_equations(
        "approximate",
        {"forward_dynamics": approximate.forward_dynamics} if chosen.iterations else {},
        extras,
        approximate.state(),
        complete=False,
        accelerations=approximate.forward_dynamics,
        equation_set=partial(
            equation_set_with_named_springs,
            approximate,
            partial(approximate_equation_set, note=chosen.why_left_out()),
        ),
    )
