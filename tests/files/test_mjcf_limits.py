"""Limits of efforts that a file declares: planning keeps them, and runs say where they do not."""

from __future__ import annotations

import numpy as np
import pytest

import linkwright as lw
from linkwright.files import load

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
    """hip: the joint's 30 below 100·1; knee: 4·2 + 2·3; toe: nothing drives it."""
    np.testing.assert_allclose(lw.motion.bounds_of(load(LIMITED)).effort, [30, 14, np.inf])


def test_planned_motions_keep_the_limits_of_actuators() -> None:
    arm = load(LIMITED.replace('<motor joint="hip"', '<motor joint="toe"/><motor joint="hip"'))
    way = lw.motion.quintic([0.0, 0.0, 0.0], [1.5, 1.0, 0.0], 1.0)
    fast = lw.motion.at_limits(arm, way)
    q, qd, qdd = fast(np.linspace(0, fast.knots[-1], 401))
    effort = np.abs(lw.compile(arm).inverse_dynamics(q, qd, qdd)).max(axis=0)
    assert effort[0] <= 30 * (1 + 1e-3)
    assert effort[1] <= 14 * (1 + 1e-3)
    assert max(effort[0] / 30, effort[1] / 14) > 0.99, "one of them is reached"


def test_runs_say_that_they_exceed_limits() -> None:
    arm = load(LIMITED)
    run = lw.simulate(arm, 0.05, torque=[40.0, 0.0, 0.0])
    assert any("effort along hip reaches 40, beyond its limit of 30" in w for w in run.warnings)
    held = lw.simulate(arm, 0.05, torque={"actuator1": 50.0})
    assert not any("limit" in warning for warning in held.warnings)
    assert np.abs(held.u[:, 1]).max() == pytest.approx(2.0), "controls are clipped"


def test_controllers_saturate_at_the_limits() -> None:
    arm = load(LIMITED)
    law = lw.control.pid(arm, [1.0, 1.0, 0.0], kp=1000.0, kd=10.0, most="limits")
    run = lw.simulate(arm, 0.05, torque=law)
    assert np.abs(run.tau[:, 0]).max() == pytest.approx(30)
    assert np.abs(run.tau[:, 1]).max() == pytest.approx(14)
