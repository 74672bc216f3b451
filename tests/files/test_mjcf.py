"""MJCF, read through MuJoCo's compiler, against MuJoCo's own dynamics."""

from __future__ import annotations

import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, MissingExtraError, UnsupportedError
from linkwright.files import load

ARM = """
<mujoco model="arm">
  <compiler angle="degree"/>
  <option gravity="0.3 -0.2 -9.8"/>
  <worldbody>
    <body name="base" pos="0 0 0.5" euler="10 20 30">
      <joint name="yaw" type="hinge" axis="0 0 1" pos="0.02 0 0.1" damping="0.3" armature="0.01"
             stiffness="2" springref="30" range="-90 90" ref="15"/>
      <joint name="lift" type="slide" axis="1 0 1" pos="0 0.1 0" ref="0.2"/>
      <geom type="box" size="0.1 0.2 0.3" mass="2" pos="0.1 0 0" euler="10 20 30"/>
      <body name="arm" pos="0 0 1">
        <joint name="ball" type="ball" pos="0.05 0 0" damping="0.1" armature="0.02"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0.4"/>
        <site name="tip" pos="0.3 0 0.4" euler="0 45 0"/>
        <body name="plate" pos="0.3 0 0.4"><geom type="sphere" size="0.04" pos="0 0.1 0"/></body>
      </body>
    </body>
    <body name="drone" pos="1 2 3" euler="5 6 7">
      <freejoint name="air"/>
      <geom type="box" size="0.2 0.1 0.05" pos="0.01 0.02 0.03" euler="20 30 40"/>
      <body name="rotor" pos="0 0 0.1"><joint name="spin" axis="0 0 1"/>
        <geom type="cylinder" size="0.1 0.01" pos="0.02 0 0"/></body>
    </body>
  </worldbody>
</mujoco>
"""


class Twin:
    """Our model and MuJoCo's of one file, with the map between their coordinates."""

    def __init__(self, text: str) -> None:
        self.m = mujoco.MjModel.from_xml_string(text)
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        self.m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
        self.d = mujoco.MjData(self.m)
        self.model = lw.compile(load(text))
        names = [self.m.joint(i).name for i in range(self.m.njnt)]
        ours = list(self.model.joint_names)
        assert [n for n in ours if n in names] == names, "the tests keep MuJoCo's order"

    def speeds(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Our speeds as MuJoCo's: free joints have the linear part first, in world axes."""
        theirs = np.array(v)
        for i in range(self.m.njnt):
            if self.m.jnt_type[i] == 0:
                k, a = self.m.jnt_qposadr[i], self.m.jnt_dofadr[i]
                R = np.zeros(9)
                mujoco.mju_quat2Mat(R, q[k + 3 : k + 7])
                theirs[a : a + 3] = R.reshape(3, 3) @ v[a + 3 : a + 6]
                theirs[a + 3 : a + 6] = v[a : a + 3]
        return theirs

    def rates(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Our q̈ as MuJoCo's: d(R v)/dt = R(v̇ + ω × v)."""
        a = np.array(a)
        for i in range(self.m.njnt):
            if self.m.jnt_type[i] == 0:
                k = self.m.jnt_dofadr[i]
                a[k + 3 : k + 6] += np.cross(v[k : k + 3], v[k + 3 : k + 6])
        return self.speeds(q, a)

    def state(self, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rng = np.random.default_rng(seed)
        q = rng.uniform(-1, 1, self.m.nq)
        for i in range(self.m.njnt):
            if self.m.jnt_type[i] < 2:
                k = self.m.jnt_qposadr[i] + (3 if self.m.jnt_type[i] == 0 else 0)
                q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
        v, a = rng.uniform(-1, 1, (2, self.m.nv))
        return q, v, a


def check_inverse_dynamics(twin: Twin, seed: int) -> None:
    """Virtual work is the same in both speeds: τ_ours = Aᵀ τ_theirs with v_theirs = A v."""
    q, v, a = twin.state(seed)
    m, d = twin.m, twin.d
    d.qpos, d.qvel, d.qacc = q, twin.speeds(q, v), twin.rates(q, v, a)
    mujoco.mj_inverse(m, d)
    A = np.array([twin.speeds(q, e) for e in np.eye(m.nv)]).T
    found = twin.model.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(found, A.T @ d.qfrc_inverse, atol=1e-11)


def test_kinematics_and_dynamics() -> None:
    twin = Twin(ARM)
    model, m, d = twin.model, twin.m, twin.d
    for seed in range(3):
        q, v, a = twin.state(seed)
        d.qpos, d.qvel, d.qacc = q, twin.speeds(q, v), twin.rates(q, v, a)
        mujoco.mj_forward(m, d)
        for name in ("arm", "plate", "rotor"):
            T = model.placement(name)(q)
            np.testing.assert_allclose(T[:3, 3], d.body(name).xpos, atol=1e-13)
            np.testing.assert_allclose(T[:3, :3].ravel(), d.body(name).xmat, atol=1e-13)
        np.testing.assert_allclose(model.placement("tip")(q)[:3, 3], d.site("tip").xpos, atol=1e-13)
        check_inverse_dynamics(twin, seed)
        energies = model.kinetic_energy(q, v), model.potential_energy(q)
        m.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        mujoco.mj_forward(m, d)
        assert energies[0] == pytest.approx(d.energy[1], rel=1e-12)
        assert energies[1] == pytest.approx(d.energy[0], rel=1e-12)


def test_coordinates_are_mujocos() -> None:
    model = Twin(ARM).model
    assert model.q_names[:2] == ("yaw", "lift")
    assert model.nq == 2 + 4 + 7 + 1


LOOPS = """
<mujoco><worldbody>
  <body name="a"><joint name="j1" ref="10"/><geom size="0.1"/></body>
  <body name="b" pos="0 0 1"><joint name="j2"/><geom size="0.1"/></body>
</worldbody>
<equality>
  <connect name="pin" body1="a" body2="b" anchor="0.1 0.2 0.3"/>
  <weld name="glue" body1="a" body2="b"/>
  <joint name="gear" joint1="j1" joint2="j2" polycoef="0.1 2 0 0 0"/>
  <joint name="off" joint1="j1" active="false"/>
</equality>
<actuator><motor joint="j1" gear="50"/></actuator></mujoco>
"""


def test_equalities_become_loops_and_constraints() -> None:
    found = load(LOOPS)
    assert found.loops["pin"].type == "spherical"
    assert found.loops["glue"].type == "fixed"
    start = np.radians(10)
    assert [float(c.value) for c in found.constraints["gear"].coefficients] == pytest.approx(
        [0.1 + start, 2]
    )
    assert float(found.actuators["actuator0"].gear.value) == 50
    assert any("'off'" in note for note in found.unused)
    # the anchor is one point of both bodies in the reference pose
    pin = found.loops["pin"]
    tree = lw.compile(lw.Mechanism(bodies=found.bodies, joints=found.joints))
    q0 = [start, 0.0]
    ends = [
        tree.placement(body)(q0)[:3, :3] @ [float(x.value) for x in place.xyz] + tree.placement(body)(q0)[:3, 3]
        for body, place in (("a", pin.origin), ("b", pin.child_origin))
    ]  # fmt: skip
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<mujoco><worldbody><body/></worldbody></mujoco>", "MuJoCo refuses it"),
        ("<mujoco><nonsense/></mujoco>", "MuJoCo refuses it"),
        ('<!DOCTYPE r [<!ENTITY a "b">]><mujoco/>', "DTD"),
    ],
)
def test_refusals(text: str, what: str) -> None:
    if "<body/>" in text:
        text = text.replace("<body/>", "<body><joint/></body>")
    with pytest.raises(LinkwrightError, match=what):
        load(text)


def world(inner: str, option: str = "", extra: str = "") -> str:
    body = f'<body name="b">{inner}<geom name="g" size="0.1" pos="0.3 0 0"/></body>'
    return f"<mujoco>{option}<worldbody>{body}</worldbody>{extra}</mujoco>"


HINGE = '<joint name="knee"/>'


def tendon(effect: str) -> str:
    return f'<tendon><fixed name="rope" {effect}><joint joint="knee" coef="1"/></fixed></tendon>'


@pytest.mark.parametrize("bent", ["stiffness", "damping"])
@pytest.mark.skipif(not hasattr(mujoco.MjModel, "dof_dampingpoly"), reason="older MuJoCo has none")
def test_springs_and_dampers_of_higher_order_are_refused(bent: str) -> None:
    with pytest.raises(LinkwrightError, match=r"'knee' has a (spring|damper) of higher order"):
        load(world(f'<joint name="knee" {bent}="1 0.5"/>'))


@pytest.mark.skipif(not hasattr(mujoco.MjModel, "jnt_springyield"), reason="older MuJoCo has none")
def test_forces_of_newer_versions_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="spring of higher order"):
        load(world('<joint name="knee" stiffness="1" springyield="0.5"/>'))
    for effect in ("armature", "damping"):
        motor = f'<actuator><motor name="drive" joint="knee" {effect}="1"/></actuator>'
        with pytest.raises(UnsupportedError, match="actuator 'drive' has armature or damping"):
            load(world('<joint name="knee" type="ball"/>', extra=motor))


FLUID, HELD = '<option density="1000"/>', '<body name="held" gravcomp="1"><joint/><geom size="1"/></body>'  # fmt: skip


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (world('<joint type="free" frictionloss="1"/>'), "free joint 'joint0' has friction loss"),
        (world(HINGE, FLUID), "move in a fluid"),
        (world(HINGE, '<option viscosity="0.1"/>'), "move in a fluid"),
    ],
)
def test_forces_without_a_form_are_refused(text: str, what: str) -> None:
    with pytest.raises(UnsupportedError, match=what):
        load(text)


def test_forces_that_the_file_switches_off_are_not_refused() -> None:
    off = '<option density="1"><flag spring="disable" damper="disable"/></option>'
    load(world(HINGE + HELD, off, tendon('stiffness="1" damping="1"')))
    load(world(HINGE + HELD, '<option><flag gravity="disable"/></option>'))
    assert list(load(world(HINGE, extra=tendon(""))).lengths) == ["rope"]


@pytest.mark.parametrize("flag", ["gravity", "spring", "damper"])
def test_flags_are_honoured(flag: str) -> None:
    text = ARM.replace('9.8"/>', f'9.8"><flag {flag}="disable"/></option>')
    check_inverse_dynamics(Twin(text), 1)
    assert any("switched off by a flag" in note for note in load(text).unused)


@pytest.mark.parametrize("flag", ["constraint", "frictionloss", "limit", "equality"])
def test_flags_of_constraints_are_honoured(flag: str) -> None:
    joint = '<joint name="knee" frictionloss="1" range="0 1" limited="true"/>'
    held = '<equality><joint name="hold" joint1="knee"/></equality>'
    option = f'<option><flag {flag}="disable"/></option>'
    found = load(world(joint, option, held))
    knee = found.joints["knee"]
    gone = {
        "frictionloss": "friction" not in knee.model_fields_set,
        "limit": "limits" not in knee.model_fields_set,
        "equality": not found.constraints,
    }
    assert gone == {key: flag in (key, "constraint") for key in gone}


def test_damping_of_a_free_joint_is_the_same_in_all_axes() -> None:
    check_inverse_dynamics(Twin(world('<joint name="air" type="free" damping="0.7"/>')), 1)


def test_names_that_are_taken() -> None:
    part = "<geom size='1'/>"
    text = f"""<mujoco><worldbody>
      <body name="ground"><joint name="joint1"/>{part}<site name="ground_body"/></body>
      <body><joint/>{part}</body>
      <body name="body2"><joint name="c_fixed"/>{part}</body>
      <body name="c">{part}<site name="c"/><site name="c_site"/></body>
      <body name="d:1"><joint/><joint axis="1 0 0"/>{part}</body>
      <body name="d"><joint name="d:stand"/><joint axis="1 0 0"/>{part}</body>
    </worldbody><equality><connect name="c_fixed" body1="c" anchor="0 0 0"/></equality></mujoco>"""
    found = load(text)
    assert len(found.bodies) == 6 + 2 * 2
    assert len(found.joints) == 7 + 1 + 2
    assert [*found.bodies][:3] == ["ground_body_", "body2_", "body2"]
    assert {"joint1", "c_fixed", "c_fixed_", "d:stand", "d:stand_"} <= set(found.joints)
    assert set(found.frames) == {"ground_body", "c_site_", "c_site"}
    assert list(found.loops) == ["c_fixed_equality"]
    assert "body ground: its name, which is taken here; it is 'ground_body_'" in found.unused


def test_files_with_includes(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text(
        '<mujocoinclude><body name="x"><joint name="j"/><geom size="1"/></body></mujocoinclude>'
    )
    (tmp_path / "main.xml").write_text(
        '<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>'
    )
    assert list(load(tmp_path / "main.xml").bodies) == ["x"]


def test_the_extra_is_named_when_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtraError, match=r"linkwright\[mjcf\]"):
        load("<mujoco/>")
