"""Drives: compiled into the rates, but for Python functions; tables against NumPy and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.simulation.inputs import drive_of
from linkwright.simulation.system import System
from linkwright.simulation.tables import table_of


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_tables(kind: str) -> None:
    rng = np.random.default_rng(0)
    times, values = np.cumsum(rng.uniform(0.1, 1, 9)), rng.uniform(-2, 2, 9)
    table = table_of("q1", (times, values, kind))
    inside = np.linspace(times[0], times[-1], 101)
    wanted = (
        np.interp(inside, times, values) if kind == "linear" else CubicSpline(times, values)(inside)
    )
    np.testing.assert_allclose([table(t) for t in inside], wanted, atol=1e-12)
    assert table(times[0] - 5) == values[0]
    assert table(times[-1] + 5) == values[-1]


@pytest.mark.parametrize(
    "given",
    [([0, 1], [0, 1], "magic"), ([0], [1]), ([0, 1], [0, np.nan]), ([1, 0], [0, 1]), 3 + 4j, None],
)
def test_wrong_tables(given: object) -> None:
    with pytest.raises(LinkwrightError, match="q1"):
        drive_of(lw.derive(lw.gallery("elbow"), parameters="numeric"), {"q1": given})


DRIVES = {
    "expressions": {"q1": "2*sin(3*t) - 0.5*dq1 + g*cos(q2)", "q2": 1.5},
    "tables": {"q1": ([0, 0.5, 2], [0, 3, 1]), "q2": ([0, 1, 2], [1, -1, 2], "cubic")},
    "numbers": [2.0, -1.0],
}


@pytest.mark.parametrize("kind", DRIVES)
def test_drives_are_part_of_the_rates(kind: str) -> None:
    """What the kernel does with a drive is what forward dynamics does with its τ; the slope of
    the rates has the slope of feedback."""
    eqs = lw.derive(lw.gallery("elbow"), by="recursive", parameters="numeric")
    system = System(eqs, drive_of(eqs, DRIVES[kind]))
    q, qd, t = np.array([0.3, -0.7]), np.array([1.1, 0.4]), 0.8
    by_hand = {
        "expressions": [2 * np.sin(3 * t) - 0.5 * qd[0] + 9.81 * np.cos(q[1]), 1.5],
        "tables": [3 - 2 * (t - 0.5) / 1.5, float(CubicSpline([0, 1, 2], [1, -1, 2])(t))],
        "numbers": [2.0, -1.0],
    }[kind]  # fmt: skip
    y = system.start(q, qd)
    np.testing.assert_allclose(system.drive(t, q, qd), by_hand, atol=1e-13)
    rates = system.rates(t, y)
    np.testing.assert_allclose(
        rates[2:4], system.model.forward_dynamics(q, qd, by_hand), atol=1e-12
    )
    assert rates[4] == pytest.approx(qd @ by_hand)
    assert system.drive.function is None
    assert len(system.outer(t, y)) == {"tables": 2}.get(kind, 1)
    h = 1e-6
    slope = np.column_stack(
        [
            (system.rates(t, y + h * e) - system.rates(t, y - h * e)) / (2 * h)
            for e in np.eye(len(y))
        ]
    )
    np.testing.assert_allclose(system.slope(t, y), slope, atol=1e-7)


@pytest.mark.parametrize("by", ["recursive", "hamilton"])
def test_all_kinds_of_drives_move_alike(by: str) -> None:
    """An expression, a fine table and a Python function of the same torque."""
    arm, t = lw.gallery("elbow"), np.linspace(0, 1, 2001)
    kinds = [
        {"q1": "4*sin(3*t)"}, {"q1": (t, 4 * np.sin(3 * t), "cubic")},
        lambda t, q, qd: [4 * np.sin(3 * t), 0.0],
    ]  # fmt: skip
    runs = [lw.simulate(arm, 1.0, torque=torque, by=by, samples=5) for torque in kinds]
    for other in runs[1:]:
        np.testing.assert_allclose(other.q, runs[0].q, atol=1e-8)
        np.testing.assert_allclose(other.work_inputs, runs[0].work_inputs, atol=1e-7)
    assert [run.settings["torque"] == "a function or controller of Python" for run in runs] == [
        False,
        False,
        True,
    ]


@pytest.mark.parametrize("integrator", ["dop853", "radau", "lsoda"])
def test_no_step_goes_over_a_pulse(integrator: str) -> None:
    """1 N s within 20 ms of 10 s: Δ(m v) is its area, however long the steps are."""
    slide = lw.Mechanism(
        name="slide", gravity=[0, 0, 0], bodies={"a": lw.Body(mass=1)},
        joints={"x": lw.Joint(type="prismatic", child="a", axis=[1, 0, 0])},
    )  # fmt: skip
    pulse = ([0, 5.0, 5.01, 5.02, 10], [0, 0, 100.0, 0, 0])
    run = lw.simulate(slide, 10.0, torque={"x": pulse}, integrator=integrator, samples=3)
    np.testing.assert_allclose(run.qd[-1], 1.0, rtol=1e-8)
    np.testing.assert_allclose(run.q[-1], 10 - 5.01, rtol=1e-8)
