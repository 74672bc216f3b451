"""Springs of ball joints, armature of free joints, gravity compensation, and what is ignored."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, NameNotFoundError, UnsupportedError
from linkwright.files import load
from linkwright.formulations import FORMULATIONS
from linkwright.mechanism import replace_part_fields
from linkwright.writers.toml_writer import write_toml
from tests.files.test_mjcf import Twin, check_inverse_dynamics

PASSIVE = """
<mujoco><option gravity="0.3 -0.2 -9.8"/><worldbody>
  <body name="swing"><joint name="ball" type="ball" stiffness="3" damping="0.2" armature="0.05"/>
    <geom size=".1 .2 .3" pos=".1 .2 .3" type="box" mass="2"/>
    <body name="hand" pos="0 0 0.5" gravcomp="0.7"><joint name="wrist" axis="1 1 0"/>
      <geom size=".1 .05 .02" pos=".1 0 0" type="box" mass="0.4"/></body></body>
  <body name="drone" pos="1 2 3" euler="20 30 40" gravcomp="1">
    <joint name="air" type="free" armature="0.3" stiffness="5" damping="0.1"/>
    <geom size=".1 .2 .3" pos=".05 .02 .03" type="box" mass="1.5"/></body>
</worldbody></mujoco>
"""


@pytest.mark.parametrize("seed", range(4))
def test_forces_are_mujocos(seed: int) -> None:
    twin = Twin(PASSIVE)
    check_inverse_dynamics(twin, seed)
    q, v, _ = twin.state(seed)
    m, d = twin.m, twin.d
    d.qpos, d.qvel = q, twin.speeds(q, v)
    mujoco.mj_forward(m, d)
    A = np.array([twin.speeds(q, e) for e in np.eye(m.nv)]).T
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    np.testing.assert_allclose(twin.model.mass_matrix(q), A.T @ full @ A, atol=1e-12)
    armature = np.zeros(m.nv)  # the passive forces here have the workless part of the armature
    k = m.joint("air").dofadr[0]
    armature[k + 3 : k + 6] = -0.3 * np.cross(v[k : k + 3], v[k + 3 : k + 6])
    np.testing.assert_allclose(
        twin.model.passive(q, v), A.T @ d.qfrc_passive + armature, atol=1e-12
    )


def test_energy_is_conserved_without_damping() -> None:
    """The springs and the compensation have energies, and the armature does no work."""
    robot = load(PASSIVE).without("damping")
    rng = np.random.default_rng(1)
    run = lw.simulate(robot, 1.0, qd0=rng.uniform(-1, 1, 10), samples=50, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-8)


def test_formulations_agree() -> None:
    """Those that take quaternions."""
    robot, rng = load(PASSIVE), np.random.default_rng(2)
    q = lw.compile(robot).integrate(lw.compile(robot).neutral(), rng.uniform(-1, 1, 10))
    v, a = rng.uniform(-1, 1, (2, 10))
    wanted = lw.compile(robot).inverse_dynamics(q, v, a)
    for by in ("kane", "newton_euler"):
        other = lw.compile(lw.derive(robot, by=by, parameters="numeric"))
        np.testing.assert_allclose(other.inverse_dynamics(q, v, a), wanted, atol=1e-11)


def test_compensation_in_every_formulation() -> None:
    arm = lw.gallery("elbow")
    bodies = {
        name: replace_part_fields(body, gravity_compensation=0.6)
        for name, body in arm.bodies.items()
    }
    held = replace_part_fields(arm, bodies=bodies)
    q, v, a = [0.3, 0.4], [1.0, -2.0], [0.5, 0.6]
    wanted = lw.compile(arm).inverse_dynamics(q, v, a) - 0.6 * lw.compile(arm).gravity(q)
    for by in FORMULATIONS:
        if by in ("approximate", "multipliers"):  # they need other mechanisms
            continue
        other = lw.compile(lw.derive(held, by=by, parameters="numeric"))
        np.testing.assert_allclose(other.inverse_dynamics(q, v, a), wanted, atol=1e-12)
    assert load(write_toml(held)) == held


def test_springs_that_have_no_energy_are_refused() -> None:
    ball = {"type": "spherical", "child": "a", "stiffness": [1, 2, 3]}
    with pytest.raises(LinkwrightError, match="differs from axis to axis"):
        lw.Mechanism(bodies={"a": {"mass": 1}}, joints={"j": ball})


FLUID = PASSIVE.replace("<option ", '<option density="1.2" ')


def test_what_is_refused_can_be_ignored() -> None:
    with pytest.raises(UnsupportedError, match=r'ignore=\["fluid"\], --ignore fluid'):
        load(FLUID)
    found = load(FLUID, ignore=["fluid"])
    assert found == load(PASSIVE)
    assert "forces of the fluid (ignored on request)" in found.unused
    with pytest.raises(NameNotFoundError, match="'fluids' cannot be ignored; did you mean"):
        load(FLUID, ignore=["fluids"])
    with pytest.raises(LinkwrightError, match="ignore= is for MJCF files"):
        load(write_toml(lw.gallery("elbow")), ignore=["fluid"])
    bare = load(FLUID, ignore=("fluid", "gravcomp"))
    assert "gravity_compensation" not in bare.bodies["drone"].model_fields_set


def test_armature_and_damping_of_actuators_belong_to_the_joint() -> None:
    text = PASSIVE.replace(
        "</mujoco>",
        '<actuator><motor joint="wrist" gear="3" armature="0.02" damping="0.05"/></actuator>'
        "</mujoco>",
    )
    check_inverse_dynamics(Twin(text), 0)
    assert not np.allclose(
        lw.compile(load(text)).mass_matrix(np.eye(12)[0]),
        lw.compile(load(PASSIVE)).mass_matrix(np.eye(12)[0]),
    )
