"""Drives: compiled into the rates, but for Python functions; tables against NumPy and SciPy."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.linalg import expm

import linkwright as lw
from linkwright.control import pid
from linkwright.errors import LinkwrightError
from linkwright.simulation.inputs import read_force_law
from linkwright.simulation.right_hand_side import RightHandSide
from linkwright.simulation.run_context import RunContext
from linkwright.simulation.time_tables import read_time_table

SLIDE = lw.Mechanism(
    name="slide", gravity=[0, 0, 0], bodies={"block": {"mass": 1}},
    joints={"s": {"type": "prismatic", "child": "block"}},
)  # fmt: skip


@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_tables(kind: str) -> None:
    rng = np.random.default_rng(0)
    times, values = np.cumsum(rng.uniform(0.1, 1, 9)), rng.uniform(-2, 2, 9)
    table = read_time_table("q1", (times, values, kind))
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
        read_force_law(lw.derive(lw.gallery("elbow"), parameters="numeric"), {"q1": given})


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
    context = RunContext(RightHandSide(eqs, read_force_law(eqs, DRIVES[kind])))
    q, qd, t = np.array([0.3, -0.7]), np.array([1.1, 0.4]), 0.8
    by_hand = {
        "expressions": [2 * np.sin(3 * t) - 0.5 * qd[0] + 9.81 * np.cos(q[1]), 1.5],
        "tables": [3 - 2 * (t - 0.5) / 1.5, float(CubicSpline([0, 1, 2], [1, -1, 2])(t))],
        "numbers": [2.0, -1.0],
    }[kind]  # fmt: skip
    y = context.space.start(q, qd)
    np.testing.assert_allclose(context.force_law(t, q, qd), by_hand, atol=1e-13)
    rates = context.rates(t, y)
    np.testing.assert_allclose(
        rates[2:4], context.model.forward_dynamics(q, qd, by_hand), atol=1e-12
    )
    assert rates[4] == pytest.approx(qd @ by_hand)
    assert context.force_law.function is None
    assert len(context.inputs.numeric_inputs(t, y)) == {"tables": 2}.get(kind, 1)
    h = 1e-6
    slope = np.column_stack(
        [
            (context.rates(t, y + h * e) - context.rates(t, y - h * e)) / (2 * h)
            for e in np.eye(len(y))
        ]
    )
    np.testing.assert_allclose(context.jacobian(t, y), slope, atol=1e-7)


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
    assert [run.settings["torque"] == "a function of Python" for run in runs] == [
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


CLOSED = [
    "cvodes",
    "idas",
    pytest.param("taylor", marks=pytest.mark.skipif(not find_spec("heyoka"), reason="extra")),
]
"""Integrators that take the rates as one expression."""


@pytest.mark.parametrize("integrator", CLOSED)
@pytest.mark.parametrize("kind", ["linear", "cubic"])
def test_tables_of_closed_integrators(integrator: str, kind: str) -> None:
    """They begin anew where a table has a knot: m ẍ is integrated twice by hand, up to 1.2 s and
    with the last value beyond."""
    times, values = [0.1, 0.3, 0.55, 1.2], [0.5, 2.0, -1.0, 3.0]
    run = lw.simulate(
        SLIDE, 1.5, torque={"s": (times, values, kind)}, integrator=integrator, samples=16
    )
    inner = make_interp_spline(times, values, k=1 if kind == "linear" else 3)
    grid = np.unique(np.concatenate([np.linspace(0, 1.5, 15001), times]))
    force = inner(np.clip(grid, times[0], times[-1]))
    middle = inner(np.clip((grid[1:] + grid[:-1]) / 2, times[0], times[-1]))
    h = np.diff(grid)  # Simpson's rule is exact for cubic pieces
    v = np.concatenate([[0], np.cumsum(h * (force[:-1] + 4 * middle + force[1:]) / 6)])
    x = np.concatenate([[0], np.cumsum(h * v[:-1] + h**2 * (force[:-1] + 2 * middle) / 6)])
    here = np.searchsorted(grid, run.t - 1e-9)
    np.testing.assert_allclose(run.qd[:, 0], v[here], atol=1e-7)
    np.testing.assert_allclose(run.q[:, 0], x[here], atol=1e-7)
    assert run.audit < 1e-6


@pytest.mark.parametrize("integrator", CLOSED)
@pytest.mark.parametrize("period", [None, 0.07])
def test_controllers_of_closed_integrators(integrator: str, period: float | None) -> None:
    """ẍ = −k x − d ẋ − i ∫x by the matrix exponential, or the exact hold between samples."""
    k, i, d = 20.0, 15.0, 4.0
    law = pid(SLIDE, [0.0], kp=k, ki=i, kd=d, period=period)
    if integrator == "taylor" and period is None:
        moving = pid(SLIDE, lambda t: ([t], [1.0], [0.0]), kp=k)
        with pytest.raises(LinkwrightError, match="needs inputs that have a Taylor series"):
            lw.simulate(SLIDE, 1.0, q0=[1.0], torque=moving, integrator=integrator)
    run = lw.simulate(SLIDE, 1.0, q0=[1.0], torque=law, integrator=integrator, samples=11)
    x, v, z, t = 1.0, 0.0, 0.0, 0.0
    if period is None:
        A = np.array([[0, 1, 0], [-k, -d, -i], [1, 0, 0]])
        x, v, z = expm(A) @ [1, 0, 0]
        np.testing.assert_allclose(run.control["integral_s"][-1], -z, atol=1e-7)
    while period and t < 1.0 - 1e-12:
        h, force = min(period, 1.0 - t), -k * x - d * v - i * z
        z += period * x
        x, v, t = x + h * v + h * h * force / 2, v + h * force, t + h
    np.testing.assert_allclose([run.q[-1, 0], run.qd[-1, 0]], [x, v], atol=1e-7)


@pytest.mark.parametrize("integrator", ["cvodes", "idas"])
def test_functions_of_closed_integrators(integrator: str) -> None:
    """s̈ = −4 s + sin(t) from rest at 1, by a function of Python."""

    def drive(t: float, q: np.ndarray, qd: np.ndarray) -> list[float]:
        return [float(np.sin(t) - 4 * q[0])]

    run = lw.simulate(SLIDE, 2.0, q0=[1.0], torque=drive, integrator=integrator, samples=21)
    wanted = np.cos(2 * run.t) - np.sin(2 * run.t) / 6 + np.sin(run.t) / 3
    np.testing.assert_allclose(run.q[:, 0], wanted, atol=1e-6)
    assert run.audit < 1e-6
    run = lw.simulate(
        SLIDE,
        1.0,
        torque=lambda t, *_: [1] if t < 0.6 else [1, 2],
        integrator=integrator,
        samples=9,
    )
    assert "the forces have shape (2,)" in run.status
    np.testing.assert_allclose(run.q[:, 0], run.t**2 / 2, atol=1e-8)
