"""Moving mechanisms as a page does, in Node: loops that close, bodies that are dragged, motions."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest

import linkwright as lw
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

pytestmark = needs_node


@pytest.mark.parametrize("name", ["elbow", "four-bar", "stewart", "sharp-edged-disk"])
def test_a_second_of_motion_is_that_of_simulate(name: str) -> None:
    """In sixty calls, as on a page; both integrators have a tolerance of 1e-10 or less. The last
    one has a drive, which turns it from the start on."""
    mechanism = lw.gallery(name)
    model = lw.compile(mechanism)
    q = np.array([0.3, 0.5]) if name == "elbow" else model.home()
    found = run_modules(
        "state simulation",
        STATE + f"state.q.set({q.tolist()}); state.touch();"
        "for (let k = 0; k < 60; k++) if (!simulation.advance(1 / 60)) break;"
        "return [state.q, state.qd, state.t, simulation.message, simulation.history.t.length]",
        lw.live.scene(mechanism),
    )
    run = lw.simulate(mechanism, 1.0, q0=q, samples=2, rtol=1e-12, atol=1e-13)
    assert found[3] == ""
    assert found[2] == pytest.approx(1.0, abs=1e-12)
    assert found[4] > 100
    np.testing.assert_allclose(found[0], run.q[-1], atol=1e-9)
    np.testing.assert_allclose(found[1], run.qd[-1], atol=1e-9)


def test_a_platform_that_becomes_singular_ends_with_a_sentence_soon() -> None:
    """The legs of this Stewart platform reach a position in which they cannot carry it: the motion
    has no end there in `simulate`, and a million steps took the page two minutes."""
    stewart = lw.gallery("stewart")
    first = lw.compile(stewart).qd_names[0]
    start = lw.simulate(stewart, 0.01, samples=2, qd0={first: 1.7})
    told, t, steps = run_modules(
        "state simulation",
        STATE
        + f"state.q.set({start.q[0].tolist()}); state.qd.set({start.qd[0].tolist()}); state.touch();"
        "const tell = state.functions, own = tell.simulate.bind(tell); let steps = 0;"
        "tell.simulate = (given) => { const found = own(given); steps += found.steps; return found; };"
        "for (let k = 0; k < 180; k++) if (!simulation.advance(1 / 60)) break;"
        "return [simulation.message, state.t, steps];",
        lw.live.scene(stewart),
    )
    assert told.startswith("The motion cannot go on at t = 2.0")
    assert told.endswith("its steps become too small.")
    assert 2.0 < t < 2.05
    assert steps < 25_000


def test_parameters_efforts_and_energies_are_those_of_the_model() -> None:
    mechanism = lw.gallery("elbow")
    changed = mechanism.with_parameters(m2=2.5, l1="0.7 m")
    found = run_modules(
        "state simulation closing",
        STATE
        + "m.setParameters(state, scene.parameters.map((one) => ({m2: 2.5, l1: 0.7})[one.name] ?? one.value));"
        "state.u.set([1.5, -0.5]); const start = [state.energies(), state.anchors];"
        "simulation.advance(0.5); return [state.q, state.energies(), state.t, ...start]",
        lw.live.scene(mechanism),
    )
    run = lw.simulate(changed, 0.5, samples=2, torque=[1.5, -0.5], rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(found[0], run.q[-1], atol=1e-9)
    np.testing.assert_allclose(found[1], [run.kinetic[-1], run.potential[-1]], atol=1e-8)
    assert found[3][1] == pytest.approx(run.potential[0], abs=1e-12)


def test_loops_close_while_a_crank_is_turned_all_the_way() -> None:
    """By steps of a slider, once around: the branch stays, as Freudenstein's equation has it."""
    bar = lw.gallery("four-bar")
    l1, l2, l3, l4 = (float(bar.values[name]) for name in ("l1", "l2", "l3", "l4"))
    rows = run_modules(
        "state closing simulation",
        STATE
        + """const found = [];
        for (let k = 0; k <= 20; k++) { const said = m.setCoordinate(state, 0, scene.home[0] + k * 0.31); found.push([said, ...state.q]); }
        return found;""",
        lw.live.scene(bar),
    )
    for said, crank, coupler, rocker in rows:
        assert said == ""
        x = l1 * np.cos(crank) + l2 * np.cos(coupler) - l3 * np.cos(rocker) - l4
        y = l1 * np.sin(crank) + l2 * np.sin(coupler) - l3 * np.sin(rocker)
        assert np.hypot(x, y) < 1e-9
    assert max(abs(a[2] - b[2]) for a, b in pairwise(rows)) < 0.5


def test_what_cannot_close_keeps_the_last_good_state_and_says_so() -> None:
    bar = lw.gallery("four-bar")
    said_length, p, said_angle, q, limit = run_modules(
        "state closing simulation",
        STATE
        + """const k = scene.parameters.findIndex((one) => one.name === "l2");
        const values = Float64Array.from(state.p); values[k] = 60;
        const said = m.setParameters(state, values), p = state.p[k];
        state.resetAll();
        const rocker = m.setCoordinate(state, 2, scene.home[2] + 2.5);
        return [said, p, rocker, state.q, state.functions.close({q: state.q, p: Array.from(state.p), hold: ["theta3"]}).closed];""",
        lw.live.scene(bar),
    )
    assert "last good one stays" in said_length
    assert 3.0 < p < 60
    assert "cannot close beyond theta3" in said_angle
    assert limit
    l1, l2, l3, l4 = (float(bar.values[name]) for name in ("l1", "l2", "l3", "l4"))
    # at the limit of the rocker, the crank is folded over the coupler: the law of cosines
    reach = np.arccos((l4**2 + l3**2 - (l2 - l1) ** 2) / (2 * l3 * l4))
    assert q[2] == pytest.approx(np.pi - reach, abs=0.02)


def test_stewart_follows_one_leg_while_the_others_keep_their_lengths() -> None:
    mechanism = lw.gallery("stewart")
    model = lw.compile(mechanism)
    legs = [k for k, name in enumerate(model.q_names) if name.startswith("d")]
    before, after, said = run_modules(
        "state closing simulation",
        STATE + f"const before = Array.from(state.q);"
        f"const said = m.setCoordinate(state, {legs[0]}, before[{legs[0]}] + 0.05);"
        "return [before, state.q, said];",
        lw.live.scene(mechanism),
    )
    assert np.abs(model.constraint_residual(np.array(after))).max() < 1e-9
    assert said == ""
    assert after[legs[0]] - before[legs[0]] == pytest.approx(0.05, abs=1e-12)


@pytest.mark.parametrize("name", ["elbow", "four-bar", "six-axis"])
def test_a_body_follows_the_mouse(name: str) -> None:
    """Paused: the grabbed point reaches a near target that it can reach, with loops closed."""
    mechanism = lw.gallery(name)
    model = lw.compile(mechanism)
    q = (
        np.array([0.3, 0.8])
        if name == "elbow"
        else model.home() + (0.2 if name == "six-axis" else 0)
    )
    link = {"elbow": 1, "four-bar": 1, "six-axis": 5}[name]
    left, end, target = run_modules(
        "vectors state closing simulation",
        STATE + f"state.q.set({q.tolist()}); state.touch();"
        f"const link = {link}, point = [0.2, 0, 0], goal = Float64Array.from(state.q);"
        "const near = m.dragPoint; if (state.hasLoops) m.setCoordinate(state, 0, state.q[0] + 0.2);"
        "else { for (let k = 0; k < state.q.length; k++) state.q[k] += 0.1; state.touch(); }"
        "const target = m.carryPoint(state.poses, link, point);"
        "state.q.set(goal); state.touch();"
        "let left = 0; for (let k = 0; k < 12; k++) left = near(state, link, point, target);"
        "return [left, state.q, target];",
        lw.live.scene(mechanism),
    )
    assert left < 1e-5
    assert np.isfinite(target).all()
    if model.names.constraints:
        assert np.abs(model.constraint_residual(np.array(end))).max() < 1e-9


def test_a_hand_pulls_by_a_spring_with_the_right_generalized_force() -> None:
    """Held in one place, a pendulum comes to rest where spring and weight balance."""
    text = """
name = "pendulum"
[bodies.rod]
mass = 2.0
center = [1, 0, 0]
inertia = [0, 0.1, 0.1]
[joints.q]
type = "revolute"
parent = "ground"
child = "rod"
axis = [0, -1, 0]
damping = 40.0
"""
    pendulum = lw.load(text)
    q, force = run_modules(
        "state simulation closing",
        STATE
        + """simulation.hold({ link: 0, point: scene.bodies[0].point, target: [1, 0, 0] });
        for (let k = 0; k < 600; k++) simulation.advance(1 / 60);
        return [state.q[0], simulation.hand.force];""",
        lw.live.scene(pendulum),
    )
    k, weight = 60 * 2.0, 2.0 * 9.81  # the stiffness that a page chooses for 2 kg
    x, z = np.cos(q), np.sin(q)
    moment = -weight * x - k * (1 - x) * z - k * z * x  # about the pivot: (x, z) × (force, weight)
    assert abs(moment) < 1e-2
    np.testing.assert_allclose(force, [k * (1 - x), 0, -k * z], atol=1e-3)


def test_a_stop_acts_on_the_page_as_in_simulate() -> None:
    text = """
name = "drop"
[bodies.mass]
mass = 1.0
[joints.z]
type = "prismatic"
parent = "ground"
child = "mass"
axis = [0, 0, 1]
limits = { lower = 0.0, restitution = 0.5 }
"""
    drop = lw.load(text)
    q, low = run_modules(
        "state simulation",
        STATE
        + """state.q[0] = 0.5; let low = 1;
        for (let k = 0; k < 50; k++) { simulation.advance(0.01); low = Math.min(low, state.q[0]); }
        return [state.q[0], low];""",
        lw.live.scene(drop),
    )
    fall = np.sqrt(2 * 0.5 / 9.81)
    after, speed = 0.5 - fall, 0.5 * 9.81 * fall
    assert q == pytest.approx(speed * after - 9.81 / 2 * after**2, abs=1e-9)
    assert low > -1e-6


def test_forces_on_a_body_are_mass_times_acceleration() -> None:
    """The reactions of a falling four-bar: every polygon closes with mass times acceleration."""
    bar = lw.gallery("four-bar")
    rows = run_modules(
        "vectors state simulation bodies",
        "globalThis.document ??= {};"
        + STATE
        + """state.qd.set([1.1, 0, 0]); const f = state.functions.project ? 0 : 0; simulation.advance(0.2);
        return scene.bodies.map((one) => { const found = m.bodyForces(state, one.link); return found.map((x) => x.name); });""",
        lw.live.scene(bar),
    )
    assert all("springs and loads" not in names for names in rows)
    assert all({"weight"} < set(names) for names in rows)


def test_weights_and_places_follow_the_parameters() -> None:
    """A mass of 4 kg weighs 4 g, its polygon closes, and the centre of a longer crank moves out."""
    bar = lw.gallery("four-bar")
    weight, names, crank, pin = run_modules(
        "vectors state simulation closing bodies",
        "globalThis.document ??= {};"
        + STATE
        + """const k = (name) => scene.parameters.findIndex((one) => one.name === name);
        const values = Float64Array.from(state.p); values[k("m2")] = 4; values[k("g")] = 5; values[k("l1")] = 1.2;
        m.setParameters(state, values); simulation.advance(0.1);
        const forces = m.bodyForces(state, scene.bodies[1].link);
        const away = (one) => Math.hypot(...state.worldOf(one));
        return [forces.find((one) => one.name === "weight").force, forces.map((one) => one.name), away(scene.bodies[0]), away(scene.joints[1])];""",
        lw.live.scene(bar),
    )
    np.testing.assert_allclose(weight, [0, -20.0, 0], atol=1e-12)
    assert "springs and loads" not in names
    assert crank == pytest.approx(0.6, abs=1e-12)
    assert pin == pytest.approx(1.2, abs=1e-12)


def test_rigid_contacts_rebound_with_their_restitution() -> None:
    """A ball that falls by h rises by e² h, then e⁴ h; the page's springs give way a little, for
    which half a percent of h is allowed. Its damping is not among the sliders."""
    ball = lw.gallery("bouncing-ball").with_parameters(e=0.7)
    scene = lw.live.scene(ball)
    heights = run_modules(
        "state simulation",
        STATE + "const found = []; for (let k = 0; k < 360; k++) { simulation.advance(1 / 240);"
        " found.push(state.q[1] + 0.95); } return found",
        scene,
    )
    peaks = [b for a, b, c in zip(heights, heights[1:], heights[2:], strict=False) if a < b >= c]
    np.testing.assert_allclose(peaks[:2], [0.95 * 0.7**2, 0.95 * 0.7**4], atol=0.005 * 0.95)
    shown = [one["name"] for one in scene.data["parameters"] if not one["hidden"]]  # type: ignore[attr-defined]
    assert shown == ["m", "r"]


def test_the_loss_of_a_contact_follows_from_its_restitution() -> None:
    """Hunt and Crossley's equation m δ̈ = -k δ^n (1 + d δ̇), integrated from the speed v to the
    separation, ends at -e v where d v is the loss."""
    for e, loss in zip((0.2, 0.5, 0.9), run_modules(
        "rebounds", "return [0.2, 0.5, 0.9].map(m.lossOfRestitution)"), strict=True):  # fmt: skip
        depth, speed, step = 0.0, 1.0, 1e-4
        while depth >= 0.0:
            middle = speed - step / 2 * depth * (1 + loss * speed)
            across = depth + step / 2 * speed
            speed -= step * across * (1 + loss * middle)
            depth += step * middle
        assert -speed == pytest.approx(e, abs=1e-3)


BOUNCING_ROD = """
name = "bouncing"
[bodies.rod]
mass = 2.0
center = [0.5, 0, 0]
inertia = [0, 0.1, 0.1]
[bodies.slider]
mass = 1.0
[joints.q]
type = "revolute"
child = "rod"
axis = [0, -1, 0]
limits = { lower = -0.5, upper = 0.9, restitution = 0.5 }
[joints.z]
type = "prismatic"
parent = "rod"
child = "slider"
axis = [1, 0, 0]
limits = { lower = 0.0, upper = 0.8, restitution = 0.3 }
"""


@pytest.mark.parametrize("memory", [True, False])
def test_bounces_on_stops_end_in_rest(memory: bool) -> None:
    """In sixty calls, one of which begins among the last bounces. With the speeds of earlier
    impacts, the motion is that of simulate; without them it comes to rest as well."""
    rod = lw.load(BOUNCING_ROD)
    q, qd, t, said, holds = run_modules(
        "state simulation",
        STATE
        + f"for (let k = 0; k < 60; k++) {{ if (!{json.dumps(memory)}) simulation.fastest = null;"
        " if (!simulation.advance(1 / 60)) break; }"
        "return [state.q, state.qd, state.t, simulation.message, state.holds]",
        lw.live.scene(rod),
    )
    run = lw.simulate(rod, 1.0, samples=2, rtol=1e-12, atol=1e-13)
    assert said == ""
    assert t == pytest.approx(1.0, abs=1e-12)
    assert holds == [1, 0, 0, 0]
    np.testing.assert_allclose(q, run.q[-1], atol=1e-9 if memory else 1e-6)
    np.testing.assert_allclose(qd, run.qd[-1], atol=1e-9 if memory else 1e-5)


def test_forces_at_a_stop_contain_the_stop() -> None:
    """A mass of 3 kg that fell onto its stop rests there: the joint bears its weight, and it does
    not accelerate; as soon as it is lifted, nothing bears it."""
    text = """
    name = "hung"
    gravity = [0, 0, -10]
    [bodies.mass]
    mass = 3.0
    [joints.z]
    type = "prismatic"
    child = "mass"
    axis = [0, 0, 1]
    limits = { lower = -0.1, restitution = 0 }
    """
    found = run_modules(
        "state simulation closing",
        STATE + "simulation.advance(0.5); const rest = [state.q[0], state.accelerations()[0],"
        " state.reactions()[5]]; m.setCoordinate(state, 0, 0.2);"
        " return [rest, [state.accelerations()[0], state.reactions()[5]]]",
        lw.live.scene(lw.load(text)),
    )
    np.testing.assert_allclose(found[0], [-0.1, 0, 30], atol=1e-9)
    np.testing.assert_allclose(found[1], [-10, 0], atol=1e-9)


def test_an_arm_in_space_that_swings_down_stays_in_the_first_view() -> None:
    """Let go at home, the PUMA falls forward; its last link remains in the picture."""
    places = run_modules(
        "state simulation camera",
        STATE
        + """const camera = new m.Camera(scene.view), found = []; camera.resize(900, 600);
        for (let k = 0; k < 60; k++) { simulation.advance(0.01);
          found.push(...scene.bodies.map((one) => camera.project(state.worldOf(one)).slice(0, 2))); }
        return found;""",
        lw.live.scene(lw.gallery("puma560")),
    )
    assert np.min(places) > 0
    assert (np.max(places, axis=0) < [900, 600]).all()


def test_many_limits_of_a_tree_act_as_in_simulate() -> None:
    """A hanging chain of thirteen links with 26 limits: what it hits, where it rests, what lets go."""
    links = "".join(
        f"[bodies.b{k}]\nmass = 1.0\ncenter = [0.1, 0, 0]\ninertia = [0, 0.01, 0.01]\n[joints.q{k}]\n"
        f'type = "revolute"\nparent = "{f"b{k - 1}" if k else "ground"}"\nchild = "b{k}"\n'
        f"axis = [0, -1, 0]\norigin = [{0.2 if k else 0}, 0, 0]\ndamping = 0.5\n"
        "limits = { lower = -0.3, upper = 0.4 }\n"
        for k in range(13)
    )
    chain = lw.load('name = "chain"\n' + links)
    scene = lw.live.scene(chain)
    assert scene.notes == ()
    q, holds, steps, evaluations = run_modules(
        "state simulation",
        STATE
        + "let steps = 0, evaluations = 0; const own = state.functions.simulate.bind(state.functions);"
        " state.functions.simulate = (given) => { const found = own(given); steps += found.steps;"
        " evaluations += found.evaluations; return found; };"
        " for (let k = 0; k < 60; k++) simulation.advance(1 / 60);"
        " return [state.q, state.holds, steps, evaluations]",
        scene,
    )
    run = lw.simulate(chain, 1.0, samples=2, stops="impact", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-8)
    assert sum(holds) >= 1
    assert evaluations < 18.5 * steps  # few steps look for events, which takes three more


def test_values_of_another_scene_are_taken_with_loops_closed() -> None:
    """As the studio does when a length was edited; lengths that cannot close there leave the start."""
    bar = lw.gallery("four-bar")
    keep = {"q": dict(zip(lw.compile(bar).names.q, lw.compile(bar).home(), strict=True))}
    for length, parameters, expected in (("1.3", {}, True), ("1.3", {"l2": 60.0}, False)):
        other = bar.with_parameters(l1=float(length) * float(bar.values["l1"]))
        closes, q, p = run_modules(
            "state closing simulation",
            STATE
            + f"const closes = m.restoreState(state, {json.dumps(keep | {'parameters': parameters})});"
            "return [closes, state.q, state.p]",
            lw.live.scene(other),
        )
        assert closes is expected
        model = lw.compile(other, parameters=["l2"])
        names = [one["name"] for one in lw.live.scene(other).data["parameters"]]  # type: ignore[index,union-attr,attr-defined]
        residual = model.constraint_residual(np.array(q), [p[names.index("l2")]])
        assert np.abs(residual).max() < 1e-9
