"""Dry friction that sticks and slides, against motions by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.control import adaptive, computed_torque
from linkwright.errors import LinkwrightError
from linkwright.formulations import FORMULATIONS
from linkwright.motion import quintic
from linkwright.simulation import right_hand_side

G = 9.81


def oscillator(friction: float = 1.0, **joint: Any) -> lw.Mechanism:
    return lw.Mechanism(
        name="oscillator", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "b", "stiffness": 10, "friction": friction,
                      **joint}},
    )  # fmt: skip


def test_coulomb_oscillator() -> None:
    """Each half period π/√(k/m) the amplitude loses 2F/k, until it sticks within F/k of rest."""
    run = lw.simulate(oscillator(), 10.0, q0=[1.05], samples=1001)
    turns = np.pi / np.sqrt(10) * np.arange(1, 6)
    np.testing.assert_allclose([e.t for e in run.events[1:]], turns, atol=1e-8)
    assert [e.what for e in run.events] == ["slides"] * 5 + ["sticks"]
    for k, turn in enumerate(turns):
        wanted = (-1) ** (k + 1) * (1.05 - 0.2 * (k + 1))
        near = run.q[np.argmin(np.abs(run.t - turn)), 0]
        np.testing.assert_allclose(near, wanted, atol=10 * 0.005**2)
    stuck = run.t > turns[-1]
    np.testing.assert_allclose(run.q[stuck], -0.05, atol=1e-8)
    assert np.ptp(run.q[stuck]) < 1e-14
    assert (run.qd[stuck] == 0.0).all()
    np.testing.assert_allclose(run.pushes[-1], [-0.5], atol=1e-7)  # what holds the spring
    assert run.audit < 1e-8


def test_coulomb_oscillator_of_a_microsecond() -> None:
    """The same with accelerations of 1e13: where it turns back, rounding of the time leaves a
    speed that is not small, and it turns all the same."""
    k = 1e13
    run = lw.simulate(
        oscillator(0.1 * k, stiffness=k), 1e-5, q0=[1.05], samples=11, rtol=1e-11, atol=1e-12
    )
    assert run.finished
    turns = np.pi / np.sqrt(k) * np.arange(1, 6)
    np.testing.assert_allclose([e.t for e in run.events[1:]], turns, rtol=1e-6)
    assert [e.what for e in run.events] == ["slides"] * 5 + ["sticks"]
    np.testing.assert_allclose(run.q[-1], -0.05, atol=1e-7)


@pytest.mark.parametrize("by", [b for b in FORMULATIONS if b not in ("approximate", "multipliers")])
def test_every_formulation_sticks(by: str) -> None:
    run = lw.simulate(oscillator(), 3.0, q0=[0.35], by=by, samples=4)
    np.testing.assert_allclose(run.q[-1], [-0.05], atol=1e-7)


def test_static_ratio() -> None:
    """It lets go at ratio · F, and then slides under F alone."""
    run = lw.simulate(
        oscillator(2.0, static_ratio=1.5, stiffness=0), 2.0, torque={"x": "2*t"}, samples=5
    )
    np.testing.assert_allclose([e.t for e in run.events], [1.5], atol=1e-10)
    # m ẍ = 2 t − 2 from t = 1.5: ẋ(2) = [t² − 2 t] = 0 − (2.25 − 3)
    np.testing.assert_allclose(run.qd[-1], [0.75], atol=1e-9)
    assert run.audit < 1e-9


SLOPE = 0.5
"""Radians."""


def block(mu: float, by: str) -> lw.Mechanism:
    """On a slope: guided by a slide with friction by its reaction, or free with a contact."""
    gravity = [G * np.sin(SLOPE), 0, -G * np.cos(SLOPE)]
    body = {"b": {"mass": 2, "inertia": [0.1, 0.1, 0.1]}}
    if by == "slide":
        joint = {"type": "prismatic", "child": "b", "axis": [1, 0, 0], "friction_coefficient": mu}
        return lw.Mechanism(name="block", gravity=gravity, bodies=body, joints={"s": joint})
    joints = {"s": {"type": "free", "child": "b"}}
    corners = {f"c{k}": {"body": "b", "origin": [x, y, -0.1]}
               for k, (x, y) in enumerate([(0.4, 0.3), (0.4, -0.3), (-0.4, 0.3), (-0.4, -0.3)])}  # fmt: skip
    return lw.Mechanism(
        name="block", gravity=gravity, bodies=body, joints=joints, frames=corners,
        contacts={name: {"point": name, "friction": mu} for name in corners},
    )  # fmt: skip


@pytest.mark.parametrize("by", ["slide", "contact"])
@pytest.mark.parametrize("mu", [0.3, 0.6])
def test_block_on_a_slope(by: str, mu: float) -> None:
    """Pushed uphill it stops at v/(g (sin + μ cos)); it slides back iff tan α > μ, with
    g (sin − μ cos)."""
    mechanism = block(mu, by)
    speed = {"s": -2.0} if by == "slide" else {"s.vx": -2.0}
    start = None if by == "slide" else {"s.z": 0.1}
    run = lw.simulate(mechanism, 2.0, q0=start, qd0=speed, samples=41)
    sine, cosine = np.sin(SLOPE), np.cos(SLOPE)
    top = 2.0 / (G * (sine + mu * cosine))
    turned = next(e.t for e in run.events if e.t > 0)
    np.testing.assert_allclose(turned, top, atol=1e-8)
    back = max(G * (sine - mu * cosine), 0.0)
    way = -2.0 * top / 2 + back * (2.0 - top) ** 2 / 2
    np.testing.assert_allclose(run.q[-1, 0], way, atol=1e-7)
    assert (back > 0) == (np.tan(SLOPE) > mu)
    if back == 0:
        held = run.q[run.t > top + 1e-3, 0]
        assert np.ptp(held) < 1e-12
    assert run.finished
    assert run.audit < 1e-8


def test_pin_friction_of_a_pendulum() -> None:
    """In every instant the moment of friction is μ r times the reaction: m|r̈ − g|, by hand."""
    mu, r, m, length = 0.5, 0.2, 3.0, 0.7
    arm = lw.Mechanism(
        name="arm", gravity=[0, -G, 0], bodies={"rod": {"mass": m, "center": [length, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "rod", "friction_coefficient": mu,
                      "pin_radius": r}},
    )  # fmt: skip
    run = lw.simulate(arm, 5.0, samples=101)
    moving = np.abs(run.qd[:, 0]) > 1e-3
    q, w, a = (x[moving, 0] for x in (run.q, run.qd, run.qdd))
    along = -m * length * w**2 + m * G * np.sin(q)
    across = m * length * a + m * G * np.cos(q)
    load = np.hypot(along, across)
    np.testing.assert_allclose(run.pushes[moving, 0], -np.sign(w) * mu * r * load, atol=1e-9)
    assert run.events[-1].what == "sticks"
    assert (run.qd[-1] == 0).all()
    # at rest the moment of the weight is within μ r m g
    assert abs(m * G * length * np.cos(run.q[-1, 0])) <= mu * r * m * G
    assert run.audit < 1e-8


def test_stick_slip_on_a_belt() -> None:
    """A spring is pulled at speed v: the block sticks until k v t = F_s, then slips and sticks."""
    block = lw.Mechanism(
        name="belt", gravity=[0, 0, 0], bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "b", "friction": 2, "static_ratio": 2}},
        forces={"spring": {"type": "joint", "on": "x", "force": "20*(0.5*t - x)"}},
    )  # fmt: skip
    run = lw.simulate(block, 8.0, samples=801)
    first = 4 / (20 * 0.5)
    np.testing.assert_allclose(run.events[0].t, first, atol=1e-10)
    # slip: ẍ = −20 x + 10 t − 2, x(t₁) = ẋ(t₁) = 0: ends where ẋ = 0.5 + … is zero again
    w, lead = np.sqrt(20), 2 / 20
    s = np.linspace(0, 2, 200001)
    speed = 0.5 - 0.5 * np.cos(w * s) + lead * w * np.sin(w * s)
    end = s[1:][np.flatnonzero((speed[1:-1] > 0) & (speed[2:] <= 0))[0] + 1]
    np.testing.assert_allclose(run.events[1].t, first + end, atol=2e-5)
    whats = [e.what for e in run.events]
    assert whats[:4] == ["slides", "sticks", "slides", "sticks"]
    assert run.audit < 1e-8


def test_several_sticking_at_once() -> None:
    """A chain with friction in all joints, under weight that these hold: nothing moves; with less
    friction in one joint, that one alone moves."""
    chain = lw.gallery("chain-3")
    held = {
        name: joint.model_copy(update={"friction": 200}) for name, joint in chain.joints.items()
    }
    run = lw.simulate(chain.model_copy(update={"joints": held}), 0.5, samples=11)
    assert np.ptp(run.q, axis=0).max() < 1e-13
    model = lw.compile(chain)
    np.testing.assert_allclose(run.pushes[-1], model.gravity(run.q[-1]), rtol=1e-9)
    last = list(held)[-1]
    held[last] = held[last].model_copy(update={"friction": 0})
    run = lw.simulate(chain.model_copy(update={"joints": held}), 0.3, samples=11)
    assert np.ptp(run.q[:, :2], axis=0).max() < 1e-12
    assert np.ptp(run.q[:, 2]) > 0.05


def test_friction_in_a_loop() -> None:
    """A four-bar with friction in its crank comes to rest and stays; energy is accounted for."""
    linkage = lw.gallery("four-bar")
    name = next(iter(linkage.joints))
    joints = dict(linkage.joints)
    joints[name] = joints[name].model_copy(update={"friction": 4})
    run = lw.simulate(
        linkage.model_copy(update={"joints": joints}), 3.0, qd0={"theta1": 2.0}, samples=301
    )
    assert run.finished
    assert run.events[-1].what == "sticks"
    after = run.t > run.events[-1].t
    assert np.ptp(run.q[after], axis=0).max() < 1e-9
    assert run.audit < 1e-8
    assert run.closure.max() < 1e-10


MASS, FRICTION = 1.5, 2.0


def followed(law: str, friction: float = FRICTION, **given: Any) -> tuple[lw.Mechanism, Any]:
    """A slide with dry friction, and a controller that takes it from 0 to 1 in a second."""
    slide = lw.Mechanism(
        name="slide", gravity=[0, 0, 0], bodies={"b": {"mass": MASS}},
        joints={"s": {"type": "prismatic", "child": "b", "axis": [1, 0, 0], "friction": friction}},
    )  # fmt: skip
    way = quintic([0.0], [1.0], 1.0)
    if law == "adaptive":
        return slide, adaptive(slide, way, slope=10, gain=20, rate=5, **given)
    return slide, computed_torque(slide, way, kp=100, **given)


@pytest.mark.parametrize("period", [None, 0.02])
@pytest.mark.parametrize("law", ["adaptive", "computed_torque"])
def test_controlled_joints_come_to_rest(law: str, period: float | None) -> None:
    """It lets go where the drive reaches F, slides once, and sticks for good: no chatter. At rest
    friction is just what the drive pushes, and no more than F."""
    slide, controller = followed(law, period=period)
    run = lw.simulate(slide, 2.0, torque=controller, samples=401)
    assert [e.what for e in run.events] == ["slides", "sticks"]
    begin, end = (e.t for e in run.events)
    assert (np.abs(run.tau[run.t < begin]) <= FRICTION * (1 + 1e-9)).all()
    stuck = run.t > end
    assert np.abs(run.qd[stuck]).max() < 1e-12
    assert np.ptp(run.q[stuck]) < 1e-12
    assert np.abs(run.q[-1] - 1).max() < 5e-3
    np.testing.assert_allclose(run.pushes[stuck], -run.tau[stuck], atol=1e-9)
    assert (np.abs(run.tau[stuck]) <= FRICTION).all()
    moving = (run.t > begin) & (run.t < end)
    np.testing.assert_allclose(run.pushes[moving], -FRICTION, rtol=1e-12)
    assert run.audit < 1e-7
    assert run.statistics["steps"] < (200 if period is None else 1000)


def test_computed_torque_that_knows_no_friction() -> None:
    """By hand: m ë + m kd ė + m kp e = F while it slides, from when m ẍᵣ + … = F; it sticks once its
    speed is zero, and stays where m kp |e| ≤ F."""
    slide, _ = followed("computed_torque")
    _, unaware = followed("computed_torque", friction=0.0)
    run = lw.simulate(slide, 3.0, torque=unaware, samples=301)
    assert [e.what for e in run.events] == ["slides", "sticks"]
    begin, end = (e.t for e in run.events)
    way = quintic([0.0], [1.0], 1.0)
    x, v, a = (float(part[0]) for part in way(begin))
    np.testing.assert_allclose(MASS * (a + 20 * v + 100 * x), FRICTION, rtol=1e-8)
    s = np.linspace(0, end - begin, 5)
    gap = FRICTION / MASS / 100
    e0, de0 = x - gap, v
    error = (e0 + (de0 + 10 * e0) * s) * np.exp(-10 * s) + gap
    found = [float(way(begin + t)[0][0]) for t in s]
    free = np.interp(begin + s[1:-1], run.t, run.q[:, 0])
    np.testing.assert_allclose(free, (np.array(found) - error)[1:-1], atol=2e-4)
    np.testing.assert_allclose(run.q[-1, 0], found[-1] - error[-1], atol=1e-7)
    assert MASS * 100 * abs(1 - run.q[-1, 0]) <= FRICTION


def test_bad_input() -> None:
    for joint, message in (
        ({"friction_coefficient": 0.1, "smoothing": 0.1}, "cannot be smoothed"),
        ({"friction_coefficient": -0.1}, "is negative"),
        ({"pin_radius": 0.1}, "no meaning for a prismatic joint"),
        ({"static_ratio": 0.5}, "is below 1"),
        ({"limits": {"lower": 0, "restitution": -1}}, "not between 0 and 1"),
    ):
        with pytest.raises(LinkwrightError, match=message):
            oscillator(**joint)
    turning: dict[str, Any] = {"type": "revolute", "child": "b", "friction_coefficient": 0.1}
    with pytest.raises(LinkwrightError, match=r"pin_radius: is missing"):
        lw.Mechanism(bodies={"b": {"mass": 1}}, joints={"q": turning})


@pytest.mark.parametrize("is_pivoted", [False, True])
def test_work_of_friction_is_a_loss(is_pivoted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block under 10 N slides against 3 N: the input does 10 x, friction −3 x, and the rest is
    kinetic energy; also where accelerations are computed with pivoting."""
    block = lw.Mechanism(
        name="block", gravity=[0, 0, 0], bodies={"b": {"mass": 2}},
        joints={"x": {"type": "prismatic", "child": "b", "friction": 3}},
    )  # fmt: skip
    if is_pivoted:
        monkeypatch.setattr(
            right_hand_side.RightHandSide, "is_guarded", property(lambda self: True)
        )
        monkeypatch.setattr(right_hand_side, "MIN_PIVOT_SHARE", 2.0)
    run = lw.simulate(block, 2.0, torque={"x": "10"}, samples=21)
    x = 7 / 4 * run.t**2
    np.testing.assert_allclose(run.q[:, 0], x, atol=1e-7)
    np.testing.assert_allclose(run.work_inputs, 10 * x, atol=1e-6)
    np.testing.assert_allclose(run.work_losses, -3 * x, atol=1e-6)
    np.testing.assert_allclose(run.kinetic, 7 * x, atol=1e-6)
    np.testing.assert_allclose(run.work_given, 0, atol=1e-12)
    along = run.details.reactions[:, 0, 5]  # what ground does to the block: both together
    np.testing.assert_allclose(along, 7, atol=1e-6)


@pytest.mark.parametrize("rate", [20, 50, 77])
def test_slips_under_a_force_that_grows_are_found(rate: int) -> None:
    """A block at rest slips once in each half period in which the force exceeds its friction, also
    after seconds without any motion, in which steps grow."""
    mechanism = lw.Mechanism(
        name="block", gravity=[0, 0, 0], bodies={"b": {"mass": 1.0}},
        joints={"x": {"type": "prismatic", "child": "b", "axis": [1, 0, 0], "friction": 2.0}},
        forces={"f": {"type": "joint", "on": "x",
                      "force": f"2.05*sin({rate}*t)*min(1, max(0, (t - 4)/3))"}},
    )  # fmt: skip
    run = lw.simulate(mechanism, 10.0, samples=11)
    t = np.linspace(0, 10, 1_000_001)
    exceeds = np.abs(2.05 * np.sin(rate * t) * np.clip((t - 4) / 3, 0, 1)) > 2
    assert [event.what for event in run.events].count("slides") == np.diff(exceeds * 1).clip(
        0
    ).sum()
