"""Events that a user gives, and laws of impacts on random mechanisms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.simulation import Event, load_run
from linkwright.simulation.events.boxes import solve_box_complementarity
from linkwright.simulation.events.dynamics import Dynamics, DynamicsCode
from linkwright.simulation.events.friction_problem import FrictionProblem
from linkwright.simulation.events.impacts import solve_impact
from linkwright.simulation.events.rows import ModeRows
from tests.commands import ok
from tests.commands import run as command

G = 9.81
STONE = lw.Mechanism(
    name="stone", bodies={"stone": {"mass": 1}}, parameters={"top": 2},
    joints={"z": {"type": "prismatic", "child": "stone"}},
)  # fmt: skip


def test_events_are_noted_and_do_not_disturb() -> None:
    """Thrown up at 10 m/s: both passages of 2 m, and the top; the motion is that without events."""
    events = {"level": "z - top", "turn": "dz", "up": Event("z - 1", direction="rising")}
    run = lw.simulate(STONE, 2.0, qd0=[10], events=events, samples=21)
    root = np.sqrt(100 - 4 * G)
    wanted = [(10 - np.sqrt(100 - 2 * G)) / G, (10 - root) / G, 10 / G, (10 + root) / G]
    np.testing.assert_allclose([e.t for e in run.events], wanted, atol=1e-12)
    assert [e.name for e in run.events] == ["up", "level", "turn", "level"]
    plain = lw.simulate(STONE, 2.0, qd0=[10], samples=21)
    np.testing.assert_array_equal(run.q, plain.q)


def test_stop() -> None:
    event = {"down": {"when": "z - top", "action": "stop", "direction": "falling"}}
    run = lw.simulate(STONE, 5.0, qd0=[10], events=event, samples=11)
    end = (10 + np.sqrt(100 - 4 * G)) / G
    assert run.status.endswith("by event 'down'")
    assert not run.finished
    np.testing.assert_allclose([run.t[-1], run.q[-1, 0]], [end, 2], atol=1e-12)


@pytest.mark.parametrize(
    "action", [{"dz": "-0.5*dz"}, lambda t, q, qd: (q, -0.5 * qd)], ids=["table", "function"]
)
def test_change(action: Any) -> None:
    """A bounce of one's own; what it takes is work."""
    event = {"floor": Event(lambda t, q, qd: q[0], action, "falling")}
    run = lw.simulate(STONE, 0.8, q0=[1], events=event, samples=9)
    first = np.sqrt(2 / G)
    np.testing.assert_allclose([e.t for e in run.events], [first], atol=1e-12)
    late = 0.8 - first
    np.testing.assert_allclose(run.q[-1, 0], 0.5 * G * first * late - G * late**2 / 2, atol=1e-10)
    np.testing.assert_allclose(run.work[-1], -0.75 * G, rtol=1e-9)
    assert run.audit < 1e-10


@pytest.mark.parametrize("action", [{"dtheta1": "-0.5*dtheta1"}, {"theta1": 1.2}])
@pytest.mark.parametrize(
    "how", [{}, {"coordinates": "minimal"}, {"stabilization": "baumgarte"}], ids=str
)
def test_change_of_a_linkage(how: dict[str, Any], action: dict[str, Any]) -> None:
    """What is given is taken to the digit; the rest follows from the loop, and energy is work."""
    event = {"b": Event("theta1 - 1.5", action)}
    linkage = lw.gallery("four-bar")
    start = {"q0": {"theta1": 1.0}, "qd0": {"theta1": 2.0}}
    before = lw.simulate(linkage, 0.6, events={"b": Event("theta1 - 1.5", "stop")}, **start, **how)
    t, speed = before.t[-1], before.qd[-1, 0]
    run = lw.simulate(linkage, t + 1e-9, events=event, samples=2, **start, **how)
    found, wanted = run.q[-1, 0], 1.2
    if "dtheta1" in action:
        found, wanted = run.qd[-1, 0], -0.5 * speed
    np.testing.assert_allclose(found, wanted, atol=1e-7)
    assert np.abs(lw.compile(linkage).constraint_velocity(run.q[-1], run.qd[-1])).max() < 1e-8
    later = lw.simulate(linkage, t + 0.1, events=event, samples=5, **start, **how)
    assert len(later.events) == 1
    assert max(run.audit, later.audit) < 1e-7
    assert later.closure.max() < 1e-9


@pytest.mark.parametrize("e", [0.5, 0.01, 0.0])
def test_bounces_of_one_s_own_pile_up(e: float) -> None:
    """They end at t₁ (1 + 2e/(1 − e)), by the geometric series; nothing falls through."""
    event = {"floor": Event("z", {"dz": f"-{e}*dz"}, "falling")}
    run = lw.simulate(STONE, 3.0, q0=[1], events=event, samples=31)
    assert "events follow each other without end (floor)" in run.status
    assert 'let it "stop"' in run.status
    np.testing.assert_allclose(run.t[-1], np.sqrt(2 / G) * (1 + 2 * e / (1 - e)), atol=1e-5)
    assert run.q.min() > -1e-12


@pytest.mark.parametrize("when", ["z - 1", "z - 1/3", "sin(z) - 0.3"])
def test_an_action_that_stops_the_motion_at_its_event(when: str) -> None:
    still = STONE.model_copy(update={"gravity": [0, 0, 0]})
    event = {"here": Event(when, {"dz": 0})}
    run = lw.simulate(still, 3.0, qd0=[1], events=event, samples=4)
    assert run.finished
    assert len(run.events) == 1


def test_a_passage_at_the_end_of_a_step_is_noted_once() -> None:
    still = STONE.model_copy(update={"gravity": [0, 0, 0]})
    run = lw.simulate(still, 3.0, qd0=[1], events={"beat": "sin(pi*z)"}, samples=4)
    assert run.finished
    np.testing.assert_allclose([e.t for e in run.events], [1, 2, 3], atol=1e-12)


def test_many_passages_in_one_step() -> None:
    """The stone falls in one long step; the sine passes zero many times in it."""
    run = lw.simulate(STONE, 2.0, events={"beat": "sin(6*t) + 0.3"}, samples=2)
    assert run.statistics["steps"] < 10
    low = np.arcsin(-0.3)
    passes = [(x + 2 * np.pi * k) / 6 for k in range(3) for x in (np.pi - low, 2 * np.pi + low)]
    inside = [t for t in passes if t < 2]
    assert len(inside) == 3
    np.testing.assert_allclose([e.t for e in run.events], inside, atol=1e-12)


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"a": "q7 - 1"}, "unknown name 'q7'"),
        ({"a": 3}, "neither text nor a function"),
        ({"a": {"when": "z", "action": "jump"}}, "is not an action"),
        ({"a": {"when": "z", "direction": "up"}}, "is not a direction"),
        ({"a": {"wen": "z"}}, "unknown key 'wen'"),
        ({"a": {"when": "z - 0.5", "action": {"dy": 1}}}, "unknown coordinate or speed 'dy'"),
        (["z"], "are not a table"),
    ],
)
def test_bad_events(events: Any, message: str) -> None:
    with pytest.raises(LinkwrightError, match=message):
        lw.simulate(STONE, 1.0, q0=[1], events=events)


@pytest.mark.parametrize(
    ("event", "height", "message"),
    [
        (Event("z - 0.5", lambda t, q, qd: q), 0.5, "events.a: the action returns no state"),
        (Event("z - 0.5", {"dz": "sqrt(-z)"}), 0.5, "events.a: the new 'dz' is not finite"),
        ("sqrt(z - 0.5) + 1", 0.5, "events.a: its value is not finite"),
        ("sqrt(z - 10)", 1.0, "events.a: its value is not finite"),
        (lambda t, q, qd: np.nan, 1.0, "events.a: its value is not finite"),
    ],
)
def test_events_that_fail_on_the_way(event: Any, height: float, message: str) -> None:
    """The run ends there with what it has."""
    run = lw.simulate(STONE, 1.0, q0=[1], events={"a": event}, samples=101)
    assert message in run.status
    np.testing.assert_allclose(run.q[-1, 0], height, atol=1e-12)
    assert len(run.t) == int(100 * np.sqrt(2 * (1 - height) / G)) + 1 + (height < 1)


def test_a_drive_that_fails_on_the_way() -> None:
    def drive(t: float, q: Any, qd: Any) -> Any:
        if t > 0.5:
            raise LinkwrightError("no current", where="motor")
        return [0.0]

    run = lw.simulate(STONE, 1.0, torque=drive, max_step=0.01, samples=101)
    assert "motor: no current" in run.status
    assert 0.45 < run.t[-1] <= 0.5


def test_commands(tmp_path: Path) -> None:
    file, out = tmp_path / "slide.toml", tmp_path / "run.nc"
    file.write_text(
        'name = "slide"\n[bodies.b]\nmass = 1\n[joints.z]\ntype = "prismatic"\nchild = "b"\n'
        "limits = { lower = -1 }\n",
        encoding="utf-8",
    )
    said = json.loads(
        ok("simulate", str(file), "-t", "1", "--stops", "impact", "--event", "half=z + 0.5",
           "-o", str(out), "--json")
    )  # fmt: skip
    assert [event[1:] for event in said["events"]] == [["half", "passed"], *said_of_stop()]
    assert [e.name for e in load_run(out).events] == ["half", "z lower", "z lower"]
    done = command("simulate", str(file), "-t", "1", "--stop-when", "half=z + 0.5")
    assert done.returncode == 1
    assert "by event 'half'" in done.stderr
    done = command("simulate", str(file), "-t", "1")
    assert done.returncode == 1
    assert "the limit 'z lower' is reached" in done.stderr


def said_of_stop() -> list[list[str]]:
    v = np.sqrt(2 * G)
    return [["z lower", f"hit at {v:.6g} m/s, impulse {v:.6g} N s"], ["z lower", "rests"]]


# -- laws ------------------------------------------------------------------------------------


def hedgehog(rng: np.random.Generator, count: int, mu: float) -> lw.Mechanism:
    """A chain on a free base with points all over, and the ground under them."""
    bodies = {
        f"b{k}": {"mass": rng.uniform(0.5, 3), "center": rng.uniform(-0.2, 0.2, 3).tolist(),
                  "inertia": rng.uniform(0.2, 0.3, 3).tolist()}
        for k in range(3)
    }  # fmt: skip
    joints: dict[str, Any] = {"base": {"type": "free", "child": "b0"}}
    for k in (1, 2):
        joints[f"q{k}"] = {
            "type": "revolute", "parent": f"b{k - 1}", "child": f"b{k}",
            "origin": rng.uniform(-0.5, 0.5, 3).tolist(), "axis": rng.uniform(-1, 1, 3).tolist(),
        }  # fmt: skip
    frames = {
        f"p{k}": {"body": f"b{rng.integers(3)}", "origin": rng.uniform(-1, 1, 3).tolist()}
        for k in range(count)
    }
    contacts = {
        name: {"point": name, "restitution": rng.uniform(0, 1), "friction": mu} for name in frames
    }
    return lw.Mechanism(
        name="hedgehog", bodies=bodies, joints=joints, frames=frames, contacts=contacts
    )


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.7]), st.booleans())
def test_energy_never_grows_at_an_impact(seed: int, count: int, mu: float, single: bool) -> None:
    """Any number of contacts of any restitution at once, with and without friction; nothing that
    touches goes on closing, impulses push, and without friction Newton's rule holds."""
    rng = np.random.default_rng(seed)
    mechanism = hedgehog(rng, count, mu)
    model = lw.compile(mechanism, threads=1)
    rows = ModeRows(mechanism, "ignore")
    dynamics = Dynamics(DynamicsCode(mechanism, model, rows))
    q = model.integrate(model.neutral(), rng.uniform(-1, 1, model.nv))
    qd = rng.uniform(-2, 2, model.nv)
    instant = dynamics.at(0.0, q, qd, np.zeros(model.nv))
    closed = list(range(count))
    found = solve_impact(instant, closed, dict.fromkeys(closed, 0.0), one_by_one=single)
    T = model.kinetic_energy(q, qd)
    assert model.kinetic_energy(q, found.qd) <= T * (1 + 1e-12)
    assert (instant.R[:count] @ found.qd >= -1e-8).all()
    assert all(x > 0 for x in found.impulses.values())
    if mu == 0 and count == 1 and found.impulses:
        e = rows.unilaterals[0].restitution
        np.testing.assert_allclose(instant.R[0] @ found.qd, -e * (instant.R[0] @ qd), rtol=1e-8)


@given(st.integers(0, 10**6))
def test_boxes_are_solved(seed: int) -> None:
    """Bounds, signs and complementarity, of matrices that may be singular."""
    rng = np.random.default_rng(seed)
    n, rank = rng.integers(1, 7), rng.integers(1, 7)
    G_ = rng.normal(size=(rank, n))
    A, b = G_.T @ G_, G_.T @ rng.normal(size=rank)
    low, high = np.zeros(n), np.where(rng.random(n) < 0.5, np.inf, rng.uniform(0, 1, n))
    x = solve_box_complementarity(A, b, low, high)
    w = A @ x + b
    assert ((x >= low) & (x <= high)).all()
    assert (w[x <= low] >= -1e-7).all()
    assert (w[x >= high] <= 1e-7).all()
    np.testing.assert_allclose(w[(x > low) & (x < high)], 0, atol=1e-7)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.sampled_from([0.0, 0.2, 0.7]))
def test_compression_ends_by_its_laws(seed: int, count: int, mu: float) -> None:
    """Nothing pulls or goes on closing, what presses does not open; friction is at most μ n, and
    as much against the slip where there is any."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(3, 7))
    B = rng.normal(size=(3 * count, rank))
    problem = FrictionProblem(B @ B.T, B @ rng.normal(size=rank), np.full(count, mu))
    p = problem.solve().reshape(-1, 3)
    u = (problem.u + problem.W @ p.ravel()).reshape(-1, 3)
    small = 1e-10 * np.abs(problem.u).max()
    assert (p[:, 0] >= 0).all()
    assert (u[:, 0] >= -small).all()
    np.testing.assert_allclose(p[:, 0] * u[:, 0], 0, atol=1e-9)
    assert (np.hypot(*p[:, 1:].T) <= mu * p[:, 0] * (1 + 1e-9) + 1e-12).all()
    slips = np.hypot(*u[:, 1:].T)
    wanted = -mu * p[:, :1] * u[:, 1:] / np.maximum(slips, 1e-300)[:, None]
    slides = slips > 1e-6
    np.testing.assert_allclose(p[slides, 1:], wanted[slides], atol=1e-6)


def test_a_tumbling_body_comes_to_rest() -> None:
    """Thrown on the ground with friction: energy falls all the way, and nothing goes under."""
    rng = np.random.default_rng(1)
    corners = {f"c{k}": {"body": "box", "origin": [x, y, z]} for k, (x, y, z) in enumerate(
        (x, y, z) for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.1, 0.1))}  # fmt: skip
    box = lw.Mechanism(
        name="box", bodies={"box": {"mass": 2, "inertia": [0.03, 0.05, 0.07]}},
        joints={"b": {"type": "free", "child": "box"}}, frames=corners,
        contacts={c: {"point": c, "restitution": 0.4, "friction": 0.5} for c in corners},
    )  # fmt: skip
    rng.normal(size=2)
    q0 = np.array([0, 0, 1.0, *rng.normal(size=4)])
    q0[3:] /= np.linalg.norm(q0[3:])
    run = lw.simulate(box, 1.5, q0=q0, qd0=rng.uniform(-1, 1, 6), samples=31)
    assert run.finished
    assert run.audit < 1e-7
    assert (np.diff(run.energy) < 1e-7).all()
    model = lw.compile(box)
    assert min(model.placement(c)(run.q)[:, 2, 3].min() for c in corners) > -1e-8
    np.testing.assert_allclose(run.qd[-1], 0, atol=1e-9)
