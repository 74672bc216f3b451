"""FMUs: validated and simulated by FMPy, against `simulate` and closed forms."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.exports import fmu_export
from tests.export.tools import require_tool, run_tool

fmpy = pytest.importorskip("fmpy")
pytestmark = pytest.mark.skipif(
    fmu_export.find_c_compiler() is None, reason="there is no C compiler"
)
TARGETS = ("fmu", "fmu2")
KINDS = ("ModelExchange", "CoSimulation")
DROP = """
name = "drop"
gravity = [0, 0, -9.81]
[bodies.mass]
mass = 1.0
[joints.z]
type = "prismatic"
parent = "ground"
child = "mass"
axis = [0, 0, 1]
limits = {{ lower = 0.0{restitution} }}
"""


@pytest.fixture(scope="module", autouse=True)
def quick_compiler() -> Iterator[None]:
    """Lets the compiler skip its optimizations, which take most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        flags = tuple("-O0" if flag == "-O2" else flag for flag in fmu_export.COMPILER_FLAGS)
        patch.setattr(fmu_export, "COMPILER_FLAGS", flags)
        yield


def save_fmu(folder: Path, mechanism: lw.Mechanism, to: str, **options: Any) -> Path:
    """The path of an exported FMU that FMPy finds no fault with."""
    from fmpy.validation import validate_fmu

    path = folder / f"{to}.fmu"
    lw.export(mechanism, to=to, **options).save(path)
    assert validate_fmu(str(path)) == []
    return path


def run_fmu(path: Path, kind: str, stop: float, **options: Any) -> Any:
    return fmpy.simulate_fmu(
        str(path), fmi_type=kind, stop_time=stop, relative_tolerance=1e-9, **options
    )


@pytest.fixture(scope="module", params=TARGETS)
def elbow_fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_fmu(tmp_path_factory.mktemp("fmu"), lw.gallery("elbow"), request.param)


@pytest.mark.parametrize("kind", KINDS)
def test_start_values_inputs_and_parameters_act(elbow_fmu: Path, kind: str) -> None:
    arm = lw.gallery("elbow").with_parameters(m2=2.5)
    start = {"q1": 0.3, "q2": -0.4, "dq1": 0.5, "m2": 2.5, "tau_q1": 1.0, "tau_q2": -0.5}
    found = run_fmu(elbow_fmu, kind, 0.5, start_values=start, output_interval=0.1)
    run = lw.simulate(arm, t=0.5, samples=6, q0=[0.3, -0.4], qd0=[0.5, 0.0], torque=[1.0, -0.5])
    model = lw.compile(arm)
    # CVode meets its tolerance of 1e-9 a step, the own integrator that of `simulate`
    atol = 2e-7 if kind == "ModelExchange" else 1e-8
    for k, name in enumerate(("q1", "q2")):
        np.testing.assert_allclose(found[name], run.q[:, k], atol=atol)
    T = model.placement("tool")(run.q)
    np.testing.assert_allclose(found["tool.x"], T[:, 0, 3], atol=atol)
    np.testing.assert_allclose(found["tool.R[2,1]"], T[:, 1, 0], atol=atol)
    energy = model.kinetic_energy(run.q, run.qd)
    np.testing.assert_allclose(found["kinetic_energy"], energy, rtol=1e-6, atol=atol)
    potential = model.potential_energy(run.q)
    np.testing.assert_allclose(found["potential_energy"], potential, rtol=1e-7, atol=atol * 100)


@pytest.mark.parametrize("to", TARGETS)
def test_loops_are_held(tmp_path: Path, to: str) -> None:
    bar = lw.gallery("four-bar")
    model, path = lw.compile(bar), save_fmu(tmp_path, bar, to)
    run = lw.simulate(bar, t=1.0, samples=11, q0=model.home(), qd0=np.zeros(model.nv))
    for kind, atol in (("ModelExchange", 1e-6), ("CoSimulation", 1e-8)):
        found = run_fmu(path, kind, 1.0, output_interval=0.1)
        q = np.column_stack([found[name] for name in model.q_names])
        assert np.abs(model.constraint_residual(q)).max() < 1e-6
        np.testing.assert_allclose(q[-1], run.q[-1], atol=atol)
    rough = dict(zip(model.q_names, model.home() + np.array([0.01, 0.02, -0.03]), strict=True))
    found = run_fmu(path, "CoSimulation", 0.01, start_values=rough)
    q = np.array([found[name][0] for name in model.q_names])
    assert np.abs(model.constraint_residual(q)).max() < 1e-10


@pytest.mark.parametrize("kind", KINDS)
def test_a_stop_bounces(tmp_path: Path, kind: str) -> None:
    """Falls 0.5 m, rebounds with half of its velocity, and comes to rest at t = 3 √(2h/g)."""
    path = save_fmu(tmp_path, lw.load(DROP.format(restitution=", restitution = 0.5")), "fmu")
    found = run_fmu(path, kind, 1.5, start_values={"z": 0.5}, output_interval=0.05)
    fall = np.sqrt(2 * 0.5 / 9.81)
    t = 0.5 - fall
    at = np.interp(0.5, found["time"], found["z"])
    assert at == pytest.approx(0.5 * 9.81 * fall * t - 9.81 / 2 * t * t, abs=1e-6)
    late = found["time"] > 3 * fall + 0.1
    assert np.abs(found["z"][late]).max() < 1e-5
    assert np.abs(found["dz"][late]).max() < 1e-5


def test_a_limit_ends_the_motion(tmp_path: Path) -> None:
    path = save_fmu(tmp_path, lw.load(DROP.format(restitution="")), "fmu")
    found = run_fmu(path, "ModelExchange", 1.0, start_values={"z": 0.5})
    assert found["time"][-1] == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=1e-5)


def test_states_can_be_saved_and_restored(
    tmp_path: Path, elbow_fmu: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path, to = elbow_fmu, elbow_fmu.stem
    description = fmpy.read_model_description(str(path))
    folder = fmpy.extract(str(path), str(tmp_path / "extracted"))
    one = fmpy.instantiate_fmu(folder, description, fmi_type="CoSimulation")
    if to == "fmu":
        one.enterInitializationMode(startTime=0.0)
    else:
        one.setupExperiment(startTime=0.0)
        one.enterInitializationMode()
    one.exitInitializationMode()
    one.doStep(0.0, 0.3)
    get = one.getFloat64 if to == "fmu" else one.getReal
    state = one.getFMUState()
    kept = one.serializeFMUState(state)
    one.doStep(0.3, 0.3)
    first = get([1, 2, 3, 4])
    one.setFMUState(one.deserializeFMUState(kept))
    one.doStep(0.3, 0.3)
    assert list(get([1, 2, 3, 4])) == list(first)
    with pytest.raises(fmpy.fmi1.FMICallException):
        one.doStep(0.6, 0.0)  # FMI forbids steps without a length
    assert "length of a step" in capfd.readouterr().out
    one.terminate()
    one.freeInstance()


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_source_compiles_without_warnings(tmp_path: Path, to: str, compiler: str) -> None:
    program = require_tool(compiler)
    for mechanism in (
        lw.gallery("four-bar"),
        lw.load(DROP.format(restitution=", restitution = 0.5")),
    ):
        found = lw.export(mechanism, to=to)
        (content,) = found.files.values()
        assert isinstance(content, bytes)
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            (source,) = [n for n in archive.namelist() if n.endswith(".c")]
            (tmp_path / "model.c").write_bytes(archive.read(source))
        flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]
        run_tool(program, *flags, "model.c", cwd=tmp_path)


def test_without_a_compiler_there_are_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fmu_export, "find_c_compiler", lambda: None)
    found = lw.export(lw.gallery("elbow"), to="fmu")
    assert "no C compiler" in found.lost[0]
    assert "fmpy compile FILE.fmu" in found.usage
    (content,) = found.files.values()
    assert isinstance(content, bytes)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
    assert "sources/buildDescription.xml" in names
    assert not any(name.startswith("binaries/") for name in names)


@pytest.mark.parametrize("name", ['a"/><x</ModelVariables>', "a*/;int b;/*\\\n#error"])
def test_names_cannot_become_code(tmp_path: Path, name: str) -> None:
    arm = lw.gallery("elbow").model_copy(update={"name": name})
    path = save_fmu(tmp_path, arm, "fmu", parameters=["m1"])
    assert len(run_fmu(path, "CoSimulation", 0.1)["time"]) > 1


CRANK = """
name = "crank"
gravity = [0, -9.81, 0]
[bodies.a]
mass = 1.0
center = [0.3, 0, 0]
inertia = [0.01, 0.02, 0.03]
[bodies.b]
mass = 1.0
center = [0.3, 0, 0]
inertia = [0.01, 0.02, 0.03]
[joints.q1]
type = "revolute"
child = "a"
[joints.q2]
type = "revolute"
parent = "a"
child = "b"
origin = [0.6, 0, 0]
[constraints.motor]
type = "drive"
on = "q1"
position = "0.5*sin(3*t)"
"""


def test_driven_joints_start_as_in_simulate(tmp_path: Path) -> None:
    """At t = 0 the drive demands 1.5 rad/s of q1; q2, which it does not drive, starts at rest."""
    crank = lw.load(CRANK)
    run = lw.simulate(crank, t=0.5, samples=2)
    for kind in KINDS:
        found = run_fmu(save_fmu(tmp_path, crank, "fmu"), kind, 0.5, output_interval=0.5)
        assert [found[name][0] for name in ("dq1", "dq2")] == pytest.approx([1.5, 0.0])
        assert [found[name][-1] for name in ("q1", "q2")] == pytest.approx(run.q[-1], abs=2e-7)


TOSSED = """
name = "tossed"
[bodies.body]
mass = 0.9
inertia = [0.002, 0.004, 0.005]
[bodies.flap]
mass = 0.1
center = [0.1, 0, 0]
inertia = [1e-4, 2e-4, 2e-4]
[joints.base]
type = "free"
child = "body"
[joints.flap]
type = "revolute"
parent = "body"
child = "flap"
origin = [0.05, 0, 0]
axis = [0, 1, 0]
stiffness = 0.5
damping = 0.01
[frames.front]
body = "body"
origin = [0.05, 0.02, -0.03]
[frames.back]
body = "body"
origin = [-0.05, 0.01, -0.03]
[contacts.front]
point = "front"
restitution = 0.5
[contacts.back]
point = "back"
restitution = 0.3
"""


@pytest.mark.parametrize("to", TARGETS)
def test_importers_see_every_bounce_of_a_body_that_comes_to_rest(tmp_path: Path, to: str) -> None:
    """The flights between the last bounces last microseconds; an importer that misses one of them
    let the body fall through the ground. The motion is that of `simulate`."""
    body = lw.load(TOSSED)
    model, path = lw.compile(body), save_fmu(tmp_path, body, to)
    turn = np.array([0.98, 0.1, 0.15, 0.05]) / np.linalg.norm([0.98, 0.1, 0.15, 0.05])
    q0, qd0 = [0, 0, 0.4, *turn, 0.2], [3, 1, -2, 0.5, 0.1, 0.2, 0]
    run = lw.simulate(body, t=0.8, samples=2, q0=q0, qd0=qd0)
    names = [*model.q_names, *(f"d{name}" for name in model.names.qd)]
    start = dict(zip(names, [*q0, *qd0], strict=True))
    outputs = [*model.q_names, "front.z", "back.z"]
    found = run_fmu(path, "ModelExchange", 0.8, start_values=start, output=outputs)
    q = [found[name][-1] for name in model.q_names]
    np.testing.assert_allclose(q, run.q[-1], atol=1e-6)
    assert min(found["front.z"].min(), found["back.z"].min()) > -1e-8
