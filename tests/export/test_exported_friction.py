"""Dry friction of joints in exported motions: C, WebAssembly and FMUs, against `simulate` and closed
forms."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

import linkwright as lw
from linkwright.exports import fmu_export
from linkwright.formulations import FORMULATIONS
from tests.export.motions_in_c import MAIN, assert_same_motion, needs_gcc, run_in_c
from tests.export.tools import run_tool
from tests.node import call_wrapper, needs_node

G = 9.81


def slider(force: str = "0", gravity: float = 0.0, **joint: Any) -> lw.Mechanism:
    """A mass of 1 kg on a rail with friction, along which its weight has a share `gravity`."""
    return lw.Mechanism(
        name="slider",
        gravity=[gravity, 0, 0],
        bodies={"b": {"mass": 1}},
        joints={"x": {"type": "prismatic", "child": "b", **joint}},
        forces={"given": {"type": "joint", "on": "x", "force": force}},
    )


SPRING_AND_FRICTION = {"stiffness": 10, "friction": 1.0}

DRAGGED = "20*(0.5*t - x)"


def with_friction(mechanism: lw.Mechanism, values: list[float], **law: Any) -> lw.Mechanism:
    """The mechanism with dry friction in its joints."""
    joints = {
        name: joint.model_copy(update={"friction": value, **law})
        for (name, joint), value in zip(mechanism.joints.items(), values, strict=True)
    }
    return mechanism.model_copy(update={"joints": joints})


# -- closed forms ----------------------------------------------------------------------------------


@needs_gcc
def test_an_oscillator_loses_amplitude_and_sticks(tmp_path: Path) -> None:
    """Each half period π/√(k/m) the amplitude loses 2F/k, until it sticks within F/k of rest."""
    turns = np.pi / np.sqrt(10) * np.arange(1, 6)
    found = run_in_c(tmp_path, slider(**SPRING_AND_FRICTION), [1.05, 0], [*turns, 7.0, 9.0])
    amplitudes = [(-1) ** k * (1.05 - 0.2 * k) for k in range(1, 6)]
    np.testing.assert_allclose(found[:, 1], [*amplitudes, -0.05, -0.05], atol=1e-9)
    assert (found[-2:, 2] == 0).all()


@needs_gcc
def test_a_block_on_a_slope_comes_to_rest_where_it_can(tmp_path: Path) -> None:
    """v²/2a up the slope, in v/a; it stays if friction exceeds the weight, else slides back."""
    pull, v = 3.0, 2.0
    for friction in (5.0, 2.0):
        a = friction + pull
        block = slider(gravity=-pull, friction=friction, axis=[1, 0, 0])
        found = run_in_c(tmp_path / str(friction), block, [0.0, v], [v / a, 1.0, 3.0])[:, 1:]
        top, back = v**2 / (2 * a), max(pull - friction, 0.0)
        wanted = [[top - back * (t - v / a) ** 2 / 2, -back * (t - v / a)] for t in (v / a, 1, 3)]
        np.testing.assert_allclose(found, wanted, atol=1e-11)


@needs_gcc
def test_stick_slip_on_a_belt(tmp_path: Path) -> None:
    """A spring is pulled at 0.5 m/s: the block sticks until k v t = F_s = 2 F, slips with
    x = lead (1 − cos ω s) + v (s − sin ω s/ω), lead = (F_s − F)/k, and sticks."""
    first, w, lead = 4 / (20 * 0.5), np.sqrt(20), 2 / 20
    end = 2 * (np.pi - np.arctan(lead * w / 0.5)) / w  # of the slip: ẋ = 0
    s = np.array([0.3 * end, 0.9 * end])
    slip = lead * (1 - np.cos(w * s)) + 0.5 * (s - np.sin(w * s) / w)
    rest = lead * (1 - np.cos(w * end)) + 0.5 * (end - np.sin(w * end) / w)
    belt = slider(DRAGGED, friction=2, static_ratio=2)
    times = [0.99 * first, *(first + s), first + end + 1e-3, first + end + 0.1]
    found = run_in_c(tmp_path, belt, [0.0, 0.0], times)
    np.testing.assert_allclose(found[:, 1], [0, *slip, rest, rest], atol=1e-9)
    assert found[0, 2] == found[-1, 2] == 0


def run_either(program: str, folder: Path, mechanism: lw.Mechanism, times: list[float]) -> Any:
    """q at the times, by the exported program in C or by `simulate`, which share their steps."""
    count = len(mechanism.joints)
    if program == "C":
        return run_in_c(folder, mechanism, [0.0] * (2 * count), times)[:, 1 : 1 + count]
    runs = [lw.simulate(mechanism, t=t, samples=2, rtol=1e-11, atol=1e-12) for t in times]
    return np.array([run.q[-1] for run in runs])


@needs_gcc
@pytest.mark.parametrize(
    ("program", "envelope"),
    [("C", "1"), ("simulate", "1"), ("C", "min(1, max(0, (t - 4)/3))")],
)
def test_a_force_in_time_is_seen_at_rest(program: str, envelope: str, tmp_path: Path) -> None:
    """Rest does not shorten steps, but f = A sin ω t exceeds F in each half period: x goes to and
    fro by d, the integral of ẋ = A (cos ω t₁ − cos ω t)/ω − F (t − t₁) until ẋ = 0."""
    A, F, w = 2.05, 2.0, 50.0
    first = np.arcsin(F / A) / w

    def velocity(t: float) -> float:
        return A * (np.cos(w * first) - np.cos(w * t)) / w - F * (t - first)

    last = brentq(velocity, np.pi / w - first, 1.5 * np.pi / w)
    way, _ = quad(velocity, first, last, epsabs=1e-18)
    halves = [120, 121, 122, 319]
    block = slider(f"{A}*sin({w}*t)*{envelope}", friction=F)
    found = run_either(program, tmp_path, block, [k * np.pi / w for k in halves])[:, 0]
    np.testing.assert_allclose(found - found[0], [way * (k % 2) for k in halves], atol=1e-9)


GEARED = """
name = "geared"
gravity = [0, 0, 0]
[bodies.a]
mass = 0.5
[bodies.b]
mass = 1.5
[joints.x]
type = "prismatic"
child = "a"
friction = 1.0
[joints.y]
type = "prismatic"
child = "b"
friction = 2.0
[constraints.belt]
type = "gear"
factors = { x = 1, y = -1 }
[forces.given]
type = "joint"
on = "x"
force = "4*sin(t)"
"""


@needs_gcc
@pytest.mark.parametrize("program", ["C", "simulate"])
def test_joints_of_a_loop_begin_to_slide_together(program: str, tmp_path: Path) -> None:
    """Two slides of 2 kg together bear 3 N together, whichever share each of them has."""
    first = np.arcsin(3 / 4)
    s = np.array([0.2, 0.6])  # after the release: ẍ = (4 sin t − 3)/2
    x = 2 * s * np.cos(first) - 2 * (np.sin(first + s) - np.sin(first)) - 0.75 * s**2
    found = run_either(program, tmp_path, lw.load(GEARED), [0.99 * first, *(first + s)])
    np.testing.assert_allclose(found, np.array([[0, *x]] * 2).T, atol=1e-9)


# -- against simulate ------------------------------------------------------------------------------


LAWS: dict[str, dict[str, Any]] = {
    "two-sided": {"friction": 2, "friction_backward": 1, "static_ratio": 1.7},
    "Stribeck": {"friction": 2, "friction_backward": 1, "static_ratio": 1.7, "stribeck": 0.1},
    "at a stop": {"friction": 2, "limits": {"upper": 0.3, "lower": -0.5, "restitution": 0.6}},
}


@needs_gcc
@pytest.mark.parametrize("law", list(LAWS))
def test_laws_of_friction_are_those_of_simulate(tmp_path: Path, law: str) -> None:
    run = assert_same_motion(tmp_path, slider("20*sin(3*t) - 20*x", **LAWS[law]), [0.0], [0.0])
    assert "slides" in {event.what for event in run.events}
    assert any("hit" in event.what for event in run.events) == (law == "at a stop")


@needs_gcc
def test_arms_with_friction_in_all_joints(tmp_path: Path) -> None:
    arm = with_friction(lw.gallery("elbow"), [3.0, 1.5])
    run = assert_same_motion(tmp_path, arm, [0.4, 0.3], [1.0, -2.0])
    assert "sticks" in {event.what for event in run.events}
    six = with_friction(lw.gallery("six-axis"), [5.0, 8.0, 5.0, 1.0, 0.5, 0.2])
    assert_same_motion(tmp_path / "six", six, [0.2] * 6, [1.0, -1.0, 0.5, 2.0, -1.0, 1.0])


LOADED = """
name = "loaded"
gravity = [0, 0, 0]
[bodies.a]
mass = 1.0
center = [0.5, 0, 0]
inertia = [0.01, 0.02, 0.03]
[bodies.b]
mass = 1.0
center = [1, 0, 0]
inertia = [0.01, 0.02, 0.03]
[bodies.c]
mass = 1.0
center = [0.75, 0, 0]
inertia = [0.01, 0.02, 0.03]
[joints.p]
type = "revolute"
child = "a"
friction = 4.0
static_ratio = 1.5
[joints.q]
type = "revolute"
parent = "a"
child = "b"
origin = [1, 0, 0]
friction = 3.0
[joints.r]
type = "revolute"
child = "c"
origin = [2, 0, 0]
friction = 2.0
static_ratio = 1.2
[loops.l]
type = "revolute"
parent = "b"
child = "c"
origin = [2, 0, 0]
child_origin = [1.5, 0, 0]
[forces.load]
type = "joint"
on = "p"
force = "9*t*sin(3*t)"
"""


@needs_gcc
def test_sticking_joints_of_a_loop_share_a_load(tmp_path: Path) -> None:
    """A four-bar with one degree of freedom begins to slide when all three joints are at their
    limits, and each velocity passes zero at the end of its joint's own range, too."""
    loaded = lw.load(LOADED)
    run = assert_same_motion(tmp_path, loaded, list(lw.compile(loaded).home()), [0.0] * 3)
    assert sum(event.what == "sticks" for event in run.events) >= 3
    bar = with_friction(lw.gallery("four-bar"), [1.0] * 3)
    run = assert_same_motion(tmp_path / "bar", bar, list(lw.compile(bar).home()), [0.0] * 3)
    assert len({round(event.t, 6) for event in run.events}) == 6


@needs_gcc
def test_friction_of_lengths_and_followers(tmp_path: Path) -> None:
    link = {"mass": 1, "center": [0.3, 0, 0], "inertia": [0.1, 0.1, 0.1]}
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    geared = lw.Mechanism(
        name="geared",
        bodies={"a": link, "b": link},
        joints={
            "a": hinge | {"child": "a", "friction": 1.0, "damping": 0.1},
            "b": hinge
            | {"parent": "a", "child": "b", "origin": [0.6, 0, 0], "friction": 0.7}
            | {"mimic": {"joint": "a", "multiplier": -0.5}},
        },
    )
    assert_same_motion(tmp_path, geared, [0.0], [1.0])
    rail = {"type": "prismatic", "axis": [0, 0, 1]}
    rope = lw.Mechanism(
        name="rope",
        gravity=[0, 0, 0],
        bodies={"a": {"mass": 1}, "b": {"mass": 1.5}},
        joints={"x": rail | {"child": "a", "friction": 0.3}, "y": rail | {"child": "b"}},
        lengths={"l": {"factors": {"x": 1, "y": -0.5}, "friction": 2, "static_ratio": 1.3}},
        forces={
            "on x": {"type": "joint", "on": "x", "force": "3*sin(t) - 20*x"},
            "on y": {"type": "joint", "on": "y", "force": "-30*y"},
        },
    )
    assert_same_motion(tmp_path / "rope", rope, [0.5, 0.3], [1.0, 0.0])


@needs_gcc
@pytest.mark.parametrize("restitution", [0.4, 0.0])
def test_friction_beside_a_contact(tmp_path: Path, restitution: float) -> None:
    """Joints that stick give way in an impact, since friction has no impulse."""
    link = {"mass": 1.0, "center": [0.5, 0, 0], "inertia": [0.01, 0.1, 0.1]}
    hinge = {"type": "revolute", "axis": [0, 1, 0]}
    pendulum = lw.Mechanism(
        name="pendulum",
        bodies={"upper": link, "lower": link},
        joints={
            "a": hinge | {"child": "upper", "friction": 1.0},
            "b": hinge
            | {"parent": "upper", "child": "lower", "origin": [1, 0, 0], "friction": 0.5}
            | {"static_ratio": 1.5},
        },
        frames={
            "tip": {"body": "lower", "origin": [0.6, 0, 0]},
            "floor": {"body": "ground", "origin": [0, 0, -1.2]},
        },
        contacts={"c": {"point": "tip", "plane": "floor", "restitution": restitution}},
    )
    run = assert_same_motion(tmp_path, pendulum, [0.3, 0.3], [0.0, 0.0])
    assert any("hit" in event.what for event in run.events)


@needs_gcc
@pytest.mark.parametrize("by", [b for b in FORMULATIONS if b not in ("approximate", "multipliers")])
def test_every_formulation_sticks(tmp_path: Path, by: str) -> None:
    arm = with_friction(lw.gallery("elbow"), [3.0, 1.5], static_ratio=1.5, stribeck=0.1)
    assert_same_motion(tmp_path, arm, [0.4, 0.3], [1.0, -2.0], by=by)


@needs_gcc
def test_friction_follows_parameters(tmp_path: Path) -> None:
    """Its size and its static ratio may be inputs."""
    block = lw.Mechanism(
        name="slider",
        gravity=[0, 0, 0],
        parameters={"F": 2.0, "r": 1.5},
        bodies={"b": {"mass": 1}},
        joints={
            "x": {"type": "prismatic", "child": "b", "friction": "F", "static_ratio": "r"}
            | {"friction_backward": "F/2", "stribeck": 0.2}
        },
        forces={"given": {"type": "joint", "on": "x", "force": "20*(0.5*sin(t) - x)"}},
    )
    names, values = ["F", "r"], [1.2, 2.0]
    lw.export(block, to="c", quantities=["simulate"], parameters=names).save(tmp_path)
    text = MAIN.replace("NAME", "slider").replace("START", "0, 0").replace("TIMES", "4, 8")
    given = "".join(f"\n    m.buffers_parameters[{1 + k}] = {x};" for k, x in enumerate(values))
    (tmp_path / "main.c").write_text(text.replace("_start(&m);", f"_start(&m);{given}", 1))
    run_tool("gcc", "-std=c99", "main.c", "slider_motion.c", "-o", "main", "-lm", cwd=tmp_path)
    found = [line.split() for line in run_tool("./main", cwd=tmp_path).splitlines()]
    changed = block.with_parameters(**dict(zip(names, values, strict=True)))
    run = lw.simulate(changed, t=8.0, samples=3, q0=[0.0], qd0=[0.0], rtol=1e-11)
    np.testing.assert_allclose([float(line[1]) for line in found], run.q[1:, 0], atol=1e-9)


@needs_gcc
def test_efforts_that_change_between_calls_break_joints_away(tmp_path: Path) -> None:
    """A block of 1 kg with friction 2 N, under 1 N for a second, then 3 N: x = t²/2."""
    lw.export(slider(friction=2), to="c", quantities=["simulate"]).save(tmp_path)
    text = MAIN.replace("NAME", "slider").replace("START", "0, 0").replace("TIMES", "1, 2, 3")
    text = text.replace(
        "        printf(", "        m.buffers_parameters[0] = i ? 3 : 1;\n        printf(", 1
    )
    (tmp_path / "main.c").write_text(text)
    run_tool("gcc", "-std=c99", "main.c", "slider_motion.c", "-o", "main", "-lm", cwd=tmp_path)
    found = [line.split() for line in run_tool("./main", cwd=tmp_path).splitlines()]
    np.testing.assert_allclose([float(line[1]) for line in found], [0, 0.5, 2], atol=1e-12)


# -- other targets ---------------------------------------------------------------------------------


@needs_node
def test_friction_sticks_in_webassembly(tmp_path: Path) -> None:
    """In one call through stick and slip."""
    belt = slider(DRAGGED, friction=2, static_ratio=2)
    written = lw.export(belt, to="wasm", quantities=["simulate"]).save(tmp_path)
    wrapper = next(p for p in written if p.suffix == ".mjs" and "_check" not in p.name)
    run = lw.simulate(belt, t=8.0, samples=33, q0=[0.0], qd0=[0.0], rtol=1e-11, atol=1e-12)
    asked = {"q": [0], "qd": [0], "until": 8, "times": run.t[1:].tolist(), "rtol": 1e-11}
    (motion,) = call_wrapper(wrapper, [("simulate", asked)])
    assert motion["end"] == "reached"
    np.testing.assert_allclose([s["q"] for s in motion["samples"]], run.q[1:], atol=1e-9)
    assert "sticks" in {event.what for event in run.events}


@pytest.mark.skipif(fmu_export.find_c_compiler() is None, reason="there is no C compiler")
@pytest.mark.parametrize("to", ["fmu", "fmu2"])
@pytest.mark.parametrize(("kind", "atol"), [("ModelExchange", 1e-6), ("CoSimulation", 1e-8)])
def test_friction_sticks_in_an_fmu(tmp_path: Path, to: str, kind: str, atol: float) -> None:
    """A belt, and an arm that comes to rest; model exchange has the errors of CVODE."""
    fmpy = pytest.importorskip("fmpy")
    from fmpy.validation import validate_fmu

    belt = slider(DRAGGED, friction=2, static_ratio=2)
    arm = with_friction(lw.gallery("elbow"), [3.0, 1.5])
    for mechanism, start in ((belt, {}), (arm, {"q1": 0.4, "q2": 0.3, "dq1": 1.0})):
        path = tmp_path / f"{mechanism.name}.fmu"
        lw.export(mechanism, to=to).save(path)
        assert validate_fmu(str(path)) == []
        names = lw.compile(mechanism).q_names
        q0, qd0 = ([start.get(p + name, 0.0) for name in names] for p in ("", "d"))
        run = lw.simulate(mechanism, t=3.0, samples=31, q0=q0, qd0=qd0)
        found = fmpy.simulate_fmu(
            str(path), fmi_type=kind, stop_time=3.0, relative_tolerance=1e-9,
            output_interval=0.1, start_values=start, record_events=False,
        )  # fmt: skip
        for k, name in enumerate(names):
            np.testing.assert_allclose(found[name], run.q[:, k], atol=atol)
        assert "sticks" in {event.what for event in run.events}


@pytest.mark.parametrize("options", [{"to": "fmu"}, {"to": "c", "quantities": ["simulate"]}])
def test_friction_by_reaction_is_refused(options: dict[str, object]) -> None:
    block = slider(friction_coefficient=0.3)
    with pytest.raises(lw.LinkwrightError, match="'x' depends on its reaction") as caught:
        lw.export(block, **options)  # type: ignore[arg-type]
    assert "--without friction" in str(caught.value)
