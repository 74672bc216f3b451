"""SDF files: frames, joints, loops, gearboxes; against TOML, URDF and hand-written equations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import FileError, LinkwrightError, UnsupportedError

INERTIA = "<inertia><ixx>.02</ixx><iyy>.03</iyy><izz>.04</izz><ixy>.001</ixy></inertia>"


def link(name: str, pose: str = "0 0 0 0 0 0", center: str = "0 0 0 0 0 0", **more: str) -> str:
    attributes = f' relative_to="{more["to"]}"' if "to" in more else ""
    return (
        f'<link name="{name}"><pose{attributes}>{pose}</pose><inertial><pose>{center}</pose>'
        f"<mass>{more.get('mass', '2')}</mass>{INERTIA}</inertial></link>"
    )


def joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>'
        f"{inside}</joint>"
    )


def axis(xyz: str, more: str = "", tag: str = "axis", **attributes: str) -> str:
    words = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<{tag}><xyz{words}>{xyz}</xyz>{more}</{tag}>"


def model(*parts: str, name: str = "arm", version: str = "1.9", **attributes: str) -> str:
    words = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f'<sdf version="{version}"><model name="{name}"{words}>{"".join(parts)}</model></sdf>'


def numbers(mechanism: lw.Mechanism, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """M and the bias at random coordinates and velocities."""
    made = lw.compile(mechanism)
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, made.nv))
    return made.mass_matrix(q), made.bias(q, qd)


TWO_LINKS = (
    link("base", "0.1 0 0.2 0 0 0.3"),
    link("upper", "0 0 0.5 0.2 0.1 0", "0.1 0 0.2 0.4 0 0"),
    link("lower", "0 0.1 0.4 0 0.5 0", "0 0.1 0.2 0 0 0", to="upper"),
    joint("hold", "fixed", "world", "base"),
    joint("q1", "revolute", "base", "upper", axis("0 1 0", expressed_in="__model__")),
    joint("q2", "prismatic", "upper", "lower", "<pose>0 0 -0.1 0 0 0</pose>" + axis("1 0 1")),
    '<frame name="tool" attached_to="lower"><pose>0 0 0.4 0 0 0</pose></frame>',
)


def test_poses_relative_to_frames_are_those_of_urdf() -> None:
    """The same arm with every pose worked out by hand in the parent's frame."""
    arm = lw.load(model(*TWO_LINKS))
    assert list(arm.bodies) == ["base", "upper", "lower"]
    assert list(arm.joints) == ["hold", "q1", "q2"]

    def turn(roll: float, pitch: float, yaw: float) -> np.ndarray:
        (a, b, c), (d, e, f) = np.cos([roll, pitch, yaw]), np.sin([roll, pitch, yaw])
        x = np.array([[1, 0, 0], [0, a, -d], [0, d, a]])
        y = np.array([[b, 0, e], [0, 1, 0], [-e, 0, b]])
        return np.array([[c, -f, 0], [f, c, 0], [0, 0, 1]]) @ y @ x

    base, upper = turn(0, 0, 0.3), turn(0.2, 0.1, 0)
    q = np.array([0.4, -0.3])
    axis1 = upper.T @ [0, 1, 0]
    K = np.array([[0, -axis1[2], axis1[1]], [axis1[2], 0, -axis1[0]], [-axis1[1], axis1[0], 0]])
    turned = upper @ (np.eye(3) + np.sin(q[0]) * K + (1 - np.cos(q[0])) * K @ K)
    lower = turn(0, 0.5, 0)
    slide = lower @ np.array([1, 0, 1]) / np.sqrt(2) * q[1]
    place = [0, 0, 0.5] + turned @ ([0, 0.1, 0.4] + slide + lower @ [0, 0, 0.4])
    found = lw.compile(arm).placement("tool")(q)
    np.testing.assert_allclose(found[:3, 3], place, atol=1e-14)
    np.testing.assert_allclose(found[:3, :3], turned @ lower, atol=1e-14)
    np.testing.assert_allclose(lw.compile(arm).placement("base")(q)[:3, :3], base, atol=1e-14)


def test_a_file_and_its_text_are_one(tmp_path: Path) -> None:
    """By its ending, and by its root element."""
    path = tmp_path / "arm.sdf"
    path.write_text(model(*TWO_LINKS), encoding="utf-8")
    assert lw.load(path).digest == lw.load(model(*TWO_LINKS)).digest


def test_poses_in_degrees_and_quaternions() -> None:
    """One attitude in three notations."""
    texts = [
        "<pose>1 2 3 0.5235987755982988 0 1.5707963267948966</pose>",
        '<pose degrees="true">1 2 3 30 0 90</pose>',
        '<pose rotation_format="quat_xyzw">1 2 3 0.18301270189221933 0.18301270189221933 '
        "0.6830127018922193 0.6830127018922193</pose>",
    ]
    found = []
    for text in texts:
        body = f'<link name="a">{text}<inertial><mass>1</mass></inertial></link>'
        arm = lw.load(model(body, joint("q", "revolute", "world", "a", axis("0 0 1"))))
        found.append(lw.compile(arm).placement("a")([0.2]))
    np.testing.assert_allclose(found[1], found[0], atol=1e-14)
    np.testing.assert_allclose(found[2], found[0], atol=1e-14)


def test_nested_models_and_placement_frames() -> None:
    """A model in a model: its names, and a pose that places a frame of it."""
    inner = (
        '<model name="hand" placement_frame="grip"><pose relative_to="wrist">0 0 1 0 0 0</pose>'
        + link("palm", "0 0 3 0 0 0")
        + '<frame name="grip" attached_to="palm"><pose>0 0 0.5 0 0 0</pose></frame></model>'
    )
    arm = lw.load(
        model(
            link("wrist", "0.2 0 0 0 0 0"),
            joint("q1", "revolute", "world", "wrist", axis("0 0 1")),
            inner,
            joint("q2", "revolute", "wrist", "hand::palm", axis("1 0 0")),
        )
    )
    assert list(arm.bodies) == ["wrist", "hand::palm"]
    place = lw.compile(arm).placement("hand::palm")([0.0, 0.0])
    np.testing.assert_allclose(place[:3, 3], [0.2, 0, 0.5], atol=1e-15)


def test_limits_losses_springs_and_mimicry() -> None:
    """What the axes say besides their direction."""
    dynamics = (
        "<limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>-1</velocity></limit>"
        "<dynamics><damping>0.3</damping><friction>0.2</friction>"
        "<spring_stiffness>5</spring_stiffness><spring_reference>0.1</spring_reference></dynamics>"
    )
    mimic = (
        '<mimic joint="q1" axis="axis"><multiplier>2</multiplier><offset>0.5</offset>'
        "<reference>0.25</reference></mimic>"
    )
    arm = lw.load(
        model(
            link("a"),
            link("b", "0 0 1 0 0 0"),
            joint("q1", "revolute", "world", "a", axis("1 0 0", dynamics)),
            joint("q2", "revolute", "a", "b", axis("0 1 0", mimic)),
        )
    )
    made = lw.compile(arm)
    assert made.nv == 1
    place = made.placement("b")([0.3])[:3, :3] @ [0, 0, 1]  # q2 = 2 (0.3 − 0.25) + 0.5 = 0.6
    turned = np.array([np.sin(0.6), 0, np.cos(0.6)])
    c, s = np.cos(0.3), np.sin(0.3)
    np.testing.assert_allclose(place, [turned[0], -s * turned[2], c * turned[2]], atol=1e-15)
    rest = made.bias([0.3], [0.0]) - made.gravity([0.3])
    np.testing.assert_allclose(rest, 5 * (0.3 - 0.1), rtol=1e-13)
    moving = made.forces([0.3], [2.0]) - made.forces([0.3], [0.0])
    np.testing.assert_allclose(moving, -0.3 * 2 - 0.2, rtol=1e-13)
    limits = arm.joints["q1"].limits
    assert [float(x.value) for x in (limits.lower, limits.upper, limits.effort)] == [-1, 2, 30]
    assert limits.velocity is None


def test_screws_new_and_old() -> None:
    """`screw_thread_pitch` in m per revolution, and `thread_pitch`, −rad per m."""
    heights = []
    for text in (
        "<screw_thread_pitch>0.02</screw_thread_pitch>",
        f"<thread_pitch>{-2 * np.pi / 0.02}</thread_pitch>",
    ):
        arm = lw.load(model(link("a"), joint("q", "screw", "world", "a", axis("0 0 1") + text)))
        heights.append(lw.compile(arm).placement("a")([np.pi])[2, 3])
    np.testing.assert_allclose(heights, 0.01, rtol=1e-14)


def test_a_loop_is_closed_by_the_last_joint() -> None:
    """A parallelogram crank: the coupler keeps its attitude, and M is that of the closed form."""
    rod = "<inertial><mass>{}</mass><inertia><izz>0</izz><ixx>0</ixx><iyy>0</iyy></inertia></inertial>"
    bodies = (
        f'<link name="left"><pose>0 0 0 0 0 0</pose>{rod.format(0)}</link>'
        f'<link name="bar"><pose>0 1 0 0 0 0</pose>{rod.format(3)}</link>'
        f'<link name="right"><pose>2 0 0 0 0 0</pose>{rod.format(0)}</link>'
    )
    turn = axis("0 0 1")
    four = lw.load(
        model(
            bodies,
            joint("a", "revolute", "world", "left", turn),
            joint("b", "revolute", "left", "bar", turn),
            joint("d", "revolute", "world", "right", turn),
            joint("c", "revolute", "bar", "right", "<pose>0 1 0 0 0 0</pose>" + turn),
        )
    )
    assert list(four.loops) == ["c"]
    made = lw.compile(four)
    q = lw.assemble(four, {"a": 0.3})
    np.testing.assert_allclose(q, q[0] * np.array([1, -1, 1]), atol=1e-12)
    assert q[0] > 0.05
    qd = np.array([1.0, -1.0, 1.0])
    assert np.isclose(made.kinetic_energy(q, qd), 0.5 * 3 * 1.0**2, rtol=1e-12)


def test_a_part_held_by_its_child_is_turned_round() -> None:
    """A joint from a free link to a held one: its coordinate keeps its sense."""
    ends = (link("a"), link("b", "0 0 1 0.3 0 0"))
    straight = lw.load(
        model(*ends, joint("hold", "fixed", "world", "b"), joint("q", "revolute", "a", "b", axis("0 1 0")))
    )  # fmt: skip
    swapped = lw.load(
        model(*ends, joint("hold", "fixed", "world", "b"),
              joint("q", "revolute", "b", "a", "<pose relative_to='b'/>" + axis("0 -1 0")))
    )  # fmt: skip
    for one, other in zip(numbers(straight), numbers(swapped), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_a_gearbox_couples_two_joints() -> None:
    """θ₂ = −ratio θ₁, each against the reference body."""
    gear = (
        "<gearbox_ratio>3</gearbox_ratio><gearbox_reference_body>frame</gearbox_reference_body>"
        + axis("0 0 1")
        + axis("0 0 1", tag="axis2")
    )
    train = lw.load(
        model(
            link("frame"),
            link("pinion", "0.1 0 0 0 0 0"),
            link("wheel", "0.3 0 0 0 0 0"),
            joint("hold", "fixed", "world", "frame"),
            joint("q1", "revolute", "frame", "pinion", axis("0 0 1")),
            joint("q2", "revolute", "wheel", "frame", axis("0 0 1")),
            joint("mesh", "gearbox", "pinion", "wheel", gear),
        )
    )
    q = lw.assemble(train, {"q1": 0.2})
    made = lw.compile(train)
    angle = made.placement("wheel")(q)[:2, 0]
    np.testing.assert_allclose(angle, [np.cos(3 * q[0]), -np.sin(3 * q[0])], atol=1e-12)
    assert abs(q[0]) > 0.01


def test_what_floats_and_what_stands() -> None:
    """A model that nothing holds is free; a static one is fixed; the world has its gravity."""
    text = (
        '<sdf version="1.7"><world name="yard"><gravity>0 0 -1.62</gravity>'
        f'<model name="ball"><pose>0 0 5 0 0 0</pose>{link("body")}</model>'
        f'<model name="wall"><static>true</static>{link("body")}</model>'
        "<light name='sun' type='point'/></world></sdf>"
    )
    yard = lw.load(text)
    assert {name: j.type for name, j in yard.joints.items()} == {
        "wall::body_fixed": "fixed",
        "ball::body_free": "free",
    }
    made = lw.compile(yard)
    assert made.placement("ball::body")(made.neutral())[2, 3] == 5
    weight = made.gravity(made.neutral())
    np.testing.assert_allclose(weight, [0, 0, 0, 0, 0, 2 * 1.62], atol=1e-15)
    assert any("<light>" in note for note in yard.unused)


def test_included_models_are_read_beside_the_file(tmp_path: Path) -> None:
    """By a folder's name, with a pose and a name of their own."""
    (tmp_path / "hand").mkdir()
    (tmp_path / "hand/model.sdf").write_text(model(link("palm"), name="hand"), encoding="utf-8")
    world = tmp_path / "world.sdf"
    include = "<include><uri>model://hand</uri><name>left</name><pose>0 0 2 0 0 0</pose></include>"
    world.write_text(f'<sdf version="1.7"><world name="w">{include}</world></sdf>', "utf-8")
    found = lw.load(world)
    assert list(found.bodies) == ["palm"]
    assert lw.compile(found).placement("palm")(lw.compile(found).neutral())[2, 3] == 2


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (model(), FileError, "has no <link>"),
        (model(link("a", "0 0 x 0 0 0")), FileError, "not 6 number"),
        (model(link("a", to="b")), FileError, "unknown frame 'b'"),
        (model(link("a", to="a")), FileError, "relative to itself"),
        (model(link("a"), link("a")), FileError, "occurs twice"),
        (model(link("a"), joint("q", "revolute", "world", "c")), FileError, "unknown frame 'c'"),
        (model(link("a"), joint("q", "rope", "world", "a")), UnsupportedError, "type 'rope'"),
        (
            model(link("a"), joint("q", "revolute", "world", "a", axis("0 0 0"))),
            FileError,
            "has no direction",
        ),
        (model(link("a").replace("<inertial>", '<inertial auto="true">')), FileError, "no collision"),
        (model("<include><uri>model://x</uri></include>"), FileError, "'model://x' is not found; give the path"),
        (model("<include><uri>https://a.b/x</uri></include>"), FileError, "is not found; download it"),
        (model(link("a"), version="abc"), FileError, "the version of SDF is 'abc'"),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)  # fmt: skip
def test_errors_say_what_and_where(text: str, error: type[LinkwrightError], message: str) -> None:
    with pytest.raises(error, match=message):
        lw.load(text)


HAND = model(
    link("palm", "0 0 0.3 0 0 0"),
    link("finger", "0 0 0.1 0 0 0.2", to="palm"),
    joint("grip", "revolute", "palm", "finger", axis("0 1 0", expressed_in="__model__")),
    '<frame name="mount"><pose>0 0 0.1 0 0 0</pose></frame>',
    name="hand",
)


def arm_with_hand(merge: str, palm: str) -> str:
    return model(
        link("upper", "0.1 0 0 0 0 0"),
        joint("q1", "revolute", "world", "upper", axis("0 0 1")),
        f'<include{merge}><uri>model://hand</uri><pose relative_to="upper">0 0 1 0.3 0 0</pose></include>',
        joint("q2", "revolute", "upper", palm, axis("1 0 0")),
    )


def test_included_models_nested_and_merged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same arm whether the hand is nested or merged; model.config names the hand's file, in a
    folder of the environment."""
    folder = tmp_path / "models" / "hand"
    folder.mkdir(parents=True)
    (folder / "model.config").write_text(
        '<model><sdf version="1.9">hand.sdf</sdf></model>', encoding="utf-8"
    )
    (folder / "hand.sdf").write_text(HAND, encoding="utf-8")
    (tmp_path / "work").mkdir()
    path = tmp_path / "work" / "arm.sdf"
    path.write_text(arm_with_hand("", "hand::palm"), encoding="utf-8")
    with pytest.raises(FileError, match="'model://hand' is not found"):
        lw.load(path)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", str(tmp_path / "models"))
    nested = lw.load(path)
    path.write_text(arm_with_hand(' merge="true"', "palm"), encoding="utf-8")
    merged = lw.load(path)
    assert list(nested.bodies) == ["upper", "hand::palm", "hand::finger"]
    assert list(merged.bodies) == ["upper", "palm", "finger"]
    for ours, theirs in zip(numbers(merged), numbers(nested), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-13)
    q = [0.3, -0.2, 0.4]
    for one, other in (("finger", "hand::finger"), ("mount", "hand::mount")):
        found = lw.compile(merged).placement(one)(q)
        np.testing.assert_allclose(found, lw.compile(nested).placement(other)(q), atol=1e-14)


def test_joints_with_the_name_of_a_link() -> None:
    """Old files have them: the joint gets another name, and keeps its place."""
    text = model(
        link("wheel", "0 0 1 0 0 0"),
        joint("wheel", "revolute", "world", "wheel", "<pose>0 0.5 0 0 0 0</pose>" + axis("0 0 1")),
        version="1.4",
    )
    arm = lw.load(text)
    assert list(arm.joints) == ["wheel_joint"]
    assert (
        "joint wheel: its name, which a link has too; it is renamed to 'wheel_joint'" in arm.unused
    )
    place = lw.compile(arm).placement("wheel")([np.pi])[:3, 3]  # half a turn about (0, 0.5)
    np.testing.assert_allclose(place, [0, 1, 1], atol=1e-15)


def test_joints_with_damping_do_not_close_loops() -> None:
    """The last joint of the file stays in the tree, since it has damping."""
    damped = axis("0 1 0", "<dynamics><damping>0.3</damping></dynamics>")
    text = model(
        link("crank", "0 0 0 0 0 0"),
        link("rod", "1 0 0 0 0 0"),
        joint("a", "revolute", "world", "crank", axis("0 1 0")),
        joint("b", "revolute", "crank", "rod", axis("0 1 0")),
        joint("c", "prismatic", "world", "rod", axis("1 0 0").replace("0 1 0", "1 0 0")),
        joint("d", "revolute", "world", "rod", damped),
    )
    arm = lw.load(text)
    assert "d" in arm.joints
    assert set(arm.loops) == {"c", "b"}


def test_links_without_weight() -> None:
    """Two bars of which one does not feel gravity: half the moment of the weight."""
    text = model(
        link("a", center="0.5 0 0 0 0 0"),
        link("b", center="0.5 0 0 0 0 0").replace("</link>", "<gravity>false</gravity></link>"),
        joint("q", "revolute", "world", "a", axis("0 1 0")),
        joint("weld", "fixed", "a", "b"),
    )
    made = lw.compile(lw.load(text))
    assert made.bias([0.0], [0.0])[0] == pytest.approx(-2 * 9.81 * 0.5)
    assert made.mass_matrix([0.0])[0, 0] == pytest.approx(2 * (0.03 + 2 * 0.25))


def test_axes_before_version_1_5_are_in_the_frame_of_the_model() -> None:
    """SDF 1.5 moved them to the frame of the joint; later files ask for the old meaning."""
    parts = [
        link("a", "0 0 0 0.5 0.2 0"),
        link("b", "0.3 0 0 0.1 0.6 0"),
        joint("j1", "revolute", "world", "a", axis("1 0 0")),
        joint("j2", "revolute", "a", "b", axis("0 0 1")),
    ]
    old, new = (lw.load(model(*parts, version=v)) for v in ("1.4", "1.5"))
    stated = [part.replace("<xyz>", '<xyz expressed_in="__model__">') for part in parts]
    for ours, theirs in zip(numbers(old), numbers(lw.load(model(*stated))), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-14)
    assert abs(numbers(old)[0] - numbers(new)[0]).max() > 1e-3


def test_a_screw_without_pitch_advances_a_metre_per_turn() -> None:
    arm = lw.load(model(link("a"), joint("q", "screw", "world", "a", axis("0 0 1"))))
    place = lw.compile(arm).placement("a")([2 * np.pi])
    np.testing.assert_allclose(place[:3, 3], [0, 0, 1], atol=1e-15)


def test_limits_that_cannot_be_kept_are_named() -> None:
    """Loops are closed by joints without limits, if there are any."""
    limit = "<limit><lower>-1</lower><upper>1</upper></limit>"

    def loop(*limited: str) -> lw.Mechanism:
        ends = {"j1": ("world", "c"), "j2": ("c", "k"), "j3": ("k", "r"), "j4": ("world", "r")}
        joints = [
            joint(name, "revolute", *both, axis("0 1 0", limit if name in limited else ""))
            for name, both in ends.items()
        ]
        return lw.load(
            model(link("c"), link("k", "0 0 1 0 0 0"), link("r", "1 0 1 0 0 0"), *joints)
        )

    assert "j4" in loop("j4").joints
    assert loop("j4").unused == ()
    everywhere = loop("j1", "j2", "j3", "j4")
    (closing,) = everywhere.loops
    assert everywhere.unused == (f"joint {closing}: its limits, since it closes a loop",)
    axes = axis("1 0 0", limit) + axis("0 1 0", tag="axis2")
    found = lw.load(model(link("a"), joint("u", "universal", "world", "a", axes)))
    assert found.unused == (
        "joint u: the limit 'lower', which only one axis has",
        "joint u: the limit 'upper', which only one axis has",
    )
