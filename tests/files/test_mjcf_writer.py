"""Mechanisms written as MJCF: MuJoCo computes our mass matrix and forces, and they read back."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from scipy.spatial.transform import Rotation

import linkwright as lw
from linkwright.errors import LossWarning
from linkwright.files import load
from linkwright.mechanism import Mechanism, replace_part_fields
from linkwright.writers.mjcf_writer import write_mjcf
from tests.commands import ok
from tests.files.test_mjcf import ARM, Twin
from tests.files.test_mjcf_actuators import EVERY_KIND
from tests.files.test_mjcf_passive import PASSIVE
from tests.files.test_mjcf_poses import KEYED
from tests.files.test_mjcf_tendons import ACTUATORS, TENDONS, world
from tests.random_trees import RandomTree, trees

BRANCH = """<spatial name="block and tackle:1" stiffness="9" springlength="0.3">
  <site site="hook"/><site site="end"/></spatial>"""
"""A tendon with the name that the first branch of another one would have."""
TENSED = world(
    TENDONS + BRANCH,
    f'<actuator>{ACTUATORS}<motor name="lift" tendon="block and tackle" gear="2"/></actuator>',
)
TEXTS = {
    "arm": ARM,
    "actuators": EVERY_KIND,
    "passive": PASSIVE,
    "keyed": KEYED,
    "tendons": TENSED,
}


def written_twin(mechanism: Mechanism) -> Twin:
    """MuJoCo's model of the written file beside our model of the mechanism itself."""
    twin = Twin(write_mjcf(mechanism)[0])
    twin.model = lw.compile(mechanism)
    return twin


def check_mujocos_dynamics(twin: Twin, seed: int) -> None:
    """M by mj_fullM and the forces by mj_inverse, both in our velocities, to 1e-12 of their size."""
    q, v, a = twin.state(seed)
    m, d = twin.m, twin.d
    d.qpos, d.qvel, d.qacc = q, twin.speeds(q, v), twin.rates(q, v, a)
    mujoco.mj_inverse(m, d)
    A = np.array([twin.speeds(q, e) for e in np.eye(m.nv)]).T
    full = np.zeros((m.nv, m.nv))
    mujoco.mj_fullM(m, d, full)
    for ours, theirs in (
        (twin.model.mass_matrix(q), A.T @ full @ A),
        (twin.model.inverse_dynamics(q, v, a), A.T @ d.qfrc_inverse),
    ):
        scale = max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours, theirs, atol=1e-12 * scale)


@pytest.mark.parametrize("name", TEXTS)
def test_files_of_mujoco_survive(name: str) -> None:
    mechanism = load(TEXTS[name])
    text, lost = write_mjcf(mechanism)
    assert lost == []
    for seed in range(3):
        check_mujocos_dynamics(written_twin(mechanism), seed)
    back = load(text)
    assert list(back.actuators) == list(mechanism.actuators)
    assert [a.activation for a in back.actuators.values()] == [
        a.activation for a in mechanism.actuators.values()
    ]
    ours, theirs = lw.compile(mechanism), lw.compile(back)
    for pose in mechanism.poses:
        np.testing.assert_allclose(
            ours.inverse_dynamics(pose, pose, np.zeros(ours.nv)),
            theirs.inverse_dynamics(pose, pose, np.zeros(ours.nv)),
            atol=1e-12,
        )
        assert mechanism.poses[pose].controls == back.poses[pose].controls


@pytest.mark.parametrize("name", ["elbow", "six-axis", "stanford", "cart-pole", "vukobratovic-arm"])
def test_the_gallery_is_mujocos(name: str) -> None:
    arm = lw.gallery(name).without("friction")
    check_mujocos_dynamics(written_twin(arm), 1)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(trees(max_bodies=4))
def test_random_trees_read_back(tree: RandomTree) -> None:
    """All kinds of joints: their motions follow each other in one body of MJCF. Random inertias
    are not those of real bodies, which MuJoCo refuses: the bodies get others."""
    bodies = {
        name: replace_part_fields(body, inertia=[[0.5, 0.05, 0.1], [0.05, 0.6, 0], [0.1, 0, 0.7]])
        for name, body in tree.mechanism.bodies.items()
    }
    mechanism = replace_part_fields(tree.mechanism.without("friction"), bodies=bodies)
    text, lost = write_mjcf(mechanism)
    back = load(text)
    ours, theirs = lw.compile(mechanism), lw.compile(back)
    assume(not any(word in what for what in lost for word in ("pitch", "free", "differ")))
    assert ours.nv == theirs.nv
    rng = np.random.default_rng(0)
    q = ours.integrate(ours.neutral(), rng.uniform(-1, 1, ours.nv))
    v, a = rng.uniform(-1, 1, (2, ours.nv))
    M, tau = ours.mass_matrix(q), ours.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(theirs.mass_matrix(q), M, atol=1e-12 * max(1, np.abs(M).max()))
    np.testing.assert_allclose(
        theirs.inverse_dynamics(q, v, a), tau, atol=1e-12 * max(1, np.abs(tau).max())
    )


@pytest.mark.parametrize("name", ["stewart", "two-arms", "five-bar", "bricard"])
def test_loops_become_equalities(name: str) -> None:
    """Hinges are two connects on one axis, redundant by one row; the same motions remain."""
    mechanism = lw.gallery(name)
    ours, theirs = lw.compile(mechanism), lw.compile(load(write_mjcf(mechanism)[0]))
    assert theirs.dof == ours.dof
    q = ours.home()
    assert np.abs(theirs.constraint_residual(q)).max() < 1e-9
    J, K = ours.constraint_jacobian(q), theirs.constraint_jacobian(q)
    rank = np.linalg.matrix_rank(J, tol=1e-7)
    assert np.linalg.matrix_rank(K, tol=1e-7) == rank
    assert np.linalg.matrix_rank(np.vstack([J, K]), tol=1e-7) == rank


COUPLED = """
name = "coupled"
[bodies.a]
mass = 1.0
center = [0.1, 0.2, -0.3]
inertia = { xx = 0.02, yy = 0.03, zz = 0.025 }
shapes = [
  { type = "box", size = [0.1, 0.2, 0.3], origin = { xyz = [0.1, 0, 0], rpy = [0.3, 0.2, 0.1] }, color = [1, 0, 0, 0.5], label = "case" },
  { type = "capsule", radius = 0.02, length = 0.2, use = "visual" },
  { type = "cone", radius = 0.1, length = 0.3 },
]
[bodies.b]
mass = 2.0
center = [0.0, 0.1, -0.2]
inertia = { xx = 0.02, yy = 0.03, zz = 0.025 }
shapes = [{ type = "ellipsoid", radii = [0.1, 0.2, 0.3] }, { type = "sphere", radius = 0.1 }]
[bodies.c]
mass = 0.5
center = [0.1, 0.0, 0.1]
inertia = { xx = 0.02, yy = 0.03, zz = 0.025 }
shapes = [{ type = "cylinder", radius = 0.1, length = 0.3 }]
[joints]
q1 = { type = "revolute", axis = [0, 1, 0], child = "a" }
q2 = { type = "prismatic", axis = [1, 0, 0.2], parent = "a", child = "b", origin = { xyz = [0.1, 0, -0.5] } }
q3 = { type = "revolute", axis = [1, 2, 3], parent = "b", child = "c" }
[frames]
pin = { body = "c", origin = { xyz = [0.3, 0.1, 0.2] } }
post = { body = "ground", origin = { xyz = [1, 0.5, 0.2] } }
hook = { body = "b", origin = { xyz = [0, 0.1, 0.2] } }
[lengths.rope]
path = ["post", "hook", "pin"]
limits = { upper = 3.0 }
[lengths.sum]
factors = { q1 = 1, q3 = 2 }
[forces.spring]
type = "spring"
between = ["post", "pin"]
stiffness = 30
damping = 2
length = 0.4
"""

CONSTRAINTS = {
    "distance": 'type = "distance"\nbetween = ["post", "pin"]\nlength = 1.1',
    "gear of three": 'type = "gear"\nfactors = { q1 = 1, q2 = 2, q3 = -1.5 }\noffset = 0.1',
    "gear of two": 'type = "gear"\nfactors = { q1 = 1, q3 = -1.5 }\noffset = 0.1',
    "held": 'type = "gear"\nfactors = { q3 = -1.5 }\noffset = 0.1',
    "length": 'type = "length"\nlength = "rope"\ncoefficients = [1.9]',
    "lengths": 'type = "length"\nlength = "rope"\nother = "sum"\n'
    "coefficients = [1.8, 0.2, 0.1, -0.05]",
    "coupling": 'type = "coupling"\njoint = "q1"\nother = "q3"\ncoefficients = [0.1, 1, 2]',
    "equation": 'type = "equation"\nposition = "q1 - 2*q2 + q3/3 - 0.2"',
}


@pytest.mark.parametrize("kind", CONSTRAINTS)
def test_constraints_become_equalities(kind: str) -> None:
    """Residuals and Jacobians are ours at random states, read back and in MuJoCo."""
    mechanism = load(COUPLED + f"\n[constraints.k]\n{CONSTRAINTS[kind]}\n")
    text, lost = write_mjcf(mechanism)
    assert lost == ["body a: its cone, which MJCF lacks"]
    ours, theirs = lw.compile(mechanism), lw.compile(load(text))
    m = mujoco.MjModel.from_xml_string(text)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_CONTACT
    d = mujoco.MjData(m)
    for seed in range(3):
        q = np.random.default_rng(seed).uniform(-1, 1, 3)
        d.qpos = q
        mujoco.mj_forward(m, d)
        row, J = ours.constraint_residual(q)[0], ours.constraint_jacobian(q)[0]
        K = theirs.constraint_jacobian(q)[0]
        scale = K[np.abs(J).argmax()] / J[np.abs(J).argmax()]
        np.testing.assert_allclose(K, scale * J, atol=1e-12)
        if kind == "distance":  # ours is quadratic, a tendon's is the distance itself
            one, other = (ours.placement(name)(q)[:3, 3] for name in ("post", "pin"))
            row, scale = np.linalg.norm(other - one) - 1.1, 1.0
        assert theirs.constraint_residual(q)[0] == pytest.approx(scale * row, abs=1e-12)
        assert d.nefc == 1
        J_mujoco = np.zeros(3)
        mujoco.mj_mulJacTVec(m, d, J_mujoco, np.ones(1))
        ratio = J_mujoco[np.abs(J).argmax()] / J[np.abs(J).argmax()]
        np.testing.assert_allclose(J_mujoco, ratio * J, atol=1e-12)
        ratio = 1.0 if kind == "distance" else ratio
        assert d.efc_pos[0] == pytest.approx(ratio * row, abs=1e-12)


def test_combined_lengths_are_tendons_where_mjcf_has_such() -> None:
    """Sums of paths have pulleys, sums of sums of coordinates their factors; differences of paths
    are named, with the actuators that pull along them."""
    more = """
[lengths.chord]
path = ["ground", "b"]
[lengths.tackle]
factors = { rope = 0.5, chord = 3 }
stiffness = 3
rest = 0.2
[lengths.twice]
factors = { sum = 2, q1 = -1 }
damping = 0.3
[lengths.apart]
factors = { rope = 1, chord = -1 }
[actuators.lift]
length = "tackle"
gear = -2
[actuators.lost]
length = "apart"
"""
    mechanism = load(COUPLED + more)
    text, lost = write_mjcf(mechanism)
    assert [x for x in lost if "apart" in x or "actuator" in x] == [
        "length apart, which no tendon of MJCF has",
        "actuator lost",
    ]
    for seed in range(3):
        check_mujocos_dynamics(written_twin(mechanism), seed)
    ours, back = lw.compile(mechanism), lw.compile(load(text))
    q = [0.3, -0.2, 0.7]
    B = ours.input_matrix(q)[:, list(ours.names.actuators).index("lift")]
    found = back.input_matrix(q)[:, list(back.names.actuators).index("lift")]
    np.testing.assert_allclose(found, B, atol=1e-14)
    assert np.abs(B).max() > 0.1


def test_springs_shapes_and_one_sided_limits_are_written() -> None:
    mechanism = load(COUPLED)
    text, _ = write_mjcf(mechanism)
    for seed in range(3):
        check_mujocos_dynamics(written_twin(mechanism), seed)
    back = load(text)
    assert [shape.type for shape in back.bodies["a"].shapes] == ["box", "capsule"]
    box, capsule = back.bodies["a"].shapes
    assert (box.label, box.use, capsule.use) == ("case", "both", "visual")
    m = mujoco.MjModel.from_xml_string(text)
    np.testing.assert_allclose(m.geom("case").size, [0.05, 0.1, 0.15])
    np.testing.assert_allclose(m.geom("case").rgba, [1, 0, 0, 0.5])
    d = mujoco.MjData(m)
    d.qpos = q = np.array([0.3, -0.2, 0.7])
    mujoco.mj_kinematics(m, d)
    T = lw.compile(mechanism).placement("a")(q)
    R = Rotation.from_euler("xyz", [0.3, 0.2, 0.1]).as_matrix()
    np.testing.assert_allclose(d.geom("case").xpos, T[:3, :3] @ [0.1, 0, 0] + T[:3, 3], atol=1e-14)
    np.testing.assert_allclose(d.geom("case").xmat.reshape(3, 3), T[:3, :3] @ R, atol=1e-14)
    np.testing.assert_allclose(m.tendon_range[m.tendon("rope").id], [-1e9, 3])


def test_meshes_keep_their_files_and_places(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((0.1, 0.2, 0.3)).apply_translation([0.3, 0, 0]).export(tmp_path / "m.stl")
    part = f'{{ type = "mesh", file = "{tmp_path / "m.stl"}", scale = [1, 2, 1] }}'
    text, lost = write_mjcf(load(COUPLED.replace('{ type = "sphere", radius = 0.1 }', part)))
    assert lost == ["body a: its cone, which MJCF lacks"]
    (_, mesh) = load(text).bodies["b"].shapes
    assert mesh.type == "mesh"
    assert mesh.file == str(tmp_path / "m.stl")
    np.testing.assert_allclose([float(x.value) for x in mesh.origin.xyz], 0, atol=1e-12)
    (tmp_path / "m.stl").write_text("solid m\nendsolid m\n")
    in_words = load(COUPLED.replace('{ type = "sphere", radius = 0.1 }', part))
    assert any("b: its mesh, which MuJoCo does not read: it" in x for x in write_mjcf(in_words)[1])
    (tmp_path / "m.stl").unlink()
    gone = load(COUPLED.replace('{ type = "sphere", radius = 0.1 }', part))
    assert "body b: its mesh, whose file is missing" in write_mjcf(gone)[1]


def test_what_is_lost_is_named(tmp_path: Path) -> None:
    _, lost = write_mjcf(lw.gallery("four-bar"))
    assert "the coordinates theta1, theta2, theta3" in lost
    _, lost = write_mjcf(lw.gallery("bouncing-ball"))
    assert [text for text in lost if text.startswith("contact ")]
    _, lost = write_mjcf(
        load(
            COUPLED.replace(
                "[forces.spring]",
                "[forces.push]\ntype = 'wrench'\non = 'c'\nforce = [1, 0, 0]\n[forces.spring]",
            )
        )
    )
    assert "force push, which is a wrench" in lost
    _, lost = write_mjcf(lw.gallery("rolling-disk"))
    assert [text for text in lost if text.endswith("which is a rolling")]
    with pytest.warns(LossWarning):
        lw.save(lw.gallery("stick-slip"), tmp_path / "slip.xml")
    assert load(tmp_path / "slip.xml").name == "stick-slip"


def test_the_command_line_writes_it(tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    ok("export", "six-axis", "--to", "mjcf", "-o", str(file))
    assert mujoco.MjModel.from_xml_path(str(file)).nv == 6
    assert list(lw.export(lw.gallery("elbow"), to="mjcf").files) == ["elbow.xml"]


def test_inertias_that_mujoco_refuses_become_equivalent_ones() -> None:
    """Corke's tensors of PUMA 560 break the triangle inequality; real bodies move in the same
    way. A part that is fixed to a link gives its mass to the link."""
    puma = lw.gallery("puma560").without("friction")
    loaded = puma.with_payload("link6", 0.4, [0.01, 0.02, 0.1], [0.004, 0.003, 0.003])
    for mechanism in (puma, loaded):
        text, lost = write_mjcf(mechanism)
        (named,) = [one for one in lost if "no real bodies" in one]
        assert "link1, link3, which no real bodies have (those of real bodies with" in named
        for seed in range(3):
            check_mujocos_dynamics(written_twin(mechanism), seed)
        ours, theirs = lw.compile(mechanism), lw.compile(load(text))
        q, v, a = np.random.default_rng(1).normal(size=(3, 6))
        np.testing.assert_allclose(
            theirs.inverse_dynamics(q, v, a), ours.inverse_dynamics(q, v, a), atol=1e-11
        )


def test_moments_without_an_effect_are_raised_alone() -> None:
    """Bodies of a planar arm have one moment of inertia each; masses stay as they are."""
    text, lost = write_mjcf(lw.gallery("elbow"))
    assert "moments of inertia of link1, link2 that have no effect on the motion" in lost
    masses = [float(x.mass.value) for x in load(text).bodies.values()]
    np.testing.assert_allclose(masses, lw.compile(lw.gallery("elbow")).inertial_parameters[::10])
    check_mujocos_dynamics(written_twin(lw.gallery("elbow")), 0)


def test_an_inertia_without_an_equivalent_is_named() -> None:
    body = {"mass": 1.0, "inertia": [0.1, 0.1, 0.5]}
    flying = lw.Mechanism(
        name="f", bodies={"b": body}, joints={"j": {"type": "free", "child": "b"}}
    )
    text, lost = write_mjcf(flying)
    assert lost == ["the inertias of b, which no real bodies have: M differs"]
    assert mujoco.MjModel.from_xml_string(text).nv == 6


FINGER = """
<robot name="finger">
  <link name="world"/>
  <link name="plate"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="knuckle"/><link name="phalanx"><inertial><mass value="2e-3"/>
    <inertia ixx="2e-7" iyy="2e-7" izz="2e-8" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tip"/><link name="nail"/>
  <joint name="screwed" type="fixed"><parent link="world"/><child link="plate"/></joint>
  <joint name="bend" type="continuous"><axis xyz="0 1 0"/>
    <parent link="world"/><child link="knuckle"/></joint>
  <joint name="glued" type="fixed"><origin xyz="0 0 .02"/>
    <parent link="knuckle"/><child link="phalanx"/></joint>
  <joint name="end" type="fixed"><origin xyz="0 0 .5"/>
    <parent link="knuckle"/><child link="tip"/></joint>
  <joint name="side" type="fixed"><origin xyz="0 .5 0"/>
    <parent link="tip"/><child link="nail"/></joint>
</robot>
"""


def test_links_without_mass_stay_so_and_parts_of_the_ground_may_be_anything() -> None:
    """MuJoCo wants mass only of what moves, and what moves with it may have it; 1e-14 kg on each
    frame of a finger changed its M by 1e-9. The plate has no real inertia, and never moves."""
    finger = load(FINGER)
    text, lost = write_mjcf(finger)
    twin = written_twin(finger)
    assert lost == [
        "the name of body world, MuJoCo's name for the ground: it is world_",
        "moments of inertia of plate that have no effect on the motion",
    ]
    massless = ("world_", "knuckle", "tip", "nail")
    assert [twin.m.body(name).mass[0] for name in massless] == [0.0] * len(massless)
    full = np.zeros((1, 1))
    twin.d.qpos[:] = 0.3
    mujoco.mj_forward(twin.m, twin.d)
    mujoco.mj_fullM(twin.m, twin.d, full)
    np.testing.assert_allclose(full, [[2e-7 + 2e-3 * 0.02**2]], rtol=1e-14)
    np.testing.assert_allclose(lw.compile(load(text)).mass_matrix([0.3]), full, rtol=1e-14)
