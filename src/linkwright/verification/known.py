"""Conditions that produce a known motion, as Bayseç and Kapucu (1996) check their equations:
free fall on a slide, the natural frequency of one link, a huge mass as ground, and an independent
kineto-static solution.

The first three change the mechanism and derive it anew by the same formulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy.integrate import solve_ivp

from ..errors import LinkwrightError
from ..expressions import to_float
from ..formulations import derive
from ..mechanism import GROUND, Mechanism, replaced
from ..types import Floats
from . import kinetostatic
from .numbers import measured
from .report import SKIPPED, Check
from .subject import Subject

PAPER = "Bayseç and Kapucu (1996)"
HUGE = 1e10
SLIDE = "vertical_slide"


class NotHereError(LinkwrightError):
    """The check does not apply, and why."""


def derived(mechanism: Mechanism, by: str) -> Subject:
    return Subject(derive(mechanism, by=by, parameters="numeric"))


def _plain_tree(subject: Subject) -> Mechanism:
    """The mechanism without losses, springs, given forces and contacts."""
    mechanism = subject.mechanism
    if mechanism.loops or mechanism.constraints:
        raise NotHereError("loops and constraints hold it")
    if mechanism.coordinates is not None or mechanism.actuators:
        raise NotHereError("it has coordinates or actuators of its own")
    return mechanism.without("friction", "damping", "springs", "forces", "contacts")


def free_fall(subject: Subject) -> Check:
    """On a vertical slide the whole mechanism falls as one, and nothing else moves."""
    tree = _plain_tree(subject)
    g = np.array([to_float(x, tree.values) for x in tree.gravity])
    size = float(np.linalg.norm(g))
    if size == 0:
        raise NotHereError("there is no weight")
    joints = {SLIDE: {"type": "prismatic", "child": SLIDE, "axis": (g / size).tolist()}}
    for name, joint in tree.joints.items():
        held = replaced(joint, parent=SLIDE) if joint.parent == GROUND else joint
        joints[name] = held  # type: ignore[assignment]
    other = derived(replaced(tree, joints=joints, bodies={SLIDE: {}, **tree.bodies}),
                    subject.eqs.by)  # fmt: skip
    n, worst = other.eqs.nv, 0.0
    falling = size * np.eye(n)[0]
    for state in other.states(5):
        rest = state | {"qd": np.zeros(n)}
        needed = other.value("inverse_dynamics", rest | {"qdd": falling})
        held_up = other.value("inverse_dynamics", rest | {"qdd": 0 * falling})
        worst = max(worst, float(np.abs(needed).max() / np.abs(held_up).max()))
    return measured(
        "free fall on a slide", worst, 1e-11, "gravity, mass_matrix",
        "put on a vertical slide and released, the mechanism falls with g, and its joints need no "
        "force", f"On a vertical slide the motion is a free fall ({PAPER}).",
    )  # fmt: skip


def natural_frequency(subject: Subject) -> Check:
    """One link on its own joint swings as a physical pendulum: ω² = m g d / I."""
    name, axis, solid = _pendulum(subject.mechanism)
    arm = solid.center - axis * (axis @ solid.center)
    about = float(axis @ solid.inertia @ axis + solid.mass * arm @ arm)
    g = 9.81
    wanted = np.sqrt(solid.mass * g * np.linalg.norm(arm) / about)
    alone = Mechanism(
        name=f"{name} alone", gravity=(g * arm / np.linalg.norm(arm)).tolist(),
        parameters=dict(subject.mechanism.parameters),
        bodies={name: subject.mechanism.bodies[name]},
        joints={"swing": {"type": "revolute", "child": name, "axis": axis.tolist()}},
    )  # fmt: skip
    pendulum = derived(alone, subject.eqs.by)

    def rates(_: float, x: Floats) -> Floats:
        state = {"q": x[:1], "qd": x[1:], "tau": np.zeros(1)}
        return np.array([x[1], pendulum.value("forward_dynamics", state)[0]])

    def lowest(_: float, x: Floats) -> float:
        return float(x[0])

    quarter = np.pi / 2 / wanted
    run = solve_ivp(rates, (0, 2 * quarter), [1e-4, 0.0], method="DOP853", events=lowest,
                    rtol=1e-11, atol=1e-16)  # fmt: skip
    times = run.t_events[0]
    worst = abs(times[0] / quarter - 1) if len(times) else np.inf
    return measured(
        "natural frequency",
        float(worst),
        1e-7,
        "forward_dynamics",
        f"'{name}' alone on its joint swings at {wanted / 2 / np.pi:.4g} Hz, as m, d and I say",
        f"Free motion of a link about a revolute joint has its natural frequency ({PAPER}).",
    )


def _pendulum(mechanism: Mechanism) -> tuple[str, Floats, kinetostatic.Solid]:
    """A link that turns about an axis which misses its mass centre."""
    known = {solid.name: solid for solid in kinetostatic.solids(mechanism)}
    for joint in mechanism.joints.values():
        solid = known[joint.child]
        if not joint.kind.is_hinge or solid.mass <= 0:
            continue
        axis = np.array([to_float(x, mechanism.values) for x in joint.axis])
        axis /= np.linalg.norm(axis)
        arm = np.linalg.norm(solid.center - axis * (axis @ solid.center))
        if arm > 1e-9:
            return joint.child, axis, solid
    raise NotHereError("no link turns about an axis beside its mass centre")


def huge_mass(subject: Subject) -> Check:
    """A link of huge mass, at rest at its lowest, is ground to all others."""
    tree = _plain_tree(subject)
    name = next((n for n, j in tree.joints_depth_first() if j.moves), "")
    joint = tree.joints[name]
    turns = joint.kind.is_hinge
    if not (turns or joint.kind.is_slider) or subject.eqs.nv < 2:
        raise NotHereError("it needs two freedoms, the first of a revolute or prismatic joint")
    if any(other.mimic is not None for other in tree.joints.values()):
        raise NotHereError("joints follow others")
    if not turns:
        tree = tree.without("gravity")
    bodies = dict(tree.bodies)
    bodies[joint.child] = replaced(bodies[joint.child], mass=HUGE, inertia=[HUGE] * 3)
    heavy = derived(replaced(tree, bodies=bodies), subject.eqs.by)
    k, n = heavy.names.qd.index(name), heavy.eqs.nv
    lowest = _lowest(heavy, heavy.names.q.index(name)) if turns else 0.0
    light = derived(tree.reduced({name: lowest}), subject.eqs.by)
    others = [i for i in range(n) if i != k]
    kept = [i for i, q in enumerate(heavy.names.q) if q != name]
    worst = 0.0
    for state in heavy.states(5):
        q, qd = state["q"].copy(), state["qd"].copy()
        q[heavy.names.q.index(name)], qd[k] = lowest, 0.0
        qdd = heavy.value("forward_dynamics", {"q": q, "qd": qd, "tau": state["tau"]})
        fixed = {"q": q[kept], "qd": qd[others], "tau": state["tau"][others]}
        wanted = light.value("forward_dynamics", fixed)
        apart = np.abs(np.append(qdd[others] - wanted, qdd[k])).max()
        worst = max(worst, float(apart / np.abs(wanted).max()))
    return measured(
        "huge mass as ground", worst, 1e-4, "forward_dynamics",
        f"with a huge mass at its lowest, '{joint.child}' stays, and the rest moves as if it were "
        "ground", f"A link of very large mass at rest is a virtual ground ({PAPER}).",
    )  # fmt: skip


def _lowest(subject: Subject, place: int) -> float:
    """The angle of the least potential energy: that is a sine of it."""
    q = np.array(subject.eqs.neutral)
    V = []
    for angle in (0.0, np.pi / 2, np.pi):
        q[place] = angle
        V.append(float(subject.value("potential_energy", {"q": q})))
    middle = (V[0] + V[2]) / 2
    a, b = (V[0] - V[2]) / 2, V[1] - middle
    return float(np.arctan2(-b, -a)) if max(abs(a), abs(b)) > 1e-9 * HUGE else 0.0


def kineto_static(subject: Subject) -> Check:
    """The equations' forces, plus what the mechanism does itself, less rotors."""
    if not subject.has(subject.drives, "passive", "external"):
        raise NotHereError("they have no inverse dynamics")
    by_rotors = _rotors(subject)
    worst = 0.0
    for state in subject.states(2, seed=3):
        wanted = kinetostatic.forces(subject, state)
        found = subject.value(subject.drives, state) + subject.value("passive", state)
        found = found + subject.value("external", state) - by_rotors(state)
        size = max(float(np.abs(wanted).max()), float(np.abs(found).max()), 1e-12)
        worst = max(worst, float(np.abs(found - wanted).max() / size))
    return measured(
        "kineto-static solution",
        worst,
        1e-7,
        subject.drives,
        "forces by d'Alembert's principle, from differences of positions alone",
        f"An independent kineto-static solution gives the same forces ({PAPER}).",
    )


def _rotors(subject: Subject) -> Callable[[dict[str, Floats]], Floats]:
    """What rotors add to the forces: the difference of two derivations."""
    mechanism = subject.mechanism
    if all(joint.motor is None for joint in mechanism.joints.values()):
        return lambda state: np.zeros(subject.eqs.nv)
    both = [derived(m, "recursive") for m in (mechanism, mechanism.without("motors"))]

    def added(state: dict[str, Floats]) -> Floats:
        with_, without = (s.value(s.drives, state) for s in both)
        return with_ - without

    return added


CHECKS = {
    "free fall on a slide": free_fall,
    "natural frequency": natural_frequency,
    "huge mass as ground": huge_mass,
    "kineto-static solution": kineto_static,
}


def known_motions(subject: Subject) -> Iterator[Check]:
    for name, check in CHECKS.items():
        changed = not subject.eqs.is_derived and check is not kineto_static
        try:
            if changed:
                raise NotHereError("it needs a derivation of another mechanism")
            yield check(subject)
        except LinkwrightError as error:
            yield Check(name, SKIPPED, error.what, f"a check of {PAPER}")
