"""Runs that cannot go on say why, where, and what to try, and keep the part they have."""

from __future__ import annotations

import io
import subprocess
import sys

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields
from linkwright.simulation import load_run
from linkwright.simulation.progress import RunProgress

SLIDE = lw.Mechanism(
    name="slide", gravity=[0, 0, 0], bodies={"block": {"mass": 1}},
    joints={"s": {"type": "prismatic", "child": "block"}},
)  # fmt: skip


def test_step_underflow() -> None:
    """s̈ = 6 s² from (1, 2) is s = 1/(1 − t)²: it runs away at t = 1."""
    found = lw.simulate(SLIDE, 2.0, q0=[1.0], qd0=[2.0], torque={"s": "6*s^2"}, samples=201)
    assert found.status.startswith("stopped at t = 1 s")
    assert "'s' moves fastest" in found.status
    assert "try integrator='radau'" in found.status
    assert "s = " in found.status
    assert not found.finished
    kept = found.t < 0.9
    np.testing.assert_allclose(found.q[kept, 0], (1 - found.t[kept]) ** -2, rtol=1e-6)


def test_singular_mass() -> None:
    """A point mass that slides along an arm: at the pivot, the arm moves no mass."""
    arm = lw.Mechanism(
        name="polar", gravity=[0, 0, 0], bodies={"arm": {}, "bead": {"mass": 1}},
        joints={
            "phi": {"type": "revolute", "child": "arm"},
            "r": {"type": "prismatic", "parent": "arm", "child": "bead", "axis": [1, 0, 0]},
        },
    )  # fmt: skip
    found = lw.simulate(arm, 1.0, q0={"r": 0.0})
    assert "the mass matrix is singular: 'phi' moves no mass here" in found.status
    assert "stopped at t = 0 s (phi = 0, r = 0)" in found.status
    assert len(found.t) == 1


def test_lost_closure() -> None:
    """A four-bar with a + b = 4 cannot take its crank beyond cos θ = (1.5² + 4² − 4²)/(2·1.5·4)."""
    linkage = lw.gallery("four-bar").with_parameters(l1=1.5, l2=2.0, l3=2.0, l4=4.0)
    driven = replace_part_fields(
        linkage, independent=(), assembly={"theta1": 0.5, "theta2": 0.6, "theta3": 2.0},
        constraints={"motor": {"type": "drive", "on": "theta1", "position": "0.5 + 1*t"}},
    )  # fmt: skip
    end = np.arccos((1.5**2 + 4**2 - 4**2) / (2 * 1.5 * 4)) - 0.5
    found = lw.simulate(driven, 2.0)
    assert found.status.startswith("stopped at t = ")
    assert float(found.status.split()[4]) == pytest.approx(end, abs=2e-2)
    assert "'pin'" in found.status or "'motor'" in found.status
    assert found.closure.max() < 1e-8
    assert found.t[-1] > end - 0.02


def test_what_is_not_finite() -> None:
    found = lw.simulate(
        replace_part_fields(SLIDE, forces={"f": {"type": "joint", "on": "s", "force": "1/(s - 1)^2"}}), 1.0,
        q0=[1.0],
    )  # fmt: skip
    assert "the force along 's' is not finite" in found.status


def test_interruption_keeps_what_was_computed() -> None:
    def drive(t: float, q: np.ndarray, qd: np.ndarray) -> list[float]:
        if t > 0.5:
            raise KeyboardInterrupt
        return [1.0]

    found = lw.simulate(SLIDE, 1.0, torque=drive, max_step=0.05, samples=101)
    assert found.interrupted
    assert 0.4 <= found.t[-1] <= 0.5
    np.testing.assert_allclose(found.q[:, 0], found.t**2 / 2, atol=1e-9)


def test_interrupted_command_writes_its_file(tmp_path) -> None:
    """Ctrl-C: the part up to there is in the file, exit status 130."""
    file = tmp_path / "run.nc"
    program = (
        "import os, signal\n"
        "from linkwright.cli import main\n"
        "from linkwright.simulation.progress import RunProgress\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored\n"
        "def step(self, t):\n"
        "    if t > 2: os.kill(os.getpid(), signal.SIGINT)\n"
        "RunProgress.step = step\n"
        "main()"
    )
    words = ["simulate", "elbow", "-t", "200", "-o", str(file)]
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
    assert done.returncode == 130
    assert "status: interrupted at t =" in done.stdout
    assert done.stderr == "linkwright: interrupted\n"
    found = load_run(file)
    assert found.interrupted
    assert 2.0 < found.t[-1] < 200.0


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress(monkeypatch) -> None:
    """On a terminal: simulated time, step size, estimated end; nothing elsewhere."""
    monkeypatch.setattr("linkwright.simulation.progress._PATIENCE", 0.0)
    monkeypatch.setattr("linkwright.simulation.progress._PAUSE", 0.0)
    for stream, shown in ((Screen(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with RunProgress("arm", 10.0) as watch:
            watch.step(2.0)
            watch.step(2.5)
            words = watch.status_text(watch.begin + 5)
        assert ("arm" in stream.getvalue()) is shown
    assert stream.getvalue() == ""
    assert words == "t = 2.5 of 10 s, steps of 1.2e+00 s, about 15 s to go"


@pytest.mark.parametrize("restitution", [0, 0.5])
def test_drive_against_a_stop(restitution: float) -> None:
    limits = {"upper": 0.5, "restitution": restitution}
    driven = replace_part_fields(
        SLIDE, joints={"s": {"type": "prismatic", "child": "block", "limits": limits}},
        constraints={"pull": {"type": "drive", "on": "s", "position": "t"}},
    )  # fmt: skip
    run = lw.simulate(driven, 1.0, samples=11)
    assert "the drive of 's' pushes against its stop; drive it less far" in run.status
    np.testing.assert_allclose([run.t[-1], run.q[-1, 0]], 0.5, atol=1e-9)
    assert not run.events
