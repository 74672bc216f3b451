"""Coordinates that depend on time: closed forms by hand, SymPy, and motions known otherwise."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy.physics import mechanics

import linkwright as lw
from linkwright.errors import LinkwrightError, MechanismError, UnsupportedError
from linkwright.mechanism import replace_part_fields
from tests.agreement.moving_mechanisms import CURVED, HOOP, SUPPORT, driven_disk, moving_four_bar
from tests.agreement.test_formulations import close, value
from tests.random_trees import KINDS, RandomTree, trees
from tests.references import sharp_edged_disk

EVERY = ["recursive", "lagrange", "hamilton", "newton_euler", "kane", "influence", "recurrent"]

# -- equations ------------------------------------------------------------------------------------

BY_HAND = {
    "hoop": (HOOP, """
        T = m*R^2*(dth^2 + Omega^2*cos(th)^2)/2
        V = -m*g*R*sin(th)
        H = m*R^2*(dth^2 - Omega^2*cos(th)^2)/2 - m*g*R*sin(th)
        p = m*R^2*dth
        dp = m*g*R*cos(th) - m*R^2*Omega^2*sin(th)*cos(th)
        m*R^2*ddth = m*g*R*cos(th) - m*R^2*Omega^2*sin(th)*cos(th)
    """),
    "support": (SUPPORT, """
        T = (m + mc)*(A*w*cos(w*t))^2/2 - m*l*A*w*cos(w*t)*sin(th)*dth + (J + m*l^2)*dth^2/2
        V = m*g*l*sin(th) + k*(A*sin(w*t))^2/2
        H = (J + m*l^2)*dth^2/2 - (m + mc)*(A*w*cos(w*t))^2/2 + V
        p = (J + m*l^2)*dth - m*l*A*w*cos(w*t)*sin(th)
        (J + m*l^2)*ddth + m*l*A*w^2*sin(w*t)*sin(th) + m*g*l*cos(th) + c*dth = tau1
    """),
}  # fmt: skip
"""Worked out by hand: T = T₂ + T₁ + T₀, H = T₂ − T₀ + V, p = M θ̇ + a."""


@pytest.mark.parametrize("name", list(BY_HAND))
def test_equations_are_those_by_hand(name: str) -> None:
    mechanism, text = BY_HAND[name]
    report = lw.check(mechanism, "\n".join(line.strip() for line in text.strip().splitlines()))
    assert report.passed, str(report)


def test_the_checker_knows_that_the_hamiltonian_is_not_the_energy() -> None:
    found = lw.check(HOOP, "E = T + V\nH = T + V").findings
    assert [one.status for one in found] == ["identical", "differs"]


@pytest.mark.parametrize("mechanism", [HOOP, SUPPORT, CURVED, moving_four_bar(), driven_disk()],
                         ids=lambda m: m.name)  # fmt: skip
def test_formulations_are_proved_to_agree(mechanism: lw.Mechanism) -> None:
    report = lw.verify(mechanism)
    assert report.passed, str(report)
    assert report["formulations agree"].verdict == "proved", str(report)
    assert "not compared" not in report["formulations agree"].figure
    assert report["power balance"].verdict == "proved"
    assert report["T = ½ q̇ᵀM q̇ + aᵀq̇ + T₀"].verdict == "proved"
    assert report["kineto-static solution"].verdict == "passed"


def test_driven_support_is_that_of_sympy_by_lagrange() -> None:
    th, t = mechanics.dynamicsymbols("th"), mechanics.dynamicsymbols._t
    m, mc, l, J, A, w, k, g = sp.symbols("m mc l J A w k g")
    x = A * sp.sin(w * t)
    X, Y = x + l * sp.cos(th), l * sp.sin(th)
    T = (mc * x.diff(t) ** 2 + m * (X.diff(t) ** 2 + Y.diff(t) ** 2) + J * th.diff(t) ** 2) / 2
    method = mechanics.LagrangesMethod(T - m * g * Y - k * x**2 / 2, [th])
    left = method.form_lagranges_equations()[0]
    q, v, a, at, ct = 0.3, -0.7, 1.1, 0.4, 0.02
    numbers = {name: float(number) for name, number in SUPPORT.values.items()}
    plain = left.subs({th.diff(t, 2): a}).subs({th.diff(t): v}).subs({th: q}).subs({t: at})
    wanted = float(plain.subs({s: numbers[s.name] for s in (m, mc, l, J, A, w, k, g)})) + ct * v
    for by in EVERY:
        eqs = lw.derive(SUPPORT, by=by, parameters="numeric")
        assert value(eqs, "inverse_dynamics", [q], [v], [a], at).item() == pytest.approx(
            wanted, rel=1e-12
        )


def test_hoop_is_that_of_sympy_by_kane() -> None:
    th, u = mechanics.dynamicsymbols("th u")
    m, R, Omega, g = sp.symbols("m R Omega g")
    N, t = mechanics.ReferenceFrame("N"), mechanics.dynamicsymbols._t
    B = N.orientnew("B", "Axis", [Omega * t, N.z])
    O, P = mechanics.Point("O"), mechanics.Point("P")
    O.set_vel(N, 0)
    P.set_pos(O, R * (sp.cos(th) * B.x - sp.sin(th) * B.z))
    P.set_vel(N, P.pos_from(O).dt(N).subs(th.diff(t), u))
    bead = mechanics.Particle("bead", P, m)
    method = mechanics.KanesMethod(N, q_ind=[th], u_ind=[u], kd_eqs=[u - th.diff(t)])
    method.kanes_equations([bead], [(P, -m * g * N.z)])
    rate = sp.simplify((method.mass_matrix.inv() * method.forcing)[0])
    numbers = {name: float(number) for name, number in HOOP.values.items()}
    for q, v in ((0.3, 0.2), (-1.1, 2.0)):
        known = {m: numbers["m"], R: numbers["R"], Omega: numbers["Omega"], g: numbers["g"]}
        wanted = float(rate.subs(known | {th: q, u: v, t: 0.7}))
        assert lw.compile(HOOP).forward_dynamics([q], [v], [0.0], 0.7)[0] == pytest.approx(
            wanted, rel=1e-12
        )


@pytest.mark.parametrize("by", [*EVERY, "multipliers"])
def test_driven_disk_is_the_one_with_a_drive(by: str) -> None:
    """Agrawal's disk: accelerations by hand, with β = ωt in the coordinates."""
    numbers = {k: float(v) for k, v in driven_disk().values.items()}
    disk = sharp_edged_disk.Disk(**numbers)
    eqs = lw.derive(driven_disk(), by=by, parameters="numeric")
    t, q, tau = 0.37, np.array([0.3, -0.2, 0.8]), np.array([0.4, -0.3, 0.2])
    whole = np.array([disk.omega * t, *q])
    v = sharp_edged_disk.rates(disk, whole, 0.7, -0.4)
    wanted = sharp_edged_disk.accelerations(disk, whole, v, np.array([0.0, *tau]))[1:]
    qdd = eqs.function_at_values("forward_dynamics")(q, v[1:], tau, t)[0]
    close(np.asarray(qdd).ravel(), wanted, "accelerations", 1e-10)


RATES = [kind for kind in KINDS if kind not in ("ball", "free")]


def rewritten(mechanism: lw.Mechanism, rng: np.random.Generator) -> tuple[lw.Mechanism, object]:
    """The mechanism in random coordinates p with q = f(p, t), and f as a function of CasADi."""
    variables = list(lw.derive(mechanism, parameters="numeric").names.q)
    n = len(variables)
    p, t = ca.SX.sym("p", n), ca.SX.sym("t")
    joints, f = {}, []
    for k, variable in enumerate(variables):
        j, (a, b, c) = int(rng.integers(n)), rng.uniform(-0.3, 0.3, 3).round(3)
        joints[variable] = f"p{k}*(1 + {a}*t) + {b}*sin(p{j} + 2*t) + {c}*t^2"
        f.append(p[k] * (1 + a * t) + b * ca.sin(p[j] + 2 * t) + c * t**2)
    coordinates = {"names": [f"p{k}" for k in range(n)], "joints": joints}
    return mechanism.model_copy(update={"coordinates": coordinates}), (p, t, ca.vertcat(*f))


@settings(max_examples=8, deadline=None)
@given(tree=trees(max_bodies=3, kinds=RATES), seed=st.integers(0, 1000))
def test_a_rewritten_mechanism_has_the_same_motion(tree: RandomTree, seed: int) -> None:
    """q̈ = G p̈ + Ġ ṗ + k̇ under the forces Gᵀτ is q̈ of the joints under τ, and T is the same."""
    rng = np.random.default_rng(seed)
    mechanism, (p, t, f) = rewritten(tree.mechanism, rng)
    new, old = (lw.derive(one, parameters="numeric") for one in (mechanism, tree.mechanism))
    n = old.nv
    v, a = ca.SX.sym("v", n), ca.SX.sym("a", n)
    G = ca.jacobian(f, p)
    rate = G @ v + ca.jacobian(f, t)
    second = ca.jtimes(rate, p, v) + ca.jacobian(rate, t) + G @ a
    at = ca.Function("f", [p, v, a, t], [f, G, rate, second])
    P, V, tau, now = *rng.uniform(-0.7, 0.7, (3, n)), rng.uniform(-1, 1)
    q, jacobian, qd, _ = (np.asarray(x, dtype=float) for x in at(P, V, 0, now))
    A = value(new, "forward_dynamics", P, V, jacobian.T @ tau, now)
    qdd = np.asarray(at(P, V, A, now)[3])
    condition = np.linalg.cond(value(old, "mass_matrix", q))
    tolerance = 1e-11 + 1e-13 * condition * np.linalg.cond(jacobian) ** 2
    close(qdd, value(old, "forward_dynamics", q, qd, tau), "accelerations", tolerance)
    T = value(old, "kinetic_energy", q, qd)
    close(value(new, "kinetic_energy", P, V, now), T, "T", 1e-11)
    close(value(new, "momentum", P, V, now), value(old, "momentum", q, qd), "momentum", 1e-11)


# -- compiled functions and motions ---------------------------------------------------------------


def test_momentum_and_energy_belong_to_the_parts_of_the_kinetic_energy() -> None:
    model = lw.compile(SUPPORT)
    q, v, t = np.array([0.3]), np.array([0.7]), 0.21
    T, T_0 = (model.kinetic_energy(q, x, t) for x in (v, 0 * v))
    a, M = model.transport_momentum(q, t), model.mass_matrix(q, t)
    assert pytest.approx(v @ M @ v / 2 + a @ v + T_0, rel=1e-13) == T
    h = model.jacobi_energy(q, v, t)
    assert h == pytest.approx(v @ M @ v / 2 - T_0 + model.potential_energy(q, t), rel=1e-13)
    d = model.transport(q, v, t)
    bias = model.coriolis_matrix(q, v, t) @ v + d + model.gravity(q, t) - model.forces(q, v, t)
    np.testing.assert_allclose(model.bias(q, v, t), bias, rtol=1e-13)


def test_frames_move_with_time() -> None:
    model, t, h = lw.compile(HOOP), 0.4, 1e-5
    q, v = np.array([0.3]), np.array([0.7])
    places = [model.placement("bead")(q + s * v, t + s)[:3, 0] for s in (-h, h)]
    found = model.frame_velocity("bead")(q, v, t)
    np.testing.assert_allclose(np.cross(found[:3], model.placement("bead")(q, t)[:3, 0]),
                               (places[1] - places[0]) / (2 * h), atol=1e-8)  # fmt: skip
    speeds = [model.frame_velocity("bead")(q + s * v, v, t + s) for s in (-h, h)]
    np.testing.assert_allclose(model.frame_bias_acceleration("bead")(q, v, t),
                               (speeds[1] - speeds[0]) / (2 * h), atol=1e-7)  # fmt: skip


@pytest.mark.parametrize("by", ["recursive", "hamilton", "newton_euler"])
def test_bead_keeps_its_hamiltonian_but_not_its_energy(by: str) -> None:
    run = lw.simulate(HOOP, 1.0, q0=[0.3], qd0=[0.2], by=by, rtol=1e-10, atol=1e-12)
    h = lw.compile(HOOP).jacobi_energy(run.q, run.qd, run.t)
    energy = run.kinetic + run.potential
    assert np.ptp(h) < 1e-8
    assert np.ptp(energy) > 0.1
    assert np.ptp(energy - run.work) < 1e-8
    np.testing.assert_allclose(run.momenta[:, 0], 0.2 * 0.09 * run.qd[:, 0], atol=1e-9)


SAME = {"rtol": 1e-10, "atol": 1e-12}


@pytest.mark.parametrize("by", ["recursive", "hamilton", "newton_euler", "kane"])
def test_a_turning_frame_shows_the_same_motion(by: str) -> None:
    """q1 = φ + Ωt: the elbow's motion, seen from a table that turns."""
    elbow = lw.gallery("elbow")
    turning = elbow.model_copy(update={
        "parameters": {**elbow.parameters, "Omega": 2}, "actuators": {},
        "coordinates": {"new": {"phi": "q1 - Omega*t", "q": "q2"}},
    })  # fmt: skip
    still = elbow.model_copy(update={"actuators": {}})
    one = lw.simulate(still, 0.8, q0=[0.3, 0.5], qd0=[1.0, -0.4], **SAME)
    other = lw.simulate(turning, 0.8, q0=[0.3, 0.5], qd0=[-1.0, -0.4], by=by, **SAME)
    np.testing.assert_allclose(other.q[:, 0] + 2 * other.t, one.q[:, 0], atol=2e-8)
    np.testing.assert_allclose(other.q[:, 1], one.q[:, 1], atol=2e-8)
    np.testing.assert_allclose(other.kinetic, one.kinetic, atol=1e-6)


@pytest.mark.parametrize(
    "how", [{"by": "hamilton"}, {"by": "newton_euler"}, {"coordinates": "minimal"}], ids=str
)
def test_a_loop_moves_as_in_plain_coordinates(how: dict[str, str]) -> None:
    """The four-bar in swinging coordinates: q3 of the joints is that of the gallery's own."""
    bar, moving = lw.gallery("four-bar"), moving_four_bar()
    start = lw.assemble(bar)
    q = lw.assemble(moving, {"theta1": start[0]}, ["theta1"])
    one = lw.simulate(bar, 0.3, q0=start, qd0={"theta1": 1.5}, **SAME)
    other = lw.simulate(moving, 0.3, q0=q, qd0={"theta1": 0.0}, **SAME, **how)
    assert other.closure.max() < 1e-10
    np.testing.assert_allclose(other.q[:, 0] + np.sin(3 * other.t) / 2, one.q[:, 0], atol=1e-7)
    np.testing.assert_allclose(other.kinetic, one.kinetic, atol=1e-6)


@pytest.mark.parametrize("integrator", ["midpoint", "variational"])
def test_implicit_steps_are_of_second_order(integrator: str) -> None:
    true = lw.simulate(SUPPORT, 0.5, q0=[0.3], **SAME).q[-1]
    errors = [
        np.abs(lw.simulate(SUPPORT, 0.5, q0=[0.3], integrator=integrator, step=h).q[-1] - true)[0]
        for h in (4e-3, 2e-3)
    ]
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.15)


def test_generalized_speeds_may_depend_on_time() -> None:
    """Kane's u = Y q̇ + Z with Z = −ωt: u̇ = 2 θ̈ − ω."""
    eqs = lw.derive(SUPPORT, by="kane", speeds={"u": "2*dth - w*t"}, parameters="numeric")
    state, s, now = eqs.state, eqs.symbols, (0.3, 0.7, 0.2)
    assert state is not None
    motion = [s["q"], s["qd"], s["t"]]
    x = ca.Function("x", motion, [state.from_motion()])(*now)
    rates = ca.Function("rates", [state.x, s["tau"], s["t"]], [state.rates()])(x, 0, now[2])
    (qdd,) = lw.compile(SUPPORT).forward_dynamics([now[0]], [now[1]], [0.0], now[2])
    np.testing.assert_allclose(np.asarray(rates).ravel(), [now[1], 2 * qdd - 12], rtol=1e-12)


def test_stiff_joints_follow_moving_coordinates() -> None:
    """The approximate formulation: with stiffer joints it comes nearer, as β says."""
    true = lw.compile(SUPPORT).forward_dynamics([0.3], [0.7], [0.0], 0.2)
    eqs = lw.derive(SUPPORT, by="approximate", parameters="numeric", iterations=6)
    found = eqs.function_at_values("forward_dynamics")([0.3], [0.7], [0.0], 0.2)
    assert float(found[0] if isinstance(found, tuple) else found) == pytest.approx(
        float(true[0]), rel=1e-6
    )


# -- fewer coordinates, and refusals --------------------------------------------------------------


def test_stops_in_moving_coordinates_are_refused() -> None:
    joints = {n: j.model_copy(update={"limits": {"lower": -1, "upper": 1}})
              for n, j in HOOP.joints.items()}  # fmt: skip
    limited = HOOP.model_copy(update={"joints": joints})
    with pytest.raises(UnsupportedError, match='depend on t; simulate with stops="ignore"'):
        lw.simulate(limited, 0.1)
    assert lw.simulate(limited, 0.1, stops="ignore").finished


def test_plans_in_moving_coordinates_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="coordinates that depend on t"):
        lw.motion.InverseKinematics(HOOP, {"bead": "point"})


@pytest.mark.parametrize(("coordinates", "what"), [
    ({"new": {"u": "turn - Omega*t"}}, "give as many, or give the joint variables as functions"),
    ({"names": ["t"], "joints": {"turn": "t", "theta": "t"}}, "'t' is taken"),
    ({"names": ["u"], "joints": {"turn": "u", "theta": "sin(s)"}}, "'s'"),
])  # fmt: skip
def test_wrong_coordinates_are_explained(coordinates: dict[str, object], what: str) -> None:
    with pytest.raises(MechanismError, match=what):
        replace_part_fields(HOOP, coordinates=coordinates)


def test_coordinates_that_move_nothing_are_refused() -> None:
    still = {"names": ["u", "s"], "joints": {"turn": "u + s", "theta": "t"}}
    with pytest.raises(LinkwrightError, match="do not determine the joint variables"):
        lw.derive(HOOP.model_copy(update={"coordinates": still}))
