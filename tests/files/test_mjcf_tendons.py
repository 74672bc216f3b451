"""Tendons of MJCF against MuJoCo: lengths, moment arms, passive forces, armature, equalities."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.writers.mjcf_writer import write_mjcf

mujoco = pytest.importorskip("mujoco")

BODIES = """
<site name="hook" pos="0.1 0.2 1"/>
<body name="a">
  <joint name="yaw" axis="0 0 1"/><geom size="0.1" pos="0.1 0 0"/>
  <site name="eye" pos="0.3 0.05 0"/>
  <body name="b" pos="0.4 0 0">
    <joint name="bend" axis="0 1 0" ref="20"/><geom size="0.05 0.1" type="capsule" pos="0.2 0 0"/>
    <site name="tip" pos="0.35 0 0.02"/>
    <body name="c" pos="0.4 0 0">
      <joint name="slide" type="slide" axis="1 0 0" stiffness="3"/><geom size="0.04"/>
      <site name="end" pos="0.1 0 0"/>
    </body>
  </body>
</body>
"""
TENDONS = """
<fixed name="sum" stiffness="5" damping="0.4" armature="0.3">
  <joint joint="yaw" coef="2"/><joint joint="bend" coef="-0.5"/><joint joint="slide" coef="1.5"/>
</fixed>
<spatial name="rope" stiffness="40" damping="0.7" springlength="0.2 0.6">
  <site site="hook"/><site site="eye"/><site site="tip"/>
</spatial>
<spatial name="block and tackle" stiffness="20" springlength="0.5">
  <site site="hook"/><site site="eye"/><pulley divisor="2"/><site site="hook"/><site site="end"/>
</spatial>
"""
ACTUATORS = """
<motor name="winch" tendon="rope" gear="-3"/>
<position name="servo" tendon="sum" kp="12" gear="0.7"/>
"""


def world(tendons: str = TENDONS, more: str = "") -> str:
    return (
        "<mujoco><compiler autolimits='true'/>"
        "<option><flag frictionloss='disable' limit='disable' contact='disable'/></option>"
        f"<worldbody>{BODIES}</worldbody><tendon>{tendons}</tendon>{more}</mujoco>"
    )


STATES = np.random.default_rng(5).uniform(-0.8, 0.8, (4, 3, 3))


@pytest.mark.parametrize("state", range(4))
def test_tendons_agree_with_mujoco(state: int) -> None:
    text = world(more=f"<actuator>{ACTUATORS}</actuator>")
    m = mujoco.MjModel.from_xml_string(text)
    d, model = mujoco.MjData(m), lw.compile(lw.load(text))
    q, v, a = STATES[state]
    d.qpos, d.qvel, d.qacc = q, v, a
    mujoco.mj_forward(m, d)
    assert_allclose(model.passive(q, v), d.qfrc_passive, rtol=1e-11, atol=1e-11)
    M = np.zeros((3, 3))
    mujoco.mj_fullM(m, d, M) if _takes_data() else mujoco.mj_fullM(m, M, d.qM)
    assert_allclose(model.mass_matrix(q), M, rtol=1e-11, atol=1e-13)
    moments = np.zeros((m.nu, m.nv))
    mujoco.mju_sparse2dense(
        moments, d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind
    )
    assert_allclose(model.input_matrix(q), moments.T, rtol=1e-11, atol=1e-12)
    assert_allclose(model.actuator_lengths(q), d.actuator_length, rtol=1e-12)
    d.qacc = a
    mujoco.mj_inverse(m, d)
    assert_allclose(model.inverse_dynamics(q, v, a), d.qfrc_inverse, rtol=1e-10, atol=1e-10)


def _takes_data() -> bool:
    """Whether this version of MuJoCo has mj_fullM(m, d, M)."""
    return int(mujoco.__version__.split(".")[0]) >= 4


def test_lengths_keep_springs_limits_and_friction() -> None:
    text = world(
        '<fixed name="f" range="-1 2" frictionloss="0.4"><joint joint="yaw" coef="1"/></fixed>'
    ).replace("<flag frictionloss='disable' limit='disable' contact='disable'/>", "")
    found = lw.load(text)
    length = found.lengths["f"]
    assert lw.compile(found).passive([0, 0, 0], [1, 0, 0])[0] == pytest.approx(-0.4)
    assert [float(x.value) for x in (length.limits.lower, length.limits.upper)] == [-1, 2]
    run = lw.simulate(found, t=5, q0=[0, 0, 0], qd0=[1, 0, 0], stops="impact")
    assert run.accounted
    bare = found.without("friction", "limits")
    assert bare.lengths["f"].limits.lower is None


def test_equalities_of_tendons_hold_where_mujoco_says() -> None:
    """MuJoCo's own residual of each equality vanishes where ours closes."""
    equality = """<equality>
    <tendon name="one" tendon1="rope" polycoef="0.05 0 0 0 0"/>
    <tendon name="two" tendon1="sum" tendon2="rope" polycoef="0.1 0.7 0.2 0 0"/></equality>"""
    text = world(more=equality)
    m = mujoco.MjModel.from_xml_string(text)
    d, model = mujoco.MjData(m), lw.compile(lw.load(text))
    d.qpos = model.home()
    mujoco.mj_forward(m, d)
    rows = d.efc_pos[d.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)]
    assert_allclose(rows, 0, atol=1e-11)
    J = d.efc_J.reshape(-1, m.nv)[: len(rows)]
    ours = model.constraint_jacobian(model.home())
    assert np.linalg.matrix_rank(np.vstack([J, ours]), tol=1e-9) == len(rows) == len(ours)


WRAP = """<spatial name="w" {}><site site="hook"/><geom geom="ball"/><site site="tip"/></spatial>"""


def test_wrapping_is_refused_where_it_matters() -> None:
    ball = '<geom name="ball" size="0.05"/>'
    text = world(WRAP.format("")).replace("<worldbody>", f"<worldbody>{ball}")
    assert any("'w' wraps around a geom" in note for note in lw.load(text).unused)
    driven = text.replace("</mujoco>", '<actuator><motor tendon="w"/></actuator></mujoco>')
    assert any("wraps around a geom" in note for note in lw.load(driven).unused)
    with pytest.raises(LinkwrightError, match="'w' wraps around a geom"):
        lw.load(text.replace('name="w"', 'name="w" stiffness="3"'))
    path = '<spatial name="p" armature="1"><site site="hook"/><site site="tip"/></spatial>'
    with pytest.raises(LinkwrightError, match="spatial tendon 'p' has armature"):
        lw.load(world(path))


def test_ignored_tendons_leave_nothing_behind() -> None:
    text = world(more=f"<actuator>{ACTUATORS}</actuator>")
    found = lw.load(text, ignore=["tendons"])
    assert not found.lengths
    assert not found.actuators
    assert any("'winch'" in note and "left out" in note for note in found.unused)


def test_tendon_and_equality_may_have_the_same_name() -> None:
    fixed = '<fixed name="grip"><joint joint="yaw" coef="1"/></fixed>'
    equality = '<equality><tendon name="grip" tendon1="grip"/></equality>'
    found = lw.load(world(fixed, equality))
    assert list(found.lengths) == list(found.constraints) == ["grip"]


def test_tendon_named_as_a_joint_gets_another_name() -> None:
    found = lw.load(world('<fixed name="yaw"><joint joint="yaw" coef="1"/></fixed>'))
    assert list(found.lengths) == ["yaw_tendon"]
    assert any("'yaw_tendon'" in note for note in found.unused)


@pytest.mark.parametrize("is_kept", [False, True])
def test_armature_between_branches_is_exact_and_named_when_written(is_kept: bool) -> None:
    """M = armature c cᵀ for the whole tendon; MuJoCo's sparse M has no entry for joints of which
    none carries the other."""
    bodies = '<body><joint name="a" axis="0 1 0"/><geom size=".1"/>{}</body>'
    body = '<body><joint name="b" axis="0 1 0"/><geom size=".1"/></body>'
    inside = bodies.format(body) if is_kept else bodies.format("") + body
    joints = '<joint joint="a" coef="1"/><joint joint="b" coef="-2"/>'
    tendon = f'<fixed name="t" armature=".5">{joints}</fixed>'
    text = f"<mujoco><worldbody>{inside}</worldbody><tendon>{tendon}</tendon></mujoco>"
    arm = lw.load(text)
    bare = lw.load(text.replace('armature=".5"', ""))
    added = lw.compile(arm).mass_matrix([0.3, 0.2]) - lw.compile(bare).mass_matrix([0.3, 0.2])
    assert_allclose(added, [[0.5, -1], [-1, 2]], atol=1e-14)
    named = [x for x in write_mjcf(arm)[1] if x.startswith("length t: its armature between joints")]
    assert bool(named) != is_kept
