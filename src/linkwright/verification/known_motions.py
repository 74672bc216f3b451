"""Checks by motions that are known, as Bayseç and Kapucu (1996) check their equations:
free fall on a slide, the natural frequency of one link, a huge mass as ground, and an independent
kineto-static solution.

The first three change the mechanism and derive it again by the same formulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.integrate import solve_ivp

from ..errors import LinkwrightError
from ..expressions import ZERO, expression_to_float
from ..formulations import derive
from ..kinematics.mobility_analysis import mobility
from ..mechanism import Mechanism, mechanism_names
from ..types import Floats
from . import kinetostatic
from .changed_mechanisms import (
    CheckNotApplicableError,
    assembled_joint_coordinates,
    lowest_joint_angle,
    mechanism_on_slide,
    mechanism_with_held_joint,
    mechanism_with_huge_body,
    mechanism_without_losses,
)
from .numeric_checks import VerifiedMotion, judge_measurement
from .verification_report import SKIPPED_VERDICT, Check
from .verified_equations import VerifiedEquations

CITED_PAPER = "Bayseç and Kapucu (1996)"
KINETOSTATIC_STATES = 5
"""The number of instants of a motion at which forces are found from differences of positions."""


def derive_for_check(mechanism: Mechanism, by: str) -> VerifiedEquations:
    """The equations of a changed mechanism, with numbers."""
    return VerifiedEquations(derive(mechanism, by=by, parameters="numeric"))


def check_free_fall(subject: VerifiedEquations) -> Check:
    """Check that the whole mechanism, released from rest on a vertical slide, falls as one."""
    mechanism = mechanism_without_losses(subject.mechanism)
    g = np.array([expression_to_float(x, mechanism.values) for x in mechanism.gravity])
    size = float(np.linalg.norm(g))
    if size == 0:
        raise CheckNotApplicableError("the mechanism has no gravity")
    if mechanism_names(mechanism).is_time_dependent:
        raise CheckNotApplicableError("the mechanism depends on time")
    other = derive_for_check(mechanism_on_slide(mechanism, g / size), subject.eqs.by)
    rest = other.random_states(1)[0] | {"qd": np.zeros(other.eqs.nv)}
    run = VerifiedMotion(other, rest, is_balanced=False)
    moved = run.q - rest["q"]
    moved[:, 0] -= size * run.t**2 / 2
    return judge_measurement(
        "free fall on a slide",
        float(np.abs(moved).max() / (size * run.duration**2 / 2)),
        1e-11,
        "forward_dynamics",
        f"released on a vertical slide, the mechanism falls by g t²/2 over {run.duration:.2g} s, "
        "and its joints do not move",
        f"On a vertical slide the motion is a free fall ({CITED_PAPER}).",
    )


def check_natural_frequency(subject: VerifiedEquations) -> Check:
    """Check that one link on its own joint swings as a physical pendulum: ω² = m g d / I."""
    name, axis, solid = _find_checked_pendulum(subject.mechanism)
    arm = solid.center - axis * (axis @ solid.center)
    about = float(axis @ solid.inertia @ axis + solid.mass * arm @ arm)
    g = 9.81
    wanted = np.sqrt(solid.mass * g * np.linalg.norm(arm) / about)
    alone = Mechanism(
        name=f"{name} alone",
        gravity=(g * arm / np.linalg.norm(arm)).tolist(),
        parameters=dict(subject.mechanism.parameters),
        bodies={name: subject.mechanism.bodies[name]},
        joints={"swing": {"type": "revolute", "child": name, "axis": axis.tolist()}},
    )
    pendulum = derive_for_check(alone, subject.eqs.by)

    def checked_pendulum_rates(_: float, x: Floats) -> Floats:
        state = {"q": x[:1], "qd": x[1:], "tau": np.zeros(1)}
        return np.array([x[1], pendulum.function_value("forward_dynamics", state)[0]])

    def checked_pendulum_angle(_: float, x: Floats) -> float:
        return float(x[0])

    quarter = np.pi / 2 / wanted
    run = solve_ivp(
        checked_pendulum_rates,
        (0, 2 * quarter),
        [1e-4, 0.0],
        method="DOP853",
        events=checked_pendulum_angle,
        rtol=1e-11,
        atol=1e-16,
    )
    times = run.t_events[0]
    worst = abs(times[0] / quarter - 1) if len(times) else np.inf
    return judge_measurement(
        "natural frequency",
        float(worst),
        1e-7,
        "forward_dynamics",
        f"'{name}' alone on its joint swings at {wanted / 2 / np.pi:.4g} Hz, as m, d and I predict",
        f"Free motion of a link about a revolute joint has its natural frequency ({CITED_PAPER}).",
    )


def _find_checked_pendulum(
    mechanism: Mechanism,
) -> tuple[str, Floats, kinetostatic.KinetostaticBody]:
    """The name, joint axis and body of a link whose axis misses its centre of mass."""
    known = {solid.name: solid for solid in kinetostatic.kinetostatic_bodies(mechanism)}
    for joint in mechanism.joints.values():
        solid = known[joint.child]
        if not joint.kind.is_hinge or solid.mass <= 0:
            continue
        axis = np.array([expression_to_float(x, mechanism.values) for x in joint.axis])
        axis /= np.linalg.norm(axis)
        arm = np.linalg.norm(solid.center - axis * (axis @ solid.center))
        if arm > 1e-9:
            return joint.child, axis, solid
    raise CheckNotApplicableError("no link turns about an axis beside its centre of mass")


def check_huge_mass(subject: VerifiedEquations) -> Check:
    """Check that a link of huge mass, at rest at its lowest position, acts as ground to all
    others."""
    tree = mechanism_without_losses(subject.mechanism)
    name, joint = next((n, j) for n, j in tree.joints_depth_first() if j.moves)
    if joint.by_quaternion:
        raise CheckNotApplicableError("its first joint is free to turn in space")
    is_hung = joint.kind.is_hinge and not (tree.loops or tree.constraints)
    if not is_hung:
        tree = tree.without("gravity")
    heavy = mechanism_with_huge_body(tree, joint.child)
    place = (
        {name: lowest_joint_angle(heavy, name)}
        if is_hung
        else assembled_joint_coordinates(tree, name)
    )
    held_mechanism = mechanism_with_held_joint(tree, place)
    try:
        if mobility(held_mechanism).dof == 0:
            raise CheckNotApplicableError(f"nothing moves except '{joint.child}'")
        free, held = (derive_for_check(m, subject.eqs.by) for m in (heavy, held_mechanism))
        start = held.random_states(1, speed=0.5)[0]
    except LinkwrightError as error:
        if not subject.names.is_time_dependent or isinstance(error, CheckNotApplicableError):
            raise
        reason = f"'{joint.child}' cannot be held at rest: its motion is given"
        raise CheckNotApplicableError(reason) from error
    wanted = VerifiedMotion(held, start, is_balanced=False)
    found = VerifiedMotion(free, start, duration=wanted.duration, is_balanced=False)
    apart = np.concatenate([found.q[-1] - wanted.q[-1], found.qd[-1] - wanted.qd[-1]])
    return judge_measurement(
        "huge mass as ground",
        float(np.abs(apart).max() / max(np.ptp(wanted.q, axis=0).max(), np.abs(wanted.qd).max())),
        1e-6,
        "forward_dynamics",
        f"with a huge mass, '{joint.child}' stays at rest for {found.duration:.2g} s, and the rest "
        "moves as if it were ground",
        f"A link of very large mass at rest is a virtual ground ({CITED_PAPER}).",
    )


def check_kinetostatic_forces(subject: VerifiedEquations) -> Check:
    """Check the forces along a motion against an independent kineto-static solution."""
    if not subject.has_functions(subject.force_function, "passive", "external"):
        raise CheckNotApplicableError("they have no inverse dynamics")
    by_rotors = _verified_rotor_forces(subject)
    states, is_motion = _kinetostatic_states(subject)
    worst = {subject.force_function: 0.0, "forward_dynamics": 0.0}
    for state in states:
        wanted, size = kinetostatic.kinetostatic_forces(subject, state)
        wanted += by_rotors(state)
        for name in ("passive", "external"):
            wanted -= subject.function_value(name, state)
        found = {subject.force_function: subject.function_value(subject.force_function, state)}
        if is_motion:
            found["forward_dynamics"] = _applied_forces(subject, state)
        for function, forces in found.items():
            size = max(size, float(np.abs(forces).max()), 1e-12)
            apart = float(np.abs(forces - wanted).max() / size)
            worst[function] = max(worst[function], apart)
    function = max(worst, key=lambda name: worst[name])
    return judge_measurement(
        "kineto-static solution",
        worst[function],
        1e-7,
        function,
        "forces along a motion by d'Alembert's principle, from differences of positions alone",
        f"An independent kineto-static solution gives the same forces ({CITED_PAPER}).",
    )


def _kinetostatic_states(subject: VerifiedEquations) -> tuple[list[dict[str, Floats]], bool]:
    """States along a motion, with its forces and accelerations, and True; random states and False
    where no motion can be computed."""
    try:
        if subject.has_functions("forward_dynamics"):
            motion = VerifiedMotion(subject, is_balanced=False)
            return motion.sampled_states(KINETOSTATIC_STATES), True
    except LinkwrightError:
        pass
    return subject.random_states(2, seed=3), False


def _applied_forces(subject: VerifiedEquations, state: dict[str, Floats]) -> Floats:
    """τ + Jᵀλ at a state of a motion."""
    if not subject.names.constraints:
        return state["tau"]
    J = subject.function_value("constraint_jacobian", state)
    return state["tau"] + J.T @ subject.function_value("multipliers", state)


def _verified_rotor_forces(subject: VerifiedEquations) -> Callable[[dict[str, Floats]], Floats]:
    """A function from the state to the forces of rotors: the difference of two derivations."""
    mechanism = subject.mechanism
    has_rotors = any(joint.motor is not None for joint in mechanism.joints.values())
    if not has_rotors and all(length.armature == ZERO for length in mechanism.lengths.values()):
        return lambda state: np.zeros(subject.eqs.nv)
    both = [derive_for_check(m, "recursive") for m in (mechanism, mechanism.without("motors"))]

    def verified_rotor_forces(state: dict[str, Floats]) -> Floats:
        with_, without = (s.function_value(s.force_function, state) for s in both)
        return with_ - without

    return verified_rotor_forces


KNOWN_MOTION_CHECKS = {
    "free fall on a slide": check_free_fall,
    "natural frequency": check_natural_frequency,
    "huge mass as ground": check_huge_mass,
    "kineto-static solution": check_kinetostatic_forces,
}


def check_known_motions(subject: VerifiedEquations) -> Iterator[Check]:
    """Results of all checks by known motions; skipped where they do not apply."""
    for name, check in KNOWN_MOTION_CHECKS.items():
        changed = not subject.eqs.is_derived and check is not check_kinetostatic_forces
        try:
            if changed:
                raise CheckNotApplicableError("it needs a derivation of another mechanism")
            yield check(subject)
        except LinkwrightError as error:
            yield Check(name, SKIPPED_VERDICT, error.what, f"a check of {CITED_PAPER}")
