"""Denavit–Hartenberg tables against their own definition, multiplied out in NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.files import load

ROWS = [  # type, theta, d, a, alpha
    ("revolute", 0.3, 0.4, 0.1, 90.0),
    ("prismatic", -0.5, 0.2, -0.2, -90.0),
    ("revolute", 0.0, 0.0, 0.3, 37.5),
    ("revolute", 1.1, -0.1, 0.0, 180.0),
]


def translation(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def rotation(axis: str, angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    T = np.eye(4)
    i, j = {"x": (1, 2), "z": (0, 1)}[axis]
    T[i, i] = T[j, j] = c
    T[i, j], T[j, i] = -s, s
    return T


def step(convention: str, row: tuple, q: float) -> np.ndarray:
    kind, theta, d, a, degrees = row
    alpha = np.radians(degrees)
    theta, d = (theta + q, d) if kind == "revolute" else (theta, d + q)
    turn, slide = rotation("z", theta), translation(0, 0, d)
    if convention == "standard":
        return turn @ slide @ translation(a, 0, 0) @ rotation("x", alpha)
    return rotation("x", alpha) @ translation(a, 0, 0) @ turn @ slide


def toml(convention: str) -> str:
    text = f"convention = '{convention}'\nname = 'test'\n"
    for kind, theta, d, a, alpha in ROWS:
        text += f"[[links]]\ntype = '{kind}'\ntheta = {theta}\nd = {d}\na = {a}\n"
        text += (
            f"alpha = '{alpha} deg'\nmass = 1.0\ncenter = [0.1, 0.2, 0.3]\ninertia = [1, 1, 1]\n"
        )
    return text


def table(convention: str) -> str:
    text = f"# convention: {convention}\n# name: test\n"
    text += "type,theta,d,a,alpha,mass,cx,cy,cz,Ixx,Iyy,Izz\n"
    for kind, theta, d, a, alpha in ROWS:
        text += f"{kind},{theta},{d},{a},{alpha} deg,1.0,0.1,0.2,0.3,1,1,1\n"
    return text


@pytest.mark.parametrize("convention", ["standard", "modified"])
@pytest.mark.parametrize("form", [toml, table])
def test_placements(convention: str, form) -> None:
    model = lw.compile(load(form(convention)))
    for seed in range(3):
        q = np.random.default_rng(seed).uniform(-1, 1, 4)
        T = np.eye(4)
        for i, row in enumerate(ROWS):
            T = T @ step(convention, row, q[i])
            np.testing.assert_allclose(model.placement(f"link{i + 1}")(q), T, atol=1e-14)


def test_both_forms_are_one() -> None:
    assert load(toml("standard")) == load(table("standard"))


def test_the_convention_must_be_said() -> None:
    silent = toml("standard").replace("convention = 'standard'\n", "")
    for text in (silent, toml("craig")):
        with pytest.raises(LinkwrightError, match="convention"):
            load(text)
    assert load(silent, convention="standard") == load(toml("standard"))
    with pytest.raises(LinkwrightError, match="the file states 'standard', the call 'modified'"):
        load(toml("standard"), convention="modified")
    assert load(toml("standard"), convention="standard") == load(toml("standard"))
    with pytest.raises(LinkwrightError, match="'craig' is not a Denavit"):
        load(silent, convention="craig")
    with pytest.raises(LinkwrightError, match="Denavit"):
        load("[bodies.a]\n", convention="standard")


def test_right_angles_stay_exact() -> None:
    eqs = lw.derive(lw.gallery("puma560"), parameters="symbolic")
    assert not [name for name in eqs.parameters if name.startswith(("roll", "pitch", "yaw"))]


@pytest.mark.parametrize("d", ["0.316", "316 mm", "l"])
@pytest.mark.parametrize("alpha", ["1.5707963", "0.3", "30 deg", "tilt"])
def test_modified_tables_take_plain_numbers_and_units_at_any_alpha(d: str, alpha: str) -> None:
    arm = load(
        "convention = 'modified'\n[parameters]\nl = '316 mm'\ntilt = '20 deg'\n"
        f"[[links]]\na = 0.1\nd = '{d}'\nalpha = '{alpha}'\n[[links]]\nd = 0.2\nmass = 1\n"
    )
    degrees = {"30 deg": 30.0, "tilt": 20.0}.get(alpha) or np.degrees(float(alpha))
    expected = step("modified", ("revolute", 0.0, 0.316, 0.1, degrees), 0.7)
    placed = lw.compile(arm).placement("link1")([0.7, 0.0])
    np.testing.assert_allclose(placed, expected, atol=1e-15)


STANDARD = "# convention: standard\n"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("type,alpha\nrevolute\n", "row 1: has 1 cells, and the header 2"),
        ("type,alpha\nrevolute,0,1\n", "row 1: has 3 cells, and the header 2"),
        ("alpha,colour\n0,red\n", "header: unknown column 'colour'"),
        ("alpha,a,a\n0,1,2\n", "header: has the column 'a' twice"),
        ("alpha,mass\n0,1\n0,2 m\n", "row 2, column mass: is in m"),
        ("alpha,cy\n0,2 kg\n", "row 1, column cy: is in kg"),
        ("alpha,Ixy\n0,2 kg\n", "row 1, column Ixy: is in kg"),
        ("alpha,G,Jm\n0,1,2 m\n", "row 1, column Jm: is in m"),
        ("alpha,d\n0,1 kg\n", "row 1, column d: is in kg"),
        ("alpha,d\n1 +,1\n", "row 1, column alpha: "),
        ("type,alpha\nball,1\n", "row 1, column type: "),
        ("alpha,d\n0,x\n", "row 1, column d: uses 'x'"),
        ("alpha,name\n0,a\n0,b\n0,a\n", "row 3, column name: 'a' is the name of link 1"),
        ("alpha,name\n0,ground\n", "row 1, column name: 'ground' is the name of the fixed"),
        ("alpha,d\n,\n", "row 1: is empty"),
        ("alpha,d\n", "has no links"),
        ("alpha,d\n0," + "1" * 200_000 + "\n", "row 1: is not valid CSV: field larger"),
        ('alpha,d\n0,"1\n', "row 1: is not valid CSV"),
        ("# name: a\n# name: b\nalpha,d\n0,1\n", "# name: is given twice"),
        ("# gravity: 0, 0, 1 m\nalpha,d\n0,1\n", r"gravity[3]: is in m"),
    ],
)
def test_broken_csv(text: str, what: str) -> None:
    for convention in ("standard", "modified"):
        with pytest.raises(LinkwrightError) as error:
            load(f"# convention: {convention}\n{text}")
        assert str(error.value).startswith(what)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[links]]\n[[links]]\nd = '1 kg'\n", "links[2].d: is in kg"),
        ("[[links]]\ntheta = '1 m'\n", "links[1].theta: is in m"),
        ("[[links]]\ncenter = [1, 2, '3 kg']\n", "links[1].center[3]: is in kg"),
        ("[[links]]\ncolour = 1\n", "links[1]: unknown key 'colour'"),
        ("[[links]]\nmotor = { inertia = '1 m' }\n", "links[1].motor.inertia: is in m"),
        ("[[links]]\ndamping = [1, 2]\n", "links[1].damping: has 2 numbers"),
        ("[[links]]\nname = 'x'\n[[links]]\nname = 'x'\n", "links[2].name: 'x' is the name of link 1"),
        ("[parameters]\na = 'a'\n[[links]]\na = 'a'\n", "parameters.a: depends on itself"),
        ("links = []\n", "has no links"),
        ("links = 3\n", "links: is not a list of tables"),
    ],
)  # fmt: skip
def test_broken_toml(text: str, what: str, tmp_path: Path) -> None:
    file = tmp_path / "arm.dh.toml"
    for convention in ("standard", "modified"):
        file.write_text(f"convention = '{convention}'\n{text}")
        with pytest.raises(LinkwrightError) as error:
            load(file)
        assert str(error.value).startswith(f"{file}: {what}")


def test_comments_of_csv() -> None:
    text = "# gravity: 0, -1.62, 0\n#colour: red\n# just words\nalpha,name\n0,link2\n0,\n"
    arm = load(STANDARD + text)
    assert arm.gravity == lw.Mechanism(gravity=[0, -1.62, 0]).gravity
    assert arm.unused == ("the comment '#colour: red'",)
    assert list(arm.bodies) == ["link2", "link2_"]


FULL = """
convention = "{convention}"
base = {{ xyz = [0.1, 0.2, 0.3], rpy = [0.4, 0.5, 0.6] }}
tool = [0, 0, 0.2]
[[links]]
theta = "20 deg"
d = 0.3
a = 0.1
alpha = 0.2
mass = 1
center = [0.1, 0.2, 0]
friction = 3
friction_backward = 1
flip = true
[[links]]
type = "prismatic"
theta = 0.7
d = 0.15
a = 0.25
alpha = "30 deg"
mass = 3
flip = true
[forces.push]
type = "wrench"
on = "tool"
force = ["10*sin(t)", 0, 0]
axes = "tool"
"""


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_flip_base_tool_and_forces(convention: str) -> None:
    """A flipped coordinate is the negative of the unflipped one; frame 0 stands at the base."""
    arm = load(FULL.format(convention=convention))
    made, q = lw.compile(arm), np.array([0.3, -0.2])
    base = np.eye(4)
    for axis, angle in enumerate((0.4, 0.5, 0.6)):
        c, s, i, j = np.cos(angle), np.sin(angle), (axis + 1) % 3, (axis + 2) % 3
        turn = np.eye(4)
        turn[i, i] = turn[j, j] = c
        turn[i, j], turn[j, i] = -s, s
        base = turn @ base
    base[:3, 3] = [0.1, 0.2, 0.3]
    rows = [
        ("revolute", np.radians(20), 0.3, 0.1, np.degrees(0.2)),
        ("prismatic", 0.7, 0.15, 0.25, 30),
    ]
    T = base @ step(convention, rows[0], -q[0]) @ step(convention, rows[1], -q[1])
    T = T @ [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.2], [0, 0, 0, 1]]
    np.testing.assert_allclose(made.placement("tool")(q), T, atol=1e-14)
    push = T[:3, :3] @ [10 * np.sin(0.5), 0, 0]
    wanted = made.jacobian("tool")(q)[3:].T @ push
    np.testing.assert_allclose(made.external(q, [0, 0], t=0.5), wanted, atol=1e-13)
    for speed, friction in ((0.5, -3), (-0.5, 1)):
        assert made.passive(q, [speed, 0])[0] == friction


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_numbers_have_the_symbols_of_the_convention(convention: str) -> None:
    """a2, d2, alpha2 and theta2 of the second row, where the table names none."""
    text = FULL.format(convention=convention).replace("base =", "# base =")
    found = lw.derive(load(text.replace("[forces", "#[forces").split("#[forces")[0])).parameters
    for number, values in ((1, (0.1, 0.3, 0.2, np.radians(20))), (2, (0.25, 0.15, np.pi / 6, 0.7))):
        for key, value in zip(("a", "d", "alpha", "theta"), values, strict=True):
            assert float(found[f"{key}{number}"]) == pytest.approx(value), (key, number)


def test_other_tables_are_checked() -> None:
    """Tables of our own format keep their places in messages."""
    text = FULL.format(convention="standard")
    with pytest.raises(LinkwrightError, match=r"forces\.push\.on: .*'tol'"):
        load(text.replace('on = "tool"', 'on = "tol"'))
    with pytest.raises(LinkwrightError, match=r"frames\.tool: is given twice"):
        load(text + '[frames.tool]\nbody = "link1"\n')
