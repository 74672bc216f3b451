"""Input that would take all time or memory, or give infinite numbers, is bounded or refused."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import linkwright as lw
from linkwright.control import adaptive, pd_gravity
from linkwright.errors import LinkwrightError
from linkwright.files.partial_files import partial_file_name
from linkwright.motion import quintic
from linkwright.readings.llvm import code_cache
from linkwright.simulation import Event
from tests.effort import calls_of

SLIDE = lw.Mechanism(
    name="slide", gravity=[0, 0, 0], bodies={"block": {"mass": 1}},
    joints={"s": {"type": "prismatic", "child": "block", "friction": 0.5}},
)  # fmt: skip


def doubling(n: int) -> lw.Mechanism:
    parameters = {"a0": "0.5"} | {f"a{k}": f"(a{k - 1} + a{k - 1})/2" for k in range(1, n)}
    return lw.Mechanism(
        name="doubling", parameters=parameters,
        bodies={"b": {"mass": f"a{n - 1}", "center": [0.1, 0, 0], "inertia": [1, 1, 1]}},
        joints={"q": {"type": "revolute", "child": "b"}},
    )  # fmt: skip


def test_parameters_that_use_each_other_twice_cost_linear_time() -> None:
    """Each is made once: a chain of 400 would take 2⁴⁰⁰ steps otherwise."""
    costs = [calls_of(lambda n=n: lw.derive(doubling(n), parameters=["a0"])) for n in (100, 400)]
    assert costs[1] < 8 * costs[0]
    model = lw.compile(doubling(60), parameters=["a0"])
    np.testing.assert_allclose(model.mass_matrix([0.3], [0.7]), 1 + 0.7 * 0.1**2, rtol=1e-14)


@pytest.mark.parametrize("drive", ["2*sign(t)", "2*sign(sin(2*t))"])
def test_friction_under_a_drive_that_jumps_at_the_start(drive: str) -> None:
    """It slides at once: s = ½ (2 − ½) t²."""
    run = lw.simulate(SLIDE, 1.0, torque={"s": drive}, samples=3)
    assert run.finished
    np.testing.assert_allclose(run.q[-1, 0], 0.75, rtol=1e-9)


def test_a_drive_that_jumps_at_the_start_by_a_function() -> None:
    run = lw.simulate(SLIDE, 1.0, torque=lambda t, q, qd: [2.0 if t > 0 else 0.0], samples=3)
    np.testing.assert_allclose(run.q[-1, 0], 0.75, rtol=1e-9)


@pytest.mark.parametrize("rate", [5, 1e6])
def test_a_controller_that_runs_away_is_told_so(rate: float) -> None:
    law = adaptive(SLIDE, quintic([0.0], [1.0], 1.0), slope=10, gain=500, rate=rate, period=0.01)
    run = lw.simulate(SLIDE, 3.0, torque=law, samples=5)
    assert "'s' runs away" in run.status
    assert "smaller gains" in run.status
    assert "restitution" not in run.status


@pytest.mark.parametrize("multiplier", [10, 0.1])
def test_long_chains_of_mimic_joints_do_not_overflow(multiplier: float) -> None:
    bodies = {f"b{k}": {"mass": 1, "center": [1, 0, 0]} for k in range(171)}
    joints = {
        f"q{k}": {"type": "revolute", "parent": f"b{k - 1}" if k else "ground", "child": f"b{k}"}
        | ({"mimic": {"joint": f"q{k - 1}", "multiplier": multiplier}} if k else {})
        for k in range(171)
    }
    with pytest.raises(LinkwrightError, match="together with those that it follows is 1e"):
        lw.Mechanism(name="screws", bodies=bodies, joints=joints)


def test_set_points_and_gains_that_overflow_are_refused() -> None:
    """Found by the fuzzer (controller 1000551): the force was infinite."""
    for reference, kp in (([1e308, 0.2], 100), ([0.1, 0.2], 1e308)):
        with pytest.raises(LinkwrightError, match="is too large"):
            pd_gravity(lw.gallery("elbow"), reference, kp=kp, kd=1)


def test_a_period_shorter_than_any_run_has_steps_is_refused() -> None:
    law = pd_gravity(lw.gallery("elbow"), [0.1, 0.2], kp=10, kd=1, period=1e-12)
    with pytest.raises(LinkwrightError, match="period of 1e-12 s makes 1e"):
        lw.simulate(lw.gallery("elbow"), 1.0, torque=law)


def test_an_event_that_triggers_itself_ends() -> None:
    """Every change puts the slide before the event again."""
    back = Event("s - 0.5", {"s": "0.5 - 1e-9"}, "rising")
    run = lw.simulate(SLIDE.without("friction"), 1.0, qd0=[1.0], events={"back": back}, samples=3)
    assert not run.finished
    assert "events follow each other without end (back)" in run.status
    assert len(run.events) < 5000


def test_leftovers_of_killed_writers_are_removed(tmp_path: Path) -> None:
    """A writer that is alive keeps its file, and is not disturbed."""
    waiting = [sys.executable, "-S", "-c", "input()"]
    with subprocess.Popen(waiting, stdin=subprocess.PIPE) as writer:
        dead, alive, old, other = (
            tmp_path / f".{name}.part"
            for name in ("run.nc.999999999", f"run.nc.{writer.pid}", "run.nc.1", "x.nc.999999999")
        )
        for file in (dead, alive, old, other):
            file.write_text("half")
        os.utime(old, (time.time() - 1e6, time.time() - 1e6))
        assert partial_file_name(tmp_path / "run.nc").name == f".run.nc.{os.getpid()}.part"
        assert sorted(p.name for p in tmp_path.iterdir()) == sorted([alive.name, other.name])
        writer.communicate(b"\n")
    assert writer.returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes in folders")
def test_a_pipe_in_the_cache_is_no_entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o700)
    monkeypatch.setenv("LINKWRIGHT_CACHE", str(tmp_path))
    code_cache.write_code_cache_entry("entry", b"content")
    (stored,) = tmp_path.iterdir()
    assert code_cache.read_code_cache_entry("entry") == b"content"
    stored.unlink()
    os.mkfifo(stored)
    assert code_cache.read_code_cache_entry("entry") is None


@pytest.mark.parametrize("by", ["recursive", "lagrange", "hamilton"])
def test_equations_pickle_as_their_recipe(by: str) -> None:
    first = lw.derive(lw.gallery("elbow"), by=by, parameters=["m1"])
    again = pickle.loads(pickle.dumps(first))
    assert (again.by, list(again.parameters)) == (by, ["m1"])
    q = [0.1, 0.2]
    values = [lw.compile(eqs).mass_matrix(q) for eqs in (first, again)]
    np.testing.assert_array_equal(*values)


def test_films_allow_no_scripts_but_their_own() -> None:
    from linkwright.show.film_page import animation_page

    run = lw.simulate(lw.gallery("elbow"), 0.1, samples=5)
    page = animation_page(run)
    head = page.partition("</head>")[0]
    assert "Content-Security-Policy" in head
    assert "default-src &#x27;none&#x27;" in head
    assert page.count("<script>") == head.count("sha256-") > 0
    assert "unsafe-inline" not in head.partition("script-src")[2].partition('"')[0]
