"""Units, ranges and gains of a page's sliders, and the first view of linkages, in Node."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from tests.live.viewer_modules import STATE, run_modules
from tests.node import needs_node

PRESS = """
name = "press"
gravity = [0, "-g", 0]
[parameters]
g = 9.81
m = 2.0
k = "4 kN/m"
c = "30 N*s/m"
kt = 5.0
tilt = "20 deg"
[bodies.ram]
mass = "m"
[bodies.arm]
mass = 1.0
center = [0.3, 0, 0]
inertia = { zz = 0.02 }
[joints.stroke]
type = "prismatic"
child = "ram"
axis = ["sin(tilt)", "-cos(tilt)", 0]
stiffness = "k"
damping = "c"
limits = { effort = "50 N" }
[joints.turn]
type = "revolute"
parent = "ram"
child = "arm"
stiffness = "kt"
[actuators.push]
moves = "stroke"
[actuators.motor]
joint = "turn"
gear = 20
effort_range = [-3, 3]
[actuators.both]
moves = "turn + stroke"
"""


def test_parameters_have_the_unit_of_what_they_are_used_for() -> None:
    """A stiffness in N/m or N m/rad, by its joint; an angle in rad, so that 30 means degrees."""
    scene = lw.live.scene(lw.load(PRESS))
    units = {one["name"]: one["unit"] for one in scene.data["parameters"]}  # type: ignore[attr-defined]
    expected = {"g": "m/s^2", "m": "kg", "k": "N/m", "c": "N s/m", "kt": "N m/rad", "tilt": "rad"}
    assert units == expected
    disk = lw.live.scene(lw.gallery("rolling-disk")).data["parameters"]
    assert {one["name"]: one["unit"] for one in disk}["r"] == "m"  # type: ignore[attr-defined]


def test_parameters_are_shown_in_the_unit_of_the_file() -> None:
    """4 kN/m is 4 kN/m on the page, not 4000 kg/s²; an angle that also occurs in gravity is one."""
    words = PRESS.replace('[0, "-g", 0]', '["-g*sin(lean)", "-g*cos(lean)", 0]').replace(
        "g = 9.81", 'g = 9.81\nlean = "5 deg"'
    )
    scene = lw.live.scene(lw.load(words))
    shown = {
        one["name"]: (one.get("shown"), one.get("scale"))
        for one in scene.data["parameters"]  # type: ignore[attr-defined]
    }
    assert shown["k"] == ("kN/m", 1000.0)
    assert shown["c"] == ("N s/m", 1.0)
    assert shown["tilt"] == ("deg", pytest.approx(np.pi / 180))
    assert shown["kt"] == shown["g"] == (None, None)
    units = {one["name"]: one["unit"] for one in scene.data["parameters"]}  # type: ignore[attr-defined]
    assert (units["lean"], units["g"]) == ("rad", "m/s^2")


def test_efforts_have_the_unit_and_the_limits_of_what_they_drive() -> None:
    """The limit of a joint counts on the side of the actuator: 50 N by `moves`, ±3 N m by range."""
    found = {one["name"]: one for one in lw.live.scene(lw.load(PRESS)).data["efforts"]}  # type: ignore[attr-defined]
    assert [found["push"][key] for key in ("unit", "bound", "drives")] == ["N", 50.0, "stroke"]
    motor = [found["motor"][key] for key in ("unit", "bound", "drives", "share")]
    assert motor == ["N m", 3.0, "turn", 20.0]
    assert [found["both"][key] for key in ("unit", "drives")] == ["", None]


@needs_node
def test_gains_act_through_actuators_that_move_a_coordinate() -> None:
    """As a controller of `simulate` with 40 N m/rad and 3 N m s/rad; the page samples it at 1 kHz,
    which delays the efforts by half a millisecond on average."""
    bar = lw.gallery("four-bar")
    home = lw.compile(bar).home()
    found = run_modules(
        "state simulation",
        STATE + "state.stiffness = 40; state.damping = 3; simulation.advance(0.5);"
        "return [state.q, state.controlled()]",
        lw.live.scene(bar),
    )
    law = f"40*({float(home[0])!r} - theta1) - 3*dtheta1"
    run = lw.simulate(bar, 0.5, samples=2, torque={"tau1": law}, rtol=1e-11, atol=1e-12)
    free = lw.simulate(bar, 0.5, samples=2)
    assert abs(free.q[-1, 0] - run.q[-1, 0]) > 0.1
    np.testing.assert_allclose(found[0], run.q[-1], atol=2e-3)
    assert found[1] == pytest.approx([40 * (home[0] - run.q[-1, 0]) - 3 * run.qd[-1, 0]], abs=0.1)


@needs_node
def test_a_controller_gives_the_joint_its_stiffness_whatever_the_gear() -> None:
    found = run_modules(
        "state simulation",
        STATE + "state.stiffness = 8; state.q[1] = 0.25; state.touch(); return state.controlled()",
        lw.live.scene(lw.load(PRESS)),
    )
    assert found[1] * 20 == pytest.approx(-8 * 0.25)


@needs_node
def test_the_first_view_of_a_linkage_contains_its_whole_motion() -> None:
    """The crank of the four-bar (length 1, at the origin) turns all the way round; the rocker ends
    on a circle of radius 2.5 about (3.5, 0)."""
    bar = lw.gallery("four-bar")
    view, q, home = run_modules(
        "state simulation follow",
        STATE + "return [m.viewOfReach(state), state.q, scene.home]",
        lw.live.scene(bar),
    )
    assert q == home
    low = [view["middle"][k] - view["extent"][k] / 2 for k in (0, 1)]
    high = [view["middle"][k] + view["extent"][k] / 2 for k in (0, 1)]
    assert low[0] <= -1
    assert low[1] <= -1
    assert high[0] >= 3.5
    assert 2.3 <= high[1] < 3


@needs_node
def test_the_camera_stays_where_a_bouncing_ball_began() -> None:
    """A ball that begins near the edge of the picture does not draw the camera after it."""
    middles = run_modules(
        "camera follow",
        "const view = {planar: true, right: [1, 0, 0], up: [0, 0, 1], vertical: [0, 0, 1],"
        " middle: [0, 0, 0.5], extent: [1.2, 1.2], size: 1};"
        "const camera = new m.Camera(view); camera.resize(600, 400); const found = [];"
        "for (const z of [1, 0.5, 0.05, 0.7, 4, 0.05]) { m.followPoint(camera, [0, 0, z]);"
        " found.push(camera.middle[2]); } return found",
    )
    assert middles[:4] == [0.5] * 4
    assert 3 < middles[4] < 4
    assert middles[5] < 1


def test_a_page_starts_within_limits() -> None:
    """The knees of the quadruped bend at least 20°, and are straight at home."""
    legs = lw.gallery("quadruped")
    note = "Home is beyond the limits of lf_knee, rf_knee, lh_knee, rh_knee"
    scene = lw.live.scene(legs)
    assert any(one.startswith(note) for one in scene.notes)
    knees = [one for one in scene.data["coordinates"] if "knee" in one["name"]]  # type: ignore[attr-defined]
    assert [one["home"] for one in knees] == pytest.approx([-np.deg2rad(20)] * 4)
    assert not any("beyond" in one for one in lw.live.scene(lw.gallery("six-axis")).notes)
    with pytest.raises(lw.LinkwrightError, match=r"starts 0\.349 beyond 'lf_knee"):
        lw.simulate(legs, 0.1)


@needs_node
def test_a_falling_robot_starts_at_its_limits() -> None:
    """All 24 limits act; without contacts the centre of mass falls freely."""
    heights, said = run_modules(
        "state simulation follow",
        STATE + "const z = () => m.massCenter(state)[2], before = z();"
        "for (let k = 0; k < 30; k++) simulation.advance(0.01);"
        "return [[before, z()], simulation.message]",
        lw.live.scene(lw.gallery("quadruped")),
    )
    assert said == ""
    assert heights[1] - heights[0] == pytest.approx(-9.81 * 0.3**2 / 2, abs=1e-7)


@needs_node
def test_an_arm_of_seven_axes_stays_within_its_limits() -> None:
    arm = lw.gallery("seven-axis")
    scene = lw.live.scene(arm)
    rows = run_modules(
        "state simulation",
        STATE + "const found = []; for (let k = 0; k < 120; k++) { simulation.advance(1 / 60);"
        " found.push(state.q.slice()); } return found",
        scene,
    )
    ends = [(one["lower"], one["upper"]) for one in scene.data["coordinates"]]  # type: ignore[attr-defined]
    low, high = np.transpose(ends)
    assert (np.array(rows) >= low - 1e-6).all()
    assert (np.array(rows) <= high + 1e-6).all()
    assert (np.abs(rows[-1] - np.array(rows[0])) > 0.5).any()


GRIPPER = """
name = "gripper"
gravity = [0, 0, -10]
[bodies.left]
mass = 1.0
[bodies.right]
mass = 3.0
[joints.x]
type = "prismatic"
child = "left"
axis = [0, 0, 1]
limits = { lower = 0.0, upper = 0.1, restitution = 0 }
[joints.y]
type = "prismatic"
child = "right"
axis = [0, 0, 1]
mimic = { joint = "x", multiplier = 2 }
limits = { lower = 0.0, upper = 0.2, restitution = 0 }
"""


@needs_node
def test_fingers_that_mimic_each_other_rest_at_one_limit() -> None:
    """Both limits of the pair are reached at once: they are one stop, which bears the weights."""
    rest, said, up = run_modules(
        "state simulation",
        STATE
        + """state.q[0] = 0.05; state.touch(); for (let k = 0; k < 30; k++) simulation.advance(0.01);
        const rest = [state.q[0], state.qd[0], state.accelerations()[0]], said = simulation.message;
        state.u[0] = 200; simulation.advance(0.01); return [rest, said, state.qd[0]];""",
        lw.live.scene(lw.load(GRIPPER)),
    )
    assert said == ""
    np.testing.assert_allclose(rest, 0, atol=1e-9)
    assert up == pytest.approx(0.01 * (200 - 10 * (1 + 2 * 3)) / (1 + 4 * 3), abs=1e-9)


@needs_node
def test_gains_that_are_too_large_for_a_light_body_do_not_shake_it() -> None:
    """Sampled each 1 ms, 5 N s/m on 1 g would turn a velocity into -4 times itself: the controller
    takes it away instead, in one step."""
    body = (
        '[bodies.b]\nmass = 0.001\n[joints.x]\ntype = "prismatic"\nchild = "b"\naxis = [1, 0, 0]\n'
    )
    speed = run_modules(
        "state simulation",
        STATE + "state.qd[0] = 1; state.damping = 5; simulation.advance(0.02); return state.qd[0]",
        lw.live.scene(lw.load(f'name = "light"\n{body}')),
    )
    assert speed == pytest.approx(0, abs=1e-9)
