"""Keyframes of MJCF files, and named poses in general: all functions take them by name."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import load
from linkwright.writers.toml_writer import write_toml
from tests.commands import ok, run
from tests.files.test_mjcf import Twin

KEYED = """
<mujoco model="keyed"><option timestep="1e-4"/><worldbody>
  <body name="leg"><joint name="hip" axis="0 1 0"/><geom size=".05" pos="0 0 -.4" mass="1.5"/>
    <body name="shin" pos="0 0 -.5"><joint name="knee" axis="0 1 0"/>
      <geom size=".05" pos="0 0 -.3" mass="0.7"/><site name="foot" pos="0 0 -.5"/></body></body>
  <body name="drone" pos="2 0 1"><freejoint name="air"/>
    <geom size=".1 .2 .3" type="box" mass="2"/></body>
</worldbody><actuator>
  <position joint="hip" kp="40" kv="3" name="servo"/>
  <general name="lag" joint="knee" gear="2" gainprm="3" dyntype="filter" dynprm="0.08"/>
</actuator><keyframe>
  <key name="home" qpos="0.3 -0.5 2 1 1 0.6 0.8 0 0" qvel="1 2 .1 .2 .3 .4 .5 .6" ctrl="0.2 0.1"
       act="0.4"/>
  <key qpos="0 0 0 0 0 1 0 0 0"/>
</keyframe></mujoco>
"""


def mujocos_end(twin: Twin, step: float) -> np.ndarray:
    """MuJoCo's state after 0.1 s from its keyframe: q, q̇, activations."""
    m, d = twin.m, twin.d
    m.opt.timestep = step
    mujoco.mj_resetDataKeyframe(m, d, 0)
    for _ in range(round(0.1 / step)):
        mujoco.mj_step(m, d)
    return np.concatenate([d.qpos, d.qvel, d.act])


def test_a_run_from_a_keyframe_is_mujocos() -> None:
    """Coordinates, velocities in other axes, controls and activations, all at once; two steps of
    MuJoCo's method of order 1, extrapolated, have an error of order 2."""
    twin, robot = Twin(KEYED), load(KEYED)
    named = lw.simulate(robot, 0.1, q0="home", qd0="home", torque="home", rtol=1e-10, atol=1e-12)
    q, activation = named.q[-1], named.control["activation_lag"][-1:]
    ours = np.concatenate([q, twin.speeds(q, named.qd[-1]), activation])
    theirs = 2 * mujocos_end(twin, 1e-4) - mujocos_end(twin, 2e-4)
    np.testing.assert_allclose(ours, theirs, atol=3e-6)


def test_every_function_takes_a_pose_by_name() -> None:
    robot = load(KEYED)
    model, q = lw.compile(robot), np.array([0.3, -0.5, 2, 1, 1, 0.6, 0.8, 0, 0])
    np.testing.assert_array_equal(model.gravity("home"), model.gravity(q))
    np.testing.assert_array_equal(model.placement("foot")("home"), model.placement("foot")(q))
    by_name = model.inverse_dynamics("home", "home", np.zeros(8))
    assert not np.array_equal(by_name, model.inverse_dynamics("home", np.zeros(8), np.zeros(8)))
    np.testing.assert_array_equal(lw.simulate(robot, 0.1, q0="home").q[0], q)
    np.testing.assert_allclose(lw.linearize(robot, q="home").A, lw.linearize(robot, q=q).A)
    assert lw.rollout(robot, "home", "home", steps=1)[0].shape == (9,)
    drawn = lw.show.figure_of(robot, "home"), lw.show.figure_of(robot, q)
    lines = [np.concatenate([x.get_xydata() for x in f.axes[0].lines]) for f in drawn]
    np.testing.assert_array_equal(*lines)
    start = lw.motion.inverse_kinematics(robot, {"foot": [-0.05, 0, -0.96]}, "home")
    assert start.reached.all()


ELBOW = write_toml(lw.gallery("elbow")) + '\n[poses]\nhome = { q1 = "30 deg" }\n'


def test_toml_has_poses_and_keeps_them() -> None:
    arm = load(ELBOW)
    np.testing.assert_allclose(
        lw.compile(arm).gravity("home"), lw.compile(arm).gravity([np.pi / 6, 0])
    )
    assert load(write_toml(arm)) == arm
    assert load(write_toml(load(KEYED))) == load(KEYED)
    assert str(arm.poses["home"]) == "<Pose q1 = 30 deg>"
    assert "q2" not in arm.poses["home"].q
    assert not arm.reduced(lock={"q1": 0.1}).poses["home"].q


def test_a_pose_of_few_digits_closes_its_loops() -> None:
    bars = load(write_toml(lw.gallery("four-bar")) + "\n[poses]\nopen = { theta1 = 1.0 }\n")
    model = lw.compile(bars)
    q = lw.simulate(bars, 0.01, q0="open").q[0]
    assert model.closed(q)
    assert q[0] == pytest.approx(1.0, abs=0.2)
    np.testing.assert_allclose(model.close("open"), q, atol=1e-9)
    assert model.closed("open")
    model.check_closed("open")
    with pytest.raises(LinkwrightError, match=r"no pose 'opne'.*'open'"):
        model.close("opne")


def test_commands_take_poses_by_name_and_as_q(tmp_path: Path) -> None:
    """`home`, `q=home` and the numbers are the same state on the command line."""
    path = tmp_path / "elbow.toml"
    path.write_text(ELBOW)
    wanted = ok("linearize", str(path), "q1=30deg", "--json")
    for word in ("home", "q=home"):
        assert ok("linearize", str(path), word, "--json") == wanted


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("home = { q3 = 1 }", "unknown coordinate 'q3'"),
        ('home = { q1 = "3 mm" }', "poses.home.q.q1: is in m"),
        ("home = { q = { q1 = 1 }, controls = { motor = 1 } }", "unknown actuator 'motor'"),
        ("home = 3", "home"),
    ],
)
def test_wrong_poses_get_a_sentence(text: str, says: str) -> None:
    with pytest.raises(LinkwrightError) as error:
        load(ELBOW.partition("[poses]")[0] + "\n[poses]\n" + text)
    assert says in str(error.value)


def test_unknown_poses_are_named() -> None:
    arm, model = load(ELBOW), lw.compile(load(ELBOW))
    for call in (
        lambda: model.gravity("hom"),
        lambda: lw.simulate(arm, 0.1, q0="hom"),
        lambda: lw.simulate(arm, 0.1, torque="hom"),
    ):
        with pytest.raises(LinkwrightError, match="has no pose 'hom'; did you mean 'home'"):
            call()
    with pytest.raises(LinkwrightError, match="q is 'hom'"):
        lw.compile(lw.gallery("elbow")).gravity("hom")


def test_the_command_line_takes_poses(tmp_path: Path) -> None:
    file = tmp_path / "arm.toml"
    file.write_text(ELBOW)
    by_name = run("evaluate", str(file), "gravity", "q=home")
    by_number = run("evaluate", str(file), "gravity", "q=30deg,0")
    assert by_name.stdout == by_number.stdout != ""
    found = run("simulate", str(file), "home", "q2=1", "-t", "0.01", "--json")
    assert found.returncode == 0
    wrong = run("evaluate", str(file), "gravity", "q=hom")
    assert wrong.returncode == 2
    assert "has no pose 'hom'" in wrong.stderr
    assert "poses: home" in run("info", str(file)).stdout
