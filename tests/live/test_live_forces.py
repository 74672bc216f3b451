"""The forces that a live page shows: of recorded runs, at stops, and of four coordinates."""

from __future__ import annotations

import numpy as np

import linkwright as lw
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

pytestmark = needs_node

BOOM = """
name = "boom"
[bodies.jib]
mass = 30
center = [3, 0, 0]
inertia = [1, 90, 90]
[bodies.load]
mass = 5
center = [0, 0, -0.5]
inertia = [0.1, 0.1, 0.1]
[joints.luff]
type = "revolute"
axis = [0, -1, 0]
child = "jib"
limits = { lower = "-10 deg", upper = "80 deg", restitution = 0 }
[joints.swing]
type = "revolute"
axis = [0, 1, 0]
parent = "jib"
child = "load"
origin = [6, 0, 0]
"""


def test_forces_of_a_recorded_run_have_its_stops_and_efforts() -> None:
    """A jib that rests on its stop while its load swings, then one that a motor lifts: the page
    knows the reactions, and finds them itself where it goes on from there."""
    boom = lw.load(BOOM)
    for q0, torque in (([0.0, 0.4], None), ([0.3, 0.4], [2000.0, 0.0])):
        run = lw.simulate(boom, 0.6, q0=q0, torque=torque, samples=601)
        at = 500 if torque is None else 150
        recorded, acceleration, live = run_modules(
            "state simulation",
            STATE
            + f"const here = m.interpolate(scene.run, {run.t[at]});"
            + f"state.q.set(here.q); state.qd.set(here.qd); state.u.set({torque or [0.0, 0.0]});"
            + "state.touch(here.holds, here.known);"
            + "const known = [state.reactions(), state.accelerations()];"
            + "state.touch(); return [...known, state.reactions()];",
            lw.live.scene(boom, run),
        )
        if torque is None:
            assert abs(run.q[at, 0] + np.pi / 18) < 1e-9
        expected = run.reactions[at].ravel()
        size = np.abs(expected).max()
        np.testing.assert_allclose(recorded, expected, atol=1e-6 * size)
        np.testing.assert_allclose(acceleration, run.qdd[at], atol=1e-5)
        np.testing.assert_allclose(live, expected, atol=1e-4 * size)


def test_forces_before_an_impact_are_not_those_of_rest() -> None:
    """Falling onto the stop, but not there yet: nothing holds the jib."""
    boom = lw.load(BOOM)
    holds, acceleration = run_modules(
        "state simulation",
        STATE
        + "state.q.set([-Math.PI / 18 + 1e-3, 0.2]); state.qd.set([-0.5, 0]); state.touch();"
        + "return [state.settledHolds, state.accelerations()];",
        lw.live.scene(boom),
    )
    assert not np.any(holds)
    model = lw.compile(boom)
    q = np.array([-np.pi / 18 + 1e-3, 0.2])
    np.testing.assert_allclose(
        acceleration, model.forward_dynamics(q, [-0.5, 0.0], [0.0, 0.0]), rtol=1e-9
    )


def test_a_stop_that_holds_lets_go_when_an_effort_lifts() -> None:
    """In many calls, which remember what holds the motion until an effort changes."""
    boom = lw.load(BOOM)
    efforts = {0.0: [0.0, 0.0], 0.8: [1500.0, 0.0], 1.2: [0.0, 0.0]}
    q, held = run_modules(
        "state simulation",
        STATE
        + "const held = [];"
        + "".join(
            f"state.u.set({u}); for (let k = 0; k < {40 if t != 0.8 else 20}; k++) simulation.advance(0.02);"
            " held.push(Math.max(...state.holds));"
            for t, u in efforts.items()
        )
        + " return [state.q, held]",
        lw.live.scene(boom),
    )
    assert held[:2] == [1, 0]
    at, rate = lw.compile(boom).home(), np.zeros(2)
    for span, effort in ((0.8, 0.0), (0.4, 1500.0), (0.8, 0.0)):
        run = lw.simulate(
            boom, span, q0=at, qd0=rate, torque=[effort, 0.0], samples=2, rtol=1e-12, atol=1e-13
        )
        at, rate = run.q[-1], run.qd[-1]
    np.testing.assert_allclose(q, at, atol=1e-7)


CHAIN = "".join(
    f"""
[bodies.b{k}]
mass = 1
center = [0.2, 0.1, 0]
inertia = [0.01, 0.02, 0.03]
[joints.q{k}]
type = "revolute"
parent = "{f"b{k - 1}" if k else "ground"}"
child = "b{k}"
origin = [0.4, 0, 0]
axis = [0, {k % 2}, 1]
"""
    for k in range(4)
)


def test_a_mass_matrix_of_four_velocities_has_all_its_rows() -> None:
    """Not only three, as placements (4, 4) do."""
    chain = lw.load(CHAIN)
    q = [0.1, 0.7, -0.4, 1.1]
    (found,) = run_modules(
        "state simulation",
        STATE + f"state.q.set({q}); state.touch(); return [state.quantity('mass_matrix')]",
        lw.live.scene(chain, equations=lw.live.equations_of(chain)),
    )
    np.testing.assert_allclose(
        np.reshape(found, (4, 4)), lw.compile(chain).mass_matrix(q), rtol=1e-12
    )


def test_twenty_eight_limits_of_a_loop_act_as_in_simulate() -> None:
    """A necklace of fourteen links between two pins, which hangs until links reach their limits."""
    count = 14
    links = "".join(
        f"[bodies.b{k}]\nmass = 1.0\ncenter = [0.1, 0, 0]\ninertia = [0, 0.01, 0.01]\n[joints.q{k}]\n"
        f'type = "revolute"\nparent = "{f"b{k - 1}" if k else "ground"}"\nchild = "b{k}"\n'
        f"axis = [0, -1, 0]\norigin = [{0.2 if k else 0}, 0, 0]\ndamping = 0.5\n"
        f"limits = {{ lower = {-0.2 if k else -2}, upper = {0.3 if k else 1} }}\n"
        for k in range(count)
    )
    pin = (
        f'[loops.pin]\ntype = "revolute"\nparent = "b{count - 1}"\nchild = "ground"\naxis = [0, -1, 0]\n'
        f"origin = [0.2, 0, 0]\nchild_origin = [{0.17 * count}, 0, 0]\n[assembly]\nq0 = 0.6\n"
        + "".join(f"q{k} = -0.09\n" for k in range(1, count))
    )
    necklace = lw.load('name = "necklace"\n' + links + pin)
    scene = lw.live.scene(necklace)
    assert scene.notes == ()
    q, holds = run_modules(
        "state simulation",
        STATE
        + "for (let k = 0; k < 18; k++) simulation.advance(1 / 60); return [state.q, state.holds]",
        scene,
    )
    run = lw.simulate(necklace, 0.3, samples=2, stops="impact", rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-7)
    assert sum(holds) == 9
