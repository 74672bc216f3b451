"""The choices of approximate dynamics: which centres of mass are coordinates, and β and γ.

Springs of stiffness β open by λ/β under the force λ, and oscillate at √(β a), where a are the
eigenvalues of J M⁻¹ Jᵀ. A large β keeps joints closed; a small one allows large steps. By default,
joints open by less than `MAX_OPENING_SHARE` of the mechanism's size. If steps are fixed, or if
iterated multipliers hold the constraints anyway, β is as large as steps of that length allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from ..errors import UnsupportedError
from ..expressions import Expression, evaluate_expression_exactly
from ..kinematics.kinematic_tree import GROUND, KinematicTree
from ..kinematics.tree_builder import build_kinematic_tree
from ..mechanism import JOINT_KINDS, ApproximateChoices, Mechanism, replace_part_fields
from ..types import Floats
from .approximate_equations import ApproximateFormulation
from .formulation import reject_quaternions

MAX_OPENING_SHARE = 1e-4
"""The share of the mechanism's size by which joints may open at the default β: fractions of a
millimetre for links of a metre, as in the paper."""

ACCELERATION_ALLOWED = 500.0
"""The acceleration of all masses, m/s², whose forces open joints by `MAX_OPENING_SHARE`. The
pendulums and loops of the gallery, swinging freely, reach 5 to 25 g; the cost grows only as
√β."""

OVERDAMPING = 4.0
"""The damping of the fastest oscillation of the constraints, relative to critical damping. Slow
oscillations are damped less, in proportion to their frequency: with 1, those of the triple pendulum
last for 60 ms, with 4 for 15 ms, for twice as many steps."""

RADIANS_PER_STEP = 1.0
"""The angle of the fastest oscillation in one fixed step. Euler's method is stable up to 2 where
the oscillation is damped critically, and rk4 up to 2.8; the rest is for configurations in which it
is faster."""

ITERATED_STEP = 3e-3
"""The step in seconds for which β and γ are chosen with iterated multipliers: γ is then the time in
which residuals fade, and β need not be large."""

CONSTRAINT_SAMPLES = 5
"""Random configurations of a tree, in addition to q = 0, at which the oscillations are computed."""


@dataclass(frozen=True)
class ApproximatePenalties:
    """The stiffness β (N/m), the damping time γ (s), the number of iterations, the bodies whose
    centres of mass are coordinates, and those that lack the inertia for it."""

    beta: float
    gamma: float
    iterations: int
    bodies: tuple[str, ...]
    left_out: tuple[str, ...] = ()

    def why_left_out(self) -> str:
        """A sentence on the bodies that lack inertia; "" if there are none."""
        if not self.left_out:
            return ""
        return (
            f"The centres of mass of {', '.join(self.left_out)} are not coordinates: without "
            "these masses, joints would have no inertia, and approximate dynamics divides by it."
        )


def choose_penalties(mechanism: Mechanism, step: float | None = None) -> ApproximatePenalties:
    """Return the choices of a mechanism; what it does not give is chosen for it, or for fixed steps
    of `step` seconds."""
    given = mechanism.approximate or ApproximateChoices()
    left_out: tuple[str, ...] = ()
    bodies = given.bodies
    if bodies is None:
        bodies, left_out = split_penalty_bodies(mechanism)
    beta, gamma = (_value_given(mechanism, given, name) for name in ("beta", "gamma"))
    if beta is not None and beta <= 0:
        raise UnsupportedError(
            f"beta must be above 0 (got {beta:g} N/m)", remedy="give a larger stiffness"
        )
    if given.iterations and gamma is not None and gamma <= 0:
        raise UnsupportedError(
            f"gamma must be above 0 with iterations (got {gamma:g} s)", remedy="give a longer time"
        )
    if given.iterations and step is None:
        step = ITERATED_STEP
    if beta is None or gamma is None:
        suggested = suggest_penalty_factors(mechanism, bodies, step, beta)
        beta, gamma = beta or suggested[0], suggested[1] if gamma is None else gamma
    return ApproximatePenalties(beta, gamma, given.iterations, bodies, left_out)


def mechanism_with_penalties(
    mechanism: Mechanism,
    by: str | Sequence[str],
    beta: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
    step: float | None = None,
) -> Mechanism:
    """Return the mechanism with β, γ and iterations as given, and chosen for fixed steps of `step`
    seconds where they are not; raise where no formulation in `by` has them."""
    given = {"beta": beta, "gamma": gamma, "iterations": iterations}
    names = [name for name, value in given.items() if value is not None]
    if names and "approximate" not in ([by] if isinstance(by, str) else by):
        raise UnsupportedError(
            f"only approximate dynamics uses {names[0]}", remedy='use by="approximate"'
        )
    mechanism = replace_penalty_choices(mechanism, **given)
    if by != "approximate" or reject_quaternions(mechanism):  # which deriving refuses
        return mechanism
    chosen = choose_penalties(mechanism, step)
    if not chosen.beta:  # nothing is constrained
        return mechanism
    return replace_penalty_choices(mechanism, beta=chosen.beta, gamma=chosen.gamma)


def replace_penalty_choices(mechanism: Mechanism, **choices: object) -> Mechanism:
    """Return the mechanism with other choices of approximate dynamics; None keeps one."""
    new = {key: value for key, value in choices.items() if value is not None}
    if not new:
        return mechanism
    kept = mechanism.approximate or ApproximateChoices()
    return replace_part_fields(mechanism, approximate=kept.model_copy(update=new))


def _value_given(mechanism: Mechanism, given: ApproximateChoices, name: str) -> float | None:
    """Return the value of β or γ if the mechanism gives it."""
    number: Expression | None = getattr(given, name)
    return None if number is None else float(evaluate_expression_exactly(number, mechanism.values))


def suggest_penalty_factors(
    mechanism: Mechanism,
    bodies: Sequence[str] | None = None,
    step: float | None = None,
    beta: float | None = None,
) -> tuple[float, float]:
    """β and γ, rounded to three digits: for an opening of `MAX_OPENING_SHARE`, or for fixed steps
    in seconds; or γ for a given β."""
    tree = build_kinematic_tree(mechanism, "numeric")
    chosen = split_penalty_bodies(mechanism)[0] if bodies is None else bodies
    own = ApproximateFormulation(tree, chosen, 1.0, 0.0, 0)
    fastest = max((values[-1] for values in _constraint_compliances(own)), default=0.0)
    if not fastest:  # nothing is constrained
        return beta or 0.0, 0.0
    if beta is None:
        beta = _stiffness_for_opening(own)
        if step is not None:
            beta = min(beta, (RADIANS_PER_STEP / step) ** 2 / fastest)
    damping = OVERDAMPING if step is None else 1.0
    return float(f"{beta:.3g}"), float(f"{2 * damping / np.sqrt(beta * fastest):.3g}")


def _stiffness_for_opening(own: ApproximateFormulation) -> float:
    """β with which all moving masses, at the acceleration that is allowed, open a joint by the
    share of the mechanism's size that is allowed."""
    mass = sum(float(body.m) for body in own.world.bodies)
    return mass * ACCELERATION_ALLOWED / (MAX_OPENING_SHARE * mechanism_size(own.tree.mechanism))


def mechanism_size(mechanism: Mechanism) -> float:
    """The largest distance between ground, joints and centres of mass at home, m; 1 where all of
    them are at one place."""
    tree = build_kinematic_tree(mechanism, "numeric")
    own = ApproximateFormulation(tree, (), 1.0, 0.0, 0)
    places = [ca.SX.zeros(3), *(pose.p for pose in own.world.link_poses)]
    places += [body.r for body in own.world.bodies]
    q = np.zeros(tree.nq) if own.constraints is None else own.home
    at = ca.Function("places", [own.q, tree.motion.t], [ca.horzcat(*map(ca.SX, places))])
    points = np.asarray(at(q, 0.0), dtype=float).T
    span = float(np.linalg.norm(points[:, None] - points[None], axis=-1).max())
    return span or 1.0


def _constraint_compliances(own: ApproximateFormulation) -> list[Floats]:
    """The eigenvalues of J M⁻¹ Jᵀ, ascending, at some configurations."""
    tree = own.tree
    at = ca.Function("at", [own.q, tree.motion.t], [own.M_q, ca.densify(own.J)])
    masses = np.repeat([float(body.m) for body in own.point_bodies], len(own.D))
    is_tree = own.constraints is None
    anywhere = np.random.default_rng(0).uniform(-1, 1, (CONSTRAINT_SAMPLES, tree.nq))
    places = [np.zeros(tree.nq), *anywhere] if is_tree else [np.array(own.home)]
    found = []
    for q in places:
        M_q, J = (np.asarray(x) for x in at(q, 0.0))
        _require_inertia(own, M_q, masses)
        if len(J):
            of_q, of_x = J[:, : tree.nv], J[:, tree.nv :]
            A = of_q @ np.linalg.solve(M_q, of_q.T) + (of_x / masses) @ of_x.T
            found.append(np.linalg.eigvalsh(A))
    return found


def _require_inertia(own: ApproximateFormulation, M_q: Floats, masses: Floats) -> None:
    """Raise where a coordinate has no inertia of its own, by which its equation is divided."""
    name = own.tree.mechanism.name
    if len(masses) and masses.min() <= 0:
        body = own.point_bodies[int(np.argmin(masses)) // len(own.D)].name
        raise UnsupportedError(
            f"'{body}' has no mass, so its centre of mass cannot be a coordinate",
            where=name,
            remedy="choose other bodies, or give it a mass",
        )
    sizes, vectors = np.linalg.eigh(M_q)
    if not len(sizes) or sizes[0] > 1e-12 * max(1.0, sizes[-1]):
        return
    speed = own.tree.names.qd[int(np.argmax(np.abs(vectors[:, 0])))]
    raise UnsupportedError(
        f"without the masses at the chosen points, a coordinate has no inertia ('{speed}'), and "
        "approximate dynamics divides by it",
        where=name,
        remedy="give its bodies moments of inertia, or choose fewer bodies",
    )


def split_penalty_bodies(mechanism: Mechanism) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The bodies with mass that do not hang on ground: those that leave the joints some inertia
    without their masses, and the others."""
    tree = build_kinematic_tree(mechanism, "numeric")
    roots = {joint.child for joint in mechanism.joints.values() if joint.parent == "ground"}
    found: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    for name, mass in tree.masses.items():
        if mass.link == GROUND or name in roots or float(mass.m) <= 0:
            continue
        if _leaves_inertia(tree, (*found, name)):
            found = (*found, name)
        else:
            others = (*others, name)
    return found, others


def reject_bodies_without_inertia(mechanism: Mechanism) -> str | None:
    """The reason why springs hold nothing in a tree whose turning bodies lack inertia, or None."""
    chosen = mechanism.approximate is not None and mechanism.approximate.bodies is not None
    kinds = (JOINT_KINDS[joint.type] for joint in mechanism.joints.values())
    turns = any(dof.is_rotation for kind in kinds for dof in kind.dofs_with(quaternion=False))
    if chosen or mechanism.loops or mechanism.constraints or not turns:
        return None
    held, others = split_penalty_bodies(mechanism)
    masses = build_kinematic_tree(mechanism, "numeric").masses
    others = tuple(name for name in others if not np.any(np.asarray(ca.DM(masses[name].I))))
    if held or not others:
        return None
    has = "has" if len(others) == 1 else "have"
    return (
        f"it divides by moments of inertia, and {', '.join(others)} {has} none (give some, as "
        "triple-pendulum does)"
    )


def _leaves_inertia(tree: KinematicTree, bodies: Sequence[str]) -> bool:
    """Whether the joints' block of M is regular, at q = 0 and at a random configuration."""
    own = ApproximateFormulation(tree, bodies, 1.0, 0.0, 0)
    at = ca.Function("M", [own.q, tree.motion.t], [own.M_q])
    places = np.zeros(tree.nq), np.random.default_rng(0).uniform(-1, 1, tree.nq)
    sizes = np.array([np.linalg.eigvalsh(np.asarray(at(q, 0.0))) for q in places])
    return bool((sizes[:, 0] > 1e-12 * np.maximum(1.0, sizes[:, -1])).all())
