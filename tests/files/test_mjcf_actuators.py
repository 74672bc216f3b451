"""Actuators of MJCF files against MuJoCo's own forces, activations and simulations."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import load
from linkwright.simulation.inputs import read_force_law
from tests.files.test_mjcf import Twin

EVERY_KIND = """
<mujoco><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.1"/><geom size=".1" pos="0 0 -.5" mass="1"/>
    <body pos="0 0 -1"><joint name="b:1" axis="0 1 0"/><geom size=".1" pos="0 0 -.4" mass="1"/>
      <site name="s" pos="0 .1 -.4" euler="10 20 30"/></body></body>
  <body pos="2 0 0"><freejoint name="f"/><geom size=".1 .2 .3" type="box" mass="2"/></body>
  <body pos="3 0 0"><joint type="ball" name="ball"/>
    <geom size=".1 .2 .3" pos=".1 .2 .3" type="box" mass="2"/></body>
</worldbody><actuator>
  <motor joint="a" name="x" gear="3"/>
  <position joint="b:1" kp="30" kv="2" name="y" forcerange="-20 15" ctrlrange="-1 1"/>
  <damper joint="a" kv="3" ctrlrange="0 1" gear="2" name="d"/>
  <velocity joint="b:1" kv="4" name="v"/>
  <intvelocity name="iv" joint="a" kp="20" actrange="-.3 .3"/>
  <cylinder name="cy" joint="a" timeconst="0.1" bias="0.1 .2 .3"/>
  <general name="g" site="s" gear="1 2 3 .4 .5 .6" gainprm="2" dyntype="filter" dynprm="0.05"/>
  <general name="push" joint="f" gear="1 2 3"/>
  <general name="turn" joint="f" gear="0 0 0 1 2 3" biastype="affine" biasprm="0 0 -.3"/>
  <general name="both" jointinparent="f" gear="1 2 3 .1 .2 .3"/>
  <general name="mixed" joint="b:1" gaintype="affine" gainprm="1 2 3" biastype="affine"
           biasprm="4 5 6"/>
  <position name="swivel" joint="ball" gear="1 2 3" kp="2" kv=".1"/>
</actuator></mujoco>
"""


@pytest.mark.parametrize("seed", range(4))
def test_forces_lengths_and_activations_are_mujocos(seed: int) -> None:
    twin = Twin(EVERY_KIND)
    q, v, _ = twin.state(seed)
    m, d, model = twin.m, twin.d, twin.model
    rng = np.random.default_rng(seed)
    d.qpos, d.qvel, d.ctrl = q, twin.speeds(q, v), rng.normal(size=m.nu)
    d.act = rng.uniform(-0.3, 0.3, m.na)
    mujoco.mj_forward(m, d)
    names = list(model.names.actuators)
    assert names == [m.actuator(i).name for i in range(m.nu)]
    law = read_force_law(model.equations, dict(zip(names, d.ctrl.tolist(), strict=True)))
    tau, rates = law.act(0.0, q, v, d.act)
    A = np.array([twin.speeds(q, e) for e in np.eye(m.nv)]).T
    np.testing.assert_allclose(tau, A.T @ d.qfrc_actuator, atol=1e-13)
    np.testing.assert_allclose(law.actuators(0.0, q, v, d.act), d.actuator_force, atol=1e-13)
    np.testing.assert_allclose(model.actuator_lengths(q), d.actuator_length, atol=1e-14)
    np.testing.assert_allclose(rates, d.act_dot, atol=1e-14)
    np.testing.assert_allclose(
        model.input_matrix(q) @ d.actuator_force, A.T @ d.qfrc_actuator, atol=1e-13
    )


SERVO = """
<mujoco><option timestep="0.001"/><worldbody>
  <body><joint name="hip" axis="0 1 0" damping="0.2"/><geom size=".05" pos="0 0 -.4" mass="1.5"/>
    <body pos="0 0 -.5"><joint name="knee" axis="0 1 0" damping="0.1"/>
      <geom size=".05" pos="0 0 -.3" mass="0.7"/></body></body>
</worldbody><actuator>
  <position joint="hip" kp="40" kv="3" name="servo" forcerange="-8 8" ctrlrange="-0.7 0.7"/>
  <general name="lag" joint="knee" gear="2" gainprm="3" dyntype="filterexact" dynprm="0.08"/>
  <intvelocity name="rate" joint="knee" kp="6" actrange="-0.4 0.25"/>
</actuator><contact/></mujoco>
"""
CONTROLS = {"servo": "1.1*sin(3*t)", "lag": "cos(2*t)", "rate": 0.5}


def mujocos_end(step: float, seconds: float) -> np.ndarray:
    m = mujoco.MjModel.from_xml_string(SERVO)
    m.opt.timestep = step
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    d = mujoco.MjData(m)
    d.qpos[:] = [0.4, -0.3]
    for _ in range(round(seconds / step)):
        d.ctrl = [1.1 * np.sin(3 * d.time), np.cos(2 * d.time), 0.5]
        mujoco.mj_step(m, d)
    return np.concatenate([d.qpos, d.qvel, d.act])


def test_the_difference_to_mujocos_simulation_falls_with_its_step() -> None:
    """MuJoCo's integrator has order 1: half the step, half the difference."""
    run = lw.simulate(load(SERVO), t=1.0, q0=[0.4, -0.3], torque=CONTROLS, rtol=1e-10, atol=1e-12)
    assert run.finished
    activations = [run.control[f"activation_{name}"][-1] for name in ("lag", "rate")]
    ours = np.concatenate([run.q[-1], run.qd[-1], activations])
    away = [np.abs(mujocos_end(h, 1.0) - ours).max() for h in (4e-4, 2e-4, 1e-4)]
    assert away[0] < 5e-3
    np.testing.assert_allclose([away[0] / away[1], away[1] / away[2]], 2, rtol=0.1)
    assert np.abs(run.u[:, 0]).max() == pytest.approx(8), "the force range is reached"
    assert run.control["activation_rate"].max() == pytest.approx(0.25, abs=1e-6)


def test_rollouts_and_ensembles_have_activations_too() -> None:
    """Nothing is clipped here, and so fixed steps keep their order."""
    robot, gentle = load(SERVO), CONTROLS | {"servo": "0.05 + t/10"}
    run = lw.simulate(robot, t=0.1, q0=[0.05, -0.3], torque=gentle, rtol=1e-10, atol=1e-12)
    q, _ = lw.rollout(robot, [0.05, -0.3], [0, 0], steps=200, dt=5e-4, inputs=gentle)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-8)
    both = lw.simulate(
        robot, t=0.1, q0=[[0.05, -0.3], [0, 0]], torque=gentle, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(both.q[0, -1], run.q[-1], atol=1e-12)


def test_without_controls_no_actuator_acts() -> None:
    robot = load(SERVO)
    run = lw.simulate(robot, t=0.3, q0=[0.4, -0.3])
    assert not run.u.any()
    held = lw.simulate(robot, t=0.3, q0=[0.4, -0.3], torque={"servo": 0.4})
    assert held.u.any()


@pytest.mark.parametrize(
    ("actuator", "says"),
    [
        ({}, "drives nothing"),
        ({"joint": "hip", "moves": "hip"}, "drives moves and joint"),
        ({"joint": "hipp"}, "unknown joint 'hipp'"),
        ({"joint": "hip", "gear": [1, 2]}, "2 numbers for the 1 degrees"),
        ({"moves": "hip", "gear": 2}, "belongs to a joint"),
        ({"joint": "hip", "gain": [1, 2]}, "has 2 numbers; give 1 or 3"),
        ({"joint": "hip", "effort_range": [2, -2]}, "from 2 down to -2"),
        ({"joint": "hip", "activation": {"time_constant": 0}}, "is not above 0 s"),
        ({"frame": "nowhere", "force": [1, 0, 0]}, "unknown body or frame 'nowhere'"),
    ],
)
def test_wrong_actuators_get_a_sentence(actuator: dict[str, object], says: str) -> None:
    with pytest.raises(LinkwrightError, match=r".*") as error:
        lw.Mechanism(
            bodies={"a": {"mass": 1, "center": [0, 0, -1]}},
            joints={"hip": {"type": "revolute", "axis": [0, 1, 0], "child": "a"}},
            actuators={"m": actuator},
        )
    assert says in str(error.value)


def test_actuators_without_an_equivalent_are_listed() -> None:
    text = EVERY_KIND.replace(
        "</actuator>", '<adhesion name="glue" body="world" ctrlrange="0 1"/></actuator>'
    )
    found = load(text)
    assert "glue" not in found.actuators
    assert "the actuator 'glue', which acts on the contacts of a body" in found.unused


SEVERAL_CONTROLS = """
<mujoco><worldbody>
  <body gravcomp="0.5"><joint name="a" axis="0 1 0" actuatorgravcomp="true"/>
    <geom size=".1" pos=".5 0 0" mass="1"/>
    <body pos="1 0 0"><joint name="b" axis="0 1 0"/><geom size=".1" pos=".4 0 0" mass="1"/></body>
  </body>
</worldbody><actuator>
  <pid joint="a" name="pid" kp="3" ki="1"/>
  <motor joint="b" name="late" gear="5" ctrlrange="-7 6" forcerange="-9 8" delay="0.02"
         nsample="30"/>
  <cylinder joint="a" name="slow" timeconst="0.5" ctrlrange="-2 1"/>
</actuator>
<keyframe><key name="held" ctrl="1 2 3 4" act="0.3 0.7"/></keyframe></mujoco>
"""


def test_actuators_after_one_with_several_controls() -> None:
    """A PID actuator takes two controls: what follows keeps its own gear, ranges and controls."""
    arm = load(SEVERAL_CONTROLS)
    m = mujoco.MjModel.from_xml_string(SEVERAL_CONTROLS)
    assert (m.nu, m.nactuator) == (4, 3)
    assert list(arm.actuators) == ["late", "slow"]
    late, slow = arm.actuators.values()
    assert [float(x.value) for x in late.control_range or ()] == [-7, 6]
    assert [float(x.value) for x in late.effort_range or ()] == [-9, 8]
    assert [float(x.value) for x in slow.control_range or ()] == [-2, 1]
    np.testing.assert_array_equal(lw.compile(arm).input_matrix([0.1, 0.2]), [[0, 1], [5, 0]])
    controls = {k: float(x.value) for k, x in arm.poses["held"].controls.items()}
    assert controls == {"late": 3, "slow": 4}
    address = int(m.actuator("slow").actadr[0])
    states = {k: float(x.value) for k, x in arm.poses["held"].activations.items()}
    assert states == {"slow": m.key_act[0, address]}


def test_delays_and_compensation_by_actuators_are_named() -> None:
    unused = load(SEVERAL_CONTROLS).unused
    assert "actuator late: the delay of its control, 0.02 s" in unused
    assert [text for text in unused if text.startswith("joint a: that its actuators exert")]
    assert not [text for text in unused if text.startswith("joint b: that its actuators exert")]
