"""Contacts that stay closed and friction in compiled code: the runs of Python, and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.simulation import Run
from linkwright.simulation.events.event_tolerances import EVENT_TOLERANCES
from tests.simulate.test_compiled_runs import stepwise
from tests.simulate.test_contacts import ball
from tests.simulate.test_friction import oscillator
from tests.simulate.test_mode_forces import block, ladder, limited_four_bar, table

G = 9.81
FREE_FALL = np.sqrt(2 / G)


def pendulum(restitution: float) -> lw.Mechanism:
    """A rod that falls onto a stop straight down, from which a motor lifts it again."""
    limits = {"lower": "-90 deg", "restitution": restitution}
    return lw.Mechanism(
        name="pendulum", gravity=[0, -G, 0], bodies={"rod": {"mass": 1, "center": [1, 0, 0]}},
        joints={"q": {"type": "revolute", "child": "rod", "limits": limits}},
    )  # fmt: skip


LIFT = {"q": ([0.0, 2.0, 6.0], [0.0, 0.0, 8.0])}
CASES: dict[str, tuple[lw.Mechanism, float, dict[str, Any]]] = {
    "bouncing ball": (ball(restitution=0.5), 2.0, {"q0": [1.0]}),
    "ball that rolls": (lw.gallery("bouncing-ball"), 1.5, {"qd0": [2.0, 0.0, 0.0]}),
    "stick-slip": (lw.gallery("stick-slip"), 5.0, {"qd0": {"pull": 0.5}}),
    "stick-slip by Hamilton": (oscillator(), 4.0, {"q0": [1.05], "by": "hamilton"}),
    "pendulum at a stop": (pendulum(0.3), 6.0, {"torque": LIFT}),
    "block on a slope": (block(0.3, 0.5), 1.0, {"qd0": [2 * np.cos(0.5), 2 * np.sin(0.5), 0]}),
    "ladder": (ladder(0.2, 0.1), 0.6, {
        "q0": [np.cos(1), np.sin(1), np.pi - 1], "qd0": [0.1 * np.sin(1), -0.1 * np.cos(1), 0.1]}),
    "stop and friction in a loop": (limited_four_bar(), 1.0, {
        "qd0": {"theta1": 0.9}, "stops": "impact"}),
    "loop under a table": (limited_four_bar(), 1.0, {
        "qd0": {"theta1": 0.9}, "stops": "impact",
        "torque": {"tau1": ([0, 0.5, 1], [0, 20, -20])}}),
    "table that drops": (table(), 0.6, {"q0": {"f.z": 0.1}, "qd0": {"f.vx": 1.2, "f.vy": 0.9}}),
}  # fmt: skip


@pytest.mark.parametrize("name", list(CASES))
def test_modes_in_compiled_code_are_those_of_python(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    mechanism, t, options = CASES[name]
    run = lw.simulate(mechanism, t, samples=61, **options)
    peer = stepwise(monkeypatch, mechanism, t, samples=61, **options)
    assert (run.statistics["compiled"], peer.statistics["compiled"]) == (1, 0)
    assert run.finished
    assert len(run.events) > 1
    assert [(e.name, e.what.split()[0]) for e in run.events] == [
        (e.name, e.what.split()[0]) for e in peer.events
    ]
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in peer.events], atol=1e-10)
    scale = 1 + np.abs(peer.qd).max()
    np.testing.assert_allclose(run.q, peer.q, atol=1e-10 * scale)
    np.testing.assert_allclose(run.qd, peer.qd, atol=1e-9 * scale)
    np.testing.assert_allclose(run.qdd, peer.qdd, atol=1e-8 * (1 + np.abs(peer.qdd).max()))
    np.testing.assert_allclose(run.work, peer.work, atol=1e-9 * (1 + np.ptp(peer.work)))
    if peer.borne is None:
        assert run.borne is None
    else:
        atol = 1e-8 * (1 + np.abs(peer.pushes).max())
        np.testing.assert_allclose(run.borne, peer.borne, atol=atol)
    if not mechanism.loops:  # in a loop, sticking joints may share a load in many ways
        atol = 1e-8 * (1 + np.abs(peer.pushes).max())
        np.testing.assert_allclose(run.pushes, peer.pushes, atol=atol)


def compiled_run(mechanism: lw.Mechanism, t: float, **options: Any) -> Run:
    run = lw.simulate(mechanism, t, **options)
    assert run.statistics["compiled"] == 1
    assert run.finished
    return run


def test_a_bouncing_ball_comes_to_rest() -> None:
    """Infinitely many bounces end at t₁ + 2 v e/(g (1 − e)); then the floor carries the weight."""
    run = compiled_run(ball(restitution=0.5), 2.0, q0=[1.0], samples=61)
    end = FREE_FALL + 2 * FREE_FALL * 0.5 / (1 - 0.5)
    rests = next(e.t for e in run.events if e.what == "rests")
    slowest = (
        EVENT_TOLERANCES.rebound_share * G * FREE_FALL
    )  # below this speed, it is not thrown back
    assert 0 < end - rests < 2 * slowest / (G * (1 - 0.5))
    lies = run.t > end
    assert (run.q[lies] == 0.0).all()
    np.testing.assert_allclose(run.pushes[lies], 2 * G)


def test_an_oscillator_sticks() -> None:
    """Each half period π √(m/k) the amplitude loses 2 F/k, until it sticks; drift is projected."""
    run = compiled_run(oscillator(), 10.0, q0=[1.05], samples=101)
    turns = np.pi / np.sqrt(10) * np.arange(1, 6)
    np.testing.assert_allclose([e.t for e in run.events[1:]], turns, atol=1e-8)
    stuck = run.t > turns[-1]
    assert (run.qd[stuck] == 0.0).all()
    assert np.ptp(run.q[stuck]) < 1e-14


def test_joints_of_a_loop_stick_until_all_of_them_are_at_their_limits() -> None:
    """The power of the load along the one motion of the loop is that of friction at its limits,
    4 + 2 N m: no joint slides before the others."""
    mechanism = limited_four_bar()
    times, moments = [0.0, 0.5, 1.0], [0.0, 20.0, -20.0]
    run = compiled_run(
        mechanism, 0.4, qd0={"theta1": 0.9}, torque={"tau1": (times, moments)}, stops="impact",
        samples=41,
    )  # fmt: skip
    starts = {e.t for e in run.events if e.what == "slides" and e.t > 0}
    assert len(starts) == 1
    t = starts.pop()
    model = lw.compile(mechanism.without("friction"))
    q = run.q[int(np.searchsorted(run.t, t)) - 1]
    J = model.constraint_jacobian(q)
    motion = np.linalg.svd(J)[2][-1]
    load = -model.bias(q, np.zeros(3))
    load[0] += np.interp(t, times, moments)
    relative = [motion[0], motion[1] - motion[0]]
    assert abs(load @ motion) == pytest.approx(np.abs(relative) @ [4, 2], rel=1e-9)


def test_a_stop_lets_go_when_the_motor_lifts() -> None:
    """At rest straight down, the stop carries −τ of the motor, until this changes sign."""
    run = compiled_run(pendulum(0.0), 6.0, torque={"q": ([0, 2, 3, 6], [0, -3, 0, 9])}, samples=61)
    assert [e.what.split()[0] for e in run.events] == ["hit", "rests", "lets"]
    assert run.events[-1].t == pytest.approx(3.0, abs=1e-10)
    lies = (run.t > run.events[0].t) & (run.t < 3)
    motor = np.interp(run.t[lies], [0, 2, 3], [0, -3, 0])
    np.testing.assert_allclose(run.pushes[lies, 0], -motor, atol=1e-9)
    np.testing.assert_allclose(run.q[lies], -np.pi / 2, atol=1e-15)


def test_a_table_slides_to_rest() -> None:
    """On four legs with friction: it stops at v/(μ g), at v²/(2 μ g), and each leg carries."""
    run = compiled_run(table(), 0.6, qd0={"f.vx": 1.2, "f.vy": 0.9}, samples=61)
    assert run.events[-1].what == "sticks"
    assert run.events[-1].t == pytest.approx(1.5 / (0.5 * G), abs=1e-10)
    way = 1.5**2 / (2 * 0.5 * G)
    np.testing.assert_allclose(run.q[-1, :3], [0.8 * way, 0.6 * way, 0], atol=1e-9)
    np.testing.assert_allclose(run.pushes[-1], [0, 0, 0, 0, 0, 3 * G], atol=1e-9)


def test_a_spinning_table_is_that_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """The directions of friction turn with the legs. While a leg is slow, its friction turns
    gradually, from a direction that depends on the steps: hence 1e-8 for velocities."""
    options: dict[str, Any] = {"qd0": [0, 0, 2.0, 1.5, 0.3, 0], "samples": 31}
    run = compiled_run(table(), 0.6, **options)
    peer = stepwise(monkeypatch, table(), 0.6, **options)
    np.testing.assert_allclose(run.q, peer.q, atol=1e-9)
    np.testing.assert_allclose(run.qd, peer.qd, atol=1e-8)
    assert run.audit < 1e-9
