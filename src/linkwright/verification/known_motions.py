"""Checks by motions that are known, as Bayseç and Kapucu (1996) check their equations:
free fall on a slide, the natural frequency of one link, a huge mass as ground, and an independent
kineto-static solution.

The first three change the mechanism and derive it anew by the same formulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.integrate import solve_ivp

from ..errors import LinkwrightError
from ..expressions import expression_to_float
from ..formulations import derive
from ..mechanism import GROUND, Mechanism, replace_part_fields
from ..types import Floats
from . import kinetostatic
from .numeric_checks import judge_measurement
from .verification_report import SKIPPED_VERDICT, Check
from .verified_equations import VerifiedEquations

CITED_PAPER = "Bayseç and Kapucu (1996)"
HUGE_MASS = 1e10
SLIDE_NAME = "vertical_slide"


class CheckNotApplicableError(LinkwrightError):
    """A check does not apply to the mechanism; the message says why."""


def derive_for_check(mechanism: Mechanism, by: str) -> VerifiedEquations:
    """The equations of a changed mechanism, with numbers."""
    return VerifiedEquations(derive(mechanism, by=by, parameters="numeric"))


def _mechanism_for_check(subject: VerifiedEquations) -> Mechanism:
    """The mechanism without friction, dampers, springs, declared forces and contacts."""
    mechanism = subject.mechanism
    if mechanism.loops or mechanism.constraints:
        raise CheckNotApplicableError("loops and constraints hold it")
    if mechanism.coordinates is not None or mechanism.actuators:
        raise CheckNotApplicableError("it has coordinates or actuators of its own")
    return mechanism.without("friction", "damping", "springs", "forces", "contacts")


def check_free_fall(subject: VerifiedEquations) -> Check:
    """Check that the whole mechanism, put on a vertical slide, falls as one."""
    tree = _mechanism_for_check(subject)
    g = np.array([expression_to_float(x, tree.values) for x in tree.gravity])
    size = float(np.linalg.norm(g))
    if size == 0:
        raise CheckNotApplicableError("the mechanism has no gravity")
    joints = {SLIDE_NAME: {"type": "prismatic", "child": SLIDE_NAME, "axis": (g / size).tolist()}}
    for name, joint in tree.joints.items():
        held = replace_part_fields(joint, parent=SLIDE_NAME) if joint.parent == GROUND else joint
        joints[name] = held  # type: ignore[assignment]
    other = derive_for_check(
        replace_part_fields(tree, joints=joints, bodies={SLIDE_NAME: {}, **tree.bodies}),
        subject.eqs.by,
    )
    n, worst = other.eqs.nv, 0.0
    falling = size * np.eye(n)[0]
    for state in other.random_states(5):
        rest = state | {"qd": np.zeros(n)}
        needed = other.function_value("inverse_dynamics", rest | {"qdd": falling})
        held_up = other.function_value("inverse_dynamics", rest | {"qdd": 0 * falling})
        worst = max(worst, float(np.abs(needed).max() / np.abs(held_up).max()))
    return judge_measurement(
        "free fall on a slide",
        worst,
        1e-11,
        "gravity, mass_matrix",
        "put on a vertical slide and released, the mechanism falls with g, and its joints need no "
        "force",
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
        f"'{name}' alone on its joint swings at {wanted / 2 / np.pi:.4g} Hz, as m, d and I say",
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
    tree = _mechanism_for_check(subject)
    name = next((n for n, j in tree.joints_depth_first() if j.moves), "")
    joint = tree.joints[name]
    turns = joint.kind.is_hinge
    if not (turns or joint.kind.is_slider) or subject.eqs.nv < 2:
        raise CheckNotApplicableError(
            "it needs two degrees of freedom, the first of a revolute or prismatic joint"
        )
    if any(other.mimic is not None for other in tree.joints.values()):
        raise CheckNotApplicableError("joints follow others")
    if not turns:
        tree = tree.without("gravity")
    bodies = dict(tree.bodies)
    bodies[joint.child] = replace_part_fields(
        bodies[joint.child], mass=HUGE_MASS, inertia=[HUGE_MASS] * 3
    )
    heavy = derive_for_check(replace_part_fields(tree, bodies=bodies), subject.eqs.by)
    k, n = heavy.names.qd.index(name), heavy.eqs.nv
    lowest = _lowest_angle_for_check(heavy, heavy.names.q.index(name)) if turns else 0.0
    light = derive_for_check(tree.reduced({name: lowest}), subject.eqs.by)
    others = [i for i in range(n) if i != k]
    kept = [i for i, q in enumerate(heavy.names.q) if q != name]
    worst = 0.0
    for state in heavy.random_states(5):
        q, qd = state["q"].copy(), state["qd"].copy()
        q[heavy.names.q.index(name)], qd[k] = lowest, 0.0
        qdd = heavy.function_value("forward_dynamics", {"q": q, "qd": qd, "tau": state["tau"]})
        fixed = {"q": q[kept], "qd": qd[others], "tau": state["tau"][others]}
        wanted = light.function_value("forward_dynamics", fixed)
        apart = np.abs(np.append(qdd[others] - wanted, qdd[k])).max()
        worst = max(worst, float(apart / np.abs(wanted).max()))
    return judge_measurement(
        "huge mass as ground",
        worst,
        1e-4,
        "forward_dynamics",
        f"with a huge mass at its lowest, '{joint.child}' stays, and the rest moves as if it were "
        "ground",
        f"A link of very large mass at rest is a virtual ground ({CITED_PAPER}).",
    )


def _lowest_angle_for_check(subject: VerifiedEquations, place: int) -> float:
    """The angle of the least potential energy, which is a sine of that angle."""
    q = np.array(subject.eqs.neutral)
    V = []
    for angle in (0.0, np.pi / 2, np.pi):
        q[place] = angle
        V.append(float(subject.function_value("potential_energy", {"q": q, "t": np.zeros(1)})))
    middle = (V[0] + V[2]) / 2
    a, b = (V[0] - V[2]) / 2, V[1] - middle
    return float(np.arctan2(-b, -a)) if max(abs(a), abs(b)) > 1e-9 * HUGE_MASS else 0.0


def check_kinetostatic_forces(subject: VerifiedEquations) -> Check:
    """Check the forces of a motion against an independent kineto-static solution."""
    if not subject.has_functions(subject.force_function, "passive", "external"):
        raise CheckNotApplicableError("they have no inverse dynamics")
    by_rotors = _verified_rotor_forces(subject)
    worst = 0.0
    for state in subject.random_states(2, seed=3):
        wanted = kinetostatic.kinetostatic_forces(subject, state)
        found = subject.function_value(subject.force_function, state) + subject.function_value(
            "passive", state
        )
        found = found + subject.function_value("external", state) - by_rotors(state)
        size = max(float(np.abs(wanted).max()), float(np.abs(found).max()), 1e-12)
        worst = max(worst, float(np.abs(found - wanted).max() / size))
    return judge_measurement(
        "kineto-static solution",
        worst,
        1e-7,
        subject.force_function,
        "forces by d'Alembert's principle, from differences of positions alone",
        f"An independent kineto-static solution gives the same forces ({CITED_PAPER}).",
    )


def _verified_rotor_forces(subject: VerifiedEquations) -> Callable[[dict[str, Floats]], Floats]:
    """A function from the state to the forces of rotors: the difference of two derivations."""
    mechanism = subject.mechanism
    if all(joint.motor is None for joint in mechanism.joints.values()):
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
