"""Rollouts with parameters of their own: by hand, and against mechanisms that have the numbers."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest

import linkwright as lw
from linkwright.errors import LinkwrightError, NameNotFoundError

OSCILLATOR = lw.Mechanism(
    name="oscillator",
    parameters={"m": 2, "k": 30},
    gravity=[0, 0, 0],
    bodies={"cart": {"mass": "m"}},
    joints={"x": {"type": "prismatic", "child": "cart", "axis": [1, 0, 0], "stiffness": "k"}},
)


def test_every_trajectory_has_its_own_parameters() -> None:
    """RK4 of a linear oscillator is the exponential series up to the fourth power."""
    model = lw.compile(OSCILLATOR, parameters=["k", "m"], threads=1)
    k, m = np.array([10.0, 30.0, 90.0])[:, None], np.array([1.0, 2.0])
    dt, steps = 0.01, 50
    q, qd = lw.rollout(model, [0.3], [0.1], None, dt, steps, parameters={"k": k, "m": m})
    assert q.shape == qd.shape == (3, 2, 1)
    for i in range(3):
        for j in range(2):
            A = np.array([[0, 1], [-k[i, 0] / m[j], 0]]) * dt
            step = sum(np.linalg.matrix_power(A, n) / factorial(n) for n in range(5))
            wanted = np.linalg.matrix_power(step, steps) @ [0.3, 0.1]
            np.testing.assert_allclose([q[i, j, 0], qd[i, j, 0]], wanted, rtol=1e-11)
    one = lw.rollout(model, [0.3], [0.1], None, dt, steps, parameters=[30.0, 2.0])
    np.testing.assert_allclose(one[0], q[1, 1], rtol=1e-14)


METHODS = ["rk4", "semi-implicit", "midpoint", "variational"]
QUICK = [("elbow", "l1", method) for method in METHODS] + [("four-bar", "m3", "rk4")]
LONG = [("elbow", "m2", method) for method in METHODS]
LONG += [("four-bar", "m3", method) for method in METHODS[1:]]


@pytest.mark.parametrize(
    ("name", "kept", "method"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in LONG)],
)
def test_rows_are_those_of_mechanisms_with_these_numbers(name: str, kept: str, method: str) -> None:
    values = [0.7, 1.3]
    arm = lw.gallery(name)
    model = lw.compile(arm, parameters=[kept], threads=1)
    start = model.home()
    rest = np.zeros(model.nv)
    inputs = {(model.names.actuators or model.names.qd)[0]: "0.3*sin(5*t)"}
    given = {"dt": 2e-3, "steps": 30, "method": method, "threads": 1}
    q, qd = lw.rollout(model, start, rest, inputs, **given, parameters={kept: values})
    assert not np.allclose(q[0], q[1], rtol=1e-4, atol=0)
    for row, value in enumerate(values):
        own = lw.compile(arm.with_parameters(**{kept: value}), threads=1)
        wanted = lw.rollout(own, start, rest, inputs, **given)
        np.testing.assert_allclose(q[row], wanted[0], rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(qd[row], wanted[1], rtol=1e-9, atol=1e-10)


def test_blocks_and_histories_keep_rows_together() -> None:
    model = lw.compile(OSCILLATOR, parameters=["k"], threads=1)
    k = np.linspace(5, 50, 9000)
    q, _ = lw.rollout(model, [0.2], [0.0], None, 0.01, 5, history=True, parameters={"k": k})
    assert q.shape == (9000, 6, 1)
    for row in (0, 4321, 8999):
        one, _ = lw.rollout(model, [0.2], [0.0], None, 0.01, 5, parameters={"k": k[row]})
        np.testing.assert_array_equal(q[row, -1], one)


def test_a_mechanism_is_compiled_with_the_parameters_that_are_named() -> None:
    q, _ = lw.rollout(OSCILLATOR, [0.3], [0.0], None, 0.01, 20, parameters={"m": [1.0, 2.0]})
    plain, _ = lw.rollout(OSCILLATOR, [0.3], [0.0], None, 0.01, 20)
    np.testing.assert_allclose(q[1], plain, rtol=1e-14)
    assert abs(q[0] - plain).max() > 1e-3


def test_closing_parameters_are_those_of_the_row() -> None:
    """A four-bar with another coupler closes elsewhere: each row is checked with its own length."""
    linkage = lw.gallery("four-bar")
    model = lw.compile(linkage, parameters=["l2"], threads=1)
    lengths = np.array([[3.0], [3.1]])
    start = model.close(model.home(), 0.0, lengths)
    assert abs(start[0] - start[1]).max() > 1e-3
    q, _ = lw.rollout(model, start, np.zeros(3), None, 1e-3, 20, parameters=lengths)
    assert model.closed(q, 0.0, lengths).all()
    with pytest.raises(LinkwrightError, match="do not hold at q0"):
        lw.rollout(model, start, np.zeros(3), None, 1e-3, 20, parameters={"l2": 3.0})


@pytest.mark.slow
def test_steps_through_a_singular_state_are_made_again_with_the_row_s_parameters() -> None:
    """A rhombus of four equal bars that folds onto a line; one crank is heavier than the other."""
    arms = lw.gallery("four-bar").with_parameters(l1=1, l2=2, l3=1, l4=2)
    model = lw.compile(arms, parameters=["m1"], threads=1)
    start = lw.assemble(arms, {"theta1": 0.02, "theta2": 0.0, "theta3": 0.02}, ["theta1"])
    G, _ = model.independent_map(start, model.nominal_parameters)
    speeds = G @ [-2.0]
    values = [1.0, 5.0]
    q, _ = lw.rollout(model, start, speeds, None, 1e-3, 20, parameters={"m1": values})
    for row, value in enumerate(values):
        own = lw.compile(arms.with_parameters(m1=value), threads=1)
        wanted, _ = lw.rollout(own, start, speeds, None, 1e-3, 20)
        np.testing.assert_allclose(q[row], wanted, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("kept", "given", "error", "what"),
    [
        (["k"], None, LinkwrightError, r"none has a value here; nominal: k = 30"),
        (["k", "m"], {"k": 1.0}, LinkwrightError, "no value is given for m"),
        (["k"], {"q": 1.0}, NameNotFoundError, "does not keep 'q'"),
        ([], {"k": 1.0}, LinkwrightError, "keeps no parameters"),
        (["k"], {"k": np.nan}, LinkwrightError, "parameters"),
        (["k", "m"], [1.0], LinkwrightError, r"shape \(1,\)"),
        (["k", "m"], {"k": [1, 2, 3], "m": [1, 2]}, LinkwrightError, "do not broadcast"),
    ],
)
def test_parameters_without_values_are_no_rollout(
    kept: list[str], given: object, error: type[Exception], what: str
) -> None:
    model = lw.compile(OSCILLATOR, parameters=kept, threads=1)
    with pytest.raises(error, match=what):
        lw.rollout(model, [0.3], [0.0], None, 0.01, 5, parameters=given)


def test_adaptive_rollouts_are_runs_with_these_parameters() -> None:
    arm = lw.gallery("elbow")
    masses, starts = np.array([[1.0, 1.5], [2.0, 2.5]]), np.array([0.3, -0.2])
    q, qd = lw.rollout(
        arm, starts, [0.1, 0.0], {"q1": "2*sin(t)"}, dt=0.05, steps=4, method="dop853",
        history=True, parameters={"m2": masses},
    )  # fmt: skip
    assert q.shape == (2, 2, 5, 2)
    end, _ = lw.rollout(
        lw.compile(arm, parameters=["m2"]), starts, [0.1, 0.0], {"q1": "2*sin(t)"}, dt=0.05,
        steps=4, method="dop853", parameters={"m2": masses},
    )  # fmt: skip
    np.testing.assert_allclose(end, q[..., -1, :], rtol=0, atol=1e-12)
    fixed, _ = lw.rollout(
        arm, starts, [0.1, 0.0], {"q1": "2*sin(t)"}, dt=1e-4, steps=2000, parameters={"m2": masses}
    )
    np.testing.assert_allclose(end, fixed, rtol=0, atol=1e-8)
    own = arm.with_parameters(m2=2.5)
    alone = lw.simulate(own, 0.2, starts, [0.1, 0.0], torque={"q1": "2*sin(t)"}, samples=5)
    np.testing.assert_allclose(q[1, 1], alone.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(qd[1, 1], alone.qd, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"dt": -1e-3}, "go forward"),
        ({"t": 1.0}, "begin at t = 0"),
        ({"inputs": np.zeros((1, 1000, 2))}, "need fixed steps"),
        ({"inputs": lambda t, q, qd: [0, 0]}, "Python functions"),
        ({"inputs": {"q1": "-1/(q1 - 0.1)^2"}}, "trajectory 0: stopped at t = "),
    ],
)
def test_what_adaptive_rollouts_cannot_do_is_named(given: dict[str, object], words: str) -> None:
    with pytest.raises(LinkwrightError, match=words):
        lw.rollout(lw.gallery("elbow"), [[0.4, 0.0]], [0.0, 0.0], method="rk45", **given)  # type: ignore[arg-type]
