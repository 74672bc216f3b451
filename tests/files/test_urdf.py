"""URDF in and out: what it means, what is reported, and what is refused."""

from __future__ import annotations

import warnings
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings

import linkwright as lw
from linkwright.errors import FileError, LinkwrightError, LossWarning
from linkwright.files import load
from linkwright.mechanism import Limits
from linkwright.writers import save, write_mechanism_text
from tests.effort import calls_of, memory_of
from tests.random_trees import KINDS, RandomTree, trees

LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def robot(joints: str, links: str = "abc", extra: str = "") -> str:
    bodies = "".join(f'<link name="{name}">{LINK}</link>' for name in links)
    return f'<robot name="test">{bodies}{joints}{extra}</robot>'


def joint(name: str, kind: str, parent: str, child: str, inner: str = "") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inner}</joint>'


TWO = joint("j1", "revolute", "a", "b") + joint("j2", "prismatic", "b", "c")


def test_types_axes_and_defaults() -> None:
    inner = '<axis xyz="0 0 -2"/><limit lower="-1" upper="2" effort="3" velocity="4"/>'
    inner += '<dynamics damping="0.5" friction="0.25"/><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/>'
    arm = load(
        robot(joint("j1", "revolute", "a", "b", inner) + joint("j2", "continuous", "b", "c"))
    )
    model = lw.compile(arm)
    assert model.q_names == ("j1", "j2")
    assert [float(x) for x in model.passive([0, 0], [2.0, 1.0])] == [-1.25, 0.0]
    # an axis of any length turns by the angle itself; URDF's default axis is x
    R = model.placement("c")([0.0, 0.5])[:3, :3] @ model.placement("b")([0.0, 0.5])[:3, :3].T
    assert np.trace(R) == pytest.approx(1 + 2 * np.cos(0.5))
    J = model.jacobian("b")([0.3, 0.0])
    assert np.linalg.norm(J[:3, 0]) == pytest.approx(1)


def test_free_base_and_root_inertia() -> None:
    fixed, free = lw.compile(load(robot(TWO))), lw.compile(load(robot(TWO), base="free"))
    assert (fixed.nq, fixed.nv, free.nq, free.nv) == (2, 2, 9, 8)
    assert free.mass_matrix(free.neutral())[3, 3] == pytest.approx(3.0), "the root link counts"
    with pytest.raises(FileError, match="base = 'flying'"):
        load(robot(TWO), base="flying")


def test_mimic() -> None:
    mimic = '<mimic joint="j1" multiplier="-2" offset="0.3"/>'
    text = robot(joint("j1", "revolute", "a", "b") + joint("j2", "revolute", "b", "c", mimic))
    arm = lw.compile(load(text))
    assert arm.q_names == ("j1",)
    T = arm.placement("c")([0.2])
    free = lw.compile(load(text.replace(mimic, "")))
    np.testing.assert_allclose(T, free.placement("c")([0.2, -0.1]), atol=1e-15)
    orphan = load(text.replace('joint="j1" m', 'joint="nowhere" m'))
    assert lw.compile(orphan).q_names == ("j1", "j2")
    assert any("nowhere" in note for note in orphan.unused)


def test_unused_is_listed() -> None:
    visual = '<visual><geometry><mesh filename="package://a/b.stl"/></geometry></visual>'
    text = robot(TWO, extra='<transmission name="t"/><gazebo/>').replace(
        LINK, LINK + visual + visual, 1
    )
    notes = load(text).unused
    assert "robot test: <transmission>" in notes
    assert not any("visual" in note for note in notes)  # kept as shapes
    fixed = load(robot(joint("j", "fixed", "a", "b", '<axis xyz="1 0 0"/>'), "ab"))
    assert fixed.unused == ("joint j: <axis>",)


def test_fixed_links_are_merged_and_kept_as_frames() -> None:
    arm = load(
        robot(
            joint("j1", "revolute", "a", "b")
            + joint("w", "fixed", "b", "c", '<origin xyz="1 0 0"/>')
        )
    )
    model = lw.compile(arm)
    assert model.body_names == ("b",)
    assert model.inertial_parameters[:2].tolist() == [2.0, 1.0]
    assert model.placement("c")([0.0])[0, 3] == 1.0


def test_a_link_called_ground() -> None:
    text = robot(TWO).replace('"a"', '"ground"')
    found = load(text)
    assert list(found.bodies) == ["ground_link", "b", "c"]
    assert any("link ground: its name" in note for note in found.unused)
    both = load(text.replace('"b"', '"ground_link"'))
    assert list(both.bodies) == ["ground_link_", "ground_link", "c"]


def test_a_joint_called_like_ours() -> None:
    text = robot(TWO.replace('"j1"', '"root_joint"').replace('"j2"', '"root_joint_d"'), "abcd")
    found = load(text)
    assert list(found.joints) == ["root_joint_", "root_joint_d_", "root_joint", "root_joint_d"]
    assert lw.compile(found).q_names == ("root_joint", "root_joint_d")
    orphan = joint("j1", "revolute", "a", "b", '<mimic joint="root_joint"/>')
    assert any("which does not exist" in note for note in load(robot(orphan, "ab")).unused)


@pytest.mark.parametrize(
    ("inner", "note"),
    [
        ('<dynamics spring="1"/>', "joint j: spring of <dynamics>"),
        ('<limit lowr="1"/>', "joint j: lowr of <limit>"),
        ('<axis xyz="0 0 1"/><axis xyz="0 1 0"/>', "joint j: the other 1 of 2 <axis>"),
        ("<dynamics/><dynamics/><dynamics/>", "joint j: the other 2 of 3 <dynamics>"),
        ("<axis><note/></axis>", "joint j: <note>"),
    ],
)
def test_unused_details_of_joints_are_listed(inner: str, note: str) -> None:
    assert load(robot(joint("j", "revolute", "a", "b", inner), "ab")).unused == (note,)


@pytest.mark.parametrize(
    ("inertial", "note"),
    [
        (LINK + LINK, "link a: the other 1 of 2 <inertial>"),
        (LINK.replace("<mass", "<colour/><mass"), "link a: <colour>"),
        (LINK.replace("<mass", '<mass unit="g"'), "link a: unit of <mass>"),
        (LINK.replace('ixy="0" ixz="0"', ""), "link a: <inertia> has no ixy, ixz; taken as 0"),
    ],
)
def test_unused_details_of_links_are_listed(inertial: str, note: str) -> None:
    head = '<robot name="t" xmlns:xacro="x" version="1.0">'
    assert load(f'{head}<link name="a">{inertial}</link></robot>').unused == (note,)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("<robot", "is not well-formed XML"),
        ("<robot/>", "has no <link>"),
        ("<robot name='\ud800'/>", "contains an unpaired surrogate"),
        ("<svg/>", "root element is <svg>"),
        (robot(TWO, "abca"), "link 'a' is defined twice"),
        (robot(TWO + joint("j1", "fixed", "a", "c")), "joint 'j1' is defined twice"),
        (robot(joint("j", "ball", "a", "b")), "'ball' is not a joint type"),
        (robot(joint("j", "fixed", "a", "z")), "unknown link 'z'"),
        (robot('<joint name="j" type="fixed"><child link="b"/></joint>'), "no <parent>"),
        (robot('<joint type="fixed"/>'), "no attribute 'name'"),
        (robot(joint("j", "fixed", "a", "b", '<child link="c"/>')), "the joint has 2 <child>"),
        (robot(TWO).replace('iyy="1"', "", 1), "no attribute 'iyy'"),
        (robot(joint("j", "fixed", "a", "b") + joint("k", "fixed", "b", "a"), "ab"), "break the circle"),
        (robot(TWO).replace('ixx="1"', 'ixx="one"', 1), "is not 1 number"),
        (robot(TWO).replace('<mass value="1"/>', "", 1), "no <mass>"),
        (robot(TWO).replace('value="1"', 'value="nan"', 1), "is not 1 number"),
        (robot(joint("j", "revolute", "a", "b", '<axis xyz="0 0"/>')), "is not 3 number"),
        (robot(joint("j", "revolute", "a", "b", '<axis xyz="0 0 0"/>'), "ab"), "is zero"),
    ],
)  # fmt: skip
def test_refusals(text: str, what: str) -> None:
    with pytest.raises(LinkwrightError) as error:
        load(text)
    assert what in str(error.value)


BOMB = (
    '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa">'
    + "".join(f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9))
    + "]><robot>&j;</robot>"
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE r SYSTEM "file:///etc/passwd"><robot/>',
        "<robot>" * 10**6,
        pytest.param("<robot>" + "<link/>" * 10**6, marks=pytest.mark.slow),
        '<robot name="' + "x" * (20 * 2**20),
    ],
    ids=["entities", "doctype", "nested", "many", "attribute"],
)
def test_hostile_xml_is_refused_with_little_effort(text: str) -> None:
    with pytest.raises(FileError):
        load(text)
    assert calls_of(lambda: load(text)) < 4_000_000
    assert memory_of(lambda: load(text)) < 400 * 2**20


def test_a_huge_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.urdf"
    with path.open("wb") as file:
        file.truncate(2**30)
    assert memory_of(lambda: load(path)) < 2**20
    with pytest.raises(FileError, match="larger than 16 MiB"):
        load(path)


WRITABLE = [kind for kind in KINDS if kind != "ball"]


@settings(max_examples=40, deadline=None)
@given(trees(kinds=WRITABLE, losses=False, motors=False, max_bodies=4))
def test_out_and_in_again_is_the_same_mechanism(tree: RandomTree) -> None:
    """Frames and forces agree; URDF knows no gravity, so it is left out."""
    ours = tree.mechanism.without("gravity")
    text, _ = write_mechanism_text(ours, "urdf")
    again = load(text).without("gravity")
    one = lw.derive(ours, parameters="numeric")
    other = lw.derive(again, parameters="numeric")
    assert one.names.q == other.names.q
    q, v, a = tree.state(1)
    wanted = np.asarray(one.function("inverse_dynamics")(q, v, a))
    found = np.asarray(other.function("inverse_dynamics")(q, v, a))
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 * max(1, abs(wanted).max()))
    for body in ours.bodies:
        np.testing.assert_allclose(
            np.asarray(other.function("placement", body)(q)),
            np.asarray(one.function("placement", body)(q)),
            atol=1e-13,
        )


def test_what_urdf_cannot_hold_is_said(tmp_path: Path) -> None:
    with pytest.warns(LossWarning, match="motor"):
        save(lw.gallery("puma560"), tmp_path / "puma.urdf")
    _, lost = write_mechanism_text(lw.gallery("elbow"), "urdf")
    assert any("gravity 0 -9.81 0" in what for what in lost)
    assert "<!-- not in this file: gravity" in write_mechanism_text(lw.gallery("elbow"), "urdf")[0]
    ball = lw.Mechanism(
        bodies={"b": {"mass": 1}}, joints={"j": {"type": "spherical", "child": "b"}}
    )
    with pytest.raises(FileError, match="no URDF form"):
        write_mechanism_text(ball, "urdf")


def single(kind: str = "revolute", name: str = "j", **fields: object) -> lw.Mechanism:
    inner = {"type": kind, "child": "b", **fields}
    return lw.Mechanism(bodies={"b": {"mass": 1}}, joints={name: inner})


@pytest.mark.parametrize(
    ("arm", "lost"),
    [
        (single(stiffness=0, motor={"inertia": 0, "ratio": 3}, smoothing=0.1, damping=1), []),
        (single(stiffness=1, friction=1, smoothing=0.1), ["spring", "friction smoothing"]),
        (single("free", limits={"effort": [1] * 6}), ["limits"]),
        (single("free", friction=[0] * 6, damping=[1] * 6), ["damping"]),
        (single(locked=1, damping=1, friction=2, limits={"upper": 3}), ["damping", "friction", "limits"]),
    ],
)  # fmt: skip
def test_what_is_lost_is_listed_and_nothing_else(arm: lw.Mechanism, lost: list[str]) -> None:
    held = ["joint j: that it is locked (it is written as fixed)"] * (
        arm.joints["j"].locked is not None
    )
    assert write_mechanism_text(arm, "urdf")[1] == held + [f"joint j: its {what}" for what in lost]


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "helical"])
@pytest.mark.parametrize(
    "limits", [{}, {"upper": 2}, {"lower": -1}, {"effort": 5}, {"lower": -1, "velocity": 3}]
)
def test_limits_survive_and_none_are_invented(kind: str, limits: dict[str, float]) -> None:
    arm = single(kind, limits=limits, **({"pitch": 0.1} if kind == "helical" else {}))
    text, lost = write_mechanism_text(arm, "urdf")
    again = load(text)
    assert lost == []
    for written in ElementTree.fromstring(text).iter("limit"):  # as other readers see them
        assert float(written.get("lower", -1)) < 0 < float(written.get("upper", 1))
    assert again.joints["j"].limits == arm.joints["j"].limits
    assert all(joint.limits == Limits() for name, joint in again.joints.items() if name != "j")
    assert (
        write_mechanism_text(load(write_mechanism_text(again, "urdf")[0]), "urdf")[0]
        == write_mechanism_text(again, "urdf")[0]
    )


@pytest.mark.parametrize("name", ["a---b--", "a\n<&>\"'\tb", "j:slide", "--"])
def test_odd_names_survive(name: str) -> None:
    arm = single("helical", name, pitch=1, stiffness=1, limits={"upper": 1})
    text, lost = write_mechanism_text(arm, "urdf")
    assert lost == [f"joint {name}: its spring"]
    again = load(text)
    assert again.joints[name].limits == arm.joints[name].limits


@pytest.mark.parametrize("name", ["a\x01", "\x00", "\uffff"])
def test_names_that_xml_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(FileError, match="that XML cannot hold"):
        write_mechanism_text(single(name=name), "urdf")


def test_names_that_we_add_are_new() -> None:
    arm = lw.Mechanism(
        bodies={"b": {"mass": 1}, "j.phi:moved": {}, "world": {}, "c": {"mass": 1}},
        joints={
            "j": {"type": "cylindrical", "child": "b", "child_origin": [1, 0, 0]},
            "tool_frame": {"type": "fixed", "parent": "b", "child": "j.phi:moved"},
            "j.phi": {"type": "fixed", "child": "world"},
            "j:mount": {"type": "revolute", "child": "c"},
        },
        frames={"tool": {"body": "b"}},
    )
    again = lw.compile(load(write_mechanism_text(arm, "urdf")[0]).without("gravity"))
    ours = lw.compile(arm.without("gravity"))
    q = [0.3, 0.2, 0.1]
    np.testing.assert_allclose(again.mass_matrix(q), ours.mass_matrix(q), atol=1e-15)
    np.testing.assert_allclose(again.placement("tool")(q), ours.placement("tool")(q), atol=1e-15)


def test_an_empty_mechanism_is_a_lone_link() -> None:
    assert load(write_mechanism_text(lw.Mechanism(), "urdf")[0]).bodies.keys() == {"world"}


def test_losses_limits_and_mimicry_survive() -> None:
    text = robot(
        joint("j1", "revolute", "a", "b", '<limit lower="-1" upper="2" effort="3" velocity="4"/><dynamics damping="0.5" friction="0.25"/>')
        + joint("j2", "prismatic", "b", "c", '<mimic joint="j1" multiplier="0.1" offset="0.2"/>')
    )  # fmt: skip
    arm = load(text)
    again = load(write_mechanism_text(arm, "urdf")[0])
    for name in ("j1", "j2"):
        one, other = arm.joints[name], again.joints[name]
        assert one.damping == other.damping
        assert one.mimic == other.mimic
        assert one.axis == other.axis
    assert arm.joints["j1"].limits == again.joints["j1"].limits


def test_masses_about_odd_axes(tmp_path: Path) -> None:
    """A rotated inertial frame is kept exactly, and means R I Rᵀ."""
    inertial = LINK.replace("<mass", '<origin xyz="0.1 0 0" rpy="0.4 0.5 0.6"/><mass').replace(
        'ixx="1"', 'ixx="2"'
    )
    text = f'<robot name="t"><link name="a"/><link name="b">{inertial}</link>{joint("j", "floating", "a", "b")}</robot>'
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = lw.compile(load(text))
    from scipy.spatial.transform import Rotation

    R = Rotation.from_euler("xyz", [0.4, 0.5, 0.6]).as_matrix()
    c = np.array([0.1, 0, 0])
    tensor = R @ np.diag([2, 1, 1]) @ R.T + (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(model.mass_matrix(model.neutral())[:3, :3], tensor, atol=1e-15)
