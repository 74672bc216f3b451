"""Wrong inputs: one clear sentence each, never a traceback, a silent NaN or an endless run."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from typing import Any

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError
from linkwright.linearization import equilibria, equilibrium, linearize
from linkwright.simulation import solve_inverse, solve_kinematics
from tests.commands import run

ELBOW, BAR = lw.gallery("elbow"), lw.gallery("four-bar")
FIXED = {"integrator": "rk4"}


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"rtol": nan}, "rtol cannot be nan"),
        ({"rtol": -1}, "rtol cannot be -1"),
        ({"rtol": 0.0, "integrator": "taylor"}, "rtol cannot be 0"),
        ({"rtol": "1e-6"}, "rtol cannot be '1e-6'"),
        ({"rtol": inf, **FIXED}, "rtol cannot be inf"),
        ({"atol": -1}, "atol cannot be -1"),
        ({"atol": 0}, "atol cannot be 0"),
        ({"atol": nan}, "atol cannot be nan"),
        ({"max_step": 0}, "max_step cannot be 0"),
        ({"max_step": 0, "integrator": "cvodes"}, "max_step cannot be 0"),
        ({"max_step": -1, "integrator": "taylor"}, "max_step cannot be -1"),
        ({"max_step": nan}, "max_step cannot be nan"),
        ({"max_step": 1e-3, **FIXED}, "'rk4' does not use max_step"),
        ({"step": "1ms", **FIXED}, "step cannot be '1ms'"),
        ({"step": nan, **FIXED}, "step cannot be nan"),
        ({"t": "1"}, "t must be a number of seconds above 0 .got '1'."),
        ({"t": nan}, "t must be a number of seconds above 0 .got nan."),
        ({"samples": 10.5}, "samples must be a whole number from 2 .got 10.5."),
        ({"q0": {"q1": nan}}, "q0 of 'q1' is nan, which is not a finite number"),
        ({"q0": {"q1": "30 kg"}}, "q0 of 'q1': '30 kg' has the wrong unit; give it in rad"),
        ({"qd0": {"q1": "3 m/s"}}, "qd0 of 'q1': '3 m/s' has the wrong unit; give it in rad/s"),
        ({"torque": {"q1": "3 kg"}}, "torque of 'q1': '3 kg' has the wrong unit; give it in N.m"),
        ({"q0": {"q1": "fast"}}, "q0 of 'q1': 'fast' is not a number"),
        ({"qd0": {"q1": None}}, "qd0 of 'q1' is None, which is not a finite number"),
        ({"q0": "home"}, "elbow has no pose 'home'"),
        ({"q0": {1: 2.0}}, "unknown coordinate '1'"),
        ({"threads": 0}, "threads cannot be 0"),
    ],
)
def test_simulate(options: dict[str, Any], what: str) -> None:
    with pytest.raises(LinkwrightError, match=what):
        lw.simulate(ELBOW, **options)


@pytest.mark.parametrize(
    ("call", "what"),
    [
        (lambda: lw.simulate("elbow"), "a str is not a mechanism"),
        (lambda: equilibrium("elbow"), "a str is not a mechanism"),
        (lambda: linearize("elbow"), "a str is not a mechanism"),
        (lambda: solve_kinematics("elbow", {}), "a str is not a mechanism"),
        (
            lambda: solve_kinematics(ELBOW, {"q1": "3 kg", "q2": "t"}),
            "q of 'q1': '3 kg' has the wrong unit; give it in rad",
        ),
        (lambda: solve_inverse(None, {}), "a NoneType is not a mechanism"),
        (
            lambda: lw.simulate(BAR, q0={"theta1": "1 s"}),
            "q0 of 'theta1': '1 s' has the wrong unit",
        ),
        (lambda: lw.simulate(BAR, qd0={"theta1": nan}), "qd0 of 'theta1' is nan"),
        (lambda: equilibrium(ELBOW, [nan, 0]), "q0 is not 2 finite numbers"),
        (lambda: equilibrium(ELBOW, [0, 0, 0]), "q0 is not 2 finite numbers"),
        (lambda: equilibrium(ELBOW, torque=[nan, 0]), "torque is not 2 finite numbers"),
        (lambda: equilibrium(ELBOW, torque={"q1": "a"}), "torque of 'q1' is 'a'"),
        (lambda: equilibria(ELBOW, starts=1.5), "starts cannot be 1.5"),
        (lambda: linearize(ELBOW, [0, 0, 0]), "q is not 2 finite numbers"),
        (lambda: linearize(ELBOW, [nan, 0]), "q is not 2 finite numbers"),
        (lambda: linearize(ELBOW, [0, 0], ["a", 0]), "qd is not 2 finite numbers"),
        (lambda: linearize(ELBOW, t=nan), "t is nan"),
        (lambda: solve_kinematics(BAR, over="theta1"), "over cannot be 'theta1'"),
        (lambda: solve_kinematics(BAR, over=("theta1", 0, "pi")), "over is 'pi'"),
        (lambda: solve_kinematics(BAR, over=()), r"over cannot be \(\)"),
        (lambda: solve_kinematics(BAR, "theta1"), "the motion is not a table"),
        (lambda: solve_kinematics(BAR, {"theta1": None}), "'theta1' is given by neither"),
        (lambda: solve_kinematics(BAR, {"theta1": nan}), "the motion of 'theta1' is nan"),
        (
            lambda: solve_kinematics(BAR, {"theta1": "t"}, rough={"theta2": "x"}),
            "rough of 'theta2': 'x' is not a number",
        ),
        (
            lambda: solve_kinematics(BAR, {"theta1": "t"}, samples=2.5),
            "samples must be a whole number",
        ),
        (
            lambda: solve_inverse(ELBOW, {"q1": "sqrt(t-1)", "q2": 0}, t=1.0),
            "the motion of 'q1' or its rates are not finite at t = 0 s",
        ),
    ],
)
def test_other_functions(call: Callable[[], Any], what: str) -> None:
    with pytest.raises(LinkwrightError, match=what):
        call()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"inputs": lambda t, q, qd: q}, "do not accept Python functions as inputs"),
        ({"inputs": "x"}, "inputs is not an array of numbers"),
        ({"inputs": [nan, 0]}, "inputs has entries that are not finite"),
        (
            {"q0": np.zeros((3, 2)), "qd0": np.zeros((4, 2))},
            r"q0 has shape \(3, 2\) and qd0 \(4, 2",
        ),
        ({"q0": "home"}, "elbow has no pose 'home'"),
        ({"steps": 2.5}, "steps cannot be 2.5"),
        ({"threads": -1}, "threads cannot be -1"),
        ({"dt": "1ms"}, "dt is '1ms'"),
        ({"t": nan}, "t is nan"),
        ({"model": "elbow"}, "model"),
    ],
)
def test_rollout(options: dict[str, Any], what: str) -> None:
    usual = {"model": lw.compile(ELBOW), "q0": [0, 0], "qd0": [0, 0], "steps": 3}
    with pytest.raises(LinkwrightError, match=what):
        lw.rollout(**(usual | options))


def test_rollouts_take_whole_numbers_of_numpy_and_no_drives() -> None:
    model = lw.compile(ELBOW)
    expected = lw.rollout(model, [0.1, 0], [0, 0], None, steps=3)
    found = lw.rollout(model, [0.1, 0], [0, 0], {}, steps=np.int64(3))
    np.testing.assert_array_equal(found, expected)


def test_command_refuses_a_tolerance_that_is_no_number() -> None:
    done = run("simulate", "elbow", "--tolerance", "nan")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "rtol cannot be nan" in done.stderr
