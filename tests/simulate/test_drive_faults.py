"""Drives that are not finite are named with their time; statistics count what was done."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.mechanism import replace_part_fields

SLIDE = lw.Mechanism(
    name="slide", gravity=[0, 0, 0], bodies={"block": {"mass": 1}},
    joints={"s": {"type": "prismatic", "child": "block"}},
)  # fmt: skip

DRIVES: dict[str, tuple[Any, float]] = {
    "function": (lambda t, q, qd: [math.nan if t > 0.3 else 1.0], 0.3),
    "pole": ({"s": "1/(t - 0.55)"}, 0.55),
    "root": ({"s": "sqrt(0.4 - t)"}, 0.4),
    "state": ({"s": "sqrt(0.5 - s)"}, math.nan),
}


@pytest.mark.parametrize(
    "integrator", ["dop853", "radau", "bdf", "lsoda", "cvodes", "rk4", "midpoint"]
)
@pytest.mark.parametrize("kind", list(DRIVES))
def test_a_drive_that_is_not_finite_is_named_with_its_time(integrator: str, kind: str) -> None:
    drive, when = DRIVES[kind]
    run = lw.simulate(SLIDE, 1.0, qd0=[1.0], torque=drive, integrator=integrator, samples=21)
    assert not run.finished
    assert "the force 's' is not finite" in run.status or "the force 's' grows" in run.status
    assert "stiff" not in run.status
    named = float(run.status.rpartition("t = ")[2].split()[0])
    if not math.isnan(when):
        assert named == pytest.approx(when, abs=1.01e-3)
    assert np.isfinite(run.q).all()
    assert np.isfinite(run.tau).all()


@pytest.mark.parametrize("force", ["1/(s - 1)^2", "log(1 - s)", "1/(t - 0.5)"])
def test_a_pole_in_a_declared_force_is_named(force: str) -> None:
    pushed = replace_part_fields(SLIDE, forces={"f": {"type": "joint", "on": "s", "force": force}})
    run = lw.simulate(pushed, 1.0, qd0=[1.5], samples=21)
    assert "the force along 's' is not finite" in run.status


def test_a_motion_that_runs_away_is_no_fault_of_its_drive() -> None:
    """s̈ = 6 s² has a pole in time that its expression has not."""
    run = lw.simulate(SLIDE, 2.0, q0=[1.0], qd0=[2.0], torque={"s": "6*s^2"}, samples=21)
    assert "the drive" not in run.status


def test_sundials_tells_its_own_steps_and_evaluations() -> None:
    """Fewer samples hardly change them, which they would if samples were counted."""
    for integrator in ("cvodes", "idas"):
        counts = [
            lw.simulate(lw.gallery("elbow"), 0.5, integrator=integrator, samples=n).statistics
            for n in (33, 65)
        ]
        for found, samples in zip(counts, (33, 65), strict=True):
            assert found["steps"] > 2 * samples
            assert found["evaluations"] > found["steps"]


@pytest.mark.parametrize(("integrator", "each"), [("euler", 1), ("heun", 2), ("rk4", 4)])
def test_fixed_steps_count_evaluations_of_every_stage(integrator: str, each: int) -> None:
    run = lw.simulate(SLIDE, 1.0, integrator=integrator, step=0.01, samples=101)
    assert run.statistics["steps"] == 100
    assert run.statistics["evaluations"] == 100 * each + 1  # one before the first step


@pytest.mark.parametrize("integrator", ["rk4", "midpoint"])
def test_fixed_steps_with_a_table_are_those_asked_for(integrator: str) -> None:
    table = {"s": ([0, 0.0253, 0.51, 1], [0.0, 1.0, 2.0, 0.0])}
    how = {"integrator": integrator, "step": 0.01, "samples": 101}
    run = lw.simulate(SLIDE, 1.0, torque=table, **how)
    assert run.statistics["steps"] == 100
    assert not run.warnings
    q, _ = lw.rollout(
        lw.compile(SLIDE), [0.0], [0.0], table, 0.01, 100, method=integrator, history=True
    )
    np.testing.assert_allclose(run.q, q, atol=1e-13)


def test_steps_that_events_cut_short_are_reported() -> None:
    stop = {"half": {"when": "s - 0.333", "action": {"ds": "-ds"}}}
    run = lw.simulate(SLIDE, 1.0, qd0=[1.0], integrator="rk4", step=0.01, events=stop, samples=11)
    assert run.finished
    assert any("101 steps were made where 100 of 0.01 s were asked for" in w for w in run.warnings)


def test_the_largest_kinetic_energy_is_that_of_the_whole_run() -> None:
    for integrator in ("dop853", "cvodes"):
        run = lw.simulate(lw.gallery("elbow"), t=1, samples=41, integrator=integrator)
        assert run.statistics["largest_kinetic_energy"] >= run.kinetic.max()
