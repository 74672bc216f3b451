"""Measures: the expression language on histories, against closed forms and single runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.expressions import fold_expression, parse_indexed_expression
from linkwright.studies.lane_values import (
    MEASURE_FUNCTIONS,
    LaneAlgebra,
    MeasuredValue,
    SampleClock,
)

from . import study_functions

ELBOW = lw.gallery("elbow")
T = np.linspace(0, 2, 2001)
CLOCK = SampleClock(T, np.array([2001, 2001, 1001]))
DECAY = np.exp(-3 * T)
ROWS = np.stack([np.sin(np.pi * T), DECAY, np.where(T <= 1, T**2, np.nan)])
VALUES = {
    "x": MeasuredValue(ROWS[..., None], CLOCK),
    "t": MeasuredValue(T[None, :, None], CLOCK),
    "v": MeasuredValue(np.array([[3 + 4j, 1 - 1j]] * 3)[:, None, :]),
    "two": MeasuredValue(np.stack([ROWS, 2 * ROWS], axis=2), CLOCK),
}


def value_of(text: str) -> Any:
    tree = parse_indexed_expression(text, MEASURE_FUNCTIONS)
    with np.errstate(all="ignore"):
        return fold_expression(tree, LaneAlgebra(), VALUES.__getitem__).array


# closed forms for sin πt and e^−3t over 2 s, and t² over the second that was reached
CASES = [
    ("max(x)", [1, 1, 1]),
    ("min(x)", [-1, np.exp(-6), 0]),
    ("x[-1]", [0, np.exp(-6), 1]),
    ("x[0]", [0, 1, 0]),
    ("range(x)", [2, 1 - np.exp(-6), 1]),
    ("peak(-2*x)", [2, 2, 2]),
    ("integral(x)", [0, (1 - np.exp(-6)) / 3, 1 / 3]),
    ("mean(x)", [0, (1 - np.exp(-6)) / 6, 1 / 3]),
    ("rms(x)", [np.sqrt(0.5), np.sqrt((1 - np.exp(-12)) / 12), np.sqrt(1 / 5)]),
    ("max(abs(derivative(x)))", [np.pi, 3, 2]),
    ("settling_time(x, 0.1, 0)", [2 - np.arcsin(0.1) / np.pi, np.log(10) / 3, np.inf]),
    ("first_time(x, 0.5)", [1 / 6, np.log(2) / 3, np.sqrt(0.5)]),
    ("time_above(x, 0.5)", [2 / 3, np.log(2) / 3, 1 - np.sqrt(0.5)]),
    ("value_at(x, 0.25)", [np.sin(np.pi / 4), np.exp(-0.75), 0.0625]),
    ("overshoot(x, 0.5)", [1, (0.5 - np.exp(-6)) / 0.5, 1]),
    ("max(x, 0.25)[-1]", [0.25, 0.25, 1]),
    ("max(two)", [2, 2, 2]),
    ("max(norm(two))", [np.sqrt(5)] * 3),
    ("t[-1]", [2, 2, 1]),
    ("abs(v[0]) + imag(v)[1] + real(v[-1])", [5, 5, 5]),
    ("30 deg", [np.pi / 6]),
    ("2^3 - 1/4", [7.75]),
    ("atan2(x[0], 1) + floor(1.5)", [1, 1 + np.pi / 4, 1]),
]


@pytest.mark.parametrize(("text", "wanted"), CASES, ids=[text for text, _ in CASES])
def test_functions_have_their_closed_forms(text: str, wanted: list[float]) -> None:
    found = np.real(value_of(text))[:, 0, 0]
    # trapezoids and differences of 2001 samples: 1e-3 of steps of time, 1e-5 of smooth functions
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1.1e-3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q9[-1]", "unknown name 'q9'"),
        ("max(linearize.eigenvalues)", "max needs real numbers; these are complex"),
        ("linearize.eigenvalues", "the values are complex; take real(…), imag(…) or abs(…)"),
        ("__import__('os')", "cannot read"),
        ("max(q1", "a parenthesis is not closed"),
        ("q1[1", "a bracket is not closed"),
        ("q1[0.5]", "the index 0.5 is not a whole number"),
        ("q1[99]", "the index 99 is beyond the 11 samples"),
        ("mean(q1, q2)", "mean takes 1 argument(s)"),
        ("integral(2)", "integral needs a history"),
        ("value_at(q1, 7)", "the time 7 is not in 0 … 0.1 s"),
        ("settling_time(q1, -1)", "settling_time needs a band that is not negative"),
        ("q", "2 histories cannot be one measure"),
        ("linearize.poles[0]", "unknown name 'linearize.poles'"),
        ("", "the expression is empty"),
    ],
)
def test_mistakes_in_measures_get_a_sentence(text: str, message: str) -> None:
    with pytest.raises(LinkwrightError) as caught:
        lw.study(ELBOW, {"m2": [1.0]}, {"bad": text}, t=0.1, samples=11)
    assert "measure 'bad'" in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize("text", ["q1", "linearize.frequencies"])
def test_a_measure_cannot_have_the_name_of_a_dimension(text: str) -> None:
    name = "a_time" if text == "q1" else "a_entry"
    with pytest.raises(
        LinkwrightError, match=f"'{name}' is the name of a dimension of the measure"
    ):
        lw.study(
            ELBOW, {"m2": [1.0]}, {"a": text, name: "t[-1]"}, t=0.1, samples=3,
            linearize={"q": {"q1": -np.pi / 2}},
        )  # fmt: skip


@pytest.mark.slow
def test_measures_of_an_ensemble_are_those_of_single_runs() -> None:
    measure = {
        "speed": "max(abs(dq1))", "effort": "max(abs(tau2))", "acceleration": "peak(ddq1)",
        "loss": "energy[-1] - energy[0]", "height": "max(tool.y)", "power": "max(power)",
        "own": study_functions.largest_speed, "path": "q2", "work": "work_inputs[-1]",
    }  # fmt: skip
    vary = {"m2": [0.7, 1.9], "q0.q1": [0.2, 0.5], "torque.q2": [1.0, -2.0]}
    torque = {"q1": "0.5*sin(t) - 0.1*dq1"}
    found = lw.study(ELBOW, vary, measure, design="list", t=0.3, samples=31, torque=torque)
    fast = {name: text for name, text in measure.items() if name not in ("own", "work")}
    lanes = lw.study(ELBOW, vary, fast, design="list", t=0.3, samples=31, torque=torque)
    for k in range(2):
        mechanism = ELBOW.with_parameters(m2=vary["m2"][k])
        run = lw.simulate(
            ELBOW, 0.3, q0={"q1": vary["q0.q1"][k]}, samples=31,
            torque={**torque, "q2": vary["torque.q2"][k]}, parameters={"m2": vary["m2"][k]},
        )  # fmt: skip
        tool = lw.compile(mechanism).placement("tool")(run.q)[:, 1, 3]
        wanted = {
            "speed": abs(run.qd[:, 0]).max(), "effort": abs(run.tau[:, 1]).max(),
            "acceleration": abs(run.qdd[:, 0]).max(), "loss": run.energy[-1] - run.energy[0],
            "height": tool.max(), "power": run.power.sum(axis=1).max(),
            "own": abs(run.qd[:, 0]).max(), "path": run.q[:, 1], "work": run.work_inputs[-1],
        }  # fmt: skip
        for name, value in wanted.items():
            np.testing.assert_allclose(found.data[name][k], value, rtol=1e-11, atol=1e-13)
            if name in lanes.data:
                np.testing.assert_allclose(lanes.data[name][k], value, rtol=1e-11, atol=1e-13)


def test_forces_of_controllers_are_those_of_single_runs() -> None:
    control = {"controller": "pid", "reference": [0.5, 0.1], "kp": 50.0, "ki": 20.0, "kd": 5.0}
    vary = {"control.kp": [40.0, 90.0]}
    measure = {"effort": "max(abs(tau1))", "end": "q1[-1]"}
    found = lw.study(ELBOW, vary, measure, t=0.2, samples=21, control=control)
    for k, kp in enumerate(vary["control.kp"]):
        run = lw.simulate(
            ELBOW, 0.2, torque=lw.control.pid(ELBOW, [0.5, 0.1], kp=kp, ki=20.0, kd=5.0), samples=21
        )
        assert float(found.data["effort"][k]) == abs(run.tau[:, 0]).max()
        assert float(found.data["end"][k]) == run.q[-1, 0]


@pytest.mark.slow
def test_analyses_give_their_own_measures() -> None:
    bar = lw.gallery("four-bar")
    low, high = 0.9 * float(bar.values["l3"]), float(bar.values["l3"])
    motion = {"motion": {"theta1": "t"}, "t": 0.5, "samples": 6}
    found = lw.study(
        bar,
        {"l3": [low, high]},
        {
            "angle": "min(linkage.transmission_angle)", "follow": "kinematics.theta2[-1]",
            "effort": "max(abs(inverse.tau1))", "frequency": study_functions.lowest_frequency,
            "same": "linearize.frequencies[0]", "rest": "equilibria.count",
        },
        kinematics=motion, inverse=motion, linkage={"samples": 37}, equilibria={"starts": 3},
        linearize={"q": {"theta1": -1.0}},
    )  # fmt: skip
    for k, length in enumerate((low, high)):
        own = bar.with_parameters(l3=length)
        angle = lw.linkages.analyze_linkage(own, samples=37).transmission_angle.min()
        # a program whose parameters are inputs rounds otherwise than one with constants
        assert float(found.data["angle"][k]) == pytest.approx(angle, rel=1e-14)
        kinematics = lw.solve_kinematics(own, {"theta1": "t"}, 0.5, samples=6)
        assert float(found.data["follow"][k]) == pytest.approx(kinematics.q[-1, 1], rel=1e-14)
        inverse = lw.solve_inverse(own, {"theta1": "t"}, 0.5, samples=6)
        effort = abs(inverse.tau[:, 0]).max()
        assert float(found.data["effort"][k]) == pytest.approx(effort, rel=1e-14)
        linear = lw.linearize(own, {"theta1": -1.0})
        if len(linear.frequencies):
            assert float(found.data["same"][k]) == linear.frequencies[0]
            assert float(found.data["frequency"][k]) == linear.frequencies[0]
    assert (found.data["rest"] > 0).all()


@pytest.mark.slow
def test_formulations_and_integrators_are_factors() -> None:
    vary = {"by": ["lagrange", "hamilton", "newton_euler"], "integrator": ["dop853", "radau"]}
    found = lw.study(ELBOW, vary, {"end": "q1[-1]"}, t=0.2, samples=3, q0={"q1": 0.4})
    assert found.data["by"].to_numpy().tolist() == [name for name in vary["by"] for _ in range(2)]
    wanted = lw.simulate(ELBOW, 0.2, q0={"q1": 0.4}, samples=3).q[-1, 0]
    np.testing.assert_allclose(found.data["end"], wanted, rtol=1e-8)


def test_one_bad_design_is_a_recorded_failure() -> None:
    measure = {"twice": study_functions.fail_beyond, "end": "q1[-1]"}
    found = lw.study(ELBOW, {"m2": [1.0, 1.5, -1.0, 1.2]}, measure, t=0.05, samples=3)
    assert found.data["status"].to_numpy().tolist() == [1, 3, 3, 1]
    assert found.failures[1] == "measure 'twice': ZeroDivisionError: too heavy"
    assert "mass" in found.failures[2]
    assert np.isnan(found.data["end"][1])
    np.testing.assert_allclose(found.data["twice"][[0, 3]], [2, 2.4])
    text = str(found)
    assert "2 failed" in text


def test_a_measure_that_is_not_a_number_is_a_recorded_failure() -> None:
    """The other measures of the design stay, also for analyses."""
    measure = {"root": "sqrt(m2 - 1.25)", "end": "q1[-1]", "never": "settling_time(q1, 0, 9)"}
    masses = [1.0, 1.5, 2.25, 1.2]
    found = lw.study(ELBOW, {"m2": masses}, measure, t=0.05, samples=3)
    assert found.data["status"].to_numpy().tolist() == [3, 1, 1, 3]
    assert found.failures == dict.fromkeys((0, 3), "measure 'root' is not a number")
    np.testing.assert_allclose(found.data["root"], [np.nan, 0.5, 1.0, np.nan])
    assert np.isinf(found.data["never"]).all()  # an infinite time is a number
    assert np.isfinite(found.data["end"]).all()
    assert found.is_usable.all()
    assert set(found.pareto({"m2": "min", "end": "max"})) & {0, 3}
    assert [one.value for one in found.worst("root", 4)] == [1.0, 0.5]


def test_a_function_that_returns_another_number_of_values_is_a_recorded_failure() -> None:
    """The second value was lost, without a word."""
    measure = {"own": lambda factors: np.ones(int(factors["m2"]))}
    found = lw.study(ELBOW, {"m2": [1.0, 2.0]}, measure, t=0.05, samples=3)
    assert found.failures == {1: "measure 'own': it returns 2 numbers, and 1 of other designs"}
    np.testing.assert_array_equal(found.data["own"], [1.0, np.nan])
    with pytest.raises(LinkwrightError, match="measure 'own': it returns 0 numbers;"):
        lw.study(ELBOW, {"m2": [1.0]}, {"own": lambda factors: []})


@pytest.mark.slow
def test_a_run_that_stops_has_measures_up_to_there() -> None:
    stop = lw.simulation.Event("q1 + 0.2", "stop")
    found = lw.study(
        ELBOW, {"m2": [1.0, 2.0]}, {"last": "t[-1]", "low": "min(q1)", "speed": "abs(dq1)[-1]"},
        t=1.0, samples=101, options={"events": {"down": stop}},
    )  # fmt: skip
    assert found.data["status"].to_numpy().tolist() == [2, 2]
    for k, mass in enumerate((1.0, 2.0)):
        run = lw.simulate(ELBOW, 1.0, parameters={"m2": mass}, samples=101, events={"down": stop})
        whole = run.t[run.t == np.linspace(0, 1, 101)[: len(run.t)]]
        assert float(found.data["last"][k]) == whole[-1] < 0.5
        assert float(found.data["low"][k]) == run.q[: len(whole), 0].min()
        assert "down" in str(found.data["message"].to_numpy()[k])
