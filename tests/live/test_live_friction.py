"""Dry friction on live pages: it sticks and slides as in `simulate`; if it acts on too many joints of
a loop, it is smoothed as sharply as a page can afford, and said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.live import live_mechanism
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

BLOCKS = """
name = "blocks"
[bodies.heavy]
mass = 5.0
[bodies.light]
mass = 0.001
[joints.x]
type = "prismatic"
child = "heavy"
axis = [1, 0, 0]
friction = 1.0
[joints.y]
type = "prismatic"
child = "light"
axis = [0, 1, 0]
friction = 1.0
"""


PLAY = """
const found = [];
for (let k = 0; k < 180; k++) { simulation.advance(1 / 60); found.push(Array.from(state.q)); }
return [found, state.qd];
"""


def sticky(mechanism: lw.Mechanism, values: list[float], **law: Any) -> lw.Mechanism:
    """The mechanism with dry friction in its joints."""
    joints = {
        name: joint.model_copy(update={"friction": value, **law})
        for (name, joint), value in zip(mechanism.joints.items(), values, strict=True)
    }
    return mechanism.model_copy(update={"joints": joints})


@needs_node
@pytest.mark.parametrize("name", ["elbow", "four-bar"])
def test_joints_stick_and_slide_as_in_simulate(name: str) -> None:
    """Until they rest, and then nothing creeps."""
    count = len(lw.gallery(name).joints)
    mechanism = sticky(lw.gallery(name), [6.0, 3.0, 2.0][:count], static_ratio=1.5)
    scene = lw.live.scene(mechanism)
    assert scene.notes == ()
    first = {lw.compile(mechanism).qd_names[0]: 2.5}
    q0 = lw.compile(mechanism).home()
    run = lw.simulate(
        mechanism, t=3.0, samples=181, q0=q0, qd0=first, stops="impact", rtol=1e-11, atol=1e-12
    )
    found, rates = run_modules(
        "state simulation", STATE + f"state.qd.set({run.qd[0].tolist()});" + PLAY, scene
    )
    np.testing.assert_allclose(found, run.q[1:], atol=1e-8)
    assert run.events[-1].what == "sticks"
    np.testing.assert_allclose(rates, 0, atol=1e-15)
    np.testing.assert_allclose(found[-1], found[-2], atol=1e-15)


@needs_node
def test_the_size_of_friction_is_a_slider() -> None:
    """A block of 1 kg at 2 m/s slides by v²/2F."""
    block = lw.Mechanism(
        name="block",
        parameters={"F": 5.0},
        bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "axis": [1, 0, 0], "child": "b", "friction": "F"}},
    )
    found = run_modules(
        "state simulation",
        STATE + "state.qd[0] = 2; state.p[0] = 2.5; state.touch(); simulation.advance(1);"
        " return [state.q[0], state.qd[0]]",
        lw.live.scene(block),
    )
    assert found == pytest.approx([2**2 / (2 * 2.5), 0], abs=1e-10)


@needs_node
def test_a_joint_that_is_a_little_beyond_its_stop_turns_there() -> None:
    """As one is that rode along there: it leaves its stop slowly, friction and a force turn it in
    1e-8 s, and the stop holds it. Its gap below zero was taken for an event before that, again and
    again. Beside it, the heavy block slides under friction alone."""
    text = (
        BLOCKS
        + """
    limits = { upper = 0.25, restitution = 0.3 }
    [forces.push]
    type = "joint"
    on = "y"
    force = 3.0
    """
    )
    found, rates, told = run_modules(
        "state simulation",
        STATE
        + "state.q.set([0, 0.25 + 1.2e-9]); state.qd.set([2, -2e-4]); state.touch();"
        + "const told = [simulation.advance(0.5), simulation.message];"
        + "return [state.q, state.qd, told];",
        lw.live.scene(lw.load(text)),
    )
    assert told == [True, ""]
    assert found == pytest.approx([2 * 0.5 - 0.2 * 0.5**2 / 2, 0.25], abs=1e-9)
    assert rates == pytest.approx([2 - 0.2 * 0.5, 0], abs=1e-9)


@needs_node
def test_many_joints_of_a_tree_stick() -> None:
    """A hanging chain of seven links with limits and friction: 21 rows."""
    links = "".join(
        f"[bodies.b{k}]\nmass = 1.0\ncenter = [0.1, 0, 0]\ninertia = [0, 0.01, 0.01]\n[joints.q{k}]\n"
        f'type = "revolute"\nparent = "{f"b{k - 1}" if k else "ground"}"\nchild = "b{k}"\n'
        f"axis = [0, -1, 0]\norigin = [{0.2 if k else 0}, 0, 0]\nfriction = {6 - 0.4 * k}\n"
        "limits = { lower = -0.3, upper = 0.4, restitution = 0 }\n"
        for k in range(7)
    )
    chain = lw.load('name = "chain"\n' + links)
    scene = lw.live.scene(chain)
    assert scene.notes == ()
    found, rates = run_modules("state simulation", STATE + PLAY, scene)
    run = lw.simulate(chain, 3.0, samples=181, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(found, run.q[1:], atol=1e-7)
    assert {"slides", "sticks"} <= {event.what for event in run.events}
    assert len(rates) == 7


@needs_node
def test_friction_of_many_joints_of_a_loop_is_smooth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Light bodies slow down by friction that sets in later: m v̇ = -F tanh(v/v₀) has the solution
    sinh(v/v₀) = sinh(v₁/v₀) exp(-F t/(m v₀))."""
    monkeypatch.setattr(live_mechanism, "MAX_PAGE_STOPS", 1)
    tied = '[constraints.tie]\ntype = "equation"\nposition = "z"\n'
    rail = '[bodies.tied]\nmass = 1\n[joints.z]\ntype = "prismatic"\nchild = "tied"\n'
    scene = lw.live.scene(lw.load(BLOCKS + rail + tied))
    (note,) = scene.notes
    assert "smoothed at 0.005 to 0.037 m/s" in note
    speeds = (0.005, 0.037)
    start, end = 0.02, 5e-5
    found = run_modules(
        "state simulation",
        STATE + f"state.qd.fill({start}, 0, 2); simulation.advance({end}); return state.qd",
        scene,
    )
    for speed, mass, sharp in zip(found[:2], (5.0, 0.001), speeds, strict=True):
        decay = np.exp(-end / (mass * sharp))
        assert speed == pytest.approx(sharp * np.arcsinh(np.sinh(start / sharp) * decay), rel=1e-8)
        assert 1 / (mass * sharp) <= 80_000 / 2


def test_friction_by_a_reaction_is_shown_without_motion() -> None:
    """It cannot be smoothed: the page has the picture, and says why nothing runs."""
    text = (
        BLOCKS.split("[bodies.light]")[0]
        + """
    [joints.x]
    type = "prismatic"
    child = "heavy"
    axis = [1, 0, 0]
    friction_coefficient = 0.3
    """
    )
    scene = lw.live.scene(lw.load(text))
    assert "cannot simulate" in scene.notes[0]
    assert "rates" not in scene.data["table"]["functions"]  # type: ignore[index]
