"""Limits of efforts that a file declares: planning keeps them, and runs say where they do not."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LimitWarning
from linkwright.files import load
from linkwright.simulation.inputs import read_force_law
from linkwright.writers.mechanism_files import write_mechanism_text

LIMITED = """
<mujoco model="limited"><worldbody>
  <body><joint name="hip" axis="0 1 0" actuatorfrcrange="-30 30"/>
    <geom size=".05" pos="0 0 -.4" mass="1.5"/>
    <body pos="0 0 -.5"><joint name="knee" axis="0 1 0"/>
      <geom size=".05" pos="0 0 -.3" mass="0.7"/>
      <body pos="0 0 -.5"><joint name="toe" axis="0 1 0"/>
        <geom size=".05" pos="0 0 -.1" mass="0.1"/></body></body></body>
</worldbody><actuator>
  <motor joint="hip" gear="100" ctrllimited="true" ctrlrange="-1 1"/>
  <motor joint="knee" gear="4" ctrllimited="true" ctrlrange="-2 2"/>
  <position joint="knee" gear="2" kp="50" forcelimited="true" forcerange="-3 5"/>
</actuator></mujoco>
"""


def test_bounds_follow_joints_and_actuators() -> None:
    """hip: the joint's 30 below 100·1; knee: 4·2 + 2·(−3 … 5); toe: nothing drives it."""
    found = lw.motion.bounds_of(load(LIMITED))
    np.testing.assert_allclose(found.effort_lower, [-30, -14, -np.inf])
    np.testing.assert_allclose(found.effort_upper, [30, 18, np.inf])


def test_planned_motions_keep_the_limits_of_actuators() -> None:
    arm = load(LIMITED.replace('<motor joint="hip"', '<motor joint="toe"/><motor joint="hip"'))
    way = lw.motion.quintic([0.0, 0.0, 0.0], [1.5, 1.0, 0.0], 1.0)
    fast = lw.motion.at_limits(arm, way)
    q, qd, qdd = fast(np.linspace(0, fast.knots[-1], 401))
    effort = lw.compile(arm).inverse_dynamics(q, qd, qdd)
    assert np.abs(effort[:, 0]).max() <= 30 * (1 + 1e-3)
    assert effort[:, 1].max() <= 18 * (1 + 1e-3)
    assert effort[:, 1].min() >= -14 * (1 + 1e-3)
    reached = [np.abs(effort[:, 0]).max() / 30, effort[:, 1].max() / 18, effort[:, 1].min() / -14]
    assert max(reached) > 0.99, "one of them is reached"


def test_runs_clip_to_limits_and_say_so() -> None:
    arm = load(LIMITED)
    run = lw.simulate(arm, 0.05, torque=[40.0, 0.0, 0.0])
    assert np.abs(run.tau[:, 0]).max() == pytest.approx(30)
    (text,) = run.warnings
    assert text.startswith(
        "the effort along hip was clipped to its limit of 30: the inputs ask for"
    )
    held = lw.simulate(arm, 0.05, torque={"actuator1": 50.0})
    assert np.abs(held.u[:, 1]).max() == pytest.approx(2.0), "controls are clipped"
    assert held.warnings[0].startswith("the control of 'actuator1' was clipped to its limit of 2")


@pytest.mark.parametrize("seed", range(5))
def test_what_acts_is_clipped_as_in_mujoco(seed: int) -> None:
    """Controls, efforts and the forces at joints, at random states and controls far beyond."""
    m = mujoco.MjModel.from_xml_string(LIMITED)
    d, rng = mujoco.MjData(m), np.random.default_rng(seed)
    d.qpos, d.qvel = rng.normal(size=(2, 3))
    d.ctrl = rng.normal(size=m.nu) * 3
    mujoco.mj_forward(m, d)
    arm = load(LIMITED)
    controls = dict(zip(arm.actuators, d.ctrl.tolist(), strict=True))
    law = read_force_law(lw.derive(arm, parameters="numeric"), controls)
    np.testing.assert_allclose(law(0.0, d.qpos, d.qvel), d.qfrc_actuator, atol=1e-12)
    assert len(law.demands) == 4


def test_controllers_saturate_at_the_limits() -> None:
    arm = load(LIMITED)
    law = lw.control.pid(arm, [1.0, 1.0, 0.0], kp=1000.0, kd=10.0, most="limits")
    run = lw.simulate(arm, 0.05, torque=law)
    assert np.abs(run.tau[:, 0]).max() == pytest.approx(30)
    assert run.tau[:, 1].max() == pytest.approx(18)


@pytest.mark.parametrize(("control", "effort"), [(2.0, 1.0), (-5.0, -3.0), (0.5, 0.5)])
def test_joints_with_different_limits_in_both_directions(control: float, effort: float) -> None:
    """MuJoCo clips the force of its actuators to −3 … 1 N m."""
    text = """<mujoco><worldbody><body><joint name="q" axis="0 1 0" actuatorfrcrange="-3 1"/>
        <geom size=".05" pos=".4 0 0" mass="1.5"/></body></worldbody>
        <actuator><motor name="u" joint="q"/></actuator></mujoco>"""
    arm, theirs = load(text), mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    data.ctrl[0] = control
    mujoco.mj_forward(theirs, data)
    run = lw.simulate(arm, 0.01, torque={"u": control}, samples=2)
    assert data.qfrc_actuator[0] == pytest.approx(effort)
    assert run.tau[0, 0] == pytest.approx(effort)
    assert run.qdd[0, 0] == pytest.approx(data.qacc[0], rel=1e-12)
    assert bool(run.warnings) == (control != effort)
    bounds = lw.motion.bounds_of(arm)
    assert (bounds.effort_lower[0], bounds.effort_upper[0]) == (-3, 1)
    again = mujoco.MjModel.from_xml_string(write_mechanism_text(arm, "mjcf")[0])
    np.testing.assert_allclose(again.jnt_actfrcrange, [[-3, 1]])


def test_a_limit_of_negative_efforts_needs_one_of_positive_ones() -> None:
    joint = {"type": "revolute", "child": "b", "limits": {"effort_backward": 2}}
    with pytest.raises(lw.LinkwrightError, match=r"limits.effort_backward: has no effort beside"):
        lw.Mechanism(bodies={"b": {"mass": 1}}, joints={"q": joint})


def test_rollouts_say_that_expressions_are_clipped() -> None:
    """20 sin begins below the limit of the control, 2, and ends above it; 1.5 cos stays within."""
    arm, start = load(LIMITED).without("friction"), np.zeros((5, 3))
    strong = {"actuator1": "20*sin(pi*t/0.02)"}
    with pytest.warns(LimitWarning, match="control of 'actuator1' was clipped to its limit of 2"):
        lw.rollout(arm, start, start, strong, dt=1e-3, steps=10)
    with pytest.warns(LimitWarning, match="beyond the limit in 100 % of the samples"):
        lw.rollout(arm, start, start, {"actuator1": 9.0}, dt=1e-3, steps=2, history=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.rollout(arm, start, start, {"actuator1": "1.5*cos(t)"}, dt=1e-3, steps=10)


def test_limits_without_a_range_are_left_out_and_named() -> None:
    """A URDF that states only effort and velocity has the limits 0 and 0, which MuJoCo refuses."""
    joints = {"q": {"type": "revolute", "child": "a", "limits": {"lower": 0, "upper": 0}}}
    rope = {"factors": {"q": 2}, "limits": {"lower": 1, "upper": 1}}
    body = {"mass": 1, "inertia": [1, 1, 1]}
    text, lost = write_mechanism_text(
        lw.Mechanism(bodies={"a": body}, joints=joints, lengths={"rope": rope}), "mjcf"
    )
    assert not mujoco.MjModel.from_xml_string(text).jnt_limited[0]
    assert lost == [
        "joint q: its limits, which have no range between them",
        "length rope: its limits, which have no range between them",
    ]
