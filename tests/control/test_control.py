"""Controllers against closed forms: linear errors, energies that must fall, sampled integrators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson

import linkwright as lw
from linkwright.control import (
    adaptive,
    computed_torque,
    coordinated,
    operational,
    pd_gravity,
    pid,
)
from linkwright.errors import LinkwrightError, UnsupportedError
from linkwright.formulations.influence.coordinate_transfer import (
    dynamics_at_instant,
    frame_influence,
)
from linkwright.formulations.influence.coordinate_transfer import (
    operational_dynamics as at_the_hand,
)
from linkwright.motion import quintic
from linkwright.simulation import load_run

ELBOW = lw.gallery("elbow")
SIX = lw.gallery("six-axis").without("friction")
MASS = lw.Mechanism(
    name="mass", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
    joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b"}},
)  # fmt: skip
PENDULUM = lw.Mechanism(
    name="pendulum", gravity=[0, "-9.81", 0], parameters={"m": 1},
    bodies={"rod": {"mass": "m", "center": [1, 0, 0]}},
    joints={"q": {"type": "revolute", "child": "rod", "damping": 2}},
)  # fmt: skip


TWICE = lw.Mechanism.model_validate(
    ELBOW.model_dump(exclude_unset=True)
    | {"actuators": {"a": {"moves": "q1"}, "b": {"moves": "2 * q1"}}}
)
"""Two actuators, and nothing that moves q2."""


@pytest.mark.parametrize("arm", [ELBOW, SIX], ids=lambda arm: arm.name)
def test_computed_torque_has_linear_errors(arm: lw.Mechanism) -> None:
    """ë + 2ω ė + ω² e = 0 in every joint: e = e₀ (1 + ωt) exp(−ωt), along a moving reference."""
    n, w = len(arm.joints), 8.0
    wanted = quintic(np.zeros(n), np.linspace(0.5, 1, n), 1.0)
    off = np.linspace(-0.2, 0.3, n)
    run = lw.simulate(arm, 1.5, q0=off, torque=computed_torque(arm, wanted, w**2), samples=61)
    error = off * ((1 + w * run.t) * np.exp(-w * run.t))[:, None]
    np.testing.assert_allclose(run.q, wanted(run.t)[0] + error, atol=1e-8)
    assert run.audit < 1e-7


@pytest.mark.parametrize("arm", [ELBOW, SIX], ids=lambda arm: arm.name)
def test_pd_with_gravity_rests_at_the_set_point(arm: lw.Mechanism) -> None:
    """T + ½ eᵀ kp e never rises, whatever the masses do, and ends at nothing."""
    n = len(arm.joints)
    goal, kp, kd = np.linspace(0.4, -0.6, n), np.full(n, 300.0), np.full(n, 60.0)
    law = pd_gravity(arm, goal, kp, kd)
    run = lw.simulate(arm, 8.0, torque=law, integrator="radau", rtol=1e-8, samples=401)
    energy = run.kinetic + ((run.q - goal) ** 2 * kp).sum(axis=1) / 2
    assert (np.diff(energy) < 1e-7 * energy[0]).all()
    np.testing.assert_allclose(run.q[-1], goal, atol=1e-5)
    assert energy[-1] < 1e-6 * energy[0]


def test_pid_removes_what_a_wrong_mass_leaves() -> None:
    """P and D sag until kp e = m g cos q; the integral takes the rest, without knowing m."""
    heavy = PENDULUM.with_parameters(m=2.5)
    sagging = lw.simulate(heavy, 20.0, torque=pid(PENDULUM, [0.3], 200, 0, 60), rtol=1e-8)
    error = 0.3 - sagging.q[-1, 0]
    assert 200 * error == pytest.approx(2.5 * 9.81 * np.cos(sagging.q[-1, 0]), rel=1e-6)
    steady = lw.simulate(heavy, 20.0, torque=pid(PENDULUM, [0.3], 200, 300, 60), rtol=1e-8)
    assert abs(0.3 - steady.q[-1, 0]) < 1e-6
    held = 300 * steady.control["integral_q"][-1]
    assert held == pytest.approx(2.5 * 9.81 * np.cos(0.3), rel=1e-5)


def test_adaptive_control_learns(tmp_path: Path) -> None:
    """V = ½ sᵀMs + ½ |π̂ − π|²/Γ falls by ∫ sᵀKs exactly; the error goes to 0 with wrong masses."""
    model, rate, slope, gain = lw.compile(ELBOW), 20.0, 6.0, 12.0

    def wanted(t: float | np.ndarray) -> tuple[np.ndarray, ...]:
        w = np.array([1.0, 1.7])
        return np.sin(w * t), w * np.cos(w * t), -(w**2) * np.sin(w * t)

    law = adaptive(ELBOW, wanted, slope, gain, rate, parameters=0.3 * model.inertial_parameters)
    run = lw.simulate(ELBOW, 20.0, qd0=[1.0, 1.7], torque=law, rtol=1e-9, samples=10001)
    ref = [np.array(x) for x in zip(*(wanted(t) for t in run.t), strict=True)]
    s = run.qd - ref[1] - slope * (ref[0] - run.q)
    off = np.array(list(run.control.values())).T - model.inertial_parameters
    V = np.einsum("ti,tij,tj->t", s, model.mass_matrix(run.q), s) / 2 + (off**2).sum(1) / rate / 2
    assert (np.diff(V) < 1e-9 * V[0]).all()
    lost = gain * (s**2).sum(axis=1)
    assert V[0] - V[-1] == pytest.approx(simpson(lost, x=run.t), rel=1e-4)
    error = np.abs(run.q - ref[0]).max(axis=1)
    assert error[-1000:].max() < 0.1 * error.max()
    wrong = adaptive(ELBOW, wanted, slope, gain, 0.0, parameters=0.3 * model.inertial_parameters)
    dull = lw.simulate(ELBOW, 20.0, qd0=[1.0, 1.7], torque=wrong, rtol=1e-7, samples=1001)
    assert error[-1000:].max() < 0.005 * np.abs(dull.q - wanted(dull.t[:, None])[0])[-100:].max()
    run.save(tmp_path / "run.nc")
    again = load_run(tmp_path / "run.nc").control
    assert list(again) == list(run.control)
    np.testing.assert_array_equal(again["pi_link2_m"], run.control["pi_link2_m"])


@pytest.mark.slow
def test_rotors_and_damping_are_known_to_adaptive_control() -> None:
    """With the right parameters at the start nothing is to be learnt: the error stays 0."""
    wanted = quintic(np.zeros(6), np.linspace(0.5, 1, 6), 1.0)
    run = lw.simulate(SIX, 1.0, torque=adaptive(SIX, wanted, 5, 50, 1.0), samples=51)
    np.testing.assert_allclose(run.q, wanted(run.t)[0], atol=1e-8)


def test_operational_control_of_the_elbow() -> None:
    """The tool's error is e₀ (1 + ωt) exp(−ωt) along a straight line."""
    model, w = lw.compile(ELBOW), 10.0
    start = np.array([0.3, 1.2])
    here = model.placement("tool")(start)[:2, 3]
    wanted = quintic(np.add(here, [0.05, -0.1]), np.add(here, [-0.5, 0.3]), 1.0)
    law = operational(ELBOW, "tool", wanted, w**2, plane=True)
    run = lw.simulate(ELBOW, 1.2, q0=start, torque=law, samples=61)
    point = model.placement("tool")(run.q)[:, :2, 3]
    decay = ((1 + w * run.t) * np.exp(-w * run.t))[:, None]
    np.testing.assert_allclose(point, wanted(run.t)[0] + decay * [-0.05, 0.1], atol=1e-8)


def test_operational_control_of_the_six_axis_arm() -> None:
    """The same with its rotation held, and with the rotation free and joints left over."""
    model, w = lw.compile(SIX), 10.0
    start = np.array([0.1, 0.3, 0.5, 0.2, 0.7, 0.1])
    T = model.placement("tool")(start)
    wanted = quintic(T[:3, 3] + [0.02, 0, 0.03], T[:3, 3] + [-0.1, 0.2, -0.2], 1.0)
    for rotation in (T[:3, :3], None):
        law = operational(SIX, "tool", wanted, w**2, rotation=rotation, posture=start)
        run = lw.simulate(SIX, 1.0, q0=start, torque=law, samples=41, rtol=1e-8)
        poses = model.placement("tool")(run.q)
        decay = ((1 + w * run.t) * np.exp(-w * run.t))[:, None]
        error = poses[:, :3, 3] - wanted(run.t)[0]
        np.testing.assert_allclose(error, decay * [-0.02, 0, -0.03], atol=1e-7)
        if rotation is not None:
            held = np.broadcast_to(rotation, (41, 3, 3))
            np.testing.assert_allclose(poses[:, :3, :3], held, atol=1e-7)


def test_operational_control_is_the_transfer_of_influence() -> None:
    """τ = Gᵀ (Λ a + b) with Λ and b that `influence` finds at one instant; the rest stands still."""
    eqs = lw.derive(lw.gallery("chain-3"), by="influence", parameters="numeric")
    q, qd, a = np.array([0.3, 0.7, -0.4]), np.array([0.5, -1.0, 0.8]), np.array([0.4, -0.9])
    hand = frame_influence(eqs, "tool", q, (3, 4))
    inertia, bias = at_the_hand(dynamics_at_instant(eqs, q, qd), hand, qd)
    model = lw.compile(lw.gallery("chain-3"))
    place, J = model.placement("tool")(q)[:2, 3], model.jacobian("tool")(q)[3:5]
    law = operational(
        lw.gallery("chain-3"), "tool", lambda t: (place, J @ qd, a), 50.0, plane=True,
        posture=q, stiffness=0.0,
    )  # fmt: skip
    tau, _ = law(0.0, q, qd, np.zeros(0))
    h = model.bias(q, qd)
    free = np.linalg.solve(model.mass_matrix(q), np.c_[tau - h, hand[0].T])
    np.testing.assert_allclose(hand[0] @ free[:, 0] + np.einsum("lmn,m,n->l", hand[1], qd, qd), a)
    back = np.linalg.solve(
        hand[0] @ free[:, 1:], hand[0] @ np.linalg.solve(model.mass_matrix(q), tau)
    )
    np.testing.assert_allclose(back, inertia @ a + bias, rtol=1e-9)  # fmt: skip


def test_sampled_control_is_the_zero_order_hold() -> None:
    """x ← x + v T + u T²/2, v ← v + u T, u = −kp x − ki z − kd v, z ← z − x T: a double integrator."""
    T, kp, ki, kd = 0.05, 30.0, 20.0, 6.0
    law = pid(MASS, [0.0], kp, ki, kd, period=T)
    run = lw.simulate(MASS, 2.0, q0=[1.0], qd0=[-0.5], torque=law, samples=81)
    x, v, z = 1.0, -0.5, 0.0
    for k in range(40):
        u = -kp * x + ki * z - kd * v
        np.testing.assert_allclose([run.q[2 * k, 0], run.qd[2 * k, 0]], [x, v], atol=1e-9)
        np.testing.assert_allclose(run.tau[2 * k : 2 * k + 2, 0], u, atol=1e-8)
        half = T / 2
        middle = x + v * half + u * half**2 / 2
        np.testing.assert_allclose(run.q[2 * k + 1, 0], middle, atol=1e-9)
        x, v, z = x + v * T + u * T * T / 2, v + u * T, z - x * T
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], [x, v], atol=1e-9)
    assert run.audit < 1e-9


@pytest.mark.parametrize("period", [None, 0.05])
def test_what_sticks_is_moved_again(period: float | None) -> None:
    """Friction of 2 N holds a mass until kp e exceeds it: at t = 1 s for a reference that creeps."""
    rough = MASS.model_copy(
        update={"joints": {"x": {**MASS.joints["x"].model_dump(exclude_unset=True), "friction": 2}}}
    )
    law = pid(rough, lambda t: ([0.1 * t], [0.0], [0.0]), 20, 0, 8, period=period)
    run = lw.simulate(rough, 1.6, torque=law, samples=81, rtol=1e-6)
    stuck = run.t < 1.0 - 1e-9
    assert np.abs(run.q[stuck]).max() < 1e-12
    assert run.q[-1, 0] > 0.01


def test_friction_is_made_up_for_as_the_reference_moves() -> None:
    arm = lw.gallery("six-axis")
    wanted = quintic([0.1, 0.3, 0.5, 0.2, 0.7, 0.1], [0.6, 0.5, 0.2, 0.5, 0.4, 0.5], 1.0)
    law = computed_torque(arm, wanted, 400)
    run = lw.simulate(arm, 0.9, q0=wanted.start, torque=law, samples=31, rtol=1e-6)
    assert run.finished
    assert np.abs(run.q - wanted(run.t)[0]).max() < 1e-3


def test_drives_stay_within_their_bounds() -> None:
    """A mass pulled by at most 1 N goes as t²/2 at first, and still arrives."""
    law = pid(MASS, [1.0], 1e3, 0, 1.5e3, most=1.0)
    run = lw.simulate(MASS, 15.0, torque=law, integrator="radau", rtol=1e-7)
    assert np.abs(run.tau).max() == 1.0
    early = run.t < 0.5
    np.testing.assert_allclose(run.q[early, 0], run.t[early] ** 2 / 2, atol=1e-6)
    assert abs(run.q[-1, 0] - 1) < 1e-3
    wound = lw.simulate(MASS, 0.5, torque=pid(MASS, [1.0], 100, 10, 0, most=1.0), max_step=0.01)
    assert (wound.control["integral_x"] == 0).all(), "the integral waits at the bound"
    arm = lw.gallery("six-axis").without("friction")
    wanted = quintic(np.zeros(6), np.full(6, 0.8), 0.3)
    law = computed_torque(arm, wanted, 100, most="limits", period=0.004)
    found = lw.simulate(arm, 0.4, torque=law, samples=101, rtol=1e-6)
    most = np.array([600, 600, 320, 60, 60, 30])
    assert (np.abs(found.tau) <= most).all()
    assert (np.abs(found.tau).max(axis=0) == most).any()


def test_joints_on_one_clock_stay_together() -> None:
    """With a weak drive each joint by itself leaves the straight way; on one clock they wait."""
    goal = np.array([1.0, 1.0])
    wanted = quintic([0.0, 0.0], goal, 0.7)
    bare = ELBOW.with_parameters(g=0)
    off = {}
    for law, options in ((pid, {}), (coordinated, {"width": 0.02})):
        torque = law(bare, wanted, 60, 0, 20, most=[6.0, 50.0], **options)
        run = lw.simulate(bare, 6.0, torque=torque, integrator="radau", rtol=1e-7)
        off[law] = np.abs(run.q[:, 0] - run.q[:, 1]).max()
    np.testing.assert_allclose(run.q[-1], goal, atol=2e-2)
    assert off[coordinated] < 0.3 * off[pid]
    assert run.control["clock"][-1] < 6.0
    assert (np.diff(run.control["clock"]) > 0).all()


@pytest.mark.parametrize("by", ["lagrange", "hamilton", "newton_euler"])
def test_in_the_states_of_every_formulation(by: str) -> None:
    wanted = quintic([0.0, 0.0], [1.0, 0.5], 0.5)
    law = pid(ELBOW, wanted, 400, 200, 40)
    ends = [lw.simulate(ELBOW, 0.5, torque=law, by=way, samples=11) for way in (by, "recursive")]
    np.testing.assert_allclose(ends[0].q, ends[1].q, atol=1e-7)


def test_a_loop_under_control() -> None:
    bar = lw.gallery("four-bar").model_copy(update={"actuators": {}})
    q = lw.assemble(bar, {"theta1": 1.0}, ["theta1"])
    for period in (None, 0.01):
        law = pid(bar, q, [400, 0, 0], 400, [80, 0, 0], period=period)
        run = lw.simulate(bar, 2.0, q0={"theta1": 1.2}, torque=law, samples=21, rtol=1e-7)
        assert run.closure.max() < 1e-10
        assert abs(run.q[-1, 0] - 1.0) < abs(run.q[0, 0] - 1.0) / 4
        assert run.audit < 1e-6


def test_a_loop_with_one_actuator() -> None:
    """Only the crank has a torque, and takes the rest to the set point."""
    bar = lw.gallery("four-bar")
    q = lw.assemble(bar, {"theta1": 1.0}, ["theta1"])
    law = pid(bar, q, 400, 400, 80)
    run = lw.simulate(bar, 6.0, q0={"theta1": 1.2}, torque=law, samples=21, rtol=1e-7)
    assert (run.tau[:, 1:] == 0).all()
    np.testing.assert_allclose(run.q[-1], q, atol=5e-3)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pid(ELBOW, [0, 0, 0], 1), "set point"),
        (lambda: pid(ELBOW, [0, 0], [1, 2, 3]), "kp"),
        (lambda: pid(ELBOW, [0, 0], -1), "negative"),
        (lambda: pid(ELBOW, [0, 0], 1, period=0), "sampling"),
        (lambda: pid(ELBOW, [0, 0], 1, most=0), "above 0"),
        (lambda: pid(ELBOW, [0, 0], 1, most="some"), "limits"),
        (lambda: pid(ELBOW, [0, 0], 1, most=[1, 2, 3]), "1 or 2 numbers"),
        (lambda: pid(ELBOW, [0, 0], 1, most=["a", 2]), "1 or 2 numbers"),
        (lambda: operational(SIX, "tool", [1, 1, 0], 1, rotation="x"), "rotation"),
        (lambda: pid(ELBOW, quintic([0], [1], 1), 1), "1 coordinates"),
        (lambda: pid(ELBOW, lambda t: (0, 1), 1)(0, [0, 0], [0, 0], [0, 0]), "three lists"),
        (lambda: coordinated(ELBOW, [0, 0], 1), "trajectory"),
        (lambda: adaptive(ELBOW, [0, 0], 1, 1, 1, parameters=[1, 2]), "20 finite"),
        (lambda: operational(ELBOW, "tool", [1, 1, 0], 1), "plane=True"),
        (lambda: operational(ELBOW, "toll", [1, 1], 1, plane=True), "tool"),
        (lambda: operational(SIX, "tool", [1, 1, 0], 1, rotation=np.ones((3, 3))), "rotation"),
        (lambda: lw.simulate(SIX, torque=pid(ELBOW, [0, 0], 1)), "made for 2 velocities"),
    ],
)
def test_mistakes(make: object, words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        make()  # type: ignore[operator]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pd_gravity(lw.gallery("quadruped"), np.zeros(18), 1, 1), "cardan"),
        (lambda: computed_torque(lw.gallery("four-bar"), np.zeros(3), 1), "loops"),
        (lambda: computed_torque(TWICE, np.zeros(2), 1), "cannot drive 2"),
    ],
)
def test_what_they_cannot_treat(make: object, words: str) -> None:
    with pytest.raises(UnsupportedError, match=words):
        make()  # type: ignore[operator]


def test_legs_in_free_space() -> None:
    """The joints of a floating quadruped go where they shall; by forces inside of it alone, its
    mass centre stays, and so do its momenta."""
    dog = lw.gallery("quadruped").without("gravity")
    model, goal = lw.compile(dog), np.r_[np.full(6, 9.9), np.tile([0.1, 0.4, -0.8], 4)]
    run = lw.simulate(dog, 2.0, torque=pid(dog, goal, 20, 0, 1.0), samples=11, stops="ignore")
    np.testing.assert_allclose(run.q[-1, 7:], goal[6:], atol=1e-9)
    np.testing.assert_array_equal(run.tau[:, :6], 0.0)
    assert np.abs(run.q[-1, :3]).max() > 1e-3
    np.testing.assert_allclose(np.ptp(model.center_of_mass(run.q), axis=0), 0, atol=1e-11)
    np.testing.assert_allclose(model.momentum(run.q, run.qd), 0, atol=1e-9)


def test_what_has_no_actuator_is_left_alone() -> None:
    """PD of the cart of a cart and pole is the same force written out as an expression."""
    data = lw.gallery("cart-pole").model_dump(exclude_unset=True)
    cart, pole = lw.compile(lw.gallery("cart-pole")).names.qd
    driven = lw.Mechanism.model_validate(data | {"actuators": {"f": {"moves": cart}}})
    start = {pole: 0.3}
    by_law = lw.simulate(driven, 1.0, start, torque=pid(driven, [0.5, 7.0], 30, 0, 8), samples=11)
    written = {"f": f"30*(0.5 - {cart}) - 8*d{cart}"}
    by_hand = lw.simulate(driven, 1.0, start, torque=written, samples=11)
    np.testing.assert_allclose(by_law.q, by_hand.q, atol=1e-8)
    assert np.abs(by_law.q[:, 1]).max() > 0.3
