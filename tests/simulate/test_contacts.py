"""Stops, impacts and contacts against motions by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.simulation import Run, load_run

G = 9.81


def ball(**contact: object) -> lw.Mechanism:
    return lw.Mechanism(
        name="ball", bodies={"ball": {"mass": 2}},
        joints={"z": {"type": "prismatic", "child": "ball"}},
        contacts={"floor": {"point": "ball", **contact}},
    )  # fmt: skip


def hits(run: Run, name: str = "") -> list[float]:
    return [e.t for e in run.events if e.what.startswith("hit") and e.name.startswith(name)]


def test_bouncing_ball() -> None:
    """Bounces at t₁ + 2 v/g Σ eᵏ with heights h e²ᵏ; beyond their limit the ball lies still."""
    h, e = 1.0, 0.8
    run = lw.simulate(ball(restitution=e), 5.0, q0=[h], samples=5001)
    first, v = np.sqrt(2 * h / G), np.sqrt(2 * h * G)
    times = first + np.cumsum([0.0, *(2 * v * e**k / G for k in range(1, 60))])
    np.testing.assert_allclose(hits(run)[:30], times[:30], atol=2e-11)
    for k in range(1, 5):
        top = (times[k - 1] + times[k]) / 2
        near = run.q[np.argmin(np.abs(run.t - top)), 0]
        np.testing.assert_allclose(near, h * e ** (2 * k), atol=G * 1e-3**2)
    end = first + 2 * v / G * e / (1 - e)
    rest = next(event.t for event in run.events if event.what == "rests")
    assert abs(rest - end) < 1e-5
    assert run.finished
    assert run.audit < 1e-12
    np.testing.assert_allclose(run.q[run.t > end], 0.0, atol=1e-15)
    np.testing.assert_allclose(run.pushes[-1], [2 * G])
    np.testing.assert_allclose(run.work[-1], -2 * G * h, rtol=1e-12)
    assert run.q.min() > -1e-12


@pytest.mark.parametrize(
    ("integrator", "by"),
    [("rk45", "recursive"), ("radau", "recursive"), ("bdf", "hamilton"), ("lsoda", "lagrange")],
)
def test_any_integrator_and_formulation_bounces(integrator: str, by: str) -> None:
    run = lw.simulate(
        ball(restitution=0.5), 1.0, q0=[1.0], integrator=integrator, by=by, samples=13
    )
    first = np.sqrt(2 / G)
    np.testing.assert_allclose(hits(run), [first, 2 * first], atol=1e-7)
    assert run.audit < 1e-7


def test_samples_around_an_impact() -> None:
    """The sample at the impact has the speed behind it, that before it the speed in front."""
    first = np.sqrt(2 / G)
    run = lw.simulate(ball(restitution=1.0), 2 * first, q0=[1.0], samples=3)
    assert hits(run)[0] == pytest.approx(first, abs=1e-12)
    event = hits(run)[0]
    again = lw.simulate(ball(restitution=1.0), 2 * event, q0=[1.0], samples=3)
    np.testing.assert_allclose(abs(again.qd[1, 0]), G * first, rtol=1e-9)
    assert (again.qd[1, 0] > 0) == (again.t[1] >= hits(again)[0])


def test_pendulum_at_a_stop() -> None:
    """From the horizontal to a stop straight down: ω² = 2 g/l, thrown back with e ω."""
    arm = lw.Mechanism(
        name="arm", gravity=[0, -9.81, 0], bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "rod",
                      "limits": {"lower": "-90 deg", "restitution": 0.6}}},
    )  # fmt: skip
    run = lw.simulate(arm, 2.0, samples=2001)
    t = hits(run)[0]
    speed = np.sqrt(2 * G)
    assert f"hit at {speed:.6g}" in run.events[0].what
    after = run.qd[run.t > t][0, 0]
    np.testing.assert_allclose(after, 0.6 * speed, rtol=2e-3)
    top = run.q[(run.t > t) & (run.t < hits(run)[1])].max()
    np.testing.assert_allclose(1 + np.sin(top), 0.36, atol=1e-5)  # a share e² of the height
    assert run.audit < 1e-8
    assert run.q.min() > -np.pi / 2 - 1e-12


def test_limits_end_a_run_unless_told_otherwise() -> None:
    arm = lw.Mechanism(
        name="slide", bodies={"b": {"mass": 1}},
        joints={"z": {"type": "prismatic", "child": "b", "limits": {"lower": "-1", "upper": 2}}},
    )  # fmt: skip
    run = lw.simulate(arm, 1.0)
    assert "the limit 'z lower' is reached" in run.status
    assert "restitution" in run.status
    assert not run.finished
    np.testing.assert_allclose([run.t[-1], run.q[-1, 0]], [np.sqrt(2 / G), -1], rtol=1e-12)
    np.testing.assert_allclose(lw.simulate(arm, 1.0, stops="ignore").q[-1], [-G / 2], rtol=1e-9)
    lying = lw.simulate(arm, 1.0, stops="impact", torque={"z": "20*t - 5"})
    # the stop carries 9.81 + 5 − 20 t until the drive lifts
    assert lying.finished
    assert [e.what.split()[0] for e in lying.events] == ["hit", "rests", "lets"]
    np.testing.assert_allclose(lying.events[-1].t, (5 + G) / 20, atol=1e-9)
    with pytest.raises(LinkwrightError, match="starts 1 beyond 'z lower'"):
        lw.simulate(arm, 1.0, q0=[-2])


def carts(*restitution: float) -> lw.Mechanism:
    """Carts on one rail, each with a buffer on the next: its plane looks along the rail."""
    count = len(restitution) + 1
    bodies = {f"c{k}": {"mass": 1} for k in range(count)}
    joints = {
        f"x{k}": {"type": "prismatic", "child": f"c{k}", "axis": [1, 0, 0]} for k in range(count)
    }
    frames = {
        f"wall{k}": {"body": f"c{k}", "origin": {"xyz": [0, 0, 0], "rpy": [0, "90 deg", 0]}}
        for k in range(count - 1)
    }
    contacts = {
        f"buffer{k}": {"point": f"c{k + 1}", "plane": f"wall{k}", "restitution": e, "radius": 0.5}
        for k, e in enumerate(restitution)
    }
    return lw.Mechanism(
        name="carts", bodies=bodies, joints=joints, frames=frames, contacts=contacts
    )


@pytest.mark.parametrize(
    ("impacts", "speeds"),
    [
        ("together", [-1 / 3, 2 / 3, 2 / 3]),  # by hand: A = [[2, −1], [−1, 2]], Λ = (4/3, 2/3)
        ("one by one", [0, 0, 1]),  # Newton's cradle
    ],
)
def test_cradle(impacts: str, speeds: list[float]) -> None:
    run = lw.simulate(
        carts(1, 1), 2.0, q0=[-1.5, 0, 0.5], qd0=[1, 0, 0], impacts=impacts, samples=5
    )
    np.testing.assert_allclose(run.qd[-1], speeds, atol=1e-12)
    assert run.audit < 1e-12


def test_two_carts_with_restitution() -> None:
    """v⁺ = ((1 − e)/2, (1 + e)/2), and momentum stays."""
    run = lw.simulate(carts(0.5), 2.0, q0=[-1, 0.5], qd0=[1, 0], samples=5)
    np.testing.assert_allclose(run.qd[-1], [0.25, 0.75], atol=1e-12)
    np.testing.assert_allclose(hits(run), [1.0], atol=1e-11)


def rod(e: float, mu: float = 0.0) -> lw.Mechanism:
    """A free rod of length 2 in the plane x–z, with a tip that touches the ground."""
    return lw.Mechanism(
        name="rod",
        bodies={"rod": {"mass": 3, "inertia": [1, 1, 1]}},
        joints={"p": {"type": "planar", "child": "rod", "axis": [0, -1, 0]}},
        frames={"tip": {"body": "rod", "origin": [-1, 0, 0]}},
        contacts={"corner": {"point": "tip", "restitution": e, "friction": mu}},
    )  # fmt: skip


def test_corner_of_a_falling_rod() -> None:
    """Λ = (1 + e) v / (1/m + x²/I) with x the lever of the tip, by hand."""
    q0 = lw.simulate(rod(0.5), 0.1, samples=2)  # names of coordinates: x, y in the plane, theta
    assert q0.mechanism.joints["p"].type == "planar"
    model = lw.compile(rod(0.5))
    start = {"p.y": 1.5, "p.theta": 0.5}
    q = np.array([0.0, 1.5, 0.5])
    up = model.placement("tip")(q)[2, 3] - model.placement("tip")([0, 0.5, 0.5])[2, 3]
    sign = float(np.sign(up))
    start["p.y"] = 1.5 * sign
    run = lw.simulate(rod(0.5), 1.0, q0=start, qd0={"p.theta": 0.3}, samples=11)
    t = hits(run)[0]
    before = lw.simulate(rod(0.5).without("contacts"), t, q0=start, qd0={"p.theta": 0.3}, samples=2)
    q, v = before.q[-1], before.qd[-1]
    lever = model.placement("tip")(q)[0, 3] - model.placement("rod")(q)[0, 3]
    approach = -model.frame_velocity("tip")(q, v)[5]
    impulse = 1.5 * approach / (1 / 3 + lever**2)
    assert f"impulse {impulse:.6g}" in run.events[0].what
    assert run.audit < 1e-9


@pytest.mark.parametrize(("mu", "speed"), [(0.1, 2 - 0.1 * 3), (0.5, 2 * 5 / 7)])
def test_ball_with_friction_hits_the_floor(mu: float, speed: float) -> None:
    """It slides all through (v − μ u), or rolls at the end (5/7 v) where that takes less."""
    ball = lw.Mechanism(
        name="ball", gravity=[0, 0, 0],
        bodies={"ball": {"mass": 2, "inertia": [2 / 5 * 2 * 0.3**2] * 3}},
        joints={"s": {"type": "free", "child": "ball"}},
        contacts={"floor": {"point": "ball", "radius": 0.3, "friction": mu, "restitution": 0.5}},
    )  # fmt: skip
    run = lw.simulate(ball, 0.5, q0={"s.z": 1.0}, qd0={"s.vx": 2.0, "s.vz": -3.0}, samples=3)
    spin = (2 - speed) * 5 / 2 / 0.3
    v = lw.compile(ball).frame_velocity("ball")(run.q[-1], run.qd[-1])
    np.testing.assert_allclose(v, [0, spin, 0, speed, 0, 1.5], atol=1e-9)
    assert run.audit < 1e-9


def test_hunt_crossley() -> None:
    """Against an integration of its own: m z̈ = −m g + k δ^1.5 (1 + c δ̇)."""
    k, c, m = 2e4, 0.3, 2.0

    def rate(t: float, y: list[float]) -> list[float]:
        depth = max(-y[0], 0.0)
        return [y[1], -G + max(k * depth**1.5 * (1 - c * y[1]), 0.0) / m]

    wanted = solve_ivp(rate, (0, 1), [0.5, 0.0], "Radau", rtol=1e-11, atol=1e-13, max_step=2e-3)
    soft = ball(stiffness=k, damping=c)
    run = lw.simulate(soft, 1.0, q0=[0.5], samples=3, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], wanted.y[:, -1], atol=1e-8)
    assert run.audit < 1e-9
    assert [e.what for e in run.events] == ["touches", "leaves"] * 2
    assert run.work[-1] < -0.1  # what the contact has lost


def test_simultaneous_contacts_keep_a_table_still() -> None:
    """Four legs are one more than needed: the table lies down flat, with a quarter of its weight
    on each."""
    legs = {f"leg{k}": {"body": "top", "origin": [x, y, 0]}
            for k, (x, y) in enumerate([(1, 1), (1, -1), (-1, 1), (-1, -1)])}  # fmt: skip
    table = lw.Mechanism(
        name="table", bodies={"top": {"mass": 4, "inertia": [1, 1, 2]}},
        joints={"base": {"type": "free", "child": "top"}}, frames=legs,
        contacts={leg: {"point": leg, "restitution": 0.3, "friction": 0.5} for leg in legs},
    )  # fmt: skip
    run = lw.simulate(table, 1.0, q0={"base.z": 0.2}, samples=11)
    assert run.finished
    np.testing.assert_allclose(run.q[-1], [0, 0, 0, 1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(run.pushes[-1][5], 4 * G, rtol=1e-9)
    assert run.audit < 1e-9


def test_bad_input() -> None:
    for wrong, message in (
        ({"point": "bal"}, "unknown body or frame 'bal'"),
        ({"restitution": 1.5}, "not between 0 and 1"),
        ({"friction": -1}, "is negative"),
        ({"plane": "ball"}, "on one body"),
        ({"damping": 1}, "no meaning for a rigid contact"),
        ({"stiffness": 1, "restitution": 0.5}, "no meaning for a compliant contact"),
        ({"stiffness": 0}, "not above zero"),
        ({"static_ratio": 0.5}, "is below 1"),
    ):
        with pytest.raises(LinkwrightError, match=message):
            ball(**wrong)
    for wrong in ({"stops": "bounce"}, {"impacts": "all"}):
        with pytest.raises(LinkwrightError, match="is not known"):
            lw.simulate(ball(), 1.0, **wrong)
    with pytest.raises(LinkwrightError, match="1 beyond 'floor'"):
        lw.simulate(ball(), 1.0, q0=[-1])


def test_fixed_steps_refuse_rigid_contacts() -> None:
    with pytest.raises(LinkwrightError, match="do not support rigid contacts"):
        lw.rollout(lw.compile(ball()), [[1.0]], [[0.0]])


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_colliding_free_bodies_keep_their_momentum(mu: float) -> None:
    """A ball hits the face of a slab, both free: linear and angular momentum stay, energy falls."""
    pair = lw.Mechanism(
        name="pair", gravity=[0, 0, 0],
        bodies={"ball": {"mass": 1, "inertia": [0.1, 0.1, 0.1]},
                "slab": {"mass": 3, "inertia": [0.5, 0.6, 0.9]}},
        joints={"a": {"type": "free", "child": "ball"}, "b": {"type": "free", "child": "slab"}},
        frames={"face": {"body": "slab", "origin": [0, 0, 0.2]}},
        contacts={"hit": {"point": "ball", "plane": "face", "radius": 0.3, "restitution": 0.7,
                          "friction": mu}},
    )  # fmt: skip
    start = {"a.x": 0.4, "a.y": 0.2, "a.z": 1.5}
    speeds = {"a.vz": -2.0, "a.vx": 0.3, "a.wy": 2.0, "b.wx": 0.2, "b.vy": 0.1}
    run = lw.simulate(pair, 1.0, q0=start, qd0=speeds, samples=11, rtol=1e-11, atol=1e-12)
    assert len(hits(run)) == 1
    momentum = lw.compile(pair).momentum(run.q, run.qd)
    np.testing.assert_allclose(momentum, momentum[:1].repeat(11, 0), atol=1e-9)
    assert run.energy[-1] < run.energy[0] * 0.9
    assert run.audit < 1e-9


def test_stop_in_a_loop() -> None:
    """The crank of a four-bar hits a stop: all speeds turn to −e of theirs, as one freedom must."""
    linkage = lw.gallery("four-bar")
    name = next(iter(linkage.joints))
    free = lw.simulate(linkage, 0.3, qd0={"theta1": 4.0}, samples=301)
    end = float(free.q[150, 0])
    joints = dict(linkage.joints)
    limits = {"upper": end, "restitution": 0.5}
    joints[name] = joints[name].model_copy(update={"limits": limits})
    stopped = linkage.model_copy(update={"joints": joints})
    run = lw.simulate(stopped, 0.3, qd0={"theta1": 4.0}, samples=301)
    t = hits(run)[0]
    np.testing.assert_allclose(t, free.t[150], atol=1e-8)
    after = next(k for k in range(301) if run.t[k] >= t)
    np.testing.assert_allclose(run.qd[after], -0.5 * free.qd[150], atol=0.05)
    assert run.qd[after, 0] < 0
    assert run.closure.max() < 1e-10
    assert run.audit < 1e-8
    assert run.q[:, 0].max() < end + 1e-10


def test_reactions_beside_a_contact(tmp_path: Path) -> None:
    """A rod on a pin and on the floor: each bears half of it, the pin no moment about its axis."""
    rod = lw.Mechanism(
        name="rod", gravity=[0, 0, -9.81],
        bodies={"a": lw.Body(mass=2, center=[0.5, 0, 0], inertia=[0.01, 0.2, 0.2])},
        frames={"tip": lw.Frame(body="a", origin=[1, 0, 0])},
        joints={"q": lw.Joint(type="revolute", child="a", axis=[0, 1, 0])},
        contacts={"floor": {"point": "tip"}},
    )  # fmt: skip
    run = lw.simulate(rod, 0.2, samples=3)
    run.save(tmp_path / "rod.nc")
    for found in (run, load_run(tmp_path / "rod.nc")):
        np.testing.assert_allclose(found.reactions[-1], [[0, 0, 0, 0, 0, 9.81]], atol=1e-9)


@pytest.mark.parametrize("parent", ["ground", "a"])
@pytest.mark.parametrize(("on", "at"), [("x", 0.4), ("y", 0.3 - 2 * 0.4)])
def test_stop_of_a_mimicking_joint(parent: str, on: str, at: float) -> None:
    """y = 0.3 − 2 x: the leader moves m = 1 + 3·(−2)² (or 1 + 3·(1 − 2)², where y is borne by x).
    A stop on y acts upon x with −2, so that its impulse and its force are half of those on x."""
    side = "upper" if on == "x" else "lower"
    joints = {
        "x": {"type": "prismatic", "child": "a", "axis": [1, 0, 0]},
        "y": {"type": "prismatic", "parent": parent, "child": "c", "axis": [1, 0, 0],
              "mimic": {"joint": "x", "multiplier": -2, "offset": 0.3}},
    }  # fmt: skip
    joints[on]["limits"] = {side: at, "restitution": 0.5}
    pair = lw.Mechanism(
        name="pair", gravity=[0, 0, 0], bodies={"a": {"mass": 1}, "c": {"mass": 3}}, joints=joints
    )
    m, ratio = 13 if parent == "ground" else 4, 1 if on == "x" else 2
    run = lw.simulate(pair, 1.0, qd0=[1.0], samples=3)
    hit = run.events[0]
    assert (round(hit.t, 9), hit.name) == (0.4, f"{on} {side}")
    assert hit.what == f"hit at {ratio} m/s, impulse {1.5 * m / ratio:.6g} N s"
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], [0.1, -0.5], atol=1e-9)
    assert run.audit < 1e-12
    held = lw.simulate(pair, 10.0, torque={"x": 6.0}, samples=101)
    assert held.events[-1].what == "rests"
    np.testing.assert_allclose([held.q[-1, 0], held.pushes[-1, 0]], [0.4, -6.0], rtol=1e-9)
    np.testing.assert_allclose(held.reactions[-1], 0, atol=1e-9)  # no body is accelerated
    assert held.audit < 1e-9


def test_stops_of_leader_and_follower_at_once() -> None:
    """Both are reached together: x turns with the greater restitution, as Newton's rule for one
    freedom says, and what is held rests."""
    both = {"upper": 0.4, "restitution": 0.5}, {"lower": -0.5, "restitution": 0.2}
    joints = {
        "x": {"type": "prismatic", "child": "a", "axis": [1, 0, 0], "limits": both[0]},
        "y": {"type": "prismatic", "child": "c", "axis": [1, 0, 0], "limits": both[1],
              "mimic": {"joint": "x", "multiplier": -2, "offset": 0.3}},
    }  # fmt: skip
    pair = lw.Mechanism(
        name="pair", gravity=[0, 0, 0], bodies={"a": {"mass": 1}, "c": {"mass": 3}}, joints=joints
    )
    run = lw.simulate(pair, 1.0, qd0=[1.0], samples=3)
    np.testing.assert_allclose(run.qd[-1], [-0.5], atol=1e-9)
    held = lw.simulate(pair, 10.0, torque={"x": 6.0}, samples=3)
    np.testing.assert_allclose([held.q[-1, 0], held.pushes[-1, 0]], [0.4, -6.0], rtol=1e-9)
