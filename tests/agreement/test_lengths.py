"""Forces along named lengths against formulas by hand, in all formulations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwright as lw
from linkwright.errors import LinkwrightError, MechanismError
from linkwright.types import Floats
from linkwright.writers.toml_writer import write_toml

ARM = """
[parameters]
k = 3
L0 = 1.1
c = 0.1

[bodies.a]
mass = 1
inertia = [1, 1, 1]
[bodies.b]
mass = 2
center = [0.4, 0, 0]
inertia = [1, 1, 1]

[joints.q1]
type = "revolute"
child = "a"
[joints.q2]
type = "revolute"
parent = "a"
child = "b"
origin = [1, 0, 0]

[frames.anchor]
body = "ground"
origin = [0, 2, 0]
[frames.eye]
body = "a"
origin = [0.9, 0.1, 0]
[frames.tip]
body = "b"
origin = [1, 0, 0]

[lengths.rope]
path = ["anchor", "eye", "tip"]
force = "k*(L - L0)^3 + c*Ldot"
[lengths.sum]
factors = { q1 = 1, q2 = -0.5, rope = 0.3 }
stiffness = 3
damping = 0.2
friction = 0.4
rest = [0.1, 0.2]

[forces.pull]
type = "length"
along = "sum"
force = "2*rope*q1"
[actuators.winch]
moves = "rope"
"""
Q, QD = np.array([0.3, 0.4]), np.array([0.5, -0.2])


def lengths_by_hand(q: Floats) -> Floats:
    """The rope over the eye, and the combination, from the geometry of the arm."""
    one, both = q[0], q[0] + q[1]
    eye = np.array([0.9 * np.cos(one) - 0.1 * np.sin(one), 0.9 * np.sin(one) + 0.1 * np.cos(one)])
    tip = np.array([np.cos(one) + np.cos(both), np.sin(one) + np.sin(both)])
    rope = np.hypot(*(eye - [0, 2])) + np.hypot(*(tip - eye))
    return np.array([rope, q[0] - 0.5 * q[1] + 0.3 * rope])


def jacobian_by_differences(q: Floats) -> Floats:
    """∂L/∂q by complex-free central differences of fourth order, errors about 1e-12."""
    h = 1e-3
    columns = []
    for d in np.eye(2):
        f = [lengths_by_hand(q + s * h * d) for s in (-2, -1, 1, 2)]
        columns.append((f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h))
    return np.array(columns).T


J = jacobian_by_differences(Q)


def passive_by_hand() -> Floats:
    """−Jᵀ T with the tensions of the law and of spring, damper and friction."""
    L, rate = lengths_by_hand(Q), J @ QD
    law = 3 * (L[0] - 1.1) ** 3 + 0.1 * rate[0]
    slack = max(0, L[1] - 0.2) + min(0, L[1] - 0.1)
    return -J.T @ np.array([law, 3 * slack + 0.2 * rate[1] + 0.4 * np.sign(rate[1])])


@pytest.mark.parametrize(
    "by", ["recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence", "recurrent"]
)
def test_forces_along_lengths_in_all_formulations(by: str) -> None:
    functions = lw.derive(lw.load(ARM), by=by, parameters="numeric").functions()
    external = -J[1] * 2 * lengths_by_hand(Q)[0] * Q[0]
    assert_allclose(np.array(functions["passive"](Q, QD)).ravel(), passive_by_hand(), rtol=1e-9)
    assert_allclose(np.array(functions["external"](Q, QD)).ravel(), external, rtol=1e-9)
    bare = lw.compile(lw.load(ARM).without("forces", "springs", "damping", "friction"))
    qdd = [0.1, 0.2]
    wanted = bare.inverse_dynamics(Q, QD, qdd) - passive_by_hand() - external
    assert_allclose(np.array(functions["inverse_dynamics"](Q, QD, qdd)).ravel(), wanted, rtol=1e-9)


@pytest.mark.parametrize(
    "by", ["recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence", "recurrent"]
)
def test_armature_adds_its_inertia_in_all_formulations(by: str) -> None:
    """M gains a c cᵀ; forces, accelerations and energies follow."""
    c, armature, qdd = np.array([2, -1]), 0.7, [0.1, 0.2]
    more = "\n[lengths.pair]\nfactors = { q1 = 2, q2 = -1 }\narmature = 0.7\n"
    heavy = lw.derive(lw.load(ARM + more), by=by, parameters="numeric").functions()
    plain = lw.compile(lw.load(ARM))
    wanted = plain.mass_matrix(Q) + armature * np.outer(c, c)
    assert_allclose(np.array(heavy["mass_matrix"](Q)), wanted, rtol=1e-12)
    force = plain.inverse_dynamics(Q, QD, qdd) + armature * c * (c @ qdd)
    assert_allclose(np.array(heavy["inverse_dynamics"](Q, QD, qdd)).ravel(), force, rtol=1e-12)
    found = heavy["forward_dynamics"](Q, QD, force)
    assert_allclose(np.array(found).ravel(), qdd, rtol=1e-10)
    energy = float(plain.kinetic_energy(Q, QD)) + armature * float(c @ QD) ** 2 / 2
    assert_allclose(float(heavy["kinetic_energy"](Q, QD)), energy, rtol=1e-12)


def test_verify_passes_with_lengths() -> None:
    more = "\n[lengths.pair]\nfactors = { q1 = 2, q2 = -1 }\narmature = 0.7\n"
    assert lw.verify(lw.load(ARM + more)).passed


def test_actuators_drive_lengths_and_laws_have_potentials() -> None:
    model = lw.compile(lw.load(ARM))
    assert_allclose(model.input_matrix(Q).ravel(), J[0], rtol=1e-9)
    h = 1e-6
    rise = [
        (model.potential_energy(Q + h * d) - model.potential_energy(Q - h * d)) / (2 * h)
        for d in np.eye(2)
    ]
    assert_allclose(rise, model.gravity(Q) - model.passive(Q, 0 * Q), rtol=1e-6)


def test_energy_gives_the_same_force_as_its_derivative() -> None:
    law = 'force = "k*(L - L0)^3 + c*Ldot"'
    energy = ARM.replace(law, 'energy = "k*(L - L0)^4/4"\nforce = "c*Ldot"')
    one, other = lw.compile(lw.load(ARM)), lw.compile(lw.load(energy))
    assert_allclose(one.passive(Q, QD), other.passive(Q, QD), rtol=1e-12)
    rise = [m.potential_energy(Q) - m.potential_energy(0 * Q) for m in (one, other)]
    assert_allclose(*rise, rtol=1e-12)


STRUT = """
[parameters]
k = 40
L0 = 0.8
c = 0.5
m = 1
b = 0.5
Iy = 0.1
[bodies.rod]
mass = "m"
inertia = [0.1, "Iy", 0.1]
[joints.q]
type = "revolute"
child = "rod"
axis = [0, 1, 0]
[frames.tip]
body = "rod"
origin = ["b", 0, 0]
[frames.hook]
body = "ground"
origin = [0, 0, 1]
[lengths.strut]
path = ["hook", "tip"]
force = "k*(L - L0)^3 + c*Ldot"
"""


def test_spring_along_a_path_of_two_points_is_a_spring() -> None:
    """The same forces and the same equations as a force element between the points."""
    spring = "stiffness = 50\ndamping = 2\n"
    head = STRUT[: STRUT.index("[lengths")]
    one = lw.load(f'{head}[lengths.s]\npath = ["hook", "tip"]\nrest = 0.7\n{spring}')
    ends = '[forces.s]\ntype = "spring"\nbetween = ["hook", "tip"]\nlength = 0.7\n'
    two = lw.load(head + ends + spring)
    forms = [str(lw.derive(x, by="lagrange").closed_form("f")) for x in (one, two)]
    assert forms[0] == forms[1]
    assert "L1'" in forms[0]


def test_checker_proves_an_own_law_and_finds_its_mistake() -> None:
    """Written by hand: L² = 1 + b² + 2 b sin q, L̇ = b cos(q) q̇/L, f = −T b cos(q)/L; the hook is
    1 m above the joint, and an equation that has this number in it is right for it only."""
    root = "sqrt(1 + 2*b*sin(q) + b^2)"
    law = f"(k*({root} - L0)^3 + c*b*cos(q)*dq/{root})*b*cos(q)/{root}"
    right = lw.check(lw.load(STRUT), f"Iy*ddq = tau_q - {law}")
    assert "identical where z_hook = 1, proved" in str(right)
    wrong = lw.check(lw.load(STRUT), f"Iy*ddq = tau_q - {law}".replace("L0)^3", "L0)^2"))
    assert "differs" in str(wrong)


def test_verify_proves_the_potential_of_a_law() -> None:
    """1/24 and the like are numbers in the proof, not symbols that may have any value."""
    report = lw.verify(lw.load(STRUT))
    assert report.passed
    proof = next(check for check in report.checks if check.name == "g = ∂V/∂q")
    assert "proved" in str(proof)


def test_closed_form_and_file_keep_lengths() -> None:
    arm = lw.load(ARM)
    assert lw.load(write_toml(arm)) == arm
    short = lw.load(
        """
        bodies.a = { mass = 1 }
        joints.x = { type = "prismatic", child = "a", axis = [1, 0, 0] }
        joints.y = { type = "prismatic", child = "b", axis = [1, 0, 0] }
        bodies.b = { mass = 1 }
        parameters.k = 2
        lengths.d = { factors = { x = 1, y = -1 }, force = "k*L^3" }
        """
    )
    assert str(lw.derive(short, by="lagrange").closed_form("f")).splitlines()[0].startswith("f[1]")
    model = lw.compile(short)
    assert_allclose(model.passive([0.5, 0.2], [0, 0]), [-2 * 0.3**3, 2 * 0.3**3], rtol=1e-12)


ATWOOD = """
bodies.heavy = { mass = 3 }
bodies.light = { mass = 1 }
frames.left = { body = "ground", origin = [-1, 0, 2] }
frames.right = { body = "ground", origin = [1, 0, 2] }
joints.z1 = { type = "prismatic", child = "heavy", origin = [-1, 0, 0] }
joints.z2 = { type = "prismatic", child = "light", origin = [1, 0, 0] }
lengths.rope = { path = ["heavy", "left", "right", "light"] }
constraints.tied = { type = "length", length = "rope", coefficients = [6] }
"""


@pytest.mark.parametrize(
    "by", ["recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence", "multipliers"]
)
def test_constrained_length_is_atwoods_machine(by: str) -> None:
    """q̈ = ∓g/2 and the tension 2 g m₁ m₂/(m₁ + m₂); the rope pulls down, so λ < 0."""
    functions = lw.derive(lw.load(ATWOOD), by=by, parameters="numeric").functions()
    rest = [0, 0], [0, 0], [0, 0]
    qdd, _ = functions["forward_dynamics"](*rest)
    tension, _ = functions["multipliers"](*rest)
    assert_allclose(np.array(qdd).ravel(), [-9.81 / 2, 9.81 / 2], rtol=1e-12)
    assert_allclose(np.array(tension).ravel(), [-2 * 9.81 * 3 / 4], rtol=1e-12)


def test_pulleys_hang_from_the_frames_not_from_the_joints() -> None:
    """The rope carries the weights: the joints of the masses carry nothing."""
    model = lw.compile(lw.load(ATWOOD))
    assert_allclose(model.reactions([0, 0], [0, 0], [0, 0]), 0, atol=1e-13)


def test_length_follows_another() -> None:
    """A differential: x = 0.1 + 2 y + 3 y² holds after assembly."""
    text = """
    bodies.a = { mass = 1 }
    bodies.b = { mass = 2 }
    joints.x = { type = "prismatic", child = "a", axis = [1, 0, 0] }
    joints.y = { type = "prismatic", child = "b", axis = [1, 0, 0] }
    lengths.one = { factors = { x = 1 } }
    lengths.two = { factors = { y = 1 } }
    constraints.c = { type = "length", length = "one", other = "two", coefficients = [0.1, 2, 3] }
    assembly.y = 0.2
    """
    model = lw.compile(lw.load(text))
    x, y = model.home()
    assert_allclose(x, 0.1 + 2 * y + 3 * y**2, rtol=1e-12)
    slope = 2 + 6 * y
    qdd, _ = model.forward_dynamics([x, y], [0, 0], [1.0, 0.0]), None
    assert_allclose(qdd, np.array([slope, 1]) * slope / (2 + slope**2), rtol=1e-10)


def test_locked_and_mimicking_joints_keep_their_share() -> None:
    """A joint that is locked adds a constant, one that mimics another adds to its leader's."""
    locked = lw.compile(lw.load(ARM.replace("2*rope*q1", "rope")).reduced(lock={"q2": 0.4}))
    q, qd = Q[:1], QD[:1]
    both = lw.compile(lw.load(ARM.replace("2*rope*q1", "rope")))
    wanted = both.passive(Q, [QD[0], 0])[0]
    assert_allclose(locked.passive(q, qd), [wanted], rtol=1e-12)
    mimic = ARM.replace(
        "origin = [1, 0, 0]\n\n[frames.anchor]",
        'origin = [1, 0, 0]\n\
mimic = { joint = "q1", multiplier = 2 }\n\n[frames.anchor]',
    )
    follower = lw.compile(lw.load(mimic.replace("2*rope*q1", "rope")))
    forces = both.passive([0.3, 0.6], [0.5, 1.0])
    assert_allclose(follower.passive([0.3], [0.5]), [forces[0] + 2 * forces[1]], rtol=1e-12)


@pytest.mark.parametrize(
    ("length", "message"),
    [
        ("{}", "has neither of path and factors"),
        ('{ path = ["a"] }', "has one point"),
        ('{ path = ["a", "a"] }', "stands twice in a row"),
        ('{ path = ["a", "c"] }', "'c'"),
        ("{ factors = { z = 1 } }", "'z'"),
        ("{ factors = { x = 0 } }", "is zero"),
        ('{ path = ["ground", "a"], force = "k*L" }', "uses 'k'"),
        ('{ path = ["ground", "a"], energy = "Ldot" }', "uses 'Ldot'"),
        ('{ path = ["ground", "a"], stiffness = "2 kg" }', "kg"),
        ("{ factors = { x = 1 }, rest = [2, 1] }", "is above the upper limit"),
        ("{ factors = { x = 1 }, rest = [2, 1, 3] }", "has 3 numbers"),
    ],
)
def test_wrong_lengths_are_refused(length: str, message: str) -> None:
    text = f"""
    bodies.a = {{ mass = 1 }}
    joints.x = {{ type = "prismatic", child = "a", axis = [1, 0, 0] }}
    lengths.d = {length}
    """
    with pytest.raises(MechanismError, match=message):
        lw.load(text)


def test_names_of_lengths_are_their_own() -> None:
    base = """
    bodies.a = { mass = 1 }
    joints.x = { type = "prismatic", child = "a", axis = [1, 0, 0] }
    """
    with pytest.raises(LinkwrightError, match="'x' is a coordinate too"):
        lw.load(base + "lengths.x = { factors = { x = 1 } }")
    with pytest.raises(LinkwrightError, match="is a parameter and the length 'd'"):
        lw.load(base + "parameters.d = 1\nlengths.d = { factors = { x = 1 } }")
    with pytest.raises(LinkwrightError, match="'L' is a parameter"):
        lw.load(base + 'parameters.L = 1\nlengths.d = { factors = { x = 1 }, force = "L" }')


def test_plans_say_which_lengths_leave_their_ranges() -> None:
    """Along the move of q from 0 to 0.5, L² = 1.25 + sin(q) grows from 1.118 to 1.315."""
    limited = lw.load(STRUT.replace('force = "k', 'limits = { upper = 1.2 }\nforce = "k'))
    move = lw.motion.quintic([0.0], [0.5], 1.0)
    plan = lw.motion.planned(limited, "tip", move, samples=11)
    assert plan.exceeded == (
        "the length strut goes from 1.118 to 1.3151, its range is -inf to 1.2",
    )
    assert lw.motion.planned(lw.load(STRUT), "tip", move, samples=11).exceeded == ()
