"""Chosen coordinates: against hand formulas and printed equations, in all formulations alike."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.files import load
from linkwright.formulations import FORMULATIONS, formulation_module
from linkwright.writers import write_mechanism_text
from tests.agreement.test_formulations import EXACT, assert_agreement, close, value
from tests.agreement.test_loads import loaded
from tests.random_trees import KINDS, RandomTree, trees

HEAVY = {"I1": 0.02, "I2": 0.03, "I3": 0.04}


CHANGES = {
    "absolute": {"new": {"p1": "q1", "p2": "q1 + q2", "p3": "q1 + q2 + q3"}},
    "scaled": {"new": {"p1": "2*q1 + 0.3", "p2": "q3 - q1", "p3": "q2/3"}},
    "functions": {
        "names": ["p1", "p2", "p3"],
        "joints": {"q1": "p1 + 0.2*sin(p2)", "q2": "p2*(1 + 0.1*p3^2)", "q3": "p3 - 0.3*p1*p2"},
    },
}


def changed(how: str) -> lw.Mechanism:
    arm = lw.gallery("triple-pendulum").with_parameters(**HEAVY)
    joints = {
        name: joint.model_copy(update={
            "damping": 0.3, "stiffness": 2, "rest": 0.1, "motor": {"ratio": 5, "inertia": 0.01},
        })
        for name, joint in arm.joints.items()
    }  # fmt: skip
    twisted = joints["q2"].model_copy(update={"axis": [0.3, 0.2, 1]})
    return arm.model_copy(update={
        "coordinates": CHANGES[how], "actuators": {}, "joints": joints | {"q2": twisted},
        "bodies": {name: body.model_copy(update={"inertia": [0.1, 0.2, 0.3]})
                   for name, body in arm.bodies.items()},
    })  # fmt: skip


@pytest.mark.parametrize("how", list(CHANGES))
def test_coordinates_by_hand(how: str) -> None:
    """M_p = GᵀM G, τ_p = Gᵀτ, q̈ = G p̈ + Ġ ṗ, with G by differences of the functions given."""
    arm = changed(how)
    eqs = lw.derive(arm, parameters="numeric")
    plain = lw.derive(arm.model_copy(update={"coordinates": None}), parameters="numeric")
    tree = eqs.builders["momentum"].__self__.tree  # type: ignore[attr-defined]
    joint = ca.Function("q", [tree.motion.q], [tree.transfer.q])
    p, v, a = np.random.default_rng(0).uniform(-0.7, 0.7, (3, 3))

    def q_at(s: float) -> np.ndarray:
        return np.asarray(joint(p + s * v + s * s / 2 * a)).ravel()

    h = 1e-4
    q, qd = q_at(0), (q_at(h) - q_at(-h)) / (2 * h)
    qdd = (q_at(h) - 2 * q_at(0) + q_at(-h)) / h**2
    G = np.array([(np.asarray(joint(p + h * e)) - np.asarray(joint(p - h * e))).ravel() / (2 * h)
                  for e in np.eye(3)]).T  # fmt: skip
    close(value(eqs, "mass_matrix", p), G.T @ value(plain, "mass_matrix", q) @ G, "M", 1e-7)
    tau = value(plain, "inverse_dynamics", q, qd, qdd).ravel()
    close(value(eqs, "inverse_dynamics", p, v, a).ravel(), G.T @ tau, "τ", 1e-6)
    close(value(eqs, "kinetic_energy", p, v), value(plain, "kinetic_energy", q, qd), "T", 1e-7)


@pytest.mark.parametrize("how", list(CHANGES))
@pytest.mark.parametrize("by", EXACT)
def test_coordinates_in_all_formulations(by: str, how: str) -> None:
    for seed in range(2):
        assert_agreement(changed(how), by, seed)


RATES = [kind for kind in KINDS if kind not in ("ball", "free")]


def curved(mechanism: lw.Mechanism, rng: np.random.Generator) -> lw.Mechanism:
    """Joint variables as random functions of as many new coordinates."""
    variables = list(lw.derive(mechanism, parameters="numeric").names.q)
    names = [f"p{k}" for k in range(len(variables))]
    joints = {}
    for k, variable in enumerate(variables):
        other, (a, b) = names[int(rng.integers(len(names)))], rng.uniform(-0.3, 0.3, 2).round(3)
        joints[variable] = f"{names[k]} + {a}*sin({other}) + {b}*{names[k - 1]}^2/2"
    return mechanism.model_copy(update={"coordinates": {"names": names, "joints": joints}})


@pytest.mark.slow
@pytest.mark.parametrize("by", EXACT)
@settings(max_examples=6, deadline=None)
@given(tree=trees(max_bodies=3, kinds=RATES), seed=st.integers(0, 1000))
def test_random_coordinates_with_loads(by: str, tree: RandomTree, seed: int) -> None:
    rng = np.random.default_rng(seed)
    mechanism = curved(loaded(tree.mechanism, rng), rng)
    if formulation_module(by).supports(mechanism) is None:
        assert_agreement(mechanism, by, seed)


@settings(max_examples=10, deadline=None)
@given(tree=trees(max_bodies=3, kinds=RATES), seed=st.integers(0, 1000))
def test_power_balance_in_random_coordinates(tree: RandomTree, seed: int) -> None:
    """τ·ṗ + losses = d(T + V)/dt."""
    rng = np.random.default_rng(seed)
    mechanism = curved(loaded(tree.mechanism, rng), rng)
    eqs = lw.derive(mechanism, parameters="numeric")
    p, v, a = rng.uniform(-0.7, 0.7, (3, eqs.nv))
    P, V = eqs.symbols["q"], eqs.symbols["qd"]
    (T,), (U,) = eqs.expressions("kinetic_energy"), eqs.expressions("potential_energy")
    rate = ca.jtimes(T + U, ca.vertcat(P, V), ca.vertcat(V, eqs.symbols["qdd"]))
    energy = float(ca.Function("E", [P, V, eqs.symbols["qdd"]], [rate])(p, v, a))
    springs = ca.gradient(U, P) - eqs.g
    lost = ca.Function("f", [P, V], [ca.dot(eqs.f + springs, V)])
    power = value(eqs, "inverse_dynamics", p, v, a).ravel() @ v + float(lost(p, v))
    assert power == pytest.approx(energy, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("how", list(CHANGES))
def test_other_functions_in_chosen_coordinates(how: str) -> None:
    """Derivatives, regressors, frames, and Ṁ − 2C."""
    eqs = lw.derive(changed(how), parameters="numeric")
    rng = np.random.default_rng(0)
    p, v, a = rng.uniform(-0.7, 0.7, (3, 3))
    h = 1e-6
    by_p, by_v, _ = (np.asarray(x) for x in eqs.function("inverse_dynamics_derivatives")(p, v, a))
    for k, e in enumerate(np.eye(3)):
        up, down = (value(eqs, "inverse_dynamics", p + s * h * e, v, a) for s in (1, -1))
        close(by_p[:, k], ((up - down) / (2 * h)).ravel(), "∂τ/∂p", 1e-6)
        up, down = (value(eqs, "inverse_dynamics", p, v + s * h * e, a) for s in (1, -1))
        close(by_v[:, k], ((up - down) / (2 * h)).ravel(), "∂τ/∂ṗ", 1e-6)
    M_rate = (value(eqs, "mass_matrix", p + h * v) - value(eqs, "mass_matrix", p - h * v)) / (2 * h)
    N = M_rate - 2 * value(eqs, "coriolis_matrix", p, v)
    np.testing.assert_allclose(N, -N.T, atol=1e-6)
    plain = lw.derive(changed(how).without("motors", "springs", "damping"), parameters="numeric")
    pi = np.asarray(ca.Function("pi", [], [plain.inertial_parameters])()["o0"]).ravel()
    Y = value(plain, "regressor", p, v, a)
    close(Y @ pi, value(plain, "inverse_dynamics", p, v, a).ravel(), "regressor")
    w, wd = rng.uniform(-1, 1, (2, 3))
    Phi = value(plain, "control_regressor", p, v, w, wd)
    wanted = value(plain, "mass_matrix", p) @ wd + value(plain, "coriolis_matrix", p, v) @ w
    close(Phi @ pi, wanted + value(plain, "gravity", p).ravel(), "control regressor")
    J = np.asarray(eqs.function("jacobian", "tip")(p))
    close(np.asarray(eqs.function("frame_velocity", "tip")(p, v)).ravel(), J @ v, "velocity")


def test_the_remotely_driven_elbow() -> None:
    """Spong and Vidyasagar, example 6.4.3: d12 = m2 l1 lc2 cos(p2 − p1), d22 = m2 lc2² + I2."""
    model = lw.compile(lw.gallery("remote-elbow"))
    assert model.q_names == ("p1", "p2")
    p, v = np.array([0.4, 1.3]), np.array([0.7, -0.2])
    d12 = 0.5 * np.cos(p[1] - p[0])
    wanted = [[0.25 + 1 + 1 / 12, d12], [d12, 0.25 + 1 / 12]]
    np.testing.assert_allclose(model.mass_matrix(p), wanted, rtol=1e-14)
    g = 9.81 * np.array([1.5 * np.cos(p[0]), 0.5 * np.cos(p[1])])
    np.testing.assert_allclose(model.gravity(p), g, rtol=1e-14)
    s = -0.5 * np.sin(p[1] - p[0])  # c_221 = −m2 l1 lc2 sin(p2 − p1), c_112 = +
    np.testing.assert_allclose(model.bias(p, v) - g, [s * v[1] ** 2, -s * v[0] ** 2], rtol=1e-12)


def test_the_triple_pendulum_as_printed() -> None:
    """Bayseç and Kapucu (56)–(58), where (58) has lost an l3 before Cos(θ2 − θ3), and the drives."""
    m, l, g = 1.0, 1.0, 9.81
    arm = lw.gallery("triple-pendulum").with_parameters(**HEAVY)
    model = lw.compile(arm)
    th, dth = np.array([0.3, -0.7, 1.1]), np.array([0.5, -0.2, 0.8])
    c, s = (lambda i, j: np.cos(th[i] - th[j])), (lambda i, j: np.sin(th[i] - th[j]))
    M = np.array([
        [3 * m * l**2 + HEAVY["I1"], 2 * m * l**2 * c(0, 1), m * l**2 * c(0, 2)],
        [2 * m * l**2 * c(0, 1), 2 * m * l**2 + HEAVY["I2"], m * l**2 * c(1, 2)],
        [m * l**2 * c(0, 2), m * l**2 * c(1, 2), m * l**2 + HEAVY["I3"]],
    ])  # fmt: skip
    np.testing.assert_allclose(model.mass_matrix(th), M, rtol=1e-13)
    right = np.array([
        -2 * dth[1] ** 2 * s(0, 1) - dth[2] ** 2 * s(0, 2) - 3 * g * np.cos(th[0]),
        2 * dth[0] ** 2 * s(0, 1) - dth[2] ** 2 * s(1, 2) - 2 * g * np.cos(th[1]),
        dth[0] ** 2 * s(0, 2) + dth[1] ** 2 * s(1, 2) - g * np.cos(th[2]),
    ])  # fmt: skip
    np.testing.assert_allclose(model.bias(th, dth), -right, rtol=1e-12)
    np.testing.assert_array_equal(model.input_matrix(th), [[1, -1, 0], [0, 1, -1], [0, 0, 1]])


def test_the_triple_pendulum_moves_as_published() -> None:
    """Angles of the reference after 1 s and 1.7 s, from rest with all links horizontal."""
    from scipy.integrate import solve_ivp

    model = lw.compile(lw.gallery("triple-pendulum").with_parameters(I1=0, I2=0, I3=0))
    run = solve_ivp(
        lambda t, x: np.concatenate([x[3:], model.forward_dynamics(x[:3], x[3:], np.zeros(3))]),
        (0, 1.7), np.zeros(6), method="DOP853", rtol=1e-12, atol=1e-13, t_eval=[1.0, 1.7],
    )  # fmt: skip
    wanted = [
        [-1.712889431890, -1.734778857568, -2.430988777792],
        [-3.302345005463, -3.066737664237, -2.709559652438],
    ]
    np.testing.assert_allclose(run.y[:3].T, wanted, atol=2e-9)


def test_the_papers_seven_coordinates() -> None:
    """θ1, θ2, θ3, and the mass centres of links 2 and 3 in the plane (66): 14 states."""
    arm = lw.gallery("triple-pendulum").with_parameters(**HEAVY)
    state = lw.derive(arm, by="approximate").state
    assert state is not None
    assert state.names[:7] == (
        "theta1", "theta2", "theta3", "x_link2", "y_link2", "x_link3", "y_link3",
    )  # fmt: skip
    assert len(state.names) == 14


def test_effective_stiffness_and_damping() -> None:
    """K* of a spring at the tip against differences of its load; C* against those of the speed."""
    arm = loaded(lw.gallery("elbow"), np.random.default_rng(0)).without("friction")
    eqs = lw.derive(arm, by="influence", parameters="numeric")
    q, v = np.array([0.3, 0.8]), np.array([0.2, -0.4])
    symbols = [eqs.symbols["q"], eqs.symbols["qd"]]
    K, C = (
        np.asarray(ca.Function("K", symbols, [eqs.extra(name)])(q, v))
        for name in ("effective_stiffness", "effective_damping")
    )
    h = 1e-6
    for k, e in enumerate(np.eye(2)):
        slope = value(eqs, "passive", q - h * e, 0 * v) - value(eqs, "passive", q + h * e, 0 * v)
        close(K[:, k], slope.ravel() / (2 * h), "K*", 1e-7)
        slope = value(eqs, "passive", q, v - e) - value(eqs, "passive", q, v + e)
        close(C[:, k], slope.ravel() / 2, "C*", 1e-9)


@pytest.mark.parametrize("name", ["triple-pendulum", "remote-elbow"])
def test_files_keep_coordinates_and_actuators(name: str) -> None:
    arm = lw.gallery(name)
    assert load(write_mechanism_text(arm, "toml")[0]) == arm
    rich = loaded(arm, np.random.default_rng(0))
    assert load(write_mechanism_text(rich, "toml")[0]) == rich


@pytest.mark.parametrize(
    ("coordinates", "what"),
    [
        ({"new": {"p1": "q1"}}, "1 coordinates for 2 joint variables"),
        ({"new": {"p1": "q1", "p2": "q7"}}, "uses 'q7'"),
        ({"new": {"p1": "q1", "m1": "q2"}}, "is a parameter and a new coordinate"),
        ({"names": ["a", "b"], "joints": {"q1": "a"}}, "'q2' is not given"),
        ({"names": ["a", "b"], "joints": {"q1": "a", "q2": "b", "q3": "a"}}, "'q3' is not a joint"),
        ({"joints": {"q1": "a", "q2": "b"}}, "names go with joints"),
        ({}, "both or neither"),
    ],
)
def test_mistakes_in_coordinates(coordinates: dict, what: str) -> None:
    with pytest.raises(LinkwrightError, match=what):
        lw.gallery("elbow").model_copy(update={"coordinates": coordinates})


@pytest.mark.parametrize(
    "coordinates",
    [
        {"new": {"x": "q1", "y": "2*q1"}},
        {"new": {"x": "1", "y": "q2"}},
        {"names": ["x", "y"], "joints": {"q1": "x", "q2": "x"}},
    ],
)
def test_coordinates_must_determine_the_joints(coordinates: dict) -> None:
    arm = lw.gallery("elbow").model_copy(update={"coordinates": coordinates})
    with pytest.raises(UnsupportedError, match="do not determine the joint variables"):
        lw.compile(arm)


@pytest.mark.parametrize("name", ["t", "dq1", "dy"])
def test_names_of_coordinates_that_mean_something_else(name: str) -> None:
    with pytest.raises(LinkwrightError, match=f"'{name}' is taken"):
        lw.gallery("elbow").model_copy(update={"coordinates": {"new": {name: "q1", "y": "q2"}}})


def test_neutral_is_where_the_joints_are_zero() -> None:
    arm = lw.gallery("elbow").model_copy(
        update={"coordinates": {"new": {"x": "q1 + l1", "y": "l1*q2"}}}
    )
    for kept in ([], ["l1"]):
        np.testing.assert_array_equal(lw.compile(arm, parameters=kept).neutral(), [1, 0])


def test_new_coordinates_must_be_affine() -> None:
    arm = lw.gallery("elbow").model_copy(
        update={"coordinates": {"new": {"x": "l1*cos(q1)", "y": "l1*sin(q1) + q2"}}}
    )
    with pytest.raises(UnsupportedError, match="not affine"):
        lw.compile(arm)


def test_all_formulations_are_listed() -> None:
    assert set(FORMULATIONS) == {
        "recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence", "recurrent",
        "approximate", "multipliers",
    }  # fmt: skip
