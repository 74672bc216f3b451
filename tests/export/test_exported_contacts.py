"""Rigid contacts without friction in exported motions: C, WebAssembly and FMUs, against `simulate`
and closed forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.exports import fmu_export
from tests.export.motions_in_c import MAIN, assert_same_motion, needs_gcc, run_in_c
from tests.export.tools import run_tool
from tests.node import call_wrapper, needs_node

WALL = [-0.2, 0, 0]


def ball(**options: object) -> lw.Mechanism:
    """A ball of radius 5 cm whose centre starts 1 m above the floor; it moves in a vertical
    plane."""
    floor = {"point": "ball", "radius": "r", "restitution": 0.8}
    return lw.Mechanism(
        name="ball",
        parameters={"r": 0.05},
        bodies={"ball": {"mass": 0.2, "inertia": ["r^2/10", "r^2/10", "r^2/10"]}},
        joints={"fall": PLANAR | {"child": "ball"}},
        contacts={"floor": floor | options},
    )


PLANAR = {"type": "planar", "origin": [0, 0, 1], "axis": [0, -1, 0]}

LINK = {"mass": 1.0, "center": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]}


def pendulum(plane: dict[str, object], restitution: float) -> lw.Mechanism:
    """A double pendulum whose tip meets a plane."""
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    return lw.Mechanism(
        name="pendulum",
        bodies={"upper": LINK, "lower": LINK},
        joints={
            "a": hinge | {"child": "upper"},
            "b": hinge | {"parent": "upper", "child": "lower", "origin": [1, 0, 0]},
        },
        frames={
            "tip": {"body": "lower", "origin": [0.6, 0, 0]},
            "plane": {"body": "ground", "origin": plane},
        },
        contacts={"wall": {"point": "tip", "plane": "plane", "restitution": restitution}},
    )


def box(
    corners: Sequence[tuple[float, float]], joint: Mapping[str, object], **body: object
) -> lw.Mechanism:
    """A box on points 0.2 m below its middle, which rebound with 0.3 of the velocity."""
    names = [f"corner{k}" for k in range(len(corners))]
    return lw.Mechanism(
        name="box",
        bodies={"box": {"mass": 2.0, "inertia": [0.1, 0.2, 0.25], **body}},
        joints={"move": {**joint, "child": "box", "origin": [0, 0, 1]}},
        frames={
            name: {"body": "box", "origin": [x, y, -0.2]}
            for name, (x, y) in zip(names, corners, strict=True)
        },
        contacts={f"c{name}": {"point": name, "restitution": 0.3} for name in names},
    )


@needs_gcc
def test_a_ball_bounces_in_c(tmp_path: Path) -> None:
    """Each bounce lasts 0.8 of the one before; the ball rests 0.95 m below its start."""
    assert_same_motion(tmp_path, ball(), [0.1, 0, 0.3], [0.5, 0, 0.2])
    fall = np.sqrt(2 * 0.95 / 9.81)
    time, speed = fall, 9.81 * fall
    wanted = []
    for at in (1.0, 2.0):
        while at > time + 2 * 0.8 * speed / 9.81:
            time, speed = time + 2 * 0.8 * speed / 9.81, 0.8 * speed
        flight = at - time
        wanted.append(0.8 * speed * flight - 9.81 / 2 * flight**2 - 0.95)
    found = run_in_c(tmp_path, ball(), np.zeros(6), [1.0, 2.0, 6.0])
    np.testing.assert_allclose(found[:, 2], [*wanted, -0.95], atol=1e-11)


@needs_gcc
@pytest.mark.parametrize("restitution", [0.6, 0.0])
def test_a_pendulum_meets_a_plane_in_c(tmp_path: Path, restitution: float) -> None:
    """Against a wall; onto a floor, along which the tip slides while the floor bears it."""
    wall = pendulum({"xyz": WALL, "rpy": [0, "90 deg", 0]}, restitution)
    assert_same_motion(tmp_path, wall, [1.2, 0.3], [0, 0])
    floor = pendulum({"xyz": [0, 0, -1.2]}, restitution)
    run = assert_same_motion(tmp_path, floor, [0.3, 0.3], [0, 0], atol=1e-7)  # it is chaotic
    assert any("rests" in str(event) for event in run.events) == (restitution == 0)


@needs_gcc
def test_the_tip_stays_on_the_floor_in_c(tmp_path: Path) -> None:
    """The gap, which depends on both angles, does not drift while the tip slides."""
    floor = pendulum({"xyz": [0, 0, -1.2]}, 0.0)
    times = np.linspace(0.4, 0.6, 9)
    found = run_in_c(tmp_path, floor, np.array([0.3, 0.3, 0, 0]), times)
    a, b = found[:, 1], found[:, 1] + found[:, 2]
    gaps = 1.2 - np.sin(a) - 0.6 * np.sin(b)
    assert np.abs(gaps[gaps < 1e-6]).max() < 1e-13
    assert (gaps < 1e-6).sum() > 2


@needs_gcc
@pytest.mark.parametrize("angle", [0.0, 0.2])
def test_a_block_lands_on_both_corners_in_c(tmp_path: Path, angle: float) -> None:
    """Flat, both corners are hit at one instant, and the block does not turn."""
    block = box([(-0.5, 0), (0.5, 0)], PLANAR)
    run = assert_same_motion(tmp_path, block, [0, 0, angle], [1, 0, 0])
    assert (np.abs(run.q[:, 2]).max() < 1e-12) == (angle == 0)


@needs_gcc
@pytest.mark.parametrize("rotation", ["cardan", "quaternion"])
@pytest.mark.parametrize("speeds", [[0.0] * 6, [0.5, 0.8, 0.4, 0.3, 0, 0]])
def test_a_box_comes_to_rest_on_four_corners_in_c(
    tmp_path: Path, speeds: list[float], rotation: str
) -> None:
    """Three corners bear it, and the fourth, on whose force nothing depends, rides along."""
    places = [(0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3)]
    table = box(places, {"type": "free", "rotation": rotation}, center=[0.3, 0.2, 0])
    assert_same_motion(tmp_path, table, list(lw.compile(table).home()), speeds)


def loaded(corners: Sequence[tuple[float, float]], joint: Mapping[str, object]) -> lw.Mechanism:
    """A box along whose top a drive moves a mass."""
    table = box(corners, joint)
    slide = {"type": "prismatic", "parent": "box", "child": "load", "axis": [1, 0, 0]}
    return lw.Mechanism(
        name="loaded",
        bodies={**table.bodies, "load": {"mass": 3.0}},
        joints={**table.joints, "slide": slide | {"origin": [0, 0, 0.1]}},
        frames=table.frames,
        contacts=table.contacts,
        constraints={"drive": {"type": "drive", "on": "slide", "position": "0.4*t"}},
    )


@needs_gcc
def test_a_table_tips_over_two_legs_in_c(tmp_path: Path) -> None:
    """Its other legs lift off at one instant. In the plane it has two legs, one of which does."""
    flat = loaded([(-0.5, 0), (0.5, 0)], PLANAR)
    start = np.array([0, -0.8, 0, 0, 0, 0, 0, 0.4])
    run = lw.simulate(flat, t=2.3, samples=3, q0=start[:4], qd0=start[4:], rtol=1e-11)
    assert 1e-3 < abs(run.q[-1, 2]) < 0.5
    places = [(0.5, 0.3), (0.5, -0.3), (-0.5, -0.3), (-0.5, 0.3)]
    table = loaded(places, {"type": "free", "rotation": "cardan"})
    names = lw.compile(table).q_names
    begin = np.zeros(14)
    begin[[2, 13]] = -0.8, 0.4
    found = run_in_c(tmp_path, table, begin, [2.3])[0]
    assert found[0] == 0
    heights = [found[1 + 2], found[1 + 4]]
    np.testing.assert_allclose(
        heights, [run.q[-1, 1], -run.q[-1, 2]], atol=1e-8, err_msg=str(names)
    )


@needs_gcc
def test_a_contact_pulls_off_in_c(tmp_path: Path) -> None:
    """A mass of 1 kg is lifted off the floor by a spring whose other end rises."""
    text = """
name = "lift"
[bodies.mass]
mass = 1.0
[bodies.hand]
mass = 1.0
[joints.z]
type = "prismatic"
child = "mass"
axis = [0, 0, 1]
[joints.w]
type = "prismatic"
child = "hand"
axis = [0, 0, 1]
origin = [0, 0, 1]
[constraints.drive]
type = "drive"
on = "w"
position = "0.2*sin(3*t)"
[forces.spring]
type = "spring"
between = ["mass", "hand"]
stiffness = 80
length = 1
[contacts.floor]
point = "mass"
restitution = 0.3
"""
    lift = lw.load(text)
    run = assert_same_motion(tmp_path, lift, [0.0, 0.0], [0.0, 0.6])
    assert any("lets go" in str(event) for event in run.events)


@needs_gcc
def test_a_motion_ends_where_its_drive_pushes_into_a_contact(tmp_path: Path) -> None:
    """Where `simulate` ends, too."""
    driven = lw.Mechanism(
        name="driven",
        bodies={"mass": {"mass": 1.0}},
        joints={"z": {"type": "prismatic", "axis": [0, 0, 1], "child": "mass"}},
        constraints={"drive": {"type": "drive", "on": "z", "position": "cos(2*t)/2"}},
        contacts={"floor": {"point": "mass", "restitution": 0.5}},
    )
    assert "push into the contact 'floor'" in lw.simulate(driven, t=3.0).status
    found = run_in_c(tmp_path, driven, np.array([0.5, 0.0]), [0.3, 0.9, 3.0])
    assert list(found[:, 0]) == [0, 1, 1]
    np.testing.assert_allclose(found[2, 1:], [0, -1], atol=1e-10)


@needs_gcc
def test_radii_follow_parameters_in_c(tmp_path: Path) -> None:
    """The ball rests at the height of its radius, which is an input."""
    lw.export(ball(), to="c", quantities=["simulate"], parameters=["r"]).save(tmp_path)
    text = MAIN.replace("NAME", "ball").replace("START", "0, 0, 0, 0, 0, 0").replace("TIMES", "9")
    text = text.replace("_start(&m);", "_start(&m);\n    m.buffers_parameters[3] = 0.2;", 1)
    (tmp_path / "main.c").write_text(text)
    run_tool("gcc", "-std=c99", "main.c", "ball_motion.c", "-o", "main", "-lm", cwd=tmp_path)
    end, *y = map(float, run_tool("./main", cwd=tmp_path).split())
    assert end == 0
    assert y[1] == pytest.approx(-0.8, abs=1e-12)


@needs_node
def test_a_ball_bounces_in_webassembly(tmp_path: Path) -> None:
    written = lw.export(ball(), to="wasm", quantities=["simulate"]).save(tmp_path)
    wrapper = next(p for p in written if p.suffix == ".mjs" and "_check" not in p.name)
    """In one call that ends at rest: samples of the flight stay above the floor."""
    run = lw.simulate(ball(), t=6.0, samples=25, q0=[0.1, 0, 0.3], qd0=[0.5, 0, 0.2])
    asked = {"q": [0.1, 0, 0.3], "qd": [0.5, 0, 0.2], "until": 6.0, "times": run.t[1:].tolist()}
    (motion,) = call_wrapper(wrapper, [("simulate", asked)])
    assert (motion["end"], motion["holds"]) == ("reached", [1])
    np.testing.assert_allclose([s["q"] for s in motion["samples"]], run.q[1:], atol=1e-9)


@pytest.mark.skipif(fmu_export.find_c_compiler() is None, reason="there is no C compiler")
@pytest.mark.parametrize(("kind", "atol"), [("ModelExchange", 1e-6), ("CoSimulation", 1e-8)])
def test_contacts_act_in_an_fmu(tmp_path: Path, kind: str, atol: float) -> None:
    """A ball that bounces, and a pendulum at a wall; model exchange has the errors of CVODE."""
    fmpy = pytest.importorskip("fmpy")
    wall = pendulum({"xyz": WALL, "rpy": [0, "90 deg", 0]}, 0.6)
    for mechanism, start in ((ball(), {}), (wall, {"a": 1.2, "b": 0.3})):
        path = tmp_path / f"{mechanism.name}.fmu"
        lw.export(mechanism, to="fmu").save(path)
        names = lw.compile(mechanism).q_names
        q0 = [start.get(name, 0.0) for name in names]
        run = lw.simulate(mechanism, t=1.5, samples=31, q0=q0)
        found = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=1.5, relative_tolerance=1e-9,
            output_interval=0.05, start_values=start, record_events=False,
        )  # fmt: skip
        np.testing.assert_allclose(found["time"], run.t, atol=1e-12)
        for k, name in enumerate(names):
            np.testing.assert_allclose(found[name], run.q[:, k], atol=atol)


@pytest.mark.parametrize("options", [{"to": "fmu"}, {"to": "c", "quantities": ["simulate"]}])
def test_contacts_with_friction_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(lw.LinkwrightError, match="'floor' is rigid and has friction") as caught:
        lw.export(ball(friction=0.3), **options)  # type: ignore[arg-type]
    assert "set its friction to 0" in str(caught.value)
