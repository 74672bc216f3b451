"""Exports to WebAssembly: functions and motions of mechanisms in Node and in a browser."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import UnsupportedError
from tests.node import NODE, call_wrapper, needs_node
from tests.report import browser

pytestmark = needs_node


def export_module(folder: Path, mechanism: lw.Mechanism, **options: Any) -> Path:
    """The wrapper of an exported module."""
    written = lw.export(mechanism, to="wasm", **options).save(folder)
    return next(p for p in written if p.suffix == ".mjs" and "_check" not in p.name)


@pytest.mark.parametrize("name", ["elbow", "four-bar", "cart-pole", "sharp-edged-disk"])
def test_check_script_agrees_with_ball_arithmetic(tmp_path: Path, name: str) -> None:
    quantities = ["forward_dynamics", "inverse_dynamics", "kinetic_energy", "step_rk4"]
    wrapper = export_module(tmp_path, lw.gallery(name), quantities=quantities)
    script = wrapper.with_name(f"{wrapper.stem}_check.mjs")
    done = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("ok ") >= len(quantities)
    wrong = script.read_text().replace('"outputs":[[', '"outputs":[[1', 1)
    script.write_text(wrong)
    assert subprocess.run([str(NODE), str(script)], capture_output=True, timeout=60).returncode == 1


def test_check_script_accepts_rounding_errors_of_values_near_zero(tmp_path: Path) -> None:
    """The residuals of a closed loop are rounding errors; all other targets allow these."""
    wrapper = export_module(tmp_path, lw.gallery("four-bar"), quantities=["constraint_residual"])
    script = wrapper.with_name(f"{wrapper.stem}_check.mjs")
    done = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in lw.gallery() if n not in ("chain-n", "chain-1000")])
def test_check_script_agrees_for_the_gallery(tmp_path: Path, name: str) -> None:
    wrapper = export_module(tmp_path, lw.gallery(name), quantities=["forward_dynamics"])
    script = wrapper.with_name(f"{wrapper.stem}_check.mjs")
    done = subprocess.run([str(NODE), str(script)], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["elbow", "four-bar"])
def test_motions_are_those_of_simulate_and_rollout(tmp_path: Path, name: str) -> None:
    arm = lw.gallery(name)
    model = lw.compile(arm)
    wrapper = export_module(tmp_path, arm)
    q, qd, times = model.home(), np.zeros(model.nv), [0.0, 0.3, 0.6]
    start = {"q": q, "qd": qd}
    motion, steps = call_wrapper(
        wrapper,
        [
            ("simulate", {**start, "until": 0.6, "times": times}),
            ("run_rk4", {**start, "dt": 1e-3, "steps": 600}),
        ],
    )
    run = lw.simulate(arm, t=0.6, samples=3, q0=q, qd0=qd)
    assert motion["end"] == "reached"
    for sample, q_run, qd_run in zip(motion["samples"], run.q, run.qd, strict=True):
        np.testing.assert_allclose(sample["q"], q_run, atol=1e-8)
        np.testing.assert_allclose(sample["qd"], qd_run, atol=1e-7)
    q_end, qd_end = lw.rollout(arm, q, qd, dt=1e-3, steps=600)
    assert steps["steps"] == 600
    np.testing.assert_allclose(steps["q"], np.ravel(q_end), atol=1e-11)
    np.testing.assert_allclose(steps["qd"], np.ravel(qd_end), atol=1e-10)


def test_parameters_and_inputs_act(tmp_path: Path) -> None:
    cart = lw.gallery("cart-pole").without("damping", "friction")
    wrapper = export_module(
        tmp_path, cart, parameters=["mc"], quantities=["simulate", "mass_matrix"]
    )
    mc = 3.0
    model = lw.compile(cart.with_parameters(mc=mc))
    start = np.array([0.0, 0.3])
    M, motion = call_wrapper(
        wrapper,
        [
            ("mass_matrix", start, [mc]),
            ("simulate", {"q": start, "qd": [0, 0], "u": [0.4, 0.0], "p": [mc], "until": 0.2}),
        ],
    )
    np.testing.assert_allclose(np.reshape(M, (2, 2)), model.mass_matrix(start), rtol=1e-14)
    run = lw.simulate(
        cart.with_parameters(mc=mc), t=0.2, q0=start, qd0=[0.0, 0.0], torque=[0.4, 0.0]
    )
    np.testing.assert_allclose(motion["q"], run.q[-1], atol=1e-9)


def test_loops_close_near_and_far_and_say_when_they_cannot(tmp_path: Path) -> None:
    bar = lw.gallery("four-bar")
    model = lw.compile(bar)
    length = "l2"
    wrapper = export_module(
        tmp_path, bar, quantities=["close", "constraint_residual"], parameters=[length]
    )
    home, value = model.home(), float(bar.values[length])
    rough = home + np.array([0.05, 0.3, -0.2])
    held, free, longer, impossible, wrong = call_wrapper(
        wrapper,
        [
            ("close", {"q": rough, "hold": ["theta1"]}),
            ("close", {"q": rough}),
            ("close", {"q": home, "p": [1.02 * value], "hold": ["theta1"]}),
            ("close", {"q": home, "p": [50 * value], "hold": ["theta1"]}),
            ("close", {"q": home, "hold": ["theta9"]}),
        ],
    )
    for found in (held, free):
        assert found["closed"]
        assert np.abs(model.constraint_residual(np.array(found["q"]))).max() < 1e-12
    assert held["q"][0] == rough[0]
    exact = lw.assemble(bar, dict(zip(model.q_names, rough, strict=True)), hold=["theta1"])
    np.testing.assert_allclose(held["q"], exact, atol=1e-9)
    stretched = lw.compile(bar.with_parameters(**{length: 1.02 * value}))
    assert np.abs(stretched.constraint_residual(np.array(longer["q"]))).max() < 1e-12
    assert not impossible["closed"]
    assert "unknown velocity 'theta9'" in wrong["error"]


def test_wrong_arguments_are_named(tmp_path: Path) -> None:
    wrapper = export_module(tmp_path, lw.gallery("elbow"), quantities=["gravity", "simulate"])
    short, missing, closing = call_wrapper(
        wrapper, [("gravity", [1.0]), ("gravity",), ("close", {"q": [0, 0]})]
    )
    assert "q has 1 numbers; it needs 2" in short["error"]
    assert "q is missing" in missing["error"]
    assert "written without 'close'" in closing["error"]


def test_a_stop_bounces_as_in_simulate(tmp_path: Path) -> None:
    """A mass that falls onto a stop: impacts with restitution, then rest on it."""
    text = """
name = "drop"
gravity = [0, 0, -9.81]
[bodies.mass]
mass = 1.0
[joints.z]
type = "prismatic"
parent = "ground"
child = "mass"
axis = [0, 0, 1]
limits = { lower = 0.0, restitution = 0.5 }
"""
    drop = lw.load(text)
    wrapper = export_module(tmp_path, drop, quantities=["simulate"])
    (motion,) = call_wrapper(
        wrapper,
        [("simulate", {"q": [0.5], "qd": [0.0], "until": 2.0, "times": [0.5, 1.0, 1.5, 2.0]})],
    )
    fall = np.sqrt(2 * 0.5 / 9.81)
    speed = 0.5 * 9.81 * fall
    t = 0.5 - fall  # after the first impact
    assert motion["samples"][0]["q"][0] == pytest.approx(speed * t - 9.81 / 2 * t * t, abs=1e-9)
    assert motion["samples"][2]["q"][0] == pytest.approx(0.0, abs=1e-9)  # at rest since t = 0.96
    assert motion["qd"][0] == pytest.approx(0.0, abs=1e-8)
    assert motion["hits"][0] > 10
    run = lw.simulate(drop, t=2.0, samples=5, q0=[0.5], qd0=[0.0])
    np.testing.assert_allclose([s["q"][0] for s in motion["samples"]], run.q[1:, 0], atol=1e-8)


def test_members_that_break_are_refused_or_listed(tmp_path: Path) -> None:
    arm = lw.gallery("elbow")
    joint = next(iter(arm.joints))
    weak = arm.joints[joint].model_copy(update={"breaks": {"force": 1000}})
    weak_arm = lw.Mechanism.model_validate(
        {**arm.model_dump(exclude_unset=True), "joints": {**arm.joints, joint: weak}}
    )
    with pytest.raises(UnsupportedError, match="breaks under a load"):
        lw.export(weak_arm, to="wasm", quantities=["simulate"])
    found = lw.export(weak_arm, to="wasm")
    assert "programs for whole motions" in found.lost[0]


HOSTILE = [
    "a*/b\\", 'q"];process.exit(7);//\u2028', "</script><script>`${process.exit(7)}`", "__proto__",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_names_cannot_become_code(tmp_path: Path, name: str) -> None:
    arm = lw.gallery("elbow").model_copy(update={"name": name})
    wrapper = export_module(tmp_path, arm, quantities=["gravity", "simulate"])
    assert "<" not in wrapper.read_text().split("export const table = ")[1].split(";\n")[0]
    (g,) = call_wrapper(wrapper, [("gravity", [0.1, 0.2])])
    np.testing.assert_allclose(g, lw.compile(arm).gravity([0.1, 0.2]), rtol=1e-12)


@pytest.mark.skipif(browser.found() is None, reason="there is no browser")
def test_a_page_runs_the_module(tmp_path: Path) -> None:
    wrapper = export_module(tmp_path / "out", lw.gallery("elbow"))
    module = base64.b64encode(wrapper.with_suffix(".wasm").read_bytes()).decode()
    page = tmp_path / "page.html"
    script = wrapper.read_text().replace("export ", "")
    page.write_text(
        f"<!doctype html><script type='module'>{script}\n"
        f"window.found = load(Uint8Array.from(atob('{module}'), c => c.charCodeAt(0)))\n"
        "  .then(m => m.simulate({q: [0.3, 0.2], qd: [0, 0], until: 1}));</script>"
    )
    program = browser.found()
    assert program is not None
    one = browser.Browser(program, tmp_path / "profile")
    try:
        one.open(page, 800)
        found = one.evaluate("window.found.then(x => JSON.stringify(Array.from(x.q)))")
        assert not one.complaints()
    finally:
        one.close()
    run = lw.simulate(lw.gallery("elbow"), t=1.0, q0=[0.3, 0.2], qd0=[0.0, 0.0])
    np.testing.assert_allclose(json.loads(found), run.q[-1], atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart", "bricard", "n-four-bar"])
def test_spatial_and_redundant_loops_close_and_move(tmp_path: Path, name: str) -> None:
    """From starts up to 0.3 off; a Bricard linkage may miss one of six, and must say so."""
    mechanism = lw.gallery(name)
    model = lw.compile(mechanism)
    wrapper = export_module(tmp_path, mechanism, quantities=["close", "simulate"])
    rng, home, still = np.random.default_rng(0), model.home(), np.zeros(model.nv)
    starts = [model.integrate(home, rng.uniform(-0.3, 0.3, model.nv)) for _ in range(6)]
    *closed, motion = call_wrapper(
        wrapper,
        [
            *(("close", {"q": q}) for q in starts),
            ("simulate", {"q": home, "qd": still, "until": 0.3}),
        ],
    )
    assert sum(found["closed"] for found in closed) >= 5
    for found in closed:
        residual = np.abs(model.constraint_residual(np.array(found["q"]))).max()
        assert (residual < 1e-12) == found["closed"]
    run = lw.simulate(mechanism, t=0.3, samples=2, q0=home, qd0=still)
    np.testing.assert_allclose(motion["q"], run.q[-1], atol=1e-9)
